import tntorch as tn
import torch
from help import rand, show

full = rand(4, 5, 6)
t = tn.Tensor(full, ranks_tt=3)
c, k = tn.Tensor(full, ranks_cp=2), tn.Tensor(full, ranks_tucker=2)
a = tn.Tensor([rand(1, 4, 2).requires_grad_(), rand(2, 5, 2).requires_grad_(), rand(2, 6, 1).requires_grad_()])
loss = tn.dist(a, tn.Tensor(rand(4, 5, 6), ranks_tt=2)) + tn.mean(a) ** 2 + tn.norm(a * a)
loss.backward()
show(tt=t.torch(), tucker=k.torch(), sum=(t + k).torch(), dot=tn.dot(t, t), loss=loss, g=[core.grad for core in a.cores],
     part=t[:, 1:3, 2].torch(), var=tn.var(t), rounded=tn.round_tt(t + t, rmax=3).torch())  # fmt: skip
