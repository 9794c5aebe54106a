"""JAX's arrays: what its namespace adds, against NumPy's; the names of devices; 64 bits; errors that come late."""

import subprocess
import sys
from importlib import import_module
from typing import Any

import numpy as np
import pytest

import gradwright as gw
from gradwright import backends
from gradwright.backends import devices
from gradwright.backends.devices import device, device_of
from gradwright.backends.numpy import namespace as numpy
from gradwright.backends.windows import Lattice

jax = pytest.importorskip("jax")
jnp = jax.numpy
module = import_module("gradwright.backends.jax")
namespace = module.namespace

RNG = np.random.default_rng(0)
X = RNG.standard_normal((3, 4))


def same(got: Any, want: Any, **tolerance: Any) -> None:
    """Check that an array of JAX is NumPy's, dtype and shape included, and of no weak dtype."""
    assert isinstance(got, jax.Array)
    assert not got.weak_type
    assert (got.dtype, got.shape) == (want.dtype, want.shape)
    np.testing.assert_allclose(np.asarray(got), want, **tolerance)


# -- functions --


LATTICES = [
    Lattice((2, 2), (1, 1), (1, 1), ((0, 0), (0, 0))),
    Lattice((3, 2), (2, 1), (1, 2), ((1, 1), (0, 2))),
    Lattice((2, 3), (3, 2), (2, 1), ((2, -1), (1, 0))),
]


@pytest.mark.parametrize(
    ("lattice", "groups", "dtype"), [(LATTICES[0], 1, "complex128"), (LATTICES[1], 2, "float64"),
                                     (LATTICES[2], 1, "float64")],
)  # fmt: skip
def test_windows(lattice: Lattice, groups: int, dtype: str) -> None:
    size, n, out, each = (7, 8), 2, 3, 2
    x = RNG.standard_normal((n, groups * each, *size)).astype(dtype)
    rows = RNG.standard_normal((groups, out, each * int(np.prod(lattice.kernel)))).astype(dtype)
    bias = RNG.standard_normal(groups * out).astype(dtype)
    count = lattice.count(size)
    y = RNG.standard_normal((n, groups * out, *count)).astype(dtype)
    close = {"rtol": 1e-12, "atol": 1e-13}
    X, ROWS, BIAS, Y = map(jnp.asarray, (x, rows, bias, y))
    same(namespace.windows(X, lattice=lattice), numpy.windows(x, lattice=lattice))
    cut = numpy.windows(x, lattice=lattice) * 2.0
    same(namespace.fold_windows(jnp.asarray(cut), size=size, lattice=lattice),
         numpy.fold_windows(cut, size=size, lattice=lattice), **close)  # fmt: skip
    same(namespace.times_windows(ROWS, X, BIAS, lattice=lattice),
         numpy.times_windows(rows, x, bias, lattice=lattice), **close)  # fmt: skip
    same(namespace.spread_windows(ROWS, Y, size=size, lattice=lattice),
         numpy.spread_windows(rows, y, size=size, lattice=lattice), **close)  # fmt: skip
    flat = y.reshape(n, groups, out, -1)
    same(namespace.weigh_windows(jnp.asarray(flat), X, lattice=lattice),
         numpy.weigh_windows(flat, x, lattice=lattice), **close)  # fmt: skip


@pytest.mark.parametrize("name", ["erf", "erfc", "i0e", "ndtr"])
def test_special_functions_are_as_exact_as_scipys(name: str) -> None:
    special = pytest.importorskip("scipy.special")
    x = np.linspace(-12, 12, 2001)
    same(getattr(namespace.special, name)(jnp.asarray(x)), getattr(special, name)(x), rtol=2e-14)
    single = x.astype(np.float32)
    got = np.asarray(getattr(namespace.special, name)(jnp.asarray(single)))
    np.testing.assert_allclose(got, getattr(special, name)(single), rtol=2e-5, atol=1e-30)


