"""Normalisations as modules."""

import sys
from types import SimpleNamespace

import pytest

import gradwright as gw
from tests.nn.module_cases import same


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("settings", [
    {"affine": True, "bias": False}, {"track_running_stats": False}, {"track_running_stats": True, "momentum": 0.5},
], ids=str)  # fmt: skip
@pytest.mark.parametrize("name", ["BatchNorm2d", "InstanceNorm2d"])
def test_settings(torch, name, settings, training):
    same(torch, name, (3,), settings, torch.randn(4, 3, 2, 5, requires_grad=True), training=training)


def test_an_average_over_all_batches(lib):
    m = lib.nn.BatchNorm1d(1, momentum=None)
    for value in (1.0, 2.0, 6.0):
        m(lib.tensor([[value - 1], [value + 1]]))
    assert m.running_mean.item() == pytest.approx(3.0)
    assert m.num_batches_tracked.item() == 3
    m.reset_running_stats()
    assert (m.running_mean.item(), m.running_var.item(), m.num_batches_tracked.item()) == (0, 1, 0)


def test_an_average_over_all_batches_in_one_program():
    m = gw.nn.BatchNorm1d(1, momentum=None)
    step = gw.compile(m, fullgraph=True)
    for value in (1.0, 2.0, 6.0, 11.0):
        step(gw.tensor([[value - 1], [value + 1]]))
    assert m.running_mean.item() == pytest.approx(5.0)
    assert step.programs.traced == [""]


def test_no_batch_leaves_the_statistics_alone(lib):
    m = lib.nn.BatchNorm1d(2)
    m(lib.zeros(0, 2, 3))
    assert m.running_mean.tolist() == [0, 0]
    assert m.running_var.tolist() == [1, 1]


@pytest.mark.parametrize(("name", "args", "kwargs"), [
    ("LayerNorm", ((3, 4),), {"bias": False}), ("LayerNorm", (4,), {"elementwise_affine": False, "eps": 0.1}),
    ("RMSNorm", (4,), {"elementwise_affine": False}), ("RMSNorm", ([3, 4],), {"eps": 0.1}),
    ("GroupNorm", (3, 6), {"affine": False}), ("GroupNorm", (2, 6), {"bias": False}),
])  # fmt: skip
def test_without_some_parameters(torch, name, args, kwargs):
    same(torch, name, args, kwargs, torch.randn(2, 6, 3, 4, requires_grad=True))


def test_reset_parameters(lib):
    m = lib.nn.BatchNorm2d(2)
    m.load_state_dict({k: v + 5 for k, v in m.state_dict().items()})
    m.reset_parameters()
    assert {k: v.flatten().tolist() for k, v in m.state_dict().items()} == {
        "weight": [1, 1], "bias": [0, 0], "running_mean": [0, 0], "running_var": [1, 1], "num_batches_tracked": [0],
    }  # fmt: skip


@pytest.mark.parametrize("assign", [False, True])
def test_state_from_before_batches_were_counted(lib, assign):
    net = lib.nn.Sequential(lib.nn.BatchNorm1d(2))
    state = net.state_dict()
    counted, metadata = state.pop("0.num_batches_tracked"), state._metadata
    del state._metadata
    assert net.load_state_dict(state, assign=assign) == ([], [])
    assert net[0].num_batches_tracked.item() == 0
    state._metadata = metadata
    assert net.load_state_dict(state, strict=False) == (["0.num_batches_tracked"], [])
    state["0.num_batches_tracked"] = counted + 3
    net.load_state_dict(state)
    assert net[0].num_batches_tracked.item() == 3


@pytest.mark.parametrize(("name", "shape", "message"), [
    ("BatchNorm1d", (2,), r"expected 2D or 3D input \(got 1D input\)"),
    ("BatchNorm2d", (2, 3), r"expected 4D input \(got 2D input\)"),
    ("InstanceNorm3d", (2, 3), r"expected 4D or 5D input \(got 2D input\)"),
])  # fmt: skip
def test_number_of_dims(lib, name, shape, message):
    with pytest.raises(ValueError, match=message):
        getattr(lib.nn, name)(3)(lib.ones(shape))


def test_number_of_channels(lib):
    with pytest.raises(RuntimeError, match="running_mean should contain 4 elements not 3"):
        lib.nn.BatchNorm2d(3)(lib.ones(1, 4, 2, 2))
    with pytest.raises(ValueError, match=r"expected input's size at dim=1 to match num_features \(3\), but got: 4"):
        lib.nn.InstanceNorm1d(3, affine=True)(lib.ones(1, 4, 2))
    with pytest.raises(ValueError, match=r"num_channels .*must be divisible by num_groups"):
        lib.nn.GroupNorm(2, 3)


def test_a_wrong_input_is_told_the_layer_and_its_shape():
    net = gw.nn.Sequential(gw.nn.BatchNorm2d(3))
    with pytest.raises(RuntimeError) as caught:
        net(gw.ones(2, 4, 6, 6))
    assert caught.value.__notes__[0].endswith("was given float32 (2, 4, 6, 6); it takes (N, 3, H, W)")
    with pytest.raises(RuntimeError) as caught:
        gw.nn.Sequential(gw.nn.LayerNorm((2, 3)))(gw.ones(5, 3, 2))
    assert caught.value.__notes__[0].endswith("it takes (..., 2, 3)")


def test_channels_that_are_not_used_are_warned_of(lib):
    with pytest.warns(UserWarning, match=r"^input's size at dim=1 does not match num_features"):
        lib.nn.InstanceNorm1d(3)(lib.ones(2, 4, 5))


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5])
def test_across_maps(torch, size):
    """Channel 0 is 0: PyTorch forgets to take it off again."""
    x = torch.randn(2, 7, 3, 2)
    x[:, 0] = 0
    same(torch, "CrossMapLRN2d", (size, 2.0, 0.6, 1.5), {}, x)


def test_across_maps_differentiates():
    x = gw.randn(1, 4, 2, 1, dtype=gw.float64, requires_grad=True)
    assert gw.autograd.gradcheck(gw.nn.CrossMapLRN2d(3, 2.0), x)


def test_four_dims(lib):
    with pytest.raises(ValueError, match="CrossMapLRN2d: Expected input to be 4D, got 3D instead"):
        lib.nn.CrossMapLRN2d(3)(lib.ones(1, 2, 3))


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
