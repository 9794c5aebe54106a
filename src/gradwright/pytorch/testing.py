"""``torch.testing``: whether values are close."""

from __future__ import annotations

import cmath
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gradwright.base import dtypes
from gradwright.engine.base import TensorBase
from gradwright.engine.grad_mode import no_grad
from gradwright.face import creation, random
from gradwright.face.functions.compare import isclose
from gradwright.face.functions.elementwise import abs as magnitude
from gradwright.face.sparse.tensor import SparseTensor
from gradwright.face.tensor import Tensor

if TYPE_CHECKING:
    from gradwright.face.typing import DeviceLike, DType, MemoryFormat, TensorLike

__all__ = ["assert_allclose", "assert_close", "make_tensor"]

_TOLERANCES = {"float16": (1e-3, 1e-5), "bfloat16": (1.6e-2, 1e-5), "float32": (1.3e-6, 1e-5), "float64": (1e-7, 1e-7),
               "complex64": (1.3e-6, 1e-5), "complex128": (1e-7, 1e-7)}  # fmt: skip
_NUMBERS = (bool, int, float, complex, np.number, np.bool_)
_OF: dict[type, dtypes.dtype] = {bool: dtypes.boolean, int: dtypes.int64, float: dtypes.float64,
                                 complex: dtypes.complex128}  # fmt: skip


class _Options(NamedTuple):
    """What `assert_close` was asked for."""

    rtol: float | None
    atol: float | None
    nan: bool
    subclasses: bool
    device: bool
    dtype: bool
    layout: bool
    stride: bool


def assert_close(actual: object, expected: object, *, allow_subclasses: bool = True, rtol: float | None = None,
                 atol: float | None = None, equal_nan: bool = False, check_device: bool = True,
                 check_dtype: bool = True, check_layout: bool = True, check_stride: bool = False,
                 msg: str | Callable[[str], str] | None = None) -> None:  # fmt: skip
    """AssertionError unless abs(actual - expected) <= atol + rtol abs(expected), entry by entry.

    Takes tensors, sparse ones too, arrays, numbers, None, and sequences and mappings of them. Without tolerances they
    follow from the dtypes, as in PyTorch: 1.3e-6 and 1e-5 for float32, 1e-7 and 1e-7 for float64, 0 for whole numbers.
    ``msg`` replaces the message, or makes it of what it would have been. ValueError for one tolerance without the
    other; TypeError for a pair that is not of one kind, such as a tensor and an array, or, without
    ``allow_subclasses``, a tensor and a Parameter.
    """
    if (rtol is None) != (atol is None):
        raise ValueError(f"rtol and atol must both be specified or both be unspecified, but got no "
                         f"{'rtol' if rtol is None else 'atol'}")  # fmt: skip
    asked = _Options(rtol, atol, equal_nan, allow_subclasses, check_device, check_dtype, check_layout, check_stride)
    wrong = _difference(actual, expected, asked, "")
    if wrong:
        raise AssertionError(msg(wrong) if callable(msg) else msg or wrong)


def _difference(a: Any, b: Any, asked: _Options, where: str) -> str:
    """What is wrong, or nothing."""
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        if a.keys() != b.keys():
            return f"The keys of the mappings do not match: {sorted(map(str, a.keys() ^ b.keys()))}{where}"
        pairs: Any = [(a[k], b[k], k) for k in b]
    elif _is_list(a) and _is_list(b):
        if len(a) != len(b):
            return f"The length of the sequences mismatch: {len(a)} != {len(b)}{where}"
        pairs = [(x, y, k) for k, (x, y) in enumerate(zip(a, b, strict=True))]
    else:
        wrong = _unlike(a, b, asked)
        return wrong and wrong + where
    found = (_difference(x, y, asked, f"{where or chr(10) + chr(10) + 'The failure occurred for item '}[{k!r}]")
             for x, y, k in pairs)  # fmt: skip
    return next((wrong for wrong in found if wrong), "")


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _unlike(a: Any, b: Any, asked: _Options) -> str:
    if a is None or b is None:
        return "" if a is b else f"None mismatch: {a!r} is not {b!r}"
    if isinstance(a, _NUMBERS) and isinstance(b, _NUMBERS):
        one, other = (v.item() if isinstance(v, np.generic) else v for v in (a, b))
        return _unlike_numbers(one, other, asked)
    sparse = isinstance(a, SparseTensor), isinstance(b, SparseTensor)
    if any(sparse) and all(isinstance(v, (TensorBase, SparseTensor)) for v in (a, b)):
        if asked.layout and not all(sparse):
            return f"The values for attribute 'layout' do not match: {a.layout} != {b.layout}."
        a, b = (v.to_dense() if is_sparse else v for v, is_sparse in zip((a, b), sparse, strict=True))
    related = isinstance(a, type(b)) or isinstance(b, type(a)) if asked.subclasses else type(a) is type(b)
    if not (related and isinstance(a, (TensorBase, np.ndarray))):
        raise TypeError(f"No comparison pair was able to handle inputs of type {type(a)} and {type(b)}.")
    with no_grad():
        x, y = (v.detach() if isinstance(v, Tensor) else creation.as_tensor(v) for v in (a, b))
        return _unlike_tensors(x, y, asked)


