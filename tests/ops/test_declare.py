"""Declaring an operation, and the house rules that its formulas must keep."""

import ast
import inspect
from collections.abc import Iterator
from dataclasses import replace
from types import FunctionType
from typing import Any

import numpy as np
import pytest

import gradwright
from gradwright import op, xp
from gradwright.engine.apply import direct
from gradwright.op import KINDS, A, Op, Sample, table
from gradwright.transform.taylor import jet
from gradwright.verify.testing import check_derivatives, check_passes, draw

# -- the house rules --


def modules() -> list[Any]:
    return sorted({inspect.getmodule(o.forward) for o in table.values()}, key=lambda m: m.__name__)


def functions(module: Any) -> dict[str, ast.AST]:
    """The functions of a module of formulas, by name, and its lambdas, by the op and input that they belong to."""
    tree = ast.parse(inspect.getsource(module))
    found: dict[str, ast.AST] = {n.name: n for n in tree.body if isinstance(n, ast.FunctionDef)}
    for n in tree.body:
        if isinstance(n, ast.Expr) and isinstance(n.value, ast.Call) and isinstance(n.value.func, ast.Attribute):
            for k in n.value.keywords:
                found[f"{ast.unparse(n.value.func)}({k.arg})"] = k.value
    return found


def called(node: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


def rules(module: Any) -> Iterator[tuple[str, ast.AST]]:
    """Every derivative in a module, with the helpers it calls (but not the operations: they are recorded as such)."""
    found = functions(module)
    operations = {name for name, value in vars(module).items() if isinstance(value, Op)}
    for name, node in found.items():
        if ".vjp(" in name or ".shared(" in name:
            pending, seen = [node], set()
            while pending:
                n = pending.pop()
                yield name, n
                for helper in called(n) & found.keys() - seen - operations:
                    seen.add(helper)
                    pending.append(found[helper])


def uses_of_xp(node: ast.AST) -> set[str]:
    uses = {
        ast.unparse(n)[3:]
        for n in ast.walk(node)
        if isinstance(n, ast.Attribute) and ast.unparse(n).startswith("xp.")
    }
    return {u for u in uses if not any(v.startswith(f"{u}.") for v in uses)}


def test_the_parser_finds_the_derivatives() -> None:
    from gradwright.ops import reduce

    text = {name: ast.unparse(n) for name, n in rules(reduce)}
    assert "sum.vjp(x)" in text
    assert any("broadcast_to" in ast.unparse(n) for name, n in rules(reduce) if name == "sum.vjp(x)")
    assert uses_of_xp(ast.parse("xp.linalg.diagonal(xp.exp(x))")) == {"linalg.diagonal", "exp"}


@pytest.mark.parametrize("module", modules(), ids=lambda m: m.__name__.rpartition(".")[2])
def test_what_a_derivative_uses_can_itself_be_differentiated(module: Any) -> None:
    created = {"zero", "zeros_like", "ones_like", "zeros", "ones", "full", "linspace", "arange", "asarray", "astype"}
    plain = created | {"isdtype", "linalg.diagonal"}  # isdtype: a question about a dtype, not about values
    for name, node in rules(module):
        for use in uses_of_xp(node):
            assert use in table or use in plain, f"{name} uses xp.{use}, which is no op"
            value = xp
            for part in use.split("."):
                assert hasattr(value, part), f"{name} uses xp.{use}, which gradwright.xp lacks"
                value = getattr(value, part)


@pytest.mark.parametrize("module", modules(), ids=lambda m: m.__name__.rpartition(".")[2])
def test_no_formula_branches_on_a_value_or_writes_in_place(module: Any) -> None:
    here = [o for o in table.values() if inspect.getmodule(o.forward) is module]
    static = {name for o in here for name in o.static} - {name for o in here for name in o.inputs}
    harmless = {"float('inf')", "float('nan')", *(f"{f}({name})" for f in ("float", "bool") for name in static)}
    for name, node in functions(module).items():
        for n in ast.walk(node):
            written = [t for t in getattr(n, "targets", []) if isinstance(t, ast.Subscript)]
            assert not written, f"{name} writes in place: {ast.unparse(n)}"
            assert not isinstance(n, ast.AugAssign), f"{name} writes in place: {ast.unparse(n)}"
            if isinstance(n, ast.Call) and isinstance(n.func, ast.Name):
                of_dtype = ast.unparse(n).startswith("float(xp.finfo(")
                looks = n.func.id in ("float", "bool", "item") and ast.unparse(n) not in harmless and not of_dtype
                assert not looks, f"{name} looks at a value: {ast.unparse(n)}"


def test_every_derivative_names_an_input() -> None:
    for o in table.values():
        assert set(o.rules) <= set(o.inputs)
        assert o.kind in KINDS


# -- declaring an operation --


@op(kind="elementwise", samples=[Sample(A(3, low=0.5)), Sample(A(2, 3, low=0.5))])
def log_square(xp, x, *, scale=2.0):
    """y = scale log x**2, dy/dx = 2 scale / x."""
    return scale * xp.log(x * x)


log_square.vjp(x=lambda xp, g, x, scale: g * (2 * scale / x))


def test_an_operation_of_ones_own() -> None:
    x = gradwright.tensor([1.0, 2.0], dtype=gradwright.float64, requires_grad=True)
    y = log_square(x)
    assert y.grad_fn.name() == "LogSquareBackward0"
    assert y.tolist() == (2 * np.log(np.array([1.0, 4.0]))).tolist()
    (first,) = gradwright.autograd.grad(y.sum(), x, create_graph=True)
    (second,) = gradwright.autograd.grad(first.sum(), x, create_graph=True)
    (third,) = gradwright.autograd.grad(second.sum(), x)
    assert first.tolist() == [4.0, 2.0]
    assert second.tolist() == [-4.0, -1.0]
    assert third.tolist() == [8.0, 1.0]
    for sample in log_square.samples:
        check_derivatives(log_square, sample)


def test_defaults_of_static_arguments_hold_for_tensors_too() -> None:
    x = gradwright.ones(1, requires_grad=True)
    log_square(x, scale=3.0).backward()
    log_square(x).backward()
    assert x.grad.item() == 6 + 4


def test_an_operation_on_plain_arrays() -> None:
    assert log_square(np.array([1.0]), scale=1.0) == 0
    assert "log_square" not in table


def test_several_inputs_broadcast_and_only_what_is_needed_is_computed() -> None:
    asked = []

    @op(kind="elementwise")
    def blend(xp, x, y, *, weight):
        return weight * x + (1 - weight) * y

    def slope(name: str, factor: Any) -> Any:
        return lambda xp, g, weight: asked.append(name) or g * factor(weight)

    blend.vjp(x=slope("x", lambda w: w), y=slope("y", lambda w: 1 - w))
    x, y = gradwright.ones(2, 1, requires_grad=True), gradwright.ones(3)
    blend(x, y, weight=0.25).sum().backward()
    assert x.grad.tolist() == [[0.75], [0.75]]
    assert asked == ["x"]


def test_what_derivatives_share_is_computed_once() -> None:
    @op(samples=[Sample(A(3), A(3))])
    def both(xp, x, y):
        """sin(x y)."""
        return xp.sin(x * y)

    seen = []

    def slope(xp, g, x, y):
        seen.append(xp)
        return g * xp.cos(x * y)

    both.shared(slope=slope)
    both.vjp(x=lambda xp, g, slope, y: slope * y, y=lambda xp, g, slope, x: slope * x)
    assert both.saved_for("x") == ("x", "y")
    x, y = (gradwright.tensor([0.5, 2.0], dtype=gradwright.float64, requires_grad=True) for _ in range(2))
    both(x, y).sum().backward()
    assert len(seen) == 1
    np.testing.assert_array_equal(x.grad, np.cos(x.array * y.array) * y.array)
    both(x, y.detach()).sum().backward()
    assert len(seen) == 2
    for sample in both.samples:
        check_derivatives(both, sample)
        check_passes(both, sample)
    with pytest.raises(TypeError, match=r"both\.shared\(mean=\.\.\.\): cannot save 'mean'"):
        both.shared(mean=lambda xp, g, mean: mean)


def test_several_outputs() -> None:
    @op(several=True)
    def halves(xp, x):
        n = x.shape[0] // 2
        return [x[:n], x[n:]]

    halves.vjp(x=lambda xp, g: xp.concat(g, axis=0))
    x = gradwright.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)
    a, b = halves(x)
    (b * b).sum().backward()
    assert x.grad.tolist() == [0.0, 0.0, 6.0, 8.0]
    assert a.grad_fn is b.grad_fn


