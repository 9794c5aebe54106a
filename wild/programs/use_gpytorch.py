import gpytorch
import torch
from help import rand, show


class Model(gpytorch.models.ExactGP):
    def __init__(self, x, y, likelihood):
        super().__init__(x, y, likelihood)
        self.mean_module = gpytorch.means.ConstantMean()
        self.covar_module = gpytorch.kernels.ScaleKernel(gpytorch.kernels.RBFKernel() + gpytorch.kernels.MaternKernel(nu=2.5))

    def forward(self, x):
        return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))


x = torch.linspace(0, 1, 20)
y = torch.sin(6 * x) + 0.1 * rand(20)
likelihood = gpytorch.likelihoods.GaussianLikelihood()
model = Model(x, y, likelihood)
mll = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)
optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
losses = []
for _ in range(15):
    optimizer.zero_grad()
    loss = -mll(model(x), y)
    loss.backward()
    losses.append(loss.detach())
    optimizer.step()
model.eval()
likelihood.eval()
with torch.no_grad():
    p = likelihood(model(torch.linspace(0, 1.2, 7)))


class Sparse(gpytorch.models.ApproximateGP):
    def __init__(self, z):
        q = gpytorch.variational.CholeskyVariationalDistribution(z.size(0), mean_init_std=0.0)
        super().__init__(gpytorch.variational.VariationalStrategy(self, z, q, learn_inducing_locations=True))
        self.mean_module = gpytorch.means.ConstantMean()
        self.covar_module = gpytorch.kernels.ScaleKernel(gpytorch.kernels.PeriodicKernel())

    def forward(self, x):
        return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))


sparse, lik = Sparse(x[::4, None].clone()), gpytorch.likelihoods.BernoulliLikelihood()
elbo = gpytorch.mlls.VariationalELBO(lik, sparse, 20)
optimizer = torch.optim.SGD(sparse.parameters(), lr=0.05)
for _ in range(8):
    optimizer.zero_grad()
    loss = -elbo(sparse(x[:, None]), (y > 0).float())
    loss.backward()
    optimizer.step()
show(losses=torch.stack(losses), mean=p.mean, var=p.variance, cov=p.covariance_matrix, p=dict(model.named_parameters()),
     s=dict(sparse.named_parameters()), loss=loss)
