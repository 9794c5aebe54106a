import pytorch_warmup as warmup
import torch
from help import rand, show

p = rand(3).requires_grad_()
optimizer = torch.optim.AdamW([p], lr=0.1)
schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=10)
ramp = warmup.UntunedLinearWarmup(optimizer)
rates = []
for _ in range(6):
    optimizer.zero_grad()
    p.pow(4).sum().backward()
    optimizer.step()
    with ramp.dampening():
        schedule.step()
    rates.append(optimizer.param_groups[0]["lr"])
show(p=p, rates=torch.tensor(rates))
