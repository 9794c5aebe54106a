"""A module on the one device there is."""

import pytest

import gradwright as gw
from gradwright.nn import parallel


def test_it_is_the_module_with_longer_names():
    net = gw.nn.Linear(2, 1)
    wrapped = gw.nn.DataParallel(net)
    x = gw.ones(3, 2)
    assert gw.equal(wrapped(x), net(x))
    assert list(wrapped.state_dict()) == ["module.weight", "module.bias"]
    assert gw.equal(parallel.data_parallel(net, x), net(x))
    assert wrapped.module is net


def test_on_several_devices_it_is_refused():
    with pytest.raises(ValueError, match=r"a module runs on one device here, but got \[0, 1\]"):
        gw.nn.DataParallel(gw.nn.Linear(1, 1), device_ids=[0, 1])
    with pytest.raises(AttributeError, match=r"^gradwright has no torch\.nn\.parallel\.DistributedDataParallel yet"):
        parallel.DistributedDataParallel(gw.nn.Linear(1, 1))
