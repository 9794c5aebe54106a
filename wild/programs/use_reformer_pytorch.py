import torch
from help import fill, gradients, rand, show, whole
from reformer_pytorch import LSHSelfAttention, Reformer, ReformerLM
from reformer_pytorch.reversible import ReversibleSequence

x = rand(2, 8, 8).requires_grad_()
blocks = torch.nn.ModuleList([torch.nn.ModuleList([fill(torch.nn.Linear(8, 8)), fill(torch.nn.Linear(8, 8))]) for _ in range(3)])
out = {}
for reverse in (1, 100):
    blocks.zero_grad()
    x.grad = None
    y = ReversibleSequence(blocks, layer_dropout=0.0, reverse_thres=reverse)(torch.cat([x, x], dim=-1))
    y.pow(2).sum().backward()
    out[f"reverse {reverse}"] = [y, x.grad.clone(), gradients(blocks)]
net = fill(Reformer(dim=8, depth=2, heads=2, bucket_size=4, use_full_attn=True, ff_chunks=2))
x.grad = None
y = net(x)
y.pow(2).sum().backward()
lm = fill(ReformerLM(num_tokens=10, dim=8, depth=1, heads=2, max_seq_len=16, bucket_size=4, causal=True, full_attn_thres=32))
z = lm(whole(10, 2, 16))
z.pow(2).mean().backward()
show(out=out, y=y, g=x.grad, p=gradients(net), lm=gradients(lm))