def test_whole_numbers_are_not_divided_by_zero() -> None:
    n, zeros = gw.tensor([1, 2], device="jax"), gw.tensor([0, 1], device="jax")
    for call in (gw.floor_divide, gw.remainder, gw.fmod):
        with pytest.raises(RuntimeError, match="a whole number was divided by zero"):
            call(n, zeros)
    assert (n / zeros).tolist() == [np.inf, 2.0]


def test_no_index_is_clamped() -> None:
    x, far = gw.ones(2, 3, device="jax"), gw.tensor([7], device="jax")
    for call in (lambda: x[7], lambda: x[far], lambda: x[:, far], lambda: x.index_select(0, far), lambda: x.take(far),
                 lambda: gw.nn.functional.embedding(far, x), lambda: gw.nn.functional.cross_entropy(x[:1], far)):
        with pytest.raises(IndexError):
            call()


def test_matrices_without_an_inverse_are_named() -> None:
    A = gw.tensor([[1.0, 2.0], [2.0, 4.0]], device="jax")
    for call in (gw.linalg.inv, lambda A: gw.linalg.solve(A, A), lambda A: gw.linalg.cholesky(-A),
                 lambda A: gw.linalg.svd(A * float("nan")), lambda A: gw.linalg.svdvals(A * float("nan"))):
        with pytest.raises(RuntimeError, match=r"singular|positive-definite|converge"):
            call(A)


def test_numbers_that_are_kept_are_told_apart() -> None:
    at = jax.local_devices()[0]
    for dtype in (np.float32, np.int64):
        for number in (2, 2.0, True, -0.0, 0.0):
            for _ in range(2):
                out = namespace.asarray(number, dtype=dtype, device=at)
                assert np.asarray(out).tobytes() == np.array(number, dtype).tobytes()
                assert (out.dtype, out.device, out.weak_type) == (dtype, at, False)
    two = namespace.asarray(2.0, dtype=np.float32, device=at)
    assert namespace.asarray(2.0, dtype=np.float32, device=at) is two
    two.delete()
    assert float(namespace.asarray(2.0, dtype=np.float32, device=at)) == 2


@pytest.mark.parametrize("name", ["zeros", "ones", "full"])
def test_arrays_filled(name: str) -> None:
    for at in jax.local_devices()[:2]:
        for shape in ((2, 3), (), 4):
            value = (7,) if name == "full" else ()
            out = getattr(namespace, name)(shape, *value, dtype=np.int16, device=at)
            same(out, getattr(np, name)(shape, *value, dtype=np.int16))
            assert out.device == at
    value = (2.5,) if name == "full" else ()
    same(getattr(namespace, name)((2,), *value), getattr(np, name)((2,), *value))


# -- dtypes --


def test_64_bits_are_64_bits() -> None:
    assert gw.zeros(2, dtype=gw.float64, device="jax").array.dtype == np.float64
    assert gw.arange(3, device="jax").array.dtype == np.int64
    x = gw.ones(2, dtype=gw.float64, device="jax")
    with jax.enable_x64(False):
        for call in (lambda: gw.zeros(2, dtype=gw.float64, device="jax"), lambda: x * 2, lambda: x + x,
                     lambda: gw.tensor([1.0]).to("jax"), lambda: x.sum()):
            with pytest.raises(RuntimeError, match="JAX has been switched to 32 bits"):
                call()
    assert (x * 2).dtype is gw.float64


PAIRS = [("int32", "float32"), ("int64", "float32"), ("int64", "float16"), ("uint8", "int8"), ("bool", "int16"),
         ("bfloat16", "float32"), ("float16", "bfloat16"), ("int64", "complex64"),
         ("float64", "complex64")]  # fmt: skip


