import torch
from help import fill, gradients, rand, show
from torchdeq import get_deq
from torchdeq.grad import backward_factory
from torchdeq.loss import fp_correction
from torchdeq.norm import apply_norm
from torchdeq.utils import mem_gc

W, U = fill(torch.nn.Linear(6, 6), 0.15), fill(torch.nn.Linear(4, 6))
net = torch.nn.ModuleList([W, U])
x = rand(3, 4).requires_grad_()
out = {}
for f_solver in ["fixed_point_iter", "anderson", "broyden"]:
    for ift in (False, True):
        net.zero_grad()
        x.grad = None
        deq = get_deq(f_solver=f_solver, f_max_iter=40, f_tol=1e-5, ift=ift, b_max_iter=40, b_tol=1e-6, grad=2)
        z, info = deq(lambda z: torch.tanh(W(z) + U(x)), torch.zeros(3, 6))
        z[-1].pow(2).sum().backward()
        out[f"{f_solver} {ift}"] = [z[-1], x.grad.clone(), gradients(net)]
deq = get_deq(core="indexing", f_solver="fixed_point_iter", f_max_iter=12, n_states=3, grad=1)
net.zero_grad()
z, info = deq(lambda z: torch.tanh(W(z) + U(x)), torch.zeros(3, 6))
fp_correction(lambda a, b: (a - b).pow(2).mean(), (z, torch.ones(3, 6))).backward()
out["correction"] = gradients(net)
norm = torch.nn.Sequential(torch.nn.Linear(4, 4))
fill(norm)
apply_norm(norm, "weight_norm")
norm(x).pow(2).sum().backward()
show(out=out, norm=gradients(norm))
