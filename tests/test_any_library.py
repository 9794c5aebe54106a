"""What makes, reads, saves and draws tensors gives the same on another library's device as on the CPU, and stays there.

array-api-strict stands for every library that is not NumPy; its device1 for memory that NumPy cannot reach.
"""

import copy
import importlib
import io
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import gradwright as gw
from gradwright import backends
from gradwright.backends.devices import CPU, device
from gradwright.engine.base import TensorBase

strict = pytest.importorskip("array_api_strict")
importlib.import_module("gradwright.backends.strict")
THERE = device(strict.Device("device1"))

A = np.linspace(-1.5, 2, 6).reshape(2, 3)
P = np.abs(A) + 0.1
U = np.array([[0.1, 0.5, 0.9], [0.3, 0.7, 0.2]])
N = np.arange(6).reshape(2, 3)
S = np.array([[4.0, 1.0], [1.0, 3.0]])

Call = Callable[[Callable[[Any], Any], Any], Any]  # of what makes a tensor of an array, and a device


def flat(value: Any) -> Iterator[Any]:
    if isinstance(value, (list, tuple)) and not isinstance(value, gw.Size):
        for part in value:
            yield from flat(part)
    else:
        yield value


def agree(call: Call, stays: bool = True) -> None:
    """Check that a call comes to the same at both places, and that its tensors are where they should be."""
    gw.manual_seed(1)
    want = list(flat(call(gw.tensor, CPU)))
    gw.manual_seed(1)
    got = list(flat(call(lambda a: gw.tensor(a, device=THERE), THERE)))
    assert len(got) == len(want)
    for g, w in zip(got, want, strict=True):
        assert type(g) is type(w)
        if isinstance(w, TensorBase):
            assert g.device == (THERE if stays else CPU)
            assert (g.dtype, g.shape, g.requires_grad) == (w.dtype, w.shape, w.requires_grad)
            np.testing.assert_allclose(backends.to_host(g.array), w.array, rtol=1e-6, atol=1e-12)
        elif isinstance(w, np.ndarray):
            np.testing.assert_array_equal(g, w)
        else:
            assert g == w


def made(name: str, *args: Any, **options: Any) -> Call:
    return lambda t, at: getattr(gw, name)(*args, device=at, **options)


def method(name: str, array: Any, *args: Any) -> Call:
    return lambda t, at: getattr(t(array), name)(*args)


CREATION: dict[str, Call] = {
    **{n: made(n, 2, 3) for n in ("zeros", "ones", "rand", "randn")},
    "full": made("full", (2, 3), 7), "full of True": made("full", (2,), True), "eye": made("eye", 3, 2),
    "arange": made("arange", 1, 9, 2), "arange of floats": made("arange", 0.0, 1.0, 0.25),
    "linspace": made("linspace", 0, 1, 7), "logspace": made("logspace", 0, 2, 5),
    "randint": made("randint", 1, 9, (3,)), "randperm": made("randperm", 7), "normal": made("normal", 0.0, 1.0, (3,)),
    "scalar_tensor": made("scalar_tensor", 3), "tensor of numbers": made("tensor", [1, 2.5]),
    "as_tensor of numbers": made("as_tensor", [1, 2]), "as_tensor of an array": made("as_tensor", A),
    "requires_grad": made("ones", 2, requires_grad=True), "tril_indices": made("tril_indices", 3, 3),
    **{f"{n}_window": made(f"{n}_window", 6) for n in ("hann", "hamming", "kaiser", "bartlett", "blackman")},
    **{n: (lambda t, at, n=n: getattr(gw.signal.windows, n)(7, sym=False, dtype=gw.float64, device=at))
       for n in ("cosine", "exponential", "nuttall")},
    "fftfreq": lambda t, at: [f(5, device=at) for f in (gw.fft.fftfreq, gw.fft.rfftfreq, gw.xp.fft.fftfreq)],
    "empty": lambda t, at: [gw.empty(2, device=at).shape, gw.empty_like(t(A)).shape, t(A).new_empty(3).shape],
    "empty_strided": lambda t, at: gw.empty_strided((2, 3), (3, 1), device=at).stride(),
    "empty_permuted": lambda t, at: gw.empty_permuted((2, 3), (1, 0), device=at).shape,
    **{n: (lambda t, at, n=n: [getattr(gw, n)(t(A)), getattr(gw, n)(t(N), dtype=gw.float32)])
       for n in ("zeros_like", "ones_like", "rand_like", "randn_like")},
    "full_like": lambda t, at: gw.full_like(t(A), 3), "randint_like": lambda t, at: gw.randint_like(t(N), 2, 9),
    "new": lambda t, at: [t(A).new_zeros(2), t(A).new_ones(2, 2), t(A).new_full((2,), 3), t(A).new_tensor([1, 2])],
    "tensor of an array": lambda t, at: [gw.tensor(t(A).array), gw.tensor(t(A).array, dtype=gw.int32)],
    "as_tensor": lambda t, at: [gw.as_tensor(t(A).array), gw.as_tensor(t(A).array, dtype=gw.float32)],
    "Tensor": lambda t, at: [gw.Tensor(t(A)), gw.nn.Parameter(t(A))],
    "from_dlpack": lambda t, at: [gw.from_dlpack(t(A).array), gw.from_dlpack(t(A))],
    "xp": lambda t, at: [gw.xp.zeros((2,), device=at), gw.xp.ones((2,), device=at), gw.xp.full((2,), 3, device=at),
                         gw.xp.eye(3, device=at), gw.xp.arange(4, device=at), gw.xp.linspace(0, 1, 5, device=at)],
    "xp of an array": lambda t, at: [gw.xp.asarray(t(A).array), gw.xp.asarray(t(A), copy=True),
                                     gw.xp.asarray(t(A).array, dtype=gw.float32), gw.xp.full_like(t(A), 2),
                                     gw.xp.asarray(A, device=at),
                                     gw.xp.zeros_like(t(A)), gw.xp.ones_like(t(N)), gw.xp.astype(t(A), gw.int64)],
}  # fmt: skip

