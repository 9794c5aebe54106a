"""The older names of mixed precision, which do not ask for the device."""

import pytest

import gradwright as gw
from gradwright.pytorch import amp, cuda_amp


@pytest.mark.filterwarnings("ignore:autocast:UserWarning")
def test_they_are_those_of_amp():
    assert issubclass(cuda_amp.autocast, amp.autocast)
    with cuda_amp.autocast(dtype=gw.float16) as on:
        assert (on.device, on.fast_dtype) == ("cuda", gw.float16)
        assert (gw.ones(1) * 2).dtype is gw.float32
    scaler = cuda_amp.GradScaler()
    assert isinstance(scaler, amp.GradScaler)
    assert scaler.is_enabled() is False  # as PyTorch's without a CUDA device


def test_the_names_are_pytorchs(torch):
    assert [name for name in cuda_amp.__all__ if not hasattr(torch.cuda.amp, name)] == []
