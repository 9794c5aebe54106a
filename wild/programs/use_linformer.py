from help import fill, gradients, rand, show
from linformer import LinformerSelfAttention

net = fill(LinformerSelfAttention(dim=16, seq_len=8, heads=2, k=4))
y = net(rand(2, 8, 16))
y.pow(2).sum().backward()
show(y=y, g=gradients(net))
