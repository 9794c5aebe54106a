"""Hooks on tensors and nodes: their order, what they may change, and what they may not."""

import copy
import weakref

import pytest

import gradwright
from gradwright.engine.watch import Watch
from tests.functions import functions


def test_the_order_of_all_hooks(T, leaf):
    log = []

    def note(what):
        def hook(*args):
            log.append(what)

        return hook

    class Twice(functions(T)):
        def forward(ctx, x):
            return x * 2

        def backward(ctx, g):
            log.append(f"backward, retained {y.grad.item() if y.grad is not None else None}")
            return g * 2

    x = leaf(3.0)
    y = Twice.apply(x)
    y.grad_fn.register_prehook(note("pre"))
    y.grad_fn.register_hook(note("post"))
    y.register_hook(note("first"))
    y.retain_grad()
    y.register_hook(lambda g: (log.append(f"second, retained {y.grad}"), g * 10)[1])
    x.register_post_accumulate_grad_hook(lambda t: log.append(f"accumulated {t.grad.item()}"))
    x.register_hook(note("leaf"))
    y.backward()
    assert log == ["first", "second, retained None", "pre", "backward, retained 10.0", "post", "leaf",
                   "accumulated 20.0"]  # fmt: skip


# ---- tensor hooks ----------------------------------------------------------------------------------------


def test_a_hook_sees_the_gradient_and_may_replace_it(leaf):
    x = leaf([1.0, 2.0])
    y = x * 2
    seen = []
    y.register_hook(lambda g: seen.append(g.tolist()))
    y.register_hook(lambda g: g * 10)
    y.register_hook(lambda g: seen.append(g.tolist()))
    (y * 3).sum().backward()
    assert seen == [[3, 3], [30, 30]]
    assert x.grad.tolist() == [60, 60]


def test_a_hook_sees_the_sum_of_all_paths_once(leaf):
    seen = []
    x = leaf(2.0)
    x.register_hook(lambda g: seen.append(g.item()))
    (x * 3 + x * 4).backward()
    assert seen == [7]


def test_a_hook_on_a_leaf_replaces_what_is_accumulated(leaf):
    x = leaf([1.0, 2.0])
    x.register_hook(lambda g: g.clamp(-1, 1))
    (x * 100).sum().backward()
    (x * 100).sum().backward()
    assert x.grad.tolist() == [2, 2]


def test_hooks_on_one_of_several_outputs(leaf):
    x = leaf([1.0, 2.0])
    a, b = x.unbind()
    a.register_hook(lambda g: g * 10)
    (a * 2 + b * 3).backward()
    assert x.grad.tolist() == [20, 3]


def test_a_hook_applies_to_what_grad_returns(T, leaf):
    x = leaf(2.0)
    y = x * x
    y.register_hook(lambda g: g * 10)
    assert T.autograd.grad(y * 3, y, retain_graph=True)[0].item() == 30
    assert T.autograd.grad(y * 3, x)[0].item() == 120


def test_a_hook_that_computes_is_differentiated(T, leaf):
    x = leaf(2.0)
    y = x * 1
    y.register_hook(lambda g: g * x)
    (g,) = T.autograd.grad(y * 3, x, create_graph=True)
    assert g.item() == 6
    assert T.autograd.grad(g, x)[0].item() == 3


def test_nothing_is_recorded_in_a_hook_of_a_plain_pass(T, leaf):
    modes = []
    x = leaf(2.0)
    x.register_hook(lambda g: modes.append(T.is_grad_enabled()))
    (x * x).backward(retain_graph=True)
    (x * x).backward(create_graph=True)
    assert modes == [False, True]


def test_removing_a_hook(leaf):
    x = leaf(2.0)
    handle = x.register_hook(lambda g: g * 10)
    handle.remove()
    handle.remove()
    with x.register_hook(lambda g: g * 100):
        (x * 1).backward()
    (x * 1).backward()
    assert x.grad.item() == 101


