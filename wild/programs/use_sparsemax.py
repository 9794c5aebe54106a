from help import rand, show
from sparsemax import Sparsemax

x = rand(4, 6).requires_grad_()
y = Sparsemax(dim=-1)(x)
(y * rand(4, 6)).sum().backward()
show(y=y, g=x.grad)
