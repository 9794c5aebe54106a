"""Taylor coefficients to any order, in one run of a function: `jet`.

Each tensor of a `Taylor` level is a value and the coefficients of a series in t, and so is what is made of them: by the
rule of `gradwright.transform.series` where there is one. Elsewhere a level of one order less suffices: there the
derivative of the result by t is made of the inputs and their derivatives, as forward mode makes it, and what that has
as its coefficients are, divided by 1, 2, 3, ..., those of the result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import factorial
from typing import Any

from gradwright import dtypes
from gradwright.contract.containers import put_together, take_apart
from gradwright.contract.trees import named, tree_flatten, tree_leaves_with_path
from gradwright.engine.apply import apply
from gradwright.engine.base import TensorBase, ticket, wrap
from gradwright.errors import kind
from gradwright.op import Op
from gradwright.transform import series as rules
from gradwright.transform.arguments import differentiable, settled
from gradwright.transform.functions import at_level
from gradwright.transform.moved import moved, values_alone
from gradwright.transform.overwritten import write
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


class Taylor(Movement):
    """Series up to t**``order`` while it is on; none where the user has switched recording off, as in forward mode."""

    def __init__(self, order: int) -> None:
        super().__init__()
        self.order = order

    def jet(self, x: Any, terms: Sequence[Any]) -> Any:
        """A tensor of this level: ``x`` with these coefficients."""
        return wrap(Jet(self, x, *terms), None, x._counter)

    def apart(self, t: Any) -> tuple[Any, Sequence[Any] | None]:
        """The value of a tensor, and its coefficients of this level, or None."""
        array = t.array
        return (array.tensor, array.terms) if array.__class__ is Jet and array.level is self else (t, None)

    def read(self, op: Op, inputs: Sequence[Any], static: dict[str, Any]) -> Any:
        """What ``op`` makes of series."""
        self.began = ticket()
        return self.outside(self._read, op, [self.apart(x) for x in inputs], static, self.moves())

    def _read(self, op: Op, pairs: list[tuple[Any, Any]], static: dict[str, Any], move: bool) -> Any:
        out = apply(op, [x for x, _ in pairs], static)
        names = op.names_of(len(pairs))
        moves = [None if n not in op.rules else terms for n, (_, terms) in zip(names, pairs, strict=True)]
        if not move or not self.order or all(terms is None for terms in moves):
            return [o.array for o in out] if op.several else out.array
        series = [[x, *(terms or [None] * self.order)] for (x, _), terms in zip(pairs, moves, strict=True)]
        found = rules.of(op)
        if found is None:
            made = _derived(op, out, self.order, series, [terms is not None for terms in moves], static)
        else:
            coefficients = found(op, out, self.order, *series, **static)
            made = [list(each) for each in zip(*coefficients, strict=True)] if op.several else [coefficients]
        given = {id(c) for s in series for c in s}
        joined = [self._joined(op, *each, given=given) for each in made]
        return joined if op.several else joined[0]

    def _joined(self, op: Op, out: Any, *terms: Any, given: set[int]) -> Any:
        if dtypes.of(out.array.dtype).category < dtypes.FLOAT:
            return out.array
        return Jet(self, out, *[_own(op, out, c, given) for c in terms])

    def held(self, t: Any) -> Jet:
        """``t`` with zeros for coefficients, over the same memory."""
        none = [self.outside(zeros, t) for _ in range(self.order)]
        return Jet(self, wrap(t.array, t._node, t._counter), *none)

    def write(self, array: Any, value: Any) -> None:
        """Put the value and the coefficients into the memory of those there."""
        mine = isinstance(value, Jet) and value.level is self
        parts = value.parts if mine else (wrap(value), *[None] * self.order)
        self.outside(write, array, parts, value.began if mine else 0)

    def call(self, function: Any, inputs: Sequence[Any]) -> Any:
        """What a Function returns for series: by its jvp, or else its backward, at a level of one order less."""
        return at_level(function, inputs, partial(self._through, function), halting=values_alone())

    def _through(self, function: Any, inputs: Sequence[Any]) -> Any:
        pairs = [self.apart(x) if differentiable(x) else (x, None) for x in inputs]
        if not self.moves() or not self.order or all(terms is None for _, terms in pairs):
            return self.outside(function.apply, *[x for x, _ in pairs])
        outs, slopes = self.outside(_moved, function, pairs, self.order)
        many: list[Any] = []
        rest = take_apart(outs, many)
        made = [o if s is None or not differentiable(o) else self.jet(o, _integrated(s))
                for o, s in zip(many, slopes, strict=True)]  # fmt: skip
        return put_together(rest, iter(made))


def _own(op: Op, out: Any, c: Any, given: set[int]) -> Any:
    """A coefficient in the shape of the result, in memory of its own where the result has it: it may be written to."""
    if c is None:
        return zeros(out)
    if c.array.shape != out.array.shape:
        c = c.expand(out.array.shape)
    return c.clone() if op.kind != "view" and (c._view is not None or id(c) in given) else c


def _integrated(slopes: Sequence[Any]) -> list[Any]:
    """The coefficients from that of t on, from those of the derivative."""
    return [s if k == 1 else s / float(k) for k, s in enumerate(slopes, 1)]


def _lower(level: Taylor, x: Any, terms: Sequence[Any]) -> tuple[Any, Any]:
    """A series of one order less, and its derivative."""
    slopes = rules.rates([x, *terms])
    return level.jet(x, terms[:-1]), level.jet(slopes[0], slopes[1:])


def _coefficients(level: Taylor, t: Any) -> list[Any]:
    x, terms = level.apart(t)
    return [x, *([zeros(x) for _ in range(level.order)] if terms is None else terms)]


def _derived(op: Op, out: Any, order: int, series: Sequence[Sequence[Any]], moves: Sequence[bool],
             static: dict[str, Any]) -> list[list[Any]]:  # fmt: skip
    """The coefficients of each result, from the tangents of the operation."""
    if order == 1:
        values, tangents = [s[0] for s in series], [s[1] if m else None for s, m in zip(series, moves, strict=True)]
        found = pushed(op, values, tangents, out, static)
        return [[o, t] for o, t in zip(out if op.several else [out], found if op.several else [found], strict=True)]
    with Taylor(order - 1).running() as level:
        pairs = [_lower(level, s[0], s[1:]) if m else (s[0], None) for s, m in zip(series, moves, strict=True)]
        values, tangents = [x for x, _ in pairs], [t for _, t in pairs]
        found = pushed(op, values, tangents, apply(op, values, static), static)
    slopes = [None if t is None else _coefficients(level, t) for t in (found if op.several else [found])]
    return [[o, *([None] * order if s is None else _integrated(s))]
            for o, s in zip(out if op.several else [out], slopes, strict=True)]  # fmt: skip


def _moved(function: Any, pairs: Sequence[tuple[Any, Any]], order: int) -> tuple[Any, list[Any]]:
    """The outputs of a Function, and for each the coefficients of its derivative, or None."""
    if order == 1:
        outs, found = moved(function, [x for x, _ in pairs], [None if c is None else c[0] for _, c in pairs])
        return outs, [None if t is None else [t] for t in found]
    with Taylor(order - 1).running() as level:
        given = [(x, None) if c is None else _lower(level, x, c) for x, c in pairs]
        outs, found = moved(function, [x for x, _ in given], [t for _, t in given])
    slopes = [None if t is None else _coefficients(level, t) for t in found]
    if isinstance(outs, tuple):
        return tuple([level.apart(o)[0] if isinstance(o, TensorBase) else o for o in outs]), slopes
    return level.apart(outs)[0], slopes


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
    number from 0 to 64. Whole numbers and what is computed under ``no_grad`` are constants.

    >>> import gradwright as gw
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
    found = [_coefficients(level, t) for t in leaves]
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