def test_without_derivatives_nothing_is_recorded() -> None:
    @op()
    def parity(xp, x):
        return xp.remainder(x, 2 * xp.ones_like(x))

    assert not parity(gradwright.ones(2, requires_grad=True)).requires_grad


def test_variadic_inputs() -> None:
    @op()
    def total(xp, *xs):
        return sum(xs[1:], xs[0])

    total.vjp(xs=lambda xp, g, i: g * (i + 1))
    x, y, z = (gradwright.ones(2, requires_grad=k != 1) for k in range(3))
    total(x, y, z).sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]
    assert y.grad is None
    assert z.grad.tolist() == [3.0, 3.0]


def test_variadic_inputs_and_the_output_saved() -> None:
    @op()
    def product(xp, *xs):
        out = xs[0]
        for x in xs[1:]:
            out = out * x
        return out

    product.vjp(xs=lambda xp, g, xs, out, i: g * out / xs[i])
    x, y, z = (gradwright.tensor([v], dtype=gradwright.float64, requires_grad=True) for v in (2.0, 3.0, 5.0))
    out = product(x, y, z)
    first = gradwright.autograd.grad(out, (x, y, z), create_graph=True)
    assert [g.item() for g in first] == [15.0, 10.0, 6.0]
    assert out.grad_fn._saved_result.item() == 30.0
    assert [t.item() for t in out.grad_fn._saved_xs] == [2.0, 3.0, 5.0]
    (second,) = gradwright.autograd.grad(first[0], z)
    assert second.item() == 3.0


