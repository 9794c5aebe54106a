import torch
import torchode as to
from help import fill, gradients, rand, show

net = fill(torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2)))
y0 = rand(4, 2).requires_grad_()
t_eval = torch.linspace(0.0, 1.0, 6).repeat(4, 1)
out = {}
for name, method, term_args in [("dopri5", to.Dopri5, {}), ("tsit5", to.Tsit5, {}), ("heun", to.Heun, {})]:
    net.zero_grad()
    y0.grad = None
    term = to.ODETerm(lambda t, y: net(y))
    step = method(term=term)
    control = to.IntegralController(atol=1e-6, rtol=1e-4, term=term)
    solver = to.AutoDiffAdjoint(step, control)
    sol = solver.solve(to.InitialValueProblem(y0=y0, t_eval=t_eval))
    sol.ys.pow(2).sum().backward()
    out[name] = [sol.ys, sol.stats["n_accepted"], y0.grad.clone(), gradients(net)]


def with_args(t, y, args):
    return -args * y


scale = torch.tensor(0.7, requires_grad=True)
term = to.ODETerm(with_args, with_args=True)
step, control = to.Tsit5(term=term), to.PIDController(1e-6, 1e-4, 0.2, 0.5, 0.0, term=term)
sol = to.AutoDiffAdjoint(step, control).solve(to.InitialValueProblem(y0=rand(3, 1), t_eval=t_eval[:3]), args=scale)
sol.ys.sum().backward()
show(out=out, ys=sol.ys, scale=scale.grad)
