"""Pruning: a parameter of a module multiplied by a mask of zeros and ones before each call.

``name`` becomes the parameter ``name_orig`` and the buffer ``name_mask``; the module's ``name`` is their product.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any

from gradwright.base.lazy import lazy
from gradwright.face import linalg, random
from gradwright.face.creation import ones_like
from gradwright.face.functions.join import cat
from gradwright.face.functions.order import topk
from gradwright.face.tensor import Tensor
from gradwright.nn.module import Module
from gradwright.nn.utils.hooked import computed, undone

__all__ = [
    "BasePruningMethod", "CustomFromMask", "Identity", "L1Unstructured", "LnStructured", "PruningContainer",
    "RandomStructured", "RandomUnstructured", "custom_from_mask", "global_unstructured", "identity", "is_pruned",
    "l1_unstructured", "ln_structured", "random_structured", "random_unstructured", "remove",
]  # fmt: skip

lazy(__name__)


class BasePruningMethod(ABC):
    """A way to choose what is pruned: `compute_mask`. Its instances are hooks before the calls of a module.

    >>> prune = gw.nn.utils.prune
    >>> class EveryOther(prune.BasePruningMethod):
    ...     PRUNING_TYPE = "unstructured"
    ...     def compute_mask(self, t, default_mask):
    ...         mask = default_mask.clone()
    ...         mask.view(-1)[::2] = 0
    ...         return mask
    >>> layer = gw.nn.Linear(4, 1)
    >>> _ = EveryOther.apply(layer, "weight")
    >>> layer.weight_mask
    tensor([[0., 1., 0., 1.]])
    """

    PRUNING_TYPE: str
    _tensor_name: str

    @abstractmethod
    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask for a tensor of which ``default_mask`` is pruned already."""

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self._tensor_name, self.apply_mask(module))

    def apply_mask(self, module: Module) -> Tensor:
        """The product of the parameter and its mask."""
        mask, original = (getattr(module, f"{self._tensor_name}_{part}") for part in ("mask", "orig"))
        return computed(lambda mask, original: mask.to(original.dtype) * original, mask, original)

    @classmethod
    def apply(cls, module: Module, name: str, *args: Any, importance_scores: Any = None, **kwargs: Any) -> Any:
        """Prune a parameter, further if it is pruned already; returns the method."""
        hooks = module._forward_pre_hooks
        old = [k for k, hook in hooks.items() if isinstance(hook, BasePruningMethod) and hook._tensor_name == name]
        method: Any = cls(*args, **kwargs)
        method._tensor_name = name
        if old:
            container = PruningContainer(hooks.pop(old[0]))
            container.add_pruning_method(method)
            method = container
        original = getattr(module, name)
        scores = original if importance_scores is None else importance_scores
        if scores.shape != original.shape:
            raise AssertionError(f"importance_scores should have the same shape as parameter {name} of {module}")
        if not old:
            parameter = module._parameters.pop(name)
            module.register_parameter(f"{name}_orig", parameter)
            default = ones_like(original)
        else:
            default = getattr(module, f"{name}_mask").detach().clone()
        mask = method.compute_mask(scores.detach(), default_mask=default)
        module.register_buffer(f"{name}_mask", mask)
        setattr(module, name, method.apply_mask(module))
        module.register_forward_pre_hook(method)
        return method

    def prune(self, t: Tensor, default_mask: Tensor | None = None, importance_scores: Tensor | None = None) -> Tensor:
        """A pruned version of a tensor."""
        scores = t if importance_scores is None else importance_scores
        return t * self.compute_mask(scores, default_mask=ones_like(t) if default_mask is None else default_mask)

    def remove(self, module: Module) -> None:
        """Make the pruned parameter an ordinary one; it stays pruned."""
        name = self._tensor_name
        weight = self.apply_mask(module)
        if name in vars(module):
            delattr(module, name)
        original: Any = module._parameters.pop(f"{name}_orig")
        original.data = weight.detach()
        del module._buffers[f"{name}_mask"]
        module.register_parameter(name, original)


