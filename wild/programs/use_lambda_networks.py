from help import fill, gradients, rand, show
from lambda_networks import LambdaLayer

net = fill(LambdaLayer(dim=4, dim_out=4, r=3, dim_k=4, heads=2, dim_u=1)).eval()
y = net(rand(1, 4, 5, 5))
y.pow(2).sum().backward()
show(y=y, g=gradients(net))
