"""state_dict and load_state_dict: the values of a module's parameters and buffers, by path."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from os import PathLike
from typing import Any, NamedTuple

from gradwright.engine.grad_mode import no_grad
from gradwright.face.tensor import Tensor
from gradwright.face.xp.creation import from_dlpack
from gradwright.nn.hooks import Hooked
from gradwright.nn.parameter import Parameter, is_lazy, is_sparse
from gradwright.nn.ties import ties, warn_of_ties
from gradwright.nn.tree import Tree

_EXTRA = "_extra_state"


class _IncompatibleKeys(NamedTuple):
    """What `State.load_state_dict` found no match for."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return f"_IncompatibleKeys(missing_keys={self.missing_keys}, unexpected_keys={self.unexpected_keys})"


class State(Hooked, Tree):
    """The part of `Module` that saves and loads."""

    _version: int = 1
    """The version of what a class saves. `state_dict` notes it, and `_load_from_state_dict` is told of it."""

    def get_extra_state(self) -> Any:
        """What `state_dict` is to have of this module beside its tensors; a subclass defines it, and the next."""
        raise RuntimeError(_needed("get_extra_state"))

    def set_extra_state(self, state: Any) -> None:
        """Take back what `get_extra_state` gave."""
        raise RuntimeError(_needed("set_extra_state"))

    def _state(self) -> Iterator[tuple[str, Tensor]]:
        """The parameters and persistent buffers of this module alone."""
        yield from self._named("_parameters", "", False, False)
        for name, buffer in self._named("_buffers", "", False, False):
            if name not in self._non_persistent_buffers_set:
                yield name, buffer

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        """Put what this module alone has into ``destination``. A subclass may extend it."""
        for name, tensor in self._state():
            destination[prefix + name] = tensor if keep_vars else tensor.detach()
        if type(self).get_extra_state is not State.get_extra_state:
            destination[prefix + _EXTRA] = self.get_extra_state()

    def state_dict(self, *, destination: Any = None, prefix: str = "", keep_vars: bool = False) -> dict[str, Any]:
        """Parameters, persistent buffers and extra state, here and below, by path, as an OrderedDict.

        The tensors share the memory of the module's, without history; with ``keep_vars`` they are the module's own.
        They are put into ``destination`` if there is one, their paths behind ``prefix``. ``_metadata`` of the
        OrderedDict holds the version of each module, by path.
        """
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        metadata = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = metadata
        hooks = self._hooks
        for hook in list(hooks.state_pre.values()) if hooks is not None else ():
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, child in self._modules.items():
            if child is not None:
                child.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        for hook, public in list(hooks.state.values()) if hooks is not None else ():
            other = hook(self, destination, prefix, metadata)
            if public and other is not None:
                raise RuntimeError("state_dict post-hook must return None")
            destination = destination if other is None else other
        return destination

    def _bring_up_to_date(self, state_dict: dict[str, Any], prefix: str, version: int | None) -> None:
        """Change what an earlier version of the class saved; None if it is not known. A subclass may define it."""

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, local_metadata: dict[str, Any],
                              strict: bool, missing_keys: list[str], unexpected_keys: list[str],
                              error_msgs: list[str]) -> None:  # fmt: skip
        """Load what belongs to this module alone. A subclass may extend it.

        Args:
            state_dict: a copy of what `load_state_dict` was given, which may be changed.
            prefix: what the paths of this module's tensors begin with.
            local_metadata: what ``_metadata`` says of this module; an empty dict if there is none.
            strict: whether to fill the two lists that follow.
            missing_keys: takes the paths that are missing.
            unexpected_keys: takes those that mean nothing.
            error_msgs: takes what else is wrong.
        """
        for hook, with_module in list(self._hooks.load_pre.values()) if self._hooks is not None else ():
            given = (state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
            hook(*((self, *given) if with_module else given))
        self._bring_up_to_date(state_dict, prefix, local_metadata.get("version"))
        own = dict(self._state())
        for name, tensor in own.items():
            if prefix + name not in state_dict:
                if strict:
                    missing_keys.append(prefix + name)
                continue
            value = _ours(state_dict[prefix + name])
            assign = bool(local_metadata.get("assign_to_params_buffers"))
            fault = _misfit(prefix + name, tensor, value, assign)
            if fault:
                error_msgs.append(fault)
            elif assign:
                setattr(self, name, _like(value, tensor))
            elif "copies" in local_metadata:
                local_metadata["copies"].append((tensor, value))
            else:
                _copy(tensor, value)
        known = {*own, *self._modules}
        if type(self).set_extra_state is not State.set_extra_state:
            known.add(_EXTRA)
            if prefix + _EXTRA in state_dict:
                self.set_extra_state(state_dict[prefix + _EXTRA])
            elif strict:
                missing_keys.append(prefix + _EXTRA)
        if strict:
            for key in state_dict:
                name, dot, _ = key.removeprefix(prefix).partition(".")
                if key.startswith(prefix) and (name not in known or (name in self._modules) != bool(dot)):
                    unexpected_keys.append(key)

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
                        ) -> _IncompatibleKeys:  # fmt: skip
        """Copy the values in ``state_dict`` into this module's parameters and persistent buffers.

        Args:
            state_dict: values by path, as `state_dict` returns them.
            strict: whether each must have its counterpart.
            assign: put the tensors themselves, as they are, in place of those in the module, whose memory is then no
                longer used. Parameters become other objects: make the optimiser afterwards.

        Returns the names it found no value for, and those it knows nothing of: ``(missing_keys, unexpected_keys)``.

        Raises RuntimeError if there are any and ``strict`` is set, or if a value is no tensor or of another size: one
        error that lists them all. Nothing has been copied then, unless ``assign`` is set, or a module has its own way
        of loading: an overridden ``_load_from_state_dict``, or a hook that runs after it. Raises TypeError if
        ``state_dict`` is no mapping of strings.

        Warns of a tensor of the module that has several paths (tied weights) for which there are different values: it
        gets the last; with ``assign`` there are several afterwards.
        """
        if not isinstance(state_dict, Mapping):
            mend = ": write its state_dict()" if hasattr(state_dict, "state_dict") else ""
            mend = ": read the file first, with load()" if isinstance(state_dict, (str, PathLike)) else mend
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}{mend or '.'}")
        stranger = next((key for key in state_dict if not isinstance(key, str)), None)
        if stranger is not None:
            raise TypeError(f"Expected the keys of state_dict to be str, got {type(stranger)}: {stranger!r}")
        found = _IncompatibleKeys([], [])
        faults: list[str] = []
        versions = getattr(state_dict, "_metadata", None) or {}
        copies: list[tuple[Tensor, Tensor]] = []
        flags: dict[str, Any] = {"assign_to_params_buffers": True} if assign else {}
        if not assign and not any(_has_its_own_way(module) for module in self.modules()):
            flags["copies"] = copies
        tied = ties(self)
        work = OrderedDict(state_dict)
        if versions:
            work._metadata = versions  # type: ignore[attr-defined]
        _load(self, work, "", versions, flags, found, faults)
        for what, keys in (("Unexpected", found.unexpected_keys), ("Missing", found.missing_keys)) if strict else ():
            if keys:
                faults.insert(0, "{} key(s) in state_dict: {}. ".format(what, ", ".join(f'"{key}"' for key in keys)))
        if found.unexpected_keys and strict and all(key.startswith("module.") for key in state_dict):
            faults.append("Each key begins with 'module.', as a DataParallel's do: call nn.modules.utils."
                          "consume_prefix_in_state_dict_if_present(state_dict, 'module.') before")  # fmt: skip
        if faults:
            raise RuntimeError(f"Error(s) in loading state_dict for {type(self).__name__}:\n\t" + "\n\t".join(faults))
        for tensor, value in copies:
            _copy(tensor, value)
        warn_of_ties(self, tied, state_dict, assign)
        return found


