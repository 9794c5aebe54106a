"""``torch.Stream`` and ``torch.Event`` on the CPU, where each operation has ended when its call returns."""

from __future__ import annotations

from typing import Any, Self

from gradwright.backends.devices import place

__all__ = ["Event", "Stream", "get_rng_state_all", "set_rng_state_all"]


def get_rng_state_all() -> list[Any]:
    """The states of random numbers on CUDA devices: none, as all are drawn on the host."""
    return []


def set_rng_state_all(new_states: Any) -> None:
    """Nothing: see `get_rng_state_all`."""


class Event:
    """A mark in a stream. On the CPU nothing is marked: it has always happened, and to record one is refused."""

    def __init__(self, device: Any = None, *, enable_timing: bool = False, blocking: bool = False,
                 interprocess: bool = False) -> None:  # fmt: skip
        self.device = place("cpu" if device is None else device)

    def record(self, stream: Any = None) -> None:
        """RuntimeError, as in PyTorch."""
        raise RuntimeError(f"{self.device.type} backend doesn't support events: take time.perf_counter() to time work")

    def elapsed_time(self, end_event: Any) -> float:
        """RuntimeError, as in PyTorch: neither was recorded."""
        raise RuntimeError(f"{self.device.type} backend doesn't support elapsedTime: take time.perf_counter()")

    def query(self) -> bool:
        """Whether all that came before it has ended: yes."""
        return True

    def wait(self, stream: Any = None) -> None:
        """Nothing to wait for."""

    def synchronize(self) -> None:
        """Nothing to wait for."""

    def __repr__(self) -> str:
        return f"torch.Event device_type={self.device.type}, device_index=-1, event_flag=0, event_id=0"


class Stream:
    """A queue of operations. On the CPU there is none: each has ended when its call returns."""

    stream_id = 0

    def __init__(self, device: Any = None, *, priority: int = 0) -> None:
        self.device = place("cpu" if device is None else device)

    def query(self) -> bool:
        """Whether all in it has ended: yes."""
        return True

    def synchronize(self) -> None:
        """Nothing to wait for."""

    def wait_event(self, event: Any) -> None:
        """Nothing to wait for."""

    def wait_stream(self, stream: Any) -> None:
        """Nothing to wait for."""

    def record_event(self, event: Any = None) -> None:
        """RuntimeError, as of `Event.record`."""
        (Event(self.device) if event is None else event).record(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing to leave."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and other.device == self.device

    def __hash__(self) -> int:
        return hash(self.device)

    def __repr__(self) -> str:
        return f"torch.Stream device_type={self.device.type}, device_index=-1, stream_id=0"
