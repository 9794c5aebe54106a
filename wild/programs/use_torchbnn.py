import torch
import torchbnn
from help import fill, rand, show

net = torchbnn.BayesLinear(prior_mu=0, prior_sigma=0.1, in_features=3, out_features=2)
fill(net)
net.freeze()
for name in ("weight_eps", "bias_eps"):
    setattr(net, name, rand(*getattr(net, name).shape))
y = net(rand(4, 3))
kl = torchbnn.functional.bayesian_kl_loss(net)
(y.pow(2).sum() + kl).backward()
show(y=y, kl=kl, g=net.weight_mu.grad)
