from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from gradwright.formatting import OPTIONS, PrintOptions, set_printoptions, tensor_repr
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

FLOATS = ["float16", "float32", "float64"]
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
DTYPES = [*FLOATS, *INTEGERS, "bool", "complex64", "complex128"]
# Small ones, and some over the threshold, with axes that are and are not cut.
SHAPES = [(), (1,), (7,), (40,), (6, 5), (2, 3, 4), (2, 1, 3, 2), (0,), (0, 3), (2, 0, 1)]
LARGE_SHAPES = [(1000,), (1001,), (2, 501), (501, 2), (6, 200), (7, 2, 143), (2, 2, 3, 2, 50)]


@pytest.fixture(autouse=True)
def default_options() -> Iterator[None]:
    set_printoptions(profile="default")
    yield
    set_printoptions(profile="default")


def f32(*values: Any) -> np.ndarray:
    return np.array(values, np.float32)


def rows(*lines: str) -> str:
    """The repr that has these lines between its outer brackets."""
    return "tensor([" + "\n        ".join(lines) + "])"


# ----------------------------------------------------------------------------- known reprs, without PyTorch
KNOWN = [
    # Floats: whole, with decimals, with powers of ten.
    (f32(1, -2, 30), "tensor([ 1., -2., 30.])"),
    (f32(1, 2.5), "tensor([1.0000, 2.5000])"),
    (f32(0.1, 1000), "tensor([1.0000e-01, 1.0000e+03])"),
    (f32(1, 1000), "tensor([   1., 1000.])"),
    (f32(1, 1001), "tensor([1.0000e+00, 1.0010e+03])"),
    (f32(1e8), "tensor([100000000.])"),
    (f32(2e8), "tensor([2.0000e+08])"),
    (np.array([1e-4]), "tensor([0.0001], dtype=torch.float64)"),
    (f32(5e-5), "tensor([5.0000e-05])"),
    (np.float16(6e-8), "tensor(5.9605e-08, dtype=torch.float16)"),
    (np.array([5e-324, 1.7e308]), "tensor([4.9407e-324, 1.7000e+308], dtype=torch.float64)"),
    # What is not a finite number other than zero follows the rest.
    (f32(-0.0), "tensor([-0.])"),
    (f32(np.nan), "tensor([nan])"),
    (f32(1, np.inf, np.nan, -0.0), "tensor([1., inf, nan, -0.])"),
    (f32(0.5, -np.inf, np.nan, -0.0), "tensor([0.5000,   -inf,    nan, -0.0000])"),
    (
        f32(0.1, 1e10, np.inf, np.nan, -0.0),
        "tensor([1.0000e-01, 1.0000e+10,        inf,        nan, -0.0000e+00])",
    ),
    # Integers and booleans.
    (np.arange(3), "tensor([0, 1, 2])"),
    (np.array([100, -1], np.int8), "tensor([100,  -1], dtype=torch.int8)"),
    (np.uint64(2**63), "tensor(9223372036854775808, dtype=torch.uint64)"),
    (np.array([True, False]), "tensor([ True, False])"),
    # Complex numbers: each part in a style of its own.
    (np.complex64(complex(0, np.nan)), "tensor(0.+nanj)"),
    (np.array([1e-7 - 0j, 2j], np.complex64), "tensor([1.0000e-07+0.j, 0.0000e+00+2.j])"),
    (np.array([1 - 0.5j, -2 + 10j]), "tensor([ 1.-0.5000j, -2.+10.0000j], dtype=torch.complex128)"),
    # Sizes: none, one, several.
    (np.float32(3), "tensor(3.)"),
    (np.array(3.5), "tensor(3.5000, dtype=torch.float64)"),
    (f32(), "tensor([])"),
    (np.empty((0, 3), np.float32), "tensor([], size=(0, 3))"),
    (np.empty(0, np.int64), "tensor([], dtype=torch.int64)"),
    (np.empty((2, 0), np.complex64), "tensor([], size=(2, 0), dtype=torch.complex64)"),
    (np.eye(2, dtype=np.float32), rows("[1., 0.],", "[0., 1.]")),
    (np.arange(4).reshape(2, 1, 2), "tensor([[[0, 1]],\n\n        [[2, 3]]])"),
    (f32(*range(1001)), "tensor([   0.,    1.,    2.,  ...,  998.,  999., 1000.])"),
    (np.ones((1, 1001), np.float32), "tensor([[1., 1., 1.,  ..., 1., 1., 1.]])"),
    (
        np.arange(1002).reshape(2, 501),
        rows("[   0,    1,    2,  ...,  498,  499,  500],", "[ 501,  502,  503,  ...,  999, 1000, 1001]"),
    ),
    (
        np.arange(1200)[:, None],
        rows("[   0],", "[   1],", "[   2],", "...,", "[1197],", "[1198],", "[1199]"),
    ),
    (np.full(12, 0.5, np.float32), rows("0.5000, " * 8 + "0.5000,", "0.5000, 0.5000, 0.5000")),
]


