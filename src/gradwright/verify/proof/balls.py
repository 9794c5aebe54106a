"""Ball arrays: one more array library, whose numbers are balls, and series of balls.

A `Balls` holds for each entry a power series in t (`gradwright.verify.proof.series`), and, if it moves, a slope beside
it, such a series, too: what the entry changes by along one direction of the inputs. Both are enclosures: whatever the
numbers in the balls that go in, what comes out is in the balls that come out. So a formula that runs on them gives
its own derivative, with an error bound, and knows nothing of the rule that is to be proved.

Whole numbers and truth values that are certain are NumPy's. A comparison that the balls leave open is `Truths`, which
`where` takes: it gives the hull of both sides, and notes that it did. What needs to know, raises NotProvedError.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from gradwright.base.errors import NotProvedError
from gradwright.verify.proof import series


def boxed(value: Any) -> Any:
    """An array of objects, of no dimensions if it is one of its entries: NumPy hands those out bare."""
    if isinstance(value, np.ndarray):
        return value
    held = np.empty(1, object)
    held[0] = value
    return held.reshape(())


def spread(value: Any, shape: tuple[int, ...]) -> Any:
    """An array of this shape with one entry everywhere."""
    return np.broadcast_to(boxed(value), shape)


def each(f: Callable[..., Any], *arrays: Any, outputs: int = 1) -> Any:
    """A function of entries, of arrays that broadcast."""
    made = np.frompyfunc(f, len(arrays), outputs)(*arrays)
    return tuple(map(boxed, made)) if outputs > 1 else boxed(made)


def entries_of(value: Any) -> Any:
    """The entries, as constant series, of a number or an array of NumPy's."""
    array = np.asarray(value)
    if array.dtype.kind in "biuf":
        cast = float if array.dtype.kind == "f" else int
        return each(lambda v: series.constant(cast(v)), array)
    if array.dtype.kind == "c":
        return each(lambda v: series.constant(complex(v)), array)
    raise NotProvedError(f"not proved: an array of dtype {array.dtype} has no balls")


def _both(f: Callable[[Any, Any], Any]) -> tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]:
    """An operator, and the one that stands for it where balls come second."""
    return (lambda self, other: f(self, other)), (lambda self, other: f(other, self))