def _load(module: Any, state: dict[str, Any], prefix: str, versions: Mapping[str, Any], flags: dict[str, Any],
          found: _IncompatibleKeys, faults: list[str]) -> None:  # fmt: skip
    """Load a module and those below it from what of ``state`` begins with ``prefix``."""
    metadata = {**versions.get(prefix[:-1], {}), **flags}
    module._load_from_state_dict(state, prefix, metadata, True, *found, faults)
    for name, child in module._modules.items():
        if child is not None:
            start = f"{prefix}{name}."
            below = {key: value for key, value in state.items() if key.startswith(start)}
            _load(child, below, start, versions, flags, found, faults)
    for hook in list(module._hooks.load.values()) if module._hooks is not None else ():
        if hook(module, found) is not None:
            raise AssertionError(
                "Hooks registered with ``register_load_state_dict_post_hook`` are not expected to return new values, "
                "if incompatible_keys need to be modified, it should be done inplace."
            )


def _has_its_own_way(module: Any) -> bool:
    """Whether a module does more to load than to copy, and may want to see what was copied."""
    hooked = module._hooks is not None and bool(module._hooks.load)
    return hooked or type(module)._load_from_state_dict is not State._load_from_state_dict


def _ours(value: Any) -> Any:
    """A tensor of PyTorch's as one of ours, over the same memory."""
    theirs = type(value).__module__.partition(".")[0] == "torch" and not isinstance(value, Tensor)
    return from_dlpack(value.detach()) if theirs and hasattr(value, "__dlpack__") else value


