import tltorch
import torch
from help import fill, gradients, rand, show, whole

x, img = rand(3, 16).requires_grad_(), rand(2, 4, 6, 6).requires_grad_()
out = {}
for name in ["cp", "tucker", "blocktt"]:
    x.grad = None
    lin = fill(tltorch.FactorizedLinear((4, 4), (2, 3), rank=3, factorization=name))
    y = lin(x)
    y.pow(2).sum().backward()
    out[f"linear {name}"] = [y, lin.weight.to_matrix(), x.grad.clone(), gradients(lin)]
    emb = fill(tltorch.FactorizedEmbedding(16, 8, rank=3, factorization=name))
    e = emb(whole(16, 5))
    e.pow(2).sum().backward()
    out[f"embedding {name}"] = [e, gradients(emb)]
for name, how in [("cp", "factorized"), ("tucker", "factorized"), ("tt", "factorized"), ("cp", "reconstructed")]:
    img.grad = None
    conv = fill(tltorch.FactorizedConv(4, 5, 3, order=2, rank=3, factorization=name, implementation=how))
    y = conv(img)
    y.pow(2).sum().backward()
    out[f"conv {name} {how}"] = [y, img.grad.clone(), gradients(conv)]
trl = fill(tltorch.TRL((4, 6, 6), (3,), bias=True, factorization="tucker", rank=2))
tcl = fill(tltorch.TCL((4, 6, 6), (2, 3, 3)))
(trl(img).pow(2).sum() + tcl(img).pow(2).sum()).backward()
t = fill(tltorch.FactorizedTensor.new((3, 4, 2), rank=2, factorization="CP"))
dropped = tltorch.tensor_hooks.tensor_dropout(t, p=0.0)
loss = tltorch.tensor_hooks.tensor_lasso("CP", penalty=0.1)
loss.apply(t)
(t.to_tensor().pow(2).sum() + loss.loss).backward()
show(out=out, trl=gradients(trl), tcl=gradients(tcl), t=[t.to_tensor(), gradients(t)])