class Balls:
    """An array of balls: ``value`` and ``slope`` are NumPy arrays of series; no slope is a slope of 0."""

    __slots__ = ("__weakref__", "dtype", "slope", "value")
    __array_ufunc__ = None
    base = None
    batch = False
    device = "cpu"

    def __init__(self, value: Any, slope: Any = None, dtype: Any = np.float64) -> None:
        self.value, self.slope, self.dtype = boxed(value), None if slope is None else boxed(slope), np.dtype(dtype)
        if self.slope is not None and self.slope.shape != self.value.shape:
            self.slope = np.broadcast_to(self.slope, self.value.shape)

    @property
    def shape(self) -> tuple[int, ...]:
        """The length of each axis."""
        return self.value.shape

    @property
    def ndim(self) -> int:
        """How many axes it has."""
        return int(self.value.ndim)

    @property
    def size(self) -> int:
        """How many entries it has."""
        return int(self.value.size)

    @property
    def itemsize(self) -> int:
        """Bytes of an entry of its dtype, which is not what a ball takes."""
        return int(self.dtype.itemsize)

    @property
    def nbytes(self) -> int:
        """Bytes of as many numbers of its dtype."""
        return self.size * self.itemsize

    @property
    def T(self) -> Balls:
        """The axes in reverse order."""
        return self.moved(np.transpose)

    @property
    def mT(self) -> Balls:
        """The last two axes exchanged."""
        return self.moved(lambda a: np.swapaxes(a, -1, -2))

    @property
    def real(self) -> Balls:
        """The real parts."""
        return self.parts(lambda c: c.real)

    @property
    def imag(self) -> Balls:
        """The imaginary parts."""
        return self.parts(lambda c: c.imag)

    def parts(self, part: Callable[[Any], Any]) -> Balls:
        """A part of each coefficient, as a real array."""
        take = lambda x: series.series([part(c) for c in series.coefficients(x)])
        slope = None if self.slope is None else each(take, self.slope)
        return Balls(each(take, self.value), slope, np.zeros(0, self.dtype).real.dtype)

    def moved(self, f: Callable[[Any], Any]) -> Balls:
        """The same entries elsewhere: ``f`` of NumPy arrays, applied to values and slopes."""
        return Balls(f(self.value), None if self.slope is None else f(self.slope), self.dtype)

    def slopes(self) -> Any:
        """The slopes, zeros where there are none."""
        return spread(series.constant(0), self.shape) if self.slope is None else self.slope

    def fixed(self) -> Balls:
        """The same values, which do not move along the inputs."""
        return Balls(self.value, None, self.dtype)

    def moves(self) -> Any:
        """Of each entry whether it moves, in t or along the inputs."""
        here = each(lambda x: not series.exact(x), self.value).astype(bool)
        if self.slope is None:
            return here
        return here | each(lambda x: not (series.exact(x) and series.start(x).is_zero()), self.slope).astype(bool)

    def copy(self) -> Balls:
        """Itself: it does not change."""
        return self

    def astype(self, dtype: Any, copy: bool = True) -> Balls:
        """The same numbers under another dtype: balls are not rounded to one."""
        if np.dtype(dtype).kind not in "fc":
            raise NotProvedError(f"not proved: balls converted to {np.dtype(dtype)}")
        return Balls(self.value, self.slope, dtype)

    def reshape(self, *shape: Any) -> Balls:
        """The same entries in row-major order under another shape."""
        return self.moved(lambda a: np.reshape(a, shape[0] if len(shape) == 1 else shape))

    def __getitem__(self, key: Any) -> Balls:
        if any(isinstance(k, (Balls, Truths)) for k in (key if isinstance(key, tuple) else (key,))):
            raise NotProvedError("not proved: an index that depends on values: it is known of no ball")
        return self.moved(lambda a: a[key])

    def __len__(self) -> int:
        return len(self.value)

    @property
    def flags(self) -> Any:
        """How the entries lie in memory, by which some formulas have another form."""
        return self.value.flags

    def _refused(self, *args: Any, **kwargs: Any) -> Any:
        raise NotProvedError("not proved: the formula reads numbers (a branch on a value, .item(), .numpy(), or NumPy "
                             "inside), and a ball is not one number: write it with where() and functions of tensors, "
                             "or of xp")

    @property
    def plain(self) -> Any:
        """Its numbers, for what reads them: there are none."""
        return self._refused()

    __array__ = __bool__ = __int__ = __index__ = __float__ = __complex__ = item = tolist = _refused

    def __repr__(self) -> str:
        return f"Balls({self.value.tolist()}, slope={None if self.slope is None else self.slope.tolist()})"

    def __pos__(self) -> Balls:
        return self

    def __neg__(self) -> Balls:
        return self.moved(np.negative)

    __add__, __radd__ = _both(lambda x, y: _sum(x, y, np.add))
    __sub__, __rsub__ = _both(lambda x, y: _sum(x, y, np.subtract))
    __mul__, __rmul__ = _both(lambda x, y: product(x, y, np.multiply))
    __matmul__, __rmatmul__ = _both(lambda x, y: product(x, y, np.matmul))
    __truediv__, __rtruediv__ = _both(lambda x, y: quotient(x, y))
    __pow__, __rpow__ = _both(lambda x, y: power(x, y))
    __lt__, __gt__ = _both(lambda x, y: compared("<", x, y))
    __le__, __ge__ = _both(lambda x, y: compared("<=", x, y))

    def __eq__(self, other: Any) -> Any:
        return compared("==", self, other)

    def __ne__(self, other: Any) -> Any:
        return ~compared("==", self, other)

    __hash__ = object.__hash__


def balls(value: Any, dtype: Any = None) -> Balls:
    """``value``, a number or an array, as balls; balls as they are."""
    if isinstance(value, Balls):
        return value if dtype is None else value.astype(dtype)
    if isinstance(value, Truths):
        return chosen(value, Balls(entries_of(1), None, dtype or np.float64), 0)
    complex_ = np.asarray(value).dtype.kind == "c"
    return Balls(entries_of(value), None, dtype or (np.complex128 if complex_ else np.float64))


def exactly(array: Any) -> Any:
    """An array of floating point as balls of these numbers; any other as it is."""
    return balls(array) if array.dtype.kind in "fc" else array


