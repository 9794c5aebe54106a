import geoopt
import torch
from help import rand, show

b = geoopt.PoincareBall()
x = (rand(5, 3) * 0.2).requires_grad_()
y = rand(5, 3) * 0.2
d = b.dist(x, y)
g, = torch.autograd.grad(d.sum(), x)
p = geoopt.ManifoldParameter(geoopt.Stiefel().projx(rand(4, 2))) if False else geoopt.ManifoldParameter(geoopt.Sphere().projx(rand(4)), manifold=geoopt.Sphere())
o = geoopt.optim.RiemannianAdam([p], lr=0.1)
A = rand(4, 4)
A = A + A.T
for _ in range(5):
    o.zero_grad()
    l = p @ A @ p
    l.backward()
    o.step()
show(d=d, g=g, p=p, m=b.mobius_add(x, y), e=b.expmap0(x), lm=b.logmap(x, y))
