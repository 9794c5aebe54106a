"""Classes derived from Tensor: what operations on their instances give is what PyTorch gives.

They are defined in processes of their own, because functions ask for them from the first one on.
"""

import threading

import pytest

import gradwright as gw
from gradwright.face.methods.subclasses import KNOWN, TorchFunctionMode
from gradwright.pytorch import overrides
from tests.programs import run

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
    "classes that change": """
x = torch.ones(2).as_subclass(Plain)
kinds(x + 1)
Plain.__torch_function__ = classmethod(lambda cls, func, types, args=(), kwargs=None: func.__name__)
print(x + 1, torch.exp(x))
class Lower(Plain): pass
y = torch.ones(2).as_subclass(Lower)
print(x + y, y + x)
Plain.__torch_function__ = classmethod(lambda cls, func, types, args=(), kwargs=None: [t.__name__ for t in types])
print(x + y, y + x, torch.cat([x, torch.ones(1), y]))
class Other:
    pass
class Value(Other):
    pass
print(torch.overrides.has_torch_function((Value(),)))
class Asked:
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None): return "asked"
Value.__bases__ = (Asked,)
print(torch.overrides.has_torch_function((Value(),)), torch.exp(Value()))
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
    "the examples of the documentation": """
mm, HANDLED = torch.mm, {}
def implements(function):
    def register(mine):
        HANDLED[function] = mine
        return mine
    return register

class ScalarTensor:
    def __init__(self, n, value):
        self.n, self.value = n, value
    def tensor(self):
        return self.value * torch.eye(self.n)
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if func not in HANDLED or not all(issubclass(t, (torch.Tensor, ScalarTensor)) for t in types):
            return NotImplemented
        return HANDLED[func](*args, **(kwargs or {}))

@implements(torch.mean)
def mean(input):
    return float(input.value) / input.n

@implements(torch.Tensor.add)
@implements(torch.add)
def add(input, other):
    parts = [d.tensor() if isinstance(d, ScalarTensor) else d for d in (input, other)]
    return torch.add(*parts)

@implements(torch.mm)
def product(a, b):
    return "mm"

@implements(torch.nn.functional.linear)
def linear(input, weight, bias=None):
    return "linear"

d = ScalarTensor(2, 3)
print(torch.mean(d), torch.mean(input=d), torch.add(d, torch.ones(2, 2)).tolist(), torch.add(torch.eye(2), d).tolist())
print(mm(d, d), (torch.ones(2, 2) + d).tolist(), torch.mean in HANDLED)
print(torch.ones(2, 2).add(d).tolist(), torch.nn.Linear(2, 2)(d))
for call in (lambda: torch.mul(d, 2), lambda: torch.stack([d, d]), lambda: torch.nn.functional.softmax(d, 0)):
    try:
        call()
    except TypeError:
        print("nobody")

class MetadataTensor:
    def __init__(self, data, metadata=None):
        self._t, self.metadata = torch.as_tensor(data), metadata
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        metadata = tuple(a.metadata for a in args if hasattr(a, "metadata"))
        return MetadataTensor(func(*[getattr(a, "_t", a) for a in args], **(kwargs or {})), metadata[0])

m = torch.add(torch.tensor([[1, 2], [1, 2]]), MetadataTensor([[1, 2], [3, 4]], "mine"))
print(m.metadata, m._t.tolist(), torch.sum(m)._t.item())

x = Counted([[1.0, 2.0], [3.0, 4.0]])
layers = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU(), torch.nn.BatchNorm1d(2))
before = len(Counted.calls)
kinds(layers(x), torch.ones(2, 2) @ x, torch.ones(2, 2).mm(x), torch.nn.functional.mse_loss(x, torch.ones(2, 2)))
names = Counted.calls[before:]
print([name for name in ("linear", "relu", "batch_norm", "matmul", "mm", "mse_loss") if name in names])
Counted.calls.clear()
x + 1, 1 + x, x * 2, -x, x > 0, x[0], x.mul_(2), abs(x), x == x, x.T
print(Counted.calls, x)
""",
    "modes, and what functions are called": """
