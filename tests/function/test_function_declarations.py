"""What a Function may declare, under PyTorch's names and with its behaviour: mark_dirty and what it keeps safe, too."""

import inspect
import weakref

import pytest

import gradwright as gw
from tests.functions import functions


@pytest.fixture
def function(T):
    """The namespace ``autograd.function``."""
    return T.autograd.function


def test_the_namespace_has_pytorchs_names(torch):
    ours = gw.autograd.function
    assert set(torch.autograd.function.__all__) == set(ours.__all__)
    for name in ours.__all__:
        assert inspect.isclass(getattr(ours, name)) == inspect.isclass(getattr(torch.autograd.function, name))
        assert inspect.getdoc(getattr(ours, name))
    public = {n for n in vars(torch.autograd.Function) if n[0] != "_"} | {"forward", "backward", "vjp", "jvp", "apply",
              "setup_context", "clear_saved_tensors_on_access", "boxed_grads_call"}  # fmt: skip
    assert {n for n in public if not hasattr(gw.autograd.Function, n)} == set()


# ---- ctx -------------------------------------------------------------------------------------------------


def test_what_is_saved_for_forward_is_not_kept_for_backward(T, leaf):
    seen = []

    class F(functions(T)):
        def forward(ctx, x):
            y = x * 2
            ctx.save_for_forward(x, y)
            ctx.save_for_backward(x)
            seen.append(weakref.ref(y))
            return x * 1

        def backward(ctx, g):
            assert len(ctx.saved_tensors) == 1
            return g

    out = F.apply(leaf(1.0))
    assert seen[0]() is None
    out.backward()


def test_jvp_can_be_called_on_the_ctx(T, leaf):
    class F(functions(T)):
        def forward(ctx, x):
            ctx.k = 3
            return x * 3

        def backward(ctx, g):
            return g * ctx.k

        def jvp(ctx, dx):
            return dx * ctx.k

    x = leaf(1.0)
    assert F.apply(x).grad_fn.apply_jvp(x.detach() * 2).item() == 6


# ---- flags -----------------------------------------------------------------------------------------------


def clearing(T):
    class F(functions(T)):
        clear_saved_tensors_on_access = True

        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return 2 * g * x

    return F


def test_saved_tensors_may_be_cleared_on_access(T, leaf):
    x = leaf([2.0])
    y = clearing(T).apply(x)
    y.backward(retain_graph=True)
    assert x.grad.tolist() == [4.0]
    with pytest.raises(RuntimeError, match="saved_tensors can only be accessed once when clear_saved_tensors_on_acces"):
        y.backward()


def test_saved_tensors_are_gone_after_the_first_access(T, leaf):
    y = clearing(T).apply(leaf([2.0]))
    assert y.grad_fn.saved_tensors[0].tolist() == [2.0]
    with pytest.raises(RuntimeError, match="can only be accessed once"):
        y.grad_fn.saved_tensors


def test_clearing_frees_the_memory(T):
    x = T.ones(3, requires_grad=True)
    y = x * 2
    out = clearing(T).apply(y)
    seen = weakref.ref(y)
    del y
    saved = out.grad_fn.saved_tensors
    del saved
    assert seen() is None


def test_an_ordinary_function_may_ask_again(T, leaf):
    class F(clearing(T)):
        clear_saved_tensors_on_access = False

    y = F.apply(leaf([2.0]))
    assert y.grad_fn.saved_tensors[0].tolist() == y.grad_fn.saved_tensors[0].tolist()


@pytest.mark.parametrize("name", ["backward", "vjp"])
def test_boxed_gradients_come_in_one_list(T, leaf, name):
    def derivative(ctx, grads):
        assert type(grads) is list
        h = grads.pop()
        return grads.pop() + 2 * h

    class F(functions(T)):
        boxed_grads_call = True

        def forward(ctx, x):
            return x * 1, x * 2

    setattr(F, name, staticmethod(derivative))
    x = leaf(1.0)
    a, b = F.apply(x)
    assert a.grad_fn.apply(T.ones(1), T.ones(1)).item() == 3
    (a * 10 + b).backward()
    assert x.grad.item() == 12


# ---- jvp and vmap ----------------------------------------------------------------------------------------


def test_jvp_and_vmap_must_be_written(T):
    with pytest.raises(NotImplementedError, match="You must implement the jvp function"):
        T.autograd.Function.jvp(None, 1)
    with pytest.raises(NotImplementedError, match="you must either override the vmap staticmethod or"):
        T.autograd.Function.vmap(None, (0,), 1)
    assert T.autograd.Function.generate_vmap_rule is False


def test_a_vmap_and_its_generation_exclude_each_other(torch):
    def declare(T):
        class F(functions(T)):
            generate_vmap_rule = True

            def forward(x):
                return x * 1

            def setup_context(ctx, inputs, output):
                ctx.k = 1

            def vmap(info, in_dims, x):
                return x, in_dims[0]

        return F

    with pytest.raises(RuntimeError) as theirs:
        torch.vmap(declare(torch).apply)(torch.ones(2, requires_grad=True))
    with pytest.raises(RuntimeError) as ours:
        declare(gw)
    assert str(theirs.value).startswith(str(ours.value))


def base(T, forward):
    class Base(functions(T)):
        pass

    Base.forward = staticmethod(forward)
    return Base


