"""What may be done to tensors that stand for a batch, and what not. Row 28 of the pain points."""

import re

import numpy as np
import pytest

import gradwright as gw
from gradwright import func, vmap
from gradwright.errors import GradientWarning

LINE = r"test_batch\.py:\d+"


@pytest.fixture
def x():
    return gw.arange(6.0).reshape(3, 2)


def test_writing_to_what_is_mapped_writes_to_the_input(x):
    before = x.clone()
    out = vmap(gw.Tensor.sin_)(x)
    assert (x == before.sin()).all()
    assert (out == x).all()
    assert vmap(lambda x: x[0].add_(1).sum())(x).tolist() == (before.sin()[:, 0] + 1).tolist()
    assert (x[:, 0] == before.sin()[:, 0] + 1).all()


def test_what_is_made_inside_is_written_to(x):
    def f(x):
        z = gw.zeros(3, 2)
        for k in range(3):
            z[k] = x * k
        z[1].mul_(x)
        z += x
        return z

    assert (vmap(f)(x) == gw.stack([f(y) for y in x])).all()


def test_writes_keep_the_history(x):
    def f(x, w):
        z = gw.zeros(2, dtype=w.dtype)
        z += w * x
        z[0] *= x[1]
        z.exp_()
        return z.sum()

    def slopes(map_it):
        w = gw.ones(2, dtype=gw.float64, requires_grad=True)
        each = vmap(f, in_dims=(0, None))(x, w) if map_it else gw.stack([f(y, w) for y in x])
        return gw.autograd.grad(each.sum(), w)[0]

    x = x.double() / 10
    assert np.allclose(slopes(True), slopes(False), rtol=1e-14)

    def inside(x, w):
        w = w.detach().requires_grad_()
        return gw.autograd.grad(f(x, w), w)[0]

    w = gw.ones(2, dtype=gw.float64)
    assert np.allclose(vmap(inside, in_dims=(0, None))(x, w), gw.stack([inside(y, w) for y in x]), rtol=1e-14)


@pytest.mark.parametrize("write", [
    lambda z, x: z.add_(x), lambda z, x: z[:1].copy_(x[1:]), lambda z, x: z.__setitem__(x[0].long() * 0, x[1]),
    lambda z, x: z.t().mul_(x), lambda z, x: z.masked_fill_(x > 2, 1.0),
])  # fmt: skip
def test_what_lives_outside_cannot_hold_a_batch_and_stays_as_it_was(write, x):
    z = gw.zeros(2)
    view = z[1:]

    def f(x):
        write(z, x)
        return z * 2

    with pytest.raises(RuntimeError, match=f"lives on after the function has values written to it.*{LINE}"):
        vmap(f)(x)
    assert z.tolist() == [0.0, 0.0]
    assert view.tolist() == [0.0]
    z += 1
    assert view.tolist() == [1.0]


def test_it_stays_as_it_was_when_the_function_fails(x):
    z = gw.zeros(2)

    def f(x):
        z.add_(x)
        raise ValueError("stop")

    with pytest.raises(ValueError, match="stop"):
        vmap(f)(x)
    assert z.tolist() == [0.0, 0.0]


def test_what_is_the_same_for_all_may_be_written_to(x):
    count = gw.zeros(())
    vmap(lambda x: (count.add_(1), x)[1])(x)
    assert count.item() == 1


@pytest.mark.parametrize("ask", [
    lambda x: x.item(), float, int, bool, complex, lambda x: [0, 1][x.long()], lambda x: x.numpy(), np.asarray,
    lambda x: x.tolist(), lambda x: range(x.long()), lambda x: 1 if x > 0 else 2, lambda x: gw.zeros(x.long()),
    lambda x: x.is_nonzero(), lambda x: 0.0 in x, lambda x: gw.equal(x, x + 1), lambda x: gw.arange(x),
    lambda x: f"{x.item():.1f}", lambda x: gw.full((2,), float(x)), lambda x: gw.eye(2)[: x.long()],
])  # fmt: skip
def test_numbers_are_refused_with_the_line(ask, x):
    with pytest.raises(RuntimeError, match=f"vmap: .* stands for a whole batch .*{LINE}"):
        vmap(lambda x: gw.as_tensor(ask(x.sum())))(x)


def test_what_has_one_answer_for_all_examples_is_told(x):
    def f(x):
        assert x.shape == (2,)
        assert (len(x), x.ndim, x.numel(), x.dtype, str(x.device)) == (2, 1, 2, gw.float32, "cpu")
        assert not x.requires_grad
        first, second = x
        return first * second + sum(y for y in x)

    assert vmap(f)(x).tolist() == [f(y).item() for y in x]


