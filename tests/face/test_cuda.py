"""CUDA devices: none, which needs no JAX to tell, or JAX's CPU devices, called so for the time of a test."""

import sys
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest

import gradwright as gw
from gradwright import cuda
from gradwright.backends import devices


def test_without_any(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "gradwright.backends.jax", raising=False)
    monkeypatch.setattr(devices, "find_spec", lambda package: None)
    assert (cuda.is_available(), cuda.device_count(), cuda.is_initialized()) == (False, 0, False)
    assert not cuda.is_bf16_supported()
    gw.manual_seed(1)
    state = gw.get_rng_state()
    cuda.manual_seed(5)
    cuda.manual_seed_all(5)
    cuda.empty_cache()
    assert (gw.get_rng_state() == state).all()
    for ask in (cuda.init, cuda.current_device, cuda.get_device_name, cuda.synchronize, cuda.mem_get_info,
                lambda: cuda.set_device(0), lambda: gw.ones(2).cuda(), lambda: gw.nn.Linear(1, 1).cuda()):
        with pytest.raises(RuntimeError, match=r"gradwright has no device 'cuda"):
            ask()
    assert cuda.memory_allocated() == cuda.max_memory_allocated("cuda:1") == 0  # as PyTorch says
    with pytest.raises(ValueError, match="Expected a cuda device, but got: cpu"):
        cuda.set_device("cpu")
    with cuda.device(None), cuda.device(-1):
        cuda.set_device(-1)


@pytest.fixture
def pretended(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """JAX, whose CPU devices are called CUDA devices."""
    jax = pytest.importorskip("jax")
    import_module(devices.BROUGHT["cuda"])  # as where there is a plugin for such devices
    module = import_module("gradwright.backends.jax_devices")
    monkeypatch.setattr(module, "KINDS", {"cpu": "cuda"})
    monkeypatch.setattr(devices, "_known", {})
    before = jax.config.jax_default_device
    yield jax
    jax.config.update("jax_default_device", before)


def test_questions(pretended: Any) -> None:
    n = len(pretended.local_devices())
    assert (cuda.is_available(), cuda.device_count(), cuda.is_initialized()) == (True, n, True)
    assert cuda.is_bf16_supported()
    cuda.init()
    cuda.synchronize()
    name = pretended.local_devices()[0].device_kind
    assert cuda.get_device_name() == cuda.get_device_name("cuda:0") == cuda.get_device_properties(0).name == name
    assert cuda.memory_allocated() == cuda.max_memory_allocated() == 0  # JAX does not say it of a CPU
    assert cuda.mem_get_info() == (0, 0)
    cuda.manual_seed(3)
    first = gw.rand(2)
    cuda.manual_seed_all(3)
    assert (gw.rand(2) == first).all()
    with pytest.raises(RuntimeError, match=f"no device 'cuda': expected 'cuda', or one of its {n} devices"):
        cuda.set_device(n)


def test_what_memory_there_is(pretended: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    class Native:
        device_kind = "a kind"

        def memory_stats(self) -> dict[str, int]:
            return {"bytes_in_use": 30, "peak_bytes_in_use": 50, "bytes_limit": 100}

    monkeypatch.setattr(cuda, "_native", lambda device: Native())
    assert (cuda.memory_allocated(), cuda.max_memory_allocated(), cuda.mem_get_info()) == (30, 50, (70, 100))
    assert cuda.get_device_properties() == ("a kind", 100)


def test_the_current_device(pretended: Any) -> None:
    if cuda.device_count() < 2:
        pytest.skip("JAX was started with one device before this test could ask for more")
    assert cuda.current_device() == 0
    with cuda.device(1):
        assert cuda.current_device() == 1
        assert str(gw.ones(2, device="cuda").device) == str(gw.ones(2).cuda().device) == "cuda:1"
        assert str(gw.ones(2).cuda(0).device) == "cuda:0"
    assert cuda.current_device() == 0
    cuda.set_device(gw.device("cuda:1"))
    assert str(gw.device("cuda")) == str(gw.device("jax")) == "cuda:1"


def test_modules_move_whole(pretended: Any) -> None:
    net = gw.nn.Sequential(gw.nn.Linear(2, 3), gw.nn.BatchNorm1d(3)).cuda()
    x = gw.ones(4, 2).cuda()
    net(x).sum().backward()
    for t in [*net.state_dict().values(), *(p.grad for p in net.parameters())]:
        assert t.is_cuda
    net.cpu()
    for t in [*net.state_dict().values(), *(p.grad for p in net.parameters())]:
        assert t.is_cpu
    packed = gw.nn.utils.rnn.pack_sequence([gw.ones(2), gw.ones(1)])
    assert not packed.is_cuda
    assert packed.cuda().is_cuda
    assert not packed.cuda().cpu().is_cuda
