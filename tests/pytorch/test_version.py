"""``torch.__version__`` is compared as PyTorch's is."""

import operator

import pytest

from gradwright.pytorch.version import TorchVersion

VERSIONS = ["2.13.0", "2.13.0+cpu", "2.9", "2.9.1", "2.14.0a0", "2.14", "10.0", "2.13.0.dev20250101", "2.13.0rc1",
            "1.13.1+cu117", "2.13.0+gradwright.0.2.0", "2.13.0.post1"]  # fmt: skip
OTHERS = [*VERSIONS, "parrot", "", (2, 9), [2, 13, 0], (2, 13, "0"), (2, 14)]
HOW = [operator.lt, operator.le, operator.gt, operator.ge, operator.eq]


@pytest.mark.parametrize("how", HOW, ids=[how.__name__ for how in HOW])
@pytest.mark.parametrize("version", VERSIONS)
def test_comparisons(torch, version, how):
    ours, theirs = TorchVersion(version), torch.torch_version.TorchVersion(version)
    assert [how(ours, other) for other in OTHERS] == [how(theirs, other) for other in OTHERS]


def test_it_is_a_text():
    version = TorchVersion("2.13.0+cpu")
    assert version != (2, 13)  # PyTorch's is unequal as a text, and so even where it is equal
    assert version.split("+") == ["2.13.0", "cpu"]
    assert {version: 1}["2.13.0+cpu"] == 1
