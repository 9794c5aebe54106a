"""Reverse mode as functions of functions: `vjp`, `grad`, `grad_and_value`, `linearize`.

None of them needs a level. A function is given tensors of its own, with a history that begins there; what it makes of
them is recorded as ever, and a backward pass goes to where those histories begin, and no further. An input that has a
history outside is handed in as an alias recorded from it, and a pass through anything from outside is recorded itself:
so derivatives of derivatives are those of one graph, and nothing of the inside is left in a result that depends on
nothing outside.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, ParamSpec

from gradwright.base import dtypes
from gradwright.base.errors import kind
from gradwright.engine.apply import apply
from gradwright.engine.base import TensorBase, ticket, wrap
from gradwright.engine.edges import GradientEdge
from gradwright.engine.levels import LevelArray
from gradwright.engine.memory import share
from gradwright.engine.mode import Mode, inside, now, recording, resumed, switch
from gradwright.engine.node import AccumulateGrad
from gradwright.engine.version import Untracked
from gradwright.engine.view import is_severed, refresh, taking
from gradwright.function.watched.in_backward import unequal
from gradwright.ops.shape import alias
from gradwright.transform.arguments import (
    Inputs,
    differentiable,
    flatten,
    like,
    mapped,
    outputs,
    path_of,
    settled,
    with_aux,
)
from gradwright.transform.transpose import gradients, zeros


class Pulled:
    """A function that has run on tensors of its own, and the way back through it.

    Attributes:
        out: what it returned, with the tensors of the inside; ``aux`` what besides, if ``has_aux``.
        follows: whether what it returned, or its derivatives, may have a history from outside.
    """

    def __init__(self, api: str, func: Callable[..., Any], inputs: Inputs, kwargs: dict[str, Any],
                 has_aux: bool) -> None:  # fmt: skip
        self._start = ticket()
        self._inputs = inputs
        own = [self._inner(api, inputs, k) for k in range(len(inputs.leaves))]
        self._own = {x._node: GradientEdge(x._node, 0) for x in own}
        written: list[Any] = []
        around = taking.set(written)
        try:
            self.out: Any = settled(inside(_record, _left, func, *inputs.with_leaves(own), **kwargs))
        finally:
            taking.reset(around)
            for node in self._own:
                if type(node) is AccumulateGrad:
                    node.end()
            if written:
                self._let_go([t for ref in written if (t := ref()) is not None])
        self.aux: Any = None
        if has_aux:
            self.out, self.aux = with_aux(api, self.out)
        self.follows = _from_outside(self._nodes())

    def _let_go(self, written: Sequence[Any]) -> None:
        """Let tensors that the function has written to, and that live on, have no history that ends inside."""
        known = {id(t) for t in written}
        self.out = mapped(lambda t: share(wrap(t.array, t._node, t._counter), t) if id(t) in known else t,
                          getattr(self, "out", None))  # fmt: skip
        around = taking.get()
        for t in written:
            if t._node is None:
                continue
            if not _from_outside([t._node]):
                t._node = None
            elif around is not None:
                around.append(weakref.ref(t))

    def leads(self) -> bool:
        """Whether what it returned, or its derivatives, may have a history from outside, by a level's keeping, too."""
        return self.follows or (now().level is not None and _from_outside(self._nodes(), keeps=False))

    def _nodes(self) -> list[Any]:
        return [t._node for t in flatten(self.out)[0] if isinstance(t, TensorBase) and t._node is not None]

    def _inner(self, api: str, inputs: Inputs, k: int) -> Any:
        """A tensor over the memory of an input, with a history that begins here, or goes on outside from here."""
        x = inputs.leaves[k]
        if not differentiable(x):
            raise RuntimeError(f"{api}: only Tensors of floating point and complex dtype can require gradients, but "
                               f"{inputs.name(k)} is of {dtypes.of(x.array.dtype)}")  # fmt: skip
        if x._node is not None:  # recorded under no_grad, too: the way back may be gone outside of that
            inner = inside(_record, _left, apply, alias, (x,), {})
            if inner._view is not None:
                inner._view.origin = "transform"
            return inner
        untracked = isinstance(x._counter[0], Untracked)
        inner = share(wrap(x.array, None, [0] if untracked else x._counter), x)
        inner._node = AccumulateGrad(inner)
        inner._node.enter()
        return inner

    def outward(self, t: Any) -> Any:
        """A tensor as it may be handed out: without the history that ends inside."""
        if t._view is not None:
            refresh(t)
        node, array = t._node, t.array
        if isinstance(array, LevelArray) and array.level.alive and any(map(_has_more, array.parts)):  # outside, too
            made = array.of(partial(array.level.outside, self.outward))
            t = t if made is array else wrap(made, node, t._counter)
        if node is None or (node._seq < self._start and node not in self._own):
            return t
        if now().records and _from_outside([node], keeps=isinstance(array, LevelArray)):
            return t
        return share(wrap(t.array, None, t._counter), t)

    def back(self, outs: Sequence[Any], cotangents: Sequence[Any] | None, create_graph: bool | None = None,
             retain_graph: bool | None = None) -> list[Any]:  # fmt: skip
        """The cotangents of the inputs, for these of the outputs; zeros where nothing comes."""
        level = now().level
        if level is not None and level.start > self._start:
            follows = False  # but for what the level keeps
        else:
            follows = self.follows or any(c._node is not None for c in cotangents or ())
        if create_graph is None:
            create_graph = follows and now().records
        found = gradients(outs, self._own.values(), cotangents, retain_graph, create_graph)
        return [zeros(x) if g is None else self.outward(g) if level is not None or create_graph else g
                for x, g in zip(self._inputs.leaves, found, strict=True)]  # fmt: skip