class PruningContainer(BasePruningMethod):
    """Several methods, each of which prunes what the ones before it have left."""

    PRUNING_TYPE = "global"

    def __init__(self, *methods: Any) -> None:
        self._methods: list[Any] = []
        for method in methods:
            self.add_pruning_method(method)

    def add_pruning_method(self, method: Any) -> None:
        """Add a method for the same parameter; ValueError for another one, TypeError for what is none."""
        if not isinstance(method, BasePruningMethod):
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if self._methods and method._tensor_name != self._tensor_name:
            raise ValueError("Can only add pruning methods acting on the parameter named "
                             f"'{self._tensor_name}' to PruningContainer {self}. Found '{method._tensor_name}'")
        self._tensor_name = method._tensor_name
        self._methods += method._methods if isinstance(method, PruningContainer) else [method]

    def __len__(self) -> int:
        return len(self._methods)

    def __iter__(self) -> Any:
        return iter(self._methods)

    def __getitem__(self, index: Any) -> Any:
        return self._methods[index]

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The part not pruned yet that the last method leaves."""
        method, mask = self._methods[-1], default_mask.to(t.dtype)
        kept: Any = slice(None)
        if method.PRUNING_TYPE == "unstructured":
            kept = mask == 1
        elif method.PRUNING_TYPE == "structured":
            dim = method.dim % t.dim()
            alive = (mask.movedim(dim, 0).flatten(1).sum(1) != 0).nonzero().flatten()
            kept = (*[slice(None)] * dim, alive)
        mask[kept] = method.compute_mask(t[kept], default_mask=mask[kept])
        return mask


class Identity(BasePruningMethod):
    """Prunes nothing."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask there is."""
        return default_mask


class CustomFromMask(BasePruningMethod):
    """Prunes what a given mask has zeros for."""

    PRUNING_TYPE = "global"

    def __init__(self, mask: Tensor) -> None:
        self.mask = mask

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The product of both masks."""
        return default_mask * self.mask.to(dtype=default_mask.dtype)


def _number(amount: float, size: int) -> int:
    """How many: ``amount`` itself, or that fraction of ``size``. ValueError if it is no such number."""
    if isinstance(amount, bool) or not isinstance(amount, (int, float)):
        raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
    if amount < 0 or (isinstance(amount, float) and amount > 1):
        raise ValueError(f"amount={amount} should either be a float in the range [0, 1] or a non-negative integer")
    if isinstance(amount, int) and amount > size:
        raise ValueError(f"amount={amount} should be smaller than the number of parameters to prune={size}")
    return amount if isinstance(amount, int) else round(amount * size)


class _Amount(BasePruningMethod):
    def __init__(self, amount: float, dim: int = -1) -> None:
        _number(amount, 1 << 62)
        self.amount, self.dim = amount, dim


class RandomUnstructured(_Amount):
    """Prunes entries at random: so many, or that fraction of them."""

    PRUNING_TYPE = "unstructured"

    def __init__(self, amount: float) -> None:
        super().__init__(amount)

    def _scores(self, t: Any) -> Any:
        return -random.rand(t.numel(), dtype=t.dtype)  # PyTorch prunes the greatest of what it draws

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask without the entries of the least scores."""
        n, mask = _number(self.amount, t.numel()), default_mask.clone()
        if n:
            lowest = topk(self._scores(t), k=n, largest=False).indices
            flat = mask.reshape(-1)
            flat[lowest] = 0
            mask = flat.reshape(mask.shape)
        return mask


class L1Unstructured(RandomUnstructured):
    """Prunes the entries of least magnitude."""

    def _scores(self, t: Any) -> Any:
        return t.abs().reshape(-1)


