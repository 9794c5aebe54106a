"""Steps that write NumPy arrays."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import gradwright as gw
from tests.compilation.watch.seen import refusals

w = gw.ones(3, requires_grad=True)


EFFECTS: dict[str, Any] = {}


def effect(make):
    EFFECTS[make.__name__] = make
    return make


@effect
def np_shuffle():
    a = np.arange(3.0)

    def step():
        np.random.shuffle(a)
        return w

    return step


@effect
def np_rng_made():
    def step():
        return w * float(np.random.default_rng().random())

    return step


@effect
def np_view_attr():
    a = np.ones(4)

    def step():
        a.shape = (2, 2)
        a.shape = (4,)
        return w

    return step


@effect
def np_flat():
    a = np.ones(4)

    def step():
        a.flat[0] = 5
        return w

    return step


@effect
def np_T():
    a = np.ones((2, 2))

    def step():
        a.T[0, 1] = 5
        return w

    return step


@effect
def np_ravel():
    a = np.ones((2, 2))

    def step():
        b = a.ravel()
        b[0] = 7
        return w

    return step


@effect
def np_ravel_chain():
    a = np.ones((2, 2))

    def step():
        a.reshape(-1)[0] += 7
        return w

    return step


@effect
def np_frombuffer_view():
    a = np.ones(4)

    def step():
        b = memoryview(a)
        b[0] = 4.0
        return w

    return step


@effect
def np_iter_rows():
    a = np.ones((2, 2))

    def step():
        for row in a:
            row[0] = 9
        return w

    return step


@effect
def np_in_tuple():
    a = (np.ones(2),)

    def step():
        for r in a:
            r += 1
        return w

    return step


@effect
def np_split():
    a = np.ones(4)

    def step():
        x, y = np.split(a, 2)
        x[0] = 3
        return w

    return step


@effect
def np_nditer():
    a = np.ones(4)

    def step():
        for x in np.nditer(a, op_flags=["readwrite"]):
            x[...] = 2
        return w

    return step


@effect
def np_ufunc_at():
    a = np.ones(4)

    def step():
        np.add.at(a, [0], 1)
        return w

    return step


@effect
def np_vectorize():
    d = []
    f = np.vectorize(lambda x: (d.append(1), x)[1])

    def step():
        f(np.ones(2))
        return w

    return step


@effect
def np_apply():
    d = []

    def step():
        np.apply_along_axis(lambda r: (d.append(1), r.sum())[1], 0, np.ones((2, 2)))
        return w

    return step


@pytest.mark.parametrize("name", EFFECTS)
@pytest.mark.filterwarnings("ignore")
def test_an_effect_is_refused_with_its_line(name):
    found = refusals(EFFECTS[name]())
    assert found, name
    assert all(r.place is not None for r in found) or name == "generator_step"
