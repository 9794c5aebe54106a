"""``torch.autograd.profiler``: the older names of `gradwright.profiler`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from gradwright.debug.profiler import Event, record_function
from gradwright.debug.profiler import profile as _profile

__all__ = ["emit_itt", "emit_nvtx", "profile", "record_function"]


class profile(_profile):
    """`gradwright.profiler.profile`, which records nothing if not ``enabled``; other arguments make no difference."""

    def __init__(self, enabled: bool = True, **unused: Any) -> None:
        super().__init__()
        self.enabled = enabled

    def __enter__(self) -> profile:
        return super().__enter__() if self.enabled else self  # type: ignore[return-value]

    def __exit__(self, *exc: object) -> None:
        if self.enabled:
            super().__exit__(*exc)

    @property
    def function_events(self) -> list[Event]:
        """What ran."""
        return self.events()


@contextmanager
def _emit(enabled: bool = True, record_shapes: bool = False) -> Iterator[None]:
    """Nothing: marks for tools that look at CUDA devices are not made."""
    yield


emit_nvtx = emit_itt = _emit
