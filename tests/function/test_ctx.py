"""ctx: what forward leaves on it and backward finds; and the check of the gradients that backward returns."""

import re
import warnings

import pytest

import gradwright
from gradwright import GradientWarning
from tests.functions import Function, functions

# ---- attributes ------------------------------------------------------------------------------------------

NAMES = [
    "mask", "next", "saved", "name", "run", "seq", "hooks", "index", "function", "grad", "array", "apply_", "x", "i",
    "flat", "dirty", "outputs", "inputs", "metas", "node", "tensors", "data", "shape", "materialize", "ports",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_any_attribute(T, leaf, name):
    class F(functions(T)):
        def forward(ctx, x):
            setattr(ctx, name, {"number": 3})
            return x * 3, x * 5

        def backward(ctx, g, h):
            return g * getattr(ctx, name)["number"] + h * 5

    x = leaf([1.0, 2.0])
    a, b = F.apply(x)
    a.retain_grad()
    assert getattr(a.grad_fn, name) == {"number": 3}
    assert repr(a).endswith("grad_fn=<FBackward>)")
    (a + b).sum().backward()
    assert x.grad.tolist() == [8, 8]
    assert a.grad.tolist() == [1, 1]


def test_attributes_belong_to_one_call(T, leaf):
    class Scale(functions(T)):
        def forward(ctx, x, k):
            ctx.k = k
            return x * k

        def backward(ctx, g):
            return g * ctx.k, None

    x = leaf(1.0)
    (Scale.apply(x, 2) + 10 * Scale.apply(x, 3)).backward()
    assert x.grad.item() == 32


def test_attributes_set_in_backward_stay(leaf, T):
    class Counts(functions(T)):
        def forward(ctx, x):
            ctx.calls = 0
            return x * 1

        def backward(ctx, g):
            ctx.calls += 1
            return g

    y = Counts.apply(leaf(1.0))
    y.backward()
    y.backward()
    assert y.grad_fn.calls == 2


# ---- saved tensors ---------------------------------------------------------------------------------------


@pytest.fixture
def Keeps(T):
    """``Keeps.apply(x, save)``: ``save(ctx, x)`` in forward; backward notes what was saved."""

    class Keeps(functions(T)):
        seen = None

        def forward(ctx, x, save):
            save(ctx, x)
            return x * 2

        def backward(ctx, g):
            Keeps.seen = ctx.saved_tensors
            return g * 2, None

    return Keeps


def test_saved_inputs_are_the_inputs(leaf, Keeps):
    x = leaf([1.0, 2.0])
    y = Keeps.apply(x, lambda ctx, x: ctx.save_for_backward(x))
    y.sum().backward()
    assert Keeps.seen[0] is x


def test_none_can_be_saved(leaf, Keeps):
    Keeps.apply(leaf(1.0), lambda ctx, x: ctx.save_for_backward(None, x, None)).backward()
    assert Keeps.seen[0] is Keeps.seen[2] is None
    assert Keeps.seen[1].item() == 1


def test_nothing_saved(leaf, Keeps):
    Keeps.apply(leaf(1.0), lambda ctx, x: None).backward()
    assert Keeps.seen == ()


def test_the_last_save_wins(leaf, Keeps):
    def save(ctx, x):
        ctx.save_for_backward(x)
        ctx.save_for_backward(x * 5, x * 6)

    Keeps.apply(leaf(1.0), save).backward()
    assert [t.item() for t in Keeps.seen] == [5, 6]


def test_only_tensors_can_be_saved(leaf, Keeps):
    with pytest.raises(TypeError, match="save_for_backward can only save variables, but argument 1 is of type int"):
        Keeps.apply(leaf(1.0), lambda ctx, x: ctx.save_for_backward(x, 3))


def test_saved_tensors_may_be_read_any_number_of_times(T, leaf):
    class F(functions(T)):
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        def backward(ctx, g):
            return g * ctx.saved_tensors[0] + g * ctx.saved_tensors[0]

    x = leaf(3.0)
    y = F.apply(x)
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.item() == 12


def test_they_are_freed(leaf, Keeps):
    y = Keeps.apply(leaf(1.0), lambda ctx, x: ctx.save_for_backward(x))
    assert y.grad_fn.saved_tensors[0].item() == 1
    y.backward()
    message = "Trying to backward through the graph a second time"
    with pytest.raises(RuntimeError, match=message):
        y.backward()
    with pytest.raises(RuntimeError, match=message):
        y.grad_fn.saved_tensors


def test_they_are_guarded_against_changes(leaf, Keeps):
    x = leaf([1.0, 2.0])
    y = x * 1
    z = Keeps.apply(y, lambda ctx, x: ctx.save_for_backward(x))
    y.add_(1)
    with pytest.raises(RuntimeError, match=r"modified by an inplace operation.*is at version 1; expected version 0"):
        z.sum().backward()


def test_a_saved_output_is_guarded_too(T, leaf):
    class Exp(functions(T)):
        def forward(ctx, x):
            y = x.exp()
            ctx.save_for_backward(y)
            return y

        def backward(ctx, g):
            return g * ctx.saved_tensors[0]

    y = Exp.apply(leaf([1.0, 2.0]))
    y.mul_(2)
    with pytest.raises(RuntimeError, match=r"inplace operation: .*which is output 0 of Exp, is at version 1"):
        y.sum().backward()


def test_a_saved_output_has_this_node_as_its_history(T, leaf):
    class Exp(functions(T)):
        def forward(ctx, x):
            y = x.exp()
            ctx.save_for_backward(y)
            return y

        def backward(ctx, g):
            return g * ctx.saved_tensors[0]

    x = leaf(0.5)
    y = Exp.apply(x)
    assert y.grad_fn.saved_tensors[0].grad_fn is y.grad_fn
    g = y
    for _ in range(3):
        (g,) = T.autograd.grad(g, x, create_graph=True)
        assert g.item() == pytest.approx(y.item(), rel=1e-15)


def test_a_saved_output_whose_tensor_was_dropped(T, leaf):
    class SinCos(functions(T)):
        def forward(ctx, x):
            s, c = x.sin(), x.cos()
            ctx.save_for_backward(s, c)
            return s, c

        def backward(ctx, gs, gc):
            half = ctx.saved_tensors[0] / 2
            s, c = ctx.saved_tensors
            return gs * c - gc * (half + s / 2)

    x = leaf(0.7)
    c = SinCos.apply(x)[1]
    (g,) = T.autograd.grad(c, x, create_graph=True)
    (h,) = T.autograd.grad(g, x)
    assert h.item() == pytest.approx(-c.item(), rel=1e-14)


def test_saved_intermediates_are_constants(T, leaf, Keeps):
    Keeps.apply(leaf(1.0), lambda ctx, x: ctx.save_for_backward(x * 2)).backward()
    assert not Keeps.seen[0].requires_grad


def test_inputs_kept_as_attributes_keep_their_history(T, leaf):
    class Cube(functions(T)):
        def forward(ctx, x):
            ctx.x = x
            return x**3

        def backward(ctx, g):
            return 3 * g * ctx.x**2

    x = leaf(2.0)
    (g,) = T.autograd.grad(Cube.apply(x), x, create_graph=True)
    assert T.autograd.grad(g, x)[0].item() == 12


# ---- running backward by hand ----------------------------------------------------------------------------


def test_a_node_can_be_applied(T, leaf):
    class Product(functions(T)):
        def forward(ctx, x, y, k):
            ctx.save_for_backward(x, y)
            return x * y

        def backward(ctx, g):
            x, y = ctx.saved_tensors
            return g * y, g * x, None

    z = Product.apply(leaf(2.0), leaf(3.0), 5)
    gx, gy, gk = z.grad_fn.apply(T.tensor(10.0, dtype=T.float64))
    assert (gx.item(), gy.item(), gk) == (30, 20, None)


# ---- what backward returns -------------------------------------------------------------------------------


@pytest.fixture
def Returns(T):
    """``Returns(result)`` is a Function ``F(x, ...)`` whose backward gives ``result(g)``."""

    def make(result):
        class F(functions(T)):
            def forward(ctx, *args):
                return args[0] * 2

            def backward(ctx, g):
                return result(g)

        return F

    return make


def test_a_tuple_or_a_tensor(leaf, Returns):
    x = leaf(1.0)
    Returns(lambda g: g).apply(x).backward()
    Returns(lambda g: (g,)).apply(x).backward()
    assert x.grad.item() == 2


def test_none_means_no_gradient(T, leaf, Returns):
    x, y = leaf(1.0), leaf(2.0)
    Returns(lambda g: (None, g)).apply(x, y).backward()
    assert x.grad is None
    assert y.grad.item() == 1
    assert T.autograd.grad(Returns(lambda g: None).apply(x), x, allow_unused=True) == (None,)


def test_extra_nones_are_dropped(leaf, Returns):
    x = leaf(1.0)
    Returns(lambda g: (g, None, None)).apply(x).backward()
    assert x.grad.item() == 1


@pytest.mark.parametrize(("result", "got"), [
    (lambda g: (g,), 1), (lambda g: g, 1), (lambda g: (g, g, g), 3), (lambda g: (), 0), (lambda g: (g, g, None, g), 4),
])  # fmt: skip
def test_too_many_or_too_few(leaf, Returns, result, got):
    x, y = leaf(1.0), leaf(2.0)
    message = rf"function FBackward returned an incorrect number of gradients \(expected 2, got {got}\)"
    with pytest.raises(RuntimeError, match=message):
        Returns(result).apply(x, y).backward()
    assert x.grad is None


def test_a_gradient_for_what_is_no_tensor(leaf, Returns):
    message = (
        "function FBackward returned a gradient different than None at position 2, but the corresponding forward input "
        "was not a Variable"
    )
    with pytest.raises(RuntimeError, match=message):
        Returns(lambda g: (g, g)).apply(leaf(1.0), 5).backward()


def test_gradients_nobody_needs_are_not_looked_at(T, leaf, Returns):
    x, plain = leaf([1.0, 2.0]), T.ones(3)
    Returns(lambda g: (g, T.ones(7))).apply(x, plain).sum().backward()
    assert x.grad.tolist() == [1, 1]


def test_a_gradient_of_an_impossible_shape(T, leaf, Returns):
    message = r"Function FBackward returned an invalid gradient at index 0 - got \[{}\] but expected shape compatible w"
    for bad, shape in ((T.ones(3), "3"), (T.ones(()), ""), (T.ones(2, 1), "2, 1"), (T.ones(1), "1")):
        with pytest.raises(RuntimeError, match=message.format(shape)):
            Returns(lambda g, bad=bad: bad).apply(leaf([1.0, 2.0])).sum().backward()


def test_a_gradient_that_is_no_tensor(leaf, Returns):
    with pytest.raises(RuntimeError, match=r"expected Variable or None \(got float\)"):
        Returns(lambda g: 1.0).apply(leaf(1.0)).backward()


def test_a_gradient_that_would_have_to_be_summed_is_warned_of(Returns, leaf, T):
    x = leaf([1.0])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        Returns(lambda g: g.expand(4, 3)).apply(x).backward()
    assert x.grad.tolist() == [12]
    if T is gradwright:
        (warning,) = caught
        assert issubclass(warning.category, GradientWarning)
        assert re.fullmatch(
            r"FBackward returned a gradient of shape \[4, 3\] for input 0 \('args\[0\]'\) of shape \[1\]: it is summed "
            rf"down.\n  backward is at {re.escape(__file__)}:\d+, in .*F.backward\n"
            r"If that is what you mean, return grad.sum_to_size\(1\).",
            str(warning.message),
        )


def test_a_gradient_of_another_dtype_is_converted(T, Returns):
    x = T.ones(2, requires_grad=True)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        Returns(lambda g: g.double()).apply(x).sum().backward()
    assert x.grad.dtype == T.float32
    if T is gradwright:
        (warning,) = caught
        assert issubclass(warning.category, GradientWarning)
        assert "a gradient of torch.float64 for input 0 ('args[0]') of torch.float32: it is converted" in str(
            warning.message
        )


def test_gradients_with_strides_of_all_kinds(T, leaf, Returns):
    x = leaf([[1.0, 2.0], [3.0, 4.0]])
    for make in (lambda g: g.t(), lambda g: g.sum().expand(2, 2), lambda g: g[:, :1].expand(2, 2)):
        x.grad = None
        Returns(make).apply(x).sum().backward()
        x.grad.add_(1)  # nothing it shares memory with
        assert x.grad.flatten().tolist() == [x.grad[0, 0].item()] * 4


def test_the_cotangent_has_the_shape_and_dtype_of_the_output(T):
    class F(functions(T)):
        def forward(ctx, x):
            return x.double().sum(0)

        def backward(ctx, g):
            assert g.dtype == T.float64
            assert tuple(g.shape) == (3,)
            return g.float().expand(2, 3)

    x = T.ones(2, 3, requires_grad=True)
    F.apply(x).sum().backward()
    assert x.grad.dtype == T.float32
    assert x.grad.tolist() == [[1, 1, 1], [1, 1, 1]]


def test_writing_to_the_cotangent_does_not_reach_the_user(T, leaf):
    class F(functions(T)):
        def forward(ctx, x):
            return x * 2

        def backward(ctx, g):
            return g * 2

    x = leaf([1.0, 2.0])
    v = T.ones(2, dtype=T.float64)
    F.apply(x).backward(v)
    assert v.tolist() == [1, 1]
    assert v._version == 0


def test_a_backward_that_writes_into_its_cotangent_is_told_so():
    class Doubling(Function):
        def forward(ctx, x):
            return x * 2

        def backward(ctx, g):
            return g.mul_(2)

    x, w = gradwright.ones(2, requires_grad=True), gradwright.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="DoublingBackward: backward changed its grad_output in place"):
        (Doubling.apply(x) + w).backward(gradwright.ones(2))
    assert x.grad is None
    assert w.grad is None


def test_the_older_name_of_saved_tensors(T, leaf):
    class F(functions(T)):
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        def backward(ctx, g):
            (x,) = ctx.saved_variables
            return 2 * g * x

    x = leaf([3.0])
    with pytest.warns(DeprecationWarning, match="saved_variables"):
        F.apply(x).sum().backward()
    assert x.grad.tolist() == [6]
