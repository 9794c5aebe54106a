"""Running operations: what is recorded, for which arguments, and what a failed formula says."""

from itertools import product

import numpy as np
import pytest

import gradwright
from gradwright import op
from gradwright.engine.apply import apply, binary, unary
from gradwright.ops import arithmetic, elementary, linalg

# ---- what is recorded ------------------------------------------------------------------------------------


@op(kind="elementwise")
def halve(xp, x):
    """x / 2."""
    return x / 2


halve.vjp(x=lambda xp, g: g / 2)


@op(kind="elementwise")
def plus(xp, x, y):
    """X + y."""
    return x + y


plus.vjp(x=lambda xp, g: g, y=lambda xp, g: g)


@op(kind="general", several=True)
def ends(xp, x):
    """The first and the last entry."""
    return [x[0], x[-1]]


def _ends_slope(xp, g, x_shape):
    return xp.concat([xp.reshape(g[0], (1,)), xp.zeros_like(g[0], shape=(x_shape[0] - 2,)), xp.reshape(g[1], (1,))])


ends.vjp(x=_ends_slope)


@pytest.fixture
def x():
    return gradwright.tensor([1.0, 2.0, 3.0], dtype=gradwright.float64, requires_grad=True)


def test_a_users_operation_is_like_a_built_in_one(x):
    y = halve(plus(x, x))
    assert type(y.grad_fn).__name__ == "HalveBackward0"
    y.sum().backward()
    assert x.grad.tolist() == [1, 1, 1]
    assert gradwright.autograd.gradcheck(lambda x: halve(plus(x, x)), x)
    assert gradwright.autograd.gradgradcheck(lambda x: halve(plus(x, x)), x)


def test_it_runs_on_bare_arrays_too():
    assert halve(np.array([2.0, 4.0])).tolist() == [1, 2]


def test_several_outputs(x):
    a, b = ends(x)
    assert (a.output_nr, b.output_nr) == (0, 1)
    (g,) = gradwright.autograd.grad(a * b, x, create_graph=True)
    assert g.tolist() == [3, 0, 1]
    assert gradwright.autograd.grad(g[0], x)[0].tolist() == [0, 0, 1]
    (alone,) = gradwright.autograd.grad(ends(x)[1], x)
    assert alone.tolist() == [0, 0, 1]


def test_the_quick_callables():
    x = gradwright.ones(2, requires_grad=True)
    half = unary(halve)
    both = binary(plus, lambda x, y: NotImplemented)
    assert half.__name__ == "halve"
    assert half.__doc__ == halve.__doc__
    assert both(half(x), 1.0).tolist() == [1.5, 1.5]
    assert both(x, "text") is NotImplemented
    assert both(x, gradwright.ones(2, dtype=gradwright.float64)) is NotImplemented
    both(half(x), x).sum().backward()
    assert x.grad.tolist() == [1.5, 1.5]


@pytest.mark.parametrize("needs", [(True, True), (True, False), (False, True), (False, False)])
@pytest.mark.parametrize("shapes", [((2, 3), (2, 3)), ((2, 3), (3,)), ((1, 3), (2, 1)), ((), (2, 3)), ((2, 0), (1,))])
def test_each_combination_of_needs_and_shapes(T, needs, shapes):
    generator = np.random.default_rng(0)
    x, y = (T.tensor(generator.standard_normal(s)).requires_grad_(n) for s, n in zip(shapes, needs, strict=True))
    z = x * y
    assert z.requires_grad == any(needs)
    if any(needs):
        z.backward(T.ones(z.shape, dtype=T.float64))
    for t, other, n in ((x, y, needs[0]), (y, x, needs[1])):
        assert (t.grad is not None) == n
        if n:
            full = np.broadcast_to(other.detach().numpy(), z.shape)
            lead = full.ndim - t.ndim
            axes = tuple(k for k in range(full.ndim) if k < lead or (t.shape[k - lead] == 1 != full.shape[k]))
            np.testing.assert_allclose(t.grad.numpy(), full.sum(axes).reshape(tuple(t.shape)), rtol=1e-14)


# ---- numbers ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [0, 0.0, -0.0, 1, -3, 2.5, 1e-300, float("inf"), True])
def test_numbers_beside_tensors(T, number):
    x = T.tensor([1.0, -2.0], dtype=T.float64, requires_grad=True)
    for y in (x * number, number * x):
        (g,) = T.autograd.grad(y.sum(), x)
        assert y.tolist() == [1.0 * number, -2.0 * number]
        assert g.tolist() == [number, number]


def test_the_sign_of_zero(T):
    x = T.tensor([1.0, -1.0])
    assert str((x * 0.0).tolist()) == "[0.0, -0.0]"
    assert str((x * -0.0).tolist()) == "[-0.0, 0.0]"
    assert np.isnan((x * float("nan")).tolist()).all()


def test_numbers_are_not_changed_by_what_is_done_with_them():
    x = gradwright.ones(2)
    before = (x * 3.0).tolist()
    y = gradwright.ones(()) * 3.0
    y.add_(5)
    constant = (gradwright.ones(2, requires_grad=True) * 3.0).grad_fn._saved_other
    with pytest.raises(RuntimeError, match="read-only"):
        constant.add_(1)
    assert (x * 3.0).tolist() == before


