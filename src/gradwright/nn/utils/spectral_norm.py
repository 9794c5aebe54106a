"""``nn.utils.spectral_norm``, the older form of `nn.utils.parametrizations.spectral_norm`: a hook before forward."""

from __future__ import annotations

from typing import Any

from gradwright.engine.grad_mode import no_grad
from gradwright.face import random
from gradwright.nn import functional as F
from gradwright.nn.module import Module
from gradwright.nn.parameter import Parameter
from gradwright.nn.utils.hooked import computed, undone

__all__ = ["SpectralNorm", "remove_spectral_norm", "spectral_norm"]


class SpectralNorm:
    """Before each call of a module: weight = weight_orig / sigma, its largest singular value by power iterations."""

    def __init__(self, name: str, n_power_iterations: int, dim: int, eps: float) -> None:
        if n_power_iterations <= 0:
            raise ValueError("Expected n_power_iterations to be positive, but got n_power_iterations="
                             f"{n_power_iterations}")  # fmt: skip
        self.name, self.n_power_iterations, self.dim, self.eps = name, n_power_iterations, dim, eps

    def reshape_weight_to_matrix(self, weight: Any) -> Any:
        """The weight as a matrix, whose rows are the dim."""
        return weight.movedim(self.dim, 0).flatten(1)

    def compute_weight(self, module: Module, do_power_iteration: bool) -> Any:
        """The weight divided by sigma, after some iterations or none."""
        weight = getattr(module, f"{self.name}_orig")
        u, v = getattr(module, f"{self.name}_u"), getattr(module, f"{self.name}_v")
        matrix = self.reshape_weight_to_matrix(weight)
        if do_power_iteration:
            with no_grad():
                for _ in range(self.n_power_iterations):
                    v.copy_(F.normalize(matrix.mT.mv(u), dim=0, eps=self.eps))
                    u.copy_(F.normalize(matrix.mv(v), dim=0, eps=self.eps))
            u, v = u.clone(), v.clone()  # the next call changes them
        return computed(lambda w, u, v: w / u.dot(self.reshape_weight_to_matrix(w).mv(v)), weight, u, v)

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module, module.training))

    @staticmethod
    def apply(module: Module, name: str, n_power_iterations: int, dim: int, eps: float) -> SpectralNorm:
        """Divide a weight before each call. RuntimeError if that is done already."""
        if any(isinstance(hook, SpectralNorm) and hook.name == name for hook in module._forward_pre_hooks.values()):
            raise RuntimeError(f"Cannot register two spectral_norm hooks on the same parameter {name}")
        fn = SpectralNorm(name, n_power_iterations, dim, eps)
        weight = module._parameters.pop(name)
        if weight is None:
            raise ValueError(f"`SpectralNorm` cannot be applied as parameter `{name}` is None")
        rows, columns = fn.reshape_weight_to_matrix(weight.detach()).shape
        module.register_parameter(f"{name}_orig", weight)
        setattr(module, name, weight.detach())
        for part, n in (("u", rows), ("v", columns)):
            start = random.randn(n, dtype=weight.dtype, device=weight.device)
            module.register_buffer(f"{name}_{part}", F.normalize(start, dim=0, eps=eps))
        module.register_forward_pre_hook(fn)
        return fn

    def remove(self, module: Module) -> None:
        """Make the weight, as it is divided now, a parameter again."""
        with no_grad():
            weight = self.compute_weight(module, do_power_iteration=False)
        delattr(module, self.name)
        for part in ("u", "v", "orig"):
            delattr(module, f"{self.name}_{part}")
        module.register_parameter(self.name, Parameter(weight.detach()))


def spectral_norm(module: Module, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12,
                  dim: int | None = None) -> Module:  # fmt: skip
    """Divide a weight by its largest singular value before each call; it is the parameter ``weight_orig`` then.

    `nn.utils.parametrizations.spectral_norm` divides it whenever it is asked for; use that in new programs. ``dim``:
    which dim counts as the rows; 0 if None, and 1 of a transposed convolution.

    >>> layer = gw.nn.utils.spectral_norm(gw.nn.Linear(2, 2))
    >>> sorted(name for name, _ in layer.named_parameters())
    ['bias', 'weight_orig']
    """
    if dim is None:
        dim = int(any(cls.__name__.startswith("ConvTranspose") for cls in type(module).__mro__))
    SpectralNorm.apply(module, name, n_power_iterations, dim, eps)
    return module


def remove_spectral_norm(module: Module, name: str = "weight") -> Module:
    """Undo `spectral_norm`: the weight is a parameter again, as it is divided now. ValueError if there is none.

    >>> layer = gw.nn.utils.remove_spectral_norm(gw.nn.utils.spectral_norm(gw.nn.Linear(2, 2)))
    >>> sorted(name for name, _ in layer.named_parameters())
    ['bias', 'weight']
    """
    if not undone(module, lambda hook: isinstance(hook, SpectralNorm) and hook.name == name):
        raise ValueError(f"spectral_norm of '{name}' not found in {module}")
    return module
