"""Questions that are functions."""

import numpy as np
import pytest

import gradwright as gw


@pytest.mark.parametrize("name", ["get_device", "is_conj", "is_distributed", "is_inference", "is_neg", "is_signed"])
def test_questions_about_tensors(torch, name):
    for dtype in ("float32", "uint8"):
        ours, theirs = (getattr(t, name)(t.ones(2, dtype=getattr(t, dtype))) for t in (gw, torch))
        assert ours == theirs
    with pytest.raises(TypeError, match=rf"^{name}\(\): argument 'input' \(position 1\) must be Tensor, not int"):
        getattr(gw, name)(1)


def test_same_size_and_typename(torch):
    for t in (gw, torch):
        assert t.is_same_size(t.ones(2, 3), t.zeros(2, 3))
        assert not t.is_same_size(t.ones(2, 3), t.zeros(3, 2))
        assert t.typename(t.ones(1)) == "torch.FloatTensor"
        assert t.typename(t.ones(1, dtype=t.int64)) == "torch.LongTensor"
        assert t.typename(1) == "int"
        assert t.typename(np.float32) == "numpy.float32"
        assert t.is_vulkan_available() is False
        assert t.compiled_with_cxx11_abi() is True
    assert gw.typename(gw.nn.Linear(1, 1)).endswith("linear.Linear")


@pytest.mark.parametrize("args", [(1, 4), (0, 1, 0.25), (5, 1, -2), (0, 1, 0.3)])
@pytest.mark.filterwarnings("ignore:torch.range is deprecated")
def test_range_meets_its_end(torch, args):
    ours, theirs = gw.range(*args), torch.range(*args)
    assert ours.tolist() == pytest.approx(theirs.tolist())
    assert str(ours.dtype) == str(theirs.dtype)
    with pytest.raises(RuntimeError, match="step must be nonzero"):
        gw.range(0, 1, 0)
    with pytest.raises(RuntimeError, match="inconsistent with step sign"):
        gw.range(0, 1, -1)


def test_frombuffer_shares_memory(torch):
    memory = bytearray(np.arange(4, dtype=np.float32).tobytes())
    for t in (gw, torch):
        x = t.frombuffer(memory, dtype=t.float32)
        x[0] = 7.0
        assert t.frombuffer(memory, dtype=t.float32, count=2, offset=0).tolist() == [7.0, 1.0]
        assert t.frombuffer(memory, dtype=t.float32, offset=8, requires_grad=True).requires_grad
        for wrong in ({"offset": 16}, {"offset": 2}, {"count": 5}, {"count": 0}):
            with pytest.raises(ValueError, match="buffer length"):
                t.frombuffer(memory, dtype=t.float32, **wrong)
