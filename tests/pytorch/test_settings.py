"""Settings that change nothing but what is asked of them."""

import os

import pytest

import gradwright as gw
from gradwright.pytorch import settings


@pytest.fixture(autouse=True)
def as_before():
    held = settings._now
    settings._now = dict(held)
    yield
    settings._now = held


def test_threads():
    assert gw.get_num_threads() >= 1
    gw.set_num_threads(3)
    gw.set_num_interop_threads(2)
    assert (gw.get_num_threads(), gw.get_num_interop_threads()) == (3, 2)
    with pytest.raises(RuntimeError, match="set_num_threads expects a positive integer"):
        gw.set_num_threads(0)
    with pytest.raises(TypeError, match="set_num_threads expects an int, but got str"):
        gw.set_num_threads("2")


def test_determinism_is_remembered():
    assert not gw.are_deterministic_algorithms_enabled()
    gw.use_deterministic_algorithms(True, warn_only=True)
    assert gw.are_deterministic_algorithms_enabled()
    assert gw.is_deterministic_algorithms_warn_only_enabled()
    assert gw.get_deterministic_debug_mode() == 1
    gw.set_deterministic_debug_mode("error")
    assert gw.get_deterministic_debug_mode() == 2
    assert not gw.is_deterministic_algorithms_warn_only_enabled()
    with pytest.raises(RuntimeError, match="invalid value of debug_mode"):
        gw.set_deterministic_debug_mode("loud")


def test_precision_and_others():
    gw.set_float32_matmul_precision("high")
    assert gw.get_float32_matmul_precision() == "high"
    with pytest.raises(RuntimeError, match="expected one of"):
        gw.set_float32_matmul_precision("low")
    assert gw.set_flush_denormal(True) is False
    gw.set_warn_always(True)
    assert gw.is_warn_always_enabled()


def test_the_default_tensor_type_is_that_of_a_legacy_class():
    try:
        gw.set_default_tensor_type("torch.DoubleTensor")
        assert gw.ones(1).dtype is gw.float64
        with pytest.raises(TypeError, match="only floating-point types are supported"):
            gw.set_default_tensor_type("torch.LongTensor")
        with pytest.raises(RuntimeError, match="cuda"):
            gw.set_default_tensor_type("torch.cuda.FloatTensor")
    finally:
        gw.set_default_dtype(gw.float32)


@pytest.mark.parametrize(("told", "threads"), [("3", 3), ("2,1", 2), ("many", os.cpu_count())])
def test_the_environment_says_how_many_threads(monkeypatch, told, threads):
    monkeypatch.setenv("OMP_NUM_THREADS", told)
    monkeypatch.setitem(settings._now, "threads", None)
    assert settings.get_num_threads() == threads
