"""All parameters at once: conversion, gradients, memory."""

import pytest

import gradwright as gw


def test_requires_grad_(net):
    assert net.requires_grad_(False) is net
    assert not any(p.requires_grad for p in net.parameters())
    assert all(p.requires_grad for p in net.requires_grad_().parameters())


def test_zero_grad(lib):
    m = lib.nn.Linear(2, 1)
    m.zero_grad()
    m(lib.ones(1, 2)).sum().backward()
    grad = m.weight.grad
    m.zero_grad(set_to_none=False)
    assert m.weight.grad is grad
    assert grad.tolist() == [[0, 0]]
    m.zero_grad()
    assert (m.weight.grad, m.bias.grad) == (None, None)
    assert grad.tolist() == [[0, 0]]


def test_zero_grad_cuts_the_history_of_a_gradient(lib):
    m = lib.nn.Linear(1, 1)
    m.weight.grad = (m.weight * m.weight).detach() * m.weight
    m.zero_grad(set_to_none=False)
    assert m.weight.grad.grad_fn is None
    assert not m.weight.grad.requires_grad


@pytest.mark.parametrize("convert", [
    lambda lib, m: m.double(),
    lambda lib, m: m.to(lib.float64),
    lambda lib, m: m.to(dtype=lib.float64),
    lambda lib, m: m.to("cpu", lib.float64),
    lambda lib, m: m.to(lib.ones(1, dtype=lib.float64)),
])  # fmt: skip
def test_conversion_keeps_the_parameters(lib, net, convert):
    net.first(lib.ones(1, 2)).sum().backward()
    before, grad = list(net.parameters()), net.first.weight.grad
    assert convert(lib, net) is net
    assert [id(p) for p in net.parameters()] == [id(p) for p in before]
    assert {p.dtype for p in net.parameters()} == {lib.float64}
    assert net.first.weight.grad is grad
    assert grad.dtype is lib.float64
    assert [b.dtype for b in net.buffers()] == [lib.int64, lib.float64, lib.float64]
    net.first(lib.ones(1, 2, dtype=lib.float64)).sum().backward()
    assert net.first.weight.grad.tolist() == [[2, 2], [2, 2]]


def test_float_and_half(lib, net):
    assert net.half().scale.dtype is lib.float16
    assert net.float().scale.dtype is lib.float32
    assert net.cpu() is net.to("cpu") is net.to(lib.device("cpu")) is net


def test_what_a_module_cannot_be_converted_to(lib, net):
    with pytest.raises(TypeError, match=r"^nn.Module.to only accepts floating point or complex dtypes, but got desired "
                                        r"dtype=torch.int64$"):  # fmt: skip
        net.to(lib.int64)
    assert net.scale.dtype is lib.float32


def test_no_other_device():
    with pytest.raises(RuntimeError, match="gradwright has no device 'cuda'"):
        gw.nn.Linear(1, 1).to("cuda")


def test_a_complex_parameter_is_never_cut_to_its_real_part():
    m = gw.nn.Module()
    m.w = gw.nn.Parameter(gw.tensor([1 + 2j]))
    assert m.double().w.tolist() == [1 + 2j]
    assert m.to(gw.complex128).w.dtype is gw.complex128


def test_type_converts_everything(lib, net):
    assert net.type(lib.float64) is net
    assert {t.dtype for t in [*net.parameters(), *net.buffers()]} == {lib.float64}
    with pytest.raises(RuntimeError, match="data set to a tensor that requires gradients must be floating point"):
        net.type(lib.int64)


def test_bfloat16(lib, net):
    assert net.bfloat16().scale.dtype is lib.bfloat16


def test_to_empty_keeps_the_parameters(lib, net):
    before, weight = net.first.weight, net.first.weight.data
    assert net.to_empty(device="cpu") is net
    assert net.first.weight is before
    weight.fill_(12345.0)
    assert net.first.weight.tolist() != weight.tolist()
    assert net.seq.mean.shape == (2,)


def test_a_conversion_of_your_own(lib, net):
    class Counted(lib.nn.Module):
        def _apply(self, fn, recurse=True):
            self.applied = True
            return super()._apply(fn, recurse)

    net.counted = Counted()
    net.double()
    assert net.counted.applied


@pytest.mark.parametrize("device", ["cuda", "xpu", "ipu", "mtia"])
def test_devices_there_are_not(device):
    with pytest.raises(RuntimeError, match=f"gradwright has no device '{device}'"):
        getattr(gw.nn.Linear(1, 1), device)()


def test_memory_is_not_shared_between_processes():
    with pytest.raises(RuntimeError, match="share_memory is not offered"):
        gw.nn.ReLU().share_memory()
