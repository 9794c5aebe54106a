"""What Python sees of C++: arguments, results, Functions, elementwise operations."""

import inspect
import math
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import gradwright as gw
from gradwright.autograd import grad, gradcheck, gradgradcheck
from gradwright.errors import CutError
from gradwright.utils.cpp_extension import bind, include_paths, load_inline
from gradwright.utils.cpp_extension.bind import truncated
from gradwright.verify.check.discover import subjects
from gradwright.viz.walk import graph


def doubles(*shape: int, requires_grad: bool = False) -> Any:
    return gw.tensor(np.random.uniform(0.5, 2.0, shape), dtype=gw.float64, requires_grad=requires_grad)


def test_a_function_takes_and_gives_tensors(ext: Any) -> None:
    x = doubles(5)
    y = ext.running_sum(x)
    assert type(y) is gw.Tensor
    np.testing.assert_array_equal(y.numpy(), np.cumsum(x.numpy()))
    assert ext.running_sum.__name__ == "running_sum"
    assert ext.running_sum.__doc__ == "running_sum(x: Tensor)\n\nThe sums of the first entries."
    np.testing.assert_array_equal(ext.running_sum(x=x.numpy()).numpy(), y.numpy())


def test_arrays_are_not_copied(ext: Any) -> None:
    a = np.arange(12.0).reshape(3, 4)
    at = a.__array_interface__["data"][0]
    assert ext.address(a) == ext.address(gw.from_numpy(a)) == at
    assert ext.address(a.T) == at
    assert ext.address(a[1:, ::-2]) == at + 8 * 7
    still = a[:]
    still.flags.writeable = False
    assert ext.address(still) == at
    y = ext.running_sum(a[0])
    assert y.array.flags.owndata


def test_arrays_of_other_libraries_are_not_copied(ext: Any, torch: Any) -> None:
    t = torch.arange(4.0, dtype=torch.float64)
    assert ext.address(t) == t.data_ptr()


def test_any_strides_and_no_entries(ext: Any) -> None:
    a = np.arange(12.0).reshape(3, 4)
    assert ext.trace(a) == ext.trace(a.T) == np.trace(a)
    assert ext.trace(a[::-1, ::2]) == np.trace(a[::-1, ::2])
    assert ext.running_sum(np.empty(0)).shape == (0,)
    assert ext.address(gw.tensor(2.0, dtype=gw.float64) * 2) != 0


def test_optional_and_other_dtypes(ext: Any) -> None:
    x = gw.tensor([-1, 2, 3])
    y = ext.counts(x, None, 2)
    assert y.dtype is gw.int32
    assert y.tolist() == [[2], [4]]
    assert ext.counts(x, gw.tensor([True, False, True]), times=1).tolist() == [[1], [1]]
    for dtype in (gw.float32, gw.float64):
        assert ext.twice(gw.tensor([1.5], dtype=dtype)).dtype is dtype


def test_a_tensor_written_in_place_is_known_to_be(ext: Any) -> None:
    x = doubles(3)
    ext.fill(x, 2.0)
    assert x.tolist() == [2.0, 2.0, 2.0]
    w = doubles(3, requires_grad=True)
    y = (w * x).sum()
    ext.fill(x, 3.0)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()
    with pytest.raises(RuntimeError, match="requires grad"):
        ext.fill(w, 1.0)
    with gw.no_grad():
        ext.fill(w, 1.0)
    assert w.tolist() == [1.0, 1.0, 1.0]


class OnGpu:
    device = "cuda:0"

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, 0


def saved(ext: Any, value: Any) -> None:
    ext.Saves.apply(doubles(2, requires_grad=True), value).sum().backward()


def kept(ext: Any, how: int) -> Any:
    x = doubles(2, requires_grad=True)
    ext.Keeps.apply(x, how, None).sum().backward()
    return x.grad


