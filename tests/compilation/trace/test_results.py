"""What compiled calls return beside new tensors: views, aliases, leaves, gradients, as the eager run does."""

import warnings

import pytest

import gradwright as gw


def calls(f, *args, n=4):
    """The results of several compiled calls; the last are of the program."""
    compiled = gw.compile(f)
    found = [compiled(*args) for _ in range(n)]
    assert compiled.programs.reason == ""
    assert len(compiled.programs.traced) == 1
    return found


def test_views_of_arguments_are_views_of_them():
    x = gw.arange(4.0)
    for tail, pair in calls(lambda x: (x[1:], x.split(2)), x):
        assert tail._base is x
        pair[1].add_(1)
    assert x.tolist() == [0.0, 1.0, 6.0, 7.0]
    assert x._version == 4


def test_views_of_what_is_made_share_its_memory_and_history():
    w = gw.tensor([1.0, 2.0, 3.0], requires_grad=True)

    def f(x):
        y = w * x
        return y[1:], y.view(3, 1)

    for tail, column in calls(f, gw.ones(3)):
        assert tail._base is column._base
        assert tail.grad_fn.name() == "SliceBackward0"
        (g,) = gw.autograd.grad(tail.sum() + 2 * column.sum(), w)
        assert g.tolist() == [2.0, 3.0, 3.0]
        with gw.no_grad():
            tail.zero_()
        assert column.flatten().tolist() == [1.0, 0.0, 0.0]


def test_views_made_without_recording_have_no_history():
    w = gw.tensor([1.0, 2.0], requires_grad=True)

    def f():
        with gw.no_grad():
            return w[1:]

    for part in calls(f):
        assert part._node is None
        assert part._base is w


def test_what_is_detached_shares_memory_and_version():
    x = gw.arange(3.0)
    for y, same in calls(lambda x: (x[1:].detach(), x.detach()), x):
        assert not y._is_view() or y._base is x
        same.add_(1)
        assert x._version == y._version == same._version
        assert y.tolist() == x[1:].tolist()


def test_versions_are_those_of_the_eager_run():
    assert [y._version for y in calls(lambda x: (x * 1).add_(1).mul_(2), gw.ones(2))] == [2] * 4


def test_leaves_made_inside_are_leaves():
    for a, b in calls(lambda x: ((x * 2).requires_grad_(), gw.zeros(2, requires_grad=True)), gw.ones(2)):
        (a * b).sum().backward()
        assert a.is_leaf
        assert b.grad.tolist() == [2.0, 2.0]


def test_leaves_made_inside_keep_their_gradient():
    def f(x):
        w = gw.ones(2, requires_grad=True)
        (w * x).sum().backward()
        return w

    assert [w.grad.tolist() for w in calls(f, gw.tensor([3.0, 4.0]))] == [[3.0, 4.0]] * 4


def test_a_gradient_that_is_returned_and_cleared():
    w = gw.ones(2, requires_grad=True)

    def f():
        g, w.grad = w.grad, None
        return g

    compiled = gw.compile(f)
    for k in range(5):
        given = w.grad = gw.tensor([1.0 * k, 2.0])
        assert compiled() is given
        assert w.grad is None
    assert len(compiled.programs.traced) == 1


def test_gradients_that_are_exchanged():
    a, b = gw.ones(2, requires_grad=True), gw.ones(2, requires_grad=True)

    def f():
        a.grad, b.grad = b.grad, a.grad

    compiled = gw.compile(f)
    for _ in range(5):
        one, other = a.grad, b.grad = gw.zeros(2), gw.ones(2)
        compiled()
        assert a.grad is other
        assert b.grad is one


def test_gradients_with_a_history_that_are_left_in_grad():
    w = gw.tensor([1.0, 2.0], requires_grad=True)

    def f(x):
        w.grad = None
        (w ** 3 * x).sum().backward(create_graph=True)

    for compiled in (f, gw.compile(f)):
        for k in range(5):
            compiled(gw.tensor([1.0, 1.0 + k]))
            (g,) = gw.autograd.grad(w.grad.sum(), w)
            assert g.tolist() == [6.0, 12.0 * (1 + k)]