def test_a_tensor_of_a_vmap_that_has_ended_says_so(x):
    kept = []
    vmap(lambda x: (kept.append(x * 2), x)[1])(x)
    with pytest.raises(
        RuntimeError, match="was made inside a function that vmap maps, and is used after that has ende"
    ):
        kept[0] + 1
    assert "BatchedTensor" in repr(kept[0].array)


def test_batch_norm_whose_buffers_are_the_same_for_all():
    net, x = gw.nn.BatchNorm1d(3), gw.randn(4, 5, 3)
    with pytest.raises(
        RuntimeError, match="Batch norm got a batched tensor as input while the running_mean or running_v"
    ):
        vmap(net)(x)
    assert net.running_mean.tolist() == [0.0] * 3
    mean, var = gw.zeros(4, 3), gw.ones(4, 3)
    norm = lambda x, mean, var: gw.nn.functional.batch_norm(x, mean, var, training=True)
    out = vmap(norm)(x, mean, var)
    for k in range(4):
        own = gw.nn.BatchNorm1d(3)
        assert gw.allclose(out[k], own(x[k]), atol=1e-6)
        assert gw.allclose(mean[k], own.running_mean)
        assert gw.allclose(var[k], own.running_var)
    assert gw.allclose(vmap(net.eval())(x), gw.stack([net(y) for y in x]))


def test_a_batch_prints_what_it_is_made_of(x):
    shown = []

    def f(x):
        shown.append(repr(x[0]))
        return gw.func.jvp(lambda x: (shown.append(repr(x[0])), x)[1], (x,), (x * 2,))[1]

    vmap(f)(x)
    batch, dual = [re.sub(r"lvl=\d+", "lvl=0", text) for text in shown]
    assert batch == "BatchedTensor(lvl=0, bdim=0, value=tensor([0., 2., 4.]))"
    assert dual == f"Dual({batch}, tangent={batch.replace('0., 2., 4.', '0., 4., 8.')})"


def test_backward_to_a_leaf_from_outside_is_refused(x):
    p = gw.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match=r"backward\(\) under vmap: the gradient of a leaf from outside"):
        vmap(lambda x: (x * p).sum().backward())(x)
    assert p.grad is None

    def of_one(x):
        own = x.detach().clone().requires_grad_()
        (own * own).sum().backward()
        return own.grad

    assert vmap(of_one)(x).tolist() == (2 * x).tolist()
    vmap(lambda x: (x * p).sum())(x).sum().backward()
    assert p.grad.tolist() == x.sum(0).tolist()


P = gw.tensor([[1.0, 2.0, 0.5, 0.0], [0.0, 3.0, 1.0, 1.0], [5.0, 0.1, 0.2, 0.3]])
DRAWS = {
    "binomial": lambda p: gw.binomial(p * 0 + 10, p / 6),
    "binomial of one number of tries": lambda p: gw.binomial(gw.full((4,), 10.0), p / 6),
    "multinomial": lambda p: gw.multinomial(p, 2),
    "multinomial with replacement": lambda p: gw.multinomial(p, 5, replacement=True),
    "multinomial of rows": lambda p: gw.multinomial(gw.stack([p, p + 1]), 3),
}


@pytest.mark.parametrize("name", DRAWS)
@pytest.mark.parametrize("in_dims", [0, 1])
def test_numbers_drawn_by_others_in_each_example_are_those_of_a_loop(name, in_dims):
    draw = DRAWS[name]
    gw.manual_seed(3)
    rows = gw.stack([draw(p) for p in P])
    gw.manual_seed(3)
    given = P if in_dims == 0 else P.T.contiguous()
    assert gw.vmap(draw, in_dims, randomness="different")(given).tolist() == rows.tolist()
    if "binomial" in name:  # which takes other numbers of random bits for other probabilities
        return
    gw.manual_seed(3)
    one = draw(P[0])
    gw.manual_seed(3)
    assert gw.vmap(draw, in_dims, randomness="same")(given)[0].tolist() == one.tolist()


@pytest.mark.parametrize("inplace", [False, True])
def test_a_mask_may_be_filled_with_another_number_in_each_example(inplace):
    def fill(x, m, v):
        return x.clone().masked_fill_(m, v) if inplace else x.masked_fill(m, v)

    x, m, v = gw.zeros(3, 4), P > 0.6, gw.tensor([1.0, 2.0, 3.0])
    rows = gw.stack([fill(*given) for given in zip(x, m, v, strict=True)])
    assert gw.vmap(fill)(x, m, v).equal(rows)
    assert gw.vmap(fill, (0, None, 0))(x, m[0], v).equal(gw.stack([fill(x[0], m[0], k) for k in v]))
    whole = gw.zeros(3, 4, dtype=gw.uint8)
    with pytest.raises(RuntimeError, match="without overflow"):
        gw.vmap(fill)(whole, m, gw.tensor([1.0, 300.0, 3.0]))


