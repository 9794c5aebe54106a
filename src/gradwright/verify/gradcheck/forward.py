"""What forward mode says of a function at a point, and what it must be besides right: linear, in batches, too."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradwright import backends
from gradwright.base.errors import GradcheckError, size
from gradwright.engine.base import wrap
from gradwright.engine.calls import grad
from gradwright.transform.forward_ad import dual_level, make_dual, unpack_dual
from gradwright.transform.vmap import vmap
from gradwright.verify.gradcheck.settings import Settings
from gradwright.verify.numeric.budget import Picked
from gradwright.verify.numeric.draws import draw
from gradwright.verify.numeric.jacobian import Backward, Matrix, Subject, coordinates, exchanged, tensors


def tangents(subject: Subject, moving: Sequence[Any]) -> list[Any]:
    """The tangents of the outputs, as tensors, when the varied inputs move so; None for what does not move.

    Raises GradcheckError for one that has not the shape of its output.
    """
    with dual_level():
        moves = {id(x): t for x, t in zip(subject.varied, moving, strict=True)}
        given = exchanged(subject.inputs, lambda x: x if (t := moves.get(id(x))) is None else make_dual(x, t))
        returned = tensors(subject.func(*given))
        return [unpack_dual(returned[i]).tangent for i in subject.which]


def jacobians(subject: Subject, settings: Settings, picked: Picked | None = None) -> list[Backward]:
    """The Jacobians of all outputs, a coordinate of an input at a time.

    With ``picked``, of those entries and coordinates alone.
    """
    columns = [None] * len(subject.outputs) if picked is None else picked.columns
    rows = [None] * len(subject.varied) if picked is None else picked.rows
    found: list[Backward] = [Backward([], [], []) for _ in subject.outputs]
    for j, x in enumerate(subject.varied):
        chosen = range(coordinates(x)) if rows[j] is None else rows[j]
        slopes = [tangents(subject, [wrap(one) if k == j else None for k in range(len(subject.varied))])
                  for one in _ones(x, chosen)]  # fmt: skip
        for i, (back, out) in enumerate(zip(found, subject.outputs, strict=True)):
            entries = [_entries(row[i], out, settings, i) for row in slopes]
            matrix = np.array(entries).reshape(len(entries), out.array.size)
            back.jacobians.append(matrix if columns[i] is None else matrix[:, columns[i]])
    if picked is None:
        _check_linear(subject, found, settings)
    return found


def _ones(x: Any, chosen: Any) -> Any:
    """For each coordinate, the direction in which it alone moves."""
    n = x.array.size
    for k in chosen:
        one = np.zeros(n, x.array.dtype)
        one[k % n] = 1 if k < n else 1j
        yield one.reshape(x.array.shape)


def _entries(t: Any, out: Any, settings: Settings, i: int) -> Matrix:
    wide = np.complex128 if out.array.dtype.kind == "c" else np.float64
    if t is None:
        return np.zeros(out.array.size, wide)
    if t.array.shape != out.array.shape:
        raise GradcheckError(f"Forward-mode tangent has incorrect size: that of output {i} is of shape "
                             f"{size(t.array.shape)}, but output {i} is of shape {size(out.array.shape)}")  # fmt: skip
    if settings.dtypes and t.array.dtype != out.array.dtype:
        raise GradcheckError(f"Gradient has dtype mismatch: the tangent of output {i} is of {t.array.dtype.name}, but "
                             f"output {i} is of {out.array.dtype.name}")  # fmt: skip
    return np.asarray(backends.to_host(t.detach().array)).reshape(-1).astype(wide)


def _check_linear(subject: Subject, found: Sequence[Backward], settings: Settings) -> None:
    """Forward mode must be linear: all inputs that move at once give the sum of what each entry gives."""
    vs = [draw(x.array, k) for k, x in enumerate(subject.varied)]
    together = tangents(subject, [wrap(np.asarray(v).astype(x.array.dtype))
                                  for v, x in zip(vs, subject.varied, strict=True)])  # fmt: skip
    flat = [np.concatenate((f.real, f.imag)) if f.dtype.kind == "c" else f for f in (v.reshape(-1) for v in vs)]
    for i, (t, out, back) in enumerate(zip(together, subject.outputs, found, strict=True)):
        want = sum(v @ m for v, m in zip(flat, back.jacobians, strict=True))
        allowed = sum(settings.atol * np.abs(v).sum() + settings.rtol * (np.abs(v) @ np.abs(m))
                      for v, m in zip(flat, back.jacobians, strict=True))  # fmt: skip
        off = np.abs(_entries(t, out, settings, i) - want)
        if not (off <= allowed).all() and np.isfinite(want).all():
            raise GradcheckError(f"Forward mode is not linear in the tangents: of output {i} it gives what is off by "
                                 f"up to {np.nanmax(off):.3g} from the sum of what each entry of the inputs gives "
                                 "alone. A derivative is linear; one that clips, or that misses a tangent where "
                                 "several inputs move, is not.")


# ---- in batches ------------------------------------------------------------------------------------------------

_FORWARD = (
    "gradcheck failed while testing batched gradient computation with forward-mode AD: vmap over tangents gives "
    "something else than one after another. check_batched_forward_grad=False leaves that out."
)
_BACKWARD = (
    "gradcheck or gradgradcheck failed while testing batched gradient computation: vmap over backward gives something "
    "else than one cotangent after another. check_batched_grad=False leaves that out."
)


def check_batched_forward(subject: Subject, settings: Settings) -> None:
    """Tangents in a batch must be those of one after another."""
    for j, x in enumerate(subject.varied):

        def pushed(v: Any, j: int = j) -> tuple[Any, ...]:
            given = tangents(subject, [v if k == j else None for k in range(len(subject.varied))])
            return tuple([wrap(np.zeros_like(o.array)) if t is None else t
                          for t, o in zip(given, subject.outputs, strict=True)])  # fmt: skip

        _same_in_batches(pushed, x, settings, lambda i, j=j: f"For output {i} and input {j}", _FORWARD)


def check_batched_backward(subject: Subject, settings: Settings) -> None:
    """Gradients for a batch of cotangents must be those for one after another."""
    for i, out in enumerate(subject.outputs):

        def pulled(v: Any, out: Any = out) -> tuple[Any, ...]:
            found = grad(out, subject.varied, v, retain_graph=True, allow_unused=True)
            return tuple([wrap(np.zeros_like(x.array)) if g is None else g
                          for g, x in zip(found, subject.varied, strict=True)])  # fmt: skip

        _same_in_batches(pulled, out, settings, lambda j, i=i: f"For output {i} and input {j}", _BACKWARD)


def _same_in_batches(f: Callable[[Any], tuple[Any, ...]], like: Any, settings: Settings,
                     where: Callable[..., str], message: str) -> None:  # fmt: skip
    vs = [wrap(np.asarray(draw(like.array, k)).astype(like.array.dtype)) for k in (1, 2)]
    singly = [f(v) for v in vs]
    try:
        batch = vmap(f)(wrap(np.stack([v.array for v in vs])))
    except RuntimeError as e:
        raise GradcheckError(f"While computing batched gradients, got: {e}\n\n{message}") from e
    for k, (found, *rows) in enumerate(zip(batch, *singly, strict=True)):
        got, due = (_values(t) for t in (found, rows))
        if not np.allclose(got, due, settings.rtol, settings.atol, equal_nan=True):
            raise GradcheckError(f"{where(k)}:\n\n{message}\n\nGot:\n{wrap(got)}\n\nExpected:\n{wrap(due)}")


def _values(t: Any) -> Any:
    return np.asarray(t.detach().array) if hasattr(t, "detach") else np.stack([_values(one) for one in t])