def common(x: Balls, y: Balls) -> Any:
    """The dtype of what is made of two arrays."""
    return np.result_type(x.dtype, y.dtype)


def _sum(x: Any, y: Any, add: Callable[[Any, Any], Any]) -> Balls:
    x, y = balls(x), balls(y)
    value = add(x.value, y.value)
    none = x.slope is None and y.slope is None
    return Balls(value, None if none else add(x.slopes(), y.slopes()), common(x, y))


def product(x: Any, y: Any, times: Callable[[Any, Any], Any]) -> Balls:
    """What is linear in both arguments, as a product: its slope is the sum of what each slope gives."""
    x, y = balls(x), balls(y)
    slope = None if x.slope is None else boxed(_times(x.slope, y.value, times))
    if y.slope is not None:
        other = boxed(_times(x.value, y.slope, times))
        slope = other if slope is None else slope + other
    return Balls(_times(x.value, y.value, times), slope, common(x, y))


def _times(x: Any, y: Any, times: Callable[[Any, Any], Any]) -> Any:
    """A product of arrays of series, unknown where 0 meets what is not finite: see `series.times`."""
    wild = [~each(series.finite, a).astype(bool) for a in (x, y)]
    found = times(x, y)
    if not (wild[0].any() or wild[1].any()):
        return found
    still = [each(lambda e: not e.length(), a).astype(float) for a in (x, y)]
    met = np.asarray(times(still[0], wild[1].astype(float)) + times(wild[0].astype(float), still[1]))
    made = boxed(found).copy()
    for at in np.ndindex(met.shape):
        if met[at]:
            made[at] = series.unknown()
    return made


def quotient(x: Any, y: Any) -> Balls:
    """x / y, where y may not be 0."""
    x, y = balls(x), balls(y)
    value = each(series.divided, x.value, y.value)
    slope = None if x.slope is None else each(series.divided, x.slope, y.value)
    if y.slope is not None:
        other = each(series.divided, each(series.times, value, y.slope), y.value)
        slope = boxed(-other) if slope is None else boxed(slope - other)
    return Balls(value, slope, common(x, y))


def paired(f: Callable[..., Any], *arrays: Any, dtype: Any) -> Balls:
    """A function of entries that makes a value and a slope of each, of arrays that broadcast."""
    value, slope = each(f, *arrays, outputs=2)
    return Balls(value, slope, dtype)


def through(f: series.Taylor, x: Balls) -> Balls:
    """A function of one argument, known by its Taylor coefficients."""
    if x.slope is None:
        return Balls(each(lambda v: series.through(f, v)[0], x.value), None, x.dtype)
    return paired(lambda v, s: series.through(f, v, s), x.value, x.slope, dtype=x.dtype)


def power(x: Any, y: Any) -> Any:
    """x**y: products, if y is a whole number; else e**(y log x)."""
    number = y.item() if isinstance(y, (np.ndarray, np.generic)) and not y.ndim else y
    if isinstance(number, (int, float)) and float(number).is_integer() and abs(number) <= 64:
        if not number:
            return balls(x) * 0 + 1
        small = series.whole_power(balls(x), int(abs(number)))
        return 1 / small if number < 0 else small
    if isinstance(number, float) and number == 0.5:
        return through(series.ELEMENTARY["sqrt"], balls(x))
    return through(series.ELEMENTARY["exp"], balls(y) * through(series.ELEMENTARY["log"], balls(x)))


def chosen(condition: Any, x: Any, y: Any) -> Any:
    """``where``: of what is certain, the one side; of what is open, the hull of both."""
    if not isinstance(x, (Balls, Truths)) and not isinstance(y, (Balls, Truths)) and isinstance(condition, np.ndarray):
        return np.where(condition, x, y)
    likely = condition.state if isinstance(condition, Truths) else np.asarray(condition).astype(float)
    other = np.dtype(np.float64) if not isinstance(x, Balls) else x.dtype
    x, y = (balls(v, None if isinstance(v, Balls) or np.asarray(v).dtype.kind == "c" else other) for v in (x, y))

    def pick(c: float, a: Any, b: Any) -> Any:
        return a if c == 1.0 else b if c == 0.0 else series.hull(a, b)

    none = x.slope is None and y.slope is None
    slope = None if none else each(pick, likely, x.slopes(), y.slopes())
    if isinstance(condition, Truths):
        left_open(condition.why)
    return Balls(each(pick, likely, x.value, y.value), slope, common(x, y))


