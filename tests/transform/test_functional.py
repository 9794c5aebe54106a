"""Products with Jacobians and Hessians and these themselves: against PyTorch's, analytic truth and each other."""

import functools
import importlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gradwright
from gradwright.autograd import functional
from gradwright.errors import GradientWarning
from gradwright.transform.functional import filled, inputs_of, tangent
from gradwright.transform.functional import vector as vector_of
from gradwright.transform.tangent import Tangents
from gradwright.transform.vmap import vmap
from tests.transform.programs import outcome, t

# ---- the same as PyTorch's -------------------------------------------------------------------------------

FUNCTIONS = {
    "square": (lambda T: lambda x: 3 * x**2, 1),
    "rows": (lambda T: lambda x: x.exp().sum(1), 1),
    "scalar": (lambda T: lambda x: (x.sin() * x).sum(), 1),
    "identity": (lambda T: lambda x: x, 1),
    "constant": (lambda T: lambda x: T.ones(2, dtype=T.float64), 1),
    "detached": (lambda T: lambda x: x.detach() * x, 1),
    "cut off": (lambda T: lambda x: x.detach(), 1),
    "beside": (lambda T: lambda x: x.long().double().requires_grad_().clone(), 1),
    "one output in a tuple": (lambda T: lambda x: (x * x,), 1),
    "matrix": (lambda T: lambda x, y: (x.cos() * x) @ y.sin(), 2),
    "several outputs": (lambda T: lambda x, y: ((x * x) @ y, x.sum() * y.sum(), y), 2),
    "unrelated": (lambda T: lambda x, y: (x * 1, y * y, x * x, y * 2), 2),
    "the inputs themselves, twice": (lambda T: lambda x, y: (x, y, x, y), 2),
    "the first alone": (lambda T: lambda x, y: (x * x).sum(), 2),
    "integers beside": (lambda T: lambda x, y: ((x * 3).long(), y * x.sum()), 2),
}
SCALARS = {
    "cubes": (lambda T: lambda x: (x**3).sum(), 1),
    "linear": (lambda T: lambda x: (3 * x).sum(), 1),
    "cut off": (lambda T: lambda x: x.detach().sum(), 1),
    "beside": (lambda T: lambda x: x.long().double().requires_grad_().clone().sum(), 1),
    "of one element": (lambda T: lambda x: x.exp().sum().view(1, 1), 1),
    "exponential": (lambda T: lambda x, y: (x.sum(1) + 3 * y.sum(0)[:2]).exp().sum(), 2),
    "a product": (lambda T: lambda x, y: (x @ y).sin().sum(), 2),
    "the first alone": (lambda T: lambda x, y: (x**4).sum(), 2),
    "bilinear": (lambda T: lambda x, y: (x * y.sum()).sum(), 2),
    "several elements": (lambda T: lambda x: x * x, 1),
    "a tuple": (lambda T: lambda x: (x.sum(),), 1),
}
FLAGS = [{}, {"strict": True}, {"create_graph": True}, {"create_graph": True, "strict": True}]


def arguments(T, n: int, grad: bool):
    x, y = t(T, (2, 3), 1, grad), t(T, (3, 4), 2, grad)
    return x if n == 1 else (x, y)


def vectors(T, like, seed: int, grad: bool):
    if isinstance(like, tuple):
        return tuple(vectors(T, x, seed + i, grad) for i, x in enumerate(like))
    return t(T, tuple(like.shape), seed, grad)


@pytest.mark.parametrize("grad", [False, True], ids=["", "of tensors with history"])
@pytest.mark.parametrize("flags", FLAGS, ids=str)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_products_and_jacobians_are_pytorchs(torch, name, flags, grad):
    function, n = FUNCTIONS[name]

    def vjp(T):
        x = arguments(T, n, grad)
        f = function(T)
        return T.autograd.functional.vjp(f, x, vectors(T, f(*x) if n > 1 else f(x), 5, grad), **flags)

    def jvp(T):
        x = arguments(T, n, grad)
        return T.autograd.functional.jvp(function(T), x, vectors(T, x, 5, grad), **flags)

    def jacobian(T):
        return T.autograd.functional.jacobian(function(T), arguments(T, n, grad), **flags)

    for program in (vjp, jvp, jacobian):
        outcome(gradwright, program).is_like(outcome(torch, program), words=80 * ("strict" in flags))


