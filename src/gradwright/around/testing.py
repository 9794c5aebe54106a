"""``torch.testing``: whether values are close."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gradwright import creation, dtypes, random
from gradwright.engine.base import TensorBase
from gradwright.engine.grad_mode import no_grad
from gradwright.face.compare import isclose
from gradwright.face.elementwise import abs as magnitude
from gradwright.tensor import Tensor

__all__ = ["assert_allclose", "assert_close", "make_tensor"]

_TOLERANCES = {"float16": (1e-3, 1e-5), "bfloat16": (1.6e-2, 1e-5), "float32": (1.3e-6, 1e-5), "float64": (1e-7, 1e-7),
               "complex64": (1.3e-6, 1e-5), "complex128": (1e-7, 1e-7)}  # fmt: skip


def assert_close(actual: Any, expected: Any, *, allow_subclasses: bool = True, rtol: float | None = None,
                 atol: float | None = None, equal_nan: bool = False, check_device: bool = True,
                 check_dtype: bool = True, check_layout: bool = True, check_stride: bool = False,
                 msg: Any = None) -> None:  # fmt: skip
    """AssertionError unless abs(actual - expected) <= atol + rtol abs(expected), entry by entry.

    Takes tensors, arrays, numbers, and sequences and mappings of them. Without tolerances they follow from the dtypes,
    as in PyTorch: 1.3e-6 and 1e-5 for float32, 1e-7 and 1e-7 for float64, 0 for whole numbers. ``msg`` replaces the
    message, or makes it of what it would have been. ValueError for one tolerance without the other.
    """
    if (rtol is None) != (atol is None):
        raise ValueError(f"rtol and atol must both be specified or both be unspecified, but got no "
                         f"{'rtol' if rtol is None else 'atol'}")  # fmt: skip
    wrong = _difference(actual, expected, rtol, atol, equal_nan, check_dtype, check_stride, "")
    if wrong:
        raise AssertionError(msg(wrong) if callable(msg) else msg or wrong)


def _difference(a: Any, b: Any, rtol: Any, atol: Any, nan: bool, dtype: bool, stride: bool, where: str) -> str:
    """What is wrong, or nothing."""
    rest = (rtol, atol, nan, dtype, stride)
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        if a.keys() != b.keys():
            return f"The keys of the mappings do not match: {sorted(map(str, a.keys() ^ b.keys()))}{where}"
        pairs: Any = [(a[k], b[k], k) for k in b]
    elif _is_list(a) and _is_list(b):
        if len(a) != len(b):
            return f"The length of the sequences mismatch: {len(a)} != {len(b)}{where}"
        pairs = [(x, y, k) for k, (x, y) in enumerate(zip(a, b, strict=True))]
    else:
        return _unlike(a, b, *rest, where)
    found = (_difference(x, y, *rest, f"{where or chr(10) + chr(10) + 'The failure occurred for item '}[{k!r}]")
             for x, y, k in pairs)  # fmt: skip
    return next((wrong for wrong in found if wrong), "")


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _unlike(a: Any, b: Any, rtol: Any, atol: Any, nan: bool, dtype: bool, stride: bool, where: str) -> str:
    numbers = not isinstance(a, (TensorBase, np.ndarray)) and not isinstance(b, (TensorBase, np.ndarray))
    if a is None or b is None or isinstance(a, str) or isinstance(b, str):
        return "" if a == b else f"{a!r} is not {b!r}{where}"
    with no_grad():
        x, y = (v.detach() if isinstance(v, Tensor) else creation.as_tensor(v, dtype=_wide(v)) for v in (a, b))
        if x.shape != y.shape:
            return f"The values for attribute 'shape' do not match: {x.shape} != {y.shape}.{where}"
        if dtype and not numbers and x.dtype is not y.dtype:
            return f"The values for attribute 'dtype' do not match: {x.dtype} != {y.dtype}.{where}"
        if stride and x.stride() != y.stride():
            return f"The values for attribute 'stride()' do not match: {x.stride()} != {y.stride()}.{where}"
        if rtol is None:
            found = [_TOLERANCES.get(v.dtype.name, (0.0, 0.0)) for v in (x, y)]
            rtol, atol = (max(pair) for pair in zip(*found, strict=True))
        common = dtypes.promote_types(x.dtype, y.dtype)
        if not (common.is_floating_point or common.is_complex):
            common = dtypes.float64 if rtol or atol else dtypes.int64
        x, y = x.to(common), y.to(common)
        close = isclose(x, y, rtol=rtol, atol=atol, equal_nan=nan)
        if bool(close.all()):
            return ""
        bad, gap = int((~close).sum()), magnitude(x - y)
        worst = float(gap.double().max())
        kind = "Scalars" if numbers else "Tensor-likes"
        return (f"{kind} are not {'close' if rtol or atol else 'equal'}!\n\nMismatched elements: {bad} / {x.numel()} "
                f"({bad / x.numel():.1%})\nGreatest absolute difference: {worst} (up to {atol} allowed; "
                f"rtol is {rtol}){where}")  # fmt: skip


def _wide(value: Any) -> Any:
    """The dtype of a Python number: double."""
    if isinstance(value, np.ndarray):
        return None
    return {bool: dtypes.boolean, int: dtypes.int64, complex: dtypes.complex128}.get(type(value), dtypes.float64)


def assert_allclose(actual: Any, expected: Any, rtol: Any = None, atol: Any = None, equal_nan: bool = True,
                    msg: str = "") -> None:  # fmt: skip
    """`assert_close` of values of whatever dtypes; the older name."""
    assert_close(actual, expected, rtol=rtol, atol=atol, equal_nan=equal_nan, check_dtype=False, msg=msg or None)


def make_tensor(*shape: Any, dtype: Any, device: Any = None, low: Any = None, high: Any = None,
                requires_grad: bool = False, noncontiguous: bool = False, exclude_zero: bool = False,
                memory_format: Any = None) -> Tensor:  # fmt: skip
    """Random numbers of this dtype between ``low`` and ``high``, by default from -9 to 9 (of bool, 0 and 1)."""
    size = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
    kind = dtypes.of(dtype)
    if low is None:
        low = 0 if kind is dtypes.boolean or not kind.is_signed else -9
    high = (2 if kind is dtypes.boolean else 10 if kind.category == dtypes.INT else 9) if high is None else high
    if kind.category < dtypes.FLOAT:
        out = random.randint(int(low), int(high), size).to(kind)
    else:
        out = low + (high - low) * random.rand(size, dtype=kind)
    if exclude_zero:
        out = out.masked_fill(out == 0, 1)
    if noncontiguous and out.dim():
        out = out.repeat_interleave(2, -1)[..., ::2]
    return out.to(memory_format=memory_format).detach().requires_grad_(requires_grad) if memory_format else (
        out.detach().requires_grad_(requires_grad)
    )
