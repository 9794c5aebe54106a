"""Devices: an array library and a place in it."""

import copy
import importlib
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any

import numpy as np
import pytest

import gradwright
from gradwright import autograd
from gradwright.backends import devices
from gradwright.backends.devices import CPU, device, device_of, native, place
from gradwright.backends.numpy import NUMPY

strict = pytest.importorskip("array_api_strict")
namespace = importlib.import_module("gradwright.backends.strict").namespace
ONE = strict.Device("device1")


def copied(value: object) -> object:
    return copy.deepcopy(value)


def test_devices(T):
    cpu = T.device("cpu")
    assert repr(cpu) == "device(type='cpu')"
    assert str(cpu) == "cpu"
    assert cpu == T.device(cpu) == T.ones(1).device
    assert cpu != "gpu"
    assert len({cpu, T.device("cpu")}) == 1
    assert cpu.type == "cpu"


def test_other_devices_are_refused():
    for make in (lambda: gradwright.device("hpux"), lambda: gradwright.ones(2, device="hpu:0"),
                 lambda: gradwright.ones(2).to("mps"), lambda: gradwright.empty(2, device="meta")):  # fmt: skip
        with pytest.raises(RuntimeError, match=r"gradwright has no device '.*': every tensor lives on 'cpu'"):
            make()
    with pytest.raises(RuntimeError, match="a GPU is 'cuda', where"):
        gradwright.device("gpu")
    with pytest.raises(TypeError, match="device: expected a string or a device, got 3"):
        gradwright.device(3)


KINDS = ("cuda", "cuda:1", "meta", "mps", "xpu:0")


def test_kinds_of_devices_can_be_named_anywhere(torch: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "there", lambda kind: [])
    for T in (gradwright, torch):
        assert [str(T.device(name)) for name in KINDS] == list(KINDS)
        assert [T.device(name).index for name in KINDS] == [None, 1, None, None, 0]
        named = {T.device(name): name for name in (*KINDS, "cpu")}
        assert len(named) == 6
        assert not any(one == other for one, other in combinations(named, 2))
        assert T.device("cuda", 1) == T.device("cuda:1") == copied(T.device("cuda:1")) != T.device("cuda")
        with pytest.raises(RuntimeError, match="Invalid device string: 'cpu:-2'"):
            T.device("cpu:-2")


def test_another_library_goes_by_its_name() -> None:
    named = device("array-api-strict")
    assert (named.type, named.index, named.native) == ("array-api-strict", 0, strict.Device("CPU_DEVICE"))
    for same in ("array-api-strict:1", ONE, device(ONE), device_of(strict.ones(1, device=ONE))):
        one = device(same)
        assert (str(one), repr(one)) == ("array-api-strict:1", "device(type='array-api-strict', index=1)")
        assert one == device("array-api-strict", 1) != named
        assert len({one, device(ONE), named}) == 2
        assert copied(one) == one
    assert place(None) is CPU
    assert place("cpu") == CPU == copied(CPU)


@pytest.mark.parametrize("name", ["array-api-strict:5", "array-api-strict:-1", "array-api-strict:one"])
def test_a_library_without_such_a_device(name: str) -> None:
    with pytest.raises(RuntimeError, match=f"no device '{name}': expected 'array-api-strict', or one of its 5 devices"):
        device(name)


def test_an_unknown_device_names_those_known() -> None:
    names = r"'cpu', .*'jax', 'cuda', 'tpu'.*"
    with pytest.raises(RuntimeError, match=rf"'mps': every tensor lives on {names}; .*register"):
        gradwright.zeros(2, device="mps")


