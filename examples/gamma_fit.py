"""Wrap SciPy's special functions, and fit real data with them: how diabetes progresses with body mass.

Data: 442 patients (Efron et al., 2004, shipped with scikit-learn): their body mass index, and how far the
disease went in a year, a positive and skewed number. Model: progression follows a gamma distribution of
shape k and mean exp(a + b z), z the standardised BMI. The likelihood needs log Γ(k), which gradwright
leaves to SciPy; its derivative is digamma, that one's is trigamma, and so on without end.

Prints the checkers' verdicts, then the maximum-likelihood estimates, found by gradient descent, with their
standard errors, from second derivatives, beside a and b as scikit-learn's GammaRegressor fits them.
"""

import numpy as np
from scipy import special
from sklearn.datasets import load_diabetes
from sklearn.linear_model import GammaRegressor

import gradwright as gw


class PolyGamma(gw.autograd.Function):
    """ψₙ(x) for x > 0: log Γ for n = -1, digamma for n = 0, trigamma for n = 1, …, so dψₙ/dx = ψₙ₊₁."""

    @staticmethod
    def forward(ctx, x, n):
        ctx.save_for_backward(x)
        ctx.n = n
        array = x.detach().numpy()  # out to SciPy and back: nothing of this is recorded
        values = special.gammaln(array) if n < 0 else special.polygamma(n, array)
        return gw.as_tensor(values, dtype=x.dtype)

    @staticmethod
    def backward(ctx, grad_y):
        x, = ctx.saved_tensors
        return grad_y * PolyGamma.apply(x, ctx.n + 1), None  # n is no tensor: no gradient


def log_gamma(x):
    return PolyGamma.apply(x, -1)


def data():
    """BMI in kg/m² and the progression after a year, (442,) each."""
    patients = load_diabetes(scaled=False)
    return patients.data[:, patients.feature_names.index("bmi")], patients.target


def loss(theta, z, y):
    """Mean of -log p(y) over the patients, for theta = (a, b, log k)."""
    log_mean, log_k = theta[0] + theta[1] * z, theta[2]
    k = log_k.exp()
    log_p = k * (log_k - log_mean) - log_gamma(k) + (k - 1) * y.log() - k * y / log_mean.exp()
    return -log_p.mean()


def fit(z, y, steps=300, learning_rate=0.2):
    """The best theta by gradient descent, and its standard errors, from the inverse of the Hessian."""
    theta = gw.tensor([y.mean().log().item(), 0.0, 0.0], dtype=gw.float64, requires_grad=True)
    for _ in range(steps):
        gradient, = gw.autograd.grad(loss(theta, z, y), theta)
        with gw.no_grad():
            theta -= learning_rate * gradient

    gradient, = gw.autograd.grad(loss(theta, z, y), theta, create_graph=True)
    rows = [gw.autograd.grad(gradient[i], theta, retain_graph=True)[0] for i in range(3)]
    hessian = len(y) * gw.stack(rows).numpy()
    return theta.detach().numpy(), np.sqrt(np.diag(np.linalg.inv(hessian)))


def main():
    x = gw.tensor([0.3, 1.0, 5.0], dtype=gw.float64, requires_grad=True)
    print(f"log gamma: first derivative {gw.autograd.gradcheck(log_gamma, x)},",
          f"second {gw.autograd.gradgradcheck(log_gamma, x)}")

    bmi, y = data()
    z = (bmi - bmi.mean()) / bmi.std()
    theta, errors = fit(gw.from_numpy(z), gw.from_numpy(y))

    sklearn = GammaRegressor(alpha=0, solver="newton-cholesky", tol=1e-10).fit(z[:, None], y)
    print("       estimate  standard error  scikit-learn")
    others = [f"{sklearn.intercept_:.6f}", f"{sklearn.coef_[0]:.6f}", "-"]  # it does not fit k
    for name, value, error, other in zip(["a", "b", "log k"], theta, errors, others, strict=True):
        print(f"{name:5} {value:9.6f}  {error:14.6f}  {other:>12}")
    print(f"k = {np.exp(theta[2]):.4f}; each point of BMI multiplies the progression by "
          f"{np.exp(theta[1] / bmi.std()):.4f}")


if __name__ == "__main__":
    main()
