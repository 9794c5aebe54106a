"""The table of instructions, and tensors that instructions set."""

from __future__ import annotations

import dis
import sys

import pytest

import gradwright as gw
from gradwright.compilation.watch.instructions import OPCODES
from gradwright.compilation.watch.stack import SIMPLE


class Counts(gw.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("n", gw.tensor(0))
        self.last = gw.zeros(2)


def held():
    """Tensors in attributes, dictionaries and lists, and steps that set them."""
    net, kept, several = Counts(), {"a": gw.zeros(2)}, [gw.zeros(2), gw.ones(2)]

    def buffer(x):
        net.n += 1
        return x * net.n

    def attribute(x):
        net.last -= x
        return net.last * 2

    def element(x):
        kept["a"] += x
        for k in range(2):
            several[k] -= x * k
        return kept["a"] * several[1]

    def attribute_anew(x):
        net.last = (net.last + x).detach()
        return net.last * 2

    def element_anew(x):
        kept["a"] = kept["a"] * 0.5 + x
        return kept["a"] * 2

    def exchanged(x):
        kept["a"], net.last = net.last, kept["a"]
        kept["a"] += 1
        return kept["a"] * x

    steps = {f.__name__: f for f in (buffer, attribute, element, attribute_anew, element_anew, exchanged)}
    return steps, lambda: [t.tolist() for t in (net.n, net.last, kept["a"], *several)]


@pytest.mark.parametrize(("name", "compiles"), [
    ("buffer", True), ("attribute", True), ("element", True), ("attribute_anew", False), ("element_anew", False),
    ("exchanged", False),
])  # fmt: skip
@pytest.mark.filterwarnings("ignore")
def test_tensors_that_are_held_are_written_or_told(name, compiles):
    (steps, state), (others, expected) = held(), held()
    step = gw.compile(others[name], backend="plan")
    for k in range(6):
        x = gw.ones(2) * k
        assert step(x).tolist() == steps[name](x).tolist()
        assert expected() == state()
    assert compiles == (not step.programs.reason)
    assert compiles or "is another one after the step" in step.programs.reason


@pytest.mark.skipif(sys.version_info >= (3, 15), reason="the instructions of later versions are not known")
def test_every_instruction_of_this_version_is_known():
    apart = {"CACHE", "RESERVED", "JUMP", "JUMP_NO_INTERRUPT", "POP_BLOCK", "SETUP_CLEANUP", "SETUP_FINALLY",
             "SETUP_WITH", "IMPORT_STAR", "LOAD_SUPER_ATTR", "JUMP_IF_FALSE", "JUMP_IF_TRUE", "STORE_GLOBAL", "TO_BOOL",
             "BUILD_INTERPOLATION", "BUILD_TEMPLATE"}  # fmt: skip
    real = {name for name, number in dis.opmap.items() if number < 256 and not name.startswith("INSTRUMENTED_")}
    assert {name for name in real - apart if name not in SIMPLE and name not in OPCODES} == set()
