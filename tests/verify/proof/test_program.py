"""What runs otherwise on numbers than on balls, or otherwise the next time, is not proved: programs of many kinds."""

from types import SimpleNamespace

import pytest

import gradwright as gw
from gradwright.autograd import Function
from gradwright.verify import prove, prove_on

X = gw.tensor([0.5, -2.0], dtype=gw.float64)
LIST, DICT, OBJECT, COUNT = [0], {"n": 0}, SimpleNamespace(n=0), 0
LATE = 10**6
"""So many calls nobody waits for."""


def in_a_list(ctx):
    LIST[0] += 1
    return LIST[0]


def in_a_dictionary(ctx):
    DICT["n"] += 1
    return DICT["n"]


def in_an_object(ctx):
    OBJECT.n += 1
    return OBJECT.n


def in_a_global(ctx):
    global COUNT  # noqa: PLW0603 - what is seen
    COUNT += 1
    return COUNT


def in_a_class(ctx):
    Made.n += 1
    return Made.n


def in_a_new_attribute(ctx):
    Made.later = getattr(Made, "later", 0) + 1
    return Made.later


class Made(Function):
    n = 0
    count = None

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * g * x if Made.count(ctx) < LATE else g


COUNTS = [in_a_list, in_a_dictionary, in_an_object, in_a_global, in_a_class, in_a_new_attribute]


@pytest.mark.parametrize("count", COUNTS)
def test_a_counter_that_turns_late_is_seen(count):
    Made.count = staticmethod(count)
    for found in (prove(Made, X), prove(lambda x: Made.apply(x), X), prove_on(Made, (0.5, 1.0))):
        assert found.status == "not proved"
        assert "keeps a state" in found.reason


def rule(backward):
    class Ruled(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            return backward(ctx, g, ctx.saved_tensors[0])

    return Ruled


def counted(ctx):
    ctx.n = getattr(ctx, "n", 0) + 1
    return ctx.n


OTHERS = {
    "float64 alone": lambda ctx, g, x: 2 * g * x if x.dtype == gw.float64 else g,
    "not float32": lambda ctx, g, x: 2 * g * x if g.dtype != gw.float32 else g,
    "not float16": lambda ctx, g, x: 2 * g * x if x.dtype != gw.float16 else g,
    "by size": lambda ctx, g, x: 2 * g * x if x.element_size() == 8 else g,
    "by finfo": lambda ctx, g, x: 2 * g * x if gw.finfo(x.dtype).eps < 1e-10 else g,
    "balls alone": lambda ctx, g, x: g if hasattr(x.array, "tobytes") else 2 * g * x,
    "ctx": lambda ctx, g, x: 2 * g * x if counted(ctx) < 2 else g,
    "drawn": lambda ctx, g, x: 2 * g * x * (gw.rand(()) < 0.5).to(x.dtype),
}


@pytest.mark.parametrize("name", OTHERS)
def test_another_program_is_not_proved(name):
    assert prove(rule(OTHERS[name]), X).status != "proved"
    assert prove_on(rule(OTHERS[name]), (0.5, 1.0)).status != "proved"


def not_of_float16(ctx, g, x):
    if x.dtype == gw.float16:
        raise TypeError("float16 is not for this")
    return 2 * g * x


def with_eps(ctx, g, x):
    return (g * x + x * g) * (1 + gw.finfo(x.dtype).eps - gw.finfo(x.dtype).eps)


@pytest.mark.parametrize("backward", [not_of_float16, with_eps])
@pytest.mark.parametrize("dtype", [gw.float16, gw.float32, gw.float64, gw.bfloat16])
def test_what_is_the_same_in_each_dtype_it_takes_is_proved(backward, dtype):
    if dtype is gw.float16 and backward is not_of_float16:
        return
    found = prove(rule(backward), X.to(dtype))
    assert found, found
    assert prove_on(rule(backward), (-1.0, 1.0))
