"""ParameterList and ParameterDict."""

from collections import OrderedDict
from types import MappingProxyType

import pytest

import gradwright as gw


def kinds(lib, values):
    return ["parameter" if isinstance(v, lib.nn.Parameter) else v for v in values]


# ---- the list -------------------------------------------------------------------------------------------


@pytest.fixture
def some(lib):
    return lib.nn.ParameterList([lib.ones(2), lib.nn.Parameter(lib.ones(2, 3)), 5])


def test_the_list_makes_parameters_of_tensors(lib, some):
    assert kinds(lib, some) == ["parameter", "parameter", 5]
    assert [name for name, _ in some.named_parameters()] == ["0", "1"]
    assert list(some.state_dict()) == ["0", "1"]
    assert len(some) == 3
    assert some[-1] == 5


def test_the_list_is_changed_like_one(lib, some):
    assert some.append(lib.ones(1)) is some
    some += [7]
    some.extend(iter([8]))
    some[-1] = lib.ones(4)
    assert kinds(lib, some) == ["parameter", "parameter", 5, "parameter", 7, "parameter"]
    part = some[1:3]
    assert type(part) is lib.nn.ParameterList
    assert part[0] is some[1]


def test_the_list_is_printed(lib, some):
    assert repr(some) == (
        "ParameterList(\n    (0): Parameter containing: [torch.float32 of size 2]\n"
        "    (1): Parameter containing: [torch.float32 of size 2x3]\n    (2): Object of type: int\n)"
    )
    assert repr(lib.nn.ParameterList()) == "ParameterList()"


def test_the_list_refuses(lib, some):
    with pytest.raises(IndexError, match="index 7 is out of range"):
        some[7]
    with pytest.raises(RuntimeError, match="ParameterList should not be called"):
        some(1)
    for values in (3, lib.ones(2)):
        with pytest.raises(TypeError, match=r"ParameterList.extend should be called with an iterable, but got"):
            some.extend(values)


# ---- the dictionary -------------------------------------------------------------------------------------


@pytest.fixture
def named(lib):
    return lib.nn.ParameterDict([("w", lib.ones(2)), ("n", 3)])


def test_the_dictionary_makes_parameters_of_tensors(lib, named):
    assert list(named) == list(named.keys()) == ["w", "n"]
    assert kinds(lib, named.values()) == ["parameter", 3]
    assert [name for name, _ in named.items()] == ["w", "n"]
    assert [name for name, _ in named.named_parameters()] == ["w"]
    assert named["w"] is named.w
    assert "w" in named
    assert "x" not in named
    assert list(reversed(named)) == ["n", "w"]


def test_the_dictionary_is_changed_like_one(lib, named):
    assert named.get("x", 1) == 1
    assert named.setdefault("x", 2) == named.setdefault("x", 3) == 2
    named.update({"b": lib.ones(1), "a": 1})
    assert list(named) == ["w", "n", "x", "a", "b"]
    assert named.popitem()[0] == "b"
    assert named.pop("a") == 1
    del named["x"]
    assert len(named) == 2
    assert not hasattr(named, "x")
    twin = named.copy()
    named.clear()
    assert (len(named), len(twin)) == (0, 2)
    assert list(twin.fromkeys(["u", "v"], 1).items()) == [("u", 1), ("v", 1)]


def test_dictionaries_are_merged(lib, named):
    other = lib.nn.ParameterDict([("n", 4), ("z", 5)])
    assert list((named | other).items())[1:] == [("n", 4), ("z", 5)]
    assert list(named) == ["w", "n"]
    named |= other
    assert list(named) == ["w", "n", "z"]


def test_the_order_of_the_dictionary(lib):
    pairs = [("b", 1), ("a", 2)]
    sort = MappingProxyType(dict(pairs))
    for given, order in [(pairs, "ba"), (OrderedDict(pairs), "ba"), (dict(pairs), "ab"), (sort, "ab")]:
        assert list(lib.nn.ParameterDict(given)) == list(order)


def test_the_dictionary_is_printed(lib, named):
    assert repr(named) == (
        "ParameterDict(\n    (w): Parameter containing: [torch.FloatTensor of size 2]\n    (n): Object of type: int\n)"
    )


@pytest.mark.parametrize(("values", "error", "message"), [
    (3, TypeError, "^ParameterDict.update should be called with an iterable of key/value pairs, but got int"),
    ([(1,)], ValueError, "ParameterDict update sequence element #0 has length 1; 2 is required"),
    ([5], TypeError, "ParameterDict update sequence element #0 should be Iterable"),
    ([(3, 1)], TypeError, "Index given to ParameterDict cannot be used as a key as it is not a string"),
    ({"keys": 1}, KeyError, "attribute 'keys' already exists"),
    ([("a.b", gw.ones(1))], KeyError, "parameter name can't contain|name can"),
])  # fmt: skip
def test_the_dictionary_refuses(values, error, message):
    with pytest.raises(error, match=message):
        gw.nn.ParameterDict(values)


def test_a_name_that_is_not_there(named):
    with pytest.raises((KeyError, AttributeError), match="x"):
        named["x"]
    with pytest.raises(RuntimeError, match="ParameterDict should not be called"):
        named(1)


def test_subclasses_are_extended_by_what_is_given_alone(lib):
    class Named(lib.nn.ParameterDict):
        def update(self, parameters):
            raise ValueError("updated")

    assert len(Named()) == len(lib.nn.ParameterDict(None)) == len(lib.nn.ParameterList(None)) == 0
    with pytest.raises(ValueError, match="updated"):
        Named({"a": lib.ones(1)})
