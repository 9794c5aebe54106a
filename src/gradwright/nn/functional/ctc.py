"""Connectionist temporal classification: the loss of a sequence whose alignment to its input is unknown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradwright.base import dtypes
from gradwright.face.creation import arange, as_tensor, full
from gradwright.face.functions import elementwise as e
from gradwright.face.functions import reduce as _reduce
from gradwright.face.functions.activation import floating_arg
from gradwright.face.functions.join import cat, stack
from gradwright.face.functions.scatter import gather
from gradwright.face.reading.require import within
from gradwright.face.reading.torch import tensor_arg
from gradwright.face.tensor import Tensor
from gradwright.nn.functional.reduction import mode, reduced

__all__ = ["ctc_loss"]

_NEVER = -1e30  # the logarithm of a probability of 0, finite so that its gradient is


def ctc_loss(log_probs: Tensor, targets: Tensor, input_lengths: Tensor | Sequence[int],
             target_lengths: Tensor | Sequence[int], blank: int = 0, reduction: str = "mean",
             zero_infinity: bool = False) -> Tensor:  # fmt: skip
    """-log of the probability of a target sequence, summed over its alignments, for log-probabilities (t, n, classes).

    Targets are (n, longest), or (sum of lengths,); (t, classes) and (length,) are a batch of one without n. The mean is
    of losses divided by the lengths of their targets. A target too long for its input costs inf, or 0 with
    ``zero_infinity``. The gradient is that of the loss itself; PyTorch's supposes that a `log_softmax` comes before,
    after which the two are the same.

    Raises RuntimeError for lengths that do not fit, or a blank that is no class.

    >>> x = gw.full((3, 1, 2), 0.5).log()
    >>> gw.nn.functional.ctc_loss(x, gw.tensor([[1]]), [3], [1]).exp()
    tensor(1.3333)
    """
    how = mode(reduction)
    x, t = floating_arg("ctc_loss", log_probs, "log_probs"), tensor_arg("ctc_loss", targets, "targets", 2)
    single = x.array.ndim == 2
    x = x.unsqueeze(1) if single else x
    steps, batch, classes = x.array.shape
    lengths, sizes = (_lengths(n, x, batch) for n in (input_lengths, target_lengths))
    if not 0 <= blank < classes:
        raise RuntimeError(f"ctc_loss(): blank must be in label range, from 0 to {classes - 1}, but got {blank}")
    within(lengths.array, 0, steps, lambda _: (
        f"ctc_loss(): Expected input_lengths to have value at most {steps}, but got {lengths.tolist()}"))  # fmt: skip
    labels = _labels(t, sizes, batch, blank)
    within(labels.array, 0, classes - 1, lambda wrong: (
        f"ctc_loss(): Expected targets from 0 to {classes - 1}, but got {wrong}"))  # fmt: skip
    total = -_likelihood(x, labels, lengths, sizes, blank)
    missed = total.detach() > -0.1 * _NEVER
    losses = total * e.where(missed, 0.0 if zero_infinity else float("inf"), 1.0)
    if how == "mean":
        losses = losses / sizes.clamp(min=1)
    return losses.squeeze(0) if single and how == "none" else reduced(losses, how)


def _lengths(given: Any, x: Any, batch: int) -> Any:
    found = as_tensor(given, dtypes.int64, x.device).reshape(-1)
    if found.array.size != batch:
        raise RuntimeError(f"ctc_loss(): expected {batch} input_lengths and target_lengths, but got {found.array.size}")
    return found


def _labels(targets: Any, sizes: Any, batch: int, blank: int) -> Any:
    """The targets as (batch, longest), filled up with blanks. The longest is looked for: a shape depends on it."""
    held = sizes.tolist()
    if min(held, default=0) < 0:
        raise RuntimeError(f"ctc_loss(): Expected target_lengths to be at least 0, but got {held}")
    along = arange(max(held, default=0), device=sizes.device)
    longest, sizes = along.array.shape[0], sizes.reshape(batch, 1)
    if targets.array.ndim == 2 and targets.array.shape[0] == batch:
        if targets.array.shape[1] < longest:
            raise RuntimeError(f"ctc_loss(): Expected targets to hold {longest} labels, got {targets.array.shape[1]}")
        at = targets[:, :longest]
    else:
        flat = targets.reshape(-1)
        if flat.array.size < sum(held):
            raise RuntimeError(f"ctc_loss(): Expected targets to hold {sum(held)} labels, but got {flat.array.size}")
        where = sizes.cumsum(0) - sizes + along
        at = flat[where.clamp(max=max(flat.array.size - 1, 0))] if flat.array.size else flat.reshape(batch, 0)
    return at.masked_fill(along >= sizes, blank).to(dtypes.int64)


def _likelihood(x: Any, labels: Any, lengths: Any, sizes: Any, blank: int) -> Any:
    """log of the probability of each row of labels, by the forward recursion over time.

    A state is a place in the labels with a blank before, between and after them; from it the path stays, or moves on by
    one, or by two where that skips a blank between different labels.
    """
    batch, longest = labels.array.shape
    blanks = full((batch, longest + 1), blank, device=x.device)
    states = cat([stack([blanks[:, :-1], labels], 2).reshape(batch, 2 * longest), blanks[:, -1:]], 1)
    n = 2 * longest + 1
    never = full((batch, 2), _NEVER, dtype=x.dtype, device=x.device)
    skips = cat([never[:, :n] > 0, (states[:, 2:] != blank) & (states[:, 2:] != states[:, :-2])], 1)
    emitted = gather(x, 2, states.unsqueeze(0).expand(x.array.shape[0], batch, n)).clamp(min=_NEVER)
    alpha = e.where(arange(n, device=x.device) == 0, 0.0, never[:, :1])  # before time begins: at the first blank
    for step, emission in enumerate(emitted.unbind(0)):
        before = cat([never, alpha], 1)
        ways = stack([alpha, before[:, 1:-1], e.where(skips, before[:, :-2], _NEVER)])
        alpha = e.where((lengths > step).unsqueeze(1), _reduce.logsumexp(ways, 0) + emission, alpha)
    last = 2 * sizes.to(dtypes.int64).unsqueeze(1)
    ends = gather(alpha, 1, cat([last, (last - 1).clamp(min=0)], 1))
    ends = e.where(cat([last >= 0, last > 0], 1), ends, _NEVER)
    return _reduce.logsumexp(ends, 1)
