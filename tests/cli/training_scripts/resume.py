"""Save a checkpoint half way, start again from it, and end where an uninterrupted run ends."""

import copy
import os
import tempfile

import torch
from torch import nn, optim

device = torch.device("cuda") if torch.cuda.is_available() else torch.device("cpu")


def build():
    model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.GELU(), nn.Linear(8, 1)).to(device)
    with torch.no_grad():
        for p in model.parameters():
            p.copy_(torch.sin(torch.arange(p.numel(), device=device) * 1.3).view(p.shape))
    optimizer = optim.Adam(model.parameters(), lr=0.05)
    scheduler = optim.lr_scheduler.ExponentialLR(optimizer, 0.97)
    return model, optimizer, scheduler


x = torch.sin(torch.arange(256.0, device=device)).view(64, 4)
y = (x[:, :1] * x[:, 1:2]).abs()
criterion = nn.SmoothL1Loss()


def train(model, optimizer, scheduler, first, last):
    model.train()
    for epoch in range(first, last):
        for xb, yb in zip(x.chunk(4), y.chunk(4)):
            optimizer.zero_grad()
            loss = criterion(model(xb), yb)
            loss.backward()
            optimizer.step()
        scheduler.step()
        if epoch % 5 == 4:
            print(f"epoch {epoch + 1}: loss {loss.item():.4f}, lr {scheduler.get_last_lr()[0]:.5f}")


whole = build()
train(*whole, 0, 20)

with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "checkpoint.pt")
    model, optimizer, scheduler = build()
    train(model, optimizer, scheduler, 0, 10)
    torch.save({
        "epoch": 10,
        "model_state_dict": model.state_dict(),
        "optimizer_state_dict": optimizer.state_dict(),
        "scheduler_state_dict": scheduler.state_dict(),
        "comment": "half way",
    }, path)
    print("saved:", sorted(os.listdir(folder)))

    model, optimizer, scheduler = build()
    checkpoint = torch.load(path, map_location=device, weights_only=True)
    print(model.load_state_dict(checkpoint["model_state_dict"]))
    optimizer.load_state_dict(checkpoint["optimizer_state_dict"])
    scheduler.load_state_dict(checkpoint["scheduler_state_dict"])
    print(checkpoint["comment"], checkpoint["epoch"])
    train(model, optimizer, scheduler, checkpoint["epoch"], 20)

same = all(torch.equal(a, b) for a, b in zip(model.state_dict().values(), whole[0].state_dict().values()))
print("the same as without a break:", same)

best = copy.deepcopy(model.state_dict())
for p in model[0].parameters():
    p.requires_grad = False
print("frozen:", [n for n, p in model.named_parameters() if not p.requires_grad])
try:
    nn.Linear(4, 1).load_state_dict(best)
except RuntimeError as error:
    print(str(error).splitlines()[0])
