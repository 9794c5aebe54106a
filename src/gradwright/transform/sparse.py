"""Sparse Jacobians and Hessians: a product for each colour of their pattern, and not for each row."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from gradwright import backends
from gradwright.base import dtypes
from gradwright.engine.apply import apply
from gradwright.engine.levels import below
from gradwright.engine.mode import inside, recording, resumed
from gradwright.ops.shape import stack
from gradwright.transform.arguments import like
from gradwright.transform.colouring import Indices, mirrored
from gradwright.transform.forward import jvp
from gradwright.transform.reverse import grad, vjp
from gradwright.transform.sparsity import Flat, Sparsity, detected, given, numbers
from gradwright.transform.vmap import vmap

PUSH = 3
"""How many products from the left cost as much as one tangent, which runs the function again."""


class Sparse:
    """A sparse matrix of derivatives.

    Attributes:
        pattern: where its entries are, a `Sparsity`.
        indices: the same, a tensor of shape (2, entries): rows and columns, in the order of the rows.
        values: the entries, a tensor; with a history if the inputs had one.
        shape: of the matrix: entries of the output by entries of the input.
        shapes: of the output and of the input.
    """

    def __init__(self, pattern: Sparsity, indices: Any, values: Any, shapes: tuple[tuple[int, ...], ...]) -> None:
        self.pattern, self.indices, self.values, self.shapes = pattern, indices, values, shapes
        self.shape = pattern.shape

    def to_dense(self) -> Any:
        """The whole derivative as `gradwright.func.jacrev` gives it, of the output's shape followed by the input's."""
        m, n = self.shape
        flat = self.values.new_zeros(m * n)
        places = self.indices[0] * n + self.indices[1]
        return flat.index_put((places,), self.values).reshape((*self.shapes[0], *self.shapes[1]))

    def to_scipy(self) -> Any:
        """The numbers alone as a ``scipy.sparse.csr_array``. ImportError where SciPy is not installed."""
        try:
            from scipy.sparse import csr_array  # noqa: PLC0415 (an extra)
        except ImportError as e:
            raise ImportError("Sparse.to_scipy(): SciPy is not installed: pip install scipy") from e
        values = numbers("Sparse.to_scipy", self.values.detach())
        return csr_array((values, (self.pattern.rows, self.pattern.columns)), shape=self.shape)

    def __repr__(self) -> str:
        return f"Sparse({len(self.pattern)} entries of {self.shape[0]} x {self.shape[1]}, values={self.values!r})"


class _Plan:
    """Which products to take, and where in them each entry of the matrix stands.

    Products lie in rows: ``colours`` has the colour of each line that they add up, which are rows of the matrix if
    ``across``, else columns. Entry k is ``lines[k]`` at ``places[k]`` of the product of its colour; if ``mirrors``, of
    two that mirror each other it may be the other one.
    """

    def __init__(self, pattern: Sparsity, colours: Indices, lines: Indices, places: Indices, width: int,
                 mirrors: bool = False) -> None:  # fmt: skip
        self.pattern, self._mirrors = pattern, mirrors
        self._colours, self._lines, self._places, self._width = colours, lines, places, width
        self.count = int(colours.max(initial=-1)) + 1
        self._made: dict[Any, tuple[Any, ...]] = {}

    def made(self, flat: Flat) -> tuple[Any, ...]:
        """The seeds, the places of the entries in the products, the indices, a probe and factors for `explained`."""
        key = (flat.x.array.dtype, flat.x.device)
        if key not in self._made:
            generator = np.random.default_rng(41)
            probe = generator.uniform(0.5, 1.5, len(self._colours)) * generator.choice([-1.0, 1.0], len(self._colours))
            seeds = (self._colours == np.arange(self.count)[:, None]).astype(float)
            found = self._colours[self._lines] * self._width + self._places
            indices = np.stack([self.pattern.rows, self.pattern.columns])
            if self._mirrors:
                factors = probe[self.pattern.columns]
            else:
                factors = np.zeros((self.count, self._width))
                factors[self._colours[self._lines], self._places] = probe[self._lines]
            self._made[key] = tuple(map(flat.like, (seeds, found, indices, probe, factors)))
        return self._made[key]

    def explained(self, rows: Any, values: Any, indices: Any, factors: Any) -> tuple[Any, Any]:
        """The product with the probe as the entries give it, and the sum of the sizes of what it adds up."""
        if not self._mirrors:  # each stands in the column that it belongs to: nothing need be scattered
            parts = rows * factors
            return parts.sum(0), parts.abs().sum(0)
        parts, none = values * factors, values.new_zeros(self._width)
        return none.index_add(0, indices[0], parts), none.index_add(0, indices[0], parts.abs())


def _planned(pattern: Sparsity, mode: str | None) -> tuple[_Plan, bool]:
    """The plan for a Jacobian, and whether it takes products from the left: backward passes."""
    m, n = pattern.shape
    if mode is None:
        pulls, pushes = (int(c.max(initial=-1)) + 1 for c in (pattern.row_colours, pattern.column_colours))
        mode = "forward" if PUSH * pushes < pulls + 1 else "reverse"
    if mode == "reverse":
        return _Plan(pattern, pattern.row_colours, pattern.rows, pattern.columns, n), True
    return _Plan(pattern, pattern.column_colours, pattern.columns, pattern.rows, m), False


def _symmetric(pattern: Sparsity) -> _Plan:
    """The plan for a Hessian: each entry at its place, or where it is not alone at the mirrored one."""
    rows, columns, colours = pattern.rows, pattern.columns, pattern.star_colours
    other = mirrored(rows, columns, colours)
    return _Plan(pattern, colours, np.where(other, rows, columns), np.where(other, columns, rows), pattern.shape[1],
                 mirrors=True)  # fmt: skip


def _products(product: Callable[[Any], Any], seeds: Any, chunk_size: int | None) -> Any:
    """The product for each seed, in rows."""
    if chunk_size == 1 or seeds.array.shape[0] < 2:
        made = [product(seed).reshape(-1) for seed in seeds]
        return apply(stack, made, {"axis": 0})
    return vmap(lambda seed: product(seed).reshape(-1), chunk_size=chunk_size)(seeds)


def _entries(flat: Flat, plan: _Plan, product: Callable[[Any], Any], to: tuple[int, ...], dtype: Any,
             chunk_size: int | None, check: bool | float) -> tuple[Any, Any]:  # fmt: skip
    """The indices and values of all entries, if their products with a random vector are right."""
    seeds, places, indices, probe, factors = plan.made(flat)
    if not plan.count:
        rows, values = None, flat.x.new_zeros(0)
    else:
        rows = _products(product, seeds.reshape(plan.count, *to), chunk_size)
        values = rows.reshape(-1)[places]
    if check is not False:
        parts = None if rows is None else _still(plan.explained, rows.detach(), values.detach(), indices, factors)
        _still(_checked, flat, parts, _still(product, probe.reshape(to)), dtype, check)
    return indices, values


def _checked(flat: Flat, parts: tuple[Any, Any] | None, product: Any, dtype: Any,
             tolerance: bool | float) -> None:  # fmt: skip
    """RuntimeError unless the entries explain the product with the probe, of which ``dtype`` may be the other end."""
    product = product.detach().reshape(-1)
    eps = max(dtypes.finfo(d).eps for d in (flat.x.dtype, product.dtype, dtype))
    if parts is None:
        wrong = product != 0
    else:
        explained, size = parts
        tolerance = eps ** (2 / 3) if tolerance is True else tolerance
        wrong = (product - explained).abs() > size * tolerance + size.amax() * eps
    if backends.to_host(below(wrong.array)).any():  # in any example
        raise RuntimeError(
            f"{flat.api}: the pattern misses entries: at this point the products with a random vector are not those "
            "that its entries give. Find it anew, with sparsity(func, *inputs) here or at more points (points=10), or "
            "hand in one that has all entries that may be other than 0. (If func computes in less precision than that "
            "of its input, say how much is to be expected: check=1e-3. If it is another function at each call, as with "
            "random numbers, it has no Jacobian.)"
        )


def _tidy(api: str, mode: str | None, chunk_size: int | None) -> None:
    if mode not in (None, "forward", "reverse"):
        raise ValueError(f"{api}: mode must be 'forward', 'reverse' or None for the cheaper one, but is {mode!r}")
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError(f"{api}: chunk_size must be None or greater than 0, but is {chunk_size}")


def sparse_jacobian(func: Callable[..., Any], pattern: Any = None, *, argnums: int = 0, mode: str | None = None,
                    chunk_size: int | None = 1, check: bool | float = True) -> Callable[..., Sparse]:  # fmt: skip
    """The function that computes the Jacobian of ``func``, which has few entries, by a product for each colour.

    Rows that have no column in common are computed together, by one backward pass, or such columns by one tangent.
    A tridiagonal Jacobian takes three, however large it is.

    Args:
        func: takes tensors and returns one; rows are its entries, columns those of the input, flattened.
        pattern: where there may be entries: an array of booleans of the shape of the matrix; a pair (rows, columns) of
            indices; a SciPy sparse matrix (what it stores); or what `sparsity` returns. By default it is found by
            `sparsity` at the first call, and kept for those after it, while shapes remain.
        argnums: which argument to differentiate by, a tensor.
        mode: "reverse" for backward passes, "forward" for tangents; by default what is cheaper. A tangent runs the
            function again: it counts as three.
        chunk_size: how many products are taken at once, by `vmap`. By default one after another, which is the quickest
            for large arrays; None, all at once, for many colours of small ones.
        check: take one product more, with a random vector, and hold it against the entries; a number says how much of
            what is in a row or column may be rounding.

    Returns:
        A function of the arguments of ``func`` that returns a `Sparse`: indices, values (with a history where the input
        has one), `to_dense()`, `to_scipy()`.

    **The check** finds entries that the pattern misses, where they are more than rounding: above 4e-11 (in float32
    2.5e-5) of what else is in their row or column. It looks at the very point of the call, wherever the pattern was
    found. NaN passes it.

    >>> jacobian = sparse_jacobian(lambda x: x[1:] * x[:-1])
    >>> jacobian(gw.tensor([1.0, 2.0, 3.0])).to_dense()
    tensor([[2., 1., 0.],
            [0., 3., 2.]])

    Raises RuntimeError if the pattern misses an entry; TypeError or ValueError for a pattern that is none, or of
    another shape, and unless there are one input and one output.
    """
    _tidy("sparse_jacobian", mode, chunk_size)
    plans: dict[Any, tuple[_Plan, bool]] = {}

    @like(func)
    def jacobian(*args: Any) -> Sparse:
        flat = Flat("sparse_jacobian", func, args, argnums)
        x, key = flat.x, tuple([getattr(a, "shape", None) for a in args])
        if key not in plans:
            plans[key] = _planned(_found(flat, pattern, lambda: _still(flat.f, x).array.size), mode)
        plan, across = plans[key]
        if across:
            y, pull = vjp(flat.f, x)
            _fits(plan, y)
            found = _entries(flat, plan, lambda w: pull(w.to(y.dtype))[0], y.array.shape, y.dtype,
                             chunk_size, check)  # fmt: skip
            return Sparse(plan.pattern, *found, (y.array.shape, x.array.shape))
        outs: list[Any] = []

        def push(v: Any) -> Any:
            y, t = jvp(flat.f, (x,), (v,))
            _fits(plan, y)
            outs.append(y.array.shape)
            return t

        found = _entries(flat, plan, push, x.array.shape, x.dtype, chunk_size, check)
        return Sparse(plan.pattern, *found, (outs[0] if outs else _still(flat.f, x).array.shape, x.array.shape))

    return jacobian


def _fits(plan: _Plan, y: Any) -> None:
    if y.array.size != plan.pattern.shape[0]:
        raise RuntimeError(
            f"sparse_jacobian: func has returned {y.array.size} entries, but the pattern is of a matrix of shape "
            f"{plan.pattern.shape}, from a call before: an output must have one shape for inputs of one shape"
        )


def _still(f: Callable[..., Any], *args: Any) -> Any:
    """What a function returns while nothing is recorded."""
    return inside(partial(recording, False), resumed, f, *args)


def _found(flat: Flat, pattern: Any, rows: Callable[[], int]) -> Sparsity:
    """The pattern that is given, for a matrix of so many rows, or else found."""
    return _still(detected, flat, 2) if pattern is None else given(flat.api, pattern, (rows(), flat.x.array.size))


def sparse_hessian(func: Callable[..., Any], pattern: Any = None, *, argnums: int = 0, chunk_size: int | None = 1,
                   check: bool | float = True) -> Callable[..., Sparse]:  # fmt: skip
    """The function that computes the Hessian of ``func``, which has few entries, by Hessian-vector products.

    As the matrix is symmetric, fewer colours do than for a Jacobian: two where one variable meets all others and
    these meet no one else. The gradient is recorded once; each product is a backward pass through it.

    Args:
        func: returns one number.
        pattern: as of `sparse_jacobian`; one triangle is enough.
        argnums, chunk_size, check: as there.

    >>> sparse_hessian(lambda x: (x[1:] * x[:-1] ** 2).sum())(gw.tensor([1.0, 2.0, 3.0])).to_dense()
    tensor([[4., 2., 0.],
            [2., 6., 4.],
            [0., 4., 0.]])

    Raises what `sparse_jacobian` and `gradwright.func.grad` raise.
    """
    _tidy("sparse_hessian", None, chunk_size)
    plans: dict[Any, _Plan] = {}

    @like(func)
    def hessian(*args: Any) -> Sparse:
        flat = Flat("sparse_hessian", grad(func, argnums), args, argnums)
        shape, size = flat.x.array.shape, flat.x.array.size
        if shape not in plans:
            plans[shape] = _symmetric(_found(flat, pattern, lambda: size).symmetric())
        _, pull = vjp(flat.f, flat.x)
        entries = _entries(flat, plans[shape], lambda v: pull(v)[0], shape, flat.x.dtype, chunk_size, check)
        return Sparse(plans[shape].pattern, *entries, (shape, shape))

    return hessian
