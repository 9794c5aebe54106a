"""``torch.utils.flop_counter``: how many multiplications and additions products and convolutions take."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from typing import Any

from gradwright.engine.watch import Watch
from gradwright.function.contract.containers import arrays
from gradwright.nn.hooks import register_module_forward_hook, register_module_forward_pre_hook

__all__ = ["FlopCounterMode"]


def _linear(inputs: Sequence[Any], out: Any) -> int:
    return 2 * int(out.size) * int(inputs[-1].shape[-1])  # a bias stands first


def _matmul(inputs: Sequence[Any], out: Any) -> int:
    both = all(a.ndim > 1 for a in inputs)  # PyTorch does not count products with vectors
    return 2 * int(out.size) * int(inputs[0].shape[-1]) * both


def _conv(inputs: Sequence[Any], out: Any) -> int:
    return 2 * int(out.size) * math.prod(inputs[1].shape[1:])


def _conv_transpose(inputs: Sequence[Any], out: Any) -> int:
    return 2 * int(inputs[0].size) * math.prod(inputs[1].shape[1:])


def _einsum(inputs: Sequence[Any], out: Any) -> int:
    *operands, equation = inputs
    terms = equation.split("->")[0].split(",")
    if len(terms) < 2:
        return 0
    sizes: dict[str, int] = {}
    for term, a in zip(terms, operands, strict=True):
        sizes |= zip(term, a.shape, strict=True)
    return 2 * math.prod(sizes.values())


_COUNTS: dict[str, Callable[[Sequence[Any], Any], int]] = {
    "matmul": _matmul, "linear": _linear, "conv": _conv, "biased_conv": _conv, "conv_transpose": _conv_transpose,
    "einsum": _einsum,
}  # fmt: skip


class FlopCounterMode(Watch):
    """In a ``with`` block, count what products and convolutions take, forward and backward; nothing else is counted.

    A product (m, k) by (k, n) takes 2 m k n, and its backward as much again for each factor that needs a gradient.

    Args:
        mods, depth, custom_mapping: PyTorch's, without effect: counts are told of every module.
        display: print the counts at the end of the block.
    """

    def __init__(self, mods: Any = None, depth: int = 2, display: bool = True, custom_mapping: Any = None) -> None:
        self.display = display
        self.flop_counts: dict[str, Counter[str]] = defaultdict(Counter)
        self._path: list[str] = []
        self._names: dict[Any, str] = {}
        self._last: tuple[str, int, Sequence[bool]] = ("", 0, ())
        self._made: dict[Any, tuple[list[str], str, int]] = {}

    def __enter__(self) -> FlopCounterMode:
        super().__enter__()
        self._handles = (register_module_forward_pre_hook(self._enter),
                         register_module_forward_hook(self._leave, always_call=True))  # fmt: skip
        return self

    def __exit__(self, *exc: object) -> None:
        for handle in self._handles:
            handle.remove()
        super().__exit__(*exc)
        self._made.clear()
        if self.display:
            print(self.get_table())  # noqa: T201 - as PyTorch's does

    def _enter(self, module: Any, args: Any) -> None:
        if not self._path:
            root = type(module).__name__
            self._names = {m: f"{root}.{name}" if name else root for name, m in module.named_modules()}
        self._path.append(self._names.get(module, type(module).__name__))

    def _leave(self, module: Any, args: Any, output: Any) -> None:
        self._path.pop()

    def _add(self, path: Sequence[str], name: str, count: int) -> None:
        for module in {"Global": None} | dict.fromkeys(path):
            self.flop_counts[module][name] += count

    def compute(self, name: str, inputs: Sequence[Any], call: Callable[[], Any]) -> Any:
        result = call()
        count = _COUNTS[name](inputs, result) if name in _COUNTS else 0
        self._last = name, count, ()
        if count:
            factors = [a.ndim > 1 or name not in ("linear", "biased_conv") for a in arrays(inputs)]
            self._last = name, count, factors
            self._add(self._path, name, count)
        return result

    def recorded(self, node: Any) -> None:
        name, count, factors = self._last
        if count:
            wanted = sum(needed and factor for needed, factor in zip(node._edge_mask, factors, strict=False))
            self._made[node] = list(self._path), name + "_backward", count * wanted

    def run(self, node: Any, g: Any, call: Callable[[], Any]) -> Any:
        if node in self._made:
            self._add(*self._made[node])
        return call()

    def get_total_flops(self) -> int:
        """All of them."""
        return sum(self.flop_counts["Global"].values())

    def get_flop_counts(self) -> dict[str, dict[str, int]]:
        """By module, "Global" for all, and by operation."""
        return {module: dict(counts) for module, counts in self.flop_counts.items()}

    def get_table(self, depth: int | None = None) -> str:
        """A row for each module."""
        total = max(self.get_total_flops(), 1)
        rows = [(module, sum(counts.values())) for module, counts in self.flop_counts.items()]
        width = max(map(len, [*self.flop_counts, "Module"]))
        lines = [f"{module:<{width}}  {n:>16,}  {n / total:>7.2%}" for module, n in rows]
        return "\n".join([f"{'Module':<{width}}  {'FLOP':>16}  {'of all':>7}", *lines])
