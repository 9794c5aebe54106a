"""Views as strides."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradwright.compilation.by_c.places import Place, in_order, is_view, short, view
from gradwright.compilation.by_c.runner import C
from gradwright.compilation.node import Interpreted
from gradwright.compilation.trace.traced import space, traced

VIEWS: list[Callable[[Any], Any]] = [
    lambda x: space.reshape(x, (6, 4)), lambda x: space.permute_dims(x, (2, 0, 1)), lambda x: x[1], lambda x: x[::-1],
    lambda x: x[:, 1:, ::2], lambda x: x[1, 2, 3], lambda x: x[..., -1], lambda x: space.expand_dims(x, axis=1),
    lambda x: space.squeeze(space.expand_dims(x, axis=0), (0,)), lambda x: space.broadcast_to(x, (5, 2, 3, 4)),
    lambda x: space.flip(x, axis=1), lambda x: space.linalg.diagonal(x), lambda x: x[:, None, 0], lambda x: x[0:0],
    lambda x: space.reshape(x[:, ::-1], (-1,)), lambda x: space.reshape(space.permute_dims(x, (1, 0, 2)), (3, 8)),
    lambda x: space.reshape(x[..., None], (2, 12)), lambda x: x.T, lambda x: x.mT, lambda x: space.real(x),
]  # fmt: skip


@pytest.mark.parametrize("given", ["as it is", "computed", "turned"])
@pytest.mark.parametrize("number", range(len(VIEWS)))
def test_views(compiler: None, number: int, given: str) -> None:
    f = VIEWS[number]
    x = np.arange(24.0).reshape(2, 3, 4)
    if given == "turned":
        x = np.ascontiguousarray(x.T).T
    program = traced(lambda x: f(x * 3.0 if given == "computed" else x) + 1.0, x)
    for got, want in zip(C(program, arrays=[x])([x]), Interpreted(program)([x]), strict=True):
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("f", [
    lambda x: space.flip(x), lambda x: space.flip(x, axis=()), lambda x: space.reshape(x, (1,)), lambda x: x[None],
    lambda x: x[...], lambda x: x.T, lambda x: space.broadcast_to(x, (2, 3)), lambda x: space.squeeze(x, ()),
    lambda x: space.expand_dims(x, axis=0)[::-1], lambda x: space.permute_dims(x, ()),
])  # fmt: skip
def test_views_of_one_number(compiler: None, f: Callable[[Any], Any]) -> None:
    x = np.array(3.0)
    program = traced(lambda x: f(x * 2.0) + 1.0, x)
    (got,), (want,) = C(program, arrays=[x])([x]), Interpreted(program)([x])
    np.testing.assert_array_equal(got, want)
    assert np.shape(got) == np.shape(want)


def test_a_view_shows_where_entries_lie() -> None:
    x = np.zeros((3, 4), np.float32)
    program = traced(lambda x: [x[1, ::2], space.reshape(space.permute_dims(x, (1, 0)), (12,))], x)
    given, cut, turned, flat = program.nodes
    whole = Place(given, (3, 4), (4, 1), 0)
    assert is_view(cut)
    assert view(cut, whole) == Place(given, (2,), (2,), 4)
    columns = view(turned, whole)
    assert columns == Place(given, (4, 3), (1, 4), 0)
    assert view(flat, columns) is None  # a copy
    assert whole.contiguous
    assert not columns.contiguous
    assert whole.over((2, 3, 4)) == (0, 4, 1)


def test_axes_of_length_1_do_not_count() -> None:
    assert short((1, 3, 1)) == (3,)
    assert in_order((2, 3, 4)) == (12, 4, 1)