@pytest.mark.parametrize(
    ("forward", "jvp"),
    [
        (lambda ctx, x, y: x, lambda ctx, dx: dx),
        (lambda ctx, x, y=1: x, lambda ctx, dx, dy, dz: dx),
        (lambda ctx, x: x, lambda ctx, *, dx: dx),
    ],
)
def test_a_jvp_that_cannot_be_called_is_an_error(forward, jvp):
    with pytest.raises(TypeError, match=r"F\.jvp must take ctx and a tangent for each argument of forward \(x"):
        type("F", (base(gw, forward),), {"jvp": staticmethod(jvp)})


@pytest.mark.parametrize(
    ("forward", "jvp"),
    [
        (lambda ctx, x, y=1: x, lambda ctx, dx: dx),
        (lambda ctx, x, y: x, lambda ctx, *t: t),
        (lambda ctx, *xs: xs, lambda ctx, dx: dx),
        (lambda ctx, x, y: x, lambda *t: t),
    ],
)
def test_a_jvp_that_can_be_called_is_taken(T, forward, jvp):
    type("F", (base(T, forward),), {"jvp": staticmethod(jvp)})


def test_a_vmap_takes_info_and_dims():
    with pytest.raises(TypeError, match=r"F\.vmap must take info, in_dims and each argument of forward \(x\), but its"):
        type("F", (base(gw, lambda ctx, x: x),), {"vmap": staticmethod(lambda info, x: x)})
    type("F", (base(gw, lambda ctx, x: x),), {"vmap": staticmethod(lambda info, in_dims, x: x)})


# ---- old names -------------------------------------------------------------------------------------------


def test_old_classes_can_still_be_subclassed(T, function, leaf):
    class F(function.InplaceFunction):
        def forward(ctx, x, inplace=False):
            if inplace:
                ctx.mark_dirty(x)
            return x.mul_(3) if inplace else x * 3

        def backward(ctx, g):
            return g * 3, None

    x = leaf(2.0)
    F.apply(x * 1, True).backward()
    assert x.grad.item() == 3
    assert issubclass(function.NestedIOFunction, T.autograd.Function)
    assert isinstance(F, function.FunctionMeta)


# ---- mark_dirty ------------------------------------------------------------------------------------------


@pytest.fixture
def Triple(T):
    class Triple(functions(T)):
        def forward(ctx, x):
            x.mul_(3)
            ctx.mark_dirty(x)
            return x

        def backward(ctx, g):
            return g * 3

    return Triple


def test_a_dirty_input_is_the_output(leaf, Triple):
    x = leaf([1.0, 2.0])
    y = x * 1
    z = Triple.apply(y)
    assert z is y
    assert y.tolist() == [3, 6]
    assert y._version == 2  # by mul_, and by mark_dirty: forward may write by other means
    assert type(y.grad_fn).__name__ == "TripleBackward"
    (y * y).sum().backward()
    assert x.grad.tolist() == [18, 36]


def test_a_dirty_view_changes_its_base(leaf, Triple):
    x = leaf([1.0, 2.0, 3.0])
    y = x * 1
    v = y[1:]
    assert Triple.apply(v) is v
    assert y.tolist() == [1, 6, 9]
    (y * y).sum().backward()
    assert x.grad.tolist() == [2, 36, 54]


def test_a_dirty_view_used_afterwards(leaf, Triple):
    x = leaf([1.0, 2.0, 3.0])
    y = x * 1
    v = Triple.apply(y[1:])
    (v * v).sum().backward()
    assert x.grad.tolist() == [0, 36, 54]


def test_a_dirty_input_that_is_not_returned(T, leaf):
    class F(functions(T)):
        def forward(ctx, x):
            x.mul_(3)
            ctx.mark_dirty(x)
            return x * 1

        def backward(ctx, g):
            return g

    message = (
        r"Some elements marked as dirty during the forward method were not returned as output. The inputs that are "
        r"modified inplace must all be outputs of the Function."
    )
    with pytest.raises(RuntimeError, match=message):
        F.apply(leaf([1.0]) * 1)


def test_a_dirty_leaf(T, leaf, Triple):
    with pytest.raises(RuntimeError, match=r"a leaf Variable that requires grad (is being|has been) used in an in-"):
        Triple.apply(leaf([1.0]))
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad is being used in an in-place"):
        Triple.apply(leaf([1.0, 2.0])[:1])
    assert Triple.apply(T.ones(2)).tolist() == [3, 3]


def test_a_dirty_view_among_several_outputs(T, leaf):
    class F(functions(T)):
        def forward(ctx, x):
            x.mul_(3)
            ctx.mark_dirty(x)
            return x, x.clone()

        def backward(ctx, g, h):
            return (g + h) * 3

    with pytest.raises(RuntimeError, match="If your Function modifies inplace an input that is a view of another"):
        F.apply((leaf([1.0, 2.0]) * 1)[:1])


def test_saved_before_it_was_changed(T, leaf):
    class F(functions(T)):
        def forward(ctx, x):
            ctx.save_for_backward(x)
            x.mul_(3)
            ctx.mark_dirty(x)
            return x

        def backward(ctx, g):
            return g * 3 + ctx.saved_tensors[0] * 0

    x = leaf([1.0])
    F.apply(x * 1).backward()  # what is saved is the output
    assert x.grad.tolist() == [3]
