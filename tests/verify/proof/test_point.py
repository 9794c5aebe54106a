"""Point proofs: right rules are proved, wrong ones disproved, and what balls cannot run is neither."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gradwright as gw
from gradwright.autograd import Function
from gradwright.op import op, table
from gradwright.verify import prove
from gradwright.verify.proof.point import DISPROVED, NOT_PROVED, PROVED, Proof
from gradwright.verify.testing import draw

X = gw.tensor([0.5, -2.0], dtype=gw.float64)


@op(kind="elementwise")
def sech(xp, x):
    """1/cosh."""
    return 2 / (xp.exp(x) + xp.exp(-x))


sech.vjp(x=lambda xp, g, x, out: -g * out * xp.tanh(x))


def cubed(error=0.0):
    """A Function whose derivative has this relative error."""

    class Cube(Function):
        @staticmethod
        def forward(ctx, x, k):
            ctx.save_for_backward(x)
            ctx.k = k
            return x * x * x * k

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return (3.0 + 3.0 * error) * x * x * g * ctx.k, None

    return Cube


@gw.autograd.custom_op
def soft(x: gw.Tensor, *, b: float = 2.0) -> gw.Tensor:
    return gw.log(1 + gw.exp(x * b)) / b


soft.vjp(x=lambda xp, g, x, b: g / (1 + xp.exp(-b * x)))


@pytest.mark.parametrize(("f", "inputs", "static"), [
    (gw.tanh, (X,), {}), (sech, (X,), {}), (cubed(), (X, 2.0), {}), (soft, (X,), {"b": 3.0}),
    (lambda x: gw.nn.functional.softmax(x @ x.T, dim=1), (gw.tensor([[0.5, 1.0], [-1.0, 2.0]], dtype=gw.float64),), {}),
])  # fmt: skip
def test_what_is_right_is_proved_with_a_bound(f, inputs, static):
    found = prove(f, *inputs, **static)
    assert found.status == PROVED
    assert found.bound < 1e-40


@given(st.floats(-14, -1), st.sampled_from([-1, 1]))
def test_what_is_wrong_is_disproved(power, sign):
    error = sign * 10.0**power
    found = prove(cubed(error), X, 2.0)
    assert found.status == DISPROVED
    assert found.least == pytest.approx(abs(error) * 3 * 4 * 2, rel=1.5)
    assert "input 0 at [" in found.at


def test_a_double_for_a_constant_shows_and_is_said():
    found = prove(gw.exp2, X)
    assert found.status == PROVED
    assert found.doubles
    assert 1e-18 < found.bound < 1e-16


class Numbers(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return gw.from_numpy(np.sin(x.numpy()))

    @staticmethod
    def backward(ctx, g):
        return g * ctx.saved_tensors[0].cos()


@pytest.mark.parametrize(("f", "x", "words"), [
    (Numbers, X, "reads numbers"),
    (lambda x: x if x.sum().item() > 0 else -x, X, "reads numbers"),
    (gw.relu, gw.tensor([0.0, 1.0], dtype=gw.float64), "kink"),
    (gw.abs, gw.tensor([0.0], dtype=gw.float64), "kink"),
    (gw.floor, gw.tensor([1.0], dtype=gw.float64), "at a jump"),
    (gw.log, gw.tensor([0.0], dtype=gw.float64), "pole"),
    (gw.sqrt, gw.tensor([-1.0], dtype=gw.float64), "pole"),
    (gw.sort, gw.tensor([1.0, 1.0], dtype=gw.float64), "order"),
    (gw.linalg.svdvals, gw.eye(2, dtype=gw.float64), "no linalg.svd"),
    (lambda x: x.detach() * 1.0, X, "no result has a derivative"),
])  # fmt: skip
def test_what_cannot_be_known_is_not_proved_and_says_why(f, x, words):
    found = prove(f, x)
    assert found.status == NOT_PROVED
    assert words in found.reason


def test_a_surrogate_is_not_proved():
    straight = gw.autograd.surrogate("straight-through")(cubed())
    assert "no derivative: straight-through" in prove(straight, X, 2.0).reason


def test_inputs_that_require_grad_are_those_differentiated_by():
    class Half(Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.save_for_backward(x, y)
            return x * y

        @staticmethod
        def backward(ctx, g):
            x, y = ctx.saved_tensors
            return g * y, 2.0 * g * x

    assert prove(Half, X.clone().requires_grad_(), X).status == PROVED
    assert prove(Half, X, X).status == DISPROVED


UNKNOWN = {"angle", "nextafter", "slogdet", "cofactor", "pinv", "matrix_exp", "qr", "svdvals"}
POLES = {("exponential", 0), ("polygamma", 2)}


@pytest.mark.parametrize("name", [n for n, one in table.items() if one.rules and one.kind == "elementwise"])
def test_every_elementwise_rule_is_proved_at_its_samples(name):
    for sample in table[name].samples:
        arrays, static = draw(sample)
        found = prove(table[name], *arrays, **static)
        if found.status != PROVED:
            assert name in UNKNOWN or (name, static.get("base", static.get("n"))) in POLES, str(found)
        else:
            assert found.bound < (1e-14 if found.doubles else 1e-40), str(found)


def made(forward, backward):
    class Made(gw.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return forward(x)

        @staticmethod
        def backward(ctx, g):
            return backward(g, ctx.saved_tensors[0])

    return Made


@pytest.mark.parametrize(("forward", "backward", "at", "words"), [
    (lambda x: (x * x).sqrt(), lambda g, x: 0 * g, 0.0, "a pole"),  # |x|, by balls whose slope vanishes
    (lambda x: (1 - x * x).acos(), lambda g, x: 0 * g, 0.0, "a pole"),
    (lambda x: gw.where(x * x > 0, 3 * x, x), lambda g, x: g, 0.0, "kink or a jump"),
    (lambda x: gw.where(x * x == 0, x, 2 * x + 1), lambda g, x: g, 0.0, "kink or a jump"),
    (lambda x: 3 * x if (x**3 > 0).all() else x, lambda g, x: g, 0.0, "a decision on"),
    (lambda x: x + x.cos().floor(), lambda g, x: g, 0.0, "rounding to a whole number"),
    (lambda x: 2 * x, lambda g, x: 2 * g + 0 * (x - 0.5).log(), 0.5, "a pole"),  # 0 times inf is nan in numbers, too
    (lambda x: 2 * x, lambda g, x: -2 * g.abs(), 0.5, "decides on its cotangent"),
    (lambda x: 2 * x, lambda g, x: 2 * g.clamp(-10, 10), 0.5, "decides on its cotangent"),
    (lambda x: 2 * x, lambda g, x: gw.where((g > 3) & (g < 4), g, 2 * g), 0.5, "decides on its cotangent"),
    (lambda x: 2 * x, lambda g, x: gw.where(g == 0, 0 * g + 1, 2 * g), 0.5, "decides on its cotangent"),
    (lambda x: x * 2 if x.item() > 0.3 else x, lambda g, x: 2 * g, 0.5, "reads numbers"),
])  # fmt: skip
def test_what_is_wrong_in_a_corner_is_not_proved(forward, backward, at, words):
    found = prove(made(forward, backward), gw.tensor([at], dtype=gw.float64))
    assert found.status == "not proved", found
    assert words in str(found)


CUTS = {
    "log": -1, "log2": -3, "log10": -0.5, "log1p": -3, "sqrt": -4, "rsqrt": -4, "acos": 2, "asin": -2, "atanh": 2,
    "acosh": 0.5, "asinh": 2j, "atan": -2j,
}  # fmt: skip


@pytest.mark.parametrize("name", CUTS)
@pytest.mark.parametrize("sign", [1, -1])
def test_on_a_branch_cut_nothing_is_proved_and_beside_it_all_is(name, sign):
    f, z = getattr(gw, name), complex(CUTS[name])
    z = complex(z.real, sign * 0.0) if z.real else complex(sign * 0.0, z.imag)
    across = 1j if z.real else 1.0
    beside = [f(gw.tensor([z + d], dtype=gw.complex128)).item() for d in (1e-9 * across, -1e-9 * across)]
    assert abs(beside[0] - beside[1]) > 0.1  # it is cut there
    found = prove(f, gw.tensor([z], dtype=gw.complex128))
    assert found.status == NOT_PROVED
    assert "branch cut" in found.reason
    assert prove(f, gw.tensor([z + 1e-3 * across, z - 1e-3 * across], dtype=gw.complex128))
    z = gw.tensor([z], dtype=gw.complex128)
    assert prove(lambda z: f(z) * 2 + z, z).status == NOT_PROVED


def test_a_part_without_the_cut_is_proved_on_it():
    assert prove(lambda z: gw.log(z).real, gw.tensor([-1 + 0j], dtype=gw.complex128))
    assert prove(lambda x: gw.log(x + 0j).real, gw.tensor([-1.0], dtype=gw.float64))  # along the real axis


def test_what_decides_at_zero_and_is_linear_is_proved():
    right = made(lambda x: 2 * x, lambda g, x: gw.where(g == 0, 0 * g, 2 * g))
    assert prove(right, gw.tensor([0.5], dtype=gw.float64))


@pytest.mark.parametrize("x", [gw.zeros(0, dtype=gw.float64), gw.tensor([1, 2])], ids=["empty", "whole numbers"])
def test_nothing_is_proved_of_nothing(x):
    assert "nothing to differentiate by" in str(prove(gw.negative, x))


def test_words():
    assert str(Proof("f", PROVED, "here", 0.0)) == "f: proved here: exact"
    assert str(Proof("f", PROVED, "here", 1e-40)) == "f: proved here: error below 1e-40"
    assert str(Proof("f", PROVED, "here", 1e-17, doubles=True)).endswith("it is not 0: a constant is only a double")
    assert str(Proof("f", PROVED, "on a box", 1e-9, boxes=3, left=["at 0"])) == (
        "f: proved on a box: error below 1e-09, with 3 boxes; not at 0"
    )
    assert str(Proof("f", DISPROVED, "here", 1.0, 0.5, "in x")) == "f: disproved here: an error of at least 0.5, in x"
    assert str(Proof("f", NOT_PROVED, "here", reason="a pole")) == "f: not proved here: a pole"


def test_only_what_is_proved_is_true():
    assert Proof("f", PROVED, "")
    assert not Proof("f", DISPROVED, "")
    assert not Proof("f", NOT_PROVED, "")
