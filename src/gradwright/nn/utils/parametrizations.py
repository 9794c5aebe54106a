"""Parametrizations that are ready to use: of unit norm, of unit spectral norm, orthogonal."""

from __future__ import annotations

from typing import Any

from gradwright.base.lazy import lazy
from gradwright.engine.grad_mode import no_grad
from gradwright.face import creation, linalg, random
from gradwright.face.creation import zeros_like
from gradwright.face.functions.algebra.householder import geqrf
from gradwright.face.functions.elementwise import where
from gradwright.face.functions.join import cat
from gradwright.face.tensor import Tensor
from gradwright.nn import functional as F
from gradwright.nn.module import Module
from gradwright.nn.utils import parametrize

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]

lazy(__name__)


def _norm_except(weight: Any, dim: int) -> Any:
    """The norm of each slice along ``dim``, shaped to divide by; the norm of all for -1."""
    if dim == -1:
        return linalg.vector_norm(weight)
    return linalg.vector_norm(weight, dim=[d for d in range(weight.dim()) if d != dim % weight.dim()], keepdim=True)


class _WeightNorm(Module):
    def __init__(self, dim: int | None) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Any, weight_v: Any) -> Any:
        return weight_v * (weight_g / _norm_except(weight_v, self.dim))

    def right_inverse(self, weight: Any) -> tuple[Any, Any]:
        return _norm_except(weight, self.dim), weight


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """Compute a weight as w = g v / norm(v): length and direction are trained on their own (Salimans and Kingma 2016).

    Args:
        module: whose weight it is.
        name: the name of it.
        dim: each slice along this dim has a length of its own; with None, or -1, there is one.

    Returns the module, which has g and v in ``parametrizations.weight.original0`` and ``original1``; state_dicts with
    ``weight_g`` and ``weight_v`` load, too.

    >>> from gradwright import nn
    >>> layer = weight_norm(nn.Linear(20, 40))
    >>> layer.parametrizations.weight.original0.shape
    torch.Size([40, 1])
    """
    parametrize.register_parametrization(module, name, _WeightNorm(dim), unsafe=True)

    def renamed(state_dict: Any, prefix: str, *_: Any) -> None:
        old = [f"{prefix}{name}_g", f"{prefix}{name}_v"]
        if all(key in state_dict for key in old):
            for k, key in enumerate(old):
                state_dict[f"{prefix}parametrizations.{name}.original{k}"] = state_dict.pop(key)

    module._register_load_state_dict_pre_hook(renamed)
    return module


class _SpectralNorm(Module):
    _u: Any
    _v: Any

    def __init__(self, weight: Any, n_power_iterations: int, dim: int, eps: float) -> None:
        super().__init__()
        n = weight.dim()
        if not -n <= dim < n:
            raise IndexError(f"Dimension out of range (expected to be in range of [-{n}, {n - 1}] but got {dim})")
        if n_power_iterations <= 0:
            raise ValueError("Expected n_power_iterations to be positive, but got n_power_iterations="
                             f"{n_power_iterations}")  # fmt: skip
        self.dim, self.eps, self.n_power_iterations = dim % n, eps, n_power_iterations
        if n > 1:
            matrix = self._matrix(weight.detach())
            for key, size in zip(("_u", "_v"), matrix.shape, strict=True):
                self.register_buffer(key, self._unit(random.randn(size, dtype=weight.dtype, device=weight.device)))
            self._iterate(matrix, 15)

    def _matrix(self, weight: Any) -> Any:
        return weight.movedim(self.dim, 0).flatten(1)

    def _unit(self, vector: Any) -> Any:
        return F.normalize(vector, dim=0, eps=self.eps)

    @no_grad()
    def _iterate(self, matrix: Any, n: int) -> None:
        for _ in range(n):
            self._u.copy_(self._unit(matrix.mv(self._v)))
            self._v.copy_(self._unit(matrix.mH.mv(self._u)))

    def forward(self, weight: Any) -> Any:
        if weight.dim() == 1:
            return self._unit(weight)
        matrix = self._matrix(weight)
        if self.training:
            self._iterate(matrix.detach(), self.n_power_iterations)
        u, v = self._u.clone(), self._v.clone()  # the next call changes them
        return weight / u.conj().dot(matrix.mv(v))

    def right_inverse(self, value: Any) -> Any:
        return value


