"""dtypes and sizes."""

import copy
import pickle  # noqa: TID251 - of our own
import subprocess
import sys

import numpy as np
import pytest

import gradwright
from gradwright import dtypes

NAMES = [
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64",
    "complex64", "complex128",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_each_dtype_is_pytorchs(torch, name):
    ours, theirs = getattr(gradwright, name), getattr(torch, name)
    assert repr(ours) == repr(theirs)
    for attribute in ("itemsize", "is_floating_point", "is_complex"):
        assert getattr(ours, attribute) == getattr(theirs, attribute)
    if name != "bool":  # NumPy's has no sign; PyTorch's has none either
        assert ours.is_signed == theirs.is_signed


@pytest.mark.parametrize("name", NAMES)
def test_each_dtype_is_one_numpy_dtype(name):
    d = getattr(gradwright, name)
    assert np.dtype(d) == np.dtype(name)
    assert dtypes.of(np.dtype(name)) is d
    assert dtypes.of(name) is d
    assert dtypes.numpy_dtype(d) == np.dtype(name)
    assert copy.deepcopy(d) is d
    assert gradwright.tensor([1], dtype=d).dtype is d


@pytest.mark.parametrize(("alias", "name"), [
    ("float", "float32"), ("double", "float64"), ("half", "float16"), ("int", "int32"), ("long", "int64"),
    ("short", "int16"), ("cfloat", "complex64"), ("cdouble", "complex128"),
])  # fmt: skip
def test_aliases(alias, name):
    assert getattr(gradwright, alias) is getattr(gradwright, name)


@pytest.mark.parametrize("builtin", [bool, int, float, complex])
def test_pythons_types(T, builtin):
    names = {bool: "bool", int: "int64", float: "float64", complex: "complex128"}
    assert T.zeros(2, dtype=builtin).dtype == getattr(T, names[builtin])


@pytest.mark.parametrize("wrong", ["nonsense", "str", object(), None, np.dtype("U3"), 3])
def test_unknown_dtypes(wrong):
    with pytest.raises(TypeError, match=r"dtype: expected one of bool, int8, .*, but got"):
        dtypes.of(wrong)


def test_another_librarys_dtype_is_taken_by_its_name(torch):
    assert dtypes.of(torch.float64) is gradwright.float64
    assert gradwright.zeros(1, dtype=torch.int8).dtype is gradwright.int8


@pytest.fixture
def default():
    yield
    gradwright.set_default_dtype(gradwright.float32)


def test_the_default_dtype(default):
    assert gradwright.get_default_dtype() is gradwright.float32
    gradwright.set_default_dtype(gradwright.float64)
    assert gradwright.get_default_dtype() is gradwright.float64
    for t in (gradwright.tensor(1.5), gradwright.zeros(2), gradwright.tensor([1]) * 0.5, gradwright.tensor([1]) / 2):
        assert t.dtype is gradwright.float64
    assert gradwright.tensor(1j).dtype is gradwright.complex128
    assert repr(gradwright.tensor(1.5)) == "tensor(1.5000)"
    assert gradwright.Tensor([1.0]).dtype is gradwright.float64


def test_the_default_dtype_must_be_a_floating_one(T):
    for wrong in (T.int64, T.complex64):
        with pytest.raises(TypeError, match="only floating-point types are supported as the default type"):
            T.set_default_dtype(wrong)


# ---- conversions -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", NAMES)
@pytest.mark.parametrize("source", ["bool", "int64", "uint8", "float32", "complex64"])
def test_conversions(T, source, target):
    if (source, target[0]) == ("complex64", "b"):
        data = [0, 1j]
    else:
        data = [0, 1, 3]
    x = T.tensor(data, dtype=getattr(T, source))
    if source == "complex64" and not target.startswith(("complex", "bool")):
        return  # both warn that the imaginary part is dropped
    y = x.to(getattr(T, target))
    assert str(y.dtype) == f"torch.{target}"
    one = source == "bool" or target == "bool"
    assert y.tolist() == [min(abs(v), 1) if one else v for v in data]


@pytest.mark.parametrize(("method", "name"), [
    ("float", "float32"), ("double", "float64"), ("long", "int64"), ("int", "int32"), ("bool", "bool"),
])  # fmt: skip
def test_methods(T, method, name):
    x = T.tensor([0.0, 1.5, -2.5])
    assert getattr(x, method)().dtype == getattr(T, name)
    assert getattr(x, method)().tolist() == [bool(v) if name == "bool" else int(v) if "int" in name else v
                                             for v in x.tolist()]  # fmt: skip


def test_converting_to_what_it_is_gives_itself(T):
    x = T.ones(2)
    assert x.to(T.float32) is x
    assert x.float() is x
    assert x.to("cpu") is x
    assert x.to(T.ones(1)) is x
    assert x.to(T.float32, copy=True) is not x
    assert x.to(T.float32, True) is x
    assert x.to(T.float32, False, True) is not x
    assert x.type_as(T.ones(1, dtype=T.int64)).dtype == T.int64


def test_conversions_are_differentiated(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x.double()
    (y * y).sum().backward()
    assert y.requires_grad
    assert x.grad.dtype == T.float32
    assert x.grad.tolist() == [2, 4]
    assert not x.long().requires_grad


# ---- promotion -------------------------------------------------------------------------------------------

WIDE = {"uint16", "uint32", "uint64"}  # PyTorch promotes them to floats only
ALL = [*NAMES, "bfloat16"]
PROMOTED = [n for n in NAMES if n not in WIDE]


@pytest.mark.parametrize("a", ALL)
def test_promotion_is_pytorchs(torch, a):
    for b in ALL:
        if a == b or not {a, b} & WIDE or "float" in f"{a} {b}":
            ours = gradwright.promote_types(getattr(gradwright, a), getattr(gradwright, b))
            theirs = torch.promote_types(getattr(torch, a), getattr(torch, b))
            assert repr(ours) == repr(theirs), (a, b)


def test_promotion_of_wide_unsigned_integers_is_the_array_apis():
    assert gradwright.promote_types("uint8", "uint32") is gradwright.uint32
    assert gradwright.promote_types("uint32", "int8") is gradwright.int64
    with pytest.raises(RuntimeError, match=r"no integer dtype holds both torch\.uint64 and torch\.int8"):
        gradwright.promote_types("uint64", "int8")


@pytest.mark.parametrize("a", ALL)
def test_casts_are_pytorchs(torch, a):
    for b in ALL:
        ours, theirs = (T.can_cast(getattr(T, a), getattr(T, b)) for T in (gradwright, torch))
        assert ours is theirs, (a, b)


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize(("limits", "attributes"), [
    ("finfo", "bits eps max min tiny smallest_normal resolution dtype"), ("iinfo", "bits max min dtype"),
])  # fmt: skip
def test_limits_are_pytorchs(torch, name, limits, attributes):
    try:
        theirs = getattr(torch, limits)(getattr(torch, name))
    except TypeError:
        with pytest.raises(TypeError, match=rf"torch\.{limits}\(\) requires an? (floating point|integer) input type"):
            getattr(gradwright, limits)(getattr(gradwright, name))
        return
    ours = getattr(gradwright, limits)(getattr(gradwright, name))
    assert repr(ours) == repr(theirs)
    for attribute in attributes.split():
        assert getattr(ours, attribute) == getattr(theirs, attribute), attribute


@pytest.mark.parametrize("a", PROMOTED)
def test_result_types_are_pytorchs(torch, a):
    for b in PROMOTED:
        if "float16" in (a, b) and "complex" in a + b:  # PyTorch has complex32
            continue
        for make in (lambda T, d: T.ones(2, dtype=d), lambda T, d: T.ones((), dtype=d)):
            for other in (lambda T, b=b: T.ones((), dtype=getattr(T, b)), lambda T: 1, lambda T: 1.5, lambda T: True):
                ours, theirs = (T.result_type(make(T, getattr(T, a)), other(T)) for T in (gradwright, torch))
                assert repr(ours) == repr(theirs), (a, b)


# ---- bfloat16 --------------------------------------------------------------------------------------------


def test_bfloat16_computes_as_pytorchs(T):
    x = T.tensor([1.0, 2.0, 3.14159], dtype=T.bfloat16)
    assert repr(x) == "tensor([1.0000, 2.0000, 3.1406], dtype=torch.bfloat16)"
    assert (x * 3 + x / 7 - x**2).tolist() == [2.140625, 2.28125, 0.0]
    assert (x + 256).tolist() == [256, 258, 260]  # 8 bits: halves go to even
    for y, d in ((x + 1, T.bfloat16), (x + T.ones(3), T.float32), (x + T.ones(3, dtype=T.float16), T.float32),
                 (x * T.ones(3, dtype=T.int64), T.bfloat16), (x * T.ones(()), T.bfloat16)):  # fmt: skip
        assert y.dtype == d


def test_bfloat16_sums_are_not_lost(T):
    assert T.ones(1000, dtype=T.bfloat16).sum().item() == 1000
    assert T.ones(1000, dtype=T.bfloat16).mean().item() == 1


def test_bfloat16_converts(T):
    x = T.tensor([1.0, 1.00390625, 3e38]).to(T.bfloat16)
    assert x.tolist() == [1.0, 1.0, 3.00405527047391e38]
    assert x.float().dtype == T.float32
    assert x.long()[:2].tolist() == [1, 1]
    assert x.to(T.bfloat16) is x
    assert x.element_size() == T.bfloat16.itemsize == 2


def test_bfloat16_gradients(T):
    x = T.tensor([1.0, 2.0], dtype=T.bfloat16, requires_grad=True)
    w = T.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=T.bfloat16, requires_grad=True)
    y = w @ x
    assert y.dtype == T.bfloat16
    (y * y).sum().backward()
    assert y.tolist() == [5, 11]
    assert x.grad.dtype == T.bfloat16
    assert x.grad.tolist() == [76, 108]
    assert w.grad.tolist() == [[10, 20], [22, 44]]


def test_without_ml_dtypes_bfloat16_names_the_extra():
    program = (
        "import sys; sys.modules['ml_dtypes'] = None; import gradwright\n"
        "print(gradwright.ones(2).dtype, gradwright.bfloat16)\n"
        "gradwright.ones(2, dtype=gradwright.bfloat16)"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert found.stdout.split() == ["torch.float32", "torch.bfloat16"]
    assert found.stderr.endswith("ImportError: bfloat16 needs ml_dtypes: pip install ml_dtypes\n")


# ---- Size ------------------------------------------------------------------------------------------------


def test_sizes(T):
    s = T.ones(2, 3).shape
    assert s == (2, 3)
    assert isinstance(s, tuple)
    assert isinstance(s, T.Size)
    assert repr(s) == "torch.Size([2, 3])"
    assert s.numel() == 6
    assert s[0] == 2
    assert T.Size([]) == ()
    assert T.Size([]).numel() == 1
    assert hash(s) == hash((2, 3))
    for part in (s[:1], s + (4,), (4,) + s, s * 2, 2 * s):  # noqa: RUF005
        assert isinstance(part, T.Size)
    assert (4,) + s == (4, 2, 3)  # noqa: RUF005


def test_sizes_are_integers(T):
    s = T.Size((2, T.tensor(5), T.tensor([3]), np.int64(4), True))
    assert s == (2, 5, 3, 4, 1)
    assert [type(n) for n in s[1:3]] == [int, int]
    assert repr(s) == "torch.Size([2, 5, 3, 4, 1])"
    assert pickle.loads(pickle.dumps(s)) == s  # noqa: S301
    assert T.Size(range(3)) == (0, 1, 2)
    for wrong, kind in ((2.5, "float"), ("2", "str"), (T.tensor(2.5), "Tensor"), (T.tensor([1, 2]), "Tensor")):
        with pytest.raises(TypeError, match=rf"torch.Size\(\) takes an iterable of 'int' \(item 1 is '{kind}'\)"):
            T.Size((1, wrong))


@pytest.mark.parametrize("call", [lambda T: T.ones(1).to("float64"), lambda T: T.nn.Linear(1, 1).to("float64")])
def test_a_dtype_is_not_given_by_its_name(T, call):
    with pytest.raises(RuntimeError, match=r"^Invalid device string: 'float64'"):
        call(T)


@pytest.mark.parametrize("make", [lambda T: T.ones(1), lambda T: T.nn.Linear(1, 1)])
@pytest.mark.parametrize("call", [
    lambda T, x: x.to(T.float32, T.float64), lambda T, x: x.to(T.float32, dtype=T.float64),
    lambda T, x: x.to(dtpe=T.float64),
])  # fmt: skip
def test_arguments_of_to_that_mean_nothing(T, make, call):
    with pytest.raises(TypeError):
        call(T, make(T))


MISFITS = {
    "Linear": (lambda t, x: t.nn.Linear(3, 2)(x), "mat1 and mat2 must have the same dtype, but got Double and Float"),
    "MultiheadAttention": (
        lambda t, x: t.nn.MultiheadAttention(3, 1)(x, x, x),
        "mat1 and mat2 must have the same dtype, but got Double and Float",
    ),
    "GRUCell": (lambda t, x: t.nn.GRUCell(3, 2)(x), "mat1 and mat2 must have the same dtype, but got "),
    "LSTM": (lambda t, x: t.nn.LSTM(3, 2)(x), r"RNN input dtype \(torch.float64\) does not match weight dtype "),
    "Conv1d": (lambda t, x: t.nn.Conv1d(2, 2, 1)(x), r"Input type \((double|torch.float64)\) and "),
    "Bilinear": (lambda t, x: t.nn.Bilinear(3, 3, 2)(x, x), "All tensors must have the same dtype, got input1: "),
    "PReLU": (lambda t, x: t.nn.PReLU()(x), "prelu: Type promoting not supported. Got "),
    "LayerNorm": (lambda t, x: t.nn.LayerNorm(3)(x), r"mixed dtype \(CPU\): all inputs must share same datatype"),
}


@pytest.mark.parametrize("name", MISFITS)
def test_a_model_of_another_dtype_is_told_the_mend(T, name):
    call, words = MISFITS[name]
    with pytest.raises((RuntimeError, ValueError), match=f"^{words}") as error:
        call(T, T.ones(2, 3, dtype=T.float64))
    mend = "Convert input: input.to(torch.float32), or convert model: model.to(torch.float64)"
    assert T is not gradwright or str(error.value).endswith(mend)


def test_no_model_is_made_of_whole_numbers():
    assert dtypes.remedy(dtypes.int64, dtypes.float32) == "Convert input: input.to(torch.float32)"
