"""Operations declared by a schema, as ``torch.library.Library``, ``define`` and ``impl`` have them."""

import inspect
import subprocess
import sys

import pytest

import gradwright as gw
from gradwright.pytorch import library, schemas

PROGRAM = """
import torch
lib = torch.library.Library("mine", "DEF")
lib.define("cube(Tensor x, *, float by=1.0) -> Tensor")
lib.define("twice(Tensor x) -> Tensor")

@torch.library.impl(lib, "cube", "CPU")
def cube(x, *, by=1.0):
    return by * x ** 3

@torch.library.impl(lib, "cube", "Meta")
def cube_shape(x, *, by=1.0):
    return torch.empty_like(x)

lib.impl("twice", lambda x: 2 * x, "CompositeImplicitAutograd")
torch.library.define("mine::half", "(Tensor x) -> Tensor")
torch.library.impl("mine::half", "cpu", lambda x: x / 2)

class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        with torch._C._AutoDispatchBelowAutograd():
            return torch.ops.mine.square(x)
    @staticmethod
    def backward(ctx, g):
        return 2 * g * ctx.saved_tensors[0]

lib.define("square(Tensor x) -> Tensor")
lib.impl("square", lambda x: x * x, "CPU")
lib.impl("square", Square.apply, "Autograd")
torch.library.define("mine::fill", "(Tensor(a!) x, int[] sizes=[1, 2], str mode='a', bool? flag=None) -> ()")

@torch.library.impl("mine::fill", "default")
def fill(x, sizes=(1, 2), mode="a", flag=None):
    x.fill_(len(sizes) if flag is None else 0)

def setup(ctx, inputs, keyword_only_inputs, output):
    ctx.save_for_backward(*inputs)
    ctx.by = keyword_only_inputs["by"]

torch.library.register_autograd("mine::cube", lambda ctx, g: 3 * ctx.by * g * ctx.saved_tensors[0] ** 2,
                                setup_context=setup)
x = torch.tensor([1.0, 2.0], requires_grad=True)
for f in (torch.ops.mine.twice, torch.ops.mine.square, lambda x: torch.ops.mine.cube(x, by=2.0),
          torch.ops.mine.square.default):
    y = f(x)
    print(y.tolist(), torch.autograd.grad(y.sum(), x)[0].tolist())
print(torch.ops.mine.cube(x.detach()).tolist(), torch.ops.mine.half(x.detach()).tolist())
y = torch.zeros(2)
torch.ops.mine.fill(y)
print(y.tolist())
try:
    lib.define("never(Tensor x) -> Tensor")
    torch.ops.mine.never(x)
except NotImplementedError:
    print("no function")
"""


@pytest.mark.usefixtures("torch")
def test_programs_print_what_they_print_on_pytorch():
    said = [subprocess.run([sys.executable, "-W", "ignore", "-c", start + PROGRAM], capture_output=True, text=True,
                           check=True).stdout for start in ("import gradwright.as_torch\n", "")]  # fmt: skip
    assert said[0] == said[1] != ""


def test_schemas():
    signature, written = schemas.parsed("a::b", "(Tensor x, Tensor(b!)[] ys, float z=1.5, *, int[2]? k=[1, 2]) -> ()")
    assert list(signature.parameters) == ["x", "ys", "z", "k"]
    assert written == ("ys",)
    assert signature.parameters["z"].default == 1.5
    assert signature.parameters["k"].default == [1, 2]
    assert signature.parameters["k"].kind is inspect.Parameter.KEYWORD_ONLY
    assert not schemas.parsed("a::b", "() -> Tensor")[0].parameters


@pytest.mark.parametrize(("schema", "message"), [
    ("Tensor x -> Tensor", "expected a schema such as"),
    ("(Tensor) -> Tensor", "expected a type and a name in its schema, but got 'Tensor'"),
    ("(int k=huge) -> Tensor", "no number, string, bool, list or None: 'huge'"),
])  # fmt: skip
def test_what_is_no_schema(schema, message):
    with pytest.raises(ValueError, match=message):
        schemas.define("refused::one", schema)


def test_what_is_refused():
    with pytest.raises(ValueError, match="expected kind 'DEF', 'FRAGMENT' or 'IMPL', but got 'USE'"):
        schemas.Library("refused", "USE")
    with pytest.raises(ValueError, match="gradwright's own"):
        schemas.Library("aten", "IMPL")
    with pytest.raises(ValueError, match="expected a name such as"):
        schemas.define("sin", "(Tensor x) -> Tensor")
    with pytest.raises(ValueError, match=r"no operation 'refused::never' was declared: define\(\) does it"):
        schemas.impl("refused::never", "cpu", abs)
    schemas.define("refused::two", "(Tensor x) -> Tensor")
    with pytest.raises(ValueError, match=r"expected a dispatch key among Autograd, .*but got 'Batched'"):
        schemas.Library("refused", "FRAGMENT").impl("two", abs, "Batched")
    with pytest.raises(NotImplementedError, match=r"refused::two: no function does it yet"):
        library.known["refused::two"](gw.ones(2))


def test_without_a_derivative_backward_says_so():
    lib = schemas.Library("bare", "DEF")
    lib.define("op(Tensor x) -> Tensor")
    lib.impl("op", lambda x: x * 2, "CPU")
    y = library.known["bare::op"](gw.ones(2, requires_grad=True))
    with pytest.raises(RuntimeError, match="no autograd formula was registered"):
        y.sum().backward()


def test_what_does_a_custom_op_may_be_said_of_the_library_too(torch):
    theirs = torch.library
    for t, lib, custom, name in ((gw, schemas, library, "here"), (torch, theirs, theirs, "there")):

        @custom.custom_op(f"{name}::plus", mutates_args=())
        def plus(x: t.Tensor) -> t.Tensor:
            return x + 1

        made = lib.Library(name, "FRAGMENT")
        made.impl("plus", lambda x: x * 5, "AutogradCPU")
        x = t.ones(2, requires_grad=True)
        plus(x).sum().backward()
        assert x.grad.tolist() == [5.0, 5.0]
