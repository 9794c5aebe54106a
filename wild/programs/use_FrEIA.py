import torch
from help import fill, gradients, rand, show, whole
import FrEIA.framework as Ff
import FrEIA.modules as Fm

torch.manual_seed(0)


def subnet(i, o):
    return torch.nn.Sequential(torch.nn.Linear(i, 16), torch.nn.ReLU(), torch.nn.Linear(16, o))


out = {}
for block, options in [(Fm.RNVPCouplingBlock, {}), (Fm.GLOWCouplingBlock, {}), (Fm.NICECouplingBlock, {}), (Fm.GINCouplingBlock, {}),
                       (Fm.AffineCouplingOneSided, {})]:
    inn = Ff.SequenceINN(6)
    for _ in range(2):
        inn.append(block, subnet_constructor=subnet, **options)
    fill(inn)
    x = rand(8, 6)
    z, jac = inn(x)
    (0.5 * (z**2).sum(1) - jac).mean().backward()
    again, _ = inn(z.detach(), rev=True)
    out[block.__name__] = [z, jac, again, gradients(inn)]
inn = Ff.SequenceINN(6)
inn.append(Fm.ActNorm)
x = rand(8, 6)
out["actnorm"] = inn(x)
show(out=out)
