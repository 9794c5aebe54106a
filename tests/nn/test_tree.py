"""The tree: named things, paths, what there is at them."""

import pytest


def names(pairs):
    return [name for name, _ in pairs]


def test_named_parameters(net):
    assert names(net.named_parameters()) == ["scale", "first.weight", "first.bias", "seq.0.weight"]
    assert names(net.seq.named_parameters(prefix="net")) == ["net.0.weight"]
    assert names(net.named_parameters(recurse=False)) == ["scale"]
    assert names(net.named_parameters(remove_duplicate=False)) == [
        "scale", "first.weight", "first.bias", "same.weight", "same.bias", "seq.0.weight",
    ]  # fmt: skip
    assert dict(net.named_parameters())["first.bias"] is net.first.bias


def test_a_parameter_under_two_names_is_listed_once(lib):
    m = lib.nn.Linear(2, 2, bias=False)
    m.tied = m.weight
    assert names(m.named_parameters()) == ["weight"]
    assert names(m.named_parameters(remove_duplicate=False)) == ["weight", "tied"]


def test_parameters(net):
    expected = [net.scale, net.first.weight, net.first.bias, net.seq[0].weight]
    assert [id(p) for p in net.parameters()] == [id(p) for p in expected]
    assert [id(p) for p in net.parameters(recurse=False)] == [id(net.scale)]


def test_buffers(net):
    assert names(net.named_buffers()) == ["count", "cache", "seq.mean"]
    assert names(net.named_buffers(prefix="net", recurse=False)) == ["net.count", "net.cache"]
    assert [id(b) for b in net.buffers()] == [id(net.count), id(net.cache), id(net.seq.mean)]


def test_children_and_modules(net):
    assert names(net.named_children()) == ["first", "seq"]
    assert list(net.children()) == [net.first, net.seq]
    assert names(net.named_modules()) == ["", "first", "seq", "seq.0", "seq.1"]
    assert names(net.named_modules(prefix="net")) == ["net", "net.first", "net.seq", "net.seq.0", "net.seq.1"]
    assert names(net.named_modules(remove_duplicate=False)) == ["", "first", "same", "seq", "seq.0", "seq.1"]
    assert list(net.modules()) == [net, net.first, net.seq, net.seq[0], net.seq[1]]
    assert list(net.modules(remove_duplicate=False)) == [net, net.first, net.first, net.seq, net.seq[0], net.seq[1]]


def test_get_by_path(net):
    assert net.get_submodule("") is net
    assert net.get_submodule("seq.0") is net.seq[0]
    assert net.get_parameter("seq.0.weight") is net.seq[0].weight
    assert net.get_parameter("scale") is net.scale
    assert net.get_buffer("seq.mean") is net.seq.mean


@pytest.mark.parametrize(("method", "path", "message"), [
    ("get_submodule", "seq.7", "Sequential has no attribute `7`"),
    ("get_submodule", "first.weight", "`weight` is not an nn.Module"),
    ("get_parameter", "first.x", "Linear has no attribute `x`"),
    ("get_parameter", "first.in_features", "`in_features` is not an nn.Parameter"),
    ("get_buffer", "first.weight", "`weight` is not a buffer"),
    ("get_buffer", "nowhere.weight", "Module has no attribute `nowhere`"),
])  # fmt: skip
def test_get_by_a_wrong_path(net, method, path, message):
    with pytest.raises(AttributeError, match=f"^{message}$"):
        getattr(net, method)(path)


def test_apply_goes_from_the_leaves_up(net):
    order = []
    assert net.apply(order.append) is net
    assert order == [net.first, net.seq[0], net.seq[1], net.seq, net]


def test_set_submodule(lib, net):
    net.set_submodule("seq.0", lib.nn.Tanh())
    net.set_submodule("seq.new", lib.nn.ReLU())
    assert names(net.named_modules()) == ["", "first", "seq", "seq.0", "seq.1", "seq.new"]
    assert type(net.seq[0]) is lib.nn.Tanh


@pytest.mark.parametrize(("path", "strict", "error", "message"), [
    ("", False, ValueError, "Cannot set the submodule without a target name!"),
    ("nowhere.0", False, AttributeError, "Module has no attribute `nowhere`"),
    ("first.weight.x", False, AttributeError, "`weight` is not an nn.Module"),
    ("first.weight", False, AttributeError, "`weight` is not an nn.Module"),
    ("seq.new", True, AttributeError, "Sequential has no attribute `new`"),
])  # fmt: skip
def test_set_submodule_at_a_wrong_path(lib, net, path, strict, error, message):
    with pytest.raises(error, match=f"^{message}$"):
        net.set_submodule(path, lib.nn.ReLU(), strict)


def test_set_submodule_to_something_else(net):
    with pytest.raises(ValueError, match=r"`module` is not an nn.Module, found <class 'int'>"):
        net.set_submodule("seq.0", 3)
