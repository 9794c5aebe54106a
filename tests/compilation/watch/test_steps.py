import dis
import sys

import pytest

from gradwright.compilation.watch.instructions import Instructions
from gradwright.compilation.watch.steps import SIMPLE, handlers, steps


def example(x):
    try:
        for k in range(3):
            x += k
    except ValueError as error:
        raise RuntimeError from error
    finally:
        x.done()
    return [x for _ in x]


def test_every_instruction_has_its_step():
    found = steps(example.__code__)
    for i in dis.get_instructions(example):
        if i.opname != "EXTENDED_ARG":
            assert (found[i.offset].name, found[i.offset].value) == (i.opname, i.argval)


def test_an_instruction_with_a_long_argument_begins_before_it():
    text = "def f(x):\n" + "".join(f"    x.a{k}\n" for k in range(400))
    scope = {}
    exec(text, scope)  # noqa: S102 - the text is written here
    code = scope["f"].__code__
    long = [i.offset for i in dis.get_instructions(code) if i.opname == "EXTENDED_ARG"]
    assert long
    assert all(steps(code)[at].name == steps(code)[at].name for at in long)
    assert all(steps(code)[at].at > at for at in long)


def test_the_exception_table_is_that_of_dis():
    expected = [(e.start, e.end, e.target, e.depth, e.lasti) for e in dis.Bytecode(example).exception_entries]
    assert [tuple(h) for h in handlers(example.__code__)] == expected
    assert expected


@pytest.mark.skipif(sys.version_info >= (3, 15), reason="the instructions of later versions are not known")
def test_every_instruction_of_this_version_is_known():
    apart = {"CACHE", "RESERVED", "JUMP", "JUMP_NO_INTERRUPT", "POP_BLOCK", "SETUP_CLEANUP", "SETUP_FINALLY",
             "SETUP_WITH", "IMPORT_STAR", "LOAD_SUPER_ATTR", "JUMP_IF_FALSE", "JUMP_IF_TRUE", "STORE_GLOBAL", "TO_BOOL",
             "BUILD_INTERPOLATION", "BUILD_TEMPLATE"}  # fmt: skip
    real = {name for name, number in dis.opmap.items() if number < 256 and not name.startswith("INSTRUMENTED_")}
    assert {name for name in real - apart if name not in SIMPLE and name not in Instructions.table} == set()
