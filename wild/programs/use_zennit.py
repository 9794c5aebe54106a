import torch
from help import fill, rand, show
from zennit.attribution import Gradient, IntegratedGradients, SmoothGrad
from zennit.canonizers import SequentialMergeBatchNorm
from zennit.composites import EpsilonGammaBox, EpsilonPlus, EpsilonPlusFlat, ExcitationBackprop, GuidedBackprop, NameMapComposite
from zennit.rules import AlphaBeta, Epsilon, Flat, Gamma, Norm, Pass, WSquare, ZBox, ZPlus

net = torch.nn.Sequential(torch.nn.Conv2d(1, 3, 3), torch.nn.BatchNorm2d(3), torch.nn.ReLU(), torch.nn.AvgPool2d(2),
                          torch.nn.Flatten(), torch.nn.Linear(27, 5), torch.nn.ReLU(), torch.nn.Linear(5, 3))  # fmt: skip
fill(net).eval()
x = rand(2, 1, 8, 8)
target = torch.eye(3)[[0, 2]]
out = {}
composites = {
    "egb": EpsilonGammaBox(low=-3.0, high=3.0, canonizers=[SequentialMergeBatchNorm()]), "ep": EpsilonPlus(),
    "epf": EpsilonPlusFlat(), "guided": GuidedBackprop(), "excitation": ExcitationBackprop(),
}
for name, composite in composites.items():
    with Gradient(model=net, composite=composite) as attributor:
        out[name] = attributor(x, target)
for rule in [AlphaBeta(2, 1), Epsilon(0.1), Flat(), Gamma(0.25), Norm(), Pass(), WSquare(), ZBox(-3, 3), ZPlus()]:
    composite = NameMapComposite([(["0"], rule), (["5", "7"], Epsilon())])
    with composite.context(net) as modified:
        z = x.clone().requires_grad_()
        y = modified(z)
        g, = torch.autograd.grad(y, z, target)
        out[type(rule).__name__] = [y, g]
with IntegratedGradients(net, n_iter=5) as attributor:
    out["ig"] = attributor(x, target)
with SmoothGrad(net, noise_level=0.0, n_iter=2) as attributor:
    out["smooth"] = attributor(x, target)
show(out=out)