def test_a_hook_may_remove_itself(leaf):
    seen = []

    def once(g):
        seen.append(g.item())
        handle.remove()

    x = leaf(2.0)
    handle = x.register_hook(once)
    x.register_hook(lambda g: seen.append("other"))
    (x * 3).backward()
    (x * 3).backward()
    assert seen == [3, "other", "other"]


def test_a_hook_belongs_to_the_value_it_was_put_on(leaf):
    log = []
    x = leaf([1.0, 1.0])
    y = x * 2
    y.register_hook(lambda g: log.append(("old", g.tolist())))
    y.mul_(3)
    y.register_hook(lambda g: log.append(("new", g.tolist())))
    (y * y).sum().backward()
    assert log == [("new", [12, 12]), ("old", [36, 36])]


def test_hooks_need_a_history(T, leaf):
    with pytest.raises(RuntimeError, match="cannot register a hook on a tensor that doesn't require gradient"):
        T.ones(2).register_hook(print)
    with pytest.raises(RuntimeError, match="cannot register a hook on a tensor that doesn't require gradient"):
        T.ones(2).register_post_accumulate_grad_hook(print)
    with pytest.raises(RuntimeError, match="post accumulate grad hooks cannot be registered on non-leaf tensors"):
        (leaf(1.0) * 2).register_post_accumulate_grad_hook(print)


# ---- retain_grad -----------------------------------------------------------------------------------------


def test_retain_grad(leaf):
    x = leaf([1.0, 2.0])
    y = x * 2
    assert not y.retains_grad
    y.retain_grad()
    y.retain_grad()
    assert y.retains_grad
    (y * y).sum().backward()
    assert y.grad.tolist() == [4, 8]


def test_retained_gradients_add_up(leaf):
    x = leaf([1.0, 2.0])
    y = x * 2
    y.retain_grad()
    (y * 3).sum().backward(retain_graph=True)
    (y * 5).sum().backward()
    assert y.grad.tolist() == [8, 8]


def test_a_retained_gradient_is_nobody_elses_memory(T, leaf):
    y = leaf([1.0, 2.0]) * 2
    y.retain_grad()
    v = T.ones(2, dtype=T.float64)
    y.backward(v)
    y.grad[0] = 100
    assert v.tolist() == [1, 1]


def test_a_recorded_retained_gradient_has_a_history(T, leaf):
    x = leaf(2.0)
    y = x * 1
    y.retain_grad()
    (y**3).backward(create_graph=True)
    assert T.autograd.grad(y.grad, x)[0].item() == 12


def test_retained_and_asked_for_counts_once(leaf):
    y = leaf(2.0) * 1
    y.retain_grad()
    (y * 3).backward(inputs=[y])
    assert y.grad.item() == 3


def test_on_a_leaf_it_does_nothing(leaf):
    x = leaf(1.0)
    x.retain_grad()
    assert not x.retains_grad
    (x * 2).backward()
    assert x.grad.item() == 2


def test_it_needs_a_history(T):
    with pytest.raises(RuntimeError, match="can't retain_grad on Tensor that has requires_grad=False"):
        T.ones(2).retain_grad()


def test_a_retained_gradient_does_not_follow_later_changes(leaf):
    x = leaf([1.0, 2.0])
    y = x * 2
    y.retain_grad()
    y.sum().backward()
    x.grad.add_(100)
    assert y.grad.tolist() == [1, 1]


@pytest.mark.parametrize("change", [
    lambda y: y.mul_(3),
    lambda y: y.__setitem__(slice(None), y * 3),
    lambda y: y.view(-1).mul_(3),
])  # fmt: skip
def test_after_an_in_place_change_it_is_that_of_the_new_value(leaf, change):
    x = leaf([1.0, 2.0])
    y = x * 2
    y.retain_grad()
    change(y)
    assert y.retains_grad
    (y * y).sum().backward()
    assert y.grad.tolist() == [12, 24]
    assert x.grad.tolist() == [72, 144]


def test_a_dropped_tensor_is_not_kept_alive_for_its_gradient():
    x = gradwright.ones(2, requires_grad=True)
    y = x * 2
    z = y.sum()
    y.retain_grad()
    del y
    z.backward()
    assert x.grad.tolist() == [2, 2]


