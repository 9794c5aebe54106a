"""`custom_op`: an operation made of a typed function, with its derivative declared as those of `gradwright.op` are.

    @custom_op
    def scaled(x: Tensor, *, factor: float = 2.0) -> Tensor:
        return from_numpy(x.numpy() * factor)           # anything: NumPy, SciPy, C

    scaled.vjp(x=lambda xp, g, factor: g * factor)      # naming `factor` is what saves it

The one difference to `op` is what forward is: there a formula against `xp`, here any code on tensors. What it is run by
is a `Function`, so containers, checks and messages are those of Functions.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Generic, ParamSpec, TypeVar, overload

from gradwright import backends
from gradwright.engine.base import TensorBase, wrap
from gradwright.engine.memory import share
from gradwright.engine.mode import is_grad_enabled, now
from gradwright.engine.nodes_of_ops import underived
from gradwright.function.contract.containers import TENSOR, TENSORLESS, filled, flatten, parts, unflatten
from gradwright.function.contract.surrogate import reason_of, surrogate
from gradwright.function.ctx import pushing
from gradwright.function.function import Function, FunctionMeta
from gradwright.ops.declare import Rule, declared
from gradwright.ops.shape import sum_to

P = ParamSpec("P")
R = TypeVar("R")

KINDS = ("general", "elementwise")


class CustomOp(Generic[P, R]):
    """An operation of your own; calling it runs the function it was made of, and records that. See `custom_op`.

    Attributes:
        name: that of the function.
        inputs: the names of its parameters. Those that get tensors, or containers with tensors, have gradients.
        rules, tangents: the derivatives that `vjp` and `jvp` have declared, by input.
        function: the Function class that runs it.
        samples: the calls that checkers check it with: a list with a tuple of all arguments for each.
    """

    rules: dict[str, Rule]
    tangents: dict[str, Rule]
    samples: Any

    def __init__(self, fn: Callable[P, R], samples: Any = None, kind: str = "general") -> None:
        if not inspect.isfunction(fn):
            raise TypeError(f"custom_op: expected a function, but got {fn!r}")
        if kind not in KINDS:
            raise ValueError(f"custom_op: kind must be one of {KINDS}, but got {kind!r}")
        functools.update_wrapper(self, fn)
        self._signature = inspect.signature(fn)
        parameters = list(self._signature.parameters.values())
        self.name, self.inputs = fn.__name__, tuple(self._signature.parameters)
        self.rules, self.tangents, self.kind, self.samples = {}, {}, kind, samples
        self._joint: Rule | None = None
        self._asked: dict[tuple[bool, ...], tuple[str, ...]] = {}
        self._kinds = [p.kind for p in parameters]
        self._simple = all(k is inspect.Parameter.POSITIONAL_OR_KEYWORD for k in self._kinds)
        self.function = _function(self, parameters)

    @property
    def __gradwright_function__(self) -> Any:
        return self.function

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        values: tuple[Any, ...] = args
        if kwargs or len(args) != len(self.inputs) or not self._simple:
            try:
                bound = self._signature.bind(*args, **kwargs)
            except TypeError as e:
                raise TypeError(f"{self.name}(): {e}") from None
            bound.apply_defaults()
            values = tuple(bound.arguments.values())
        for value in values:
            if isinstance(value, TensorBase):
                return self.function.apply(*values)
        return self._on_arrays(values) if _are_arrays(values) else self.function.apply(*values)

    def vjp(self, fn: Callable[..., Any] | None = None, /, **rules: Callable[..., Any] | None) -> Any:
        """Declare derivatives: for each input ``x=lambda xp, g, <what it needs>: the cotangent of x``.

        What a derivative needs it names, and that is what is saved: inputs, ``out``, which is the result, or
        ``x_shape``, the shape of input ``x``. ``g`` is the cotangent of the result, shaped as that is. ``xp`` is an
        array namespace, and all values are its arrays: NumPy's, or, in a backward pass that is itself recorded,
        gradwright's. So one formula serves every order. ``x=None`` declares that there is no gradient by x.

        As a decorator it takes one function ``(xp, g, <what it needs>)`` for all inputs. It returns a dictionary of
        gradients by input, or, if only one argument is or holds a tensor, that gradient. If it names
        ``needs_input_grad``, it gets a dictionary that says for each input whether its gradient is needed.

        Returns the operation. Raises TypeError if a name is no input, or a derivative asks for what is not there.
        """
        known = {*self.inputs, "out", *(f"{n}_shape" for n in self.inputs)}
        if fn is not None:
            known.add("needs_input_grad")
            self._joint = declared(f"{self.name}.vjp", ("inputs",), known, {"inputs": fn})["inputs"]
        none = {name: _none for name, rule in rules.items() if rule is None}
        self.rules |= declared(f"{self.name}.vjp", self.inputs, known, {**rules, **none})  # type: ignore[dict-item]
        self._mark((fn, *rules.values()))
        self._asked.clear()
        return self

    def jvp(self, **rules: Callable[..., Any]) -> CustomOp[P, R]:
        """Declare tangents: for each input ``x=lambda xp, t, <what it needs>: the tangent of the result``.

        ``t`` is the tangent of x. Of several inputs that move, the tangents add up.
        """
        known = {*self.inputs, "out", *(f"{n}_shape" for n in self.inputs)}
        self.tangents |= declared(f"{self.name}.jvp", self.inputs, known, rules)
        return self

    def has_gradient(self, name: str) -> bool:
        """Whether a derivative by this input is declared."""
        rule = self.rules.get(name, self._joint)
        return rule is not None and rule.fn is not _none

    def _mark(self, fns: Sequence[Any]) -> None:
        for fn in fns:
            if reason := reason_of(fn):
                surrogate(reason)(self)

    @property
    def surrogate(self) -> str | None:
        """Why its gradient is no derivative, if that is declared: see `gradwright.autograd.surrogate`."""
        return reason_of(self.function)

    def __repr__(self) -> str:
        return f"<custom_op {self.name}{self._signature}>"

    def _forward(self, values: tuple[Any, ...]) -> Any:
        """The result of the function for arguments in the order of its parameters.

        Tensors come without history, so that ``x.numpy()`` works; one that it returns is that argument itself.
        """
        tensors: list[Any] = []
        rests = [flatten(v, tensors) for v in values]
        bare = [share(wrap(t.array, None, t._counter), t) for t in tensors]
        each = iter(bare)
        result = self._called([next(each) if r is TENSOR else unflatten(r, each) for r in rests])
        if isinstance(result, TensorBase):
            for b, t in zip(bare, tensors, strict=True):
                if b is result:
                    return t
            return result
        found: list[Any] = []
        rest = flatten(result, found)
        own = {id(b): t for b, t in zip(bare, tensors, strict=True)}
        return unflatten(rest, iter([own.get(id(t), t) for t in found]))

    def _on_arrays(self, values: tuple[Any, ...]) -> Any:
        """The result as arrays, of arrays: what a derivative of another operation computes with."""
        return _arrays(self._forward(tuple([_wrapped(v) for v in values])))

    def _called(self, values: Sequence[Any]) -> Any:
        if self._simple:
            return self.__wrapped__(*values)  # type: ignore[attr-defined]
        args: list[Any] = []
        kwargs: dict[str, Any] = {}
        for name, how, value in zip(self.inputs, self._kinds, values, strict=True):
            if how is inspect.Parameter.VAR_POSITIONAL:
                args += value
            elif how is inspect.Parameter.VAR_KEYWORD:
                kwargs |= value
            elif how is inspect.Parameter.KEYWORD_ONLY:
                kwargs[name] = value
            else:
                args.append(value)
        return self.__wrapped__(*args, **kwargs)  # type: ignore[attr-defined]

    def _saved(self, names: tuple[str, ...], values: tuple[Any, ...], result: Any) -> tuple[_Needed, list[Any]]:
        """The values under these names, which derivatives need, without their tensors; and these."""
        tensors: list[Any] = []
        if names:
            given = dict(zip(self.inputs, values, strict=True)) | {"out": result}
            needed = [given[n] if n in given else _shape(given[n.removesuffix("_shape")]) for n in names]
            rests = [flatten(v, tensors) for v in needed]
        else:
            rests = []
        elementwise = self.kind == "elementwise"
        shapes = [v.array.shape if isinstance(v, TensorBase) else None for v in values] if elementwise else []
        return _Needed(names, rests, isinstance(result, tuple), shapes), tensors

    def _names(self, needs: tuple[bool, ...]) -> tuple[str, ...]:
        """The names in the derivatives of the inputs that need a gradient."""
        if needs not in self._asked:
            needed = [n for n, need in zip(self.inputs, needs, strict=True) if need]
            rules = [self.rules[n] for n in needed if n in self.rules]
            rules += [self._joint] if self._joint and any(n not in self.rules for n in needed) else []
            self._asked[needs] = _union(rules)
        return self._asked[needs]


def _union(rules: Iterable[Rule]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(n for rule in rules for n in rule.names if n != "needs_input_grad"))


class _Needed:
    """The values that a derivative asks for, without their tensors."""

    __slots__ = ("names", "rests", "several", "shapes")

    def __init__(self, names: tuple[str, ...], rests: list[Any], several: bool, shapes: list[Any]) -> None:
        self.names, self.rests, self.several, self.shapes = names, rests, several, shapes

    def known(self, tensors: Sequence[Any]) -> dict[str, Any]:
        """By name what was asked for, with these in the place of its tensors."""
        each = iter(tensors)
        return {n: unflatten(rest, each) for n, rest in zip(self.names, self.rests, strict=True)}


def _function(op: CustomOp[Any, Any], parameters: list[inspect.Parameter]) -> Any:
    """The Function class that runs an operation."""

    def forward(ctx: Any, *values: Any) -> Any:
        result = op._forward(values)
        if pushing.get() is not None:
            ctx.pushed, tensors = op._saved(_union(op.tangents.values()), values, result)
            ctx.save_for_forward(*tensors)
            ctx.set_materialize_grads(False)
            return result
        needs = tuple([_any(need) for need in ctx.needs_input_grad])
        ctx._needed, tensors = op._saved(op._names(needs), values, result)
        ctx.save_for_backward(*tensors)
        return result

    def backward(ctx: Any, *grads: Any) -> Any:
        needed, tensors = ctx._needed, ctx.saved_tensors
        g = grads if needed.several else grads[0]
        if not is_grad_enabled() and now().level is None:
            g, tensors = _arrays(g), [t.array for t in tensors]
        xp = backends.namespace(g if hasattr(g, "shape") else next(iter(_leaves(g))))
        known = needed.known(tensors)
        needs = {n: _any(need) for n, need in zip(op.inputs, ctx.needs_input_grad, strict=True)}
        joint = _joint(op, xp, g, known, needs) if any(needs[n] for n in needs if n not in op.rules) else {}
        found: list[Any] = []
        for k, name in enumerate(op.inputs):
            if not needs[name]:
                found.append(None)
                continue
            rule = op.rules.get(name)
            r = joint.get(name) if rule is None else rule.fn(xp, g, *[known[n] for n in rule.names])
            if r is not None and needed.shapes and needed.shapes[k] is not None:
                r = sum_to(xp, r, needed.shapes[k])
            found.append(_wrapped(r))
        return tuple(found)

    def jvp(ctx: Any, *moved: Any) -> Any:
        if not op.tangents:
            return Function.jvp(ctx, *moved)
        known = ctx.pushed.known(ctx.saved_tensors)
        found = None
        for name, t in zip(op.inputs, moved, strict=True):
            leaf = next(iter(_leaves(t)), None)
            if leaf is None:
                continue
            if name not in op.tangents:
                underived(op.name, name)
            rule = op.tangents[name]
            part = rule.fn(backends.namespace(leaf), t, *[known[n] for n in rule.names])
            found = part if found is None else _sum(found, part)
        return found

    def formula(argument: str) -> Any:
        rule = op.rules.get(re.split(r"[.\[]", argument)[0], op._joint)
        return rule.fn if rule is not None and rule.fn is not _none else op.__wrapped__  # type: ignore[attr-defined]

    forward.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [inspect.Parameter(n, inspect.Parameter.POSITIONAL_OR_KEYWORD) for n in ("ctx", *op.inputs)]
    )
    fn: Any = op.__wrapped__  # type: ignore[attr-defined]
    forward.__wrapped__ = fn  # type: ignore[attr-defined]
    return FunctionMeta(fn.__name__, (Function,), {
        "__module__": fn.__module__, "__qualname__": fn.__qualname__, "__doc__": fn.__doc__,
        "forward": staticmethod(forward), "backward": staticmethod(backward), "jvp": staticmethod(jvp),
        "_made_of": op, "_has_jvp": staticmethod(lambda: bool(op.tangents)),
        "_formula": staticmethod(formula), "_cast": "return xp.astype(grad, {argument}.dtype)",
        "_give": f"declare its derivative: {fn.__name__}.vjp({{argument}}=...)",
        "_fit": 'sum it down to [{sizes}] in that formula, or declare custom_op(kind="elementwise"), which does so',
    })  # fmt: skip


def _joint(op: CustomOp[Any, Any], xp: Any, g: Any, known: dict[str, Any], needs: dict[str, bool]) -> dict[str, Any]:
    """The gradients by input that the one function for all of them returns."""
    missing = [n for n, need in needs.items() if need and n not in op.rules]
    if op._joint is None:
        underived(op.name, missing[0])
    assert op._joint is not None
    values = known | {"needs_input_grad": needs}
    found = op._joint.fn(xp, g, *[values[n] for n in op._joint.names])
    if isinstance(found, dict) and found.keys() <= set(op.inputs):
        return found
    if len(missing) == 1:
        return {missing[0]: found}
    raise TypeError(
        f"{op.name}.vjp: the gradients of {', '.join(missing)} are needed: return them as a dictionary by these names"
    )


def _none(xp: Any, g: Any) -> None:
    """The derivative of an input that has none."""


def _any(need: Any) -> bool:
    """Whether the gradient of an argument, or of anything in it, is needed."""
    return need if need.__class__ is bool else any(map(_any, parts(need)))


def _leaves(value: Any) -> Iterator[Any]:
    """The tensors or arrays in a value."""
    if hasattr(value, "shape"):
        yield value
    elif value is not None:
        for part in parts(value):
            yield from _leaves(part)


def _are_arrays(values: Any) -> bool:
    """Whether there are arrays in values, and no tensors."""
    leaves = [leaf for value in values if value.__class__ not in TENSORLESS for leaf in _leaves(value)]
    return bool(leaves) and not any(isinstance(v, TensorBase) for v in leaves)


def _mapped(value: Any, change: Callable[[Any], Any]) -> Any:
    """A value with all tensors or arrays in it changed."""
    if hasattr(value, "shape"):
        return change(value)
    inside = parts(value)
    return filled(value, inside.keys, [_mapped(v, change) for v in inside]) if inside else value


def _arrays(value: Any) -> Any:
    return value.array if isinstance(value, TensorBase) else _mapped(value, lambda t: t.array)


def _wrapped(value: Any) -> Any:
    if isinstance(value, TensorBase):
        return value
    if hasattr(value, "shape"):
        return wrap(value)
    return _mapped(value, lambda a: a if isinstance(a, TensorBase) else wrap(a))


def _shape(value: Any) -> Any:
    return _mapped(value, lambda t: tuple(t.shape))


def _sum(a: Any, b: Any) -> Any:
    """The sum of two tangents, also of several outputs."""
    if hasattr(a, "shape"):
        return a + b
    return filled(a, parts(a).keys, [_sum(x, y) for x, y in zip(parts(a), parts(b), strict=True)])


@overload
def custom_op(fn: Callable[P, R], /) -> CustomOp[P, R]: ...


@overload
def custom_op(*, samples: Any = None, kind: str = "general") -> Callable[[Callable[P, R]], CustomOp[P, R]]: ...


def custom_op(fn: Any = None, /, *, samples: Any = None, kind: str = "general") -> Any:
    """Make an operation of a function of tensors: a decorator.

    The function may compute with anything. It keeps its name, signature and defaults; its arguments may be tensors,
    containers with tensors in them, or anything else; it must not change its arguments. While it runs nothing is
    recorded. Declare derivatives with `CustomOp.vjp`, and if you like `CustomOp.jvp`.

    Args:
        samples: what checkers are to call it with: a list with a tuple of all its arguments for each call.
        kind: ``"elementwise"`` if arguments broadcast: cotangents are then summed back by themselves.

    Called with arrays instead of tensors it returns arrays, as `op` does, so derivatives may use it.

    Backward raises NotImplementedError for an input that needs a gradient and has no derivative.

    >>> import numpy as np
    >>> @custom_op
    ... def cosine(x: gw.Tensor) -> gw.Tensor:
    ...     return gw.from_numpy(np.cos(x.numpy()))
    >>> _ = cosine.vjp(x=lambda xp, g, x: -g * xp.sin(x))
    >>> x = gw.tensor([0.5], dtype=gw.float64, requires_grad=True)
    >>> gw.autograd.gradcheck(cosine, x), gw.autograd.gradgradcheck(cosine, x)
    (True, True)
    """
    if fn is None:
        return lambda fn: CustomOp(fn, samples, kind)
    return CustomOp(fn, samples, kind)
