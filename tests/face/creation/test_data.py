"""Tensors of data: the dtype that is inferred, copies and shared memory, refused data."""

import re
import warnings
from collections import UserList, deque

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gradwright
import gradwright as gw


def described(t):
    return str(t.dtype), tuple(t.shape), t.tolist(), t.requires_grad


CALLS = {
    # dtypes
    "floats": lambda T: T.tensor([1.0, 2.5]),
    "ints": lambda T: T.tensor([1, 2]),
    "bools": lambda T: T.tensor([True, False]),
    "complex": lambda T: T.tensor([1j, 2]),
    "ints and floats": lambda T: T.tensor([1, 2.5]),
    "bools and ints": lambda T: T.tensor([True, 2]),
    "number": lambda T: T.tensor(0.1),
    "large int": lambda T: T.tensor(2**40),
    "empty": lambda T: T.tensor([]),
    "empty rows": lambda T: T.tensor([[], []]),
    "nested": lambda T: T.tensor([[[1, 2]], [[3, 4]]]),
    "tuples": lambda T: T.tensor(((1.0, 2.0), (3.0, 4.0))),
    "range": lambda T: T.tensor(range(3)),
    "deque": lambda T: T.tensor(deque([1.0, 2.0])),
    "deques of tensors": lambda T: T.tensor(deque([deque([T.tensor(1), 2]), [3, 4]])),
    "user's list": lambda T: T.tensor(UserList([1, 2])),
    "pytorch's size": lambda T: T.tensor(T.zeros(2, 3).shape),
    "nan": lambda T: T.tensor([float("inf"), -float("inf")]),
    # NumPy and tensors inside
    "array": lambda T: T.tensor(np.array([1.0, 2.0])),
    "array32": lambda T: T.tensor(np.array([1, 2], np.int32)),
    "scalar": lambda T: T.tensor(np.float64(1.5)),
    "list of scalars": lambda T: T.tensor([np.float64(1.5), np.float64(2)]),
    "float and scalar": lambda T: T.tensor([1.0, np.float64(2)]),
    "scalar and int": lambda T: T.tensor([np.float32(1), 2]),
    "narrow scalars": lambda T: T.tensor([np.int8(1), True]),
    "list of arrays": lambda T: T.tensor([np.array([1.0, 2.0]), np.array([3.0, 4.0])]),
    "list of tensors": lambda T: T.tensor([T.tensor(1.0), T.tensor(2)]),
    "list of doubles": lambda T: T.tensor([T.tensor(1.0, dtype=T.float64)]),
    "of a tensor": lambda T: T.tensor(T.tensor([1.0], requires_grad=True)),
    # named dtypes
    "float64": lambda T: T.tensor([0.1], dtype=T.float64),
    "float64 number": lambda T: T.tensor(0.1, dtype=T.float64),
    "truncated": lambda T: T.tensor([1.7, -1.7], dtype=T.int64),
    "to bool": lambda T: T.tensor([0, 2], dtype=T.bool),
    "to complex": lambda T: T.tensor([1, 2.5], dtype=T.complex128),
    "array converted": lambda T: T.tensor(np.array([1.5]), dtype=T.float32),
    "requires grad": lambda T: T.tensor([1.0], requires_grad=True),
    "as_tensor": lambda T: T.as_tensor([0.1], dtype=T.float64),
    "as_tensor number": lambda T: T.as_tensor(2),
    "asarray": lambda T: T.asarray([1.0]),
    # Tensor
    "Tensor": lambda T: T.Tensor([1, 2]),
    "Tensor nested": lambda T: T.Tensor([[1.5], [2.5]]),
    "Tensor tuple": lambda T: T.Tensor((2, 3)),
    "Tensor of an array": lambda T: T.Tensor(np.array([1.5, 2.5])),
    "Tensor()": lambda T: T.Tensor(),
    "Tensor(0)": lambda T: T.Tensor(0),
}


