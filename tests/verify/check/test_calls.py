"""Sample calls: declared, converted, and made up."""

import numpy as np

import gradwright as gw
from gradwright.verify.check.calls import Arg, Call, read, samples


def test_the_decorator_on_a_class():
    @samples((gw.tensor([1.0]), 3), (gw.tensor([2.0]), 4))
    class F(gw.autograd.Function): ...

    assert [c[1] for c in F.samples()] == [3, 4]


def test_the_decorator_with_a_function():
    made = []

    @samples(lambda: made.append(1) or [(gw.tensor([1.0]),)])
    class F(gw.autograd.Function): ...

    assert not made
    assert len(F.samples()) == 1


def test_tensors_that_require_grad_are_those_looked_at():
    a, b = gw.tensor([1.0], requires_grad=True), gw.tensor([1.0])
    assert [arg.grad for arg in Call(read((a, [b]), gw), ("a", "b")).args] == [True, False]
    assert [arg.grad for arg in Call(read((b, gw.tensor([1])), gw), ("a", "b")).args] == [True, False]


def test_containers_keep_their_shape_and_names():
    call = Call(read(([gw.tensor([1.0]), 2], {"k": gw.tensor([3.0])}, 4), gw), ("pair", "d", "n"))
    assert call.labels() == ["pair[0]", "d[0]"]
    (pair, d, n), leaves = call.tensors(gw)
    assert (pair[1], n, len(leaves)) == (2, 4, 2)
    assert d["k"].item() == 3.0


def test_precision():
    call = Call((Arg(np.ones(2, np.float32), True), Arg(np.ones(2, np.complex128), True), Arg(np.ones(2, int), False)),
                ("a", "b", "c"))  # fmt: skip
    assert [a.array.dtype.name for a in call.precise().args] == ["float64", "complex128", "int64"]
    assert [a.array.dtype.name for a in call.single().args] == ["float32", "complex64", "int64"]
    assert call.is_complex
    assert str(call) == "a: float32 (2,), b: complex128 (2,), c: int64 (2,)"


def test_every_run_gets_its_own_memory_in_the_same_order():
    array = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    call = Call((Arg(array, True),), ("x",))
    _, (t,) = call.tensors(gw)
    assert t.array is not array
    assert t.array.strides == array.strides
    flipped = array[::-1]
    assert Call((Arg(flipped, True),), ("x",)).tensors(gw)[1][0].array.strides == flipped.strides
