from help import fill, gradients, rand, show
from nystrom_attention import NystromAttention

net = fill(NystromAttention(dim=16, dim_head=8, heads=2, num_landmarks=4))
y = net(rand(1, 8, 16))
y.pow(2).sum().backward()
show(y=y, g=gradients(net))
