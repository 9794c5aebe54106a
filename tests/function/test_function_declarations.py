"""The contract of `Function`: what is declared of it (mark_dirty), and what that keeps safe."""

import pytest

# ---- mark_dirty ------------------------------------------------------------------------------------------


@pytest.fixture
def Triple(T):
    class Triple(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            x.mul_(3)
            ctx.mark_dirty(x)
            return x

        @staticmethod
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
    class F(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            x.mul_(3)
            ctx.mark_dirty(x)
            return x * 1

        @staticmethod
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
    class F(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            x.mul_(3)
            ctx.mark_dirty(x)
            return x, x.clone()

        @staticmethod
        def backward(ctx, g, h):
            return (g + h) * 3

    with pytest.raises(RuntimeError, match="If your Function modifies inplace an input that is a view of another"):
        F.apply((leaf([1.0, 2.0]) * 1)[:1])


def test_saved_before_it_was_changed(T, leaf):
    class F(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            x.mul_(3)
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def backward(ctx, g):
            return g * 3 + ctx.saved_tensors[0] * 0

    x = leaf([1.0])
    F.apply(x * 1).backward()  # what is saved is the output
    assert x.grad.tolist() == [3]
