import torch
from pytorch_tcn import TCN
from help import fill, gradients, rand, show

out = {}
for norm in ("weight_norm", "batch_norm", "layer_norm", None):
    net = fill(TCN(3, [4, 4], kernel_size=3, dropout=0.0, use_norm=norm, use_skip_connections=norm is None, activation="gelu"))
    optimizer = torch.optim.AdamW(net.parameters(), 0.01)
    for _ in range(3):
        optimizer.zero_grad()
        loss = net(rand(2, 3, 20)).pow(2).mean()
        loss.backward()
        optimizer.step()
    out[str(norm)] = [loss, gradients(net)]
net = fill(TCN(3, [4, 4], kernel_size=3, dropout=0.0, causal=True)).eval()
net.reset_buffers()
out["stream"] = [net(rand(1, 3, 4), inference=True) for _ in range(3)]
show(out=out)
