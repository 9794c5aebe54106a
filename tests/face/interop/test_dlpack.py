"""DLPack and NumPy's array protocols: the same memory on both sides, and never a gradient lost on the way."""

import importlib.util

import array_api_compat
import numpy as np
import pytest

import gradwright as gw


def test_with_numpy_both_ways_without_a_copy():
    x = gw.tensor([[1.0, 2.0], [3.0, 4.0]])
    there = np.from_dlpack(x)
    there[0, 0] = 9.0
    assert x[0, 0].item() == 9.0
    back = gw.from_dlpack(there)
    back[1, 1] = 7.0
    assert x.tolist() == [[9.0, 2.0], [3.0, 7.0]]


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "uint8", "bool", "complex64"])
def test_with_pytorch_both_ways_without_a_copy(torch, dtype):
    x = gw.zeros(2, 3, dtype=getattr(gw, dtype)).t()
    there = torch.from_dlpack(x)
    assert (there.dtype, tuple(there.shape)) == (getattr(torch, dtype), (3, 2))
    there[1, 0] = 1
    assert x[1, 0].item() == 1
    theirs = torch.zeros(4, dtype=getattr(torch, dtype))
    ours = gw.from_dlpack(theirs)
    ours[2] = 1
    assert theirs[2].item() == 1


def test_with_jax_both_ways_without_a_copy():
    if importlib.util.find_spec("jax") is None:
        pytest.skip("jax is not installed: exchange with JAX not tried")
    import jax

    x = gw.tensor([1.0, 2.0, 3.0])
    there = jax.dlpack.from_dlpack(x)
    assert there.tolist() == [1.0, 2.0, 3.0]
    theirs = jax.numpy.arange(4.0)
    ours = gw.from_dlpack(theirs, device="cpu")  # without it, it would be JAX's own where JAX's devices are in use
    assert ours.numpy().ctypes.data == theirs.unsafe_buffer_pointer()
    assert (ours * 2).tolist() == [0.0, 2.0, 4.0, 6.0]


def test_a_0d_result_shares_its_memory_too():
    x = gw.tensor([1.0, 2.0]).sum()
    np.from_dlpack(x)[...] = 5.0
    assert x.item() == 5.0


def test_a_gradient_is_never_lost():
    x = gw.ones(2, requires_grad=True)
    with pytest.raises(BufferError, match="detach"):
        np.from_dlpack(x)
    for f in (np.asarray, lambda t: t.numpy(), lambda t: t.__array_interface__):
        with pytest.raises(RuntimeError, match="Can't call numpy"):
            f(x)
    assert np.asarray(x.detach()).tolist() == [1.0, 1.0]


def test_array_interface_is_the_memory():
    x = gw.tensor([[1.0, 2.0]])
    class Holder:
        __array_interface__ = x.__array_interface__
    np.asarray(Holder())[0, 1] = 8.0
    assert x.tolist() == [[1.0, 8.0]]


def test_the_namespace_is_found():
    x = gw.ones(2, 3)
    assert array_api_compat.array_namespace(x) is gw.xp
    assert x.__array_namespace__() is gw.xp
    assert array_api_compat.size(x) == 6
    assert array_api_compat.device(x) == x.device


def test_size_is_a_number_and_a_method():
    x = gw.ones(2, 3)
    assert x.size == 6
    assert x.size() == (2, 3)
    assert (x.size(0), x.size(-1)) == (2, 3)
    assert isinstance(x.size(), gw.Size)
    with pytest.raises(IndexError, match="Dimension out of range"):
        x.size(2)


def test_dtypes_that_cannot_be_exchanged_are_named(torch):
    with pytest.raises(BufferError, match=r"from_dlpack\(\): cannot take an array of torch\.bfloat16 .*; convert it"):
        gw.from_dlpack(torch.ones(2, dtype=torch.bfloat16))
    with pytest.raises(BufferError, match=r"from_dlpack\(\): cannot take an array of float128"):
        gw.from_dlpack(np.ones(2, np.longdouble))
    with pytest.raises(TypeError, match=r"from_dlpack\(\): expected an array with __dlpack__, but got int"):
        gw.from_dlpack(3)
