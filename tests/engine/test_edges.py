"""Edges of the graph, hooks on several tensors, and versions counted by hand."""

import warnings
import weakref

import pytest

import gradwright
from tests.functions import functions

# ---- edges -----------------------------------------------------------------------------------------------


def test_an_edge_stands_for_a_tensor(T, leaf):
    get = T.autograd.graph.get_gradient_edge
    x = leaf([2.0, 3.0])
    y = x * x
    one = T.ones(2, dtype=T.float64)
    edge = get(y)
    assert (edge.node, edge.output_nr) == (y.grad_fn, 0)
    assert T.autograd.grad(y.exp().sum(), edge, retain_graph=True)[0].tolist() == y.exp().tolist()
    assert T.autograd.grad(edge, get(x), one, retain_graph=True)[0].tolist() == [4, 6]
    T.autograd.backward([edge, y], [one, one], retain_graph=True)
    assert x.grad.tolist() == [8, 12]
    T.autograd.backward(y.sum(), inputs=[get(x)])
    assert x.grad.tolist() == [12, 18]


def test_an_edge_knows_its_shape(T, leaf):
    get = T.autograd.graph.get_gradient_edge
    x = leaf([2.0, 3.0])
    assert T.autograd.grad(get(x.sum() * 3), x)[0].tolist() == [3, 3]
    with pytest.raises(RuntimeError, match="grad can be implicitly created only for scalar outputs"):
        T.autograd.grad(get(x * x), x)
    with pytest.raises(RuntimeError, match=r"Mismatch in shape: grad_output\[0\] has a shape of torch.Size\(\[3\]\)"):
        T.autograd.grad(get(x * x), x, T.ones(3, dtype=T.float64))


def test_edges_of_several_outputs(T, leaf):
    edge = T.autograd.graph.GradientEdge
    x = leaf([1.0, 2.0])
    a, b = x.unbind()
    taken = T.autograd.graph.get_gradient_edge(b)
    assert taken.output_nr == 1
    made = edge(b.grad_fn, 1)
    grads = T.autograd.grad(a * 2 + b * 3, [taken, a, made, edge(a.grad_fn, 0)], retain_graph=True)
    assert [g.item() for g in grads] == [3, 2, 3, 2]
    assert T.autograd.grad(made, x, T.ones((), dtype=T.float64))[0].tolist() == [0, 1]


def test_edges_made_of_next_functions(T, leaf):
    x = leaf([1.0, 2.0])
    y = x.exp()
    z = y * 3
    edge = T.autograd.graph.GradientEdge(*z.grad_fn.next_functions[0], None)
    assert T.autograd.grad(z.sum(), edge, retain_graph=True)[0].tolist() == [3, 3]
    one = T.ones(2, dtype=T.float64)
    assert T.autograd.grad(edge, x, one)[0].tolist() == y.tolist()


def test_unused_edges(T, leaf):
    x = leaf([1.0, 2.0])
    edge = T.autograd.graph.get_gradient_edge(x * x)
    z = x.exp().sum()
    assert T.autograd.grad(z, edge, allow_unused=True, retain_graph=True) == (None,)
    with pytest.raises(RuntimeError, match="materialize_grads cannot be used when the given input is a GradientEdge"):
        T.autograd.grad(z, edge, materialize_grads=True)