X = np.arange(6.0)
UNALIGNED = np.zeros(41, np.uint8)[1:].view(np.float64)
BAD: list[tuple[Callable[[Any], Any], type[Exception], str]] = [
    (lambda e: e.running_sum(X.astype(np.float32)), RuntimeError,
     r"running_sum\(\): expected scalar type Double but found Float for argument 'x'.*gradwright\.float64"),
    (lambda e: e.running_sum(gw.arange(3)), RuntimeError, "Double but found Long for argument 'x'"),
    (lambda e: e.running_sum(gw.ones(3).bfloat16()), RuntimeError, "Double but found BFloat16"),
    (lambda e: e.running_sum(X > 1), RuntimeError, "Double but found Bool"),
    (lambda e: e.running_sum(X.reshape(2, 3)), RuntimeError,
     r"running_sum\(\): expected argument 'x' to have 1 dim, but it has 2: its shape is \[2, 3\]"),
    (lambda e: e.running_sum(X[::2]), RuntimeError,
     r"running_sum\(\): expected argument 'x' to be contiguous, but its strides are \(2,\).*contiguous\(\)"),
    (lambda e: e.running_sum(X.astype(">f8")), RuntimeError, "another order"),
    (lambda e: e.running_sum(OnGpu()), RuntimeError, "expected argument 'x' to be on cpu, but found it on cuda:0"),
    (lambda e: e.running_sum([1.0]), TypeError, "argument 'x' must be a Tensor or an array, but got a list"),
    (lambda e: e.running_sum(None), TypeError, "argument 'x' must be a Tensor or an array, but got None"),
    (lambda e: e.running_sum(doubles(2, requires_grad=True)), RuntimeError,
     "argument 'x' requires grad, but what C\\+\\+ computes outside of a Function is not recorded"),
    (lambda e: e.counts(X > 1, None, 1), RuntimeError, r"counts\(\): expected scalar type Long but found Bool"),
    (lambda e: e.counts(gw.arange(3), None, "a"), TypeError, "argument 'times' must be int, but got a str"),
    (lambda e: e.fill(np.broadcast_to(1.0, 3), 1.0), RuntimeError,
     "'x' is changed in place, but its memory is read-only"),
    (lambda e: e.running_sum(), TypeError, r"running_sum\(x\): missing a required argument: 'x'"),
    (lambda e: e.running_sum(X, y=1), TypeError, "got an unexpected keyword argument 'y'"),
    (lambda e: e.twice(gw.arange(3)), TypeError,
     r"twice\(\): argument 'x' must be a Tensor of float32 or float64, but got one of int64"),
    (lambda e: e.twice(X), TypeError, "argument 'x' must be Tensor, but got a ndarray"),
    (lambda e: e.unnamed("a", 1), TypeError, r"unnamed\(\): argument 0 must be float"),
    (lambda e: e.Square.apply(gw.ones(2, requires_grad=True)), RuntimeError,
     r"Square\.forward: expected scalar type Double but found Float for argument 'x'"),
    (lambda e: e.Scale.apply(doubles(2), "two"), TypeError, r"Scale\.forward: argument 'factor' must be float"),
    (lambda e: e.Both.apply(doubles(2), doubles(3)), RuntimeError,
     r"Both\.forward: expected argument 'y' to have shape \[2\], but it has \[3\]"),
    (lambda e: e.SquareBackward.apply(doubles(2, 3), doubles(6)), RuntimeError,
     r"SquareBackward\.forward: expected argument 'g' to have shape \[6\], but it has \[2, 3\]"),
    (lambda e: e.corner(doubles(3, 4)), RuntimeError,
     r"corner\(\): expected argument 'x' to have shape \[2, \*\], but it has \[3, 4\]"),
    (lambda e: e.corner(doubles(2)), RuntimeError, r"to have shape \[2, \*\], but it has \[2\]"),
    (lambda e: e.address(UNALIGNED), RuntimeError, "the memory of argument 'x' is not aligned"),
    (lambda e: e.unnamed(1.0, doubles(1, requires_grad=True)), RuntimeError,
     r"unnamed\(\): argument 1 requires grad, but what C\+\+ computes"),
    (lambda e: e.running_sum(np.ma.array(X, mask=X > 1)), TypeError,
     r"running_sum\(\): argument 'x' is a NumPy masked array.*filled\(\)"),
    (lambda e: e.Square.apply(np.ma.array(X, mask=X > 1)), TypeError, "'x' is a NumPy masked array"),
    (lambda e: e.fails(2**40), OverflowError, r"fails\(\): argument 'how' is 1099511627776, which the int"),
    (lambda e: e.fill(X, 2**2000), OverflowError, "argument 'value' is .*, which the float"),
    (lambda e: e.running_sum(np.array(["a"])), RuntimeError, "Double but found <U1 for argument 'x'$"),
    (lambda e: e.running_sum(np.array([None])), RuntimeError, "Double but found object for argument 'x'$"),
    (lambda e: e.fill(gw.from_numpy(X.reshape(2, 3)).t(), 1.0), RuntimeError,
     r"so y = x\.contiguous\(\), pass y, and then x\.copy_\(y\)"),
    (lambda e: e.fill(UNALIGNED, 1.0), RuntimeError, "pass a copy of it, and copy that back$"),
    (lambda e: e.total(2, None), TypeError, r"total\(\): argument 'y' must be Sequence\[float\], but got an int"),
    (lambda e: e.total(doubles(1, requires_grad=True), 1), RuntimeError, r"argument 'y' requires.*pass y\.detach\(\)"),
    (lambda e: e.pair(1), TypeError, r"^pair\(\) returns what is of no class that is bound"),
    (lambda e: e.arithmetic(doubles(1), doubles(1), 4), AttributeError, r'write x\.attr\("type_as"\)\(\.\.\.\)'),
    (lambda e: e.arithmetic(doubles(2), doubles(3), 1), RuntimeError, "size of tensor a"),
    (lambda e: kept(e, 1), IndexError, r"Keeps\.backward: saved\(1\), but save_for_backward was given 1 tensor$"),
    (lambda e: kept(e, 2), RuntimeError, r"Keeps\.backward: expected .* Float but found Double for saved tensor 0"),
    (lambda e: e.undefined(0), TypeError, "add.*None"),
    (lambda e: e.undefined(1), TypeError, r"undefined\(\): a tensor must be a Tensor or an array, but got None"),
    (lambda e: e.undefined(2), AttributeError, "'NoneType' object has no attribute 'shape'"),
    (lambda e: saved(e, None), TypeError, r"Saves\.backward: saved tensor 1 must be a Tensor.*, but got None"),
    (lambda e: saved(e, gw.ones(2)), RuntimeError, "Double but found Float for saved tensor 1"),
    (lambda e: e.Saves.backward(None, None), TypeError, r"Saves\.backward: grad_output 0 must be .* but got None"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "kind", "message"), BAD)