@pytest.mark.parametrize("grad", [False, True], ids=["", "of tensors with history"])
@pytest.mark.parametrize("flags", FLAGS, ids=str)
@pytest.mark.parametrize("name", SCALARS)
def test_products_with_hessians_and_hessians_are_pytorchs(torch, name, flags, grad):
    function, n = SCALARS[name]

    def product(which):
        def program(T):
            x = arguments(T, n, grad)
            return getattr(T.autograd.functional, which)(function(T), x, vectors(T, x, 5, grad), **flags)

        return program

    def hessian(T):
        return T.autograd.functional.hessian(function(T), arguments(T, n, grad), **flags)

    for program in (product("vhp"), product("hvp"), hessian):
        outcome(gradwright, program).is_like(outcome(torch, program), words=80 * ("strict" in flags))


VECTORIZED = [
    {"vectorize": True},
    {"vectorize": True, "create_graph": True},
    {"vectorize": True, "strict": True},
    {"forward": True, "vectorize": True},
    {"forward": True},
    {"forward": True, "strict": True},
    {"forward": True, "strict": True, "vectorize": True},
    {"forward": True, "create_graph": True, "vectorize": True},
    {"forward": True, "create_graph": True, "strict": True},
]


@pytest.mark.parametrize("flags", VECTORIZED, ids=str)
@pytest.mark.parametrize(("which", "name"), [
    *[("jacobian", name) for name in FUNCTIONS], *[("hessian", name) for name in SCALARS],
])  # fmt: skip
def test_vectorized_and_forward_jacobians_are_pytorchs(torch, which, name, flags):
    function, n = (FUNCTIONS if which == "jacobian" else SCALARS)[name]
    given = {key: value for key, value in flags.items() if key != "forward"}
    if "forward" in flags:
        given["strategy" if which == "jacobian" else "outer_jacobian_strategy"] = "forward-mode"

    def program(T):
        return getattr(T.autograd.functional, which)(function(T), arguments(T, n, False), **given)

    # PyTorch's zeros by an output that does not move have a history if they came in one batch with others; so has a
    # Hessian by forward mode, which nobody asked for.
    outcome(gradwright, program).is_like(outcome(torch, program), history=not {"create_graph", "forward"} & {*flags})


@pytest.mark.parametrize("which", ["vjp", "jvp", "vhp", "hvp", "jacobian", "hessian"])
@pytest.mark.parametrize("create_graph", [False, True])
def test_under_no_grad_they_are_the_same(T, which, create_graph):
    x = t(T, (3,), 1)
    more = () if which in ("jacobian", "hessian") else (t(T, (), 2) if which == "vjp" else t(T, (3,), 2),)
    call = getattr(T.autograd.functional, which)
    expected = call(lambda x: x.exp().sum(), x, *more)
    with T.no_grad():
        found = call(lambda x: x.exp().sum(), x, *more, create_graph=create_graph)
    for a, b in zip(expected if more else [expected], found if more else [found], strict=True):
        assert a.tolist() == b.tolist()
        assert b.requires_grad == create_graph
    assert T.is_grad_enabled()


def test_the_derivative_is_not_zero_in_inference_mode():
    """PyTorch's is: nothing is recorded there."""
    x = gradwright.tensor([1.0, 2.0])
    with gradwright.inference_mode():
        made = gradwright.tensor([3.0, 4.0])
        for given in (x, made):
            assert functional.jacobian(lambda x: x * x, given).diagonal().tolist() == (2 * given).tolist()
            assert functional.jvp(lambda x: x * x, given, given)[1].tolist() == (2 * given * given).tolist()
        assert gradwright.is_inference_mode_enabled()


# ---- differentiated again --------------------------------------------------------------------------------


