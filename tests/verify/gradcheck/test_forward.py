import pytest

import gradwright as gw
from gradwright.autograd import Function, GradcheckError, gradcheck, gradgradcheck

EVERY = {"check_forward_ad": True, "check_batched_grad": True, "check_batched_forward_grad": True}


def leaf(*shape, dtype=gw.float64):
    return gw.rand(*shape, dtype=dtype, requires_grad=True)


@pytest.mark.parametrize(
    "f",
    [lambda x, y: x @ y, lambda x, y: (x.sin() * y.sum(), y.exp()), lambda x, y: x.softmax(1).cumsum(0) / y.norm()])
def test_both_modes_and_batches_pass(f):
    x, y = leaf(2, 3), leaf(3, 2)
    assert gradcheck(f, (x, y), **EVERY)
    assert gradcheck(f, (x, y), check_forward_ad=True, check_backward_ad=False)
    assert gradgradcheck(f, (x, y), check_fwd_over_rev=True, check_batched_grad=True)
    assert gradgradcheck(f, (x, y), check_fwd_over_rev=True, check_rev_over_rev=False, check_undefined_grad=False)
    assert gradcheck(f, (x, y), check_forward_ad=True, fast_mode=True)


def test_complex_numbers():
    z = gw.tensor([1 + 2j, -0.5j], dtype=gw.complex128, requires_grad=True)
    for f in (lambda z: z * z.conj(), lambda z: z.exp() / z, lambda z: z.abs(), lambda z: gw.view_as_real(z)):
        assert gradcheck(f, z, **EVERY)
        assert gradgradcheck(f, z, check_fwd_over_rev=True)


class Scaled(Function):
    slope = 2.0
    second = 1.0

    @staticmethod
    def forward(ctx, x, y):
        return 2 * x + y, x * 1

    @staticmethod
    def backward(ctx, g, h):
        return 2 * g + h, g

    @staticmethod
    def jvp(ctx, t, s):
        return Scaled.slope * t + Scaled.second * s, t * 1


def test_a_wrong_jvp_is_found(monkeypatch):
    x, y = leaf(2), leaf(2)
    assert gradcheck(Scaled.apply, (x, y), check_forward_ad=True)
    monkeypatch.setattr(Scaled, "slope", 3.0)
    with pytest.raises(GradcheckError,
                       match=r"Jacobian computed with forward mode mismatch for output 0 with respect") as e:
        gradcheck(Scaled.apply, (x, y), check_forward_ad=True)
    assert "worst: d out[" in str(e.value)
    assert not gradcheck(Scaled.apply, (x, y), check_forward_ad=True, raise_exception=False)
    assert gradcheck(Scaled.apply, (x, y))
    monkeypatch.setattr(Scaled, "slope", 2.0)

    def of_one(ctx, t, s):
        return (2 * t + s if not s.any() or not t.any() else t), t * 1

    monkeypatch.setattr(Scaled, "jvp",
                        staticmethod(lambda ctx, t, s: (2 * t + s if not s.any() or not t.any() else t, t * 1)))
    with pytest.raises(GradcheckError, match="not linear in the tangents"):
        gradcheck(Scaled.apply, (x, y), check_forward_ad=True)


def test_a_wrong_second_derivative_is_found_forward_over_reverse():
    class Square(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**2

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return Times.apply(g, x)

    class Times(Function):
        @staticmethod
        def forward(ctx, g, x):
            ctx.save_for_backward(g, x)
            ctx.save_for_forward(g, x)
            return 2 * g * x

        @staticmethod
        def backward(ctx, h):
            g, x = ctx.saved_tensors
            return 2 * h * x, 2 * h * g

        @staticmethod
        def jvp(ctx, t, s):
            g, x = ctx.saved_tensors
            return 2 * t * x + 3 * g * s

    x = leaf(2)
    assert gradgradcheck(Square.apply, x)
    with pytest.raises(GradcheckError, match="computed with forward mode mismatch"):
        gradgradcheck(Square.apply, x, check_fwd_over_rev=True)


def test_batches_that_differ_are_found():
    class Wrong(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return Doubled.apply(g)

        @staticmethod
        def jvp(ctx, t):
            return Doubled.apply(t)

    class Doubled(Function):
        @staticmethod
        def forward(ctx, g):
            return g * 2

        @staticmethod
        def backward(ctx, h):
            return h * 2

        @staticmethod
        def vmap(info, in_dims, g):
            return g * 3, in_dims[0]

    x = leaf(3)
    assert gradcheck(Wrong.apply, x, check_forward_ad=True)
    with pytest.raises(GradcheckError, match=r"(?s)For output 0 and input 0.*: vmap over backward"):
        gradcheck(Wrong.apply, x, check_batched_grad=True)
    with pytest.raises(GradcheckError, match="batched gradient computation with forward-mode AD"):
        gradcheck(Wrong.apply, x, check_forward_ad=True, check_batched_forward_grad=True)


def test_tangents_of_another_shape_or_dtype():
    class Bad(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

        @staticmethod
        def jvp(ctx, t):
            return (t * 2).float()

    with pytest.raises(GradcheckError, match="Gradient has dtype mismatch: the tangent of output 0 is of float32"):
        gradcheck(Bad.apply, leaf(2), check_forward_ad=True, check_grad_dtypes=True)
