import contextlib
import itertools
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import gradwright
from gradwright.face.reading import torch as a
from gradwright.ops import arithmetic

DTYPES = [
    "bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "complex64", "complex128",
]  # fmt: skip


def test_promote_types_is_pytorchs(torch: ModuleType) -> None:
    for x, y in itertools.product(DTYPES, repeat=2):
        ours = gradwright.promote_types(getattr(gradwright, x), getattr(gradwright, y))
        assert str(ours) == str(torch.promote_types(getattr(torch, x), getattr(torch, y))), (x, y)


def test_result_type_is_pytorchs(torch: ModuleType) -> None:
    values: list[Any] = [True, 2, 2.5, 2j]
    values += [np.ones(s, d) for d in ("bool", "uint8", "int64", "float32", "float64", "complex64") for s in ((), (2,))]
    for x, y in itertools.product(values, repeat=2):
        if isinstance(x, np.ndarray) or isinstance(y, np.ndarray):
            ours, theirs = (
                m.result_type(*(m.tensor(v) if isinstance(v, np.ndarray) else v for v in (x, y)))
                for m in (gradwright, torch)
            )
            assert str(ours) == str(theirs), (x, y)


def test_the_default_dtype_decides_for_numbers() -> None:
    try:
        gradwright.set_default_dtype(gradwright.float64)
        assert (gradwright.tensor([1, 2]) * 0.5).dtype is gradwright.float64
        assert gradwright.exp(gradwright.tensor([1, 2])).dtype is gradwright.float64
    finally:
        gradwright.set_default_dtype(gradwright.float32)
    assert (gradwright.tensor([1, 2]) / 2).dtype is gradwright.float32


@pytest.mark.parametrize(("dim", "ndim", "expected"), [(0, 2, 0), (-1, 2, 1), (-2, 2, 0), (0, 0, 0), (-1, 0, 0)])
def test_one_dim(dim: int, ndim: int, expected: int) -> None:
    assert a.one_dim("f", dim, ndim) == expected
    assert a.one_dim("f", np.int64(dim), ndim) == expected
    assert a.one_dim("f", gradwright.tensor(dim), ndim) == expected


def test_one_dim_that_is_none() -> None:
    with pytest.raises(IndexError, match=r"range of \[-2, 1\], but got 2\): argument 'dim0' of f\(\)"):
        a.one_dim("f", 2, 2, "dim0")
    with pytest.raises(TypeError, match=r"f\(\): argument 'dim' must be int, not float"):
        a.one_dim("f", 1.0, 2)


def test_dims() -> None:
    assert a.dims("f", None, 3) is None
    assert a.dims("f", (), 3) is None
    assert a.dims("f", -1, 3) == (2,)
    assert a.dims("f", [0, -1], 3) == (0, 2)
    with pytest.raises(RuntimeError, match=r"f\(\): dim . appears multiple times"):
        a.dims("f", (1, -2), 3)


def test_sizes() -> None:
    assert a.sizes("f", (2, 3)) == a.sizes("f", ((2, 3),)) == a.sizes("f", ([2, np.int64(3)],)) == (2, 3)
    assert a.sizes("f", (gradwright.tensor(2), 3)) == (2, 3)
    assert a.sizes("f", ((),)) == a.sizes("f", ()) == ()
    with pytest.raises(TypeError, match=r"f\(\): argument 'size' must be ints or a tuple of ints, but got float"):
        a.sizes("f", (2.0, 3))


def test_to_dtype_leaves_what_fits() -> None:
    x = gradwright.ones(2, requires_grad=True)
    assert a.to_dtype(x, gradwright.float32) is x
    y = a.to_dtype(x, "float64")
    assert y.dtype is gradwright.float64
    assert y.grad_fn.name() == "ToCopyBackward0"


def test_tensor_list() -> None:
    x = gradwright.ones(2)
    assert a.tensor_list("f", (x, x)) == [x, x]
    for wrong, message in [(x, "tuple of Tensors, not Tensor"), (3, "tuple of Tensors, not int"),
                           ([x, 3], "element 1 in argument 'tensors', but got int")]:  # fmt: skip
        with pytest.raises(TypeError, match=message):
            a.tensor_list("f", wrong)
    with pytest.raises(RuntimeError, match="non-empty list"):
        a.tensor_list("f", [])


