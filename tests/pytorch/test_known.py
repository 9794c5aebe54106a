"""The table of PyTorch's names is that of the PyTorch that is installed."""

import subprocess
import sys

import pytest

from gradwright.pytorch import known


@pytest.mark.parametrize("name", [
    "torch", "torch.sin", "torch._C", "torch._C._nn", "torch.nn.Linear", "torch.Tensor.to_mkldnn", "torch.onnx.export",
    "torch.distributed.rpc", "torch.distributed.rpc.rpc_sync", "torch.cuda.Stream", "torch.optim.SparseAdam",
])  # fmt: skip
def test_known(name):
    assert known.is_known(name)


@pytest.mark.parametrize("name", ["torch.frobnicate", "torch.nn.Frobnicate", "torch.frobnicate.x", "numpy", "Tensor"])
def test_not_known(name):
    assert not known.is_known(name)


def test_the_table_is_written_from_the_pytorch_that_is_installed(torch, tmp_path):
    if torch.__version__.partition("+")[0] != "2.13.0":
        pytest.skip("the table is that of PyTorch 2.13.0")
    file = tmp_path / "known.txt"  # by a process in which nothing else has added names to PyTorch's modules
    subprocess.run([sys.executable, "-m", "gradwright.pytorch.known", str(file)], check=True)
    assert file.read_text().splitlines() == known.FILE.read_text().splitlines()
