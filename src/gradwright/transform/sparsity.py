"""Where a Jacobian has entries: a pattern that is given, or found by products with it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradwright import backends
from gradwright.base.errors import kind
from gradwright.engine.base import TensorBase, wrap
from gradwright.engine.levels import LevelArray, below
from gradwright.engine.mode import inside, recording, resumed
from gradwright.transform.arguments import Inputs, no_complex
from gradwright.transform.colouring import Indices, orthogonal, star
from gradwright.transform.forward import jvp
from gradwright.transform.reverse import vjp


class Sparsity:
    """The places of the entries of a sparse matrix, in the order of its rows.

    Attributes:
        rows, columns: of each entry, as NumPy arrays of integers.
        shape: of the matrix.
    """

    def __init__(self, rows: Any, columns: Any, shape: tuple[int, int]) -> None:
        n = max(shape[1], 1)
        places = np.unique(np.asarray(rows, np.intp) * n + np.asarray(columns, np.intp))
        self.rows, self.columns = places // n, places % n
        self.shape = shape

    @cached_property
    def row_colours(self) -> Indices:
        """A colour for each row: those of one colour have no column in common, so one backward pass serves them."""
        return orthogonal(self.rows, self.columns, *self.shape)

    @cached_property
    def column_colours(self) -> Indices:
        """A colour for each column: those of one colour have no row in common, so one tangent serves them."""
        return orthogonal(self.columns, self.rows, *self.shape[::-1])

    @cached_property
    def star_colours(self) -> Indices:
        """A colour for each row of a symmetric matrix: so that an entry, or its mirror image, stands alone."""
        return star(self.rows, self.columns, self.shape[0])

    def symmetric(self) -> Sparsity:
        """The pattern together with its mirror image."""
        both = (np.concatenate([self.rows, self.columns]), np.concatenate([self.columns, self.rows]))
        return Sparsity(*both, self.shape)

    def to_dense(self) -> NDArray[np.bool_]:
        """The pattern as an array of booleans."""
        made = np.zeros(self.shape, bool)
        made[self.rows, self.columns] = True
        return made

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return f"Sparsity({len(self)} entries of {self.shape[0]} x {self.shape[1]})"


def given(api: str, pattern: Any, shape: tuple[int, int]) -> Sparsity:
    """A pattern as users write it, for a matrix of this shape; see `gradwright.transform.sparse.sparse_jacobian`.

    Raises TypeError for anything else, ValueError if it does not fit.
    """
    if isinstance(pattern, Sparsity):
        _of_shape(api, pattern.shape, shape)
        return pattern
    if hasattr(pattern, "tocoo"):
        _of_shape(api, pattern.shape, shape)
        pattern = pattern.tocoo()
        return Sparsity(pattern.row, pattern.col, shape)
    if isinstance(pattern, TensorBase):
        pattern = backends.to_host(below(pattern.array))
    if isinstance(pattern, (tuple, list)) and len(pattern) == 2:
        return _pairs(api, _whole(api, "rows", pattern[0]), _whole(api, "columns", pattern[1]), shape)
    if not isinstance(pattern, np.ndarray) or not (pattern.dtype == bool or pattern.dtype.kind in "iu"):
        what = f"an array of {pattern.dtype}" if isinstance(pattern, np.ndarray) else kind(pattern)
        raise TypeError(
            f"{api}: pattern must be an array of booleans, a pair (rows, columns) of indices, a SciPy sparse matrix or "
            f"what sparsity() returns, but is {what}; for numbers write pattern != 0"
        )
    if pattern.dtype != bool:
        if pattern.ndim != 2 or pattern.shape[0] != 2:
            raise ValueError(f"{api}: a pattern of indices must be of shape (2, entries), rows and columns, but is of "
                             f"shape {pattern.shape}; for a matrix of numbers write pattern != 0")  # fmt: skip
        return _pairs(api, pattern[0], pattern[1], shape)
    _of_shape(api, pattern.shape, shape)
    rows, columns = np.nonzero(pattern)
    return Sparsity(rows, columns, shape)


def _of_shape(api: str, got: tuple[int, ...], shape: tuple[int, int]) -> None:
    if tuple(got) != shape:
        raise ValueError(
            f"{api}: pattern is of shape {tuple(got)}, but the matrix has {shape[0]} rows, one for each entry of the "
            f"output, and {shape[1]} columns, one for each of the input: flatten both"
        )


def _whole(api: str, name: str, indices: Any) -> Any:
    if isinstance(indices, TensorBase):
        indices = backends.to_host(below(indices.array))
    found = np.asarray(indices)
    if found.ndim != 1 or (found.dtype.kind not in "iu" and found.size):
        raise TypeError(f"{api}: pattern must be (rows, columns), each a line of integers, but {name} are of "
                        f"{found.dtype} and of shape {found.shape}")  # fmt: skip
    return found.astype(np.intp)


def _pairs(api: str, rows: Any, columns: Any, shape: tuple[int, int]) -> Sparsity:
    if len(rows) != len(columns):
        raise ValueError(f"{api}: pattern must have a row and a column for each entry, but has {len(rows)} rows and "
                         f"{len(columns)} columns")  # fmt: skip
    for name, found, n in (("row", rows, shape[0]), ("column", columns, shape[1])):
        outside = found[(found < 0) | (found >= n)]
        if outside.size:
            raise ValueError(f"{api}: pattern has {name} {outside[0]}, but the {name}s are 0 to {n - 1}: the matrix is "
                             f"of shape {shape}")  # fmt: skip
    return Sparsity(rows, columns, shape)


class Flat:
    """A function of one tensor that returns one, as one between vectors.

    Attributes:
        api: who asks, for messages.
        x: the tensor; ``f`` the function of it alone.
    """

    def __init__(self, api: str, func: Callable[..., Any], args: tuple[Any, ...], argnums: int) -> None:
        if not isinstance(argnums, int):
            raise TypeError(f"{api}: argnums must be one int, as the matrix has the entries of one tensor for columns, "
                            f"but is {argnums!r}")  # fmt: skip
        inputs = Inputs(api, args, argnums)
        if len(inputs.leaves) != 1:
            raise ValueError(f"{api}: the argument must be one tensor, but inputs[{argnums}] has {len(inputs.leaves)}: "
                             "make one of them, by cat() of their ravel()")  # fmt: skip
        no_complex(api, inputs.leaves, "inputs")
        self.api, self._func, self._inputs = api, func, inputs
        (self.x,) = inputs.leaves

    def f(self, x: Any) -> Any:
        """The result of the function."""
        out = self._func(*self._inputs.with_leaves([x]))
        if not isinstance(out, TensorBase):
            raise TypeError(f"{self.api}: func must return one tensor, whose entries are the rows of the matrix, but "
                            f"returned {kind(out)}: make one of several, by cat() of their ravel()")  # fmt: skip
        no_complex(self.api, [out], "outputs")
        return out

    def like(self, array: Any) -> Any:
        """A host's array as a tensor beside ``x``: with its library, and its dtype unless it is of integers."""
        plain = below(self.x.array)
        dtype = plain.dtype if array.dtype.kind == "f" else None
        return wrap(backends.namespace(plain).asarray(array, dtype=dtype, device=plain.device))


