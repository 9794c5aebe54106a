"""Sizes of layers, and prefixes of state dictionaries: as PyTorch's."""

from collections import OrderedDict

import pytest

from gradwright.nn.modules import utils


def test_sizes_are_pytorchs(torch):
    theirs = torch.nn.modules.utils
    for name in ("_single", "_pair", "_triple", "_quadruple"):
        for value in (3, (1, 2), [4, 5]):
            assert getattr(utils, name)(value) == getattr(theirs, name)(value)
    assert utils._ntuple(5)(1) == theirs._ntuple(5)(1)
    assert utils._reverse_repeat_tuple((1, 2, 3), 2) == theirs._reverse_repeat_tuple((1, 2, 3), 2)
    assert utils._list_with_default([None, 4], [1, 2, 3]) == theirs._list_with_default([None, 4], [1, 2, 3])
    assert utils._list_with_default(5, [1]) == 5
    with pytest.raises(ValueError, match="Input dimension should be at least 3"):
        utils._list_with_default([1, 2], [1, 2])


def test_prefixes_are_taken_off(torch):
    found = []
    for module in (utils, torch.nn.modules.utils):
        state = OrderedDict([("module.a", 1), ("b", 2)])
        state._metadata = OrderedDict([("", 0), ("module", 1), ("module.a", 2)])
        module.consume_prefix_in_state_dict_if_present(state, "module.")
        found.append((dict(state), dict(state._metadata)))
    assert found[0] == found[1]


def test_options_that_say_how_parameters_are_made(torch):
    for kwargs in (None, {}, {"device": "cpu", "dtype": 1}, {"factory_kwargs": {"dtype": 2}, "device": "cpu"}):
        assert utils.factory_kwargs(kwargs) == torch.nn.factory_kwargs(kwargs)
    for wrong in ({"colour": 1}, {"dtype": 1, "factory_kwargs": {"dtype": 1}}):
        for function in (utils.factory_kwargs, torch.nn.factory_kwargs):
            with pytest.raises(TypeError):
                function(wrong)
