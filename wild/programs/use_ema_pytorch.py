import torch
from ema_pytorch import EMA
from help import fill, rand, show

net = fill(torch.nn.Linear(3, 2))
ema = EMA(net, beta=0.9, update_after_step=1, update_every=1)
for _ in range(5):
    fill(net)
    ema.update()
show(y=ema(rand(2, 3)))