@pytest.mark.parametrize("which", ["vjp", "jvp", "vhp", "hvp", "jacobian", "jacobian, vectorized", "hessian"])
@pytest.mark.parametrize("outside", [False, True], ids=["", "of what is computed of the input"])
def test_with_create_graph_they_are_differentiated_again(torch, which, outside):
    def program(T):
        x, v = t(T, (3,), 1, True), t(T, (3,), 2, True)
        F = T.autograd.functional
        at = x.cos() if outside else x
        vector, scalar = (lambda x: x**3 * x.sum()), (lambda x: (x**3).sum() * x[0])
        if which.startswith("jacobian"):
            found = F.jacobian(vector, at, create_graph=True, vectorize="," in which)
        elif which == "hessian":
            found = F.hessian(scalar, at, create_graph=True)
        else:
            found = getattr(F, which)(scalar if "h" in which else vector, at, v, create_graph=True)[1]
        first = T.autograd.grad((found * found).sum(), (x, v), create_graph=True, allow_unused=True)
        return first, T.autograd.grad(first[0].sum(), (x, v), allow_unused=True)

    outcome(gradwright, program).is_like(outcome(torch, program))


@pytest.mark.parametrize("which", ["vjp", "jvp", "vhp", "hvp"])
def test_gradcheck_agrees_to_second_order(which):
    x, v = t(gradwright, (2,), 1, True), t(gradwright, (2,), 2, True)
    f = (lambda x: x.exp() * x.sum()) if which in ("vjp", "jvp") else (lambda x: (x.exp() * x.sum()).sum())

    def product(x, v):
        return getattr(functional, which)(f, x, v, create_graph=True)

    assert gradwright.autograd.gradcheck(product, (x, v))
    assert gradwright.autograd.gradgradcheck(product, (x, v))


# ---- inside other transforms -----------------------------------------------------------------------------

INSIDE = {
    "vjp": lambda x, v, **more: functional.vjp(vector, x, v, **more)[1],
    "jvp": lambda x, v, **more: functional.jvp(vector, x, v, **more)[1],
    "vhp": lambda x, v, **more: functional.vhp(scalar, x, v, **more)[1],
    "hvp": lambda x, v, **more: functional.hvp(scalar, x, v, **more)[1],
    "jacobian": lambda x, v, **more: functional.jacobian(vector, x, **more),
    "hessian": lambda x, v, **more: functional.hessian(scalar, x, **more),
}


def vector(x):
    return x**3 * x.sum()


def scalar(x):
    return (x**3).sum() * (x * x).sum()


@pytest.mark.parametrize("stops", [False, True])
@pytest.mark.parametrize("name", INSIDE)
def test_forward_mode_over_them(name, stops):
    x, dx, v, dv = (t(gradwright, (3,), seed) for seed in range(4))
    with Tangents(stops=stops).running() as level:
        out = INSIDE[name](level.dual(x, dx), level.dual(v, dv), create_graph=True)
        found = level.unpack(out)[1].numpy()
    h = 1e-5
    above, below = (INSIDE[name](x + step * dx, v + step * dv).numpy() for step in (h, -h))
    np.testing.assert_allclose(found, (above - below) / (2 * h), rtol=1e-7)


@pytest.mark.filterwarnings("ignore:.*differentiated by a transform outside")
@pytest.mark.parametrize("name", INSIDE)
def test_without_create_graph_forward_mode_sees_constants_as_reverse_mode_does(name):
    x, v = t(gradwright, (3,), 1), t(gradwright, (3,), 2)
    with Tangents().running() as level:
        assert level.unpack(INSIDE[name](level.dual(x, v), level.dual(v, x)))[1] is None


@pytest.mark.filterwarnings("ignore:vmap. there is no batching rule:gradwright.GradientWarning")
@pytest.mark.parametrize("name", INSIDE)
def test_vmap_over_them(name):
    xs, vs = t(gradwright, (4, 3), 1), t(gradwright, (4, 3), 2)
    found = vmap(INSIDE[name])(xs, vs)
    expected = np.stack([INSIDE[name](x, v).numpy() for x, v in zip(xs, vs, strict=True)])
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-14)


# ---- complex numbers -------------------------------------------------------------------------------------

COMPLEX = {
    "holomorphic": lambda T: lambda z: z * z * 2j + z.sum(),
    "to real": lambda T: lambda z: z.abs(),
    "conjugated": lambda T: lambda z: z.conj() * z.real,
    "a real number": lambda T: lambda z: (z * z.conj()).real.sum(),
}