READING: dict[str, Call] = {
    "item": lambda t, at: [t(A)[0, 1].item(), t(N)[0, 1].item(), t(A > 0)[0, 0].item(), t(A + 1j)[0, 0].item()],
    "tolist": method("tolist", A), "numpy": lambda t, at: t(A).numpy(force=True),
    "asarray": lambda t, at: [np.asarray(t(A)), np.asarray(t(A), dtype="f4"), np.array(t(N))],
    "numbers": lambda t, at: [bool(t(A)[0, 0]), int(t(A)[1, 2]), float(t(A)[0, 0]), complex(t(A)[0, 0])],
    "index": lambda t, at: "abc"[t(N)[0, 1]], "format": lambda t, at: f"{t(A)[0, 0]:.3f}",
    "iteration": lambda t, at: [list(t(A)), len(t(A)), 1.3 in t(A), 7.0 in t(A)],
    "copies": lambda t, at: [copy.copy(t(A)), copy.deepcopy(t(A).requires_grad_()), t(A).clone(), t(A).detach()],
    "pickle": lambda t, at: [made(*args) for made, args, _ in [t(A).requires_grad_().__reduce__()]],
    "dlpack": lambda t, at: np.from_dlpack(t(A)),
    "properties": lambda t, at: [t(A).shape, t(A).dtype, t(A).ndim, t(A).numel(), t(A).stride(), t(A).is_contiguous(),
                                 t(A).element_size(), t(A).type(), t(A).size(1), t(A).size + 0,
                                 t(A).is_floating_point(), t(A).is_leaf, t(A).storage_offset()],
    "dtypes": lambda t, at: [t(A).float(), t(A).long(), t(A).bool(), t(A).cfloat(), t(A).to(gw.int8)],
    "devices": lambda t, at: [t(A).to(at), gw.ones(2).to(t(A)), gw.ones(2).to_device(at)],
}  # fmt: skip

RANDOM: dict[str, Call] = {
    "bernoulli": lambda t, at: [gw.bernoulli(t(U)), gw.bernoulli(t(U), 0.3), t(A).bernoulli_(t(U))],
    "normal": lambda t, at: [gw.normal(t(A), t(P)), gw.normal(t(A), 2.0), gw.normal(0.0, t(P))],
    "poisson": lambda t, at: gw.poisson(t(P)),
    "multinomial": lambda t, at: [gw.multinomial(t(U), 2), gw.multinomial(t(U), 5, True)],
    **{n: (lambda t, at, n=n, a=a: [getattr(t(U), n)(*a), getattr(t(U.astype("f4")), n)(*a)])
       for n, a in {"uniform_": (), "normal_": (), "bernoulli_": (), "exponential_": (), "geometric_": (0.3,),
                    "cauchy_": (), "log_normal_": (), "random_": ()}.items()},
    "random_ integers": method("random_", N), "generator": lambda t, at: t(U).uniform_(generator=gw.Generator()),
    "a view": lambda t, at: [(x := t(U)), x[0].uniform_()],
}  # fmt: skip

