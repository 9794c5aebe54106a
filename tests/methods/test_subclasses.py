"""Classes derived from Tensor: what operations on their instances give is what PyTorch gives.

They are defined in processes of their own, because functions ask for them from the first one on.
"""

from __future__ import annotations

import subprocess
import sys

import pytest

import gradwright as gw

DEFINED = """
class Plain(torch.Tensor):
    pass

class Counted(torch.Tensor):
    calls = []
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        Counted.calls.append(func.__name__)
        return super().__torch_function__(func, types, args, kwargs or {})

class Masked:
    def __init__(self, x):
        self.x = x
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if func in (torch.add, torch.cat):
            return func.__name__
        return NotImplemented

class Named(torch.Tensor):
    @staticmethod
    def __new__(cls, data, name):
        return torch.Tensor._make_subclass(cls, data, data.requires_grad)
    def __init__(self, data, name):
        self.name_of = name

def kinds(*values):
    print(*[type(v).__name__ for v in values])
"""

PROGRAMS = {
    "results are of the class": """
x = torch.ones(2, 3).as_subclass(Plain)
kinds(x, x + 1, 1 + x, -x, x.sum(), torch.sum(x), x.T, x[0], x @ x.T, x == x, x.clone(), x.detach())
kinds(*x.max(1), *x.split(1), torch.stack([x, x]), torch.ones(2), x.long(), torch.cat([torch.ones(1, 3), x]))
print(x.shape, type(x.shape).__name__, x.numel(), x.tolist(), (x * 2).sum().item())
kinds(x.data, x.view(3, 2), x.reshape(-1), torch.relu(x), torch.nn.functional.gelu(x), torch.linalg.norm(x))
""",
    "gradients": """
x = torch.ones(2, requires_grad=True)
y = x.as_subclass(Plain)
z = (y * y).sum()
z.backward()
kinds(y, z, x.grad)
print(x.grad.tolist(), z.requires_grad, y.is_leaf)
""",
    "a parameter stays one": """
p = torch.nn.Parameter(torch.ones(2))
kinds(p, p * 2, p.sum(), p.detach(), p.data)
class Mine(torch.nn.Parameter):
    pass
q = Mine(torch.ones(2))
kinds(q, q * 2)
""",
    "in place": """
x = torch.ones(2).as_subclass(Plain)
x += 1
kinds(x, x.add_(1), x.zero_())
x[0] = 5.0
print(x.tolist())
""",
    "own __torch_function__": """
x = torch.ones(2).as_subclass(Counted)
y = torch.exp(x) + x.sin()
kinds(y)
print(any('exp' in name for name in Counted.calls), any('sin' in name for name in Counted.calls))
with torch._C.DisableTorchFunctionSubclass():
    n = len(Counted.calls)
    kinds(torch.exp(x))
    print(len(Counted.calls) == n)
""",
    "values that are no tensors": """
m = Masked(1)
print(torch.add(torch.ones(1), m), torch.cat([m, torch.ones(1)]))
try:
    torch.mul(torch.ones(1), m)
except TypeError:
    print("nobody")
""",
    "_make_subclass": """
x = torch.ones(2, requires_grad=True)
n = Named(x, 'n')
kinds(n, n * 2)
print(n.name_of, n.requires_grad, n.is_leaf, n.data_ptr() == x.data_ptr())
""",
    "functions that ask": """
from torch.overrides import has_torch_function, has_torch_function_unary, handle_torch_function, is_tensor_like
x = torch.ones(1).as_subclass(Plain)
print(has_torch_function((x,)), has_torch_function_unary(torch.ones(1)), is_tensor_like(Masked(1)), is_tensor_like(1))
def f(x):
    if has_torch_function((x,)):
        return handle_torch_function(f, (x,), x)
    return x * 2
kinds(f(x), f(torch.ones(1)))
""",
    "constructor": """
x = Plain([1.0, 2.0])
y = Plain(2, 3)
kinds(x, y, x * 2)
print(x.tolist(), y.shape)
print(isinstance(x, torch.Tensor), torch.is_tensor(x))
""",
    "parts": """
x = torch.ones(2).as_subclass(Plain)
kinds(*x.unbind(), *list(x))
""",
    "what takes anything asks nothing": """
print(torch.is_tensor(Masked(1)), torch.is_tensor(Plain(torch.ones(1))), torch.is_tensor(3))
""",
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS.keys())
@pytest.mark.usefixtures("torch")
def test_they_are_as_pytorchs(tmp_path, program):
    said = []
    for start in ("import gradwright.as_torch\nimport torch\n", "import torch\n"):
        done = subprocess.run([sys.executable, "-W", "ignore", "-c", start + DEFINED + program], capture_output=True,
                              text=True, timeout=120)  # fmt: skip
        assert done.returncode == 0, done.stderr
        said.append(done.stdout)
    assert said[0] == said[1] != ""


def test_nothing_asks_before_the_first_class():
    program = """if True:
        import gradwright as gw
        before = gw.add
        class Plain(gw.Tensor):
            pass
        print(hasattr(before, "_asks"), hasattr(gw.add, "_asks"), gw.add.__name__)
        """
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True", "add"]


@pytest.mark.filterwarnings("ignore:Using a non-tuple sequence")  # PyTorch's, of what it takes for one
@pytest.mark.parametrize("name", ["add", "eq", "index", "layer", "ours"])
def test_tensors_of_pytorchs_own_beside_ours_are_told(name, torch):
    x, y = gw.ones(2), torch.ones(2)
    calls = {"add": lambda: torch.add(y, x), "eq": lambda: x == y, "index": lambda: y[gw.tensor([0])],
             "layer": lambda: torch.nn.Linear(2, 2)(x), "ours": lambda: x + y}  # fmt: skip
    with pytest.raises((RuntimeError, TypeError), match="from_dlpack"):
        calls[name]()
