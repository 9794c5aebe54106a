"""What a ctx is, and one that is made by hand."""

import pytest

from tests.functions import functions


@pytest.fixture
def function(T):
    """The namespace ``autograd.function``."""
    return T.autograd.function


def test_every_ctx_is_a_function_ctx(T, function, leaf):
    seen = []

    class F(functions(T)):
        def forward(ctx, x):
            seen.append(ctx)
            return x * 1

        def backward(ctx, g):
            seen.append(ctx)
            return g

    F.apply(leaf(1.0)).backward()
    assert all(isinstance(ctx, function.FunctionCtx) for ctx in seen)
    assert all(isinstance(ctx, function.BackwardCFunction) for ctx in seen)
    assert not isinstance(F, function.FunctionCtx)


def test_a_ctx_made_by_hand_keeps_what_it_is_told(T, function):
    ctx = function.FunctionCtx()
    x = T.ones(2)
    ctx.save_for_backward(x, None)
    ctx.save_for_forward(x)
    ctx.mark_dirty(x)
    ctx.mark_non_differentiable(x)
    ctx.set_materialize_grads(False)
    assert ctx.to_save[0] is x
    told = {"to_save", "saved_for_forward", "dirty_tensors", "non_differentiable", "materialize_grads"}
    assert set(vars(ctx)) == told
    assert ctx.materialize_grads is False
    with pytest.warns(FutureWarning, match="mark_shared_storage"):
        ctx.mark_shared_storage((x, x))


def test_shared_storage_need_not_be_marked(T, leaf):
    class F(functions(T)):
        def forward(ctx, x):
            with pytest.warns(FutureWarning, match="Tensors with shared storages are automatically tracked"):
                ctx.mark_shared_storage((x, x))
            return x * 1

    F.apply(leaf(1.0))


@pytest.mark.parametrize("by_hand", [False, True])
def test_only_tensors_are_saved_for_forward(T, function, leaf, by_hand):
    class F(functions(T)):
        def forward(ctx, x):
            ctx = function.FunctionCtx() if by_hand else ctx
            ctx.save_for_forward(x, None)
            ctx.save_for_forward(x, 3)
            return x * 1

    with pytest.raises(AssertionError, match="save_for_forward expects all arguments to be tensors"):
        F.apply(leaf(1.0))