@pytest.mark.parametrize("name", ["cuda", "tpu:0"])
def test_a_kind_of_which_there_is_none(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.delitem(sys.modules, "gradwright.backends.jax", raising=False)
    monkeypatch.setattr(devices, "find_spec", lambda package: None)
    with pytest.raises(RuntimeError, match=rf"no device '{name}': such devices are JAX's.* pip install 'jax\[.*\]'"):
        gradwright.ones(1, device=name)
    assert devices.there(name.partition(":")[0]) == []


# -- the default device --


@pytest.fixture
def there() -> Iterator[device]:
    """Makes a device of another library the default one."""
    gradwright.set_default_device("array-api-strict:1")
    yield device(ONE)
    gradwright.set_default_device(None)


MADE: list[Callable[[], Any]] = [
    lambda: gradwright.tensor([1.0]), lambda: gradwright.as_tensor(2), lambda: gradwright.asarray([1]),
    lambda: gradwright.as_tensor(np.ones(2)), lambda: gradwright.zeros(2), lambda: gradwright.ones(2),
    lambda: gradwright.empty(2), lambda: gradwright.full((2,), 3), lambda: gradwright.eye(2),
    lambda: gradwright.full((2,), gradwright.tensor(1.0, requires_grad=True)),
    lambda: gradwright.arange(3), lambda: gradwright.linspace(0, 1, 3), lambda: gradwright.logspace(0, 1, 3),
    lambda: gradwright.linspace(0, 4, 3, dtype=gradwright.int64), lambda: gradwright.scalar_tensor(2),
    lambda: gradwright.empty_strided((2, 3), (3, 1)), lambda: gradwright.empty_permuted((2, 3), (1, 0)),
    lambda: gradwright.rand(2), lambda: gradwright.randn(2), lambda: gradwright.randint(0, 3, (2,)),
    lambda: gradwright.randperm(3), lambda: gradwright.normal(0.0, 1.0, (2,)), lambda: gradwright.hann_window(3),
    lambda: gradwright.tril_indices(2, 2), lambda: gradwright.fft.fftfreq(3), lambda: gradwright.nn.Linear(2, 3).weight,
    lambda: gradwright.nn.BatchNorm1d(2).running_mean, lambda: gradwright.nn.Parameter(gradwright.ones(2)),
]  # fmt: skip


@pytest.mark.parametrize("make", MADE)
def test_what_is_made_is_made_on_the_default_device(make: Callable[[], Any], there: device) -> None:
    assert make().device == there == gradwright.get_default_device()
    with device("cpu"):
        assert gradwright.get_default_device() == make().device == CPU
        with there:
            assert make().device == there
    gradwright.set_default_device("cpu")
    assert make().device == CPU


BESIDE: list[Callable[[Any], Any]] = [
    gradwright.zeros_like, gradwright.rand_like, gradwright.empty_like, lambda x: gradwright.full_like(x, 2),
    lambda x: x.new_zeros(2), lambda x: x.new_full((2,), 1), lambda x: x.new_tensor([1.0]), lambda x: x + 1,
    lambda x: gradwright.from_numpy(np.ones(2)), lambda x: gradwright.as_tensor(x), lambda x: x.clone(), lambda x: x[0],
    lambda x: x.sum(), lambda x: gradwright.normal(x, 1.0), lambda x: gradwright.bernoulli(x), lambda x: x.argmax(),
    lambda x: gradwright.nn.functional.cross_entropy(x, x[:, 0].long()), lambda x: gradwright.linalg.svd(x)[0],
    lambda x: gradwright.fft.fft(x), lambda x: x.to("cpu"),
]  # fmt: skip


@pytest.mark.parametrize("make", BESIDE)
def test_what_is_made_of_a_tensor_is_made_beside_it(make: Callable[[Any], Any], there: device) -> None:
    assert make(gradwright.zeros(2, 2, device="cpu")).device == CPU


def test_native_dtypes() -> None:
    assert native(namespace, "float32") is strict.float32
    assert native(NUMPY.xp, "float32") == np.dtype("float32")
    with pytest.raises(TypeError, match=r"array_api_strict has no torch\.float16: take another dtype"):
        native(namespace, "float16")
    with pytest.raises(TypeError, match=r"array_api_strict has no torch\.bfloat16"):
        gradwright.as_tensor(strict.asarray([1.0])).to(gradwright.bfloat16)


def test_holding_copies_only_what_lies_elsewhere() -> None:
    host = np.ones(2, np.float32)
    assert CPU.hold(host) is host
    there = device(ONE).hold(host)
    host[:] = 5
    assert (there.device, there.dtype) == (ONE, strict.float32)
    assert device(ONE).hold(there) is there
    across = device("array-api-strict").hold(there)
    assert across.device == strict.Device("CPU_DEVICE")
    back = CPU.hold(there)
    back += 1  # NumPy's arrays are written in place, and others' must not change by that
    assert float(there[0]) == 1
    np.testing.assert_array_equal(back, [2, 2])


def test_what_is_moved_keeps_its_history() -> None:
    x = gradwright.tensor([1.0, 2.0], dtype=gradwright.float64, requires_grad=True)
    y = x.to("array-api-strict:1")
    assert (y.device, y.grad_fn.name(), x.to("cpu") is x, y.to(ONE) is y) == (
        device(ONE),
        "ToCopyBackward0",
        True,
        True,
    )
    (first,) = autograd.grad((y * y * y).cpu().sum(), x, create_graph=True)
    (second,) = autograd.grad(first.sum(), x)
    assert first.device == second.device == CPU
    np.testing.assert_allclose(first.detach(), [3, 12])
    np.testing.assert_allclose(second, [6, 12])


def test_a_dtype_that_the_library_lacks_is_refused() -> None:
    x = gradwright.ones(2, dtype=gradwright.float16)
    with pytest.raises(TypeError, match=r"array_api_strict has no torch\.float16: take another dtype"):
        x.to("array-api-strict")
    assert x.to("array-api-strict", gradwright.float32).dtype is gradwright.float32


def test_like_another_tensor() -> None:
    there = gradwright.zeros(1, dtype=gradwright.float64, device=ONE)
    moved = gradwright.ones(2).to(there)
    assert (moved.device, moved.dtype) == (there.device, there.dtype)
    assert there.to(gradwright.ones(2)).device == CPU


def test_the_name_of_the_library_that_gradwright_brings_is_enough() -> None:
    code = "import gradwright as gw; print(gw.ones(2).to('array-api-strict:1').device)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout == "array-api-strict:1\n", done.stderr