@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_dtypes_are_promoted_as_over_numpy(a: str, b: str) -> None:
    if "bfloat16" in (a, b):
        pytest.importorskip("ml_dtypes")
    pairs = [[gw.tensor(v, device=at).to(getattr(gw, d)) for v, d in (([1, 0, 1], a), ([1, 1, 0], b))]
             for at in ("cpu", "jax")]  # fmt: skip
    for call in (lambda x, y: x + y, lambda x, y: x * y[0], lambda x, y: x[0] + y, lambda x, y: x * 2.5,
                 lambda x, y: gw.where(x == 1, x, y), lambda x, y: gw.cat([x, y])):
        want, got = (call(*pair) for pair in pairs)
        assert got.dtype is want.dtype
        assert got.tolist() == want.tolist()
        assert not got.array.weak_type


def test_a_weak_dtype_does_not_come_in() -> None:
    weak = jnp.sin(2.0)
    assert weak.weak_type
    for made in (gw.tensor(weak), gw.as_tensor(weak), gw.xp.asarray(weak), gw.from_dlpack(weak)):
        assert not made.array.weak_type
        assert made.dtype is gw.float64
    assert not namespace.where(jnp.asarray([True]), 1.0, 0.0).weak_type


# -- devices --


def test_names_of_devices() -> None:
    many = jax.local_devices()
    assert gw.device("jax").native == many[0]
    last = gw.device(f"jax:{len(many) - 1}")
    assert (last.type, last.index, last.native) == ("jax", len(many) - 1, many[-1])
    assert gw.device(many[-1]) == last == gw.device("jax", len(many) - 1) == gw.ones(1, device=last).device
    assert repr(last) == f"device(type='jax', index={len(many) - 1})"
    with pytest.raises(RuntimeError, match=rf"no device 'jax:{len(many)}': expected 'jax', or one of its"):
        gw.device(f"jax:{len(many)}")
    with pytest.raises(RuntimeError, match=r"no device 'cuda:0': jax finds none of that kind here, but"):
        gw.ones(1, device="cuda:0")
    with jax.default_device(many[-1]):
        assert gw.device("jax") == last
    with jax.default_device("cpu"):
        assert gw.device("jax").native == many[0]


def test_tensors_of_two_devices_are_refused() -> None:
    if len(jax.local_devices()) < 2:
        pytest.skip("JAX was started with one device before this test could ask for more")
    x, y = gw.ones(2, device="jax:0"), gw.ones(2, device="jax:1")
    with pytest.raises(RuntimeError, match=r"expected all tensors to be on one device of jax, but found two"):
        x + y
    with pytest.raises(RuntimeError, match=r"of one array library, but found two, jax and NumPy"):
        x + gw.ones(2)
    assert (x + y.to(x.device)).device == x.device


def test_pretended_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_module("gradwright.backends.jax_devices"), "KINDS", {"cpu": "cuda"})
    monkeypatch.setattr(devices, "_known", {})
    assert repr(gw.device("jax:0")) == "device(type='cuda', index=0)"
    assert gw.device("cuda:0") == gw.device("jax:0") == gw.device("cuda")
    x = gw.ones(2).cuda()
    assert (x.is_cuda, x.is_cpu, x.get_device(), str(x.device)) == (True, False, 0, "cuda:0")
    assert x.cuda() is x is x.cuda(0)
    assert (x.cpu().is_cuda, x.cpu().is_cpu, x.cpu().get_device()) == (False, True, -1)
    assert repr(x) == "tensor([1., 1.], device='cuda:0')"


# -- memory --


def test_what_is_moved_is_a_copy() -> None:
    host = np.ones(1 << 16)
    x = gw.from_numpy(host)
    there = x.to("jax")
    host[:] = 2
    assert (there == 1).all()
    back = there.cpu()
    back += 1
    assert (there == 1).all()


def test_dlpack_without_a_copy() -> None:
    array = jnp.arange(4.0)
    assert gw.from_dlpack(array).array is array
    x = gw.arange(4.0, device="jax")
    assert np.from_dlpack(x).ctypes.data == x.array.unsafe_buffer_pointer()
    assert jax.dlpack.from_dlpack(x).unsafe_buffer_pointer() == x.array.unsafe_buffer_pointer()
    assert gw.from_dlpack(x, device="cpu").data_ptr() == x.array.unsafe_buffer_pointer()
    with pytest.raises(BufferError, match="detach"):
        np.from_dlpack(x.requires_grad_())


