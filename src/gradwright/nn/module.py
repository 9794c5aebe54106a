"""Module: a function with parameters, and the tree that modules inside modules make.

How things are registered under a name is in `gradwright.nn.registry`; here is what a module does with them. Names are
joined by dots on the way down the tree: "encoder.0.weight".
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, Self

from gradwright import dtypes
from gradwright.autograd.grad_mode import no_grad
from gradwright.autograd.hooks import Registry as HookRegistry
from gradwright.autograd.hooks import RemovableHandle
from gradwright.nn.parameter import Parameter
from gradwright.nn.registry import Registry
from gradwright.tensor import Tensor


class _IncompatibleKeys(NamedTuple):
    """What `Module.load_state_dict` found no match for."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return f"_IncompatibleKeys(missing_keys={self.missing_keys}, unexpected_keys={self.unexpected_keys})"


class Module(Registry):
    """A function with parameters. A subclass calls ``super().__init__()`` first, then defines `forward`.

    Parameters and modules assigned to attributes are registered, so that `parameters`, `state_dict`, `to` and their
    kin find them all through the tree. Calling a module runs `forward` and the hooks on it.

    Attributes:
        training: whether it is in training mode; set by `train` and `eval`.

    Raises TypeError for a value that is not of the kind registered under a name, AttributeError for one assigned
    before ``super().__init__()``, KeyError for a name that is taken, NotImplementedError if called without a `forward`.

    >>> import gradwright as gw
    >>> class Scale(Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.factor = Parameter(gw.tensor(2.0))
    ...     def forward(self, x):
    ...         return self.factor * x
    >>> scale = Scale()
    >>> scale(gw.ones(2))
    tensor([2., 2.], grad_fn=<MulBackward0>)
    >>> [name for name, _ in scale.named_parameters()]
    ['factor']
    """

    training: bool
    _forward_pre_hooks: HookRegistry
    _forward_hooks: HookRegistry

    def __init__(self) -> None:
        super().__init__()
        self.training = True
        self._forward_pre_hooks = HookRegistry()
        self._forward_hooks = HookRegistry()

    # -- calling --

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the module computes; a subclass defines it."""
        raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not self._forward_pre_hooks and not self._forward_hooks:
            return self.forward(*args, **kwargs)
        for hook in list(self._forward_pre_hooks.values()):
            changed = hook(self, args)
            if changed is not None:
                args = changed if isinstance(changed, tuple) else (changed,)
        out = self.forward(*args, **kwargs)
        for hook in list(self._forward_hooks.values()):
            changed = hook(self, args, out)
            out = out if changed is None else changed
        return out

    def register_forward_pre_hook(self, hook: Callable[[Module, Any], Any]) -> RemovableHandle:
        """Call ``hook(module, args)`` before `forward`; what it returns, if not None, replaces the arguments."""
        return RemovableHandle(self._forward_pre_hooks, hook)

    def register_forward_hook(self, hook: Callable[[Module, Any, Any], Any]) -> RemovableHandle:
        """Call ``hook(module, args, out)`` after `forward`; what it returns, if not None, replaces the result."""
        return RemovableHandle(self._forward_hooks, hook)

    # -- the tree --

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """The modules right below this one, each once, with their names."""
        seen: set[int] = set()
        for name, child in self._modules.items():
            if child is not None and id(child) not in seen:
                seen.add(id(child))
                yield name, child

    def children(self) -> Iterator[Module]:
        """The modules right below this one, each once."""
        return (child for _, child in self.named_children())

    def named_modules(self, memo: set[Module] | None = None, prefix: str = "", remove_duplicate: bool = True
                      ) -> Iterator[tuple[str, Module]]:  # fmt: skip
        """This module and all below it, with their paths; each once, unless told otherwise."""
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, child in self._modules.items():
            if child is not None:
                yield from child.named_modules(memo, _joined(prefix, name), remove_duplicate)

    def modules(self) -> Iterator[Module]:
        """This module and all below it, each once."""
        return (module for _, module in self.named_modules())

    def _named(self, kind: str, prefix: str, recurse: bool, unique: bool) -> Iterator[tuple[str, Any]]:
        seen: set[int] = set()
        modules = self.named_modules(prefix=prefix, remove_duplicate=unique) if recurse else [(prefix, self)]
        for path, module in modules:
            for name, value in vars(module)[kind].items():
                if value is not None and id(value) not in seen:
                    if unique:
                        seen.add(id(value))
                    yield _joined(path, name), value

    def named_parameters(self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
                         ) -> Iterator[tuple[str, Parameter]]:  # fmt: skip
        """The parameters of this module, and with ``recurse`` of all below it, with their paths; each once."""
        return self._named("_parameters", prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """The parameters of this module, and with ``recurse`` of all below it; each once."""
        return (parameter for _, parameter in self.named_parameters(recurse=recurse))

    def named_buffers(self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
                      ) -> Iterator[tuple[str, Tensor]]:  # fmt: skip
        """The buffers of this module, and with ``recurse`` of all below it, with their paths; each once."""
        return self._named("_buffers", prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """The buffers of this module, and with ``recurse`` of all below it; each once."""
        return (buffer for _, buffer in self.named_buffers(recurse=recurse))

    def get_submodule(self, target: str) -> Module:
        """The module at a path such as "encoder.0"; "" is this one. AttributeError if there is none."""
        module = self
        for name in target.split(".") if target else ():
            module = _attribute(module, name)
            if not isinstance(module, Module):
                raise AttributeError(f"`{name}` is not an nn.Module")
        return module

    def get_parameter(self, target: str) -> Parameter:
        """The parameter at a path such as "encoder.0.weight". AttributeError if there is none."""
        path, _, name = target.rpartition(".")
        found = _attribute(self.get_submodule(path), name)
        if not isinstance(found, Parameter):
            raise AttributeError(f"`{name}` is not an nn.Parameter")
        return found

    def get_buffer(self, target: str) -> Tensor:
        """The buffer at a path such as "encoder.0.mean". AttributeError if there is none."""
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        found = _attribute(module, name)
        if name not in module._buffers:
            raise AttributeError(f"`{name}` is not a buffer")
        return found

    def apply(self, fn: Callable[[Module], Any]) -> Self:
        """Call ``fn`` on every module below this one, then on this one; returns this one."""
        for child in self.children():
            child.apply(fn)
        fn(self)
        return self

    # -- all parameters at once --

    def train(self, mode: bool = True) -> Self:
        """Set ``training`` here and below. ValueError unless ``mode`` is a bool."""
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for child in self.children():
            child.train(mode)
        return self

    def eval(self) -> Self:
        """``train(False)``."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Set ``requires_grad`` of every parameter here and below."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradient of every parameter here and below, or else fill it with zeros and cut its history."""
        for parameter in self.parameters():
            if set_to_none:
                parameter.grad = None
            elif parameter.grad is not None:
                parameter.grad.detach_().zero_()

    def to(self, *args: Any, dtype: Any = None, device: Any = None, non_blocking: bool = False) -> Self:
        """Convert every floating-point parameter, its gradient and every such buffer, here and below.

        Takes a dtype, a device (``"cpu"`` is the only one) or a tensor to be like. Parameters stay the same objects.
        Complex tensors stay complex.

        Raises TypeError for a dtype that is neither floating-point nor complex.
        """
        for value in args:
            if isinstance(value, Tensor):
                dtype = value.dtype
            elif isinstance(value, (str, dtypes.device)):
                device = value
            elif value is not None and not isinstance(value, bool):
                dtype = value
        if device is not None:
            dtypes.device(device)
        if dtype is not None:
            target = dtypes.of(dtype)
            if not target.is_floating_point and not target.is_complex:
                raise TypeError("nn.Module.to only accepts floating point or complex dtypes, but got desired "
                                f"dtype={target}")  # fmt: skip
            for module in self.modules():
                module._convert(target)
        return self

    def _convert(self, target: dtypes.dtype) -> None:
        def converted(t: Tensor) -> Tensor:
            return t.to(target) if t.is_floating_point() or (target.is_complex and t.is_complex()) else t

        for parameter in self.parameters(recurse=False):
            parameter.data = converted(parameter.data)
            if parameter.grad is not None:
                parameter.grad.data = converted(parameter.grad.data)
        for name, buffer in self._buffers.items():
            self._buffers[name] = buffer if buffer is None else converted(buffer)

    def double(self) -> Self:
        """``to(float64)``."""
        return self.to(dtypes.float64)

    def half(self) -> Self:
        """``to(float16)``."""
        return self.to(dtypes.float16)

    def float(self) -> Self:
        """``to(float32)``."""
        return self.to(dtypes.float32)

    def cpu(self) -> Self:
        """Itself."""
        return self

    # -- state --

    def _state(self) -> Iterator[tuple[str, Tensor]]:
        """The parameters and persistent buffers of this module alone."""
        yield from self._named("_parameters", "", False, False)
        for name, buffer in self._named("_buffers", "", False, False):
            if name not in self._non_persistent_buffers_set:
                yield name, buffer

    def state_dict(self, *, destination: Any = None, prefix: str = "", keep_vars: bool = False) -> Any:
        """Parameters and persistent buffers, here and below, by path, as an OrderedDict.

        The tensors share the memory of the module's, without history; with ``keep_vars`` they are the module's own.
        They are put into ``destination`` if there is one, their paths behind ``prefix``.
        """
        destination = OrderedDict() if destination is None else destination
        for name, tensor in self._state():
            destination[prefix + name] = tensor if keep_vars else tensor.detach()
        for name, child in self._modules.items():
            if child is not None:
                child.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        return destination

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True) -> _IncompatibleKeys:
        """Copy the values in ``state_dict`` into this module's parameters and persistent buffers.

        Returns the names it found no value for, and those it knows nothing of: ``(missing_keys, unexpected_keys)``.

        Raises RuntimeError if there are any and ``strict`` is set, or if a value is no tensor or of another size;
        nothing has been copied then. Raises TypeError if ``state_dict`` is no mapping.
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        own = {_joined(path, name): tensor
               for path, module in self.named_modules(remove_duplicate=False)
               for name, tensor in module._state()}  # fmt: skip
        missing, unexpected = [k for k in own if k not in state_dict], [k for k in state_dict if k not in own]
        faults = []
        for what, keys in (("Missing", missing), ("Unexpected", unexpected)) if strict else ():
            if keys:
                faults.append("{} key(s) in state_dict: {}. ".format(what, ", ".join(f'"{k}"' for k in keys)))
        copies = []
        for key, tensor in own.items():
            if key not in state_dict:
                continue
            value = state_dict[key]
            if not isinstance(value, Tensor):
                faults.append(f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like object '
                              f"from checkpoint but received {type(value)}")  # fmt: skip
            elif value.shape != tensor.shape and (tensor.ndim, value.shape) != (0, (1,)):
                faults.append(f"size mismatch for {key}: copying a param with shape {value.shape} from checkpoint, "
                              f"the shape in current model is {tensor.shape}.")  # fmt: skip
            else:
                copies.append((tensor, value))
        if faults:
            raise RuntimeError(f"Error(s) in loading state_dict for {type(self).__name__}:\n\t" + "\n\t".join(faults))
        with no_grad():
            for tensor, value in copies:
                tensor.copy_(value.reshape(tensor.shape))
        return _IncompatibleKeys(missing, unexpected)

    # -- printing --

    def extra_repr(self) -> str:
        """What stands between the brackets when the module is printed; a subclass may define it."""
        return ""

    def _get_name(self) -> str:
        return type(self).__name__

    def _described(self) -> Iterator[tuple[str, str]]:
        """Every child's label and text."""
        return ((name, repr(child)) for name, child in self._modules.items())

    def __repr__(self) -> str:
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        children = [_indented(f"({label}): {text}") for label, text in self._described()]
        if children or len(lines) > 1:
            return f"{self._get_name()}(\n  " + "\n  ".join(lines + children) + "\n)"
        return f"{self._get_name()}({extra})"


def _joined(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _indented(text: str) -> str:
    """Every line but the first, and but the blank ones, moved to the right by two."""
    first, *rest = text.split("\n")
    return "\n".join([first, *(f"  {line}" if line.strip() else "" for line in rest)])


def _attribute(module: Module, name: str) -> Any:
    if not hasattr(module, name):
        raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
    return getattr(module, name)
