"""Storages by dtype, and tensors over files, as PyTorch's."""

import numpy as np
import pytest

import gradwright as gw
from gradwright.pytorch import storages


@pytest.mark.parametrize("name", storages.__all__[:-1])
@pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")
def test_storages_of_a_dtype(torch, name):
    for T, space in ((gw, storages), (torch, torch)):
        kind = getattr(space, name)
        assert kind([1, 0]).tolist() == [1, 0]
        assert len(kind(3)) == 3
        dtype = kind([1, 0]).dtype
        assert isinstance(T.ones(2, dtype=dtype).storage(), kind)
        other = T.int64 if dtype is not T.int64 else T.float32
        assert not isinstance(T.ones(2, dtype=other).storage(), kind)
        assert not isinstance(T.ones(2, dtype=dtype), kind)


def test_what_storages_refuse():
    with pytest.raises(TypeError, match=r"torch.FloatStorage\(\): expected a size or a sequence, but got 2 arguments"):
        storages.FloatStorage(1, 2)


def test_a_tensor_over_a_file(tmp_path):
    path = tmp_path / "numbers"
    np.arange(4, dtype=np.float32).tofile(path)
    mine = storages.from_file(str(path), size=3)
    mine[0] = 7
    assert mine.tolist() == [7, 1, 2]
    assert np.fromfile(path, np.float32).tolist() == [0, 1, 2, 3]
    shared = storages.from_file(path, True, 6, dtype=gw.float32)
    shared[5] = 9
    del shared
    assert np.fromfile(path, np.float32).tolist() == [0, 1, 2, 3, 0, 9]
    made = storages.from_file(tmp_path / "new", shared=True, size=2, dtype=gw.int64)
    assert made.tolist() == [0, 0]
    assert storages.from_file(path).shape == (0,)
    with pytest.raises(RuntimeError, match=r"has 24 bytes, fewer than the 80 of 10 entries of torch\.float64"):
        storages.from_file(path, size=10, dtype=gw.float64)
