"""The node classes that `build` writes: what they save, when they check it, and that the text can be read."""

import numpy as np
import pytest

import gradwright
from gradwright import op
from gradwright.engine.base import wrap
from gradwright.engine.nodes_of_ops import build, source
from gradwright.op import Op
from gradwright.ops import arithmetic


@op(kind="general")
def blend(xp, x, y, *, weight):
    """``weight`` x + (1 - ``weight``) x y."""
    return weight * x + (1 - weight) * x * y


blend.vjp(x=lambda xp, g, y, weight: g * (weight + (1 - weight) * y),
          y=lambda xp, g, x, x_shape, weight: g * (1 - weight) * x)  # fmt: skip


@pytest.fixture
def xy():
    data = ([1.0, 2.0], [3.0, 4.0])
    return [gradwright.tensor(d, dtype=gradwright.float64, requires_grad=True) for d in data]


def test_only_what_the_needed_derivatives_name_is_saved(xy):
    x, y = xy
    names = {}
    for args in ((x, y), (x, y.detach()), (x.detach(), y)):
        names[tuple(a.requires_grad for a in args)] = blend(*args, weight=0.25).grad_fn._names
    assert names == {(True, True): ("y", "x", "weight", "x_shape"), (True, False): ("y", "weight"),
                     (False, True): ("x", "x_shape", "weight")}  # fmt: skip


def test_the_derivatives_are_those_of_the_rules(xy):
    x, y = xy
    gx, gy = gradwright.autograd.grad(blend(x, y, weight=0.25).sum(), [x, y], create_graph=True)
    assert gx.tolist() == [0.25 + 0.75 * 3, 0.25 + 0.75 * 4]
    assert gy.tolist() == [0.75, 1.5]
    (gxy,) = gradwright.autograd.grad(gx.sum(), y)
    assert gxy.tolist() == [0.75, 0.75]


def test_an_ordinary_pass_hands_the_rules_bare_arrays(xy):
    kinds = []
    probe = Op("probe", lambda xp, x: x * 2, ("x",), (), "general", "ProbeBackward0")
    probe.vjp(x=lambda xp, g, x: kinds.append((type(xp).__name__, type(g), type(x))) or g * 2)
    x, _ = xy
    probe(x).sum().backward()
    (g,) = gradwright.autograd.grad(probe(x).sum(), x, create_graph=True)
    assert kinds == [("_Namespace", np.ndarray, np.ndarray), ("module", gradwright.Tensor, gradwright.Tensor)]


def test_saved_inputs_keep_their_history_in_a_recorded_pass(xy):
    x, y = xy
    node = (x * y).grad_fn
    assert node._saved_self is x
    gx, _ = node(gradwright.ones(2, dtype=gradwright.float64))
    assert not gx.requires_grad or gx.grad_fn is not None


def test_an_unknown_saved_name(xy):
    x, y = xy
    with pytest.raises(AttributeError, match="'MulBackward0' object has no attribute '_saved_third'"):
        (x * y).grad_fn._saved_third
    with pytest.raises(AttributeError, match="no attribute 'anything'"):
        (x * y).grad_fn.anything


def test_nodes_are_slim(xy):
    x, y = xy
    node = (x * y).grad_fn
    assert not hasattr(node, "__dict__")
    with pytest.raises(AttributeError):
        node.note = 1


def test_the_text_can_be_read():
    text = source(build(arithmetic.multiply, (True, True)))
    assert text.startswith("def record(x, y, out, static=None):\n    node = new(Class)\n")
    assert "def _run(self, xp, g):" in text
    assert "if y_counter[0] != y_version: raise modified(self, 'y'" in text


def test_broadcast_inputs_are_summed_back(xy):
    x, _ = xy
    k = gradwright.tensor(3.0, dtype=gradwright.float64, requires_grad=True)
    column = gradwright.ones(3, 1, dtype=gradwright.float64, requires_grad=True)
    (x * k * column).sum().backward()
    assert x.grad.tolist() == [9, 9]
    assert k.grad.item() == 9
    assert column.grad.tolist() == [[9], [9], [9]]


def test_variadic_operations(xy):
    x, y = xy
    z = gradwright.stack([x, y.detach(), y])
    assert type(z.grad_fn).__name__ == "StackBackward0"
    assert [n is None for n, _ in z.grad_fn.next_functions] == [False, True, False]
    (z * gradwright.tensor([[1.0], [10.0], [100.0]], dtype=gradwright.float64)).sum().backward()
    assert x.grad.tolist() == [1, 1]
    assert y.grad.tolist() == [100, 100]


def test_variadic_operations_that_save(xy):
    x, y = xy
    out = gradwright.einsum("i,i->", x, y)
    (gx,) = gradwright.autograd.grad(out, x, create_graph=True)
    assert gx.tolist() == [3, 4]
    assert gradwright.autograd.grad(gx.sum(), y)[0].tolist() == [1, 1]
    again = gradwright.einsum("i,i->", x * 1, y)
    with gradwright.no_grad():
        y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        again.backward()


def test_an_array_that_is_no_tensors_own_can_be_saved():
    x = wrap(np.ones(2))
    x.requires_grad_()
    (x * np.full(2, 3.0)).sum().backward()
    assert x.grad.tolist() == [3, 3]


def test_a_node_that_is_called_by_hand_says_how_many_gradients_it_takes(T):
    x = T.ones(2, requires_grad=True)
    for node, count in ((x**2).grad_fn, 1), (x.max(0)[0].grad_fn, 1):
        for given in range(3):
            if given != count:
                with pytest.raises(TypeError, match=f"expected {count} arguments, got {given} instead|expected"):
                    node(*[x.detach()] * given)


def test_a_node_of_several_outputs_takes_a_gradient_for_each():
    x = gradwright.ones(2, 3, requires_grad=True)
    node = x.unbind(0)[0].grad_fn
    with pytest.raises(TypeError, match="expected 2 arguments, got 1 instead: a gradient by output"):
        node(gradwright.ones(3))