class RandomStructured(_Amount):
    """Prunes slices along ``dim`` at random: so many, or that fraction of them."""

    PRUNING_TYPE = "structured"

    def _scores(self, t: Any) -> Any:
        return random.rand(t.shape[self.dim])

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask without the slices of the least scores."""
        if t.dim() < 2:
            raise ValueError("Structured pruning can only be applied to multidimensional tensors. Found tensor of "
                             f"shape {tuple(t.shape)} with {t.dim()} dims")  # fmt: skip
        n, mask = _number(self.amount, t.shape[self.dim]), default_mask.clone()
        if n:
            mask.movedim(self.dim, 0)[topk(self._scores(t), k=n, largest=False).indices] = 0
        return mask


class LnStructured(RandomStructured):
    """Prunes the slices along ``dim`` of least norm of order n."""

    def __init__(self, amount: float, n: float | str, dim: int = -1) -> None:
        super().__init__(amount, dim)
        self.n = n

    def _scores(self, t: Any) -> Any:
        return linalg.vector_norm(t.movedim(self.dim, 0).flatten(1), float(self.n), 1)


def identity(module: Module, name: str) -> Module:
    """Give a parameter a mask of ones: it becomes the buffer ``name`` = ``name_orig`` times ``name_mask``.

    >>> layer = gw.nn.utils.prune.identity(gw.nn.Linear(2, 1), "weight")
    >>> layer.weight_mask
    tensor([[1., 1.]])
    """
    Identity.apply(module, name)
    return module


def random_unstructured(module: Module, name: str, amount: float) -> Module:
    """Prune entries at random: ``amount`` of them, a number, or as a float from 0 to 1 that fraction.

    Returns the module. Raises ValueError for a negative number, a fraction outside [0, 1] or more entries than there
    are.

    >>> layer = gw.nn.utils.prune.random_unstructured(gw.nn.Linear(4, 2), "weight", amount=3)
    >>> int((layer.weight == 0).sum())
    3
    """
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(module: Module, name: str, amount: float, importance_scores: Tensor | None = None) -> Module:
    """Prune the entries of least magnitude, or of least importance; ``amount`` and errors as `random_unstructured`.

    >>> layer = gw.nn.Linear(4, 1)
    >>> _ = gw.nn.init.constant_(layer.weight, 1.0)
    >>> scores = gw.tensor([[4.0, 1.0, 3.0, 2.0]])
    >>> gw.nn.utils.prune.l1_unstructured(layer, "weight", 2, scores).weight_mask
    tensor([[1., 0., 1., 0.]])
    """
    L1Unstructured.apply(module, name, amount=amount, importance_scores=importance_scores)
    return module


def random_structured(module: Module, name: str, amount: float, dim: int) -> Module:
    """Prune slices along ``dim`` at random; ``amount`` as `random_unstructured`, of slices.

    >>> layer = gw.nn.utils.prune.random_structured(gw.nn.Linear(4, 2), "weight", amount=1, dim=0)
    >>> sorted(layer.weight_mask.sum(1).tolist())
    [0.0, 4.0]
    """
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(module: Module, name: str, amount: float, n: float | str, dim: int,
                  importance_scores: Tensor | None = None) -> Module:  # fmt: skip
    """Prune the slices along ``dim`` of least norm of order n, or importance.

    ``amount`` as `random_unstructured`, of slices.

    >>> layer = gw.nn.Linear(2, 2)
    >>> with gw.no_grad():
    ...     _ = layer.weight.copy_(gw.tensor([[3.0, 4.0], [0.0, 1.0]]))
    >>> gw.nn.utils.prune.ln_structured(layer, "weight", 1, n=2, dim=0).weight.detach()
    tensor([[3., 4.],
            [0., 0.]])
    """
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def custom_from_mask(module: Module, name: str, mask: Tensor) -> Module:
    """Prune what ``mask``, of the parameter's shape, has zeros for. Returns the module.

    >>> layer = gw.nn.utils.prune.custom_from_mask(gw.nn.Linear(2, 1), "bias", gw.zeros(1))
    >>> layer.bias.abs().detach()
    tensor([0.])
    """
    CustomFromMask.apply(module, name, mask)
    return module


def global_unstructured(parameters: Iterable[tuple[Module, str]], pruning_method: Any, importance_scores: Any = None,
                        **kwargs: Any) -> None:  # fmt: skip
    """Prune parameters of several modules as if they were one; ``parameters`` are pairs of a module and a name.

    >>> net = gw.nn.Sequential(gw.nn.Linear(4, 2), gw.nn.Linear(2, 1))
    >>> pairs = [(layer, "weight") for layer in net]
    >>> gw.nn.utils.prune.global_unstructured(pairs, gw.nn.utils.prune.L1Unstructured, amount=5)
    >>> sum(int((layer.weight == 0).sum()) for layer in net)
    5
    """
    pairs = list(parameters)
    scores = importance_scores or {}
    flat = cat([scores.get(pair, getattr(*pair)).detach().reshape(-1) for pair in pairs])
    masks = cat([getattr(m, f"{n}_mask", ones_like(getattr(m, n))).reshape(-1) for m, n in pairs])
    container = PruningContainer()
    container._tensor_name = "temp"
    method = pruning_method(**kwargs)
    method._tensor_name = "temp"
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(f'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. Found method '
                        f"{pruning_method} of type {method.PRUNING_TYPE}")  # fmt: skip
    container.add_pruning_method(method)
    found, start = container.compute_mask(flat, masks), 0
    for module, name in pairs:
        part = getattr(module, name)
        custom_from_mask(module, name, found[start : start + part.numel()].reshape(part.shape))
        start += part.numel()


def remove(module: Module, name: str) -> Module:
    """Make a pruned parameter an ordinary one, which stays pruned. ValueError if it is not pruned.

    >>> layer = gw.nn.utils.prune.random_unstructured(gw.nn.Linear(2, 1), "weight", 1)
    >>> sorted(name for name, _ in gw.nn.utils.prune.remove(layer, "weight").named_parameters())
    ['bias', 'weight']
    """
    if not undone(module, lambda hook: isinstance(hook, BasePruningMethod) and hook._tensor_name == name):
        raise ValueError(f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed")
    return module


def is_pruned(module: Module) -> bool:
    """Whether a parameter of a module, or of one in it, is pruned.

    >>> layer = gw.nn.Linear(2, 1)
    >>> gw.nn.utils.prune.is_pruned(layer), gw.nn.utils.prune.is_pruned(gw.nn.utils.prune.identity(layer, "bias"))
    (False, True)
    """
    return any(isinstance(h, BasePruningMethod) for m in module.modules() for h in m._forward_pre_hooks.values())