def _misfit(key: str, tensor: Any, value: Any, assign: bool) -> str | None:
    """Why ``value`` cannot be loaded into ``tensor``, or take its place; None if it can."""
    sparse = is_sparse(value)
    if not isinstance(value, Tensor) and not sparse:
        return (f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like object from '
                f"checkpoint but received {type(value)}")  # fmt: skip
    if is_lazy(value):
        return None if is_lazy(tensor) else (
            f'While copying the parameter named "{key}": the one in the checkpoint has no shape yet, but the one in '
            "the current model has been initialized."
        )  # fmt: skip
    if value.shape != tensor.shape and (sparse or (tensor.ndim, value.shape) != (0, (1,))):
        return (f"size mismatch for {key}: copying a param with shape {value.shape} from checkpoint, the shape in "
                f"current model is {tensor.shape}.")  # fmt: skip
    if (sparse or is_sparse(tensor)) and value.layout != tensor.layout:
        trained = isinstance(tensor, Parameter)
        if trained or not assign:
            mend = f"it must be {tensor.layout}" if is_sparse(tensor) else "its to_dense() can be loaded"
            mend += "" if trained else ", or pass assign=True"
            return (f'While copying the parameter named "{key}": the one in the checkpoint is {value.layout}, the one '
                    f"in the current model {tensor.layout}: {mend}")  # fmt: skip
    if value.is_complex() and not tensor.is_complex():
        return (f'While copying the parameter named "{key}": the one in the checkpoint is {value.dtype}, whose '
                f"imaginary part would be lost in {tensor.dtype}.")  # fmt: skip
    return None


@no_grad()
def _copy(tensor: Any, value: Any) -> None:
    if is_sparse(tensor):
        tensor._take(value)
    elif not is_lazy(value):
        tensor.copy_(_shaped(value, tensor))


def _shaped(value: Any, tensor: Any) -> Any:
    return value if value.shape == tensor.shape else value.reshape(tensor.shape)


def _like(value: Any, tensor: Any) -> Any:
    """``value`` itself, as a parameter if ``tensor`` is one."""
    if is_lazy(value):
        return value
    value = _shaped(value, tensor)
    if not isinstance(tensor, Parameter):
        return value
    return value.requires_grad_(tensor.requires_grad) if isinstance(value, Parameter) else Parameter(
        value, tensor.requires_grad
    )  # fmt: skip


def _needed(method: str) -> str:
    return (
        f"Reached a code path in Module.{method}() that should never be called. Define both get_extra_state() and "
        "set_extra_state(), or neither."
    )