def test_operands() -> None:
    x = gradwright.tensor([1, 2])
    pair = a.operands(arithmetic.add, (x, 2.5))
    assert pair is not None
    assert [t.dtype for t in pair] == [gradwright.float32] * 2
    assert a.operands(arithmetic.add, (x, np.ones(2)))[1].dtype is gradwright.float64  # type: ignore[index]
    assert a.operands(arithmetic.add, (x, "two")) is None


@pytest.mark.parametrize("number", [300, -1, 2**40])
@pytest.mark.parametrize("dtype", ["uint8", "int8", "int32"])
def test_numbers_too_large_wrap_round(same: Any, dtype: str, number: int) -> None:
    same(lambda t, x: x + number, np.array([1, 2], dtype))
    same(lambda t, x: x * number, np.array([1, 2], dtype))


def test_numbers_that_no_dtype_holds() -> None:
    with pytest.raises(OverflowError, match=r"add\(\): a number does not fit torch.int64"):
        gradwright.tensor([1, 2]) + 2**70
    assert (gradwright.tensor([1.0]) + 2**70).item() == 2.0**70


NUMPYS = [
    lambda t, x: t.sum(x, axis=0, keepdims=True),
    lambda t, x: x.amax(axis=(0, 1)),
    lambda t, x: t.cumsum(a=x, axis=0),
    lambda t, x: t.max(x, x2=x),
    lambda t, x: t.topk(x, 1, axis=0),
    lambda t, x: t.softmax(x1=x, axis=-1),
    lambda t, x: t.median(x, axis=1, keepdims=True),
    lambda t, x: t.sum(x, dim=0, axis=0),
    lambda t, x: t.norm(x, axis=0),
    lambda t, x: t.sum(x, axes=0),
    lambda t, x: t.gather(x, axis=0, index=t.zeros(1, 3, dtype=t.int64)),
    lambda t, x: x.index_select(axis=1, index=t.tensor([0])),
    lambda t, x: t.index_add(x, axis=0, index=t.tensor([0]), source=x[:1]),
    lambda t, x: t.index_fill(x, axis=0, index=t.tensor([0]), value=1.0),
    lambda t, x: x.scatter(axis=0, index=t.zeros(1, 3, dtype=t.int64), value=7.0),
    lambda t, x: x.scatter_add(axis=0, index=t.zeros(1, 3, dtype=t.int64), src=x[:1]),
    lambda t, x: t.narrow(x, axis=1, start=0, length=2),
    lambda t, x: t.select(x, axis=1, index=0),
    lambda t, x: t.cross(x, x + 1, axis=1),
    lambda t, x: t.cosine_similarity(x, x + 1, axis=0),
    lambda t, x: t.unflatten(x, axis=0, sizes=(2, 1)),
    lambda t, x: t.tensor_split(x, 2, axis=1),
    lambda t, x: x.split_with_sizes((1, 2), axis=1),
    lambda t, x: t.repeat_interleave(x, 2, axis=1),
    lambda t, x: t.take_along_dim(x, t.zeros(1, 3, dtype=t.int64), axis=0),
    lambda t, x: t.trapezoid(x, axis=0),
    lambda t, x: t.cumulative_trapezoid(x, axis=0),
    lambda t, x: t.linalg.vector_norm(x=x, axis=0, keepdims=True),
    lambda t, x: t.linalg.matrix_norm(x, axis=(0, 1)),
    lambda t, x: t.linalg.norm(x, axis=0),
    lambda t, x: t.linalg.vecdot(x, x, axis=0),
    lambda t, x: t.linalg.cross(x, x + 1, axis=1),
    lambda t, x: t.fft.fft(x, axis=0),
    lambda t, x: t.fft.irfft2(x, axis=(0, 1)),
    lambda t, x: t.fft.fftn(a=x, axis=0),
    lambda t, x: t.fft.fftshift(x, axis=0),
    lambda t, x: t.gather(x, dim=0, axis=0, index=t.zeros(1, 3, dtype=t.int64)),
]


@pytest.mark.parametrize("call", NUMPYS)
def test_numpys_names(same: Any, call: Any) -> None:
    same(call, np.arange(6.0).reshape(2, 3), names=False)


def test_it_says_which_two() -> None:
    with pytest.raises(TypeError, match=r"sum\(\): 'axis' is another name of 'dim'"):
        gradwright.sum(gradwright.zeros(2), dim=0, axis=0)


