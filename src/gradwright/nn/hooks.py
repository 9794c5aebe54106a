"""Hooks on modules: what runs before and after forward and backward, on one module or on all.

A hook that a module's hooks take off or put on while they run counts from the next call on.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, MutableMapping
from typing import Any, NamedTuple

from gradwright.base.cpython.forks import lock
from gradwright.engine.hooks import Registry as HookRegistry
from gradwright.engine.hooks import RemovableHandle, add
from gradwright.engine.strict import warn
from gradwright.nn.backward_hooks import Backward, at_the_last
from gradwright.nn.faults import FAULTS
from gradwright.nn.registry import Registry


class Hook(NamedTuple):
    """A hook on forward, and how it wants to be called."""

    fn: Callable[..., Any]
    with_kwargs: bool = False
    always_call: bool = False

    def __call__(self, module: Any, args: Any, kwargs: Any, *out: Any) -> Any:
        return self.fn(module, args, kwargs, *out) if self.with_kwargs else self.fn(module, args, *out)


class Functions(MutableMapping[int, Any]):
    """The functions of hooks by number, as programs see them in ``_forward_hooks``: to look at, take off and put on."""

    def __init__(self, hooks: HookRegistry) -> None:
        self._hooks = hooks

    def __getitem__(self, key: int) -> Any:
        hook: Any = self._hooks[key]
        return hook.fn if isinstance(hook, Hook) else hook

    def __setitem__(self, key: int, fn: Any) -> None:
        self._hooks[key] = Hook(fn)

    def __delitem__(self, key: int) -> None:
        del self._hooks[key]

    def __iter__(self) -> Iterator[int]:
        return iter(self._hooks)

    def __len__(self) -> int:
        return len(self._hooks)


class Hooks:
    """All hooks of one module, or those that hold everywhere."""

    __slots__ = ("backward", "backward_pre", "forward", "forward_pre", "last", "load", "load_pre", "state",
                 "state_pre")  # fmt: skip

    backward: HookRegistry
    backward_pre: HookRegistry
    last: HookRegistry
    forward: HookRegistry
    forward_pre: HookRegistry
    load: HookRegistry
    load_pre: HookRegistry
    state: HookRegistry
    state_pre: HookRegistry

    def __init__(self) -> None:
        for kind in self.__slots__:
            setattr(self, kind, HookRegistry())

    def __bool__(self) -> bool:
        return any(getattr(self, kind) for kind in self.__slots__)


everywhere: list[Hooks] = []
"""The hooks that hold for all modules: empty while there are none."""


def _of(kind: str) -> Any:
    doc = f"Its hooks of the kind {kind}, by number."
    return property(lambda self: Functions(getattr(self._hooked(), kind)), doc=doc)


class Hooked(Registry):
    """The part of `Module` that registers hooks."""

    _hooks: Hooks | None
    """None while there are none: a call without hooks asks for no more than that."""

    _forward_pre_hooks, _forward_hooks = _of("forward_pre"), _of("forward")
    _backward_pre_hooks, _backward_hooks = _of("backward_pre"), _of("backward")

    def _hooked(self) -> Hooks:
        if self._hooks is None:
            vars(self)["_hooks"] = Hooks()
        return self._hooks  # type: ignore[return-value]

    def _add(self, kind: str, hook: Any, prepend: bool = False) -> RemovableHandle:
        with lock:
            return add(getattr(self._hooked(), kind), hook, prepend)

    def register_forward_pre_hook(self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
                                  ) -> RemovableHandle:  # fmt: skip
        """Call ``hook(module, args)`` before `forward`; what it returns, if not None, replaces the arguments.

        Args:
            hook: gets the positional arguments as a tuple; a result that is no tuple stands for a tuple of one.
            prepend: put it before the module's other hooks of this kind.
            with_kwargs: call ``hook(module, args, kwargs)``, which returns None or a pair of new ones; RuntimeError
                for anything else.
        """
        return self._add("forward_pre", Hook(hook, with_kwargs), prepend)

    def register_forward_hook(self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False,
                              always_call: bool = False) -> RemovableHandle:  # fmt: skip
        """Call ``hook(module, args, out)`` after `forward`; what it returns, if not None, replaces the result.

        Args:
            hook: gets the positional arguments as a tuple.
            prepend: put it before the module's other hooks of this kind.
            with_kwargs: call ``hook(module, args, kwargs, out)``.
            always_call: call it even if forward, or a hook before it, raises; ``out`` is then None, or what there is.
        """
        return self._add("forward", Hook(hook, with_kwargs, always_call), prepend)

    def register_full_backward_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call ``hook(module, grad_output)`` when the gradient of the result has come, before it goes into the module.

        ``grad_output`` is a tuple with a gradient, or None, for each result. A tuple that the hook returns replaces it;
        RuntimeError if that is of another length.
        """
        return self._add("backward_pre", hook, prepend)

    def _add_backward(self, kind: str, hook: Any, prepend: bool = False) -> RemovableHandle:
        """Add a hook, or RuntimeError if there is one of the other sort of backward hooks."""
        if getattr(self._hooked(), "last" if kind == "backward" else "backward"):
            raise RuntimeError("Cannot use both regular backward hooks and full backward hooks on a single Module. "
                               "Please use only one of them.")  # fmt: skip
        return self._add(kind, hook, prepend)

    def register_full_backward_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call ``hook(module, grad_input, grad_output)`` when the gradients of the module's arguments are known.

        Both are tuples, with a gradient, or None, for each positional argument and for each result. A tuple that the
        hook returns replaces ``grad_input``; RuntimeError if that is of another length. If no argument requires grad,
        the hook runs as soon as ``grad_output`` is known, and ``grad_input`` is full of None.

        Gradients are seen of tensors that are arguments or results themselves, or elements of the result if that is a
        tuple; not of those in keywords or in other containers.
        """
        return self._add_backward("backward", hook, prepend)

    def register_backward_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(module, grad_input, grad_output)`` when the operation that made the result has gone backward.

        ``grad_output`` is that of the first tensor of the result. ``grad_input`` belongs to the last operation in the
        module, not to the module, and PyTorch may have another one there: so this warns (`GradientWarning`), and
        `register_full_backward_hook` is the one to use.
        """
        warn(f"{type(self).__name__}.register_backward_hook(): grad_input will be that of the last operation, which in "
             "PyTorch may be another: register_full_backward_hook gives the module's own.")  # fmt: skip
        return self._add_backward("last", hook)

    def register_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(module, prefix, keep_vars)`` before `state_dict` reads this module."""
        return self._add("state_pre", hook)

    def register_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(module, state_dict, prefix, local_metadata)`` after `state_dict` has read this module.

        It may change ``state_dict``, and returns None (else RuntimeError).
        """
        return self._add("state", (hook, True))

    def _register_state_dict_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """`register_state_dict_post_hook`, where what the hook returns, if not None, is the state_dict from then on."""
        return self._add("state", (hook, False))

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call a hook before `load_state_dict` loads this module.

        It is ``hook(module, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)``
        and may change any of the last six.
        """
        return self._register_load_state_dict_pre_hook(hook, with_module=True)

    def _register_load_state_dict_pre_hook(self, hook: Callable[..., Any], with_module: bool = False
                                           ) -> RemovableHandle:  # fmt: skip
        return self._add("load_pre", (hook, with_module))

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(module, incompatible_keys)`` after `load_state_dict` has loaded this module and those below it.

        It may change the lists ``incompatible_keys.missing_keys`` and ``unexpected_keys``, and returns None.
        """
        return self._add("load", hook)


