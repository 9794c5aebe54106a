"""Places: the innermost line of the user's program, whatever it calls of gradwright's."""

import inspect

import pytest

import gradwright
from gradwright.base.source_line import Place, here, warn
from gradwright.engine.version import written_at
from tests.functions import Function


def line():
    """The number of the line that asks."""
    return inspect.currentframe().f_back.f_lineno


def test_here_is_this_line():
    found, expected = Place(*here()), line()
    assert found.line == expected
    assert found.source.startswith("found, expected = Place(*here())")
    assert str(found) == f"{__file__}:{expected}: {found.source}"


def test_a_warning_is_of_the_users_line():
    expected = line() + 2
    with pytest.warns(FutureWarning, match=r"^beware$") as seen:
        warn("beware", FutureWarning)
    assert (seen[0].filename, seen[0].lineno) == (__file__, expected)


def test_it_keeps_no_frame_and_so_no_variables():
    assert [type(part).__name__ for part in here()] == ["code", "int"]


def test_a_statement_of_several_lines():
    t = gradwright.ones(3)
    expected = line() + 2
    [
        t.mul_(2),
        2,
    ]
    assert written_at(t._counter).line == expected


WRITES = {
    "method": lambda t: t.add_(1),
    "operator": lambda t: t.__iadd__(1),
    "item": lambda t: t.__setitem__(0, 1.0),
    "view": lambda t: t[1:].mul_(2),
    "alias": lambda t: t.detach().zero_(),
    "copy_": lambda t: t.copy_(t.clone()),
    "random": lambda t: t.uniform_(),
    "index_add_": lambda t: t.index_add_(0, gradwright.tensor([0]), gradwright.ones(1)),
    "masked_fill_": lambda t: t.masked_fill_(t > 0, 2.0),
}  # fmt: skip


def test_gradwrights_own_lines_are_passed_over():
    for name, write in WRITES.items():
        t = gradwright.ones(3)
        write(t)
        place = written_at(t._counter)
        assert place.code is write.__code__, name
        assert f'"{name}"' in place.source


def test_a_write_inside_backward_is_the_line_of_backward():
    buffer = gradwright.zeros(2)

    class F(Function):
        def forward(ctx, x):
            return x * 2

        def backward(ctx, g):
            buffer.add_(g)
            return g * 2

    F.apply(gradwright.ones(2, requires_grad=True)).sum().backward()
    assert written_at(buffer._counter).source == "buffer.add_(g)"
    assert written_at(buffer._counter).code is F.backward.__code__


def test_code_without_a_file():
    namespace = {"here": here, "t": gradwright.ones(2)}
    exec(compile("\nt.add_(1)\nfound = here()", "<console>", "exec"), namespace)  # noqa: S102
    assert str(Place(*namespace["found"])) == "<console>:3"
    assert str(written_at(namespace["t"]._counter)) == "<console>:2"
