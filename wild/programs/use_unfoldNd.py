from help import rand, show
from unfoldNd import UnfoldNd

x = rand(2, 3, 6, 6).requires_grad_()
y = UnfoldNd((2, 3), stride=2, padding=1)(x)
y.pow(3).sum().backward()
show(y=y, g=x.grad)
