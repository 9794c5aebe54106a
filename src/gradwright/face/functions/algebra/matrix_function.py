"""Functions of Hermitian matrices: a function of one number, applied to the eigenvalues."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from gradwright import backends
from gradwright.base import dtypes
from gradwright.base.errors import LinAlgError, kind, size
from gradwright.engine.apply import apply
from gradwright.engine.backward import walk
from gradwright.engine.base import TensorBase, wrap
from gradwright.engine.calls import grad
from gradwright.engine.mode import PLAIN, now, switch
from gradwright.engine.node import AccumulateGrad
from gradwright.face.functions.algebra.matrices import adjoint, square
from gradwright.face.functions.elementwise import log, sqrt
from gradwright.face.reading.require import require
from gradwright.ops import matrix_function as _ops

if TYPE_CHECKING:
    from gradwright.face.typing import Tensor


def matrix_function(A: Tensor, f: Callable[[Any], Any]) -> Tensor:
    """f(A) = V diag(f(L)) V^H of a Hermitian A = V diag(L) V^H, which keeps its derivatives where eigenvalues repeat.

    ``f`` takes a real tensor and returns one of its shape, each entry made of its own entry: `gradwright.sqrt`,
    ``lambda v: v.clamp(min=0)``. It is made of operations on tensors, which are differentiated as often as the result
    is; it is called again in the backward pass, and takes no other tensor that requires grad. At a kink of ``f`` the
    result has the slope that ``f`` has there.

    Shapes: A is (..., n, n), of float32, float64, complex64 or complex128, and so is the result. A may differ from A^H
    by rounding, up to the root of the precision times its largest entry; (A + A^H) / 2 is taken.

    Derivatives, to any order, by Daleckii and Krein (1965): dA = V (F * (V^H g V)) V^H with F the divided differences
    of ``f`` at the eigenvalues, f' where two are equal. The k-th takes memory for n**(k + 1) numbers.

    Raises:
        RuntimeError: A is not Hermitian; of other matrices there are `matrix_exp` and `matrix_power`. Or ``f`` is no
            function as said above.
        LinAlgError: ``f`` is not finite at an eigenvalue, as log at 0.

    >>> x = gw.eye(2, requires_grad=True)
    >>> gw.linalg.matrix_function(x, lambda v: v * v).sum().backward()
    >>> x.grad
    tensor([[2., 2.],
            [2., 2.]])
    """
    return _of("linalg.matrix_function", A, f)


def matrix_sqrt(A: Tensor) -> Tensor:
    """The square root of a positive-semidefinite A: `matrix_function` of sqrt.

    Shapes: A is (..., n, n), Hermitian, and so is the result. Of a singular A the derivative is infinite where a loss
    reaches the root in the null space, and finite elsewhere.

    Raises LinAlgError if A is indefinite; RuntimeError if it is not Hermitian.

    >>> gw.linalg.matrix_sqrt(gw.tensor([[4.0, 0.0], [0.0, 9.0]]))
    tensor([[2., 0.],
            [0., 3.]])
    """
    return _of("linalg.matrix_sqrt", A, sqrt)


def matrix_log(A: Tensor) -> Tensor:
    """The Hermitian logarithm of a positive-definite A: `matrix_function` of log.

    Shapes: A is (..., n, n), Hermitian, and so is the result. Raises LinAlgError if an eigenvalue is 0 or negative;
    RuntimeError if A is not Hermitian.

    >>> gw.linalg.matrix_log(gw.eye(2))
    tensor([[0., 0.],
            [0., 0.]])
    """
    return _of("linalg.matrix_log", A, log)


def real_power(A: Any, n: float) -> Any:
    """A to a power that is no whole number: `matrix_function` of v**n."""
    return _of("linalg.matrix_power", A, lambda v: v**n)


def _of(name: str, A: Any, f: Callable[[Any], Any]) -> Any:
    mean = (square(name, A) + adjoint(A)) / 2
    space, array = backends.namespace(A.array), A.array
    if array.size:
        most = float(space.finfo(array.dtype).eps) ** 0.5 * space.max(space.abs(array))
        require(~(space.abs(array - mean.array) > most), lambda: (
            f"{name}: argument 'A' of shape {size(array.shape)} is not Hermitian (symmetric, if real). Functions of "
            "other matrices are linalg.matrix_exp and linalg.matrix_power with a whole number; if A should be "
            "Hermitian, pass (A + A.mH) / 2"
        ))  # fmt: skip
    return apply(_ops.matrix_function, (mean,), {"f": _Scalar(name, f)})


class _Scalar:
    """A function of tensors for arrays, with its derivatives."""

    __slots__ = ("_f", "_name")

    def __init__(self, name: str, f: Callable[[Any], Any]) -> None:
        self._name, self._f = name, f

    def __call__(self, points: Any, order: int) -> Any:
        """The derivative of that order at each of an array of numbers."""
        before = now()
        switch(PLAIN)
        try:
            x = wrap(points)
            x.requires_grad = True
            y = self._f(x)
            if not order:
                self._check(x, y)
            for k in range(order):
                y = _slope(y, x, k + 1 < order)
            return y.array
        finally:
            switch(before)

    def _check(self, x: Any, y: Any) -> None:
        """Raise unless y is a real function of x, entry by entry, finite, and of nothing else."""
        name, space = f"{self._name}: the function f", backends.namespace(x.array)
        if not isinstance(y, TensorBase) or y.array.dtype != x.array.dtype:
            what = f"a tensor of {dtypes.of(y.array.dtype)}" if isinstance(y, TensorBase) else kind(y)
            raise RuntimeError(f"{name} returned {what}; expected a tensor of {x.dtype}, as it was given")
        if y.array.shape != x.array.shape:
            shapes = f"{size(y.array.shape)} for {size(x.array.shape)}"
            raise RuntimeError(f"{name} returned shape {shapes}; expected one number for each")
        if y._node is None:
            raise RuntimeError(
                f"{name} returned a tensor without history, so it has no derivative: write it with operations on "
                "tensors, without detach() and NumPy; a constant c is v * 0 + c"
            )
        if any(type(node) is AccumulateGrad and node is not x._node for node in walk([y._node])):
            raise RuntimeError(
                f"{name} uses another tensor that requires grad, which would get no gradient: detach it, or apply it "
                "to the matrix outside of f"
            )
        if x.array.size:
            first, whole = (space.reshape(t.array, (-1,))[:1] for t in (x, y))
            require(~(space.abs(self._f(wrap(first)).array - whole) > 1e-3 * space.abs(whole)), lambda: (
                f"{name} gives one number for an eigenvalue alone and another beside others: it is to be a function "
                "of one number"
            ))  # fmt: skip
        finite = space.isfinite(y.array) | ~space.isfinite(x.array)
        require(finite, lambda: (
            f"{name} is not finite at the eigenvalue {_first(space, x.array, finite):.9g}. Where it comes from "
            "rounding, add a little to the diagonal, or clamp it: matrix_function(A, lambda v: f(v.clamp(min=...)))"
        ), LinAlgError)  # fmt: skip


def _first(space: Any, array: Any, fine: Any) -> float:
    """The first entry that is not ``fine``."""
    values = backends.to_host(array).reshape(-1)
    return float(values[~backends.to_host(fine).reshape(-1)][0])


def _slope(y: Any, x: Any, again: bool) -> Any:
    found = None if y._node is None else grad(y.sum(), x, create_graph=again, allow_unused=True)[0]
    return x.detach() * 0 if found is None else found