def test_writes_reach_views_and_aliases() -> None:
    x = gw.zeros(2, 3, device="jax")
    row, alias, line = x[0], x.detach(), x.view(6)
    row.add_(1)
    line[5] = 9
    alias[1, 0] = 5
    assert x.tolist() == [[1.0, 1.0, 1.0], [5.0, 0.0, 9.0]]
    assert row.tolist() == [1.0, 1.0, 1.0]


def test_a_donated_array_is_told_and_what_was_read_before_stays() -> None:
    x = gw.ones(3, device="jax")
    part = x[1:]
    jax.jit(lambda a: a + 1, donate_argnums=0)(x.array)
    assert part.tolist() == [1.0, 1.0]
    with pytest.raises(RuntimeError, match=r"the values of a tensor of shape \(3,\) are gone: its array was donated"):
        x.tolist()
    with pytest.raises(RuntimeError, match="deleted"):
        x * 2


# -- errors that come late, and being there or not: in a process of its own --


PROGRAM = """
import sys, gradwright as gw, gradwright.nn, gradwright.optim, gradwright.cuda

assert not gw.cuda.is_available() or "jax" in sys.modules
gw.ones(2).cpu(); assert not gw.ones(2).is_cuda
print([m for m in sys.modules if m.startswith("jax")])

def refused():
    try:
        gw.ones(2, device="jax:0")
    except ImportError as e:
        print(e)

if "jax" not in sys.modules:  # where there is a GPU, asking for it has to load JAX
    sys.modules["jax"] = None
    refused()
    print(gw.cuda.is_available(), gw.cuda.device_count())
    del sys.modules["jax"]
    import jax
    known = jax.__version_info__, jax.__version__
    jax.__version_info__, jax.__version__ = (0, 4, 30), "0.4.30"
    refused()
    jax.__version_info__, jax.__version__ = known
print(gw.ones(2).to("jax:0").device)
import jax

def failing(a):
    def fails(a):
        raise ValueError("the reason")
    return jax.pure_callback(fails, jax.ShapeDtypeStruct(a.shape, a.dtype), a)

x = gw.ones(1500, 1500, device="jax")
run = jax.jit(failing).lower(x.array).compile()
gw.xp.asarray(x.array) * 2, (x @ x)[0, 0]  # so that nothing is compiled from here on
for _ in range(6):
    x = x @ x * 1e-3
y = gw.xp.asarray(run(x.array)) * 2  # no value is asked for yet
for read in (lambda: y.sum().item(), lambda: y[0].tolist(), lambda: bool(y[0, 0]), lambda: y.cpu(), lambda: repr(y)):
    try:
        read()
    except RuntimeError as e:
        print("only now" in str(e) and "the reason" in str(e) and "detect_anomaly" in str(e))
with gw.autograd.detect_anomaly():
    try:
        made = gw.xp.asarray(run(x.array))
        made * 2
    except RuntimeError as e:
        print("the reason" in str(e))
"""


def test_a_program_from_before_jax_is_loaded_to_an_error_that_comes_late() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=120)
    loaded, *absent, device, only_now = done.stdout.split("\n", 5 if "jax_plugins" not in done.stdout else 2)
    if "jax_plugins" not in loaded:
        assert loaded == "[]", done.stderr
        assert absent == [
            "devices of JAX need jax: pip install jax", "False 0",
            "devices of JAX need jax 0.10 or later, but 0.4.30 is installed: pip install --upgrade jax",
        ]  # fmt: skip
    assert device == "jax:0", done.stderr
    assert only_now.split() == ["True"] * 6, done.stdout + done.stderr


def test_it_is_known() -> None:
    assert backends.namespace(jnp.zeros(2)) is namespace
    assert device_of(jnp.zeros(2)) == device("jax")
    assert repr(namespace) == "<array namespace jax.numpy>"