@pytest.mark.parametrize("which", ["vjp", "jvp", "jacobian", "vectorized", "forward", "vhp", "hvp", "hessian"])
@pytest.mark.parametrize("name", COMPLEX)
def test_complex_numbers_are_pytorchs(torch, name, which):
    def program(T):
        z, v = t(T, (3,), 1, dtype="complex128"), t(T, (3,), 2, dtype="complex128")
        F, f = T.autograd.functional, COMPLEX[name](T)
        if which == "vectorized":
            return F.jacobian(f, z, vectorize=True)
        if which == "forward" and T is gradwright:
            return F.jacobian(f, z, vectorize=True, strategy="forward-mode")
        if which == "forward":  # where PyTorch has an INTERNAL ASSERT FAILED for conj
            return T.stack([F.jvp(f, z, e)[1] for e in T.eye(3, dtype=T.complex128)], -1)
        if which in ("jacobian", "hessian"):
            return getattr(F, which)(f, z)
        if which == "vjp":
            out = f(z)
            v = t(T, tuple(out.shape), 3, dtype="complex128" if out.is_complex() else "float64")
        return getattr(F, which)(f, z, v)

    outcome(gradwright, program).is_like(outcome(torch, program))


def test_a_real_function_of_real_numbers_by_way_of_complex_ones(torch):
    def program(T):
        x = t(T, (4,), 1)
        f = lambda x: T.fft.fft(x).abs() ** 2
        F = T.autograd.functional
        return F.jacobian(f, x), F.jacobian(f, x, vectorize=True, strategy="forward-mode"), F.jvp(f, x, x)

    outcome(gradwright, program).is_like(outcome(torch, program))


# ---- however the function is written ---------------------------------------------------------------------


def in_place(T, x):
    y = x.exp()
    y[0] = y[1] * x[2]
    return y * x


def by_a_view(T, x):
    y = x.clone()
    y[1:].sin_()
    return y * x


def in_part_unrecorded(T, x):
    with T.no_grad():
        total = x.sum()
    return x * total * x.detach()


def from_a_checkpoint(T, x):
    checkpoint = importlib.import_module(f"{T.__name__}.utils.checkpoint").checkpoint
    return checkpoint(lambda x: (x * x).sin(), x, use_reentrant=False)


def by_its_shape(T, x):
    return x.view(1, 3).t().expand(3, 2).reshape(-1)


def at_places(T, x):
    return x[T.tensor([2, 0, 2])] * T.where(x > 1, x * x, x.exp())


def in_order(T, x):
    return T.cat([T.sort(x)[0], T.max(x, 0, keepdim=True)[0]]).cumsum(0)


def at_a_pole(T, x):
    return T.sqrt(x - x[0])


def into_its_input(T, x):
    return x.mul_(2)


WAYS = (in_place, by_a_view, in_part_unrecorded, from_a_checkpoint, by_its_shape, at_places, in_order, at_a_pole,
        into_its_input)  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_however_a_function_is_written(torch, way):
    def run(call):
        def program(T):
            x, v = t(T, (3,), 1), t(T, (3,), 2)
            return call(T, T.autograd.functional, functools.partial(way, T), x, v)

        outcome(gradwright, program).is_like(outcome(torch, program))

    run(lambda T, F, f, x, v: F.jacobian(f, x))
    run(lambda T, F, f, x, v: F.jacobian(f, x, vectorize=True))
    run(lambda T, F, f, x, v: F.jvp(f, x, v))
    run(lambda T, F, f, x, v: F.vjp(f, x, f(x.clone())))
    run(lambda T, F, f, x, v: F.hvp(lambda x: (f(x) ** 2).sum(), x, v))
    run(lambda T, F, f, x, v: F.hessian(lambda x: (f(x) ** 2).sum(), x))


# ---- dtypes, shapes --------------------------------------------------------------------------------------


@pytest.mark.parametrize("forward", [False, True])
def test_the_dtype_is_that_of_the_input_and_forwards_of_the_output(torch, forward):
    def program(T):
        x, y = t(T, (2,), 1, dtype="float32"), t(T, (2,), 2)
        more = {"vectorize": True, "strategy": "forward-mode"} if forward else {}
        return T.autograd.functional.jacobian(lambda x, y: ((x * y).float(), x * 2, x.double() * y), (x, y), **more)

    outcome(gradwright, program).is_like(outcome(torch, program))


