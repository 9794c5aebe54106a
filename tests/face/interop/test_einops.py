import subprocess
import sys

import einops
import numpy as np
import pytest

import gradwright as gw
from gradwright import autograd

X = np.arange(24.0).reshape(2, 3, 4)
CALLS = {
    "rearrange": lambda x: einops.rearrange(x, "a b c -> c (b a)"),
    "split": lambda x: einops.rearrange(x, "a b (c d) -> a c b d", c=2),
    "reduce": lambda x: einops.reduce(x, "a b c -> b", "mean"),
    "max": lambda x: einops.reduce(x, "a b c -> a c", "max"),
    "repeat": lambda x: einops.repeat(x, "a b c -> a r b c", r=3),
    "einsum": lambda x: einops.einsum(x, x, "a b c, a d c -> b d"),
    "pack": lambda x: einops.pack([x, x], "a * c")[0],
    "list": lambda x: einops.rearrange([x, x], "n a b c -> a (n b) c"),
}


@pytest.mark.parametrize("name", CALLS)
def test_einops_works_on_tensors(name):
    x = gw.tensor(X, requires_grad=True)
    out = CALLS[name](x)
    assert isinstance(out, gw.Tensor)
    np.testing.assert_allclose(out.detach().numpy(), CALLS[name](X))
    assert autograd.gradcheck(CALLS[name], (x,))


@pytest.mark.parametrize("order", ["gradwright, einops", "einops, gradwright"])
def test_it_does_not_matter_which_is_imported_first(order):
    program = f"import {order}; print(einops.rearrange(gradwright.ones(2, 3), 'a b -> b a').shape)"
    out = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert out.stdout == "torch.Size([3, 2])\n", out.stderr


def test_einops_is_not_imported_for_nothing():
    program = "import sys, gradwright; print('einops' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout == "False\n"