@pytest.mark.parametrize(("array", "expected"), KNOWN)
def test_known_reprs(array: np.ndarray, expected: str) -> None:
    assert tensor_repr(array) == expected


def test_suffixes_start_a_new_line_where_the_last_has_no_room() -> None:
    array = np.full(4, 0.5)
    values = "tensor([0.5000, 0.5000, 0.5000, 0.5000], dtype=torch.float64,"
    assert tensor_repr(array[:3], grad="grad_fn=<MulBackward0>").count("\n") == 0
    assert tensor_repr(array, grad="grad_fn=<MulBackward0>") == values + "\n       grad_fn=<MulBackward0>)"


def test_a_prefix_indents_the_lines_after_it() -> None:
    assert tensor_repr(np.eye(2, dtype=np.float32), prefix="T(") == "T([[1., 0.],\n   [0., 1.]])"


def test_the_default_dtype_goes_without_saying() -> None:
    assert tensor_repr(np.array(0.5), default_dtype=np.float64) == "tensor(0.5000)"
    assert tensor_repr(np.array(1j), default_dtype="float64") == "tensor(0.+1.j)"
    assert tensor_repr(np.float32(0.5), default_dtype="float64") == "tensor(0.5000, dtype=torch.float32)"


def test_an_array_that_is_cut_is_not_read_whole() -> None:
    array = np.broadcast_to(np.float32(1), (10**6, 10**6))
    assert tensor_repr(array).count("1.") == 36


def test_options_change_the_repr() -> None:
    set_printoptions(precision=2, sci_mode=True)
    assert tensor_repr(f32(1, 0)) == "tensor([1.00e+00, 0.00e+00])"
    set_printoptions(threshold=4, edgeitems=1)
    assert PrintOptions(precision=2, threshold=4, edgeitems=1) == OPTIONS
    assert tensor_repr(np.arange(5)) == "tensor([0,  ..., 4])"
    set_printoptions(profile="default", linewidth=20)
    assert tensor_repr(np.arange(5)) == "tensor([0, 1, 2, 3,\n        4])"


def test_profiles_start_from_a_set_of_options() -> None:
    set_printoptions(profile="short")
    assert PrintOptions(precision=2, edgeitems=2) == OPTIONS
    set_printoptions(profile="full", precision=3)
    assert PrintOptions(precision=3, threshold=np.inf) == OPTIONS
    assert "..." not in tensor_repr(np.arange(2000))
    set_printoptions(profile="default")
    assert PrintOptions() == OPTIONS


# -------------------------------------------------------------------------------- comparison with PyTorch
special = st.sampled_from([0, -0.0, 1, np.inf, -np.inf, np.nan, 1e-4, 1e8, 1e3, 0.00005, 99999.5])


def real_values(width: int) -> st.SearchStrategy[float]:
    """Numbers of like and unlike magnitude, whole ones, special ones, and any others there may be."""
    whole = st.integers(-1100, 1100).map(float)
    plain = st.floats(-50, 50, width=width)
    return st.one_of(whole, plain, special, st.floats(width=width))


@st.composite
def any_arrays(draw: st.DrawFn) -> np.ndarray:
    """Arrays of few elements, each drawn by itself."""
    dtype = np.dtype(draw(st.sampled_from(DTYPES)))
    shape = draw(st.one_of(st.sampled_from(SHAPES), hnp.array_shapes(min_dims=0, max_side=6)))
    if dtype.kind not in "fc":
        return np.asarray(draw(hnp.arrays(dtype, shape)))
    chosen = draw(st.sampled_from(["whole", "any"]))
    values = st.integers(-99, 99).map(float) if chosen == "whole" else real_values(16)
    reals = hnp.arrays(np.float64, shape, elements=values)
    with np.errstate(over="ignore"):
        if dtype.kind == "f":
            return np.asarray(draw(reals)).astype(dtype)
        pairs = np.stack([draw(reals), draw(reals)], axis=-1)
        return pairs.view(np.complex128)[..., 0].astype(dtype)