# ---- node hooks ------------------------------------------------------------------------------------------


def test_a_post_hook_sees_and_replaces_the_gradients_of_the_inputs(T, leaf):
    x, y = leaf(2.0), leaf(3.0)
    z = x * y
    seen = []

    def hook(grad_inputs, grad_outputs):
        seen.append([[g.item() for g in gs] for gs in (grad_inputs, grad_outputs)])
        return tuple(g * 10 for g in grad_inputs)

    z.grad_fn.register_hook(hook)
    (z * 5).backward()
    assert seen == [[[15, 10], [5]]]
    assert (x.grad.item(), y.grad.item()) == (150, 100)


def test_a_pre_hook_sees_and_replaces_the_gradients_of_the_outputs(leaf):
    x = leaf(2.0)
    y = x * 3
    y.grad_fn.register_prehook(lambda grad_outputs: (grad_outputs[0] * 10,))
    y.backward()
    assert x.grad.item() == 30


def test_a_pre_hook_on_a_node_of_several_outputs(leaf):
    x = leaf([1.0, 2.0])
    a, b = x.unbind()
    seen = []

    def hook(grad_outputs):
        seen.append([None if g is None else g.item() for g in grad_outputs])
        return tuple(None if g is None else g * 10 for g in grad_outputs)

    a.grad_fn.register_prehook(hook)
    (a * 2 + b * 3).backward()
    assert seen == [[2, 3]]
    assert x.grad.tolist() == [20, 30]


def test_node_hooks_can_be_removed(leaf):
    x = leaf(2.0)
    y = x * 3
    y.grad_fn.register_hook(lambda gi, go: (gi[0] * 100, *gi[1:])).remove()
    with y.grad_fn.register_prehook(lambda go: (go[0] * 100,)):
        pass
    y.backward()
    assert x.grad.item() == 3


def test_post_accumulate_hooks_may_use_and_drop_the_gradient(leaf):
    x = leaf(2.0)

    def step(t):
        t.data.sub_(t.grad * 0.5)
        t.grad = None

    handle = x.register_post_accumulate_grad_hook(step)
    (x * x).backward()
    assert x.item() == 0
    assert x.grad is None
    handle.remove()
    (x * 3).backward()
    assert x.grad.item() == 3


def test_hooks_on_the_node_of_a_leaf(leaf):
    x = leaf([1.0, 2.0])
    node = (x * 2).grad_fn.next_functions[0][0]
    seen = []
    node.register_prehook(lambda grad_outputs: (grad_outputs[0] * 10,))
    node.register_hook(lambda grad_inputs, grad_outputs: seen.append((len(grad_inputs), grad_outputs[0].tolist())))
    (x * 3).sum().backward()
    assert x.grad.tolist() == [30, 30]
    assert seen == [(0, [30, 30])]


def test_node_hooks_do_not_run_where_the_node_does_not(T, leaf):
    x = leaf(2.0)
    y = x * 3
    y.grad_fn.register_prehook(lambda grad_outputs: (grad_outputs[0] * 10,))
    (g,) = T.autograd.grad(y * 5, y)
    assert g.item() == 5


def test_node_hooks_get_one_gradient_for_each_edge(leaf, T):
    seen = []
    x, constant = leaf([1.0, 2.0]), T.ones(2, dtype=T.float64)

    class F(functions(T)):
        def forward(ctx, a, factor, b, c):
            return a * factor * b * c

        def backward(ctx, g):
            return g, None, None, g * 2

    for y in (x * constant, F.apply(x, 3, constant, x)):
        y.grad_fn.register_hook(lambda inputs, outputs: seen.append([as_list(inputs), len(outputs)]))
        y.sum().backward()
    assert seen == [[[[1, 1], None], 1], [[[1, 1], None, [2, 2]], 1]]


def as_list(grads):
    return [None if g is None else g.tolist() for g in grads]


