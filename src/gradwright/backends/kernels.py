"""Whether formulas run by the kernels that were built of them, or by NumPy."""

from __future__ import annotations

from typing import Any

from gradwright.native import core


class kernels:
    """By what softmax, normalisations and their like are computed, from now on, or within a ``with`` block.

    "native" is what there is at first: kernels in C, which were made of the formulas when the package was built, as
    far as there are some and the arrays are such as they take. Their sums may be rounded otherwise than NumPy's, with
    an error that is larger by less than a unit in the last place; they are the same at every run and for any number of
    threads. "numpy" is the formulas by NumPy, to the bit. It holds for all threads. Without kernels (``gradwright
    --version`` says whether there is a core) both are the same.

    Raises ValueError for any other name.

    >>> with gw.kernels("numpy"):
    ...     gw.tensor([0.0, 0.0]).softmax(0)
    tensor([0.5000, 0.5000])
    """

    def __init__(self, by: str) -> None:
        if by not in ("native", "numpy"):
            raise ValueError(f'kernels(): expected "native" or "numpy", but got {by!r}')
        self._before = by == "native" if core is None else core.use_kernels(by == "native")

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: Any) -> None:
        if core is not None:
            core.use_kernels(self._before)