# -- running them --


def run(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What a module with hooks makes of its arguments."""
    if not any(everywhere) and not module._hooks:  # all have been taken off
        _forget(module)
        return module.forward(*args, **kwargs)
    hooks = [*everywhere] if module._hooks is None else [*everywhere, module._hooks]
    after = [hook for h in hooks for hook in h.forward.values()][::-1]
    backward: Backward | None = None
    out: Any = None
    try:
        for pre in [hook for h in hooks for hook in h.forward_pre.values()]:
            args, kwargs = _replaced(pre, pre(module, args, kwargs), args, kwargs)
        if any(h.backward or h.backward_pre for h in hooks):
            backward = Backward(module, hooks)
            args = backward.arguments(args)
        out = module.forward(*args, **kwargs)
        while after:
            changed = after.pop()(module, args, kwargs, out)
            out = out if changed is None else changed
        for h in hooks:
            for hook in h.last.values():
                at_the_last(module, hook, out)
        return out if backward is None else backward.results(out)
    finally:  # what is left then did not run
        for hook in reversed(after):
            if hook.always_call:
                _despite(hook, module, args, kwargs, out)


def _forget(module: Any) -> None:
    """Have further calls take the short way, as long as there are no hooks."""
    with lock:
        if not any(everywhere):
            everywhere.clear()
        if not module._hooks:
            vars(module)["_hooks"] = None


def _replaced(pre: Hook, changed: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if changed is None:
        return args, kwargs
    if not pre.with_kwargs:
        return changed if isinstance(changed, tuple) else (changed,), kwargs
    if isinstance(changed, tuple) and len(changed) == 2:
        return changed
    raise RuntimeError(f"forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got {changed}.")


def _despite(hook: Hook, *given: Any) -> None:
    """Run a hook although something has been raised, which what the hook raises is not to hide."""
    try:
        hook(*given)
    except FAULTS as error:
        warnings.warn(
            "forward hook with ``always_call=True`` raised an exception that was silenced as another error was raised "
            f"in forward: {error}",
            stacklevel=4,
        )


# -- on all modules --


def _add_everywhere(kind: str, hook: Any) -> RemovableHandle:
    with lock:
        if not everywhere:
            everywhere.append(Hooks())
        return add(getattr(everywhere[0], kind), hook)


def register_module_forward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """`Module.register_forward_pre_hook` on every module there is; such hooks run before a module's own."""
    return _add_everywhere("forward_pre", Hook(hook))


def register_module_forward_hook(hook: Callable[..., Any], *, with_kwargs: bool = False, always_call: bool = False
                                 ) -> RemovableHandle:  # fmt: skip
    """`Module.register_forward_hook` on every module there is."""
    return _add_everywhere("forward", Hook(hook, with_kwargs, always_call))


def register_module_full_backward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """`Module.register_full_backward_pre_hook` on every module there is."""
    return _add_everywhere("backward_pre", hook)


def register_module_full_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """`Module.register_full_backward_hook` on every module there is."""
    return _add_everywhere("backward", hook)
