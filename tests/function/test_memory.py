"""Memory that a Function shares: handed out at every call, its input's, or kept; the derivative is right or refused."""

import numpy as np
import pytest

import gradwright as gw
from gradwright.autograd import grad
from tests.functions import unnamed

B = gw.zeros(3, dtype=gw.float64)
N = np.zeros(3)
OVER = gw.from_numpy(N)


def values():
    return [gw.tensor(v, dtype=gw.float64, requires_grad=True) for v in ([1.0, 2.0, 4.0], [10.0, 20.0, 5.0])]


def through_tensor(v):
    B.copy_(v.detach())


def through_data(v):
    B.data.copy_(v.detach())


def through_numpy(v):
    N[:] = v.detach().numpy()



BUFFERS = {
    "the tensor": (through_tensor, lambda: B),
    "detach()": (through_tensor, lambda: B.detach()),
    "a part": (through_tensor, lambda: B[:]),
    "data": (through_data, lambda: B.data),
    "tensor, by data": (through_data, lambda: B),
    "from_numpy": (through_numpy, lambda: gw.from_numpy(N)),
    "a part from_numpy": (through_numpy, lambda: gw.from_numpy(N[:])),
    "as_tensor": (through_numpy, lambda: gw.as_tensor(N)),
    "tensor over NumPy": (through_numpy, lambda: OVER),
    "its view": (through_numpy, lambda: OVER.view(3, 1).view(3)),
    "from_numpy of numpy()": (through_tensor, lambda: gw.from_numpy(B.numpy())),
}


@pytest.mark.parametrize("wrapped", [False, True], ids=["alone", "in a tuple"])
@pytest.mark.parametrize("name", BUFFERS)
def test_one_buffer_for_every_call_of_forward(name, wrapped):
    """(y1 + y2) y1 with y = x**2, against what NumPy says."""
    write, give = BUFFERS[name]

    def forward(ctx, x):
        ctx.save_for_backward(x)
        write(x * x)
        return (give(),) if wrapped else give()

    F = unnamed(forward, lambda ctx, g: 2 * g * ctx.saved_tensors[0])
    a, b = values()
    y1, y2 = (F.apply(v)[0] if wrapped else F.apply(v) for v in (a, b))
    ((y1 + y2) * y1).sum().backward()
    x, z = a.detach().numpy(), b.detach().numpy()
    assert np.allclose(a.grad.numpy(), (2 * x**2 + z**2) * 2 * x)
    assert np.allclose(b.grad.numpy(), x**2 * 2 * z)
    assert not B.requires_grad
    assert not OVER.requires_grad


SHARED = {
    "detach()": lambda x: x.detach(),
    "data": lambda x: x.data,
    "a part of data": lambda x: x.data[:],
    "from_numpy": lambda x: gw.from_numpy(x.detach().numpy()),
    "a part from_numpy": lambda x: gw.from_numpy(x.detach().numpy()[::1]),
    "itself": lambda x: x,
    "a view": lambda x: x.view_as(x),
}


@pytest.mark.parametrize("written", [None, "y", "x", "y's array", "base"])
@pytest.mark.parametrize("name", SHARED)
def test_an_output_in_the_memory_of_the_input(name, written):
    """x + y**2 with y = x: the derivative is 1 + 2 x, or somebody who writes is told."""
    F = unnamed(lambda ctx, x: SHARED[name](x), lambda ctx, g: g)
    a, _ = values()
    base = a * 1
    x = base[:] if written == "base" else base
    y = F.apply(x)
    if written is None:
        (x + y * y).sum().backward()
        assert np.allclose(a.grad.numpy(), 1 + 2 * a.detach().numpy())
        return
    with pytest.raises(RuntimeError, match=r"This view was created inside a custom Function|modified by an inplace"):  # noqa: PT012
        if written == "y's array":
            z = y * y
            y.detach().numpy()[:] = 0
            z.sum().backward()
        {"y": y, "x": x, "base": base}.get(written, y).mul_(3)
        (x + y * y).sum().backward()


def test_what_is_new_is_neither_copied_nor_a_view():
    given = []

    def forward(ctx, x):
        y = gw.empty(3, dtype=gw.float64)
        y.copy_(x)
        ctx.save_for_backward(y)
        ctx.y = y
        z = gw.from_numpy(np.exp(x.numpy()))
        given.extend([y.array.ctypes.data, z.array.ctypes.data])
        return y, z

    a, _ = values()
    y, z = unnamed(forward, lambda ctx, g, h: g + h).apply(a)
    assert [y.array.ctypes.data, z.array.ctypes.data] == given
    assert not y._is_view()
    y.mul_(2)  # as anything that is its own


def test_what_ctx_keeps_of_an_output_is_no_reason_for_a_copy():
    given = []

    def forward(ctx, x):
        y = np.exp(x.numpy())
        ctx.y = y
        given.append(y.ctypes.data)
        return gw.from_numpy(y)

    a, _ = values()
    y = unnamed(forward, lambda ctx, g: g * gw.from_numpy(ctx.y)).apply(a)
    assert [y.array.ctypes.data] == given


INDEX = {
    "index_select": lambda x, i, m: x.index_select(0, i),
    "gather": lambda x, i, m: x.gather(0, i),
    "take": lambda x, i, m: x.take(i),
    "scatter": lambda x, i, m: x.scatter(0, i, x[:2] * 2),
    "scatter_add": lambda x, i, m: x.scatter_add(0, i, x[:2]),
    "index_add": lambda x, i, m: x.index_add(0, i, x[:2]),
    "index_put": lambda x, i, m: x.index_put((i,), x[:2]),
    "x[i]": lambda x, i, m: x[i],
    "x[m]": lambda x, i, m: x[m],
    "embedding": lambda x, i, m: gw.nn.functional.embedding(i, x.view(3, 1)),
    "where": lambda x, i, m: gw.where(m, x, 2 * x),
    "masked_fill": lambda x, i, m: x.masked_fill(m, 0.0),
    "masked_select": lambda x, i, m: gw.masked_select(x, m),
    "nll_loss": lambda x, i, m: gw.nn.functional.nll_loss(x.expand(2, 3), i),
}


@pytest.mark.parametrize("make", [gw.from_numpy, gw.as_tensor, lambda array: gw.from_numpy(array[:])])
@pytest.mark.parametrize("name", INDEX)
def test_an_index_that_is_changed_behind_its_tensor(name, make):
    i, m = np.array([0, 1]), np.array([True, False, True])
    x, _ = values()
    out = INDEX[name](x, make(i), make(m))
    (truth,) = grad(out.sum(), x, retain_graph=True)
    i[:], m[:] = [2, 2], [False, True, False]
    try:
        (got,) = grad(out.sum(), x)
    except RuntimeError as error:
        message = str(error)
    else:  # it had a copy
        message = f"written through an array {__file__}:"
        assert got.tolist() == truth.tolist()
    assert "written through an array" in message
    assert f"{__file__}:" in message


def test_an_index_whose_array_nobody_holds_is_like_any_other():
    t = gw.from_numpy(np.array([0, 1]))
    assert type(t._counter[0]) is int
    array = np.array([0, 1])
    array.flags.writeable = False
    assert type(gw.from_numpy(array)._counter[0]) is int
