from iunets import iUNet
from help import fill, gradients, rand, show

m = fill(iUNet(in_channels=4, dim=2, architecture=(1, 1)), 0.1)
x = rand(1, 4, 8, 8).requires_grad_()
y = m(x)
y.pow(2).sum().backward()
r = m.inverse(y)
show(y=y, g=gradients(m), gx=x.grad, r=r)
