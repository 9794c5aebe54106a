"""The closed subset of pickle, against the standard library's, which reads and writes all of it."""

from __future__ import annotations

import fractions
import io
import pickle  # noqa: TID251 - what is loaded here was made here
import pickletools
from collections import Counter, OrderedDict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradwright.base.errors import FileError
from gradwright.serialization.checkpoint.opcodes import Writer, globals_in, read

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=9) | st.tuples(inner) | st.tuples(inner, inner, inner, inner) |
    st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)  # fmt: skip


def refuse(name):
    raise FileError(name)


@given(PLAIN, st.sampled_from([2, 3, 4, 5]))
def test_what_the_standard_library_writes_is_read(data, protocol):
    assert read(io.BytesIO(pickle.dumps(data, protocol)), refuse) == data


@pytest.mark.parametrize("protocol", [0, 1, 2, 4])
def test_objects_that_are_in_themselves_and_twice(protocol):
    data = [1, {"a": ()}]
    data[1]["again"] = data
    data.append(data[1])
    found = read(io.BytesIO(pickle.dumps(data, max(protocol, 2))), refuse)
    assert found[1]["again"] is found
    assert found[2] is found[1]


def test_the_stream_is_left_at_the_end_of_the_pickle():
    file = io.BytesIO(pickle.dumps([1], 2) + pickle.dumps("next", 2) + b"rest")
    assert (read(file, refuse), read(file, refuse), file.read()) == ([1], "next", b"rest")


@pytest.mark.parametrize("protocol", [2, 4])
def test_globals_and_states(protocol):
    data = OrderedDict(a=1)
    data.note = "kept"
    content = pickle.dumps([data, fractions.Fraction, data], protocol)
    assert globals_in(io.BytesIO(content)) == ["collections.OrderedDict", "fractions.Fraction"]
    found = read(io.BytesIO(content), {"collections.OrderedDict": OrderedDict, "fractions.Fraction": 3}.get)
    assert (found[0], found[0].note, found[1]) == (data, "kept", 3)
    assert found[2] is found[0]


REFUSED = {
    "a global": (b"\x80\x02cos\nsystem\n.", r"os\.system"),
    "a call of data": (b"\x80\x02X\x01\x00\x00\x00a)R.", "it calls 'a', which is no global"),
    "an object of what was not found": (b"\x80\x02K\x01)\x81.", "it calls 1, which is no global"),
    "the state of a dict": (b"\x80\x02}}b.", "it sets the state of a dict"),
    "an object outside": (b"\x80\x02K\x01Q.", "it refers to an object outside"),
    "an opcode of another use": (b"\x80\x02K\x01\x82\x01.", "has the opcode EXT1 at byte 4"),
    "an instance by name": (b"\x80\x02(ios\nsystem\n.", "has the opcode INST"),
    "no end": (b"\x80\x02K\x01", "damaged: ValueError"),
    "nothing on the stack": (b"\x80\x02a.", "damaged: IndexError"),
    "a key that cannot be one": (b"\x80\x02}]K\x01s.", "unhashable"),
    "no mark": (b"\x80\x02t.", "damaged"),
    "a value unknown": (b"\x80\x02h\x05.", "damaged: KeyError"),
    "a key too deep": (b"\x80\x02})" + b"\x85" * 20_000 + b"Ns.", "a key or member is made of more than 10,000 parts"),
    "a key too deep among others": (b"\x80\x02}()" + b"\x85" * 20_000 + b"Nu.", "a key or member is made of more"),
    "a member that doubles": (b"\x80\x04\x8f()q\x00" + b"0h\x00h\x00\x86q\x00" * 16 + b"\x90.", "a key or member"),
    "a frozen one": (b"\x80\x04()q\x00" + b"0h\x00h\x00\x86q\x00" * 16 + b"\x91.", "a key or member"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_refused(what):
    content, words = REFUSED[what]
    with pytest.raises(FileError, match=words):
        read(io.BytesIO(content), refuse)


@pytest.mark.parametrize("kind", [set, Counter, OrderedDict])
def test_what_hashes_its_items_is_made_of_lists_of_small_ones(kind):
    item = b"K\x01K\x01\x86" if kind is OrderedDict else b"K\x01"
    deep = b")" + b"\x85" * 20_000 + (b"N\x86" if kind is OrderedDict else b"")
    content = b"\x80\x02cbuiltins\nx\n](%setR."
    assert read(io.BytesIO(content.replace(b"](", b"(](") % item), lambda name: kind) == kind([(1, 1)] if kind is
                                                                                         OrderedDict else [1])
    with pytest.raises(FileError, match="a key or member is made of more than"):
        read(io.BytesIO(content.replace(b"](", b"(](") % deep), lambda name: kind)
    with pytest.raises(FileError, match="of a range"):
        read(io.BytesIO(b"\x80\x02cbuiltins\nx\n(cbuiltins\nrange\n(K\x05tRtR."), {"builtins.x": kind,
                                                                               "builtins.range": range}.get)


def test_what_is_written_the_standard_library_reads():
    out = Writer()
    out.add(b"]")
    out.begin()
    for value in (0, -1, 2**31, -(2**31), 2**63, -(2**90), 2**2100):
        out.integer(value)
    out.number(-0.0)
    for text in ("", "é\n", "x" * 300):
        out.text(text)
    for constant in (None, True, False):
        out.constant(constant)
    for _ in range(2):
        out.begin("collections.OrderedDict")
        out.add(b"tR")
    out.add(b"e")
    found = pickle.loads(out.whole())  # noqa: S301 - written above
    assert found == [0, -1, 2**31, -(2**31), 2**63, -(2**90), 2**2100, -0.0, "", "é\n", "x" * 300, None, True, False,
                     OrderedDict(), OrderedDict()]  # fmt: skip
    assert sum(op.name == "GLOBAL" for op, _, _ in pickletools.genops(out.whole())) == 1