def test_a_variant_has_another_name_and_the_same_formulas() -> None:
    other = log_square.variant("OtherBackward0")
    x = gradwright.ones(1, requires_grad=True)
    y = other(x)
    assert y.grad_fn.name() == "OtherBackward0"
    y.backward()
    assert x.grad.item() == 4
    assert log_square(x).grad_fn.name() == "LogSquareBackward0"
    assert other.rules is log_square.rules


# -- no operation is privileged --


def twin_of(one: Op) -> Op:
    """The same operation as a user's module would declare it."""
    scope = one.forward.__globals__ | {"__name__": "users"}
    formula = FunctionType(one.forward.__code__, scope, one.name, None, one.forward.__closure__)
    formula.__kwdefaults__, formula.__module__ = one.forward.__kwdefaults__, "users"
    options = {name: getattr(one, name) for name in inspect.signature(op).parameters}
    return replace(op(**options)(formula), rules=one.rules, parts=one.parts, pushes=one.pushes, unview=one.unview)


def outcome(one: Op, arrays: list[Any], static: dict[str, Any]) -> Any:
    """What comes of a call on tensors: the graph's nodes and whether it is a view, or the error and its cause."""
    names = one.names_of(len(arrays))
    xs = [gradwright.tensor(a, requires_grad=n in one.rules and a.dtype.kind in "fc")
          for n, a in zip(names, arrays, strict=False)]  # fmt: skip
    try:
        out = one(*xs, **static)
    except Exception as e:  # noqa: BLE001 - whatever it is
        return type(e), str(e), repr(e.__cause__)
    outs = out if one.several else [out]
    return [(o.tolist(), o.grad_fn and o.grad_fn.name(), o._is_view()) for o in outs]


@pytest.mark.parametrize("one", table.values(), ids=lambda one: one.name)
def test_a_twin_that_a_user_declares_is_treated_alike(one: Op) -> None:
    twin = twin_of(one)
    assert twin.is_quick == one.is_quick
    if not one.several and not one.variadic:
        assert direct(twin, len(one.inputs)).__code__ is direct(one, len(one.inputs)).__code__
    for sample in one.samples:
        arrays, static = draw(sample)
        wrong = [np.zeros((7, *a.shape), a.dtype) if a.ndim else np.zeros((5, 7, 0), a.dtype) for a in arrays]
        for given in (arrays, wrong, [wrong[0], *arrays[1:]], [a.astype("complex128") for a in arrays]):
            with gradwright.kernels("numpy"):  # those are made of the library's own formulas alone
                np.testing.assert_equal(outcome(twin, given, static), outcome(one, given, static))