def test_node_hooks_on_several_outputs_get_one_gradient_for_each(leaf):
    x, seen = leaf([1.0, 2.0]), []
    a, _ = x.unbind()
    a.grad_fn.register_prehook(lambda grad_outputs: seen.append(as_list(grad_outputs)))
    a.grad_fn.register_hook(lambda grad_inputs, grad_outputs: seen.append(as_list((*grad_inputs, *grad_outputs))))
    (a * 2).backward()
    assert seen == [[2, None], [[2, 0], 2, None]]


def test_node_hooks_may_drop_a_gradient(leaf):
    x, y = leaf(2.0), leaf(3.0)
    z = x * y
    handle = z.grad_fn.register_hook(lambda grad_inputs, grad_outputs: (None, grad_inputs[1]))
    z.backward(retain_graph=True)
    assert x.grad is None
    assert y.grad.item() == 2
    handle.remove()
    z.grad_fn.register_prehook(lambda grad_outputs: (None,))
    z.backward()
    assert x.grad is None


def test_node_hooks_of_a_leaf_run_where_it_accumulates(T, leaf):
    x, log = leaf([1.0, 2.0]), []
    node = (x * 1).grad_fn.next_functions[0][0]
    x.register_hook(lambda g: log.append("tensor"))
    x.register_post_accumulate_grad_hook(lambda t: log.append(("post-accumulate", T.is_grad_enabled())))
    node.register_prehook(lambda grad_outputs: log.append("pre"))
    node.register_hook(lambda grad_inputs, grad_outputs: log.append("post"))
    T.autograd.grad((x * 1).sum(), x)
    assert log == ["tensor"]
    (x * 1).sum().backward(inputs=[x])
    assert log[1:] == ["tensor", "pre", ("post-accumulate", False), "post"]


def test_hooks_of_what_is_not_needed_do_not_run(T, leaf):
    x, w, log = leaf(2.0), leaf(5.0), []
    z = w * 2
    z.register_hook(lambda g: log.append("z"))
    T.autograd.grad((z, x * 1), x, (T.ones((), dtype=T.float64),) * 2)
    assert log == []


# ---- what hooks do to other hooks, and to gradients ------------------------------------------------------


def test_hooks_of_the_same_tensor_are_those_there_were_when_its_turn_came(leaf):
    log, y = [], leaf(1.0) * 2

    def first(g):
        log.append("first")
        second.remove()
        y.register_hook(lambda g: log.append("late"))

    y.register_hook(first)
    second = y.register_hook(lambda g: log.append("second"))
    y.backward(retain_graph=True)
    assert log == ["first", "second"]


def test_hooks_may_take_off_and_add_hooks_to_come(leaf):
    log, y = [], leaf(1.0) * 2
    z = y * 3
    old = y.register_hook(lambda g: log.append("old"))

    def change(g):
        old.remove()
        y.register_hook(lambda g: log.append("new"))
        y.grad_fn.register_hook(lambda grad_inputs, grad_outputs: log.append("post"))

    z.register_hook(change)
    z.backward()
    assert log == ["new", "post"]


def test_a_hook_may_change_the_gradient_in_place(T, leaf):
    x, v = leaf([1.0, 2.0]), T.ones(2, dtype=T.float64)
    x.register_hook(lambda g: (g.mul_(10), None)[1])
    x.register_hook(lambda g: g.add_(1))
    (x * 1).backward(v)
    assert x.grad.tolist() == [11, 11]


@pytest.mark.parametrize("create_graph", [False, True])
def test_what_a_hook_changes_in_place_is_nobody_elses(create_graph):  # (in PyTorch y and v get it, too)
    x, y, v = gradwright.ones(2, requires_grad=True), gradwright.ones(2, requires_grad=True), gradwright.ones(2)
    x.register_hook(lambda g: (g.mul_(10), None)[1])
    (x + y).backward(v, create_graph=create_graph)
    assert (x.grad.tolist(), y.grad.tolist(), v.tolist()) == ([10, 10], [1, 1], [1, 1])