def compared(sign: str, x: Any, y: Any) -> Any:
    """A comparison of each pair of entries. At equality it is open for what moves: there is a kink, or a jump."""
    x, y = balls(x), balls(y)
    moves = x.moves() | y.moves()

    def test(a: Any, b: Any, moves: bool) -> float:
        d = series.start(a) - series.start(b)
        if (a is b and series.finite(a)) or (d.is_zero() and not moves):
            return 0.0 if sign == "<" else 1.0
        if sign == "==":
            disjoint = d < 0 or d > 0 if isinstance(d, series.arb) else d.is_finite() and not d.contains(0)
            return 0.0 if disjoint else 0.5  # a number is apart from an infinity
        return 1.0 if d < 0 else 0.0 if d > 0 else 0.5

    found = each(test, x.value, y.value, moves)
    return settled(found.astype(float), f"{_shown(x)} {sign} {_shown(y)}")


def _shown(x: Balls) -> str:
    """A ball array in a few words."""
    if not x.size:
        return "[]"
    first = series.start(x.value.flat[0]).str(4)
    return first if x.size == 1 else f"({first}, ...)"


_open: ContextVar[list[str] | None] = ContextVar("conditions left open", default=None)


@contextmanager
def conditions() -> Iterator[list[str]]:
    """The conditions that balls leave open, and `where` takes both sides of, meanwhile."""
    found: list[str] = []
    token = _open.set(found)
    try:
        yield found
    finally:
        _open.reset(token)


def left_open(why: str) -> None:
    """Note a condition of which both sides were taken."""
    found = _open.get()
    if found is not None and why not in found:
        found.append(why)


class Truths:
    """Truth values of which some are open: ``state`` is 1 where true, 0 where false, 1/2 where that is not known."""

    __slots__ = ("__weakref__", "state", "why")
    __array_ufunc__ = None
    dtype = np.dtype(bool)
    device = "cpu"

    def __init__(self, state: Any, why: str) -> None:
        self.state, self.why = np.asarray(state, float), why

    @property
    def shape(self) -> tuple[int, ...]:
        """The length of each axis."""
        return self.state.shape

    @property
    def ndim(self) -> int:
        """How many axes it has."""
        return self.state.ndim

    @property
    def size(self) -> int:
        """How many entries it has."""
        return self.state.size

    def moved(self, f: Callable[[Any], Any]) -> Any:
        """The same entries elsewhere."""
        return settled(f(self.state), self.why)

    def __getitem__(self, key: Any) -> Any:
        return self.moved(lambda a: a[key])

    def _refused(self, *args: Any, **kwargs: Any) -> Any:
        raise NotProvedError(f"not proved: a decision on {self.why}, which the balls leave open: take points away "
                             "from it, smaller boxes, or write it with where()")

    __array__ = __bool__ = __int__ = __index__ = __float__ = item = tolist = _refused

    def __invert__(self) -> Any:
        return settled(1.0 - self.state, self.why)

    def __and__(self, other: Any) -> Any:
        return _joined(self, other, np.minimum)

    def __or__(self, other: Any) -> Any:
        return _joined(self, other, np.maximum)

    def __xor__(self, other: Any) -> Any:
        return (self & ~_truths(other)) | (~self & _truths(other))

    __rand__, __ror__, __rxor__ = __and__, __or__, __xor__

    def __repr__(self) -> str:
        return f"Truths({self.state.tolist()}, open: {self.why})"


def settled(state: Any, why: str) -> Any:
    """Truth values: NumPy's if all are certain."""
    state = np.asarray(state, float)
    return Truths(state, why) if (state == 0.5).any() else state == 1.0


def _truths(value: Any) -> Any:
    return value if isinstance(value, Truths) else np.asarray(value, bool)


def _joined(x: Truths, y: Any, join: Callable[[Any, Any], Any]) -> Any:
    y = _truths(y)
    return settled(join(x.state, y.state if isinstance(y, Truths) else y.astype(float)), x.why)
