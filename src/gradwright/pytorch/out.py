"""``out=``: functions that write their results into tensors that are given, where PyTorch's take it."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from typing import Any

from gradwright.base import dtypes
from gradwright.base.cpython.frames import ASKING
from gradwright.base.errors import kind, size
from gradwright.base.source_line import warn
from gradwright.engine.base import TensorBase
from gradwright.engine.grad_mode import no_grad
from gradwright.engine.mode import is_grad_enabled
from gradwright.face.reading.torch import by_own_names, other_names

COMPUTED_IN = frozenset((
    "arange", "empty", "eye", "full", "linspace", "logspace", "ones", "rand", "randint", "randn", "randperm", "range",
    "zeros", "fftfreq", "rfftfreq", "cumprod", "cumsum", "mean", "nanmean", "nansum", "prod", "sum",
))  # fmt: skip
"""Functions that compute in the dtype of ``out``."""

EXACT = frozenset((
    "addbmm", "addmm", "addmv", "baddbmm", "bmm", "chain_matmul", "cross", "dot", "inner", "matmul", "mm", "multi_dot",
    "mv", "tensordot", "vdot", "vecdot",
    "cholesky", "det", "eigvalsh", "inv", "inverse", "matrix_norm", "matrix_power", "norm", "solve",
    "solve_triangular", "svdvals", "vector_norm",
    "all", "amax", "amin", "any", "argmax", "argmin", "bucketize", "histc", "isin", "log_softmax", "logcumsumexp",
    "msort", "multinomial", "nanquantile", "nonzero", "quantile", "searchsorted", "softmax",
    "abs", "absolute", "ceil", "complex", "conj_physical", "diag", "fix", "floor", "frac", "hardshrink", "heaviside",
    "isneginf", "isposinf", "nan_to_num", "neg", "negative", "polar", "renorm", "round", "sgn", "sign", "signbit",
    "tril", "triu", "trunc", "where",
    "gather", "index_add", "index_copy", "index_reduce", "index_select", "masked_select", "scatter", "scatter_add",
    "scatter_reduce", "take", "take_along_dim",
))  # fmt: skip
"""Functions of one result that cast it to no other dtype, as none of several results and no ``..._copy`` does."""


def taking_out(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """``function``, which then takes ``out``: a tensor, or one for each of its results.

    The result is computed first, so that it does not matter whether ``out`` is an argument, too. ``out`` is resized to
    its shape, with a warning if it held entries, and gets its values in its own dtype: computed in it by the functions
    in `COMPUTED_IN`, else cast.

    RuntimeError, as in PyTorch, while operations are recorded if ``out`` or an argument requires grad, for a dtype
    to which the result's cannot be cast, and for any other than the result's where PyTorch casts none (`EXACT`);
    TypeError if ``out`` is no tensor.
    """
    others, rest = _other_names(function)

    @functools.wraps(function)
    def call(*args: Any, out: Any = None, **kwargs: Any) -> Any:
        if kwargs:
            by_own_names(name, kwargs, others)
        if rest in kwargs and not args:
            args = (kwargs.pop(rest),)
        if out is None:
            return function(*args, **kwargs)
        several = isinstance(out, (tuple, list))
        outs = tuple(out) if several else (out,)
        for t in outs:
            if not isinstance(t, TensorBase):
                raise TypeError(f"{name}(): argument 'out' must be Tensor, not {kind(t)}")
        given = [*outs, *_tensors((*args, *kwargs.values()))]
        if is_grad_enabled() and any(t.requires_grad for t in given):
            raise RuntimeError(f"{name}(): functions with out=... arguments don't support automatic differentiation, "
                               "but one of the arguments requires grad.")  # fmt: skip
        if name in COMPUTED_IN and not several:
            if kwargs.get("dtype", out.dtype) not in (out.dtype, None):
                raise RuntimeError(f"{name}(): dtype {kwargs['dtype']} does not match dtype of out ({out.dtype})")
            kwargs["dtype"] = out.dtype
        with no_grad():
            result = function(*args, **kwargs)
            results = result if isinstance(result, tuple) else (result,)
            if several and results[0] is result:
                raise TypeError(f"{name}(): argument 'out' must be Tensor, not {kind(out)}")
            if len(results) != len(outs):
                raise TypeError(f"{name}(): argument 'out' must be {len(results)} tensors, but got {len(outs)}")
            for value, t in zip(results, outs, strict=True):
                value = value.to(t.dtype) if name == "bernoulli" else value  # every dtype has 0 and 1
                _write(value, t, exact=several or name in EXACT or name.endswith("_copy"))
        return type(result)(*outs) if hasattr(result, "_fields") else outs if isinstance(result, tuple) else out

    return call


def _other_names(function: Callable[..., Any]) -> tuple[dict[str, str], str]:
    """How PyTorch takes arguments besides: by NumPy's names, and all of ``*size`` as ``size=``."""
    code = function.__code__
    if code.co_filename == ASKING:  # `methods.exchange`
        code = inspect.unwrap(function).__code__
    count = code.co_argcount + code.co_kwonlyargcount
    own = code.co_varnames[:count]
    return other_names(own), code.co_varnames[count] if code.co_flags & inspect.CO_VARARGS else ""


def _tensors(values: Any) -> Iterator[Any]:
    for value in values:
        if isinstance(value, TensorBase):
            yield value
        elif isinstance(value, (tuple, list)):
            yield from _tensors(value)


def _write(value: Any, out: Any, *, exact: bool) -> None:
    if exact and value.dtype is not out.dtype:
        raise RuntimeError(f"Expected out tensor to have dtype {value.dtype}, but got {out.dtype} instead")
    if not dtypes.can_cast(value.dtype, out.dtype):
        words = [dtypes.LEGACY.get(t.dtype.name, t.dtype.name).removesuffix("Tensor") for t in (value, out)]
        raise RuntimeError(f"result type {words[0]} can't be cast to the desired output type {words[1]}")
    if value.shape != out.shape:
        if out.numel():
            warn(f"An output with one or more elements was resized since it had shape {size(out.shape)}, which does "
                 f"not match the required output shape {size(value.shape)}. Resize it yourself, with out.resize_(0), "
                 "where that is meant.")  # fmt: skip
        out.resize_(value.shape)
    out.copy_(value)