MATHS: dict[str, Call] = {
    "numpy.sin": lambda t, at: np.sin(t(A)), "numpy.hypot": lambda t, at: np.hypot(t(A), 2.0),
    "numpy.power": lambda t, at: np.power(t(P), 2.5), "numpy.maximum": lambda t, at: np.maximum(0.5, t(A)),
    "numpy.argsort": lambda t, at: np.argsort(t(A)), "numpy.nonzero": lambda t, at: np.nonzero(t(A > 0)),
    "numpy.allclose": lambda t, at: np.allclose(t(A), t(A)), "numpy.ldexp": lambda t, at: np.ldexp(t(A), t(N)),
    "numpy.concatenate": lambda t, at: np.concatenate([t(A), t(P)]), "numpy.linalg": lambda t, at: np.linalg.inv(t(S)),
    "special": lambda t, at: [gw.special.erf(t(A)), gw.special.zeta(t(P + 1.2), t(P)), gw.special.airy_ai(t(A)),
                              gw.special.legendre_polynomial_p(t(U), t(N)), gw.special.i0e(t(U.astype("f4")))],
    **{f"fft.{n}": (lambda t, at, n=n: getattr(gw.fft, n)(t(A))) for n in gw.fft.__all__ if not n.endswith("freq")},
}  # fmt: skip


def saved(value: Any) -> Any:
    file = io.BytesIO()
    gw.save(value, file)
    file.seek(0)
    return gw.load(file)


@pytest.mark.parametrize("name", CREATION)
def test_creation(name: str) -> None:
    agree(CREATION[name])


@pytest.mark.parametrize("name", READING)
def test_reading(name: str) -> None:
    agree(READING[name])


@pytest.mark.parametrize("name", RANDOM)
def test_the_numbers_of_a_seed_are_the_same_everywhere(name: str) -> None:
    agree(RANDOM[name])


@pytest.mark.parametrize("name", MATHS)
def test_mathematics(name: str) -> None:
    agree(MATHS[name])


def test_saving_goes_through_the_host_and_loading_ends_there() -> None:
    agree(lambda t, at: saved([t(A), t(N), t(A + 1j), gw.nn.Parameter(t(A))]), stays=False)
    there = gw.tensor(A, device=THERE)
    first, part, wide = saved([there, there[0], there[:, :1].expand(2, 4)])
    np.testing.assert_array_equal(wide, np.repeat(A[:, :1], 4, 1))
    first[0, 0] = 9  # views share memory again
    assert part[0] == wide[0, 3] == 9
    file = io.BytesIO()
    gw.save({"x": there, "at": there.device}, file)
    file.seek(0)
    loaded = gw.load(file, map_location=THERE)
    assert loaded["x"].device == loaded["at"] == THERE


def test_collated_data_stay_where_they_are() -> None:
    data = gw.utils.data
    agree(lambda t, at: [data.default_collate([t(A), t(P)]), data.default_collate([t(A)[0, 0], t(P)[0, 0]])])
    agree(lambda t, at: list(data.DataLoader(data.TensorDataset(t(A), t(N)), batch_size=2)))


def test_printing_names_the_device() -> None:
    x = gw.tensor([1.0, 2.0], device=THERE, requires_grad=True)
    assert repr(x) == "tensor([1., 2.], device='array-api-strict:1', requires_grad=True)"
    assert repr(x.detach().cpu()) == "tensor([1., 2.])"


