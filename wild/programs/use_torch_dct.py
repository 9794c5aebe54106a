import torch_dct
from help import rand, show

x = rand(3, 8).requires_grad_()
y = torch_dct.dct(x)
z = torch_dct.idct_2d(torch_dct.dct_2d(x))
(y.pow(3).sum() + z.sin().sum()).backward()
show(y=y, z=z, g=x.grad)
