"""Calling a function of `gradwright.xp` and of array-api-strict on the same arrays, and comparing the results."""

from typing import Any

import array_api_strict as strict
import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.array_api import make_strategies_namespace

import gradwright
from gradwright import xp

xps = make_strategies_namespace(strict, api_version="2024.12")
FEW = settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))
Strict = type(strict.empty(0))
_INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
DTYPES = {
    "bool": ["bool"],
    "integer": _INTEGERS,
    "float": ["float32", "float64"],
    "complex": ["complex64", "complex128"],
    "real": [*_INTEGERS, "float32", "float64"],
    "floating": ["float32", "float64", "complex64", "complex128"],
    "numeric": [*_INTEGERS, "float32", "float64", "complex64", "complex128"],
    "bits": ["bool", *_INTEGERS],
    "all": ["bool", *_INTEGERS, "float32", "float64", "complex64", "complex128"],
}


def of(dtype: str, shape: Any, elements: Any = None) -> Any:
    """Strict arrays of a dtype and shape, of moderate entries unless others are named."""
    if elements is None and dtype.startswith("complex"):
        parts = st.floats(-8, 8, width=32, allow_subnormal=False)  # strict divides by what those underflow to
        elements = st.builds(complex, parts, parts)
    elif elements is None and dtype != "bool":
        elements = {"min_value": -8.0, "max_value": 8.0} if dtype[0] == "f" else {"min_value": 0, "max_value": 7}
    return xps.arrays(getattr(strict, dtype), shape, elements=elements)


def arrays(kind: str, shape: Any = None, *, least: int = 0, most: int = 3, side: int = 0, elements: Any = None) -> Any:
    """Strict arrays of one of the dtypes of a kind, with ``least`` to ``most`` axes no shorter than ``side``."""
    shape = xps.array_shapes(min_dims=least, max_dims=most, min_side=side, max_side=4) if shape is None else shape
    return st.sampled_from(DTYPES[kind]).flatmap(lambda dtype: of(dtype, shape, elements))


def pairs(kind: str) -> Any:
    """Two strict arrays of one dtype, of shapes that broadcast."""
    shapes = xps.mutually_broadcastable_shapes(2, max_dims=3, max_side=4)
    return st.tuples(st.sampled_from(DTYPES[kind]), shapes).flatmap(
        lambda drawn: st.tuples(*(of(drawn[0], shape) for shape in drawn[1].input_shapes))
    )


def ours(value: Any) -> Any:
    """Strict arrays and dtypes, inside tuples and dictionaries too, as gradwright's."""
    if isinstance(value, Strict):
        return gradwright.tensor(np.asarray(value))
    if isinstance(value, (tuple, list)):
        return type(value)(map(ours, value))
    if isinstance(value, dict):
        return {k: ours(v) for k, v in value.items()}
    return getattr(xp, value._np_dtype.name) if isinstance(value, type(strict.float32)) else value


def always(name: str, *drawn: Any, **kwargs: Any) -> None:
    """`agree` on a few draws of the arguments."""

    @FEW
    @given(st.tuples(*(d if isinstance(d, st.SearchStrategy) else st.just(d) for d in drawn)))
    def check(args: Any) -> None:
        agree(name, *args, **kwargs)

    check()


def agree(name: str, *args: Any, **kwargs: Any) -> None:
    """Compare ``xp.<name>(*args, **kwargs)`` with array-api-strict's: value, dtype and shape."""
    mine, theirs = xp, strict
    for part in name.split("."):
        mine, theirs = getattr(mine, part), getattr(theirs, part)
    with np.errstate(all="ignore"):
        wanted: Any = theirs(*args, **kwargs)  # type: ignore[operator]
    got: Any = mine(*ours(args), **ours(kwargs))  # type: ignore[operator]
    compare(got, wanted)


def compare(got: Any, wanted: Any) -> None:
    if isinstance(wanted, tuple):
        assert len(got) == len(wanted)
        for g, w in zip(got, wanted, strict=True):
            compare(g, w)
    elif isinstance(wanted, Strict):
        values = np.asarray(wanted)
        assert got.dtype.name == values.dtype.name
        assert tuple(got.shape) == values.shape
        exact = values.dtype.kind in "biu"
        tolerance = 0 if exact else 1e-4 if values.dtype.name in ("float32", "complex64") else 1e-10
        np.testing.assert_allclose(got.numpy(force=True), values, tolerance, tolerance)
    else:
        assert got == wanted