def test_what_does_not_fit_is_an_error_that_names_it(
    ext: Any, call: Callable[[Any], Any], kind: type[Exception], message: str
) -> None:
    with pytest.raises(kind, match=message):
        call(ext)


@pytest.mark.parametrize(("how", "kind", "message"), [
    (0, RuntimeError, "the tank is empty"), (1, ValueError, "no such tank"), (2, IndexError, "a leak in a thread"),
    (3, RuntimeError, "the tank leaks"), (4, RuntimeError, r"fails\(\) has thrown what is no std::exception"),
])  # fmt: skip
def test_an_exception_of_cpp_is_one_of_python(ext: Any, how: int, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=f"^{message}$"):
        ext.fails(how)


@pytest.mark.parametrize("n", [0, 1, 1000, (1 << 18) + 1])
def test_a_parallel_loop_visits_everything_once_without_the_gil(ext: Any, n: int) -> None:
    visits = ext.visits(n).numpy()
    assert (visits[:n] == 1).all()
    assert visits[n] == 0


@pytest.mark.parametrize("how", range(4))
def test_python_in_a_parallel_loop_is_an_error_and_no_crash(ext: Any, how: int) -> None:
    with pytest.raises(RuntimeError, match=r"^C\+\+ code that runs without Python's lock, inside of gw::parallel"):
        ext.unlocked(doubles(2), how)