from torch.overrides import (TorchFunctionMode, get_overridable_functions, get_testing_overrides,
                             is_tensor_method_or_property, resolve_name, wrap_torch_function)
seen = []
class Listed(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        seen.append(func.__name__)
        return func(*args, **(kwargs or {}))
p = torch.ones(2).as_subclass(Plain)
with Listed():
    x = torch.ones(2)
    torch.exp(x + 1).sum()
    torch.nn.functional.relu(x, inplace=False)
    kinds(torch.exp(p))
n = len(seen)
torch.exp(x)
print(seen, len(seen) == n)
with Listed(), torch._C.DisableTorchFunctionSubclass():
    kinds(torch.exp(p), p + 1, p.as_subclass(Plain))
    with torch._C.DisableTorchFunction(), torch._C.DisableTorchFunctionSubclass():
        torch.sin(p)
print(seen[n:])
with Listed():
    torch.atleast_1d(), torch.is_grad_enabled(), torch.get_default_dtype(), torch.get_rng_state()
print(seen[n:])
there = get_overridable_functions()
print(torch.add in there[torch], torch.Tensor.add in there[torch.Tensor])
print(torch.nn.functional.relu in there[torch.nn.functional], torch.exp in get_testing_overrides())
print(is_tensor_method_or_property(torch.Tensor.add), is_tensor_method_or_property(torch.add))
print(resolve_name(torch.add), resolve_name(torch.Tensor.add), resolve_name(torch.nn.functional.relu))
@wrap_torch_function(lambda x: (x,))
def f(x):
    return x
kinds(f(p), f(x))
import copy
p.mine = [1]
kinds(copy.copy(p))
print(copy.copy(p).mine is p.mine)
""",
    "what takes anything asks nothing": """
print(torch.is_tensor(Masked(1)), torch.is_tensor(Plain(torch.ones(1))), torch.is_tensor(3))
""",
}


@pytest.fixture
def prints(tmp_path):
    """Of a program: what it prints, with warnings ignored, in a process that has imported ``imports``."""

    def prints(text, imports="gradwright", warnings="ignore"):
        program = tmp_path / "program.py"
        program.write_text(f"import warnings\nwarnings.simplefilter({warnings!r})\n{text}")
        done = run(program, imports=imports)
        assert done.returncode == (warnings == "error"), done.stderr
        return done.stdout + done.stderr

    return prints


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS.keys())
@pytest.mark.usefixtures("torch")
def test_they_are_as_pytorchs(prints, program):
    ours, theirs = (prints(f"import torch\n{DEFINED}{program}", which) for which in ("gradwright.as_torch", "torch"))
    assert ours == theirs != ""


def test_functions_stay_the_same_objects_when_the_first_class_is_made(prints):
    program = """if True:
        import inspect
        import gradwright as gw
        from gradwright import add, exp
        before, signature = (add.__code__, exp.__code__), inspect.signature(gw.sum)
        class Plain(gw.Tensor):
            pass
        print(add is gw.add, exp is gw.exp, gw.Tensor.exp is exp)
        print(before[0] is not add.__code__, before[1] is not exp.__code__, inspect.signature(gw.sum) == signature)
        x = Plain([1.0])
        print(type(exp(x)) is type(add(gw.ones(1), x)) is type(gw.ones(1).add(x)) is type(gw.ones(1) + x) is Plain)
        print(type(gw.nn.functional.relu(x)) is type(gw.nn.ReLU()(x)) is Plain)
        print(gw.exp(gw.zeros(1)).item() == 1, gw.add(1, gw.ones(1)).item() == 2)
        """
    assert set(prints(program).split()) == {"True"}


MADE = "import gradwright as gw; type('Plain', (gw.Tensor,), {})"


def test_guards_see_what_they_saw_before_the_first_class(prints):
    program = """if True:
        import gradwright as gw
        class Sinh(gw.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x)
                return gw.sinh(x)
            @staticmethod
            def backward(ctx, g):
                return g * gw.tensor(ctx.saved_tensors[0].HOW)
        x = gw.ones(2, requires_grad=True)
        g, = gw.autograd.grad(Sinh.apply(x).sum(), x, create_graph=True)
        try:
            print(gw.autograd.grad(g.sum(), x))
        except RuntimeError as e:
            print(e)
        """
    for how in ("numpy()", "tolist()"):
        text = program.replace("HOW", how)
        assert prints(text) == prints(text.replace("import gradwright as gw", MADE)) != ""


def test_what_is_never_asked_is_told(prints):
    program = """if True:
        import gradwright as gw
        class Wrapped(gw.Tensor):
            @classmethod
            def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
                return None
        """
    assert "Wrapped has a __torch_dispatch__, which gradwright never asks" in prints(program, warnings="error")
    program += """
        for make in (Wrapped, gw.ones(1).as_subclass, lambda cls: gw.Tensor._make_subclass(cls, gw.ones(1))):
            try:
                make(Wrapped) if make is not Wrapped else Wrapped([1.0])
            except NotImplementedError as e:
                print(e)
        """
    assert prints(program).count("say by __torch_function__ what operations on its instances do") == 3


@pytest.mark.filterwarnings("ignore:Using a non-tuple sequence")  # PyTorch's, of what it takes for one
@pytest.mark.parametrize("name", ["add", "eq", "index", "layer", "ours"])
def test_tensors_of_pytorchs_own_beside_ours_are_told(name, torch):
    x, y = gw.ones(2), torch.ones(2)
    calls = {"add": lambda: torch.add(y, x), "eq": lambda: x == y, "index": lambda: y[gw.tensor([0])],
             "layer": lambda: torch.nn.Linear(2, 2)(x), "ours": lambda: x + y}  # fmt: skip
    with pytest.raises((RuntimeError, TypeError), match="from_dlpack"):
        calls[name]()


class Listed(TorchFunctionMode):
    """Notes the functions, each inside another mode, which lets them pass."""

    def __init__(self, inner=None):
        self.seen, self.inner = [], inner

    def __torch_function__(self, func, types, args=(), kwargs=None):
        self.seen.append(func.__name__)
        if self.inner is not None:
            with self.inner:
                pass
        return func(*args, **(kwargs or {}))


def test_a_mode_is_asked_after_another_one_was_left_in_its_handler():
    x = gw.ones(2)
    with Listed(Listed()) as mode:
        for _ in range(3):
            gw.exp(x)
    assert mode.seen == ["exp"] * 3
    assert gw.Tensor in KNOWN


def test_a_mode_is_asked_after_a_thread_has_left_another_one():
    x = gw.ones(2)

    def other():
        with Listed():
            gw.sin(x)
        type("Own", (gw.nn.Parameter,), {})

    with Listed() as mode:
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        gw.exp(x)
    assert mode.seen == ["exp"]
    assert gw.Tensor in KNOWN


def test_operands_of_einsum_in_a_list_are_spread_before_a_class_is_asked(T):
    class Asked:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return func.__name__, args

    x = Asked()
    for given in ((x, x), ([x, x],), ((x, x),)):
        assert T.einsum("i,i->", *given) == ("einsum", ("i,i->", x, x))


def test_a_function_of_that_name_that_is_somebody_elses_has_its_arguments_as_they_were(T):
    class Asked:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return args

    def einsum(text, operands):
        return ask(einsum, operands, text, operands)

    ask = overrides.handle_torch_function if T is gw else T.overrides.handle_torch_function
    x = Asked()
    assert einsum("i,i->", [x, x]) == ("i,i->", [x, x])
