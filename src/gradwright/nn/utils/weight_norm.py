"""``nn.utils.weight_norm``, the older form of `nn.utils.parametrizations.weight_norm`: a hook before forward."""

from __future__ import annotations

from typing import Any

from gradwright.nn.module import Module
from gradwright.nn.parameter import Parameter
from gradwright.nn.utils.hooked import computed, undone
from gradwright.nn.utils.parametrizations import _norm_except

__all__ = ["WeightNorm", "remove_weight_norm", "weight_norm"]


class WeightNorm:
    """Before each call of a module: weight = g v / norm(v), of its parameters ``weight_g`` and ``weight_v``."""

    def __init__(self, name: str, dim: int | None) -> None:
        self.name, self.dim = name, -1 if dim is None else dim

    def compute_weight(self, module: Module) -> Any:
        """The weight of its length and direction."""
        g, v = getattr(module, f"{self.name}_g"), getattr(module, f"{self.name}_v")
        return computed(lambda g, v: v * (g / _norm_except(v, self.dim)), g, v)

    @staticmethod
    def apply(module: Module, name: str, dim: int | None) -> WeightNorm:
        """Part a weight in two, and compute it before each call. RuntimeError if that is done already."""
        if any(isinstance(hook, WeightNorm) and hook.name == name for hook in module._forward_pre_hooks.values()):
            raise RuntimeError(f"Cannot register two weight_norm hooks on the same parameter {name}")
        fn = WeightNorm(name, dim)
        weight = getattr(module, name)
        del module._parameters[name]
        module.register_parameter(f"{name}_g", Parameter(_norm_except(weight, fn.dim).detach()))
        module.register_parameter(f"{name}_v", Parameter(weight.detach()))
        setattr(module, name, fn.compute_weight(module))
        module.register_forward_pre_hook(fn)
        module.register_load_state_dict_post_hook(fn)
        return fn

    def remove(self, module: Module) -> None:
        """Make the weight one parameter again."""
        weight = self.compute_weight(module)
        hooks = module._hooked().load
        for key in [key for key, hook in hooks.items() if hook is self]:
            del hooks[key]
        delattr(module, self.name)
        del module._parameters[f"{self.name}_g"], module._parameters[f"{self.name}_v"]
        setattr(module, self.name, Parameter(weight.detach()))

    def __call__(self, module: Module, inputs_or_keys: Any) -> None:
        """Compute it, before a call or after a load."""
        setattr(module, self.name, self.compute_weight(module))


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """Compute a weight as w = g v / norm(v) before each call, of the parameters ``weight_g`` and ``weight_v``.

    `nn.utils.parametrizations.weight_norm` computes it whenever it is asked for; use that in new programs. ``dim``:
    each slice along this dim has a length of its own; with None there is one.

    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     layer = gw.nn.utils.weight_norm(gw.nn.Linear(2, 3))
    >>> layer.weight_g.shape, layer.weight_v.shape
    (torch.Size([3, 1]), torch.Size([3, 2]))
    """
    WeightNorm.apply(module, name, dim)
    return module


def remove_weight_norm(module: Module, name: str = "weight") -> Module:
    """Undo `weight_norm`: the weight is one parameter again. ValueError if there is none.

    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     layer = gw.nn.utils.remove_weight_norm(gw.nn.utils.weight_norm(gw.nn.Linear(2, 2)))
    >>> sorted(name for name, _ in layer.named_parameters())
    ['bias', 'weight']
    """
    if not undone(module, lambda hook: isinstance(hook, WeightNorm) and hook.name == name):
        raise ValueError(f"weight_norm of '{name}' not found in {module}")
    return module
