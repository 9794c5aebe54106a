"""`torch.utils.flop_counter`, against PyTorch's own."""

import importlib

import pytest

import gradwright as gw
from gradwright.pytorch.flops import FlopCounterMode


def _net(T):
    nn = T.nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.convolution = nn.Conv2d(3, 4, 3, padding=1)
            self.body = nn.Sequential(nn.ReLU(), nn.Flatten(), nn.Linear(4 * 64, 5))
            self.attention = nn.MultiheadAttention(5, 1)
            self.up = nn.ConvTranspose1d(1, 2, 3)

        def forward(self, x):
            y = self.body(self.convolution(x))
            z = self.attention(y[None], y[None], y[None])[0][0]
            products = (y @ y.T, T.einsum("ij,kj->ik", y, z), T.bmm(y[None], y.T[None]), y @ y[0], y * z)
            return self.up(y[:, None]).sum() + sum(p.sum() for p in products)

    return Net()


@pytest.mark.parametrize("backward", [False, True])
def test_as_many_as_pytorch_counts(torch, backward):
    counted = []
    theirs = importlib.import_module("torch.utils.flop_counter").FlopCounterMode
    for T, mode in ((gw, FlopCounterMode), (torch, theirs)):
        net = _net(T)
        with mode(display=False) as flops:
            out = net(T.ones(2, 3, 8, 8))
            if backward:
                out.backward()
        counted.append({module: sum(counts.values()) for module, counts in flops.get_flop_counts().items()})
        assert flops.get_total_flops() == counted[-1]["Global"]
        if backward:  # PyTorch's leaves out there what no module below it made
            del counted[-1]["Net"]
    assert counted[0] == counted[1]


def test_a_table_is_printed(capsys):
    with FlopCounterMode():
        gw.nn.Linear(3, 4)(gw.ones(2, 3))
    assert [line.split() for line in capsys.readouterr().out.splitlines()] == [
        ["Module", "FLOP", "of", "all"], ["Global", "48", "100.00%"], ["Linear", "48", "100.00%"],
    ]  # fmt: skip
