"""Upsampling as modules."""

import pytest

from tests.nn.module_cases import same

CASES = [
    ("Upsample", {"size": 5}, 1), ("Upsample", {"scale_factor": 2.5, "mode": "linear"}, 1),
    ("Upsample", {"scale_factor": (2, 3), "mode": "bilinear", "align_corners": True}, 2),
    ("Upsample", {"size": (6, 7), "mode": "bicubic"}, 2), ("Upsample", {"scale_factor": 2, "mode": "trilinear"}, 3),
    ("Upsample", {"scale_factor": 1.7, "mode": "linear", "recompute_scale_factor": True}, 1),
    ("UpsamplingNearest2d", {"scale_factor": 2}, 2), ("UpsamplingNearest2d", {"size": (3, 7)}, 2),
    ("UpsamplingBilinear2d", {"scale_factor": (2, 1.5)}, 2), ("UpsamplingBilinear2d", {"size": 7}, 2),
]  # fmt: skip


@pytest.mark.parametrize(("name", "kwargs", "n"), CASES)
def test_pytorch_agrees(torch, name, kwargs, n):
    same(torch, name, (), kwargs, torch.randn(2, 3, *(3, 4, 2)[:n], requires_grad=True))


def test_one_of_size_and_factor(lib):
    with pytest.raises(ValueError, match="either size or scale_factor should be defined"):
        lib.nn.Upsample()(lib.ones(1, 1, 3))
