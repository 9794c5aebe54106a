"""jvp: against analytic truth and PyTorch."""

import pytest

import gradwright as gw
from gradwright import func
from tests.transform.programs import close, refused_alike

X = gw.tensor([0.3, -0.4, 0.7], dtype=gw.float64)
V = gw.tensor([1.0, 2.0, -1.0], dtype=gw.float64)


def test_values_and_tangents_in_containers():
    out, moved, aux = func.jvp(lambda x, d: ({"p": x * d["w"], "c": V * 1}, [x.exp(), "aux"]),
                               (X, {"w": V}), (V, {"w": X}), has_aux=True)  # fmt: skip
    close(out["p"], X * V)
    close(moved["p"], V * V + X * X)
    close(moved["c"], V * 0)
    close(aux[0], X.exp())
    assert aux[1] == "aux"
    assert aux[0] + V is not None  # no tensor of a level that has ended


def test_a_result_has_a_history_only_from_outside():
    out, moved = func.jvp(gw.sin, (X,), (V,))
    assert not out.requires_grad
    assert not moved.requires_grad
    x, v = X.clone().requires_grad_(), V.clone().requires_grad_()
    out, moved = func.jvp(gw.sin, (x,), (v,))
    by_x, by_v = gw.autograd.grad(moved.sum(), (x, v))
    close(by_x, -X.sin() * V)
    close(by_v, X.cos())
    close(gw.autograd.grad(out.sum(), x)[0], X.cos())


def test_no_grad_outside_does_not_matter_and_inside_stops_tangents():
    with gw.no_grad():
        close(func.jvp(gw.sin, (X,), (V,))[1], X.cos() * V)

    def f(x):
        with gw.no_grad():
            c = x**2
        return x * c

    close(func.jvp(f, (X,), (V,))[1], X**2 * V)
    close(func.jvp(lambda x: x.detach() * x, (X,), (V,))[1], X * V)


def test_three_levels():
    x, one = gw.tensor(0.5, dtype=gw.float64), gw.tensor(1.0, dtype=gw.float64)
    push = lambda f: lambda x: func.jvp(f, (x,), (one,))[1]
    close(push(push(push(gw.sin)))(x), -x.cos())
    close(push(func.grad(push(gw.sin)))(x), -x.cos())
    close(func.grad(push(func.grad(gw.sin)))(x), -x.cos())


BAD = {
    "no tuple": lambda f, x, T: f.jvp(T.sin, x, (x,)),
    "tangents in a list": lambda f, x, T: f.jvp(T.sin, (x,), [x]),
    "too many tangents": lambda f, x, T: f.jvp(T.sin, (x,), (x, x)),
    "a tangent of another shape": lambda f, x, T: f.jvp(T.sin, (x,), (x[:2],)),
    "no tangent": lambda f, x, T: f.jvp(T.sin, (x,), (1.0,)),
    "no primals": lambda f, x, T: f.jvp(lambda: x, (), ()),
    "whole numbers": lambda f, x, T: f.jvp(T.sin, (T.arange(3),), (x,)),
    "no tensor comes out": lambda f, x, T: f.jvp(lambda x: 1.0, (x,), (x,)),
    "nothing comes out": lambda f, x, T: f.jvp(lambda x: None, (x,), (x,)),
    "no pair": lambda f, x, T: f.jvp(lambda x: x, (x,), (x,), has_aux=True),
    "strict": lambda f, x, T: f.jvp(lambda y: x * 1, (x,), (x,), strict=True),
}


@pytest.mark.parametrize("name", BAD)
def test_errors_are_pytorch_s(name, torch):
    refused_alike(BAD[name], torch)


def test_errors_name_the_path():
    with pytest.raises(RuntimeError, match=r'inputs\[1\]\["w"\].*tangents\[1\]\["w"\]'):
        func.jvp(lambda x, d: x, (X, {"w": X}), (X, {"w": X[:2]}))
    with pytest.raises(RuntimeError, match=r'tangents\[0\]\["w"\] of torch.float32'):
        func.jvp(lambda d: d["w"], ({"w": X},), ({"w": X.float()},))


def test_memory_that_a_tensor_does_not_show_is_not_read_as_its_own():
    x = gw.arange(6.0)[3:]
    with pytest.raises(RuntimeError, match="leave storage_offset out"):
        gw.func.jvp(lambda x: x.as_strided((2,), (1,), 0), (x,), (gw.ones(3),))
    _, t = gw.func.jvp(lambda x: x.as_strided((2,), (2,)), (x,), (gw.tensor([1.0, 2.0, 3.0]),))
    assert t.tolist() == [1, 3]
