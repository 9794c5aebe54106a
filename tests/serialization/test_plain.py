"""Nested data as JSON: which form each thing has, and JSON that no data have made."""

import io
import json
import math
from collections import OrderedDict, defaultdict, namedtuple

import pytest

import gradwright as gw
from gradwright.serialization import container
from gradwright.serialization.plain import Writer, data_of


@pytest.mark.parametrize(
    ("value", "node"),
    [
        (None, None), (True, True), (3, 3), (0.5, 0.5), ("text", "text"), ([1, [2]], [1, [2]]),
        (2**64, {"int": "0x10000000000000000"}), (math.inf, {"float": "inf"}), (1 - 2j, {"complex": ["1.0", "-2.0"]}),
        (b"ab", {"bytes": "YWI="}), ((1, 2), {"tuple": [1, 2]}), ({0: "a"}, {"dict": [[0, "a"]]}),
        (OrderedDict(a=1), {"OrderedDict": [["a", 1]]}), (gw.Size([2]), {"Size": [2]}),
        (gw.float32, {"dtype": "float32"}), (gw.device("cpu"), {"device": "cpu"}), (frozenset([1]), {"frozenset": [1]}),
    ],
    ids=repr,
)  # fmt: skip
def test_the_form_of_each(value, node):
    assert Writer().node(value) == node
    assert data_of(json.loads(json.dumps(node)), []) == value


def test_tensors_are_numbers_in_the_order_met():
    writer, t = Writer(), gw.ones(1)
    assert writer.node({"a": t, "b": [gw.ones(2), t]}) == {
        "dict": [["a", {"tensor": 0}], ["b", [{"tensor": 1}, {"tensor": 0}]]]
    }
    assert [name for _, name in writer.store.found] == ["a", "b.0"]


@pytest.mark.parametrize(
    ("value", "mend"),
    [
        (defaultdict(list), r"save dict\(value\)"),
        (namedtuple("Point", "x y")(1, 2), r"save tuple\(value\)"),
        (range(3), "expected tensors, arrays"),
        (gw.nn.Linear, "which is code"),
    ],
)
def test_relatives_of_what_can_be_saved_name_the_mend(value, mend):
    with pytest.raises(TypeError, match=mend):
        Writer().node({(2**20000, 1): [value]})


@pytest.mark.parametrize(
    "structure",
    [
        "", "1", "[]", "{}", '{"version": 1}', '{"version": 2}', '{"version": {}}',
        *(f'{{"version": 1, "tensors": [], "data": {node}}}' for node in (
            "{}", '{"tensor": 0}', '{"tensor": "a"}', '{"list": []}', '{"dict": [[1]]}', '{"dict": [[[], 1]]}',
            '{"dict": 3}', '{"set": [[]]}', '{"int": 3}', '{"float": "x"}', '{"complex": 1}', '{"bytes": "a"}',
            '{"dtype": "object"}', '{"device": "gpu"}', '{"dict": [], "more": 1}', '{"tuple": 1}', '{"scalar": 1}',
            "[" * 900 + "]" * 900, "[" * 90_000 + "]" * 90_000,
        )),
        '{"version": 1, "data": 1, "tensors": [{}]}', '{"version": 1, "data": 1, "tensors": [1]}',
        '{"version": 1, "data": 1, "tensors": 1}',
    ],
)  # fmt: skip
def test_structures_that_save_did_not_write(structure):
    file = io.BytesIO()
    container.write(file, {}, structure)
    file.seek(0)
    with pytest.raises(gw.FileError, match=r"its structure is not one that save|it is of version"):
        gw.load(file)
