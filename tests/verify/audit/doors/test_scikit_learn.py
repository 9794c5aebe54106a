"""Kernels of scikit-learn's, and of users'."""

import pytest

from tests.verify.audit.doors.table import held

pytest.importorskip("sklearn", reason="scikit-learn is not installed")


def test_right_and_wrong():
    held("""
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import *
from sklearn.gaussian_process.kernels import Hyperparameter, NormalizedKernelMixin, StationaryKernelMixin
class Square(StationaryKernelMixin, NormalizedKernelMixin, Kernel):
    def __init__(self, l=1.0): self.l = l
    @property
    def hyperparameter_l(self): return Hyperparameter('l', 'numeric', (1e-2, 1e2))
    def __call__(self, X, Y=None, eval_gradient=False):
        d = ((X[:, None] - (X if Y is None else Y)[None]) ** 2).sum(-1)
        K = np.exp(-0.5 * d / self.l ** 2)
        return (K, (K * d / self.l ** (5 - 3 * s))[:, :, None]) if eval_gradient else K
X = np.linspace(0, 3, 12)[:, None]
kernel = ConstantKernel(2.0) * Square(0.7) + WhiteKernel(0.1) + Matern(nu=1.5)
show(GaussianProcessRegressor(kernel).fit(X, np.sin(X[:, 0])).kernel_)
""", ("Square", "jacobian"))  # fmt: skip