@settings(max_examples=40)
@given(st.lists(st.integers(1, 3), max_size=3), st.lists(st.integers(1, 3), max_size=2), st.data())
def test_all_ways_agree_whatever_the_shapes(shape, other, data):
    """The Jacobian by rows and by columns, and vjp and jvp with it, of a function from any shapes to any shapes."""
    x, y = t(gradwright, tuple(shape), 1), t(gradwright, tuple(other), 2)
    ndim = data.draw(st.integers(0, len(shape)))

    def f(x, y):
        return (x * x.sum()).sin().sum(dim=tuple(range(ndim))) if ndim else x * y.sum(), y.exp() * x.sum()

    rows = functional.jacobian(f, (x, y))
    columns = functional.jacobian(f, (x, y), vectorize=True, strategy="forward-mode")
    v, w = t(gradwright, tuple(shape), 3), t(gradwright, tuple(other), 4)
    outs, moved = functional.jvp(f, (x, y), (v, w))
    us = tuple(t(gradwright, tuple(out.shape), 5 + i) for i, out in enumerate(outs))
    _, pulled = functional.vjp(f, (x, y), us)
    for i, out in enumerate(outs):
        assert [tuple(j.shape) for j in rows[i]] == [tuple(out.shape) + tuple(z.shape) for z in (x, y)]
        for a, b in zip(rows[i], columns[i], strict=True):
            np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-12, atol=1e-12)
        expected = sum(np.tensordot(j.numpy(), z.numpy(), z.ndim) for j, z in zip(rows[i], (v, w), strict=True))
        np.testing.assert_allclose(moved[i].numpy(), expected, rtol=1e-10, atol=1e-10)
    for k, z in enumerate((x, y)):
        expected = sum(np.tensordot(u.numpy(), rows[i][k].numpy(), u.ndim) for i, u in enumerate(us))
        np.testing.assert_allclose(pulled[k].numpy(), np.reshape(expected, z.shape), rtol=1e-10, atol=1e-10)


def test_hessians_agree_with_their_products_and_with_a_formula():
    x, v = t(gradwright, (4,), 1), t(gradwright, (4,), 2)

    def f(x):
        return (x**3).sum() + x[0] * x[1]

    expected = np.diag(6 * x.numpy())
    expected[0, 1] = expected[1, 0] = 1
    for how in ("reverse-mode", "forward-mode"):
        found = functional.hessian(f, x, vectorize=True, outer_jacobian_strategy=how)
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-14)
    for product in (functional.hvp, functional.vhp):
        np.testing.assert_allclose(product(f, x, v)[1].numpy(), expected @ v.numpy(), rtol=1e-13)


@pytest.mark.parametrize("more", [{}, {"vectorize": True}, {"vectorize": True, "strategy": "forward-mode"}], ids=str)
def test_without_entries_a_jacobian_has_none(more):
    """PyTorch has an error for the first two."""
    x = t(gradwright, (3,), 1)
    assert tuple(functional.jacobian(lambda x: x[:0] * 2, x, **more).shape) == (0, 3)
    assert tuple(functional.jacobian(lambda x: x * 2, x[:0], **more).shape) == (0, 0)
    assert tuple(functional.jacobian(lambda x, y: x + y.sum(), (x, x[:0]), **more)[1].shape) == (3, 0)


@pytest.mark.parametrize("device", ["array-api-strict", "array-api-strict:1"])
def test_over_another_library_all_stays_where_it_is(device):
    x = gradwright.tensor([1.0, 2.0, 3.0], dtype=gradwright.float64, device=device)

    def cubes(x):
        return (x**3).sum() * x[0]

    cpu = x.cpu()
    for which in ("jacobian", "hessian"):
        for more in ({}, {"vectorize": True}):
            found = getattr(functional, which)(cubes, x, **more)
            assert found.device == x.device
            assert found.tolist() == getattr(functional, which)(cubes, cpu).tolist()
    columns = functional.jacobian(lambda x: (x * x, x.long()), x, vectorize=True, strategy="forward-mode")
    assert [j.device for j in columns] == [x.device] * 2
    assert columns[0].tolist() == [[2, 0, 0], [0, 4, 0], [0, 0, 6]]
    for which in ("hvp", "vhp", "jvp"):
        found = getattr(functional, which)(cubes, x, x)[1]
        assert found.device == x.device
        assert found.tolist() == getattr(functional, which)(cubes, cpu, cpu)[1].tolist()


