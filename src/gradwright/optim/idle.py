"""Steps of which there is little to say: without any gradient, which is hardly meant, and without CUDA graphs."""

from __future__ import annotations

from itertools import count
from typing import Any

from gradwright.engine.node import ticket
from gradwright.engine.strict import warn

_asked = count(1).__next__


def nodes_made() -> int:
    """How many nodes of graphs have been made until now."""
    return ticket() - _asked()


def warn_if_idle(optimizer: Any) -> None:
    """Warn, once for an optimiser, if none of its parameters has a gradient.

    Not if nothing at all has been recorded since it was made: then it is its schedule that is looked at.
    """
    for group in optimizer.param_groups:
        for p in group["params"]:
            if getattr(p, "_grad", None) is not None:
                return
    before, optimizer._nodes = optimizer._nodes, nodes_made()
    if "_idle" not in vars(optimizer) and optimizer._nodes > before:
        optimizer._idle = True
        warn(
            f"{type(optimizer).__name__}.step(): none of the parameters has a gradient, so nothing changes. Call "
            "loss.backward() before it, and zero_grad() not between the two; and see that the parameters are those "
            "that the loss was computed with (autograd.why_none(parameter, loss) says what cuts them off)."
        )


class Uncaptured:
    """What steps written after PyTorch's ask of CUDA graphs first."""

    def _cuda_graph_capture_health_check(self) -> None:
        """Nothing: no step is captured here."""
