"""A backward pass must be more than right: the same each time, linear, and content with missing gradients."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from gradwright.base.errors import GradcheckError, GradientWarning, size
from gradwright.engine.backward import walk
from gradwright.engine.base import wrap
from gradwright.engine.calls import grad
from gradwright.function.contract.surrogate import reasons
from gradwright.verify.experiments import Conditions
from gradwright.verify.gradcheck.settings import Settings
from gradwright.verify.numeric.draws import draw
from gradwright.verify.numeric.jacobian import Backward, Matrix, Subject, analytical, as_coordinates, pullback

_FEW = 4


def jacobians(subject: Subject, output: int, settings: Settings) -> Backward:
    """The Jacobians of an output by backward, found to be the same each time, of the right shapes and dtypes.

    PyTorch computes every row twice to see whether they are the same. A pass with a dense random cotangent goes
    through every row at once: of those, one is repeated at once, and one after all others.
    """
    array = subject.outputs[output].array
    first, second = draw(array, 1), draw(array, 2)
    dense = array.size > _FEW
    early = [alone(subject, output, v) for v in (first, second, second)] if dense else []
    found = analytical(subject, output)
    for x, seen, shape, name in zip(subject.varied, found.dtypes, found.misshapen, subject.names, strict=True):
        if shape is not None:
            raise GradcheckError(f"Analytical gradient has incorrect size: that of {name} is of shape {size(shape)}, "
                                 f"but {name} is of shape {size(x.array.shape)}")
        if settings.dtypes and seen - {x.array.dtype}:
            other = ", ".join(sorted(d.name for d in seen - {x.array.dtype}))
            raise GradcheckError(f"Gradient has dtype mismatch: that of {name} is of {other}, but {name} is of "
                                 f"{x.array.dtype.name}")
    if dense and not (_same(early[1], early[2], 0) and _same(early[0], alone(subject, output, first), 0)):
        _same_rows(subject, output, found, settings, surely=settings.nondet_tol == 0)
    elif not dense:
        _same_rows(subject, output, found, settings, surely=False)
    return found


def alone(subject: Subject, output: int, cotangent: Any) -> list[Matrix | None]:
    """The gradients of one output with this cotangent; the others take no part."""
    return pullback(subject, [cotangent if k == output else None for k in range(len(subject.outputs))])


def _same(a: Sequence[Any], b: Sequence[Any], tolerance: float) -> bool:
    for x, y in zip(a, b, strict=True):
        if x is None or y is None:
            x, y = (np.zeros(1) if z is None else z for z in (x, y))
        if x.shape != y.shape and 1 not in (x.size, y.size):
            return False
        if not (np.array_equal(x, y) or np.allclose(x, y, rtol=0, atol=tolerance, equal_nan=True)):
            return False
    return True


def _same_rows(subject: Subject, output: int, found: Backward, settings: Settings, surely: bool) -> None:
    again = analytical(subject, output).jacobians
    off = [np.max(np.abs(a - b), initial=0.0) for a, b in zip(found.jacobians, again, strict=True)]
    if not surely and _same(found.jacobians, again, settings.nondet_tol):
        return
    worst = int(np.argmax(off))
    by = f" (the gradient of {subject.names[worst]} by up to {off[worst]:.3g})" if off[worst] else ""
    raise GradcheckError("Backward is not reentrant, i.e., running backward with same input and grad_output multiple "
                         f"times gives different values{by}, although analytical gradient matches numerical gradient. "
                         f"The tolerance for nondeterminism was {settings.nondet_tol}.")


def check_linear(subject: Subject, found: Sequence[Backward], tried: Conditions, settings: Settings) -> None:
    """Backward must be linear in its cotangents: of dense ones it makes the sum of what it makes of their entries.

    The rows of the Jacobians are cotangents of a single 1, of which clipping, say, changes nothing.
    """
    flat = [v.reshape(-1) for v in tried.cotangents]
    outputs = "output 0" if len(flat) == 1 else "all outputs"
    for j, (x, name) in enumerate(zip(subject.varied, subject.names, strict=True)):
        pairs = [(f.jacobians[j], v) for f, v in zip(found, flat, strict=True)]
        want = sum((m @ np.conj(v)).real for m, v in pairs)
        g = tried.gradient(x)
        got = np.zeros_like(want) if g is None else as_coordinates(g).astype(np.float64)
        allowed = sum(settings.atol * np.abs(v).sum() + settings.rtol * (np.abs(m) @ np.abs(v)) for m, v in pairs)
        off = np.abs(got - want)
        if not (off <= allowed).all() and np.isfinite(want).all():
            k = int(np.argmax(np.nan_to_num(off - allowed, nan=np.inf)))
            raise GradcheckError(f"Backward is not linear in grad_output: for {outputs} and {name} it gives "
                                 f"{got[k]:.6g} for a grad_output of many entries up to "
                                 f"{max(np.abs(v).max(initial=0) for v in flat):.3g}, where the sum of what it gives "
                                 f"for each entry alone is {want[k]:.6g}. A derivative is linear; one that clips, "
                                 "rounds or normalises grad_output is not.")


def check_zero(subject: Subject, settings: Settings) -> None:
    """Of a cotangent of zeros backward must make zeros, of the right dtype and shape."""
    zeros = [wrap(np.zeros_like(o.array)) for o in subject.outputs]
    grads = grad(subject.outputs, subject.varied, zeros, retain_graph=True, allow_unused=True)
    for x, g, name in zip(subject.varied, grads, subject.names, strict=True):
        if g is None:
            continue
        if not (np.abs(g.array) <= (1e-8 if settings.masked else 0)).all():
            raise GradcheckError("backward not multiplied by grad_output: with a grad_output of zeros the gradient of "
                                 f"{name} is not zero")
        if g.array.dtype != x.array.dtype:
            raise GradcheckError(f"grad is incorrect type: that of {name} is {g.array.dtype.name}, not "
                                 f"{x.array.dtype.name}")
        if g.array.shape != x.array.shape:
            raise GradcheckError(f"grad is incorrect size: that of {name} is {size(g.array.shape)}, not "
                                 f"{size(x.array.shape)}")  # fmt: skip


def check_undefined(subject: Subject) -> None:
    """Outputs without a cotangent must count as outputs with one of zeros."""
    zeros = [np.zeros_like(o.array) for o in subject.outputs]
    for i, out in enumerate(subject.outputs):
        v = draw(out.array, i)
        without = [None if k == i else z for k, z in enumerate(zeros)]
        try:
            rest, one = pullback(subject, without), alone(subject, i, v)
        except (RuntimeError, TypeError, AttributeError, ValueError) as e:
            raise GradcheckError("Expected backward function to handle undefined output grads. With "
                                 "set_materialize_grads(False) a grad_output may be None; it raised "
                                 f"{type(e).__name__}: {e}") from e
        if any(g is not None and g.any() for g in rest):
            raise GradcheckError("Expected all input grads to be undefined or zero when all output grads are "
                                 f"undefined or zero. With None for output {i} and zeros for the others they are not.")
        full = pullback(subject, [v if k == i else z for k, z in enumerate(zeros)])
        for name, a, b in zip(subject.names, one, full, strict=True):
            x, y = (np.zeros(()) if g is None else as_coordinates(g) for g in (a, b))
            if not np.allclose(x, y, equal_nan=True):
                raise GradcheckError("Expected all input grads to be the same with an undefined output grad as with a "
                                     f"zero one: that of {name} is not, when only output {i} has a gradient")


# ---- gradients that are declared to be no derivatives ------------------------------------------------------


def surrogates(subject: Subject) -> dict[str, str]:
    """The nodes between inputs and outputs whose gradients are declared untrue, by name, with the reasons."""
    return reasons(walk([o._node for o in subject.outputs if o._node is not None]))


def check_surrogate(subject: Subject, settings: Settings, declared: dict[str, str]) -> None:
    """Raise GradcheckError for a shape, a dtype or a result that changes; warn that values were not compared."""
    before = [np.array(o.array) for o in subject.outputs]
    for i in range(len(before)):
        jacobians(subject, i, settings)
    if settings.undefined and len(before) > 1:
        check_undefined(subject)
    for i, (was, now) in enumerate(zip(before, subject.values(), strict=True)):
        if not np.allclose(was, now, rtol=0, atol=settings.nondet_tol, equal_nan=True):
            raise GradcheckError(f"the function is not deterministic: output {i} is another when it is run again")
    said = ", ".join(f"{name} ({reason})" for name, reason in declared.items())
    warnings.warn(f"SURROGATE: {said} is declared to be no derivative, so gradients were not compared with finite "
                  "differences", GradientWarning, stacklevel=4)
