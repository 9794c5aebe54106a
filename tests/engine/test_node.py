"""Nodes as users see them: names, edges, leaves, what they saved."""

import re

import numpy as np
import pytest

import gradwright
from tests.functions import functions

# ---- leaves ----------------------------------------------------------------------------------------------


def test_what_is_a_leaf(T, leaf):
    x = leaf([1.0, 2.0])
    assert x.is_leaf
    assert x.grad_fn is None
    assert T.ones(2).is_leaf
    assert (T.ones(2) * 2).is_leaf
    y = x * 2
    assert not y.is_leaf
    assert y.requires_grad
    assert y.detach().is_leaf
    with T.no_grad():
        assert (x * 2).is_leaf


def test_accumulate_grad_holds_the_leaf(leaf):
    x = leaf([1.0, 2.0])
    node, index = (x * 2).grad_fn.next_functions[0]
    assert (type(node).__name__, node.name()) == ("AccumulateGrad", "torch::autograd::AccumulateGrad")
    assert index == 0
    assert node.variable is x
    assert node.next_functions == ()
    assert (x * 3).grad_fn.next_functions[0][0] is node


def test_adding_to_a_gradient_that_was_saved_is_a_write_and_its_line_is_named():
    x, w = gradwright.ones(2, requires_grad=True), gradwright.ones(2, requires_grad=True)
    (x * x).sum().backward()
    x.grad.mul_(2)
    y = (w * x.grad).sum()
    (x * x).sum().backward()
    with pytest.raises(RuntimeError, match=r"changed at .*: \(x \* x\)\.sum\(\)\.backward\(\)"):
        y.backward()


def test_the_variable_of_a_dropped_leaf_stays_one_tensor():
    x = gradwright.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    del x
    variable = y.grad_fn.next_functions[0][0].variable
    assert variable.tolist() == [1, 2]
    assert variable.requires_grad
    assert variable.is_leaf
    y.sum().backward()
    assert variable.grad.tolist() == [2, 2]


def test_a_subclass_stays_one():
    class Special(gradwright.Tensor):
        pass

    x = Special([1.0, 2.0]).requires_grad_()
    node = (x * 2).grad_fn.next_functions[0][0]
    assert node.variable is x
    del x
    assert type(node.variable) is Special


# ---- edges -----------------------------------------------------------------------------------------------


def test_next_functions_follow_the_arguments(T, leaf):
    x, y = leaf([1.0, 2.0]), leaf([1.0, 2.0])
    z = x**2 + y**3
    (a, i), (b, j) = z.grad_fn.next_functions
    assert [type(n).__name__ for n in (a, b)] == ["PowBackward0", "PowBackward0"]
    assert (i, j) == (0, 0)
    assert a.next_functions[0][0].variable is x
    assert b.next_functions[0][0].variable is y
    assert (x + T.ones(2, dtype=T.float64)).grad_fn.next_functions[1] == (None, 0)
    assert (T.ones(2, dtype=T.float64) + x).grad_fn.next_functions[0] == (None, 0)


def test_edges_into_several_outputs_are_numbered(leaf):
    a, b = leaf([1.0, 2.0]).unbind()
    assert a.grad_fn is b.grad_fn
    assert type(a.grad_fn).__name__ == "UnbindBackward0"
    assert (a.output_nr, b.output_nr) == (0, 1)
    edges = (b * a).grad_fn.next_functions
    assert edges == ((b.grad_fn, 1), (a.grad_fn, 0))


def test_nodes_keep_their_identity(leaf):
    y = leaf([1.0, 2.0]).exp()
    z = y.sum()
    assert y.grad_fn is y.grad_fn
    assert z.grad_fn.next_functions[0][0] is y.grad_fn


def test_metadata_is_the_users(leaf):
    y = leaf(1.0).exp()
    y.grad_fn.metadata["made by"] = "me"
    assert y.grad_fn.metadata == {"made by": "me"}
    assert (y * 1).grad_fn.metadata == {}


def test_repr(leaf):
    node = leaf(1.0).exp().grad_fn
    assert re.fullmatch(r"<ExpBackward0 object at 0x[0-9a-f]+>", repr(node))
    assert re.fullmatch(r"<AccumulateGrad object at 0x[0-9a-f]+>", repr(node.next_functions[0][0]))
    assert node.name() == "ExpBackward0"


def test_nodes_are_nodes(T, leaf):
    class Identity(functions(T)):
        def forward(ctx, x):
            return x.clone()

        def backward(ctx, g):
            return g

    x = leaf([1.0, 2.0])
    y = Identity.apply(x)
    for node in (x.exp().grad_fn, y.grad_fn, y.grad_fn.next_functions[0][0]):
        assert isinstance(node, T.autograd.graph.Node)


# ---- names -----------------------------------------------------------------------------------------------

