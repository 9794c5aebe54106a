"""Optimizer: parameter groups, state, hooks. How the updates are run is in `gradwright.optim.rules`."""

from __future__ import annotations

import copy
import functools
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from itertools import chain, count
from numbers import Real
from types import MethodType
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from gradwright.backends.quiet import quietly
from gradwright.base.dtypes import float32
from gradwright.base.errors import kind
from gradwright.engine.grad_mode import set_recording
from gradwright.engine.hooks import Registry, RemovableHandle, add
from gradwright.engine.mode import inside, resumed
from gradwright.engine.node import ticket
from gradwright.engine.strict import warn
from gradwright.engine.watch import used
from gradwright.face.creation import as_tensor
from gradwright.face.tensor import Tensor

_asked = count(1).__next__


def nodes_made() -> int:
    """How many nodes of graphs have been made until now."""
    return ticket() - _asked()


def warn_if_idle(optimizer: Any) -> None:
    """Warn, once for an optimiser, if none of its parameters has a gradient.

    Not if nothing at all has been recorded since it was made: then it is its schedule that is looked at.
    """
    for group in optimizer.param_groups:
        for p in group["params"]:
            if getattr(p, "_grad", None) is not None:
                return
    before, optimizer._nodes = optimizer._nodes, nodes_made()
    if "_idle" not in vars(optimizer) and optimizer._nodes > before:
        optimizer._idle = True
        warn(
            f"{type(optimizer).__name__}.step(): none of the parameters has a gradient, so nothing changes. Call "
            "loss.backward() before it, and zero_grad() not between the two; and see that the parameters are those "
            "that the loss was computed with (autograd.why_none(parameter, loss) says what cuts them off)."
        )


class Uncaptured:
    """What steps written after PyTorch's ask of CUDA graphs first."""

    def _cuda_graph_capture_health_check(self) -> None:
        """Nothing: no step is captured here."""


ParamsT: TypeAlias = Iterable[Tensor] | Iterable[dict[str, Any]] | Iterable[tuple[str, Tensor]]
_before_any_step, _after_any_step = Registry(), Registry()
_HOOKS = ("step_pre", "step_post", "state_dict_pre", "state_dict_post", "load_state_dict_pre", "load_state_dict_post")
# Options that dictionaries saved long ago lack, and what they then meant.
_ADDED = {"nesterov": False, "amsgrad": False, "maximize": False, "foreach": None, "capturable": False,
          "differentiable": False, "fused": None, "decoupled_weight_decay": False}  # fmt: skip


def register_optimizer_step_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(optimizer, args, kwargs)`` before every step of every optimiser; see `Optimizer`."""
    return RemovableHandle(_before_any_step, hook)


def register_optimizer_step_post_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(optimizer, args, kwargs)`` after every step of every optimiser; see `Optimizer`."""
    return RemovableHandle(_after_any_step, hook)


R = TypeVar("R")

class _Required:
    """The default of an option that every group must give."""

    def __repr__(self) -> str:
        return "<required parameter>"


required = _Required()


