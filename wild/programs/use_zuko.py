import torch
import zuko
from help import fill, gradients, rand, show

out = {}
for name, flow in [("nsf", zuko.flows.NSF(3, 2, transforms=2, hidden_features=(16,))), ("maf", zuko.flows.MAF(3, 2, transforms=2)),
                   ("naf", zuko.flows.NAF(3, 2, transforms=1)), ("cnf", zuko.flows.CNF(3, 2, hidden_features=(8,))),
                   ("nice", zuko.flows.NICE(3, 2)), ("bpf", zuko.flows.BPF(3, 2, transforms=1)), ("sospf", zuko.flows.SOSPF(3, 2, transforms=1)),
                   ("gf", zuko.flows.GF(3, 2, transforms=1)), ("unaf", zuko.flows.UNAF(3, 2, transforms=1))]:
    fill(flow, 0.1)
    x, c = rand(4, 3), rand(4, 2)
    optimizer = torch.optim.Adam(flow.parameters(), 1e-2)
    for _ in range(3):
        optimizer.zero_grad()
        loss = -flow(c).log_prob(x).mean()
        loss.backward()
        optimizer.step()
    z = flow(c).transform(x)
    out[name] = [loss, gradients(flow), z, flow(c).transform.inv(z)]
show(out=out)