NAMES = {
    "AddBackward0": lambda x: x + x,
    "SubBackward0": lambda x: x - 1,
    "RsubBackward1": lambda x: 1 - x,
    "MulBackward0": lambda x: 2 * x,
    "DivBackward0": lambda x: x / 2,
    "NegBackward0": lambda x: -x,
    "PowBackward0": lambda x: x**3,
    "PowBackward1": lambda x: x**x,
    "PowBackward2": lambda x: 2**x,
    "SumBackward0": lambda x: x.sum(),
    "SumBackward1": lambda x: x.sum(0),
    "MeanBackward0": lambda x: x.mean(),
    "MeanBackward1": lambda x: x.mean(0),
    "MaxBackward1": lambda x: x.max(),
    "MaxBackward0": lambda x: x.max(0)[0],
    "ClampBackward1": lambda x: x.clamp(-1, 1),
    "MmBackward0": lambda x: x @ x,
    "TBackward0": lambda x: x.t(),
    "PermuteBackward0": lambda x: x.T,
    "TransposeBackward0": lambda x: x.transpose(0, 1),
    "ViewBackward0": lambda x: x.view(-1),
    "UnsqueezeBackward0": lambda x: x.unsqueeze(0),
    "ExpandBackward0": lambda x: x.expand(3, 2, 2),
    "SelectBackward0": lambda x: x[0],
    "CloneBackward0": lambda x: x.clone(),
    "UnbindBackward0": lambda x: x.unbind()[0],
    "SplitBackward0": lambda x: x.split(1)[0],
    "SigmoidBackward0": lambda x: x.sigmoid(),
    "ReluBackward0": lambda x: x.relu(),
}


@pytest.mark.parametrize("name", NAMES)
def test_names(leaf, name):
    assert type(NAMES[name](leaf([[1.0, 2.0], [3.0, 4.0]])).grad_fn).__name__ == name


# ---- saved values ----------------------------------------------------------------------------------------


def test_saved_values_can_be_looked_at(leaf):
    x, y = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    product, power, total, exponential = (x * y).grad_fn, (x**3).grad_fn, x.sum(0).grad_fn, x.exp()
    assert product._saved_self is x
    assert product._saved_other is y
    assert power._saved_self is x
    assert power._saved_exponent == 3
    assert exponential.grad_fn._saved_result.tolist() == exponential.tolist()
    assert exponential.grad_fn._saved_result.grad_fn is exponential.grad_fn
    assert total._saved_self_sym_sizes == x.view(2, 1).grad_fn._saved_self_sym_sizes == (2,)
    assert "_saved_other" in dir(product)
    with pytest.raises(AttributeError, match="_saved_nonsense"):
        product._saved_nonsense
    with pytest.raises(AttributeError, match="_saved_other"):
        total._saved_other


def test_only_what_is_needed_is_saved():
    x = gradwright.ones(2, requires_grad=True)
    node = (x * gradwright.ones(2)).grad_fn
    assert "_saved_other" in dir(node)
    assert "_saved_self" not in dir(node)


def test_what_is_no_tensor_survives_backward(leaf):
    y = leaf([[1.0, 2.0]]).sum(1)
    y.sum().backward()
    assert y.grad_fn._saved_dim in ((1,), (0xFFFFFFFFFFFFFFFF,), 1)


def test_a_node_can_be_called(T, leaf):
    x = leaf([1.0, 2.0])
    grads = (x * x).grad_fn(T.ones(2, dtype=T.float64))
    assert [g.tolist() for g in grads] == [[1, 2], [1, 2]]
    assert x.exp().grad_fn(T.ones(2, dtype=T.float64)).tolist() == x.exp().tolist()
    grad, none = (x * T.ones(2, dtype=T.float64)).grad_fn(T.ones(2, dtype=T.float64))
    assert (grad.tolist(), none) == ([1, 1], None)
    assert x.unbind()[0].grad_fn(None, T.ones((), dtype=T.float64)).tolist() == [0, 1]


@pytest.mark.parametrize("slope", [lambda xp, g: g[:1], lambda xp, g: g * 1j])
def test_a_wrong_derivative_of_a_declared_operation_does_not_reach_a_leaf(slope):
    @gradwright.op(complex="general")
    def same(xp, x):
        return x * 1

    same.vjp(x=slope)
    x = gradwright.ones(3, requires_grad=True)
    for create_graph in (False, True):
        with pytest.raises(RuntimeError, match=r"a derivative is wrong: the gradient that reached a leaf of shape "):
            same(x).backward(gradwright.ones(3), create_graph=create_graph)
    assert x.grad is None


def test_a_gradient_takes_the_dtype_of_its_leaf():
    @gradwright.op(kind="elementwise")
    def double(xp, x):
        return x * 2

    double.vjp(x=lambda xp, g: xp.astype(g, xp.float64) * 2)
    x = gradwright.ones(3, requires_grad=True)
    double(x).sum().backward()
    assert x.grad.dtype is gradwright.float32


def test_a_grad_that_must_not_be_written():
    values = np.zeros(2)
    values.flags.writeable = False
    x = gradwright.ones(2, dtype=gradwright.float64, requires_grad=True)
    x.grad = gradwright.from_numpy(values)
    with pytest.raises(RuntimeError, match=r"shape \[2\] is to be added .* memory that must not be written"):
        (x * 2).sum().backward()
    assert values.tolist() == [0, 0]