def test_tensors_have_the_arithmetic_of_python(ext: Any) -> None:
    x, y = doubles(2, 2, requires_grad=True), doubles(2, 2)
    for how, due in enumerate((1 - x, 2.0 * (x * y) / (-x + y) - 1, x.t() * y, x.sum(dim=0))):
        found = ext.arithmetic(x, y, how)
        np.testing.assert_array_equal(found.numpy(force=True), due.numpy(force=True))
        assert found.requires_grad


def test_what_is_kept_on_ctx_is_read_back(ext: Any) -> None:
    assert kept(ext, 0).tolist() == [6.0, 6.0]


def test_an_optional_result_may_be_none(ext: Any) -> None:
    assert ext.first(X) == 0.0
    assert ext.first(X[:0]) is None


def test_the_types_of_parameters_are_known_to_python(ext: Any) -> None:
    assert str(inspect.signature(ext.Keeps.forward)) == "(ctx, x: 'Tensor', how: 'int', flag: 'bool | None')"
    assert ext.total.__doc__ == "total(y: Sequence[float], n: int | None)"
    assert bind.shown("", 2, ["%", "str"]) == "(arg0, arg1: str)"


def test_arrays_that_are_not_aligned_are_copied_for_functions(ext: Any) -> None:
    UNALIGNED[:] = np.arange(5.0)
    np.testing.assert_array_equal(ext.Square.apply(UNALIGNED).numpy(), np.arange(5.0) ** 2)
    pairs = np.ones(3, [("a", "f4"), ("b", "c8")])["b"]
    assert pairs.flags.aligned
    with pytest.raises(RuntimeError, match="expected scalar type Double but found ComplexFloat"):
        ext.Square.apply(pairs)


def test_what_a_function_returns_of_an_array_is_a_tensor(ext: Any) -> None:
    y = ext.same(X)
    assert type(y) is gw.Tensor
    assert np.shares_memory(y.numpy(), X)
    x = gw.from_numpy(X)
    assert ext.same(x) is x
    assert ext.address(memoryview(X)) == X.ctypes.data


def test_numbers_without_a_history_to_lose_are_taken(ext: Any) -> None:
    x = doubles(1, requires_grad=True)
    with gw.no_grad(), pytest.warns(UserWarning, match="to a scalar"):
        assert ext.unnamed(x, 3) == 3
    assert ext.unnamed(x.detach(), gw.tensor(3)) == 3
    with pytest.warns(UserWarning, match="to a scalar"):
        assert ext.Scale.apply(x, x).item() == x.item() ** 2


def run(code: str) -> subprocess.CompletedProcess[str]:
    """A process with the extension: ``ext``."""
    begin = f"""
import builtins, gradwright as gw
from gradwright.utils.cpp_extension import load
ext = load("shared_by_tests", {str(Path(__file__).with_name("shared.cpp"))!r}, ["-Wall", "-Wextra"])
x = gw.ones(3, dtype=gw.float64)
"""
    return subprocess.run([sys.executable, "-c", begin + dedent(code)], capture_output=True, text=True, check=False)


def test_what_is_static_may_outlive_python(ext: Any) -> None:
    done = run("ext.keep(x)")
    assert (done.returncode, done.stderr) == (0, "")


def test_nothing_is_imported_when_a_function_is_called(ext: Any) -> None:
    """Else threads might wait for one another: one with Python's lock, one with that of a static variable."""
    done = run("""
        def refuse(name, *rest):
            raise AssertionError(name)
        builtins.__import__ = refuse
        ext.twice(x), ext.running_sum(x=x), ext.undefined, ext.Square.apply(x)
    """)
    assert (done.returncode, done.stderr) == (0, "")


def test_classes_of_one_name_are_each_its_extensions(ext: Any) -> None:
    other = load_inline("other_counter", """
        struct Counter { double big[999] = {}; double sum() const { return big[0] + big[998]; } };
        GRADWRIGHT_MODULE(m) {
            nanobind::class_<Counter>(m, "Counter").def(nanobind::init<>()).def("sum", &Counter::sum);
        }
    """)  # fmt: skip
    assert other.Counter is not ext.Counter
    assert other.Counter().sum() == 0
    assert ext.Counter().next() == 1


