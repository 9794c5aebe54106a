import torch
from help import fill, rand, show
from torch_ema import ExponentialMovingAverage

net = fill(torch.nn.Linear(3, 2))
ema = ExponentialMovingAverage(net.parameters(), decay=0.9)
for _ in range(4):
    fill(net)
    ema.update()
with ema.average_parameters():
    y = net(rand(2, 3))
show(y=y, shadow=ema.shadow_params)