def test_many_numbers():
    x = gradwright.ones(1)
    assert sum((x * k).item() for k in range(3000)) == sum(range(3000))
    assert [(x * k).item() for k in (7, 2999, 7)] == [7, 2999, 7]


def test_numbers_that_do_not_fit():
    with pytest.raises(OverflowError, match=r"multiply\(\): a number does not fit torch.float32"):
        gradwright.ones(2) * 10**400


def test_numpy_operands(x):
    for y in (x * np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 3.0]) * x, x * np.float64(2), np.float64(2) * x):
        assert type(y) is gradwright.Tensor
        assert y.requires_grad


# ---- errors ----------------------------------------------------------------------------------------------


def test_shapes_that_do_not_broadcast(T):
    message = r"The size of tensor a \(3\) must match the size of tensor b \(4\) at non-singleton dimension 1"
    for call in (lambda a, b: a + b, lambda a, b: a * b, T.maximum, lambda a, b: a.add(b), lambda a, b: a > b):
        with pytest.raises(RuntimeError, match=message):
            call(T.ones(2, 3), T.ones(2, 4))
    with pytest.raises(RuntimeError, match=r"tensor a \(2\) must match .* tensor b \(5\) at non-singleton dimension 0"):
        T.ones(2, 3) + T.ones(5, 1)


def test_the_error_names_the_operation_and_its_arguments():
    with pytest.raises(RuntimeError, match=r"multiply\(\) got shapes \[2, 3\] and \[4\], which do not broadcast"):
        gradwright.ones(2, 3) * gradwright.ones(4)
    with pytest.raises(RuntimeError, match=r"tensordot|matmul\(\): .*float32 \[2, 3\], float32 \[2, 3\]"):
        apply(linalg.matmul, [gradwright.ones(2, 3)] * 2, {})


@op(kind="elementwise")
def total(xp, *xs):
    """The sum of the arrays."""
    return xp.asarray(sum(xs[1:], xs[0]))


total.vjp(xs=lambda xp, g, i: g)


@op(kind="linear")
def joined(xp, *xs, axis):
    """The arrays end to end."""
    return xp.concat(xs, axis=axis)


joined.vjp(xs=lambda xp, g, xs, i, axis: g[i : i + 1] * len(xs))


def test_any_number_of_tensors(x):
    row, plain = x.reshape(1, 3), gradwright.ones(1, 3, dtype=gradwright.float64)
    y = apply(joined, (row, plain, row), {"axis": 0})
    assert y.grad_fn._edge_mask == (True, False, True)
    (y * gradwright.tensor([[1.0], [2.0], [4.0]], dtype=gradwright.float64)).sum().backward()
    assert x.grad.tolist() == [15, 15, 15]
    with gradwright.no_grad():
        assert apply(joined, (row, plain), {"axis": 0}).grad_fn is None
    assert apply(joined, (plain, plain), {"axis": 1}).grad_fn is None
    z = x * 1
    y = apply(joined, (z.reshape(1, 3), plain), {"axis": 0})
    z.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()
    seen = []
    with gradwright.autograd.graph.saved_tensors_hooks(seen.append, lambda t: t):
        apply(joined, (row, plain), {"axis": 0})
    assert len(seen) == 2


def test_of_any_number_each_is_read_anew(x):
    base = gradwright.ones(2, 3, dtype=gradwright.float64)
    views = [base[:1], base[1:]]
    base.mul_(x)
    apply(joined, views, {"axis": 0}).sum().backward()
    assert x.grad.tolist() == [4, 4, 4]


@op(kind="general", several=True)
def turned(xp, *xs):
    """The arrays in reverse order."""
    return [x * 1 for x in xs[::-1]]


turned.vjp(xs=lambda xp, g, xs, i: g[len(xs) - 1 - i])


@op(kind="general")
def last(xp, *xs):
    """The last array, doubled."""
    return xs[-1] + xs[-1]


def test_of_any_number_as_many(x):
    a, b = apply(turned, (x, x * 2), {})
    assert (a.tolist(), b.tolist()) == ([2, 4, 6], [1, 2, 3])
    a.sum().backward()
    assert x.grad.tolist() == [2, 2, 2]
    for refuses in (turned, total, last):
        with pytest.raises(NotImplementedError, match=rf"^{refuses.name}\(\): not implemented for complex"):
            apply(refuses, (gradwright.ones(2, dtype=gradwright.complex64),), {})


def test_any_number_entry_by_entry(x):
    y = total(x, x * 2, gradwright.ones(3, dtype=gradwright.float64))
    assert y.tolist() == [4, 7, 10]
    y.sum().backward()
    assert x.grad.tolist() == [3, 3, 3]


