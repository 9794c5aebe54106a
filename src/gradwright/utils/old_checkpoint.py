"""What programs that write their own checkpointing take from PyTorch's, and its choice of what to keep."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from gradwright.base.errors import kind
from gradwright.engine.base import TensorBase


def noop_context_fn() -> tuple[AbstractContextManager[Any], AbstractContextManager[Any]]:
    """Two contexts that do nothing: the default ``context_fn`` of `checkpoint`."""
    return nullcontext(), nullcontext()


class CheckpointPolicy(enum.Enum):
    """What to do with an operation's result: keep it or compute it again."""

    MUST_SAVE = 0
    PREFER_SAVE = 1
    MUST_RECOMPUTE = 2
    PREFER_RECOMPUTE = 3
    MUST_CPU_OFFLOAD = 4
    PREFER_CPU_OFFLOAD = 5


def create_selective_checkpoint_contexts(policy_fn_or_list: Any, allow_cache_entry_mutation: bool = False) -> Any:
    """Contexts for ``context_fn`` of `checkpoint`: everything is computed again here, whatever was to be kept.

    The numbers are the same; time is not saved where an operation was to keep its result. TypeError for what is neither
    a function nor a list of operations.
    """
    if not (callable(policy_fn_or_list) or isinstance(policy_fn_or_list, list)):
        raise TypeError("policy_fn_or_list must be either a function or a list of ops.")
    return noop_context_fn()


def detach_variable(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Each tensor of a tuple without its history, requiring grad as it does; what is no tensor as it is."""
    if not isinstance(inputs, tuple):
        raise RuntimeError(f"Only tuple of tensors is supported. Got Unsupported input type: {kind(inputs)}")
    out: list[Any] = []
    for value in inputs:
        x: Any = value
        if isinstance(value, TensorBase):
            x = value.detach()  # type: ignore[attr-defined]
            x.requires_grad = value.requires_grad
        out.append(x)
    return tuple(out)


def get_device_states(*args: Any) -> tuple[list[int], list[Any]]:
    """The states of the random numbers of CUDA devices: all numbers are drawn on the CPU, so there are none."""
    return [], []


def set_device_states(devices: Sequence[int], states: Sequence[Any], *, device_type: str | None = None) -> None:
    """Set the states that `get_device_states` has given."""
    if devices or states:
        raise RuntimeError("set_device_states(): random numbers are drawn on the CPU, but got states of "
                           f"{list(devices)}")  # fmt: skip
