import pyro
import pyro.distributions as dist
import torch
from help import fill, gradients, rand, show
from pyro.distributions import transforms as T
from pyro.ops.welford import WelfordCovariance

out = {}
x = rand(5, 4).requires_grad_()
for name, t in [("planar", T.planar(4)), ("radial", T.radial(4)),
                ("spline", T.spline(4, count_bins=4)), ("coupling", T.affine_coupling(4, hidden_dims=[8])),
                ("householder", T.householder(4, 2)), ("sylvester", T.sylvester(4)),
                ("conv", T.matrix_exponential(4)), ("batchnorm", T.BatchNorm(4))]:  # fmt: skip
    if isinstance(t, torch.nn.Module):
        fill(t, 0.2)
    x.grad = None
    y = t(x)
    (y.pow(2).sum() + t.log_abs_det_jacobian(x, y).sum()).backward()
    out[name] = [y, x.grad.clone()]
data = rand(20) + 1.0


def model():
    loc = pyro.sample("loc", dist.Normal(0.0, 2.0))
    with pyro.plate("data", 20):
        pyro.sample("obs", dist.Normal(loc, 1.0), obs=data)


loc = torch.tensor(0.3, requires_grad=True)
trace = pyro.poutine.trace(pyro.poutine.condition(model, {"loc": loc})).get_trace()
trace.log_prob_sum().backward()
guide_loc = pyro.param("g", torch.tensor(0.1))
w = WelfordCovariance(diagonal=False)
for row in x.detach():
    w.update(row)
show(out=out, log_prob=trace.log_prob_sum(), g=loc.grad, cov=w.get_covariance(regularize=False),
     stable=dist.MaskedMixture(torch.tensor([True, False]), dist.Normal(0.0, 1.0).expand([2]), dist.Normal(1.0, 2.0).expand([2])).log_prob(rand(2)))  # fmt: skip