def test_hooks_stay_with_the_value_through_views(leaf):
    log, x = [], leaf([1.0, 2.0])
    y = x * 1
    v = y[:1]
    y.register_hook(lambda g: log.append(("y before", g.tolist())))
    y.retain_grad()
    v.mul_(3)
    y.register_hook(lambda g: log.append(("y after", g.tolist())))
    v.register_hook(lambda g: log.append("v after, which leads nowhere"))
    (y * 2).sum().backward()
    assert log == [("y after", [2, 2]), ("y before", [6, 2])]
    assert y.grad.tolist() == [2, 2]


def test_hooks_of_a_leaf_that_was_dropped(leaf):
    log, x = [], leaf(2.0)
    x.register_post_accumulate_grad_hook(lambda t: log.append((t.item(), t.grad.item())))
    x.register_hook(lambda g: log.append(g.item()))
    y = x * 1
    del x
    y.backward()
    assert log == [1, (2, 1)]


def test_handles_number_hooks(leaf):
    x = leaf(1.0)
    assert x.register_hook(print).id < x.register_hook(print).id


def test_a_hook_that_holds_its_handle_is_freed_with_its_graph(leaf):
    y = leaf(1.0) * 2

    def once(g):
        handle.remove()

    handle = y.register_hook(once)
    gone = weakref.ref(once)
    del y, once
    assert gone() is None
    handle.remove()


ORDERS = {
    "product": (lambda T, x, y, z: x * y, "xy"),
    "turned": (lambda T, x, y, z: y * x, "yx"),
    "stack": (lambda T, x, y, z: T.stack([z, x, y]), "zxy"),
    "last use": (lambda T, x, y, z: x * y + z * x, "zxy"),
    "depths": (lambda T, x, y, z: (x * 2) * (y * 3) * (z * 4), "zyx"),
    "linear": (lambda T, x, y, z: T.nn.functional.linear(x[None], y[None], z), "zyx"),
}


@pytest.mark.parametrize("name", ORDERS)
def test_leaves_come_in_the_order_in_which_their_gradients_are_complete(T, leaf, name) -> None:
    x, y, z, log = leaf([1.0]), leaf([2.0]), leaf([3.0]), []
    for key, t in zip("xyz", (x, y, z), strict=True):
        t.register_hook(lambda g, key=key: log.append(key))
        t.register_post_accumulate_grad_hook(lambda t, key=key: log.append(key.upper()))
    function, order = ORDERS[name]
    function(T, x, y, z).sum().backward()
    assert "".join(k for k in log if k.islower()) == order
    assert "".join(k for k in log if k.isupper()) == order.upper()


def test_a_linear_layer_is_one_node_over_bias_input_and_weight(T, leaf) -> None:
    x, weight, bias = leaf([[1.0]]), leaf([[2.0]]), leaf([3.0])
    before = T.nn.functional.linear(x, weight, bias).grad_fn.next_functions
    assert [n.variable for n, _ in before[:2]] == [bias, x]


def test_the_copy_of_a_handle_takes_off_the_copy_of_the_hook(T) -> None:
    layer = T.nn.Linear(1, 1)
    handle = layer.register_forward_hook(print)
    layer_too, handle_too = copy.deepcopy((layer, handle))
    handle_too.remove()
    assert not layer_too._forward_hooks
    assert layer._forward_hooks
    del layer
    if T is gradwright:  # PyTorch's cannot be copied then
        copy.copy(handle).remove()


def test_a_watch_sees_hooks_with_what_they_get() -> None:
    class Names(Watch):
        def compute(self, name, inputs, call):
            seen.append((name, [t.item() for t in inputs if isinstance(t, gradwright.Tensor)]))
            return call()

    def double(g):
        return g * 2

    seen = []
    x = gradwright.ones(1, requires_grad=True)
    y = x * 3
    y.register_hook(double)
    with Names():
        y.sum().backward()
    assert x.grad.item() == 6
    assert [(name.split("'")[1], given) for name, given in seen if name.startswith("hook")] == [("double", [1.0])]