def test_indices_are_checked_if_asked_for(compiler: None) -> None:
    code = """
        double at(gw::Array<double> x, int64_t i) { return x[i]; }
        double in(gw::Strided<double, 2> x, int64_t i, int64_t j) { return x(i, j); }
        GRADWRIGHT_DEF(in, x, i, j)
    """
    checked = load_inline("checked", code, ["at"], extra_cflags=["-DGRADWRIGHT_CHECKED", "-O0"])
    a = np.arange(6.0).reshape(2, 3)
    assert (checked.at(a, 5), getattr(checked, "in")(a.T, 2, 1)) == (5, 5)
    with pytest.raises(IndexError, match="index 6 of 6 entries"):
        checked.at(a, 6)
    with pytest.raises(IndexError, match="index -1 of 3 entries"):
        getattr(checked, "in")(a, 0, -1)


def test_arrays_of_too_many_dims_do_not_compile(compiler: None) -> None:
    with pytest.raises(RuntimeError, match="arrays have at most 32 dims"):
        load_inline("deep", "void deep(gw::Array<double, 40> x) {}", ["deep"])


def test_further_bindings_are_nanobinds(ext: Any) -> None:
    counter = ext.Counter()
    assert (counter.next(), counter.next(), ext.answer) == (1, 2, 42)


def test_a_cpp_function_is_a_function(ext: Any) -> None:
    x = doubles(2, 3, requires_grad=True)
    y = ext.Square.apply(x)
    assert issubclass(ext.Square, gw.autograd.Function)
    assert y.grad_fn.name() == "SquareBackward"
    assert y.grad_fn.needs_input_grad == (True,)
    assert y.grad_fn.saved_tensors[0] is x
    y.sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), 2 * x.detach().numpy())
    assert gradcheck(ext.Square.apply, (x,))
    assert gradgradcheck(ext.Square.apply, (x,))
    third = [x]
    for _ in range(3):
        third.append(grad(third[-1].sum() if third[1:] else ext.Square.apply(x).sum(), x, create_graph=True)[0])
        if not third[-1].requires_grad:
            break
    assert (third[2].numpy(force=True) == 2).all()


def test_a_backward_may_be_made_of_operations(ext: Any) -> None:
    x = doubles(3, requires_grad=True)
    assert gradcheck(lambda x: ext.Scale.apply(x, 3.0), (x,))
    assert gradgradcheck(lambda x: ext.Scale.apply(x, factor=3.0), (x,))


def test_several_outputs_and_only_the_gradients_that_are_needed(ext: Any) -> None:
    x, y = doubles(3, requires_grad=True), doubles(3, requires_grad=True)
    assert gradcheck(ext.Both.apply, (x, y))
    product, _ = ext.Both.apply(x, y.detach())
    product.sum().backward()
    assert y.grad is None
    np.testing.assert_array_equal(x.grad.numpy(), y.detach().numpy())