@st.composite
def scaled_arrays(draw: st.DrawFn) -> np.ndarray:
    """Arrays of many elements, of one magnitude or of a range of them, some of them special."""
    dtype = np.dtype(draw(st.sampled_from(DTYPES)))
    shape = draw(st.sampled_from(SHAPES + LARGE_SHAPES))
    smallest = draw(st.integers(-6, 9))
    exponents = (smallest, smallest + draw(st.integers(0, 5)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))

    def reals() -> np.ndarray:
        values = rng.standard_normal(shape) * 10 ** rng.uniform(*exponents, shape)
        specials = rng.choice([0, -0.0, np.inf, -np.inf, np.nan], shape)
        return np.where(rng.random(shape) < share, specials, values)

    share = draw(st.sampled_from([0, 0.1])) if dtype.kind in "fc" else 0
    values = np.round(reals()) if draw(st.booleans()) else reals()
    if dtype.kind == "c":
        parts = np.stack([values, reals()], axis=-1)
        values = parts.view(np.complex128)[..., 0]
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(values).astype(dtype)


def assert_prints_alike(torch: ModuleType, array: np.ndarray, **kwargs: Any) -> None:
    assert tensor_repr(array, **kwargs) == repr(torch.from_numpy(array))


@pytest.mark.parametrize(("array", "expected"), KNOWN)
def test_known_reprs_are_those_of_pytorch(torch: ModuleType, array: np.ndarray, expected: str) -> None:
    assert repr(torch.from_numpy(np.asarray(array))) == expected


@given(array=any_arrays())
def test_prints_as_pytorch(torch: ModuleType, array: np.ndarray) -> None:
    assert_prints_alike(torch, array)


@given(array=scaled_arrays())
def test_prints_as_pytorch_at_any_size(torch: ModuleType, array: np.ndarray) -> None:
    assert_prints_alike(torch, array)


def through_operation(name: str, leaf: Any) -> Any:
    """The tensor again, computed by an operation of PyTorch's that has this name."""
    from torch.autograd import Function

    return type(name, (Function,), {"forward": staticmethod(lambda ctx, x: x.clone())}).apply(leaf)


@given(array=st.one_of(any_arrays(), scaled_arrays()), name_length=st.integers(0, 75))
def test_prints_gradients_as_pytorch(torch: ModuleType, array: np.ndarray, name_length: int) -> None:
    if array.dtype.kind not in "fc":
        array = array.astype(np.float32)
    leaf, name = torch.from_numpy(array).requires_grad_(), "F" * name_length
    if not name:
        assert tensor_repr(array, grad="requires_grad=True") == repr(leaf)
    else:
        assert tensor_repr(array, grad=f"grad_fn=<{name}Backward>") == repr(through_operation(name, leaf))


@pytest.mark.parametrize("elements", range(1, 12))
def test_breaks_between_suffixes_as_pytorch(torch: ModuleType, elements: int) -> None:
    array = np.full(elements, 0.5)
    leaf = torch.from_numpy(array).requires_grad_()
    for name in ("F" * length for length in range(1, 75)):
        assert tensor_repr(array, grad=f"grad_fn=<{name}Backward>") == repr(through_operation(name, leaf))


@given(array=any_arrays(), default=st.sampled_from(FLOATS))
def test_prints_as_pytorch_for_any_default_dtype(torch: ModuleType, array: np.ndarray, default: str) -> None:
    torch.set_default_dtype(getattr(torch, default))
    try:
        assert_prints_alike(torch, array, default_dtype=default)
    finally:
        torch.set_default_dtype(torch.float32)


options = st.fixed_dictionaries(
    {},
    optional={
        "precision": st.integers(0, 9),
        "threshold": st.sampled_from([0, 4, 30, 10000]),
        "edgeitems": st.integers(0, 5),
        "linewidth": st.integers(1, 150),
        "profile": st.sampled_from(["default", "short", "full"]),
        "sci_mode": st.sampled_from([None, True, False]),
    },
)


@given(array=st.one_of(any_arrays(), scaled_arrays()), first=options, then=options)
@example(np.ones((2, 3), np.float32), {"edgeitems": 0, "threshold": 4}, {})
@example(np.ones(5, np.float32), {"edgeitems": 0, "threshold": 4}, {})
@example(np.zeros(3), {"sci_mode": True}, {})
def test_follows_options_as_pytorch(
    torch: ModuleType, array: np.ndarray, first: dict[str, Any], then: dict[str, Any]
) -> None:
    for chosen in ({"profile": "default"}, first, then):
        set_printoptions(**chosen)
        torch.set_printoptions(**chosen)
    try:
        assert_prints_alike(torch, array)
    finally:
        set_printoptions(profile="default")
        torch.set_printoptions(profile="default")