def test_backward_to_an_edge_keeps_gradients_only_where_tensors_do(T, leaf):
    x = leaf(2.0)
    y = x * x
    edge = T.autograd.graph.get_gradient_edge(y)
    T.autograd.backward(y * 3, inputs=[edge], retain_graph=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that y keeps no gradient
        assert (y.grad, x.grad) == (None, None)
    y.retain_grad()
    T.autograd.backward(y * 3, inputs=[edge])
    assert (y.grad.item(), x.grad) == (3, None)


def test_an_edge_keeps_the_graph_but_not_the_values():
    x = gradwright.ones(1000, requires_grad=True)
    y = (x * 2).sin() + 1
    gone = weakref.ref(y.array)
    edge = gradwright.autograd.graph.get_gradient_edge(y)
    del y
    assert gone() is None
    assert edge.node.name() == "AddBackward0"
    assert edge.ownership_token.array.strides == (0,)


def test_edges_need_a_history(T):
    with pytest.raises(RuntimeError, match="not possible to get the gradient edge for a Tensor that does not require"):
        T.autograd.graph.get_gradient_edge(T.ones(2))
    with pytest.raises((TypeError, AttributeError)):
        T.autograd.graph.get_gradient_edge(1)


# ---- hooks on several tensors ----------------------------------------------------------------------------

PASSES = {
    "all that c needs": lambda T, a, b, c, d: c.sum().backward(),
    "twice": lambda T, a, b, c, d: [c.sum().backward(retain_graph=True) for _ in range(2)],
    "everything": lambda T, a, b, c, d: (c * d).sum().backward(),
    "recorded": lambda T, a, b, c, d: c.sum().backward(create_graph=True),
    "to a": lambda T, a, b, c, d: c.sum().backward(inputs=[a]),
    "to c": lambda T, a, b, c, d: c.sum().backward(inputs=[c]),
    "grad of c": lambda T, a, b, c, d: T.autograd.grad(c.sum(), c),
    "none": lambda T, a, b, c, d: a.exp().sum().backward(inputs=[T.ones(1, requires_grad=True) * 1]),
}
SEEN = {
    "all that c needs": ([[[3, 4], [1, 2], [1, 1], None]], [[1, 1]]),
    "twice": ([[[3, 4], [1, 2], [1, 1], None]] * 2, [[1, 1]] * 2),
    "everything": ([[[18, 64], [6, 32], [3, 8], [3, 8]]], [[3, 8]]),
    "recorded": ([[[3, 4], [1, 2], [1, 1], None]], [[1, 1]]),
    "to a": ([[[3, 4], None, [1, 1], None]], [[1, 1]]),
    "to c": ([[None, None, [1, 1], None]], [[1, 1]]),
    "grad of c": ([[None, None, [1, 1], None]], [[1, 1]]),
    "none": ([], []),
}


@pytest.mark.filterwarnings("ignore:Using backward:UserWarning")
@pytest.mark.parametrize("which", PASSES)
@pytest.mark.parametrize("mode", ["all", "any"])
def test_a_hook_on_several_tensors_runs_once_a_pass(T, leaf, which, mode):
    a, b, log = leaf([1.0, 2.0]), leaf([3.0, 4.0]), []
    c, d = a * b, a * b

    def hook(grads):
        log.append([g if g is None else g.tolist() for g in grads] if mode == "all" else grads.tolist())

    handle = T.autograd.graph.register_multi_grad_hook((a, b, c, d), hook, mode=mode)
    PASSES[which](T, a, b, c, d)
    assert log == SEEN[which][mode == "any"]
    handle.remove()
    handle.remove()
    (a * b).sum().backward()
    assert log == SEEN[which][mode == "any"]


def test_it_runs_before_the_node_of_the_last_tensor(T, leaf):
    log, x = [], leaf(2.0)
    y = x * 1
    a, b, unused = y * 2, y * 3, y * 4
    y.register_hook(lambda g: log.append("y"))
    hook = lambda grads: log.append([g is not None for g in grads])
    T.autograd.graph.register_multi_grad_hook((a, b, b, unused), hook)
    (a + b).backward()
    assert log == [[True, True, True, False], "y"]


def test_in_a_pass_to_leaves_by_grad():  # (which PyTorch does not support)
    a, b, log = gradwright.ones(2, requires_grad=True), gradwright.ones(2, requires_grad=True), []
    c = a * b
    gradwright.autograd.graph.register_multi_grad_hook((a, b, c), lambda grads: log.append([g is None for g in grads]))
    gradwright.autograd.grad(c.sum(), a)
    assert log == [[False, True, False]]


def test_what_gets_no_gradient_after_all_is_not_waited_for(T, leaf):
    class Nothing(functions(T)):
        def forward(ctx, x):
            return x * 1

        def backward(ctx, g):
            return None

    a, log = leaf([1.0, 2.0]), []
    y = a * 1
    z, w = Nothing.apply(y), a * 3
    T.autograd.graph.register_multi_grad_hook((y, w), lambda grads: log.append([g is None for g in grads]))
    (z + w).sum().backward()
    assert log == [[True, False]]


def test_outputs_of_one_node(T, leaf):
    p, q = leaf([1.0, 2.0]).unbind()
    log = []
    T.autograd.graph.register_multi_grad_hook((p, q), lambda grads: log.append([g is None for g in grads]))
    (p * 2).backward(retain_graph=True)
    (p + q).backward()
    assert log == [[False, True], [False, False]]


def test_a_pass_inside_the_hook_is_another(T, leaf):
    a, b, log = leaf(2.0), leaf(3.0), []

    def hook(grads):
        log.append([g.item() for g in grads])
        if len(log) < 3:
            with T.enable_grad():
                (a * b).backward()

    T.autograd.graph.register_multi_grad_hook((a, b), hook)
    (a * b).backward()
    assert log == [[3, 2]] * 3


class MishapError(Exception):
    pass


def test_a_failed_pass_leaves_nothing_for_the_next(T, leaf):
    a, log = leaf([1.0, 2.0]), []
    y = a * 1
    z = y * 2

    def mishap(g):
        raise MishapError

    T.autograd.graph.register_multi_grad_hook((a, z), lambda grads: log.append([g is None for g in grads]))
    with y.register_hook(mishap), pytest.raises(MishapError):
        z.sum().backward(retain_graph=True)
    z.sum().backward()
    assert log == [[False, False]]


def test_an_exception_in_it_reaches_the_caller(T, leaf):
    x = leaf(1.0)

    def mishap(grads):
        raise MishapError("in hook")

    for mode in ("all", "any"):
        handle = T.autograd.graph.register_multi_grad_hook((x,), mishap, mode=mode)
        with pytest.raises(MishapError, match="in hook") as caught:
            (x * 1).backward()
        assert x.grad is None
        if T is gradwright:
            assert caught.value.__notes__[0].startswith("raised by hook 'mishap' (")
        handle.remove()


def test_bad_arguments(T, leaf):
    register = T.autograd.graph.register_multi_grad_hook
    with pytest.raises(ValueError, match=r"Expects mode to be one of \('all', 'any'\) but got first"):
        register((leaf(1.0),), print, mode="first")
    with pytest.raises((RuntimeError, AssertionError)):
        register((T.ones(2), leaf(1.0)), print)
    register((T.ones(2), leaf(1.0)), print, mode="any").remove()
    register((), print).remove()


def test_it_makes_no_cycle():
    x = gradwright.ones(2, requires_grad=True)
    y = x * 2
    handle = gradwright.autograd.graph.register_multi_grad_hook((x, y), print)
    gone = weakref.ref(y.grad_fn)
    del y
    assert gone() is None
    handle.remove()


# ---- nodes, versions -------------------------------------------------------------------------------------


def test_nodes_are_instances_of_node(T, leaf):
    node = (leaf(1.0) * 2).grad_fn
    for n in (node, node.next_functions[0][0]):
        assert isinstance(n, T.autograd.graph.Node)
    assert node.name() == "MulBackward0"
    assert not isinstance(leaf, T.autograd.graph.Node)


def test_increment_version(T, leaf):
    increment = T.autograd.graph.increment_version
    x, y = T.ones(2), T.ones(2)
    increment(x)
    increment([x, y])
    increment(t for t in (x, x))
    assert (x._version, y._version) == (4, 1)
    with pytest.raises(RuntimeError, match="increment_version expect a Iterable"):
        increment(3)
    w = leaf([1.0, 2.0])
    z = w * y.double()
    exp = w.exp()
    increment(exp)
    z.sum().backward()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        exp.sum().backward()
