"""The nodes of a program while it is traced."""

import numpy as np

from gradwright.compilation.node import CHECK, CONSTANT, INPUT
from gradwright.compilation.trace.notes import Notes
from gradwright.compilation.trace.traced import Traced


def test_constants_are_noted_once_and_kept():
    notes, array = Notes(), np.ones(2)
    node = notes.constant(array)
    assert notes.constant(array) is node
    array[0] = 5
    assert (node.op, node.args[0].tolist()) == (CONSTANT, [1.0, 1.0])


def test_what_is_read_is_checked():
    notes = Notes()
    x = notes.input(np.ones(2))
    assert isinstance(x, Traced)
    notes.read(x)
    assert [node.op for node in notes.nodes] == [INPUT, CHECK]
    notes.open = False
    notes.read(x)
    assert len(notes.nodes) == 2
