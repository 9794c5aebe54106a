import torch
from einops import einsum, pack, rearrange, reduce, repeat, unpack
from einops.layers.torch import EinMix, Rearrange, Reduce
from help import fill, gradients, rand, show

x = rand(2, 3, 4, 6).requires_grad_()
y = rearrange(x, "b c (h p) (w q) -> b (h w) (p q c)", p=2, q=3)
z = reduce(x, "b c h w -> b c", "mean") + reduce(x, "b c h w -> b c", "max")
(y.sum() * z.sum() + repeat(x, "b c h w -> b c (h k) w", k=2).pow(2).sum()).backward()
net = fill(torch.nn.Sequential(Rearrange("b c h w -> b h w c"), EinMix("b h w c -> b h w d", weight_shape="c d", bias_shape="d", c=3, d=5),
                               Reduce("b h w d -> b d", "sum")))
out = net(x.detach())
out.pow(2).sum().backward()
packed, ps = pack([rand(2, 3), rand(2, 4, 5)], "b *")
show(y=y, z=z, grad=x.grad, out=out, net=gradients(net), packed=packed, parts=unpack(packed, ps, "b *"), e=einsum(rand(3, 4), rand(4, 5), "i j, j k -> i k"))