class Optimizer(Uncaptured):
    """What all optimisers share. A subclass defines `step`.

    Args:
        params: the parameters to change: tensors, or pairs of a name and a tensor, or dicts (groups) with such a list
            under "params" and options of their own; in an order that is the same in every run.
        defaults: the options that a group is given where it has none of its own.

    Attributes:
        param_groups: the groups: dicts of "params", options, and "param_names" if there are names.
        state: for each parameter a dict of what the optimiser remembers; empty until the parameter has had a gradient.
        defaults: as given.

    Most take ``params``, as above, and these: ``lr``, the learning rate, a number or a tensor of one element;
    ``weight_decay``, how much of p is added to g; ``maximize`` to ascend; ``differentiable`` to record the step, so
    that gradients flow through it; ``foreach``, ``capturable`` and ``fused``, without effect: updates always are fused.

    A parameter whose ``.grad`` is None is left out of a step. Deep copies and pickles have no hooks.

    Raises TypeError if ``params`` is one tensor, or not all are tensors; ValueError if there are none, or for one that
    an operation made, one in two groups, an option missing, or names of some only.

    >>> w = gw.tensor([1.0, 2.0], requires_grad=True)
    >>> optimizer = gw.optim.SGD([w], lr=0.1)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w
    tensor([0.8000, 1.6000], requires_grad=True)
    >>> optimizer.zero_grad()
    """

    state: Any
    param_groups: list[dict[str, Any]]
    _opt_called = True  # until a schedule wants to know
    _optimizer_step_pre_hooks: Registry
    _optimizer_step_post_hooks: Registry
    _optimizer_state_dict_pre_hooks: Registry
    _optimizer_state_dict_post_hooks: Registry
    _optimizer_load_state_dict_pre_hooks: Registry
    _optimizer_load_state_dict_post_hooks: Registry

    def __init__(self, params: Iterable[Any], defaults: dict[str, Any]) -> None:
        if isinstance(params, Tensor) or not isinstance(params, Iterable):
            several = ": write net.parameters()" if hasattr(params, "parameters") else ""
            called = ": call it, as net.parameters()" if isinstance(params, MethodType) else several
            mend = ": write [params]" if isinstance(params, Tensor) else called
            raise TypeError("params argument given to the optimizer should be an iterable of Tensors or dicts, but got "
                            f"{kind(params)}{mend}")  # fmt: skip
        self.defaults = defaults
        self._make_hooks()
        self.state = defaultdict(dict)
        self.param_groups = []
        groups = list(params)
        if not groups:
            raise ValueError(
                "optimizer got an empty parameter list: a generator is used up after one pass, and a module has the "
                "parameters of modules in a ModuleList or ModuleDict, but not of those in a plain list or dict"
            )
        for group in groups if isinstance(groups[0], dict) else [{"params": groups}]:
            self.add_param_group(group)

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "step" in vars(cls):
            cls.step = _hooked(cls.step)

    def _make_hooks(self) -> None:
        self._nodes = nodes_made()
        for name in _HOOKS:
            setattr(self, f"_optimizer_{name}_hooks", Registry())

    def __getstate__(self) -> dict[str, Any]:
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        if "_optimizer_step_pre_hooks" not in vars(self):
            self._make_hooks()
        for group in self.param_groups:
            for name in self.defaults.keys() & _ADDED:
                group.setdefault(name, _ADDED[name])

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for i, group in enumerate(self.param_groups):
            lines.append(f"Parameter Group {i}")
            lines += [f"    {name}: {group[name]}" for name in sorted(group) if name != "params"]
        return "\n".join([*lines, ")"])

    # -- parameters --

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Optimise the parameters of one more group; it is given the default options that it lacks.

        Raises what the constructor raises.
        """
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        if "params" not in param_group:
            raise KeyError(f"params: a parameter group has them, but got one of {', '.join(map(repr, param_group))}")
        params = param_group["params"]
        if isinstance(params, (set, frozenset)):
            raise TypeError(
                "optimizer parameters need to be organized in ordered collections, but the ordering of tensors in sets "
                "will change between runs. Please use a list instead."
            )
        members = [params] if isinstance(params, Tensor) else list(params)
        names = [member[0] for member in members if isinstance(member, tuple)]
        if names and len(names) < len(members):
            raise ValueError("all optimizer params should be with/without names. Some param names are missing")
        params = param_group["params"] = [member[1] for member in members] if names else members
        if names:
            param_group["param_names"] = names
        for p in params:
            if not isinstance(p, Tensor):
                mend = ": write net.parameters()" if hasattr(p, "parameters") else ""
                raise TypeError(f"optimizer can only optimize Tensors, but one of the params is {kind(p)}{mend}")
            if not self.defaults.get("differentiable") and not (p.is_leaf or p.retains_grad):
                raise ValueError(f"can't optimize a non-leaf Tensor: {type(p.grad_fn).__name__} made it from others")
        for name, default in self.defaults.items():
            if default is required and name not in param_group:
                raise ValueError(
                    f"parameter group didn't specify a value of required optimization parameter {name}"
                )
            param_group.setdefault(name, default)
        if len(set(params)) < len(params):
            warnings.warn(
                "optimizer contains a parameter group with duplicate parameters; in future, this will cause an error",
                stacklevel=3,
            )
        for group in self.param_groups:
            if ("param_names" in group) != bool(names):
                raise ValueError(
                    "all optimizer param groups should be with/without names. cannot add param group "
                    f"{'with' if names else 'without'} names to the optimizer"
                )
            if not set(group["params"]).isdisjoint(params):
                raise ValueError("some parameters appear in more than one parameter group")
        self.param_groups.append(param_group)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradient of every parameter, or else fill it with zeros and cut its history."""
        for group in self.param_groups:
            used(group["params"])
            for p in group["params"]:
                if set_to_none:
                    p._grad = None
                elif (grad := p.grad) is not None:
                    (grad.requires_grad_(False) if grad.is_leaf else grad.detach_()).zero_()

    # -- steps --

    if TYPE_CHECKING:
        step: Callable[..., Any]  # a subclass's has the arguments that it has
    else:

        def step(self, closure: Callable[[], R] | None = None) -> R | None:
            """Change the parameters once, after ``closure()``: the loss anew, with gradients on, which is returned."""
            raise NotImplementedError

    def register_step_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(optimizer, args, kwargs)`` before each step.

        ``args`` begins with the optimiser. A pair of args and kwargs that it returns replaces them.
        """
        return RemovableHandle(self._optimizer_step_pre_hooks, hook)

    def register_step_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(optimizer, args, kwargs)`` after each step."""
        return RemovableHandle(self._optimizer_step_post_hooks, hook)

    # -- saving --

    def state_dict(self) -> dict[str, Any]:
        """The state as plain data: ``{"state": {0: {...}, ...}, "param_groups": [{"lr": ..., "params": [0, ...]}]}``.

        Parameters are numbered in the order of the groups. The tensors are those of the optimiser, not copies.
        """
        for hook in list(self._optimizer_state_dict_pre_hooks.values()):
            hook(self)
        numbers: dict[int, int] = {}
        for i, p in enumerate(chain.from_iterable(group["params"] for group in self.param_groups)):
            numbers.setdefault(id(p), i)
        groups = [
            {name: value for name, value in group.items() if name != "params"}
            | {"params": [numbers[id(p)] for p in group["params"]]}
            for group in self.param_groups
        ]
        state = {numbers[id(p)] if isinstance(p, Tensor) else p: held for p, held in self.state.items()}
        return _through(self._optimizer_state_dict_post_hooks, self, {"state": state, "param_groups": groups})

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Take over what `state_dict` returned, also PyTorch's: state is matched to parameters by their order.

        State of floating-point parameters is converted to their dtype, except "step"; what had more bits than a 16-bit
        parameter stays so, as float32. Tensors are copied, so that what was saved stays as it is. Learning rates come
        along, so make schedulers first, or load them, too.

        Raises ValueError if the groups do not fit, or lack options; nothing has been changed then. State that lacks a
        part, or is of another size than the parameter, is an error in the next step.
        """
        state_dict = _through(self._optimizer_load_state_dict_pre_hooks, self, dict(state_dict))
        saved = copy.deepcopy(state_dict["param_groups"])
        if len(saved) != len(self.param_groups):
            raise ValueError(
                "loaded state dict has a different number of parameter groups "
                f"({len(saved)}; the optimizer has {len(self.param_groups)})"
            )
        params: dict[Any, Any] = {}
        for i, (group, new) in enumerate(zip(self.param_groups, saved, strict=True)):
            if len(group["params"]) != len(new["params"]):
                raise ValueError(
                    "loaded state dict contains a parameter group that doesn't match the size of optimizer's group "
                    f"(group {i}: {len(new['params'])} parameters, the optimizer has {len(group['params'])})"
                )
            params.update(zip(new["params"], group["params"], strict=True))
            new["params"] = group["params"]
            if "param_names" in group:
                new.setdefault("param_names", group["param_names"])
        state: Any = defaultdict(dict)
        for key, held in state_dict["state"].items():
            p = params.get(key)
            state[key if p is None else p] = held if p is None else _converted(held, p)
        before = self.__getstate__()
        self.__setstate__({"state": state, "param_groups": saved})
        for i, group in enumerate(self.param_groups):
            gone = sorted(self.defaults.keys() - group.keys())
            if gone:
                self.__setstate__(before)
                raise ValueError(
                    f"loaded state dict lacks {', '.join(gone)} in parameter group {i}, which {type(self).__name__} "
                    "needs: was it saved by another optimizer?"
                )
        for hook in list(self._optimizer_load_state_dict_post_hooks.values()):
            hook(self)

    def register_state_dict_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call ``hook(optimizer)`` before `state_dict`; with ``prepend``, before the other hooks."""
        return add(self._optimizer_state_dict_pre_hooks, hook, prepend)

    def register_state_dict_post_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call ``hook(optimizer, state_dict)`` after `state_dict`; what it returns, if not None, is returned."""
        return add(self._optimizer_state_dict_post_hooks, hook, prepend)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call ``hook(optimizer, state_dict)`` before `load_state_dict`; what it returns, if not None, is loaded."""
        return add(self._optimizer_load_state_dict_pre_hooks, hook, prepend)

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call ``hook(optimizer)`` after `load_state_dict`."""
        return add(self._optimizer_load_state_dict_post_hooks, hook, prepend)


def _hooked(step: Callable[..., Any]) -> Callable[..., Any]:
    """``step`` with the hooks run around it; not again around one that an overriding ``step`` calls."""

    @functools.wraps(step)
    def hooked(self: Optimizer, *args: Any, **kwargs: Any) -> Any:
        if type(self).step is not hooked or "_optimizer_step_pre_hooks" not in vars(self):  # made without __init__
            return step(self, *args, **kwargs)
        if "_opt_called" in vars(self):  # a schedule wants to know
            self._opt_called = True
        given: tuple[Any, ...] = (self, *args)
        for hook in [*_before_any_step.values(), *self._optimizer_step_pre_hooks.values()]:
            changed = hook(self, given, kwargs)
            if changed is not None:
                if not isinstance(changed, tuple) or len(changed) != 2:
                    raise RuntimeError(f"{step} must return None or a tuple of (new_args, new_kwargs), but got "
                                       f"{changed}.")  # fmt: skip
                given, kwargs = changed
        out = step(*given, **kwargs)
        for hook in [*self._optimizer_step_post_hooks.values(), *_after_any_step.values()]:
            hook(self, given, kwargs)
        return out

    return hooked


def _through(hooks: Registry, optimizer: Optimizer, state_dict: Any) -> Any:
    for hook in list(hooks.values()):
        changed = hook(optimizer, state_dict)
        state_dict = state_dict if changed is None else changed
    return state_dict


def _converted(value: Any, p: Tensor, key: Any = None) -> Any:
    """What was saved for ``p``, with its tensors, whichever library's, as ours, of the dtype of ``p`` and beside it."""
    if not isinstance(value, Tensor) and hasattr(value, "__array__"):
        value = as_tensor(value.__array__(), device="cpu")
    if isinstance(value, Tensor):
        dtype = None if key == "step" or not p.is_floating_point() else p.dtype
        if dtype is not None and dtype.itemsize == 2 < value.dtype.itemsize and value.is_floating_point():
            dtype = float32  # the step computes in it, and a second moment would be 0
        return value.to(p.device, dtype, copy=True)
    if isinstance(value, Mapping):
        return {k: _converted(v, p, k) for k, v in value.items()}
    return type(value)(_converted(v, p) for v in value) if isinstance(value, (list, tuple)) else value


