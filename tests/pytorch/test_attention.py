"""Which kernel attention takes: accepted as PyTorch accepts it."""

import pytest

from gradwright.pytorch import attention as ours


def test_kernels_are_named_as_in_pytorch(torch):
    theirs = torch.nn.attention
    assert {k.name: int(k) for k in ours.SDPBackend} == {k: int(v) for k, v in theirs.SDPBackend.__members__.items()}
    assert str(ours.SDPBackend.MATH) == str(theirs.SDPBackend.MATH)
    for module in (ours, theirs):
        kernel = module.SDPBackend
        with module.sdpa_kernel([kernel.MATH, kernel.FLASH_ATTENTION], set_priority=True) as given:
            assert given == {}
        with module.sdpa_kernel(module.SDPBackend.EFFICIENT_ATTENTION):
            pass
        with pytest.raises(AssertionError, match="Backend must be an instance of SDPBackend or a list"):
            module.sdpa_kernel("math").__enter__()