def test_what_of_any_number_does_not_fit(x):
    for wrong, error in (((x, 1.0), TypeError), ((), RuntimeError), ((x, x.reshape(1, 3)), RuntimeError)):
        with pytest.raises(error, match=r"^joined"):
            apply(joined, wrong, {"axis": 0})
    for dtypes in (("int64", "int64"), ("bool", "bool"), ("float16", "float16"), ("int64", "float32")):
        a, b = (gradwright.ones(2, dtype=getattr(gradwright, d)) for d in dtypes)
        assert apply(joined, (a, b), {"axis": 0}).tolist() == [1] * 4


@op(kind="view")
def first(xp, x, *, n, step=1):
    """The first ``n`` entries."""
    return x[:n:step]


first.vjp(x=lambda xp, g, out, x_shape: xp.concat([g * out, xp.zeros_like(g, shape=(x_shape[0] - g.shape[0],))]))


def test_static_arguments_by_name(x):
    assert first(x, n=2).tolist() == first(x, step=1, n=2).tolist() == [1, 2]
    assert first(x, n=3, step=2).tolist() == [1, 3]
    assert apply(first, (x,), {"n": 2}).tolist() == [1, 2]
    for wrong in ({"m": 2}, {"n": 2, "m": 2}, {"step": 1, "m": 2}, {"step": 2, "n": 2, "m": 2}):
        with pytest.raises(RuntimeError, match=r"^first.*unexpected .* 'm'"):
            apply(first, (x,), wrong)
    for wrong, says in (({}, "missing .* 'n'"), ({"n": 1, "step": "a"}, "slice indices must be integers")):
        with pytest.raises(RuntimeError, match=rf"^first.*{says}"):
            apply(first, (x,), wrong)


@pytest.mark.parametrize("dtype", [gradwright.float32, gradwright.complex64])  # by the quick way and by the general one
def test_a_view_that_is_saved_is_at_the_version_of_its_base(dtype):
    base = gradwright.ones(3, dtype=dtype, requires_grad=True) * 1
    y = first(base, n=2).sum()
    with gradwright.no_grad():
        base.mul_(10)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward(gradwright.ones((), dtype=dtype))


def test_what_is_no_tensor():
    with pytest.raises(TypeError, match=r"exp\(\): argument 'input' must be Tensor, not list"):
        gradwright.exp([1.0])
    with pytest.raises(TypeError, match=r"add\(\): expected a Tensor, but got float"):
        apply(arithmetic.add, (gradwright.ones(2), 1.0), {})
    with pytest.raises(TypeError, match=r"exp\(\): expected a Tensor, but got str"):
        apply(elementary.exp, ("x",), {})
    with pytest.raises(TypeError, match="unsupported operand"):
        gradwright.ones(2) + "x"


def test_a_failed_operation_leaves_no_trace(x):
    before = (x._version, x._node, x.grad)
    for call in (lambda: x + gradwright.ones(7), lambda: x.view(5), lambda: x @ gradwright.ones(7), lambda: x[9]):
        with pytest.raises((RuntimeError, IndexError)):
            call()
    assert (x._version, x._node, x.grad) == before


F = {
    "softmax": lambda T, x: x.softmax(1),
    "log_softmax": lambda T, x: x.log_softmax(0),
    "cumsum": lambda T, x: x.cumsum(1),
    "cumprod": lambda T, x: x.cumprod(0),
    "tril": lambda T, x: x.tril(),
    "matmul": lambda T, x: x.matmul(x.mT),
    "roll": lambda T, x: x.roll(1, 0),
    "masked_fill": lambda T, x: x.masked_fill(x > 0.5, 0.0),
    "layer_norm": lambda T, x: T.nn.functional.layer_norm(x, (3,)),
    "rms_norm": lambda T, x: T.nn.functional.rms_norm(x, (3,)),
    "batch_norm": lambda T, x: T.nn.functional.batch_norm(x, None, None, training=True),
    "instance_norm": lambda T, x: T.nn.functional.instance_norm(x),
    "avg_pool": lambda T, x: T.nn.functional.avg_pool1d(x, 2),
    "interpolate": lambda T, x: T.nn.functional.interpolate(x, scale_factor=2.0),
    "einsum": lambda T, x: T.einsum("ij,jk->ki", x[:, 0], T.ones(3, 2, dtype=x.dtype)),
    **{name: lambda T, x, name=name: getattr(x, name)(1) for name in (
        "sum", "mean", "prod", "amax", "amin", "std", "var", "logsumexp", "all", "any", "argmax", "nansum",
        "count_nonzero",
    )},
    "norm": lambda T, x: x.norm(dim=1),
    "sum of two": lambda T, x: x[None].sum((0, 2)),
}  # fmt: skip


@pytest.mark.parametrize("name", F)
def test_results_that_pytorch_lays_row_by_row_can_be_viewed(T, name):
    """Whatever the memory of their inputs: programs call view() on them."""
    for dtype, needs in product([T.float64, T.float32, T.bfloat16], [False, True]):
        x = (T.arange(24.0).reshape(2, 3, 4).permute(2, 0, 1).to(dtype) / 24).requires_grad_(needs)
        y = F[name](T, x)
        assert y.is_contiguous(), (dtype, needs)
        assert y.view(-1).tolist() == y.flatten().tolist()