def test_a_formula_of_ufuncs_is_quick_by_itself() -> None:
    @op(kind="elementwise")
    def of_ufuncs(xp, x):
        return xp.log(x) / xp.sqrt(x)

    @op(kind="elementwise")
    def of_more(xp, x):
        return np.log(x) + xp.nanmean(x)

    assert of_ufuncs.is_quick
    assert not of_more.is_quick
    assert not log_square.variant("X").is_quick or log_square.is_quick
    for each in (of_ufuncs, of_more):
        with np.errstate(all="raise"):
            assert np.isinf(each(gradwright.zeros(2)).tolist()).all()


def test_no_transform_tells_an_operation_by_its_name() -> None:
    @op(kind="elementwise")
    def divide(xp, x, y):
        return x * x * y

    @op(kind="general")
    def softmax(xp, x):
        return x / xp.sum(x)

    divide.vjp(x=lambda xp, g, x, y: g * 2 * x * y, y=lambda xp, g, x: g * (x * x))
    softmax.vjp(x=lambda xp, g, x, out: (g - xp.sum(g * out)) / xp.sum(x))
    x, v, w = gradwright.tensor([[1.0, 2.0, 4.0], [0.5, -1.0, 3.0], [0.0, 1.0, 2.0]], dtype=gradwright.float64)
    for mine, plain in (
        (lambda x: divide(x, x.sin()), lambda x: x * x * x.sin()), (softmax, lambda x: x / x.sum()),
    ):  # fmt: skip
        for found, wanted in zip(*(jet(f, (x,), ((v, w),)) for f in (mine, plain)), strict=True):
            for a, b in zip(found, wanted, strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-12)
        compiled = gradwright.compile(mine)
        for _ in range(3):  # a warning that it is not compiled would be an error
            np.testing.assert_allclose(compiled(x), plain(x), rtol=1e-15)


def test_a_view_of_ones_own_is_written_through_in_a_library_without_writing() -> None:
    @op(kind="view", reaches=True)
    def laid(xp, x, *, source, target):
        return xp.restride(x, source=source, target=target)

    x = gradwright.zeros(2, 3, device="array-api-strict")
    y = laid(x[1], source=((3,), (1,), 3), target=((2,), (3,), 0))  # which shows entries of x that x[1] does not
    y.fill_(5)
    assert x.tolist() == [[5, 0, 0], [5, 0, 0]]


# -- mistakes in a declaration --


def fresh() -> Op:
    @op()
    def f(xp, x, *, axis):
        return x

    return f


def test_unknown_kind() -> None:
    with pytest.raises(ValueError, match=r"op: kind must be one of .*'elementwise'.*, but got 'pointwise'"):
        op(kind="pointwise")


def test_derivative_of_what_is_no_input() -> None:
    with pytest.raises(TypeError, match=r"f\.vjp: 'y' is no input; the inputs are x"):
        fresh().vjp(y=lambda xp, g: g)


def test_saving_what_there_is_not() -> None:
    with pytest.raises(TypeError, match=r"f\.vjp\(x=\.\.\.\): cannot save 'mean'; known: \['axis'.*'out'.*'x_shape'\]"):
        fresh().vjp(x=lambda xp, g, mean: g)


def test_repr() -> None:
    assert repr(log_square) == "<op log_square(x)>"
    assert repr(Sample(A(2, 3), axis=0)) == "(2, 3), axis=0"


@op(several=True, complex="general", samples=[Sample(A(3))])
def waves(xp, x):
    """Sine and cosine of x."""
    return [xp.sin(x), xp.cos(x)]


waves.vjp(x=lambda xp, g, out: g[0] * out[1] - g[1] * out[0])


def test_several_outputs_can_be_saved() -> None:
    check_derivatives(waves, waves.samples[0], order=3)
    check_passes(waves, waves.samples[0])
    x = gradwright.tensor([0.5], requires_grad=True)
    sine, cosine = waves(x)
    assert [t.item() for t in sine.grad_fn._saved_result] == [sine.item(), cosine.item()]
    cosine.add_(1)
    with pytest.raises(RuntimeError, match=r"modified by an inplace operation.*saved it as 'output 1'"):
        sine.backward()
