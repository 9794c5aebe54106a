"""Operations of a name, with derivatives registered afterwards: as PyTorch's."""

import numpy as np
import pytest

import gradwright as gw
from gradwright.pytorch import library


def double_sine(t, module, name):
    """y = scale sin x, as an operation of each library."""

    def forward(x, scale=2.0):
        return t.sin(x) * scale

    forward.__annotations__ = {"x": t.Tensor, "scale": float, "return": t.Tensor}
    op = module.custom_op(name, mutates_args=())(forward)

    def setup(ctx, inputs, output):
        x, scale = inputs
        ctx.save_for_backward(x)
        ctx.scale = scale

    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * x.cos() * ctx.scale, None

    module.register_autograd(name, backward, setup_context=setup)
    module.register_fake(name)(lambda x, scale=2.0: t.empty_like(x))
    return op


def test_values_and_gradients_are_pytorchs(torch):
    found = []
    for t, module in ((gw, library), (torch, torch.library)):
        op = double_sine(t, module, "library_test::double_sine")
        x = t.tensor([0.5, 1.0], dtype=t.float64, requires_grad=True)
        y = op(x, scale=3.0) + op(x)
        (g,) = t.autograd.grad(y.sum(), x)
        found.append((y.detach().numpy(), g.numpy()))
    np.testing.assert_allclose(*found)


def test_without_a_derivative_a_backward_pass_says_so():
    @library.custom_op("library_test::plain", mutates_args=())
    def plain(x: gw.Tensor) -> gw.Tensor:
        return x * 2

    y = plain(gw.ones(1, requires_grad=True))
    with pytest.raises(RuntimeError, match=r"through library_test\.plain\.default but no autograd formula was"):
        y.sum().backward()
    assert repr(plain) == "<CustomOpDef(library_test::plain)>"


def test_what_writes_its_arguments_is_not_recorded():
    @library.custom_op("library_test::fill", mutates_args=("x",))
    def fill(x: gw.Tensor) -> None:
        x.fill_(1)

    x = gw.zeros(2)
    fill(x)
    assert x.tolist() == [1.0, 1.0]
    with pytest.raises(RuntimeError, match=r"^library_test::fill: writes to x, which is not recorded"):
        fill(gw.zeros(2, requires_grad=True))


def test_keyword_only_arguments_and_kernels():
    @library.custom_op("library_test::scale", mutates_args=())
    def scale(x: gw.Tensor, *, by: float) -> gw.Tensor:
        return x * by

    @scale.register_kernel("cpu")
    def _(x, *, by):
        return x * by * 10

    def setup(ctx, inputs, keyword_only_inputs, output):
        ctx.by = keyword_only_inputs["by"]

    scale.register_autograd(lambda ctx, g: g * ctx.by * 10, setup_context=setup)
    x = gw.ones(1, requires_grad=True)
    y = scale(x, by=3.0)
    y.backward()
    assert (y.item(), x.grad.item()) == (30.0, 30.0)
    assert library.opcheck(scale, (x.detach(),), {"by": 1.0})


def adds_in_place(t, module, name):
    """An operation that writes its argument and does not say so."""

    def forward(x, y):
        y.add_(1)
        return x.clone()

    forward.__annotations__ = {"x": t.Tensor, "y": t.Tensor, "return": t.Tensor}
    return module.custom_op(name, mutates_args=())(forward)


def gives_a_view(t, module, name):
    """An operation whose result is a view of its argument."""

    def forward(x, y):
        return y.view(-1)

    forward.__annotations__ = {"x": t.Tensor, "y": t.Tensor, "return": t.Tensor}
    return module.custom_op(name, mutates_args=())(forward)


@pytest.mark.parametrize(("make", "words"), [(adds_in_place, "argument y is written"), (gives_a_view, "with argument")])
def test_opcheck_finds_what_breaks_the_declaration(torch, make, words):
    for t, module in ((gw, library), (torch, torch.library)):
        op = make(t, module, f"library_test::{make.__name__}")
        x, y = t.ones(2), t.ones(2)
        found = module.opcheck(op, (x, y), test_utils="test_schema", raise_exception=False)
        assert list(found) == ["test_schema"]
        assert isinstance(found["test_schema"], RuntimeError)
        assert y.tolist() == [1.0, 1.0]
        if t is gw:
            with pytest.raises(RuntimeError, match=words):
                module.opcheck(op, (x, y))