def test_a_backward_on_bare_entries_has_no_derivative(ext: Any) -> None:
    x = doubles(3, requires_grad=True)
    (g,) = grad(ext.Both.apply(x, x)[0].sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable: BothBackward"):
        g.sum().backward()


def test_an_intermediate_is_not_taken_for_a_constant(ext: Any) -> None:
    x = doubles(3, requires_grad=True)
    (g,) = grad(ext.Intermediate.apply(x).sum(), x, create_graph=True)
    np.testing.assert_allclose(g.detach().numpy(), 2 * np.exp(2 * x.detach().numpy()))
    with pytest.raises(CutError, match=r"C\+\+ code.*\n.*shared\.cpp:\d+"):
        g.sum().backward()


def test_functions_take_any_strides(ext: Any) -> None:
    x = doubles(4, 3, requires_grad=True)
    ext.Square.apply(x.t()).backward(gw.ones(1, 1, dtype=gw.float64).expand(3, 4))
    np.testing.assert_array_equal(x.grad.numpy(), 2 * x.detach().numpy())


def test_a_saved_tensor_that_is_changed_is_noticed(ext: Any) -> None:
    x = doubles(3)
    w = doubles(3, requires_grad=True)
    product, _ = ext.Both.apply(x, w)
    x += 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        product.sum().backward()


def test_checked_and_drawn_as_functions_of_the_users(ext: Any) -> None:
    x = doubles(3, requires_grad=True)
    nodes = graph(ext.cube(ext.Square.apply(x))).nodes
    assert [n.kind for n in nodes if n.name.startswith(("Square", "cube"))] == ["custom", "custom"]
    mine = ModuleType("mine")
    vars(mine)["ext"] = ext
    found = {s.name: s for s in subjects(mine)}
    assert {"Square", "cube", "grown"} <= found.keys()
    assert found["Square"].file.endswith("shared.cpp")
    assert "GRADWRIGHT_FUNCTION(Square" in found["Square"].source


def test_nothing_is_leaked(ext: Any, no_gc: None) -> None:
    a = np.ones(3)
    before = sys.getrefcount(a)
    x = gw.from_numpy(a).requires_grad_()
    ext.Square.apply(x).sum().backward()
    ext.address(a)
    with pytest.raises(RuntimeError):
        ext.running_sum(a.reshape(1, 3))
    del x
    assert sys.getrefcount(a) == before


def test_definitions_with_the_wrong_number_of_names_are_refused() -> None:
    with pytest.raises(ImportError, match=r"Square, registered at a\.cpp:7, takes 1 argument, but 2 are named: x, y"):
        bind.define(np, "autograd", "Square", "x, y", ["Tensor"], 1, [], False, "a.cpp", 7)


def test_definitions_of_one_name_are_refused() -> None:
    with pytest.raises(ImportError, match=r"array, registered at a\.cpp:7, has the name of something"):
        bind.define(np, "function", "mine::array", "", [], 0, [], False, "a.cpp", 7)


def test_an_extension_of_another_protocol_is_refused() -> None:
    header = Path(include_paths()[0], "gradwright", "extension.h").read_text()
    assert f"#define GRADWRIGHT_PROTOCOL {bind.PROTOCOL}\n" in header
    bind.agree(np, bind.PROTOCOL, "0.0.1")
    with pytest.raises(ImportError, match=rf"with gradwright 0\.0\.1, .* {gw.__version__}.*build it again"):
        bind.agree(np, bind.PROTOCOL - 1, "0.0.1")


CALLED = {
    "agree": "module, protocol, version", "allocate": "letter, width, shape, zero", "array_of": "value, write",
    "as_tensor": "result", "define": "module, sort, name, arguments, about, count, entries, raw, file, line",
    "expect_unrecorded": "value, whose", "fitted": "array, wanted, whose", "is_double": "x",
    "misshapen": "shape, wanted, whose", "no_float": "x, whose", "ordered": "values, named, name, arguments, count",
    "refused": "value, write, whose", "shown": "arguments, count, types", "wrong_type": "value, wanted, whose",
}  # fmt: skip


def test_what_is_called_from_cpp_is_as_the_protocol_has_it() -> None:
    """If this fails, raise the protocol, here and in extension.h, and then write what is called now."""
    runtime = Path(include_paths()[0], "gradwright", "runtime.cpp").read_text()
    called = {name: ", ".join(inspect.signature(getattr(bind, name)).parameters)
              for name in re.findall(r'bind\.attr\("(\w+)"\)', runtime)}  # fmt: skip
    assert (bind.PROTOCOL, called) == (3, CALLED)


def test_definitions_in_inline_sources_are_placed() -> None:
    with bind.places({"cpp_sources[0]": ("mine.py", 10)}), pytest.raises(ImportError, match=r"at mine\.py:12"):
        bind.define(np, "function", "f", "x", ["int", "int"], 2, [], False, "cpp_sources[0]", 3)


RTOL = {np.float32: 1e-6, np.float64: 4e-15}


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def erf(x: Any) -> Any:
    special = pytest.importorskip("scipy.special")
    return special.erf(x)


FORMULAS: list[tuple[str, Any]] = [
    ("quick_gelu", lambda x: x * sigmoid(1.702 * x)),
    ("cube", lambda x: x**3),
    ("soft_relu", lambda x: np.where(x > 0, x + x * x / 2, np.exp(x) - 1)),
    ("pow_double", lambda x: x**2.5),
    ("pow_float", lambda x: x**0.5),
    ("pow_negative", lambda x: x**-0.5),
    ("pow_int", lambda x: x**3),
    ("pow_long", lambda x: x**-2),
    ("many", lambda x: (np.sqrt(abs(x)) + np.log1p(x * x) + np.tanh(x) + erf(x) + np.sin(x) * np.cos(x)
                        + np.maximum(x, 0) - np.minimum(x, 1))),
]  # fmt: skip


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("name", "formula"), FORMULAS)
def test_values_of_every_size_and_stride(ext: Any, name: str, formula: Any, dtype: Any) -> None:
    whole = np.random.uniform(-3, 3, (2, 400_001)).astype(dtype)
    for a in (whole, whole[0, :1], whole[1, :1037], whole[:, ::-3], whole[:, :2000].T, whole[0, :0], whole[0, 0]):
        y = getattr(ext, name)(gw.tensor(0) + 0 if a is None else gw.from_numpy(np.asarray(a)))
        with np.errstate(invalid="ignore"):
            due = formula(np.asarray(a, np.float64))
        assert y.numpy().dtype == dtype
        assert y.shape == np.shape(a)
        np.testing.assert_allclose(y.numpy(), due, rtol=RTOL[dtype], atol=RTOL[dtype] * 4)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 0.0, -0.0, 1e300, -1e300])