def test_a_result_that_counts_calls_is_not_believed():
    seen = []

    def f(x):
        seen.append(0)
        return x * 1, len(seen)

    compiled = gw.compile(f)
    with pytest.warns(UserWarning, match="eagerly"):
        assert [compiled(gw.ones(1))[1] for _ in range(5)][-1] == len(seen)


def test_a_tensor_that_is_given_twice():
    x, y = gw.ones(2), gw.zeros(2)
    f = gw.compile(lambda a, b: a * 2 + b)
    assert [f(x, x).tolist() for _ in range(4)] == [[3.0, 3.0]] * 4
    assert f(x, y).tolist() == [2.0, 2.0]
    assert f(y, y).tolist() == [0.0, 0.0]
    assert f(x, x.detach()).tolist() == [3.0, 3.0]


def test_two_tensors_and_then_one_twice():
    a, b = (gw.full((2,), k, requires_grad=True) for k in (2.0, 3.0))

    def step(a, b):
        a.grad = b.grad = None
        (a * b * b).sum().backward()

    compiled = gw.compile(step)
    for _ in range(4):
        compiled(a, b)
        assert (a.grad.tolist(), b.grad.tolist()) == ([9.0, 9.0], [12.0, 12.0])
    compiled(a, a)
    assert a.grad.tolist() == [12.0, 12.0]


def test_an_argument_that_is_also_captured():
    w = gw.ones(2)
    f = gw.compile(lambda a: a * 2 + w)
    assert [f(w).tolist() for _ in range(4)] == [[3.0, 3.0]] * 4
    assert f(gw.zeros(2)).tolist() == [1.0, 1.0]


def test_gradients_and_versions_of_arguments_are_those_of_each_call():
    def step(w, x):
        w.grad = None
        x.add_(1)
        (w * w * x).sum().backward()

    compiled = gw.compile(step)
    for k in range(5):
        w, x = gw.full((2,), float(k), requires_grad=True), gw.zeros(2)
        compiled(w, x)
        assert w.grad.tolist() == [2.0 * k] * 2
        assert x._version == 1
    assert compiled.programs.reason == ""
    assert len(compiled.programs.traced) == 1


def test_data_has_a_version_of_its_own():
    x = gw.arange(3.0)
    for y, part in calls(lambda x: (x.data, x[1:].data.add_(1)), x):
        assert (y._version, part._version, x._version) == (0, 1, 0)
        assert part.tolist() == x[1:].tolist() == y[1:].tolist()


def test_a_reshaped_view_that_copies_is_no_view():
    x = gw.arange(6.0).view(2, 3).t()

    def f(x):
        y = x.reshape(-1)
        y.add_(1)
        return y, x.clone().contiguous() * 1

    for y, z in calls(f, x):
        assert not y._is_view()
        assert z.is_contiguous()
    assert x.flatten().tolist() == [0.0, 3.0, 1.0, 4.0, 2.0, 5.0]


def test_hooks_hung_on_arguments_keep_a_step_eager():
    def f(x):
        x.register_hook(lambda g: -g)
        return x * 2

    compiled = gw.compile(f)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        for _ in range(4):
            x = gw.ones(2, requires_grad=True)
            compiled(x).sum().backward()
            assert x.grad.tolist() == [-2.0, -2.0]
    assert "hook" in str(heard[0].message)


@pytest.mark.parametrize("change", [lambda x: x.t_(), lambda x: x.unsqueeze_(0), lambda x: x.squeeze_()])
def test_arguments_that_are_rearranged(change):
    compiled = gw.compile(lambda x: change(x) * 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(4):
            x, y = gw.ones(2, 1, 3), gw.ones(2, 1, 3)
            x, y = (x[:, 0], y[:, 0]) if change(x.clone()[:, 0]).dim() == 2 else (x, y)
            change(y)
            compiled(x)
            assert (x.shape, x.stride()) == (y.shape, y.stride())


def test_results_lie_in_memory_as_those_of_the_eager_run():
    def f(x):
        y = (x * 1).t_()
        y.fill_(2.5)
        return y, x.t().clone() * 2, x.t().contiguous().tanh(), (x.t() + 1).exp()

    x = gw.arange(6.0).view(2, 3)
    for found in calls(f, x):
        assert [t.stride() for t in found] == [t.stride() for t in f(x)]