def test_what_shares_memory_with_numpy_is_refused_with_the_mend() -> None:
    x = gw.tensor([1.0], device=THERE)
    with pytest.raises(TypeError, match=r"can't convert array-api-strict:1 .* Use Tensor.cpu\(\).*numpy\(force=True\)"):
        x.numpy()
    with pytest.raises(ValueError, match=r"a tensor on array-api-strict:1 has to be copied to the CPU, but copy=False"):
        np.array(x, copy=False)
    values = np.asarray(x)
    with pytest.raises(ValueError, match="read-only"):
        values[0] = 2
    np.array(x)[0] = 2
    assert x.item() == 1
    with pytest.raises(RuntimeError, match=r"lie in row-major order, with strides \(3, 1\) .* use empty\(\)"):
        gw.empty_strided((2, 3), (1, 2), device=THERE)
    with pytest.raises(BufferError, match=r"use tensor.detach\(\)"):
        gw.from_dlpack(x.requires_grad_())
    with pytest.raises(ValueError, match=r"asarray\(\): another dtype or device needs a copy"):
        gw.xp.asarray(x, device="cpu", copy=False)


def test_lists_of_tensors_become_numbers() -> None:
    x = gw.tensor([1.0, 2.0], device=THERE)
    assert gw.tensor([x[0], 3]).device == CPU
    assert gw.tensor([x[0], 3], device=THERE).tolist() == [1, 3]


def test_einops() -> None:
    einops = pytest.importorskip("einops")
    agree(lambda t, at: [einops.rearrange(t(A), "a b -> b a"), einops.repeat(t(A), "a b -> a b c", c=2),
                         einops.reduce(t(A), "a b -> b", "max"),
                         einops.einsum(t(A), t(P), "a b, c b -> a c")])  # fmt: skip


def test_values_and_gradients() -> None:
    value, slope = gw.value_and_grad(lambda x: (x * x).mean())(gw.tensor(A, device=THERE).array)
    assert math.isclose(value, float((A * A).mean()))
    assert slope.device == THERE.native
    np.testing.assert_allclose(backends.to_host(slope), A / 3)


class Strange:
    """An array of a library that nobody has registered."""

    shape, ndim, dtype = (2,), 1, "float64"


@pytest.mark.parametrize("make", [gw.tensor, gw.as_tensor, gw.xp.asarray, lambda a: gw.tensor([a]), gw.xp.from_dlpack])
def test_an_array_of_an_unknown_library_is_refused_by_name(make: Any) -> None:
    with pytest.raises(TypeError, match=r"Strange"):
        make(Strange())
    if make is not gw.xp.from_dlpack:
        with pytest.raises(TypeError, match=r"The array libraries known are .*backends\.register makes another one"):
            make(Strange())


