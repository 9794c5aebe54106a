"""Taylor coefficients to any order, in one run of a function: `jet`.

Each tensor of a `Taylor` level is a value and the coefficients of a series in t, and so is what is made of them, as
`gradwright.transform.series` has it. The tangents of operations are run at a level of their own, `Unfolding`, where a
coefficient is made when it is asked for; those of users' Functions at a `Taylor` level of one order less.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from math import factorial
from typing import Any

from gradwright.base import dtypes
from gradwright.base.errors import kind
from gradwright.engine.apply import apply
from gradwright.engine.base import TensorBase, ticket, wrap
from gradwright.engine.mode import now, switch
from gradwright.function.contract.trees import named, tree_flatten, tree_leaves_with_path
from gradwright.ops.declare import Op
from gradwright.transform import series as rules
from gradwright.transform.arguments import differentiable, mapped, settled
from gradwright.transform.moved import moved
from gradwright.transform.series import Series, scaled
from gradwright.transform.tangent import Movement, Moving, pushed
from gradwright.transform.transpose import zeros


class Jet(Moving):
    """A value and the coefficients of t, t**2, ... beside it: x(t) = value + terms[0] t + ..."""

    __slots__ = ("terms",)

    def __init__(self, level: Taylor, tensor: Any, *terms: Any) -> None:
        super().__init__(level, tensor)
        self.terms = terms

    @property
    def parts(self) -> tuple[Any, ...]:
        """The value and the coefficients."""
        return (self.tensor, *self.terms)

    @property
    def series(self) -> Series:
        """The same as a series."""
        return Series(self.parts)

    def item(self) -> Any:
        """The one number in it, in the forward of a Function."""
        if not self.level.halted():
            raise self._refuses("item()")
        return self.tensor.item()

    def _refuses(self, what: str) -> Exception:
        return RuntimeError(
            f"{what} of a tensor that carries a series: what is made of the numbers would have none. Call detach() "
            "first, if that is meant; else compute with tensors, or in a Function."
        )


class Unfolded(Moving):
    """A value and a series that begins with it."""

    __slots__ = ("series",)

    def __init__(self, level: Unfolding, tensor: Any, series: Series) -> None:
        super().__init__(level, tensor)
        self.series = series

    @property
    def parts(self) -> tuple[Any, ...]:
        """None that could be replaced by others: coefficients are made of them."""
        return ()


class Expansion(Movement):
    """A level of values and series."""

    def series(self, t: Any) -> tuple[Any, Series | None]:
        """The value of a tensor, and its series at this level, or None."""
        array = t.array
        return (array.tensor, array.series) if getattr(array, "level", None) is self else (self.without(t), None)

    def read(self, op: Op, inputs: Sequence[Any], static: dict[str, Any]) -> Any:
        """The result of ``op`` for series."""
        self.began = ticket()
        return self.outside(self._read, op, inputs, [self.series(x) for x in inputs], static, self.moves(op))

    def _read(self, op: Op, inputs: Sequence[Any], pairs: Sequence[tuple[Any, Any]], static: dict[str, Any],
              moves: bool) -> Any:  # fmt: skip
        out = apply(op, [x for x, _ in pairs], static)
        outs = out if op.several else [out]
        which = [moves and s is not None and n in op.rules
                 for n, (_, s) in zip(op.names_of(len(pairs)), pairs, strict=True)]  # fmt: skip
        if any(which):
            xs = [s if m else Series([x]) for (x, s), m in zip(pairs, which, strict=True)]
            made = rules.of(op, outs, xs, static) or self.by_tangents(op, outs, inputs, xs, which, static)
            arrays = [o.array if dtypes.of(o.array.dtype).category < dtypes.FLOAT else self.result(op, o, y, xs)
                      for o, y in zip(outs, made, strict=True)]  # fmt: skip
        else:
            arrays = [o.array for o in outs]
        return arrays if op.several else arrays[0]

    def by_tangents(self, op: Op, outs: Sequence[Any], inputs: Sequence[Any], xs: Sequence[Series],
                    which: Sequence[bool], static: dict[str, Any]) -> list[Series]:  # fmt: skip
        """The series of the results, from their derivative by t."""
        raise NotImplementedError

    def result(self, op: Op, out: Any, series: Series, xs: Sequence[Series]) -> Any:
        """The array of a result with this series, made of these."""
        raise NotImplementedError


class Unfolding(Expansion):
    """Where the tangents of an operation are run on series of which more and more coefficients are made.

    An operation and its derivatives are made of the same inputs once: so the cosine that the derivative of a sine names
    has that very sine in its own.
    """

    def __init__(self) -> None:
        super().__init__(stops=False)
        self._made: dict[Any, Any] = {}

    def tensor(self, x: Any, series: Series) -> Any:
        """A tensor of this level."""
        return wrap(Unfolded(self, x, series))

    def read(self, op: Op, inputs: Sequence[Any], static: dict[str, Any]) -> Any:
        """The result of ``op`` for series: values at once, coefficients on demand."""
        known = None if static else self._made.get(_key(op, inputs))
        return known[1] if known else super().read(op, inputs, static)

    def result(self, op: Op, out: Any, series: Series, xs: Sequence[Series]) -> Any:
        """The array of a result with this series, made of these."""
        return Unfolded(self, out, series)

    def by_tangents(self, op: Op, outs: Sequence[Any], inputs: Sequence[Any], xs: Sequence[Series],
                    which: Sequence[bool], static: dict[str, Any]) -> list[Series]:  # fmt: skip
        """The series of the results, from their derivative by t: the tangent of the operation at this level."""

        @cache
        def slopes() -> list[Series]:
            rates = [x.rates() if m else None for x, m in zip(xs, which, strict=True)]
            tangents = [r and self.tensor(zeros(x) if r[0] is None else r[0], r)
                        for x, r in zip(inputs, rates, strict=True)]  # fmt: skip
            ys = [self.tensor(o, y) for o, y in zip(outs, made, strict=True)]
            if not (static or op.several):
                self._made[_key(op, inputs)] = inputs, ys[0].array
            found = self._inside(pushed, op, inputs, tangents, ys if op.several else ys[0], static)
            pairs = [(None, None) if t is None else self.series(t) for t in (found if op.several else [found])]
            return [s or Series([x]) for x, s in pairs]

        def following(i: int, k: int) -> Any:
            return scaled(slopes()[i][k - 1], 1.0 / k)

        made = [Series([o], partial(following, i)) for i, o in enumerate(outs)]
        return made

    def _inside(self, f: Callable[..., Any], *args: Any) -> Any:
        before = now()
        try:
            switch(before.but(level=self, watches=()))
            return f(*args)
        finally:
            switch(before)

    def held(self, t: Any) -> Unfolded:
        """``t`` as a constant."""
        return Unfolded(self, wrap(t.array, t._node), Series([t]))

    def write(self, array: Any, value: Any) -> None:
        """Let the array be another value and series; what was made of the old ones stays. RuntimeError for a view."""
        if array.tensor._view is not None:
            raise RuntimeError("a derivative of an operation writes to a view, so it has no Taylor series: return new "
                               "values")  # fmt: skip
        x, series = self.series(wrap(value))
        array.tensor, array.series = x, series or Series([x])
        self._made.clear()


def _key(op: Op, inputs: Sequence[Any]) -> tuple[Any, ...]:
    return (op, *[id(x.array) for x in inputs])


class Taylor(Expansion):
    """Series up to t**``order`` while it is on; none where the user has switched recording off, as in forward mode."""

    def __init__(self, order: int) -> None:
        super().__init__()
        self.order = order

    def unpack(self, t: Any) -> tuple[Any, tuple[Any, ...] | None]:
        """The value of a tensor, and its coefficients of this level, or None."""
        x, series = self.series(t)
        return x, None if series is None else tuple(series.known[1:])

    def joined(self, x: Any, motion: Sequence[Any]) -> Jet:
        """The array of ``x`` with these coefficients."""
        return Jet(self, x, *motion)

    def jet(self, x: Any, terms: Sequence[Any]) -> Any:
        """A tensor of this level."""
        return wrap(self.joined(x, terms), None, x._counter)

    def coefficients(self, t: Any) -> list[Any]:
        """The coefficients of a tensor, from its value on."""
        x, terms = self.unpack(t)
        return [x, *([zeros(x) for _ in range(self.order)] if terms is None else terms)]

    def moves(self, op: Op | None = None) -> bool:
        """Whether results have series."""
        return self.order > 0 and super().moves(op)

    def by_tangents(self, op: Op, outs: Sequence[Any], inputs: Sequence[Any], xs: Sequence[Series],
                    which: Sequence[bool], static: dict[str, Any]) -> list[Series]:  # fmt: skip
        """The series of the results, from their derivative by t, at a level of its own."""
        level = Unfolding()
        inputs = [level.tensor(x[0], x) if m else x[0] for x, m in zip(xs, which, strict=True)]
        return level.by_tangents(op, outs, inputs, xs, which, static)

    def result(self, op: Op, out: Any, series: Series, xs: Sequence[Series]) -> Any:
        """The array of a result with this series, made of these: all its coefficients are made now."""
        given = {id(c) for x in xs for c in x.known}
        return Jet(self, out, *[_own(op, out, series[k], given) for k in range(1, self.order + 1)])

    def held(self, t: Any) -> Jet:
        """``t`` with zeros for coefficients, over the same memory."""
        none = [self.outside(zeros, t) for _ in range(self.order)]
        return Jet(self, wrap(t.array, t._node, t._counter), *none)

    def moved(self, function: Any, values: Sequence[Any], motions: Sequence[Any]) -> tuple[Any, list[Any]]:
        """The result of a Function for series, by its jvp or else its backward, at a level of one order less."""
        with Taylor(self.order - 1).running() as level:
            slopes = [m and [scaled(c, float(k)) for k, c in enumerate(m, 1)] for m in motions]
            jets = [x if m is None else level.jet(x, [c.clone() for c in m[:-1]])  # which forward may write to
                    for x, m in zip(values, motions, strict=True)]  # fmt: skip
            outs, found = moved(function, jets, [m and level.jet(m[0], m[1:]) for m in slopes])
        terms = [None if t is None else enumerate(level.coefficients(t), 1) for t in found]
        found = [t and tuple([scaled(c, 1.0 / k) for k, c in t]) for t in terms]
        return mapped(lambda o: level.unpack(o)[0], outs), found


def _own(op: Op, out: Any, c: Any, given: set[int]) -> Any:
    """A coefficient in the shape of the result, in memory of its own where the result has it: it may be written to."""
    if c is None:
        return zeros(out)
    if c.array.shape != out.array.shape:
        c = c.expand(out.array.shape)
    return c.clone() if op.kind != "view" and (c._view is not None or id(c) in given) else c


def jet(func: Callable[..., Any], primals: Sequence[Any], series: Sequence[Sequence[Any]],
        factorial_scaled: bool = True) -> tuple[Any, Any]:  # fmt: skip
    """What ``func`` returns along a curve x(t), and its derivatives by t at 0, to the order of the series.

    All orders come of one run of ``func``, at the cost of about n**2 / 2 runs for n of them, where nested derivatives
    cost 2**n.

    Args:
        func: takes as many tensors as there are primals and returns tensors, in containers too.
        primals: its arguments, a tuple or list of tensors: x(0).
        series: for each primal a list of as many tensors of its shape and dtype: **derivatives**, x'(0), x''(0), ...,
            not coefficients: x(t) = x + x' t + x'' t**2 / 2! + ... For derivatives along a line: ``[v, 0, 0]``.
        factorial_scaled: if False, the series are the coefficients themselves, the derivatives divided by 1!, 2!, ...:
            those handed in, and those that come out.

    Returns:
        ``(primals_out, series_out)``: what ``func`` returns, and the same tree with a list in the place of each tensor:
        its derivatives by t, to the same order.

    At a kink a series is that of the side that the derivative of the operation stands for: |x| at 0 has zeros, and so
    has relu. At a pole the coefficients are infinite or NaN, as of sqrt at 0, and of x**p there unless p is a whole
    number from 0 on. Whole numbers and what is computed under ``no_grad`` are constants.

    >>> one, zero = gw.tensor(1.0), gw.tensor(0.0)
    >>> jet(gw.exp, (zero,), ([one, zero, zero],))
    (tensor(1.), [tensor(1.), tensor(1.), tensor(1.)])

    Raises TypeError if the primals or series are no sequences of tensors, or an output is no tensor; ValueError for a
    primal of whole numbers, for series of different orders, and for a term of another shape or dtype than its primal.
    """
    given = _checked(primals, series)
    order = len(given[0]) if given else 0
    scale = [float(factorial(k)) if factorial_scaled else 1.0 for k in range(1, order + 1)]
    level = Taylor(order)
    with level.running():
        inputs = [level.jet(x, [c if f == 1.0 else c / f for c, f in zip(terms, scale, strict=True)])
                  for x, terms in zip(primals, given, strict=True)]  # fmt: skip
        out = settled(func(*inputs))
    leaves, spec = tree_flatten(out, open_dataclasses=True)
    for path, t in tree_leaves_with_path(out, open_dataclasses=True):
        if not isinstance(t, TensorBase):
            raise TypeError(f"jet(func, primals, series): func must return tensors, in containers too, but returned "
                            f"{kind(t)} for {named('outputs', path)}")  # fmt: skip
    found = [level.coefficients(t) for t in leaves]
    terms_out = [[c if f == 1.0 else c * f for c, f in zip(c[1:], scale, strict=True)] for c in found]
    return spec.unflatten([c[0] for c in found]), spec.unflatten(terms_out)


def _checked(primals: Any, series: Any) -> list[list[Any]]:
    """The series, if they fit the primals."""
    api = "jet(func, primals, series)"
    for name, value, one in (("primals", primals, "x"), ("series", series, "[v, ...]")):
        if not isinstance(value, (tuple, list)):
            raise TypeError(f"{api}: {name} must be a tuple or list with an entry for each argument of func, but got "
                            f"{kind(value)}: for one argument write ({one},)")  # fmt: skip
    if len(primals) != len(series):
        raise ValueError(f"{api}: expected a list of terms for each primal, but got {len(primals)} primals and "
                         f"{len(series)} lists in series")  # fmt: skip
    for i, (x, terms) in enumerate(zip(primals, series, strict=True)):
        if not isinstance(x, TensorBase):
            raise TypeError(f"{api}: primals[{i}] must be a tensor, but is {kind(x)}: hand a container to func by a "
                            "function of its tensors")  # fmt: skip
        if not differentiable(x):
            raise ValueError(f"{api}: primals[{i}] is of {dtypes.of(x.array.dtype)}, by which there are no "
                             "derivatives: convert it, x.double(), or bind it with functools.partial")  # fmt: skip
        if not isinstance(terms, (tuple, list)):
            raise TypeError(f"{api}: series[{i}] must be a list of tensors, the derivatives of order 1, 2, ..., but is "
                            f"{kind(terms)}")  # fmt: skip
        if len(terms) != len(series[0]):
            raise ValueError(f"{api}: all series must be of one order, but series[0] has {len(series[0])} terms and "
                             f"series[{i}] {len(terms)}: fill up with zeros")  # fmt: skip
        for k, t in enumerate(terms):
            if not isinstance(t, TensorBase):
                raise TypeError(f"{api}: series[{i}][{k}] must be a tensor like primals[{i}], but is {kind(t)}")
            if t.array.shape != x.array.shape:
                raise ValueError(f"{api}: series[{i}][{k}] is of shape {tuple(t.array.shape)}, but primals[{i}] of "
                                 f"shape {tuple(x.array.shape)}: expand it")  # fmt: skip
            if t.array.dtype != x.array.dtype:
                raise ValueError(f"{api}: series[{i}][{k}] is of {dtypes.of(t.array.dtype)}, but primals[{i}] of "
                                 f"{dtypes.of(x.array.dtype)}: convert it, term.to(primal.dtype)")  # fmt: skip
    return [list(terms) for terms in series]
