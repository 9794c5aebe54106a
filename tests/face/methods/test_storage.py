"""The memory behind tensors."""

import numpy as np
import pytest

import gradwright as gw


def test_views_have_the_storage_of_their_base(torch):
    for t in (gw, torch):
        x = t.arange(6.0).reshape(2, 3)
        y = x[1:]
        assert x.untyped_storage().data_ptr() == y.untyped_storage().data_ptr() == x.data_ptr()
        assert y.untyped_storage().nbytes() == x.untyped_storage().size() == len(x.untyped_storage()) == 24
        assert not t.is_storage(x)
        assert t.is_storage(x.untyped_storage())
        assert x.clone().untyped_storage().data_ptr() != x.data_ptr()
        assert x.untyped_storage().device.type == "cpu"
        assert isinstance(x.untyped_storage(), t.UntypedStorage)


@pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")
def test_entries(torch):
    for t in (gw, torch):
        s = t.arange(4.0)[1:].storage()
        assert (s.size(), len(s), s.element_size(), s.nbytes()) == (4, 4, 4, 16)
        assert s.tolist() == [0.0, 1.0, 2.0, 3.0]
        assert s[2] == 2.0
        assert str(s.dtype) == "torch.float32"
        assert s.untyped().nbytes() == 16


@pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")
def test_memory_is_given_back_and_taken(torch):
    for t in (gw, torch):
        x = t.ones(2, 3)
        x.storage().resize_(0)
        assert x.storage().size() == 0
        assert x.shape == (2, 3)
        x.storage().resize_(6)
        assert x.storage().size() == 6
        x.set_(t.zeros(2, 3))
        assert x.tolist() == [[0.0] * 3] * 2
        x.untyped_storage().resize_(24)  # as it is
        x.fill_(2)
        assert x.untyped_storage().nbytes() == 24


def test_what_has_been_given_back_is_no_number():
    x = gw.ones(3)
    x.untyped_storage().resize_(0)
    assert np.isnan(x.numpy()).all()
    with pytest.raises(RuntimeError, match=r"^resize_\(\): memory is given back \(0\) or taken for the whole tensor"):
        x.untyped_storage().resize_(5)
    with pytest.raises(TypeError, match=r"^UntypedStorage\(\): expected a tensor"):
        gw.UntypedStorage(4)


def test_parts_of_complex_numbers_are_written(torch):
    for t in (gw, torch):
        x = t.zeros(2, dtype=t.complex64)
        x.real = t.tensor([1.0, 2.0])
        x.imag = t.tensor([3.0, 4.0])
        assert x.tolist() == [1 + 3j, 2 + 4j]
        y = t.zeros(2)
        y.real = t.ones(2)
        assert y.tolist() == [1.0, 1.0]
