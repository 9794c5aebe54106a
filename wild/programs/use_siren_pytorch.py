from help import fill, gradients, rand, show
from siren_pytorch import SirenNet

net = fill(SirenNet(dim_in=2, dim_hidden=16, dim_out=3, num_layers=3))
y = net(rand(5, 2))
y.pow(2).sum().backward()
show(y=y, g=gradients(net))
