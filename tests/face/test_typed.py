"""`FloatTensor`, `LongTensor` and their family."""

import pytest

import gradwright as gw

NAMES = ("FloatTensor", "DoubleTensor", "HalfTensor", "BFloat16Tensor", "LongTensor", "IntTensor", "ShortTensor",
         "CharTensor", "ByteTensor", "BoolTensor")  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_they_make_tensors_of_their_dtype(torch, name):
    for args in (([1, 0, 1],), (2, 3), ((2, 3),), (), ([[1], [0]],)):
        ours, theirs = getattr(gw, name)(*args), getattr(torch, name)(*args)
        assert str(ours.dtype) == str(theirs.dtype)
        assert tuple(ours.shape) == tuple(theirs.shape)
        if args and isinstance(args[0], (list, tuple)):
            assert ours.tolist() == theirs.tolist()
        assert ours.type() == theirs.type() == f"torch.{name}"


def test_every_tensor_of_the_dtype_is_an_instance(torch):
    for t in (gw, torch):
        assert isinstance(t.ones(1), t.FloatTensor)
        assert not isinstance(t.ones(1), t.LongTensor)
        assert isinstance(t.ones(1, dtype=t.int64), (t.IntTensor, t.LongTensor))
        assert not isinstance(1.0, t.FloatTensor)
        assert t.ones(1).type(t.LongTensor).dtype is t.int64
        assert t.ones(1).type("torch.DoubleTensor").dtype is t.float64


def test_a_tensor_of_another_dtype_is_refused():
    with pytest.raises(TypeError, match=r"^torch\.LongTensor\(\): expected a tensor of torch\.int64, but got one of"):
        gw.LongTensor(gw.ones(2))
