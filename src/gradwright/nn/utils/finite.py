"""stop_at_nan: the first module whose result, or gradient, is not finite.

A NaN is a value like any other: nothing is raised where one is made. The loss becomes NaN, backward makes the gradients
NaN, and the optimiser the parameters, so that from the next step on every result is. `stop_at_nan` stops there and
names the module; `gradwright.autograd.detect_anomaly` names the operation, at a greater cost.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

from gradwright.base.errors import AnomalyError, size
from gradwright.engine.grad_mode import no_grad
from gradwright.engine.hooks import RemovableHandle
from gradwright.face.tensor import Tensor
from gradwright.nn.faults import title
from gradwright.nn.module import Module
from gradwright.nn.parameter import is_lazy


class stop_at_nan:
    """Raise `AnomalyError` at the first module whose result, or gradient, has a NaN or an infinity.

    Args:
        modules: the model, and, if it is a module, too, the loss function.
        check_inf: False lets infinities be.

    It holds from the call on until ``remove()``, or for a ``with`` block. Forward, the innermost module is named;
    backward, the module from which the gradient came first: what reaches the result of the model was made by what is
    computed from it, the loss.

    The error has the attributes ``operation`` (the path of the module), ``backward``, ``what`` ("nan" or "inf"),
    ``index`` and ``count``, and ``step``: the number of calls of the first of ``modules`` so far.

    It costs a pass over every result and every gradient. Raises RuntimeError for a lazy module before its first call.

    >>> net = gw.nn.Sequential(gw.nn.Linear(2, 2), gw.nn.ReLU())
    >>> with gw.no_grad():
    ...     net[0].bias[1] = gw.inf
    >>> with stop_at_nan(net):
    ...     net(gw.ones(3, 2))
    Traceback (most recent call last):
    ...
    gradwright.errors.AnomalyError: step 1: the result of Sequential.0 has inf in 3 of 6 values, the first at [0, 1]
      Sequential.0: Linear(in_features=2, out_features=2, bias=True)
      its parameter 'bias' has it already
    ...
    """

    def __init__(self, *modules: Module, check_inf: bool = True) -> None:
        self.step = 0
        self._check_inf = check_inf
        self._handles: list[RemovableHandle] = []
        self._newest: list[tuple[weakref.ref[Any], RemovableHandle]] = []
        for top in modules:
            for path, module in top.named_modules():
                where = f"{type(top).__name__}.{path}" if path else type(top).__name__
                self._handles += [
                    module.register_forward_pre_hook(partial(self._before, where), with_kwargs=True),
                    module.register_forward_hook(partial(self._after, where), with_kwargs=True),
                ]
                for name, parameter in module.named_parameters(recurse=False):
                    if is_lazy(parameter):
                        self.remove()
                        raise RuntimeError(f"stop_at_nan: {where} has no shape yet: call the model once before")
                    if parameter.requires_grad:
                        hook = partial(self._gradient, where, module, name)
                        self._handles.append(parameter.register_hook(hook))
        for top in modules[:1]:
            self._handles.append(top.register_forward_pre_hook(self._count, prepend=True))

    def remove(self) -> None:
        """Look no more."""
        while self._handles:
            self._handles.pop().remove()

    def __enter__(self) -> stop_at_nan:
        return self

    def __exit__(self, *exc: object) -> None:
        self.remove()

    def _count(self, module: Module, args: Any) -> None:
        self.step += 1

    def _before(self, where: str, module: Module, args: Any, kwargs: Any) -> Any:
        """The arguments, tensors as views, whose gradients are only what comes through this module."""

        def followed(value: Any) -> Any:
            if type(value) is not Tensor or not value.requires_grad:
                return value
            value = value.view_as(value)
            if value.requires_grad:
                _look_at_gradient(value, partial(self._left, where, module))
            return value

        return tuple(map(followed, args)), {name: followed(value) for name, value in kwargs.items()}

    def _after(self, where: str, module: Module, args: Any, kwargs: Any, out: Any) -> Any:
        """The result, which is looked at, and whose gradients will be."""
        found = self._find(out)
        if found is None:
            if any(out is value for value in (*args, *kwargs.values())) and isinstance(out, Tensor):
                out = out.view_as(out)
            newest = []
            for t in _tensors(out):
                if t.requires_grad:
                    for ref, inner in self._newest:
                        if ref() is t:  # the result of the module's last child: the module is named
                            inner.remove()
                    newest.append((weakref.ref(t), _look_at_gradient(t, partial(self._reached, where, module))))
            self._newest = newest
            return out
        own = next((n for n, p in module.named_parameters(recurse=False) if self._find(p) is not None), None)
        if own is not None:
            why = f"its parameter '{own}' has it already"
        elif self._find([args, kwargs]) is not None:
            why = "what it was given has it already"
        else:
            why = "what it was given, and its parameters, are finite"
        raise self._error(f"the result of {where}", found, where, module, why, False)

    def _reached(self, where: str, module: Module, grad: Any) -> None:
        why = "what is computed from its result, in the end the loss, made it"
        self._check(grad, f"the gradient of the result of {where}", where, module, why)

    def _left(self, where: str, module: Module, grad: Any) -> None:
        self._check(grad, f"the gradient of the argument of {where}", where, module,
                    "its backward made it: the gradient of its result is finite")  # fmt: skip

    def _gradient(self, where: str, module: Module, name: str, grad: Any) -> None:
        self._check(grad, f"the gradient of the parameter '{name}' of {where}", where, module,
                    "its backward made it, or one after it that uses this parameter, too")  # fmt: skip

    def _check(self, values: Any, head: str, where: str, module: Module, why: str) -> None:
        found = self._find(values) if self._handles else None
        if found is not None:
            raise self._error(head, found, where, module, why, True)

    def _find(self, values: Any) -> _Found | None:
        with no_grad():
            for t in map(Tensor.detach, _tensors(values)):
                bad = t.isnan() if not self._check_inf else t.isfinite().logical_not()
                if bad.any():
                    index = tuple(bad.nonzero()[0].tolist())
                    what = "nan" if t[index].isnan() else "inf"
                    return _Found(what, index, int(bad.sum()), t.numel())
        return None

    def _error(self, head: str, found: _Found, where: str, module: Module, why: str, backward: bool) -> AnomalyError:
        error = AnomalyError(f"step {self.step}: {head} has {found}\n  {where}: {title(module)}\n  {why}")
        error.operation, error.backward, error.step = where, backward, self.step  # type: ignore[attr-defined]
        error.what, error.index, error.count = found.what, found.at, found.many
        return error


class _Found(NamedTuple):
    """What is not finite: nan or inf, where first, how many of how many."""

    what: str
    at: tuple[int, ...]
    many: int
    total: int

    def __str__(self) -> str:
        return f"{self.what} in {self.many} of {self.total} values, the first at {size(self.at)}"


def _look_at_gradient(t: Tensor, look: Callable[[Any], None]) -> Any:
    """Call ``look`` with a tensor's gradient, by a hook of its node, from which what works in place goes on."""
    node, at = t.grad_fn, t.output_nr
    return t.register_hook(look) if node is None else node.register_prehook(lambda grads: look(grads[at]))


def _tensors(value: Any) -> Iterator[Any]:
    """The floating-point and complex tensors in a value and the containers in it."""
    if isinstance(value, Tensor):
        if value.is_floating_point() or value.is_complex():
            yield value
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from _tensors(one)
    elif isinstance(value, dict):
        yield from _tensors(list(value.values()))
