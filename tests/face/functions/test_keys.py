"""What a key means: which of its parts are arrays, and whether they fit."""

from typing import Any

import numpy as np
import pytest

import gradwright
from gradwright.backends import strict
from gradwright.backends.generic import HERE
from gradwright.engine.base import wrap
from gradwright.face.functions.keys import key_of

X = np.arange(24.0).reshape(2, 3, 4)


def test_arrays_stand_apart() -> None:
    key, places = key_of((1, None, [0, 2], ...), wrap(X))
    assert key == (1, None, HERE, ...)
    assert [p.tolist() for p in places] == [[0, 2]]


def test_ints_slices_and_none_hold_no_arrays() -> None:
    assert key_of((1, slice(2)), wrap(X)) == ((1, slice(2), ...), [])


KEYS: list[Any] = [
    [1, 0], (1, [0, 2]), (slice(None), [[0, 2], [1, -1]]), (0, slice(1, 3), [3, 0]), ([0, 1], slice(None), [1, 2]),
    X > 5, (..., np.array([True, False, True, True])), ([1, 0], None, [0, 2]), True, (None, [1]),
]  # fmt: skip


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_every_library_reads_and_writes_alike(key: Any, torch: Any) -> None:
    expected = torch.tensor(X)[key].numpy()
    for make in (wrap, lambda a: wrap(strict.namespace.asarray(a))):
        x = make(X.copy()).requires_grad_()
        y = x[key]
        assert type(y.array) is type(x.array)
        assert np.array_equal(np.asarray(y.detach().array), expected)
        (g,) = gradwright.autograd.grad(y.sum(), x)
        t = torch.tensor(X, requires_grad=True)
        assert np.array_equal(np.asarray(g.array), torch.autograd.grad(t[key].sum(), t)[0].numpy())


@pytest.mark.parametrize(("key", "message"), [
    (([0, 2],), "out of bounds for dimension 0 with size 2"), ((slice(None), [0, -4]), "dimension 1 with size 3"),
    ((np.array([True, False, True]),), "The shape of the mask"),
])  # fmt: skip
def test_what_does_not_fit_is_refused_by_other_libraries_too(key: Any, message: str) -> None:
    with pytest.raises(IndexError, match=message):
        wrap(strict.namespace.asarray(X))[key]
    with pytest.raises(IndexError):
        wrap(X)[key]


def test_of_several_entries_written_to_one_place_the_last_has_the_gradient() -> None:
    for space in (np, strict.namespace):
        y = wrap(space.asarray([5.0, 6.0, 7.0])).requires_grad_()
        x = wrap(space.zeros(3)).index_put((wrap(space.asarray([1, 1, 0])),), y)
        (g,) = gradwright.autograd.grad(x.sum(), y)
        assert np.asarray(x.detach().array).tolist() == [7.0, 6.0, 0.0]
        assert np.asarray(g.array).tolist() == [0.0, 1.0, 1.0]
