import normflows as nf
from help import fill, gradients, rand, show

base = nf.distributions.base.DiagGaussian(2)
fl = []
for i in range(2):
    fl += [nf.flows.AffineCouplingBlock(nf.nets.MLP([1, 8, 2], init_zeros=True)), nf.flows.Permute(2, mode='swap')]
fl += [nf.flows.CoupledRationalQuadraticSpline(2, 1, 8), nf.flows.AutoregressiveRationalQuadraticSpline(2, 1, 8), nf.flows.LULinearPermute(2)]
m = fill(nf.NormalizingFlow(base, fl[:-1]))
l = m.forward_kld(rand(8, 2))
l.backward()
show(l=l, g=gradients(m))
