import torch
import snntorch as snn
from help import fill, gradients, rand, show
from snntorch import surrogate

out = {}
for name, grad in [("fast", surrogate.fast_sigmoid()), ("atan", surrogate.atan()), ("sigmoid", surrogate.sigmoid()),
                   ("ste", surrogate.straight_through_estimator()), ("tri", surrogate.triangular())]:
    fc = fill(torch.nn.Linear(6, 5))
    lif, syn = snn.Leaky(beta=0.9, spike_grad=grad), snn.Synaptic(alpha=0.8, beta=0.9, spike_grad=grad)
    mem = lif.init_leaky()
    s, m = syn.init_synaptic()
    total = 0
    for t in range(10):
        spikes, mem = lif(fc(rand(3, 6) * 3), mem)
        out_spikes, s, m = syn(spikes, s, m)
        total = total + out_spikes.sum() + m.sum()
    total.backward()
    out[name] = [total, gradients(fc)]
show(out=out)
