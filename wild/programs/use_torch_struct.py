import torch
import torch_struct as ts
from help import rand, show

torch.distributions.Distribution.set_default_validate_args(False)
out = {}
chain = rand(2, 4, 3, 3).requires_grad_()
tree = rand(2, 5, 5).requires_grad_()
semi = rand(2, 4, 3, 3, 3).requires_grad_()
align = rand(2, 4, 4, 3).requires_grad_()
cfg = (rand(2, 4, 3), rand(2, 3, 6, 6), rand(2, 3))
for name, make, x in [("chain", ts.LinearChainCRF, chain), ("dep", ts.DependencyCRF, tree), ("semi", ts.SemiMarkovCRF, semi),
                      ("align", ts.AlignmentCRF, align)]:  # fmt: skip
    x.grad = None
    dist = make(x)
    (dist.partition.sum() + dist.marginals.pow(2).sum()).backward()
    out[name] = [dist.partition, dist.marginals, dist.argmax, x.grad.clone()]
    if name != "align":
        out[name] += [dist.max, dist.entropy if name in ("chain", "dep") else None, dist.log_prob(dist.argmax)]
out["kmax"] = ts.LinearChainCRF(chain.detach()).topk(2)
tree = ts.TreeCRF(rand(2, 4, 4, 3).requires_grad_())
out["tree"] = [tree.partition, tree.marginals]
grammar = ts.SentCFG(tuple(t.requires_grad_() for t in cfg))
grammar.partition.sum().backward()
out["cfg"] = [grammar.partition, [t.grad for t in cfg]]
show(out=out)