def spectral_norm(module: Module, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12,
                  dim: int | None = None) -> Module:  # fmt: skip
    """Divide a weight by its largest singular value (Miyato et al. 2018).

    That is found by power iterations, from where the last call left off: 15 at first, then ``n_power_iterations`` each
    time the weight is asked for in training mode.

    Args:
        module: whose weight it is.
        name: the name of it.
        n_power_iterations: how many; ValueError unless positive.
        eps: the least length of a vector to divide by.
        dim: which dim of the weight counts as the rows of the matrix; 0 if None, and 1 of a transposed convolution.

    Returns the module. Raises ValueError if there is no such tensor.

    >>> layer = gw.nn.utils.parametrizations.spectral_norm(gw.nn.Linear(2, 2))
    >>> bool((gw.linalg.matrix_norm(layer.weight, 2) - 1).abs() < 1e-3)
    True
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if dim is None:
        dim = int(any(cls.__name__.startswith("ConvTranspose") for cls in type(module).__mro__))
    return parametrize.register_parametrization(module, name, _SpectralNorm(weight, n_power_iterations, dim, eps))


class _Orthogonal(Module):
    """Orthogonal matrices Q(x): of a skew-symmetric matrix, or as a product of Householder reflections, times ``base``.

    With a ``base`` it is that which an assigned matrix goes into; x then begins where Q(x) is the identity.
    """

    base: Any

    def __init__(self, weight: Any, orthogonal_map: str, use_trivialization: bool) -> None:
        super().__init__()
        if orthogonal_map == "householder" and weight.is_complex():
            raise ValueError("The householder parametrization does not support complex tensors.")
        self.orthogonal_map, self.shape = orthogonal_map, weight.shape
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, x: Any) -> Any:
        wide = x.shape[-2] < x.shape[-1]
        x = x.mT if wide else x
        n, k = x.shape[-2:]
        if self.orthogonal_map == "householder":
            a = x.tril(-1)
            q = linalg.householder_product(a, 2 / (1 + (a * a).sum(-2)))
            q = q * x.detach().diagonal(dim1=-2, dim2=-1).sgn().unsqueeze(-2)
        else:
            a = F.pad(x.tril(), (0, n - k))
            a = a - a.mH
            if self.orthogonal_map == "matrix_exp":
                q = linalg.matrix_exp(a)
            else:
                one = creation.eye(n, dtype=a.dtype, device=a.device)
                q = linalg.solve(one - 0.5 * a, one + 0.5 * a)
            q = q[..., :k]
        if "base" in self._buffers:
            q = self.base @ q
        return q.mT if wide else q

    @no_grad()
    def right_inverse(self, value: Any) -> Any:
        if value.shape != self.shape:
            raise ValueError(f"Expected a matrix or batch of matrices of shape {self.shape}. Got a tensor of shape "
                             f"{value.shape}.")  # fmt: skip
        wide = value.shape[-2] < value.shape[-1]
        q = value.mT if wide else value
        if "base" in self._buffers:
            *batch, n, k = q.shape
            if n > k:
                q = cat([q, random.randn(*batch, n, n - k, dtype=q.dtype, device=q.device)], -1)
            self.base = _orthogonalized(q)
            minus = zeros_like(value)
            minus.diagonal(dim1=-2, dim2=-1).fill_(-1.0)  # of which the Householder reflections make the identity
            return minus
        if self.orthogonal_map != "householder":
            raise NotImplementedError("It is not possible to assign to the matrix exponential or the Cayley "
                                      "parametrizations when use_trivialization=False.")  # fmt: skip
        a, tau = geqrf(q)
        signs = a.diagonal(dim1=-2, dim2=-1)
        signs.copy_(where(tau == 0, -signs.sgn(), signs.sgn()))
        return a.mT if wide else a


def _orthogonalized(matrix: Any) -> Any:
    """The Q of a square matrix whose R has a positive diagonal: the matrix itself, if it is orthogonal."""
    q, r = linalg.qr(matrix)
    return q * r.diagonal(dim1=-2, dim2=-1).sgn().unsqueeze(-2)


def orthogonal(module: Module, name: str = "weight", orthogonal_map: str | None = None, *,
               use_trivialization: bool = True) -> Module:  # fmt: skip
    """Keep a matrix, or each of a batch, orthogonal (unitary if complex): Q^H Q = 1, or Q Q^H = 1 of a wide one.

    Args:
        module: whose matrix it is.
        name: the name of it.
        orthogonal_map: Q of a skew-symmetric A made of the parameter: "matrix_exp" for exp A, "cayley" for
            (1 + A/2) (1 - A/2)^-1; or "householder" for a product of reflections. If None, "matrix_exp" of a square
            or complex one, else "householder".
        use_trivialization: keep a matrix ``base``, and parametrize what it is multiplied by (Lezcano-Casado 2019).
            Without it, "matrix_exp" and "cayley" cannot be assigned to, and do not begin at the value there is.

    Returns the module. Raises ValueError if there is no such tensor, if it has less than 2 dims, or for another map.

    >>> layer = orthogonal(gw.nn.Linear(4, 3))
    >>> gw.allclose(layer.weight @ layer.weight.mT, gw.eye(3), atol=1e-5)
    True
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if weight.dim() < 2:
        raise ValueError(f"Expected a matrix or batch of matrices. Got a tensor of {weight.dim()} dimensions.")
    if orthogonal_map is None:
        square = weight.shape[-2] == weight.shape[-1]
        orthogonal_map = "matrix_exp" if square or weight.is_complex() else "householder"
    if orthogonal_map not in ("matrix_exp", "cayley", "householder"):
        raise ValueError('orthogonal_map has to be one of "matrix_exp", "cayley", "householder". '
                         f"Got: {orthogonal_map}")  # fmt: skip
    orth = _Orthogonal(weight, orthogonal_map, use_trivialization)
    return parametrize.register_parametrization(module, name, orth, unsafe=True)