def test_special_values_are_as_ieee_says(ext: Any, value: float) -> None:
    x = np.full(9, value)
    x[1::2] = 0.5
    for name, formula in FORMULAS[:3]:
        with np.errstate(all="ignore"):
            due = formula(x)
        np.testing.assert_allclose(getattr(ext, name)(gw.from_numpy(x)).numpy(), due, rtol=1e-14)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_other_functions_of_cmath(ext: Any, dtype: Any) -> None:
    x = np.random.uniform(0.2, 3, (5, 7)).astype(dtype)
    y = np.random.uniform(0.2, 3, 7).astype(dtype)
    z = np.array([0.5, 1.5, 2.3, 2.7, np.nan, np.inf, -np.inf], dtype)
    due = np.arctan2(y, x) + np.hypot(x, y) + np.fmod(x, y) + np.copysign(x, y) + y.astype(np.float64) ** x
    np.testing.assert_allclose(ext.angles(gw.from_numpy(x), gw.from_numpy(y)).numpy(), due, rtol=RTOL[dtype])
    rounded = [n + math.lgamma(v) for n, v in zip([1.0, 202.0, 202.0, 303.0], z, strict=False)]
    np.testing.assert_allclose(ext.rounded(gw.from_numpy(z)).numpy(), [*rounded, -7, 7, 7], rtol=RTOL[dtype])


def test_arrays_that_cpp_cannot_go_through_are_copied(ext: Any) -> None:
    deep = np.arange(6.0).reshape((1,) * 38 + (2, 3))
    for y in (ext.cube(gw.from_numpy(deep)), ext.cube(gw.from_numpy(deep.swapaxes(-1, -2))).swapaxes(-1, -2)):
        assert y.shape == deep.shape
        np.testing.assert_array_equal(y.numpy(), deep**3)
    loose = np.zeros(41, np.uint8)[1:].view(np.float64)
    loose[:] = np.arange(5)
    np.testing.assert_array_equal(ext.cube(gw.from_numpy(loose)).numpy(), np.arange(5.0) ** 3)


@pytest.mark.parametrize(("name", "order"), [("quick_gelu", 1), ("cube", 2), ("soft_relu", 2)])
def test_derivatives_by_one_input(ext: Any, name: str, order: int) -> None:
    op = getattr(ext, name)
    x = gw.tensor(np.random.uniform(0.2, 2.0, (2, 3)) * [1, -1, 1], dtype=gw.float64, requires_grad=True)
    assert gradcheck(op, (x,))
    assert order < 2 or gradgradcheck(op, (x,))
    assert op(x).grad_fn.name() == f"{name}Backward"