def test_opcheck_names_only_what_it_tests():
    @library.custom_op("library_test::good", mutates_args=("out",))
    def good(x: gw.Tensor, out: gw.Tensor) -> gw.Tensor:
        out.copy_(x)
        return x + 1

    x = gw.tensor([float("nan"), 1.0], requires_grad=True)
    assert library.opcheck(good, (x, gw.zeros(2))) == {"test_schema": "SUCCESS"}
    assert library.opcheck(good, (x, gw.zeros(2)), test_utils="test_faketensor") == {}
    with pytest.raises(ValueError, match="expected test_utils among"):
        library.opcheck(good, (x, gw.zeros(2)), test_utils="test_all")

    @library.custom_op("library_test::twins", mutates_args=())
    def twins(x: gw.Tensor) -> list[gw.Tensor]:
        y = x + 1
        return [y, y[:1]]

    with pytest.raises(RuntimeError, match="a result shares its memory with another result"):
        library.opcheck(twins, (x,))


@pytest.mark.parametrize("make", [lambda x: x, lambda x: x.view(-1), lambda x: x[:1]])
def test_a_result_in_the_memory_of_an_argument_is_refused(torch, make):
    for t, module, name in ((gw, library, "aliases::mine"), (torch, torch.library, "aliases::theirs")):

        def itself(x: t.Tensor) -> t.Tensor:
            return make(x)

        with pytest.raises(RuntimeError, match=r"The output of this custom operator \(1\) must not also be an input"):
            module.custom_op(name, itself, mutates_args=())(t.ones(2, 2))


def test_the_rule_for_a_batch_is_used(torch):
    for t, module, name in ((gw, library, "batches::mine"), (torch, torch.library, "batches::theirs")):

        @module.custom_op(name, mutates_args=())
        def total(x: t.Tensor) -> t.Tensor:
            return x.new_tensor(x.numpy().sum())

        @total.register_vmap
        def _(info, in_dims, x):
            return x.movedim(in_dims[0], 0).reshape(info.batch_size, -1).sum(1), 0

        x = t.arange(6.0).reshape(2, 3)
        assert t.vmap(total, 1)(x).tolist() == [3.0, 5.0, 7.0]


def test_the_node_is_named_as_pytorchs(torch):
    for t, module in ((gw, library), (torch, torch.library)):

        @module.custom_op("names::double", mutates_args=())
        def double(x: t.Tensor) -> t.Tensor:
            return x * 2

        y = double(t.ones(1, requires_grad=True))
        assert y.grad_fn.name() == "GeneratedBackwardFor_names_double_defaultBackward"
        with pytest.raises(RuntimeError, match=r"Trying to backward through names\.double\.default but no autograd"):
            y.backward()


def test_wrong_names():
    with pytest.raises(ValueError, match=r"expected a name such as 'mylib::sin', but got 'sin'"):
        library.custom_op("sin", mutates_args=())
    with pytest.raises(ValueError, match="expected an operation made by custom_op, or the name of one, but got 'a::b'"):
        library.register_autograd("a::b", None)
    with pytest.raises(AttributeError, match=r"^gradwright has no torch\.library\.Library yet: operations are made"):
        library.Library("x", "DEF")


def test_the_names_are_pytorchs(torch):
    names = [name for name in library.__all__ if name != "CustomOpDef"]
    assert [name for name in names if not hasattr(torch.library, name)] == []


def test_operations_of_triton_kernels(torch):
    for t, module, name in ((gw, library, "groups::mine"), (torch, torch.library, "groups::theirs")):

        @module.triton_op(name, mutates_args=())
        def double(x: t.Tensor) -> t.Tensor:
            return x * 2

        double.register_autograd(lambda ctx, g: g * 3)  # not 2, to be told apart
        x = t.ones(2, requires_grad=True)
        double(x).sum().backward()
        assert x.grad.tolist() == [3.0, 3.0]
    assert library.wrap_triton(len) is len