@pytest.mark.parametrize("call", [
    lambda x, t: x.to(t.float64), lambda x, t: x.to(t.device("cpu"), t.float64), lambda x, t: x.to(dtype=t.float64),
    lambda x, t: gradwright.ones(1, 2, 3, 4, dtype=t.float64, device=t.device("cpu")),
    lambda x, t: gradwright.ones(1, 2, 3, 4).double().contiguous(memory_format=t.channels_last),
    lambda x, t: gradwright.ones(1, 2, 3, 4).to(t.float64, memory_format=t.channels_last),
])  # fmt: skip
def test_dtypes_devices_and_formats_of_pytorchs_own_go_by_their_names(torch: Any, call: Any) -> None:
    got = call(gradwright.ones(2), torch)
    assert got.dtype is gradwright.float64
    assert got.stride() in ((1,), (24, 12, 4, 1), (24, 1, 8, 2))
    assert got.is_contiguous(memory_format=torch.channels_last) == (got.stride() == (24, 1, 8, 2))


MISREAD = """
x.reshape() | x.view() | x.permute() | x.expand() | x.repeat() | x.resize_() | T.zeros(True) | T.randn(True)
T.eye(True) | T.full((True,), 1.0) | T.linspace(0, 1, True) | T.randint(True, (2,)) | T.randperm(True)
x.sum(True) | x.sum(dim=True) | x.sum(0, 1) | x.mean(True) | x.mean(0, 1) | x.prod(True) | x.max(True) | x.min(dim=True)
x.amax((True,)) | x.argmax(True) | x.argmax(0, 1) | x.any(True) | x.all(True) | x.std(dim=True, unbiased=True)
x.nansum(True) | x.count_nonzero(True) | x.median(True) | x.mode(True) | x.norm(2, True) | x.logsumexp(True)
x.cumsum(True) | x.cumprod(dim=False) | x.cummax(True) | x.softmax(True) | x.log_softmax(dim=False)
x.sort(True) | x.argsort(True) | x.topk(True) | x.kthvalue(True) | x.unsqueeze(True) | x.squeeze(True)
x.transpose(True, False) | x.swapaxes(True, False) | x.movedim(True, False) | x.permute(True, False)
x.reshape(True, 6) | x.reshape((True, 6)) | x.expand(True, 3) | x.repeat(True, 2) | x.tile(True, 2) | x.flip(True)
x.flatten(True) | x.flatten(0, True) | x.unflatten(True, (3, 1)) | x.select(True, 0) | x.select(0, True)
x.narrow(0, True, 1) | x.narrow(0, 0, True) | x.split(True) | x.chunk(True) | x.unbind(True) | x.roll(True)
x.roll(1, True) | x.rot90(True) | x.repeat_interleave(True) | x.diag(True) | x.triu(True) | x.tril(True)
x.diagonal(True) | x.gather(True, i) | x.scatter(True, i, 1.0) | x.scatter(0, i, 'a') | x.index_select(True, j)
x.size(True) | x.stride(True) | x.unfold(True, 1, 1) | x.lerp(x, 'a') | T.cat([x, x], True) | T.stack([x, x], dim=True)
T.set_grad_enabled('False') | T.nn.functional.one_hot(j, True)
"""


@pytest.mark.parametrize("call", [call.strip() for line in MISREAD.strip().split("\n") for call in line.split("|")])
def test_a_bool_is_no_int_and_no_sizes_are_no_size(torch: ModuleType, call: str) -> None:
    for T in (torch, gradwright):
        given = {"T": T, "x": T.ones(2, 3), "i": T.tensor([[0, 1, 0]]), "j": T.tensor([0, 1])}
        with contextlib.suppress(TypeError, RuntimeError, IndexError):
            eval(call.replace("True", "1").replace("False", "0"), given)  # noqa: S307 - what was read is remembered
        with pytest.raises(TypeError, match=r"\w"):
            eval(call, given)  # noqa: S307


def test_bools_that_pytorch_reads_as_sizes_are_read_so(torch: ModuleType) -> None:
    for T in (torch, gradwright):
        x = T.ones(2, 3)
        assert x.view(6, True).shape == (6, 1)
        assert x.new_ones((2, True)).shape == (2, 1)
        assert T.nn.functional.pad(x, (0, x[0, 0].item() == 1)).shape == (2, 4)