P = ParamSpec("P")

def _has_more(t: Any) -> bool:
    """Whether a tensor has a history, or may have one further outside."""
    return t._node is not None or isinstance(t.array, LevelArray)


def _record() -> None:
    """Switch recording on, in inference mode, too."""
    if recording(True).inference:
        switch(now().but(records=True, inference=False))


def _left(before: Mode) -> Mode:
    return resumed(before).but(inference=before.inference)


def _from_outside(nodes: Iterable[Any], keeps: bool = True) -> bool:
    """Whether these nodes lead to a leaf that somebody may still want the gradient of.

    Inside a level that ``keeps`` by itself the histories of what was made before it, as arrays of levels do, those do
    not count.
    """
    level = now().level
    before = level.start if keeps and level is not None and level.encloses else 0
    stack = list(nodes)
    seen = set(stack)
    while stack:
        node = stack.pop()
        if node._seq < before:
            continue
        targets = node._next
        if not targets and not (is_severed(node) or node.ended):
            return True
        for target in targets:
            if target not in seen:
                seen.add(target)
                stack.append(target)
    return False


def vjp(func: Callable[..., Any], *primals: Any, has_aux: bool = False) -> tuple[Any, ...]:
    """What ``func`` returns, and the function from cotangents of it to those of the primals.

    Args:
        func: takes and returns tensors, in containers too.
        primals: its arguments, tensors, in containers too.
        has_aux: ``func`` returns a pair: what is differentiated, and anything else, which is handed out third.

    Returns:
        ``(output, vjp_fn)`` or ``(output, vjp_fn, aux)``. ``vjp_fn`` takes one tree like the output and returns a tuple
        of trees like the primals; it may be called any number of times.

    >>> y, pull = vjp(lambda x: x * x, gw.tensor([1.0, 2.0]))
    >>> pull(gw.tensor([1.0, 1.0]))
    (tensor([2., 4.]),)

    Raises RuntimeError if an input or an output is of whole numbers, or an output no tensor; ValueError if a primal is
    no tensor. ``vjp_fn`` raises RuntimeError for cotangents of another structure or shape than the output's.
    """
    api = "vjp(f, *primals)"
    pulled = Pulled(api, func, Inputs(api, primals), {}, has_aux)
    leaves, spec = checked(api, pulled.out)

    def vjp_fn(cotangents: Any, retain_graph: bool = True, create_graph: bool | None = None) -> Any:
        given, structure = flatten(cotangents)
        if structure != spec:
            raise RuntimeError(
                "Expected pytree structure of cotangents to be the same as pytree structure of outputs to the "
                f"function. cotangents: {structure}, primal output: {spec}"
            )
        for k, (t, c) in enumerate(zip(leaves, given, strict=True)):
            _tensor(api, cotangents, "cotangents", k, c)
            if c.array.shape != t.array.shape:
                raise RuntimeError(
                    f"Mismatch in shape: {path_of(cotangents, 'cotangents', k)} has a shape of "
                    f"{dtypes.Size(c.array.shape)} and the output a shape of {dtypes.Size(t.array.shape)}"
                )
        found = pulled.back(leaves, given, create_graph, retain_graph)
        return pulled._inputs.spec.unflatten(found)

    results = spec.unflatten([pulled.outward(t) for t in leaves]), vjp_fn
    return (*results, mapped(pulled.outward, pulled.aux)) if has_aux else results


def _tensor(api: str, tree: Any, name: str, k: int, t: Any) -> None:
    """TypeError unless a leaf of what the function that was returned is given is a tensor."""
    if not isinstance(t, TensorBase):
        raise TypeError(f"{api}: expected a Tensor as {path_of(tree, name, k)}, but got {kind(t)}: make it a tensor of "
                        "the shape and dtype of what it stands beside")  # fmt: skip


