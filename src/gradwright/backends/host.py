"""What other libraries have NumPy do: functions that the array API standard lacks, and that no short formula gives.

Of linear algebra these are `LINEAR_ALGEBRA`; of the special functions all are, which are SciPy's. Arrays are taken to
host memory, and results back: they are of the library, the dtypes and the device of the arguments. A library that has
such a function itself puts it in the place of this one, in its backend module.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradwright.backends import to_host

LINEAR_ALGEBRA = (
    "eig", "eigvals", "geqrf", "indefinite_minor", "ldl_factor", "ldl_solve", "lu_factor", "unpivoted", "zero_pivot",
)  # fmt: skip


def on_host(xp: Any, f: Callable[..., Any]) -> Callable[..., Any]:
    """``f``, a function of NumPy arrays, for those of the library ``xp``."""

    def call(*args: Any, **static: Any) -> Any:
        device = next(a.device for a in args if hasattr(a, "device"))
        out = f(*(to_host(a) if hasattr(a, "device") else a for a in args), **static)
        back = [xp.asarray(y, device=device) for y in (out if isinstance(out, tuple) else (out,))]
        return tuple(back) if isinstance(out, tuple) else back[0]

    return call


class Hosted:
    """The functions of ``source``, which take NumPy arrays, for those of the library ``xp``."""

    def __init__(self, xp: Any, source: Any) -> None:
        self._xp, self._source = xp, source

    def __getattr__(self, name: str) -> Any:
        call = on_host(self._xp, getattr(self._source, name))
        setattr(self, name, call)
        return call
