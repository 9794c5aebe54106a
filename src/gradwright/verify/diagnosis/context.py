"""What hypotheses are fitted with: the residuals of all inputs, the probes, and the numbers and tensors at hand."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradwright import backends
from gradwright.base import dtypes
from gradwright.base.cpython.forks import cached_property
from gradwright.engine.base import TensorBase
from gradwright.verify.diagnosis.case import Case
from gradwright.verify.diagnosis.probes import Probes
from gradwright.verify.diagnosis.residual import Residual
from gradwright.verify.numeric.jacobian import named

_NUMBER = (int, float, np.integer, np.floating)
_POWERS: tuple[tuple[str, Callable[[float], float]], ...] = (
    ("{}", lambda k: k),
    ("1 / {}", lambda k: 1 / k),
    ("{} ** 2", lambda k: k * k),
    ("1 / {} ** 2", lambda k: k**-2),
    ("sqrt({})", math.sqrt),
    ("1 / sqrt({})", lambda k: 1 / math.sqrt(k)),
)


@dataclass(frozen=True, eq=False)
class Context:
    """All that is known of a case.

    Attributes:
        case, residuals, probes: see there.
        order: of the derivative: 1 or 2.
        first: of order 2, the case whose gradient is looked at.
    """

    case: Case
    residuals: Sequence[Residual]
    probes: Probes
    order: int = 1
    first: Case | None = None

    @cached_property
    def kept(self) -> dict[str, Any]:
        """The values forward left on ctx: attributes by ``ctx.name``, saved tensors by ``ctx.saved_tensors[0]``."""
        return on_ctx(self.case.node)

    @cached_property
    def numbers(self) -> list[tuple[str, float]]:
        """Every number that a wrong factor might be, with a name: those of the user first, sizes last."""
        found: list[tuple[str, float]] = []
        outputs = ((c.name, t) for c, t in zip(self.case.columns, self.case.outputs, strict=True))
        values = [*zip(self.case.arguments, self.case.inputs, strict=True), *self.kept.items(), *outputs]
        for name, value in values:
            if isinstance(value, TensorBase) and value.array.size == 1 and dtypes.kind(value.array.dtype) in "iuf":
                value = backends.to_host(value.array).item()
            if isinstance(value, _NUMBER) and not isinstance(value, bool):
                found.append((f"`{name}`", float(value)))
        function = self.case.function
        for part in ("forward", "backward") if function is not None else ():
            found += [(f"the {k} in {part}", float(k)) for k in _constants(getattr(function, part))]
        sides = [*((r.name, r.input) for r in self.residuals), *((o.name, o) for o in self.case.columns)]
        for name, shape in ((name, part.full) for name, part in sides):
            found.append((f"the number of entries of `{name}`", float(math.prod(shape))))
            found += [(f"the size of dimension {d} of `{name}`", float(n)) for d, n in enumerate(shape)]
        return [(n, v) for n, v in found if math.isfinite(v) and v not in (0.0, 1.0)]

    def named(self, factor: float, rough: float) -> tuple[str, bool, bool] | None:
        """What number ``factor`` is, up to its sign: its name, whether as a divisor, and whether it is a size."""
        for form, power in _POWERS:
            for name, value in self.numbers:
                if value != 0 and (value > 0 or "sqrt" not in form):
                    k = power(value)
                    if abs(abs(factor) - abs(k)) <= rough * abs(k):
                        is_size = form in ("{}", "1 / {}") and name.startswith("the ") and " of " in name
                        return form.format(name), form.startswith("1 /"), is_size
        return None

    @cached_property
    def tensors(self) -> list[tuple[str, Any]]:
        """The real tensors that a factor or term may be made of: inputs, outputs, what is on ctx; each value once."""
        found: list[tuple[str, Any]] = []
        for name, value in zip(self.case.arguments, self.case.inputs, strict=True):
            found += [(n, t.array) for n, t in named(value, name)]
        found += [(c.name, t.array) for c, t in zip(self.case.columns, self.case.outputs, strict=True)]
        found += [(n, v.array if isinstance(v, TensorBase) else v) for n, v in self.kept.items()
                  if isinstance(v, (TensorBase, np.ndarray))]  # fmt: skip
        unique: list[tuple[str, Any]] = []
        for name, array in found:
            array = self.case.grid.cut(np.asarray(backends.to_host(array)))
            known = any(a.shape == array.shape and np.array_equal(a, array) for _, a in unique)
            if array.dtype.kind == "f" and array.size > 1 and not known:
                unique.append((name, array.astype(np.float64)))
        return unique


def on_ctx(node: Any) -> dict[str, Any]:
    """The values forward left on a ctx."""
    if node is None:
        return {}
    found = {}
    for name in (*vars(node), *getattr(node, "_attributes", ())):
        with suppress(RuntimeError):  # changed in place since
            found[f"ctx.{name}"] = getattr(node, name)
    with suppress(RuntimeError):  # freed, or changed
        found |= {f"ctx.saved_tensors[{k}]": t for k, t in enumerate(node.saved_tensors) if t is not None}
    return found


def _constants(function: Any) -> Iterator[float]:
    """The numbers in its source; -1, -2 and so on are numbers of dimensions."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    for k in code.co_consts if code is not None else ():
        if isinstance(k, float) or (type(k) is int and k > 1):
            yield k