EMPTY = {
    "vmap": lambda f: f,
    "grad": func.grad,
    "hessian": func.hessian,
    "jacrev": func.jacrev,
    "jacfwd": func.jacfwd,
    "jvp": lambda f: lambda x: func.jvp(f, (x,), (x,))[1],
    "value": lambda f: lambda x: func.grad_and_value(f)(x)[1],
}


@pytest.mark.parametrize("transform", EMPTY)
@pytest.mark.parametrize("f", [
    lambda x: (x**2).sum(), lambda x: x.norm(), lambda x: x.max(), lambda x: x[0] * x[1], lambda x: x.sort()[0][0],
    lambda x: x.cumsum(0).prod(), lambda x: x.softmax(0)[1],
])  # fmt: skip
def test_over_no_examples_the_shapes_are_those_of_some(transform, f):
    mapped = gw.vmap(EMPTY[transform](f))
    assert mapped(gw.zeros(0, 3)).shape == (0, *mapped(gw.rand(2, 3)).shape[1:])


def test_a_side_that_is_not_selected_may_be_singular_in_some_example():
    f = func.grad(lambda t: gw.where(t > 0, t.sqrt(), t * 0))
    with pytest.warns(GradientWarning, match="where"):
        found = gw.vmap(f)(gw.tensor([1.0, 0.0, 4.0]))
    assert found[[0, 2]].tolist() == [0.5, 0.25]
    assert found[1].isnan()


BITS = {
    "as wide": (gw.int32, np.int32),
    "wider": (gw.float64, np.float64),
    "narrower": (gw.int16, np.int16),
}


@pytest.mark.parametrize("name", BITS)
def test_bits_are_read_as_another_dtype_in_transforms(name):
    d, plain = BITS[name]
    x = gw.arange(16.0).reshape(2, 2, 4)
    bits = gw.from_numpy(x.numpy().view(plain))
    assert gw.vmap(lambda r: r.view(d))(x).equal(bits)
    assert gw.vmap(gw.vmap(lambda r: r.view(d)))(x).equal(bits)
    value, tangent = func.jvp(lambda r: r.view(d).view(gw.float32) * r, (x,), (gw.ones_like(x),))
    assert value.equal(x * x)
    assert tangent.equal(x)  # none goes through bits
    assert func.vmap(func.jacfwd(lambda r: (r.view(d).view(gw.float32) * r).sum()))(x).equal(x)
    assert func.grad(lambda r: (r.view(d).view(gw.float32) * r).sum())(x).equal(x)


SAID = {
    r"It looks like you're calling .item\(\) on a Tensor": (lambda x: x.item(), float, int, complex),
    "attempting to use a Tensor in some data-dependent control flow": (bool, lambda x: 1 if x else 2),
    "We do not support batching operators that can output dynamic shape": (lambda x: x.nonzero(), lambda x: x.unique()),
    "We do not support batching operators that can support dynamic shape": (lambda x: x[x > 0],),
}


@pytest.mark.parametrize("words", SAID)
@pytest.mark.parametrize("name", ["gradwright", "torch"])
def test_what_is_refused_is_so_in_the_words_of_pytorch(name, words):
    lib = pytest.importorskip(name)
    for f in SAID[words]:
        with pytest.raises(RuntimeError, match=words):
            lib.vmap(f)(lib.ones((3, 2) if "dynamic" in words else 3))


def _in_numpy(name, slope, declares):
    """A Function in NumPy, with that of its slope for its backward."""
    made = type(gw.autograd.Function)(name, (gw.autograd.Function,), {
        "forward": staticmethod(lambda x: gw.from_numpy(getattr(np, name)(x.detach().numpy()))),
        "setup_context": staticmethod(lambda ctx, inputs, out: ctx.save_for_backward(inputs[0])),
        "backward": staticmethod(lambda ctx, g: g * slope(ctx.saved_tensors[0])),
        **({"vmap": staticmethod(lambda info, dims, x: (made.apply(x), dims[0]))} if declares else {}),
    })  # fmt: skip
    return made


@pytest.mark.filterwarnings("ignore:vmap. forward of sin asks for numbers")
def test_the_mend_for_hessians_of_functions_in_numpy_is_named_and_is_one(x):
    x = x.double() / 6

    def second(way, declares):
        sin = _in_numpy("sin", lambda x: cos.apply(x), declares)
        cos = _in_numpy("cos", lambda x: -sin.apply(x), declares)
        return vmap(way(lambda x: sin.apply(x).sum()))(x)

    for way in (func.hessian, lambda f: func.jacrev(func.jacrev(f))):
        mend = r"declare a vmap staticmethod in it, and take jacrev\(jacrev\(f\)\) for hessian\(f\), or a loop"
        with pytest.raises(RuntimeError, match=mend):
            second(way, declares=False)
    found = second(lambda f: func.jacrev(func.jacrev(f)), declares=True)
    assert gw.allclose(found, gw.stack([(-row.sin()).diag() for row in x]))