def sparsity(func: Callable[..., Any], *inputs: Any, argnums: int = 0, points: int = 2) -> Sparsity:
    """Where the Jacobian of ``func`` has entries: all that are not 0 at ``inputs`` or at random points around.

    Nothing need be known of ``func``: products of the Jacobian with random vectors tell which halves, quarters, ... of
    the rows (or columns, if there are fewer) reach which entries. It takes about twice as many products for each
    halving as there are colours: some 80 for a tridiagonal matrix of 10,000 by 10,000.

    Args:
        func: takes tensors and returns one.
        inputs: its arguments; where the pattern is looked for.
        argnums: which of them to differentiate by, a tensor.
        points: at how many other points to look, too. The first differs from the input by about a tenth, the others are
            as far from it as it is from 0, on both sides. Points where ``func`` raises an error are passed over, and
            rows with derivatives that are not finite there.

    **An entry that is 0 at each of these points is not found**: that of a branch that none of them takes. So what is
    computed by the pattern is checked: see `gradwright.func.sparse_jacobian`.

    >>> sparsity(lambda x: x[1:] * x[:-1], gw.zeros(4)).to_dense().astype(int)
    array([[1, 1, 0, 0],
           [0, 1, 1, 0],
           [0, 0, 1, 1]])

    Raises TypeError or ValueError unless there is one tensor to differentiate by and one output, RuntimeError inside
    vmap, where there is no one point, and for complex numbers.
    """
    flat = Flat("sparsity", func, inputs, argnums)
    return inside(partial(recording, False), resumed, detected, flat, points)