def number(value: Any) -> Any:
    """A setting as a Python number: tensors of one element, which settings may be, are read."""
    if isinstance(value, Tensor):
        return value.item()
    return tuple(map(number, value)) if type(value) is tuple else value


_NAMES = {"lr": "learning rate", "eps": "epsilon value"}
_NUMBERS: Any = (Real, Tensor)


def check(betas: tuple[Any, ...] = (), **settings: Any) -> None:
    """Raise ValueError for a setting below zero, a beta outside [0, 1) or an ``lr`` of several elements.

    TypeError for a setting that is no number.
    """
    if getattr(settings["lr"], "numel", int)() > 1:
        raise ValueError("Tensor lr must be 1-element")
    for name, value in settings.items():
        if not isinstance(value, _NUMBERS):
            raise TypeError(f"{_NAMES.get(name, name)} should be a number, but got {value!r}")
        if not value >= 0.0:
            raise ValueError(f"Invalid {_NAMES.get(name, f'{name} value')}: {value}")
    for i, beta in enumerate(betas):
        if not 0.0 <= beta < 1.0:
            raise ValueError(f"Invalid beta parameter at index {i}: {beta}")


def check_kind(fused: Any, foreach: Any, differentiable: Any) -> None:
    """Raise RuntimeError for ways to run that exclude each other."""
    if fused and differentiable:
        raise RuntimeError("`fused` does not support `differentiable`")
    if fused and foreach:
        raise RuntimeError("`fused` and `foreach` cannot be `True` together.")


class Stepping(Optimizer):
    """An optimiser that takes one group after another: a subclass defines `_advance`."""

    def step(self, closure: Callable[[], R] | None = None) -> R | None:
        recorded = bool(self.defaults.get("differentiable"))
        return inside(partial(set_recording, recorded), resumed, self._stepped, closure)

    def _stepped(self, closure: Callable[[], Any] | None) -> Any:
        loss = None if closure is None else inside(partial(set_recording, True), resumed, closure)
        warn_if_idle(self)
        for group in self.param_groups:
            quietly(self._advance, group)
        return loss

    step.__doc__ = Optimizer.step.__doc__

    def _advance(self, group: dict[str, Any]) -> None:
        """Change the parameters of one group."""
        raise NotImplementedError