def _unlike_numbers(a: Any, b: Any, asked: _Options) -> str:
    if asked.dtype and type(a) is not type(b):
        return f"The (d)types do not match: {type(a)} != {type(b)}."
    if a == b or (asked.nan and cmath.isnan(a) and cmath.isnan(b)):
        return ""
    rtol, atol = _tolerances([_OF[type(a)], _OF[type(b)]], asked)
    gap = abs(a - b)
    if cmath.isfinite(gap) and gap <= atol + rtol * abs(b):
        return ""
    return (f"Scalars are not {'close' if rtol or atol else 'equal'}!\n\nExpected {b} but got {a}.\n"
            f"Absolute difference: {gap} (up to {atol} allowed; rtol is {rtol})")  # fmt: skip


def _unlike_tensors(x: Tensor, y: Tensor, asked: _Options) -> str:
    if x.shape != y.shape:
        return f"The values for attribute 'shape' do not match: {x.shape} != {y.shape}."
    if asked.device and x.device != y.device:
        return f"The values for attribute 'device' do not match: {x.device} != {y.device}."
    if asked.dtype and x.dtype is not y.dtype:
        return f"The values for attribute 'dtype' do not match: {x.dtype} != {y.dtype}."
    if asked.stride and x.stride() != y.stride():
        return f"The values for attribute 'stride()' do not match: {x.stride()} != {y.stride()}."
    rtol, atol = _tolerances([x.dtype, y.dtype], asked)
    if x.device != y.device:
        x, y = x.cpu(), y.cpu()
    common = dtypes.promote_types(x.dtype, y.dtype)
    x, y = x.to(common), y.to(common)
    close = isclose(x, y, rtol=rtol, atol=atol, equal_nan=asked.nan)
    if bool(close.all()):
        return ""
    bad = int((~close).sum())
    if common.is_floating_point or common.is_complex:
        worst: float = float(magnitude(x - y).double().max())
    else:
        worst = max(abs(m - n) for m, n in zip(x.flatten().tolist(), y.flatten().tolist(), strict=True))
    return (f"Tensor-likes are not {'close' if rtol or atol else 'equal'}!\n\nMismatched elements: {bad} / {x.numel()} "
            f"({bad / x.numel():.1%})\nGreatest absolute difference: {worst} (up to {atol} allowed; rtol is {rtol})")


def _tolerances(kinds: list[dtypes.dtype], asked: _Options) -> tuple[float, float]:
    """rtol and atol: those asked for, or the larger ones of the two dtypes."""
    if asked.rtol is not None and asked.atol is not None:
        return asked.rtol, asked.atol
    one, other = (_TOLERANCES.get(kind.name, (0.0, 0.0)) for kind in kinds)
    return max(one[0], other[0]), max(one[1], other[1])


def assert_allclose(actual: TensorLike, expected: TensorLike, rtol: float | None = None,
                    atol: float | None = None, equal_nan: bool = True,
                    msg: str = "") -> None:  # fmt: skip
    """`assert_close` of tensors of what is given, whatever the dtypes; the older name."""
    x, y = (creation.as_tensor(v) for v in (actual, expected))
    assert_close(x, y, rtol=rtol, atol=atol, equal_nan=equal_nan, check_dtype=False, msg=msg or None)


def make_tensor(*shape: Any, dtype: DType, device: DeviceLike = None, low: float | None = None,
                high: float | None = None, requires_grad: bool = False, noncontiguous: bool = False,
                exclude_zero: bool = False, memory_format: MemoryFormat | None = None) -> Tensor:  # fmt: skip
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