def detected(flat: Flat, points: int) -> Sparsity:
    """The pattern of a function at its input and at other points."""
    here = numbers(flat.api, flat.x)
    generator = np.random.default_rng(18)
    places = []
    for k in range(points):
        u = generator.standard_normal(here.shape)
        places.append(here + (np.where(here == 0, 0.1, 0.1 * here) if k == 0 else np.abs(here) + 1.0) * u)
    looks = [_Products(flat, wrap(flat.x.array).detach(), first=True)]
    for p in places:
        try:
            look = _Products(flat, flat.like(np.asarray(p, np.float64)), first=False)
        except (RuntimeError, ValueError, IndexError):  # it is not defined there
            continue
        looks += [look] if look.m == looks[0].m else []
    m, n = shape = (looks[0].m, here.size)
    across = m <= n  # the fewer lines are halved
    lines, width = shape if across else shape[::-1]
    size = generator.uniform(0.5, 1.5, lines) * generator.choice([-1.0, 1.0], lines)
    blocks, reached = _halved(looks, across, lines, width, size)
    return Sparsity(blocks, reached, shape) if across else Sparsity(reached, blocks, shape)


def numbers(api: str, t: Any) -> Any:
    """The values of a tensor, without derivatives, as a NumPy array."""
    array = t.array.values() if isinstance(t.array, LevelArray) else t.array
    if isinstance(array, LevelArray):
        raise RuntimeError(f"{api}: no pattern is found inside vmap, where the input stands for many: find it outside, "
                           "with sparsity(), and hand it in as pattern=")  # fmt: skip
    return np.asarray(backends.to_host(array))


class _Products:
    """Products of the Jacobian at one point, from either side."""

    def __init__(self, flat: Flat, x: Any, first: bool) -> None:
        self._flat, self._x, self._first = flat, x, first
        self._y, self._pull = vjp(flat.f, x)
        self.m = self._y.array.size

    def reach(self, vectors: Any, across: bool) -> NDArray[np.bool_]:
        """For each vector, which entries of its product are not 0."""
        rows = []
        for v in vectors:
            to = self._y if across else self._x
            seed = self._flat.like(v).reshape(to.array.shape).to(to.dtype)
            out = self._pull(seed)[0] if across else jvp(self._flat.f, (self._x,), (seed,))[1]
            rows.append(numbers(self._flat.api, out).reshape(-1))
        found = np.stack(rows)
        return (found != 0) & (self._first | np.isfinite(found))


def _halved(looks: list[_Products], across: bool, lines: int, width: int, size: Any) -> tuple[Indices, Indices]:
    """The lines and the places where they have entries, from those of blocks of lines, each half of one before."""
    block, place = np.zeros(width, np.intp), np.arange(width)
    if not lines:
        return block[:0], place[:0]
    top = (lines - 1).bit_length()
    for shift in range(top, -1, -1):
        if shift < top:
            block, place = np.concatenate([2 * block, 2 * block + 1]), np.tile(place, 2)
        count = ((lines - 1) >> shift) + 1
        there = block < count
        block, place = block[there], place[there]
        contested = np.bincount(place, minlength=width)[place] > 1
        colours = np.maximum(orthogonal(block[contested], place[contested], count, width), 0)
        own = colours[np.arange(lines) >> shift]
        seeds = [np.where(own == c, size, 0.0) for c in range(colours.max() + 1)]
        found = np.logical_or.reduce([look.reach(seeds, across) for look in looks])
        reached = found[colours[block], place]
        block, place = block[reached], place[reached]
    return block, place