def test_derivatives_by_two_inputs_that_broadcast(ext: Any) -> None:
    x = gw.tensor(np.random.uniform(-1, 1, (3, 1)), dtype=gw.float64, requires_grad=True)
    y = gw.tensor(np.random.uniform(-1, 1, 4), dtype=gw.float64, requires_grad=True)
    np.testing.assert_allclose(ext.grown(x, y).detach().numpy(), (x * y.exp()).detach().numpy(), rtol=1e-14)
    assert gradcheck(ext.grown, (x, y))
    assert gradgradcheck(ext.grown, (x, y))


def test_as_many_derivatives_as_are_given_and_then_an_error(ext: Any) -> None:
    x = gw.tensor([2.0], dtype=gw.float64, requires_grad=True)
    found = [ext.cube(x)]
    for _ in range(3):
        found.append(grad(found[-1].sum(), x, create_graph=True)[0])
    assert [y.item() for y in map(gw.Tensor.detach, found)] == [8.0, 12.0, 12.0, 6.0]
    with pytest.raises(NotImplementedError, match=r"cube\(\): its derivative by xxxx is not given.*shared\.cpp:\d+"):
        grad(found[-1].sum(), x)
    with pytest.raises(NotImplementedError, match=r"many\(\): the derivative for 'x' is not implemented"):
        grad(ext.many(x).sum(), x)


def test_help_has_the_expressions(ext: Any) -> None:
    assert ext.cube.__doc__.startswith("Elementwise; its value and derivatives: pow(x, 3), 3 * x * x, 6 * x, 6\n")
    assert "\n\nRegistered in C++ at " in ext.cube.__doc__
    assert ext.many.__doc__.startswith("Elementwise; its value: ")


def test_what_does_not_fit_is_an_error(ext: Any) -> None:
    with pytest.raises(RuntimeError, match=r"cube\(\): expected float32 or float64 tensors.*found int64"):
        ext.cube(gw.arange(3))
    with pytest.raises(RuntimeError, match="found float32 and float64"):
        ext.grown(gw.ones(2), gw.ones(2, dtype=gw.float64))
    with pytest.raises(RuntimeError, match=r"grown\(\): the shapes \[2\], \[3\] cannot be broadcast"):
        ext.grown(gw.ones(2), gw.ones(3))
    with pytest.raises(TypeError, match="expected a Tensor"):
        ext.cube("a")


@pytest.mark.parametrize(("code", "mend"), [
    ("pow(x, 1/3)", "1/3 is 0 in C++, which divides whole numbers to whole numbers: write 1.0/3"),
    ("x - 2 * 3L / 4", "6/4 is 1 in C++, which divides whole numbers to whole numbers: write 2.0 * 3L / 4"),
    ("-2/9 * pow(x, -5/3)", "2/9 is 0 in C++, which divides whole numbers to whole numbers: write 2.0/9"),
    ("1 / 0", "1/0 is not defined: write 1.0 / 0"),
    *((right, "") for right in ("4/2 * x", "1.0/3", "1/3.0 + 1./3 + 1/3e0 + 1/3f", "x * 1/3", "x / 1/3", "1e-10/3 + x",
                                "x/3", "1/x", "x1/3", "f(2)/3")),
])  # fmt: skip
def test_whole_numbers_divided_to_what_is_none_are_noticed(code: str, mend: str) -> None:
    assert truncated(code) == mend


def test_whole_numbers_divided_to_what_is_none_are_refused(compiler: None) -> None:
    with pytest.raises(ImportError, match=r"root, registered at .*: 1/3 is 0 in C\+\+.*: write 1\.0/3"):
        load_inline("divided", "GRADWRIGHT_ELEMENTWISE(root, pow(x, 1.0/3), (1/3) * pow(x, -2.0/3))")


def test_a_second_input_where_there_is_one_is_refused(compiler: None) -> None:
    with pytest.raises(RuntimeError, match=r"'y'.*was not declared|undeclared identifier 'y'"):
        load_inline("one", "GRADWRIGHT_ELEMENTWISE(weighed, x * y, y)")