class Two(gw.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x * 2, x * 3

    @staticmethod
    def backward(ctx: Any, g: Any, h: Any) -> Any:
        return 2 * g + 3 * h


def elsewhere(values: Any) -> Any:
    return gw.tensor(values, device="array-api-strict")


def test_an_output_that_no_gradient_reaches_gets_zeros_of_its_library() -> None:
    x = elsewhere([1.0, 2.0]).requires_grad_()
    Two.apply(x)[0].sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


def test_an_index_of_another_library_is_refused_by_name() -> None:
    with pytest.raises(RuntimeError, match=r"index\(\): .* array-api-strict and NumPy"):
        elsewhere([1.0, 2.0])[gw.tensor([0, 1])]


APART: dict[str, Callable[[Any, Any], Any]] = {
    "allclose": gw.allclose,
    "addmm": lambda x, y: gw.addmm(x, y, y),
    "baddbmm": lambda x, y: gw.baddbmm(x[None], y[None], y[None]),
    "binary_cross_entropy": gw.nn.functional.binary_cross_entropy,
    "cartesian_prod": lambda x, y: gw.cartesian_prod(x[0], y[0]),
    "cdist": gw.cdist,
    "class weight": lambda x, y: gw.nn.functional.cross_entropy(x, x.argmax(1), y[0]),
    "einsum": lambda x, y: gw.einsum("ij,jk->ik", x, y),
    "heaviside": gw.heaviside,
    "index_add": lambda x, y: x.index_add(0, x[0].long(), y),
    "linear bias": lambda x, y: gw.nn.functional.linear(x, x, y[0]),
    "masked_scatter": lambda x, y: x.masked_scatter(x > 0, y),
    "meshgrid": lambda x, y: gw.meshgrid(x[0], y[0], indexing="ij"),
    "multi_dot": lambda x, y: gw.linalg.multi_dot([x, y]),
    "prelu": lambda x, y: gw.nn.functional.prelu(x, y[0]),
    "put": lambda x, y: x.put(x[0].long(), y[0]),
    "quantile": lambda x, y: x.quantile(y[0]),
    "scaled_dot_product_attention": lambda x, y: gw.nn.functional.scaled_dot_product_attention(x, y, y),
    "scatter": lambda x, y: x.scatter(0, x.long(), y),
    "solve": gw.linalg.solve,
    "tensordot": gw.tensordot,
}


@pytest.mark.parametrize("name", APART)
@pytest.mark.filterwarnings("error")
def test_tensors_of_two_libraries_of_one_dtype_are_refused_as_such(name: str) -> None:
    x = gw.tensor([[1.0, 0.0], [0.0, 1.0]], dtype=gw.float64)
    for here, there in ((x, x.to(THERE)), (x.to(THERE), x)):
        with pytest.raises(RuntimeError, match="all tensors to be of one array library, but found two"):
            APART[name](here, there)


@pytest.mark.filterwarnings("error")
def test_no_warning_leaves_an_operation() -> None:
    assert elsewhere([0.0]).log().tolist() == [-math.inf]


PLACES = ["cpu", "array-api-strict:0", "array-api-strict:1", "array-api-strict:2"]
WRITES: dict[str, Callable[[Any, Any], Any]] = {
    "copy_": lambda y, v: y.copy_(v),
    "view": lambda y, v: y[1].copy_(v),
    "setitem": lambda y, v: y.__setitem__(1, v),
    "setitem slice": lambda y, v: y.__setitem__((slice(None), slice(1, None)), v[1:]),
    "setitem all": lambda y, v: y.__setitem__(..., v),
    "other dtype": lambda y, v: y.copy_(v.to(gw.float32)),
}


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize(("there", "here"), [(a, b) for a in PLACES for b in PLACES if a != b])
def test_what_is_copied_comes_from_any_device_with_its_history(write: str, there: str, here: str) -> None:
    def run(here: str, there: str) -> list[Any]:
        x = gw.tensor(A, device=here, requires_grad=True)
        v = gw.tensor([0.5, -1.0, 2.0], dtype=gw.float64, device=there, requires_grad=True)
        y = x * 2
        WRITES[write](y, v * v)
        assert y.device == device(here)
        loss = (y**3).sum() + (x**3).sum()
        first = gw.autograd.grad(loss, (x, v), create_graph=True)
        second = gw.autograd.grad((first[0] * x).sum() + (first[1] * v).sum().to(here), (x, v))
        assert [g.device for g in (*first, *second)] == [device(here), device(there)] * 2
        with gw.no_grad():
            z = gw.zeros(2, 3, device=here, dtype=gw.float64)
            WRITES[write](z, v)
        return [t.tolist() for t in (y, *first, *second, z)]

    for got, want in zip(run(here, there), run("cpu", "cpu"), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-6)


def test_an_index_tensor_takes_a_value_of_its_own_device_only() -> None:
    x, v = gw.zeros(3, device=THERE), gw.ones(2)
    with pytest.raises(RuntimeError, match=r"Move one of them: with x\.to\(y\.device\)"):
        x[gw.tensor([0, 2], device=THERE)] = v


TRANSFORMED = {
    "grad": lambda x: gw.func.grad(wave)(x[0]), "hessian": lambda x: gw.func.hessian(wave)(x[0]),
    "vmap of grad": lambda x: gw.func.vmap(gw.func.grad(wave))(x), "vmap": lambda x: gw.func.vmap(wave)(x),
    "jvp": lambda x: gw.func.jvp(wave, (x,), (x,))[1],
    "vmap of hessian": lambda x: gw.func.vmap(gw.func.hessian(wave))(x),
    "jacfwd": lambda x: gw.func.jacfwd(lambda v: v * v.flip(0))(x[0]),
}  # fmt: skip


def wave(x: Any) -> Any:
    return (x.sin() * x).sum()


@pytest.mark.parametrize("name", TRANSFORMED)
@pytest.mark.parametrize("there", ["array-api-strict:1", "jax:0"])
def test_transforms(name: str, there: str) -> None:
    if there == "jax:0":
        pytest.importorskip("jax", reason="jax is not installed: nothing is transformed on its devices")
    want, got = (TRANSFORMED[name](gw.tensor(A, device=at)) for at in ("cpu", there))
    assert str(got.device) == there
    np.testing.assert_allclose(backends.to_host(got.array), want.array, rtol=1e-14)
