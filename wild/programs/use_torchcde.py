import torchcde
import torch
from help import fill, gradients, rand, show

t = torch.linspace(0, 1, 7)
x = rand(2, 7, 3)
c = torchcde.hermite_cubic_coefficients_with_backward_differences(x)
c2 = torchcde.natural_cubic_coeffs(x)
X = torchcde.CubicSpline(c2)
class F(torch.nn.Module):

    def __init__(s):
        super().__init__()
        s.l = torch.nn.Linear(4, 12)

    def forward(s, t, z):
        return s.l(z).tanh().view(2, 4, 3)
f = fill(F())
X1 = torchcde.CubicSpline(c)
z0 = rand(2, 4).requires_grad_()
z = torchcde.cdeint(X=X1, func=f, z0=z0, t=X1.interval, adjoint=False, method='rk4', options=dict(step_size=0.1))
z[:, -1].sum().backward()
ls = torchcde.logsig_windows if False else None
show(c=c, c2=c2, e=X.evaluate(torch.tensor(2.5)), d=X.derivative(torch.tensor(2.5)), z=z, g=gradients(f), g0=z0.grad)