def checked(api: str, out: Any) -> tuple[list[Any], Any]:
    """The tensors that a function has returned, which must be differentiable, and the structure of their tree."""
    leaves, spec = outputs(api, out)
    for k, t in enumerate(leaves):
        if not differentiable(t):
            raise RuntimeError(
                f"{api}: All outputs of f must be floating-point or complex Tensors, got Tensor with dtype "
                f"{dtypes.of(t.array.dtype)} for {path_of(out, 'outputs', k)}"
            )
    return leaves, spec


def grad(func: Callable[P, Any], argnums: int | tuple[int, ...] = 0, has_aux: bool = False) -> Callable[P, Any]:
    """The function that computes the gradient of ``func``.

    Args:
        func: returns one tensor without dims; if ``has_aux``, that and anything else.
        argnums: which positional arguments to differentiate by: one, or several, and then the gradients are a tuple.
            They are tensors, or containers of tensors, and so are the gradients.
        has_aux: the function returns ``(gradient, aux)``.

    The gradient has a history if something outside has one that it depends on, such as parameters that ``func`` uses.

    >>> grad(grad(lambda x: x.sin()))(gw.tensor(0.5))
    tensor(-0.4794)

    Raises RuntimeError if ``func`` returns something else, or an argument is of whole numbers or not there; ValueError
    if one has something else than tensors in it.
    """

    @like(func)
    def gradient(*args: Any, **kwargs: Any) -> Any:
        slopes, _, aux = _slopes(func, argnums, has_aux, args, kwargs, False)
        return (slopes, aux) if has_aux else slopes

    return gradient


def grad_and_value(func: Callable[P, Any], argnums: int | tuple[int, ...] = 0,
                   has_aux: bool = False) -> Callable[P, tuple[Any, Any]]:  # fmt: skip
    """The function that computes the gradient of ``func``, and what it returns: ``(gradient, value)``.

    With ``has_aux``, ``(gradient, (value, aux))``. See `grad` for the arguments.

    >>> grad_and_value(lambda x: x * x)(gw.tensor(3.0))
    (tensor(6.), tensor(9.))
    """

    @like(func)
    def gradient_and_value(*args: Any, **kwargs: Any) -> Any:
        slopes, value, aux = _slopes(func, argnums, has_aux, args, kwargs, True)
        return (slopes, (value, aux)) if has_aux else (slopes, value)

    return gradient_and_value


def _slopes(func: Callable[..., Any], argnums: Any, has_aux: bool, args: tuple[Any, ...], kwargs: dict[str, Any],
            valued: bool) -> tuple[Any, Any, Any]:  # fmt: skip
    api = "grad_and_value(f)(*args)"
    inputs = Inputs(api, args, argnums)
    pulled = Pulled(api, func, inputs, kwargs, has_aux)
    y = pulled.out
    if not isinstance(y, TensorBase):
        raise RuntimeError(f"{api}: Expected f(*args) to return a Tensor, got {type(y)}")
    if y.array.ndim:
        raise RuntimeError(
            f"{api}: Expected f(*args) to return a scalar Tensor, got tensor with {y.array.ndim} dims. Maybe you "
            "wanted to use the vjp or jacrev APIs instead?"
        )
    found = pulled.back([y], None, None, True if pulled.follows and (valued or has_aux) else None)
    aux = mapped(pulled.outward, pulled.aux) if has_aux else None
    return inputs.spec.unflatten(found), pulled.outward(y) if valued else None, aux


def linearize(func: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """What ``func`` returns, and the linear function from tangents of the primals to the tangents of that.

    ``func`` runs once, its derivative is recorded once, and each call of the linear function is one pass over that
    record: for many tangents at one point, that is quicker than `jvp`, at the price of the memory. It is the transpose
    of the transpose, so Functions need a backward that can be differentiated.

    >>> y, push = linearize(lambda x: x.sin(), gw.zeros(2))
    >>> push(gw.ones(2))
    tensor([1., 1.])

    Raises what `vjp` raises; the linear function RuntimeError for tangents of another structure, shape or dtype.
    """
    inputs = Inputs("linearize(f, *primals)", primals)
    out, pull = vjp(func, *primals)
    _, push = vjp(lambda w: pull(w, create_graph=True), mapped(unequal, out))

    def jvp_fn(*tangents: Any) -> Any:
        leaves, spec = flatten(tangents)
        if spec != inputs.spec:
            raise RuntimeError(f"Expected the tangents {spec} to have the same argspec as the primals {inputs.spec}")
        for k, (x, t) in enumerate(zip(inputs.leaves, leaves, strict=True)):
            _tensor("linearize(f, *primals)", tangents, "tangents", k, t)
            if t.array.shape != x.array.shape or t.array.dtype != x.array.dtype:
                differ = "shape" if t.array.shape != x.array.shape else "dtype"
                raise RuntimeError(
                    f"tangent {path_of(tangents, 'tangents', k)} with {differ} {getattr(t, differ)} doesn't match the "
                    f"{differ} {getattr(x, differ)} of the corresponding primal {inputs.name(k)}"
                )
        return push(tangents)[0]

    return out, jvp_fn
