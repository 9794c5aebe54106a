import torch
from help import fill, gradients, rand, show
from torchjd import aggregation as agg
from torchjd.autojac import backward

out = {}
J = rand(4, 9)
for a in (agg.MGDA(), agg.Mean(), agg.Sum(), agg.AlignedMTL(), agg.IMTLG(), agg.Krum(1), agg.TrimmedMean(1)):
    out[type(a).__name__] = a(J)
net, x = fill(torch.nn.Linear(4, 2)), rand(8, 4)
y = net(x).pow(2).mean(0)
backward([y[0], y[1]])
show(out=out, net=gradients(net) or {k: p.jac for k, p in net.named_parameters()})
