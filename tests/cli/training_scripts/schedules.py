"""Learning-rate schedules: one's own class, a lambda, a chain; parameter groups; a loss of one's own; clipping."""

import math

import torch
import torch.nn as nn
from torch.nn.modules.loss import _Loss
from torch.optim import lr_scheduler
from torch.optim.lr_scheduler import _LRScheduler


class WarmupCosine(_LRScheduler):
    def __init__(self, optimizer, warmup, total, last_epoch=-1):
        self.warmup, self.total = warmup, total
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        if self.last_epoch < self.warmup:
            scale = (self.last_epoch + 1) / self.warmup
        else:
            scale = 0.5 * (1 + math.cos(math.pi * (self.last_epoch - self.warmup) / (self.total - self.warmup)))
        return [base * scale for base in self.base_lrs]


class LogCosh(_Loss):
    def forward(self, input, target):
        loss = torch.log(torch.cosh(input - target))
        return loss.mean() if self.reduction == "mean" else loss.sum()


class Residual(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        self.inp = nn.Linear(3, width)
        self.layers = nn.ModuleList([nn.Linear(width, width) for _ in range(depth)])
        self.scale = nn.Parameter(torch.full((depth,), 0.5))
        self.out = nn.Linear(width, 1)
        for k, p in enumerate(self.parameters()):
            if p.dim() == 2:
                with torch.no_grad():
                    p.copy_(torch.sin(torch.arange(p.numel()) + k).reshape(p.shape) / math.sqrt(p.size(1)))
            elif k != 0:
                nn.init.zeros_(p)

    def forward(self, x):
        x = torch.tanh(self.inp(x))
        for s, layer in zip(self.scale, self.layers):
            x = x + s * torch.tanh(layer(x))
        return self.out(x).squeeze(-1)


def run(name, make_scheduler, make_optimizer, steps=30):
    model = Residual(12, 2)
    decay = [p for n, p in model.named_parameters() if n.endswith("weight")]
    rest = [p for n, p in model.named_parameters() if not n.endswith("weight")]
    optimizer = make_optimizer([{"params": decay, "weight_decay": 1e-3}, {"params": rest, "lr": 0.01}])
    scheduler = make_scheduler(optimizer)
    x = torch.cos(torch.arange(150.0)).view(50, 3)
    y = 3 * x[:, 0] * x[:, 1] - x[:, 2]
    criterion = LogCosh()
    for step in range(steps):
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), max_norm=0.5)
        nn.utils.clip_grad_value_(model.parameters(), 0.3)
        optimizer.step()
        scheduler.step(loss.item()) if isinstance(scheduler, lr_scheduler.ReduceLROnPlateau) else scheduler.step()
        if step % 10 == 9:
            rates = ", ".join(f"{group['lr']:.5f}" for group in optimizer.param_groups)
            print(f"{name:12s} step {step + 1:2d}  loss {loss:.4f}  norm {norm:.3f}  lr {rates}")


sgd = lambda groups: torch.optim.SGD(groups, lr=0.1, momentum=0.9, nesterov=True)
rms = lambda groups: torch.optim.RMSprop(groups, lr=0.003)
adam = lambda groups: torch.optim.Adam(groups, lr=0.02, amsgrad=True)
run("warmup", lambda o: WarmupCosine(o, 5, 30), sgd)
run("lambda", lambda o: lr_scheduler.LambdaLR(o, [lambda e: 0.95**e, lambda e: 1 / (1 + e)]), adam)
run("sequential", lambda o: lr_scheduler.SequentialLR(
    o, [lr_scheduler.LinearLR(o, 0.1, total_iters=5), lr_scheduler.CosineAnnealingLR(o, 25)], milestones=[5]), rms)
run("plateau", lambda o: lr_scheduler.ReduceLROnPlateau(o, factor=0.5, patience=1, threshold=0.05), adam)
run("one cycle", lambda o: lr_scheduler.OneCycleLR(o, max_lr=[0.05, 0.02], total_steps=30), adam)