@pytest.mark.parametrize("name", CALLS)
def test_values_dtypes_and_shapes_are_pytorchs(torch, name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = described(CALLS[name](torch))
        assert described(CALLS[name](gradwright)) == theirs


def nested(depth):
    leaves = st.sampled_from([1.5, 2, "plain", "leaf", "result"])
    return st.lists(nested(depth - 1), min_size=2, max_size=2) if depth else leaves


@given(st.integers(0, 3).flatmap(nested), st.sampled_from(["tensor", "as_tensor", "asarray"]))
def test_lists_of_tensors_that_require_grad_warn(data, maker):
    leaf = gw.tensor(0.5, requires_grad=True)
    items = {"plain": gw.tensor(0.5), "leaf": leaf, "result": leaf * 2}

    def read(d, items):
        return [read(part, items) for part in d] if isinstance(d, list) else items.get(d, d)

    want = gw.tensor(read(data, {"plain": 0.5, "leaf": 0.5, "result": 1.0}))
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        out = getattr(gw, maker)(read([data], items))[0]
    assert out.tolist() == want.tolist()
    assert not out.requires_grad
    inside = re.findall("leaf|result", str(data))
    assert [w.category for w in heard] == [gw.GradientWarning] * bool(inside)
    assert all(w.filename == __file__ and "stack() keeps" in str(w.message) for w in heard)


@pytest.mark.parametrize("make", [
    lambda a: gw.tensor([a, 1.0]), lambda a: gw.as_tensor((a, a)), lambda a: gw.asarray([[a], [2]]),
    lambda a: gw.Tensor([a, a]), gw.Tensor, gw.tensor, lambda a: gw.ones(2).new_tensor([a]),
])  # fmt: skip
def test_what_loses_its_history_warns(make):
    a = gw.tensor(2.0, requires_grad=True)
    with pytest.warns(gw.GradientWarning, match="histor|has only their values"):
        assert not make(a).requires_grad
    with gw.autograd.strict(True), pytest.raises(RuntimeError):
        make(a)
    with warnings.catch_warnings():
        warnings.simplefilter("error", gw.GradientWarning)
        warnings.simplefilter("ignore", UserWarning)
        make(a.detach())
        gw.tensor([a], dtype=gw.int64)  # nothing flows through whole numbers
        with gw.no_grad():
            make(a)


# ---- memory ----------------------------------------------------------------------------------------------


def test_what_copies_and_what_shares(T):
    array = np.array([1.0, 2.0])
    copies = [T.tensor(array), T.tensor(list(array)), T.as_tensor(array, dtype=T.float32)]
    shares = [T.as_tensor(array), T.from_numpy(array), T.asarray(array)]
    array[0] = 7
    assert [t[0].item() for t in copies] == [1] * 3
    assert [t[0].item() for t in shares] == [7] * 3
    shares[0][1] = 9
    assert array.tolist() == [7, 9]
    source = T.tensor([1.0])
    assert T.as_tensor(source) is source


@pytest.mark.parametrize("requires_grad", [True, False])
@pytest.mark.parametrize("how", ["torch.tensor", "tensor.new_tensor"])
def test_a_copy_of_a_tensor_is_warned_of(T, how, requires_grad):
    source = T.ones(2, dtype=T.float64, requires_grad=requires_grad)
    make = T.tensor if how == "torch.tensor" else T.ones(1).new_tensor
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        copy = make(source, requires_grad=True)
    message = str(found[0].message)
    assert message.startswith("To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone()")
    assert f"rather than {how}(sourceTensor)." in message
    assert found[0].filename == __file__
    assert copy.is_leaf
    assert copy.requires_grad
    assert copy is not source
    assert copy.dtype == (T.float64 if how == "torch.tensor" else T.float32)
    if T is gradwright:
        assert issubclass(found[0].category, gradwright.GradientWarning) is requires_grad


def test_a_tensor_of_a_tensor_keeps_its_history(T):
    assert T.as_tensor(T.ones(2, requires_grad=True) * 2).grad_fn is not None


def test_from_numpy_keeps_strides_and_0_d(T):
    base = np.arange(6.0).reshape(2, 3)
    assert T.from_numpy(base.T).stride() == (1, 3)
    assert T.from_numpy(np.array(1.5)).item() == 1.5


# ---- refused ---------------------------------------------------------------------------------------------

REFUSED = {
    "text": (lambda T: T.tensor("text"), TypeError),
    "ragged": (lambda T: T.tensor([[1, 2], [3]]), ValueError),
    "complex to real": (lambda T: T.tensor([1j], dtype=T.float32), TypeError),
    "overflow": (lambda T: T.tensor([300], dtype=T.uint8), RuntimeError),
    "infinite int": (lambda T: T.tensor(float("inf"), dtype=T.int64), RuntimeError),
    "array of text": (lambda T: T.tensor(np.array(["a"])), TypeError),
    "as array of text": (lambda T: T.as_tensor(np.array(["a"])), TypeError),
    "from list": (lambda T: T.from_numpy([1]), TypeError),
    "None": (lambda T: T.tensor([None]), RuntimeError),
    "other memory": (lambda T: T.asarray(T.ones(1), dtype=T.float64, copy=False), ValueError),
    "memory of a list": (lambda T: T.asarray([1.0], copy=False), ValueError),
    "int leaf": (lambda T: T.tensor([1], requires_grad=True), RuntimeError),
    "negative Tensor": (lambda T: T.Tensor(-1), RuntimeError),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(T, name):
    call, error = REFUSED[name]
    with pytest.raises(error):
        call(T)


@pytest.mark.parametrize(("call", "message"), [
    (lambda T: T.tensor([1, "a"]), "Could not infer dtype of str: tensor.* takes numbers.* but got 'a'"),
    (lambda T: T.tensor([None]), "Could not infer dtype of NoneType: .* but got None"),
    (lambda T: T.tensor([[1, 2], [3]]), r"tensor\(\): data must be numbers in nested sequences of equal lengths"),
    (lambda T: T.tensor([-1], dtype=T.uint8), r"tensor\(\): value cannot be converted to type uint8 without overflow"),
    (lambda T: T.tensor(2**63), "value cannot be converted to type int64 without overflow"),
    (lambda T: T.from_numpy([1]), r"expected np.ndarray \(got list\)"),
])  # fmt: skip
def test_the_message_names_the_function_and_what_it_got(call, message):
    with pytest.raises((TypeError, ValueError, RuntimeError), match=message):
        call(gradwright)


@pytest.mark.filterwarnings("ignore:torch.asarray")
def test_asarray_shares_copies_and_cuts_off(T, leaf):
    x, held = leaf([1.0, 2.0]), np.ones(2)
    assert T.asarray(x, requires_grad=True) is x
    assert T.asarray(held, copy=False).data_ptr() == held.ctypes.data
    assert T.asarray(held, copy=True).data_ptr() != held.ctypes.data
    assert T.asarray(np.ones((2, 0)), copy=False).shape == (2, 0)
    with pytest.raises(ValueError, match="can't alias"):
        T.asarray(np.ones((2, 0)), dtype=T.float32, copy=False)
    assert T.asarray([1, 2], dtype=T.float32, requires_grad=True).requires_grad
    copied, cut = T.asarray(x, copy=True), T.asarray(x * 2, requires_grad=False)
    assert (copied.grad_fn is not None, cut.requires_grad) == (True, False)


UNFIT = {
    "foreign byte order": (np.arange(3.0).astype(">f4"), r"foreign byte order: write array.astype\('float32'\)"),
    "foreign ints": (np.arange(3).astype(">i8"), r"foreign byte order: write array.astype\('int64'\)"),
    "objects": (np.array([1, None]), "Python's objects: make an array of numbers"),
    "text": (np.array(["1"]), r"text is no number, array.astype\('float64'\) reads it"),
    "dates": (np.array(["2020"], "M8[Y]"), r"write array.astype\('int64'\)"),
    "fields": (np.zeros(2, [("a", "f4")]), r"of fields: give one of them, as array\['a'\].copy\(\)"),
}  # fmt: skip


@pytest.mark.parametrize("make", [gw.tensor, gw.as_tensor, gw.asarray, gw.from_numpy])
@pytest.mark.parametrize("name", UNFIT)
def test_arrays_that_no_tensor_can_hold_are_refused_with_the_mend(name, make):
    array, message = UNFIT[name]
    with pytest.raises(TypeError, match=message):
        make(array)


@pytest.mark.parametrize("make", [gw.as_tensor, gw.asarray, gw.from_numpy])
def test_strides_that_are_no_multiple_of_the_entries(make):
    field = np.ones(4, [("a", "i1"), ("b", "f4")])["b"]
    with pytest.raises(ValueError, match=r"strides \(5,\), not a multiple of the element byte size 4.*array.copy\(\)"):
        make(field)
    assert make(field.copy()).stride() == (1,)
    assert gw.tensor(field).tolist() == [1, 1, 1, 1]