def test_the_arguments_are_left_alone():
    x = t(gradwright, (3,), 1)
    y = t(gradwright, (3,), 2, True)
    functional.jacobian(lambda x, y: x * y, (x, y), create_graph=True)
    functional.hvp(lambda x, y: (x * y).sum(), (x, y), (x, y))
    assert not x.requires_grad
    assert y.requires_grad
    assert y.grad is None


def test_a_function_that_keeps_no_derivative_of_its_derivative_is_refused():
    class Twice(gradwright.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        @gradwright.autograd.once_differentiable
        def backward(ctx, g):
            return g * 2

    x = gradwright.tensor([1.0, 2.0])
    assert functional.jacobian(Twice.apply, x).tolist() == [[2, 0], [0, 2]]
    with pytest.raises(RuntimeError, match="once_differentiable"):
        functional.jvp(Twice.apply, x, x)


# ---- bad input -------------------------------------------------------------------------------------------

BAD = {
    "inputs in a list": lambda T, F, x: F.vjp(lambda x: x, [x]),
    "an input that is none": lambda T, F, x: F.jvp(lambda x, y: x, (x, 2), (x, x)),
    "an input of jacobian that is none": lambda T, F, x: F.jacobian(lambda x, y: x, (x, 2)),
    "an input of hessian that is none": lambda T, F, x: F.hessian(lambda x, y: x, (x, 2)),
    "outputs in a list": lambda T, F, x: F.vjp(lambda x: [x], x),
    "an output that is none": lambda T, F, x: F.jacobian(lambda x: (x, "x"), x),
    "an output of hessian that is none": lambda T, F, x: F.hessian(lambda x: (x, "x"), x),
    "an output of hvp that is none": lambda T, F, x: F.hvp(lambda x: 1.0, x, x),
    "no v for several entries": lambda T, F, x: F.vjp(lambda x: x * x, x),
    "no v for several outputs": lambda T, F, x: F.vjp(lambda x: (x.sum(), x.sum()), x),
    "no v for several entries of the input": lambda T, F, x: F.jvp(lambda x: x * x, x),
    "no v for several inputs": lambda T, F, x: F.hvp(lambda x, y: (x * y).sum(), (x, x)),
    "too many v": lambda T, F, x: F.vjp(lambda x: x, x, (x, x)),
    "too few v": lambda T, F, x: F.jvp(lambda x, y: x * y, (x, x), x),
    "a v of another size": lambda T, F, x: F.vjp(lambda x: x, x, x[:2]),
    "one of the v of another size": lambda T, F, x: F.vhp(lambda x, y: (x * y).sum(), (x, x), (x, x[:2])),
    "a v that is none": lambda T, F, x: F.vhp(lambda x: x.sum(), x, (x, 2)),
    "another strategy": lambda T, F, x: F.jacobian(lambda x: x, x, strategy="sideways"),
    "another strategy for hessian": lambda T, F, x: F.hessian(lambda x: x.sum(), x, outer_jacobian_strategy="x"),
    "integers": lambda T, F, x: F.vjp(lambda x: x, T.tensor([1, 2]), T.tensor([1, 2])),
    "integers of which there is no tangent": lambda T, F, x: F.jvp(lambda x: x.long(), x, x),
    "a graph that is gone": lambda T, F, x: F.vjp(lambda y: y * x, x, x)[1].backward(x),
}


@pytest.mark.parametrize("name", BAD)
def test_errors_are_pytorchs(torch, name):
    def program(T):
        return BAD[name](T, T.autograd.functional, t(T, (3,), 1))

    outcome(gradwright, program).is_like(outcome(torch, program))


def test_an_input_of_integers_is_named():
    x = gradwright.tensor([1.0])
    with pytest.raises(RuntimeError, match=r"jacobian: inputs\[1\] has torch.int64, but only Tensors of floating"):
        functional.jacobian(lambda x, y: x * y, (x, x.long()))
    with pytest.raises(RuntimeError, match="inputs is an empty tuple"):
        functional.vjp(lambda: x, ())
    with pytest.raises(RuntimeError, match=r"output 0 is complex .*view_as_real"):
        functional.jacobian(lambda x: x * 1j, x)


def test_what_function_raises_comes_through_and_leaves_the_mode_alone():
    def wrong(x):
        raise KeyError("mine")

    for which in ("vjp", "jvp", "vhp", "hvp", "jacobian", "hessian"):
        with gradwright.no_grad():
            with pytest.raises(KeyError, match="mine"):
                getattr(functional, which)(wrong, gradwright.tensor(1.0))
            assert not gradwright.is_grad_enabled()


# ---- what is given, read and checked ----------------------------------------------------------------------


def test_inputs_with_a_history_keep_it_if_that_is_wanted():
    x = gradwright.ones(2, requires_grad=True)
    y = gradwright.ones(2)
    many, (held, fresh) = inputs_of((x * 2, y), "f", True)
    assert many
    assert held.grad_fn is not None
    assert fresh.is_leaf
    assert fresh.requires_grad
    many, (cut,) = inputs_of(x * 2, "f", False)
    assert not many
    assert cut.is_leaf
    assert not y.requires_grad


def test_an_inference_tensor_may_be_differentiated_by():
    with gradwright.inference_mode():
        x = gradwright.ones(2)
    _, (held,) = inputs_of(x, "f", False)
    assert held.requires_grad
    assert not held.is_inference()


def test_vectors_fit():
    x = gradwright.ones(2, 3)
    assert tangent(None, (gradwright.ones(1, 1),), False, "f", False) is None
    assert len(vector_of((x, x), (x, x), True, "f", False)) == 2
    with pytest.raises(RuntimeError, match=r"Entry 1 in v has invalid size: should be .*\[2, 3\]\) but got .*\[3\]\)"):
        vector_of((x, x[0]), (x, x), True, "f", False)
    with pytest.raises(RuntimeError, match="v is a tuple of invalid length: should be 2 but got 1"):
        vector_of(x, (x, x), True, "f", False)


def test_what_is_missing_is_zeros_of_that_dtype():
    x = gradwright.ones(2, dtype=gradwright.float64)
    (found,) = filled((None,), (x,), False, True, "back")
    assert (found.dtype, found.tolist()) == (gradwright.float64, [0, 0])


@pytest.mark.parametrize(("stage", "words"), [
    ("back", "The output of the user-provided function is independent of input 0"),
    ("back_trick", "entry 0 in the grad_outputs"),
    ("double_back", "The jacobian of the user-provided function is independent of input 0"),
    ("double_back_trick", "entry 0 in the grad_jacobian"),
])  # fmt: skip
def test_strict_says_what_is_missing(stage, words):
    x = gradwright.ones(2)
    with pytest.raises(RuntimeError, match=words):
        filled((None,), (x,), True, False, stage)
    what = "hessian" if "double" in stage else "jacobian"
    with pytest.raises(RuntimeError, match=f"The {what} of .* independent of input 0.* when create_graph=True"):
        filled((x,), (x,), True, True, stage)


@pytest.mark.parametrize("name", ["jacobian", "vjp", "jvp", "hvp", "vhp"])
@pytest.mark.parametrize("outer", ["grad", "grad of a part", "jvp"])
def test_in_a_transform_a_result_without_history_is_told_of(name, outer):
    x = gradwright.tensor([1.0, 2.0])

    def inner(x, **asked):
        v = [] if name in ("jacobian", "vjp") else [gradwright.ones(2)]
        found = getattr(functional, name)(lambda y: (y**3).sum(), x, *v, **asked)
        return (found if name == "jacobian" else found[1]).sum()

    def run(f):
        if outer == "jvp":
            return gradwright.func.jvp(f, (x,), (gradwright.ones(2),))[1]
        return gradwright.func.grad((lambda x: f(x * 1.0)) if outer == "grad of a part" else f)(x).sum()

    with pytest.warns(GradientWarning, match="create_graph=True"):
        assert run(inner).item() == 0
    assert run(lambda x: inner(x, create_graph=True)).item() == (12.0 if name in ("hvp", "vhp") else 18.0)
    assert run(lambda x: inner(x.detach())).item() == 0  # as is meant
