"""Batch normalisation of several processes: in one it is `BatchNorm`."""

import sys
from types import SimpleNamespace

import pytest

import gradwright as gw
from tests.nn.module_cases import same


@pytest.mark.parametrize("training", [True, False])
def test_synchronised_in_one_process(torch, training):
    same(torch, "SyncBatchNorm", (3,), {}, torch.randn(4, 3, 2, 5, requires_grad=True), training=training)


def test_layers_become_synchronised_ones(lib):
    model = lib.nn.Sequential(lib.nn.BatchNorm1d(3), lib.nn.Sequential(lib.nn.BatchNorm2d(2, affine=False)))
    weight, mean = model[0].weight, model[0].running_mean
    model.eval()
    found = lib.nn.SyncBatchNorm.convert_sync_batchnorm(model)
    assert [type(m).__name__ for m in (found[0], found[1][0])] == ["SyncBatchNorm"] * 2
    assert found[0].weight is weight
    assert found[0].running_mean is mean
    assert not found[0].training
    assert found[1][0].weight is None


def test_several_processes_are_told(monkeypatch):
    layer = gw.nn.SyncBatchNorm(2)
    monkeypatch.setitem(sys.modules, "gradwright.distributed.session", SimpleNamespace(get_world_size=lambda: 2))
    with pytest.raises(RuntimeError, match="several processes"):
        layer(gw.ones(3, 2))
    assert layer.eval()(gw.ones(3, 2)).shape == (3, 2)
