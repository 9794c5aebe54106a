import torch
from help import fill, gradients, rand, show
from nflows import transforms

net = fill(transforms.CompositeTransform([transforms.ReversePermutation(4),
                                          transforms.MaskedAffineAutoregressiveTransform(4, 8)]))
x = rand(5, 4)
z, logdet = net(x)
back, _ = net.inverse(z)
(z.pow(2).sum() + logdet.sum()).backward()
show(z=z, logdet=logdet, back=back, g=gradients(net))
