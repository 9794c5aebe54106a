"""Hooks on modules: when they run, what they are given, what becomes of what they return, and of what they raise."""

import collections
import copy
import pickle  # noqa: TID251 - what is loaded here was made here
import sys

import pytest

import gradwright as gw


def module(lib, forward):
    """A module of this forward, and a list for its hooks to write to."""

    class Made(lib.nn.Module):
        def forward(self, *args, **kwargs):
            return forward(*args, **kwargs)

    return Made()


def plain(grads):
    return [None if g is None else g.tolist() for g in grads]


@pytest.fixture
def one(lib):
    return lib.ones(1, requires_grad=True)


# ---- forward --------------------------------------------------------------------------------------------


def test_keywords_are_seen_and_replaced(lib):
    m, seen = module(lib, lambda x, k=0: x + k), []
    m.register_forward_pre_hook(lambda m, a, k: ((a[0] + 1,), {"k": 10}), with_kwargs=True)
    m.register_forward_hook(lambda m, a, k, out: seen.append((a, k, out)), with_kwargs=True)
    assert m(1, k=3) == 12
    assert seen == [((2,), {"k": 10}, 12)]


@pytest.mark.parametrize("wrong", [3, (1,), [(), {}]])
def test_a_pre_hook_that_returns_something_else(lib, wrong):
    m = module(lib, lambda x: x)
    m.register_forward_pre_hook(lambda m, a, k: wrong, with_kwargs=True)
    with pytest.raises(RuntimeError, match=r"forward pre-hook must return None or a tuple of \(new_args, new_kwargs\)"):
        m(1)


def test_prepended_hooks_run_first(lib, one):
    m, order = module(lib, lambda x: x * 3), []

    def note(*what):
        return lambda *_: order.append(what)

    for k in range(3):
        m.register_forward_pre_hook(note("pre", k), prepend=k == 1)
        m.register_forward_hook(note("post", k), prepend=k == 1)
        m.register_full_backward_pre_hook(note("backward pre", k), prepend=k == 1)
        m.register_full_backward_hook(note("backward", k), prepend=k == 1)
    m(one).backward()
    assert order == [(what, k) for what in ("pre", "post", "backward pre", "backward") for k in (1, 0, 2)]


def test_a_hook_that_is_always_called(lib):
    def fail(x):
        raise ValueError("no")

    m, seen = module(lib, fail), []
    m.register_forward_hook(lambda m, a, out: seen.append("never"))
    m.register_forward_hook(lambda m, a, out: seen.append(("always", a, out)), always_call=True)
    with pytest.raises(ValueError, match="no"):
        m(1)
    assert seen == [("always", (1,), None)]


def test_each_hook_that_is_always_called_runs_once(lib):
    def fail(m, a, out):
        raise KeyError("mine")

    m, seen = module(lib, lambda x: x), []
    m.register_forward_hook(lambda m, a, out: seen.append("first"), always_call=True)
    m.register_forward_hook(fail)
    m.register_forward_hook(lambda m, a, out: seen.append(("last", out)), always_call=True)
    with pytest.raises(KeyError, match="mine"):
        m(1)
    assert seen == ["first", ("last", 1)]


def test_what_an_always_called_hook_raises_hides_nothing(lib):
    def fail(what):
        def hook(*_):
            raise ValueError(what)

        return hook

    m = module(lib, fail("first"))
    m.register_forward_hook(fail("second"), always_call=True)
    silenced = pytest.warns(UserWarning, match="raised an exception that was silenced")
    with silenced, pytest.raises(ValueError, match="first"):
        m(1)


def test_hooks_taken_off_while_they_run_count_from_the_next_call_on(lib):
    m, seen, handles = module(lib, lambda x: x), [], []
    m.register_forward_hook(lambda m, a, out: [h.remove() for h in handles] and None)
    handles += [m.register_forward_hook(lambda m, a, out, k=k: seen.append(k)) for k in range(2)]
    m(1)
    counted = len(seen)
    m(1)
    assert len(seen) == counted


def test_hooks_put_on_while_they_run_count_from_the_next_call_on(lib):
    m, seen = module(lib, lambda x: x), []
    m.register_forward_hook(lambda m, a, out: m.register_forward_hook(lambda m, a, out: seen.append(1)) and None)
    m(1)
    assert seen == []
    m(1)
    assert seen == [1]


# ---- backward -------------------------------------------------------------------------------------------


def watched(m):
    """What the backward hooks of a module see."""
    seen = []
    m.register_full_backward_pre_hook(lambda m, out: seen.append(plain(out)))
    m.register_full_backward_hook(lambda m, into, out: seen.append((plain(into), plain(out))))
    return seen


def test_gradients_of_several_arguments_and_results(lib):
    m = module(lib, lambda x, y: (x * y, x + y))
    seen = watched(m)
    x, y = lib.ones(2, requires_grad=True), lib.full((2,), 3.0, requires_grad=True)
    m(x, y)[0].sum().backward()
    assert seen == [[[1, 1], None], ([[3, 3], [1, 1]], [[1, 1], None])]
    assert (x.grad.tolist(), y.grad.tolist()) == ([3, 3], [1, 1])


def test_what_needs_no_gradient_has_none():
    one = gw.ones(1, requires_grad=True)
    m = module(gw, lambda x, y, n: (x * y, gw.tensor([1]), "text"))
    seen = watched(m)
    m(one, gw.full((1,), 3.0), 5)[0].backward()
    assert seen == [[[1], None, None], ([[3], None, None], [[1], None, None])]


@pytest.mark.filterwarnings("ignore:Full backward hook is firing:UserWarning")
def test_arguments_that_need_no_gradient(lib, one):
    m = module(lib, lambda x: x * one)
    seen = watched(m)
    m(lib.ones(1)).backward()
    assert seen == [[[1]], ([None], [[1]])]
    m.register_full_backward_hook(lambda m, into, out: (lib.ones(1),))
    with pytest.raises(RuntimeError, match="Backward hook for Modules where no input requires gradient should always"):
        m(lib.ones(1)).backward()


def test_what_they_return_goes_on(lib, one):
    m = module(lib, lambda x: x * 3)
    m.register_full_backward_pre_hook(lambda m, out: (out[0] * 2,))
    m.register_full_backward_hook(lambda m, into, out: (into[0] * 10,))
    m(one).backward()
    assert one.grad.tolist() == [60]


def test_a_gradient_can_be_dropped(lib, one):
    m, y = module(lib, lambda x, y: x * y), lib.ones(1, requires_grad=True)
    m.register_full_backward_hook(lambda m, into, out: (None, into[1]))
    m(one, y).backward()
    assert (one.grad, y.grad.tolist()) == (None, [1])


@pytest.mark.parametrize(("register", "wrong", "message"), [
    ("hook", lambda g: (g, g), "hook returned an invalid number of grad_input, got 2, but expected 1"),
    ("pre_hook", lambda g: (g, g), "pre hook returned an invalid number of grad_output, got 2, but expected 1"),
    ("hook", lambda g: (), "hook returned an invalid number of grad_input, got 0, but expected 1"),
    ("hook", lambda g: ("text",), "expected Variable, but hook returned|must be|Tensor"),
    ("hook", lambda g: (g[None],), "changed the size of value"),
])  # fmt: skip
def test_wrong_results(lib, register, wrong, message):
    m, x = module(lib, lambda x: x * 3), lib.ones(2, requires_grad=True)
    getattr(m, f"register_full_backward_{register}")(lambda m, *grads: wrong(grads[0][0]))
    with pytest.raises((RuntimeError, TypeError), match=message) as caught:
        m(x).sum().backward()
    if lib is gw:
        assert f"hook '<lambda>' ({__file__}:" in str(caught.value)
        assert not hasattr(caught.value, "__notes__")


def test_a_result_of_the_wrong_kind():
    one = gw.ones(1, requires_grad=True)
    m = module(gw, lambda x: x * 3)
    m.register_full_backward_hook(lambda m, into, out: 3)
    with pytest.raises(RuntimeError, match="invalid number of grad_input, got int, but expected 1"):
        m(one).backward()


def test_what_a_hook_raises_reaches_the_caller(lib, one):
    def fail(*_):
        raise KeyError("mine")

    m = module(lib, lambda x: x * 3)
    m.register_full_backward_hook(fail)
    with pytest.raises(KeyError, match="mine"):
        m(one).backward()


def test_the_outer_module_is_asked_first_and_told_last(lib, one):
    net, seen = lib.nn.Sequential(module(lib, lambda x: x * 2), module(lib, lambda x: x * 3)), []
    for name, m in net.named_modules():
        m.register_full_backward_pre_hook(lambda m, out, name=name: seen.append((name, plain(out))))
        m.register_full_backward_hook(lambda m, into, out, name=name: seen.append((name, plain(into), plain(out))))
    net(one).backward()
    assert seen == [
        ("", [[1]]), ("1", [[1]]), ("1", [[3]], [[1]]), ("0", [[3]]), ("0", [[6]], [[3]]), ("", [[6]], [[1]]),
    ]  # fmt: skip


def test_a_second_derivative_goes_through(lib, one):
    m, seen = module(lib, lambda x: x * x * x), []
    m.register_full_backward_hook(lambda m, into, out: seen.append(plain(into)))
    (first,) = lib.autograd.grad(m(one), one, create_graph=True)
    (second,) = lib.autograd.grad(first, one)
    assert (first.tolist(), second.tolist(), seen[0]) == ([3], [6], [[3]])


def test_nothing_is_seen_under_no_grad(lib, one):
    m = module(lib, lambda x: x * 3)
    seen = watched(m)
    with lib.no_grad():
        assert not m(one).requires_grad
    assert seen == []


def test_a_named_tuple_stays_one(lib, one):
    pair = collections.namedtuple("pair", "a b")
    m = module(lib, lambda x: pair(x * 3, x))
    seen = watched(m)
    out = m(one)
    out.a.backward()
    assert isinstance(out, pair)
    assert seen == [[[1], None], ([[3]], [[1], None])]


# ---- on all modules -------------------------------------------------------------------------------------


def test_hooks_on_all_modules(lib, one):
    home = gw.nn.hooks if lib is gw else lib.nn.modules.module
    net, seen = lib.nn.Sequential(lib.nn.Identity()), []

    def note(what):
        return lambda m, *_: seen.append((what, type(m).__name__))

    net[0].register_forward_hook(note("own"))
    handles = [getattr(home, f"register_module_{kind}")(note(kind)) for kind in
               ("forward_pre_hook", "forward_hook", "full_backward_pre_hook", "full_backward_hook")]  # fmt: skip
    try:
        net(one).backward()
    finally:
        for handle in handles:
            handle.remove()
    assert seen == [
        ("forward_pre_hook", "Sequential"), ("forward_pre_hook", "Identity"),
        ("forward_hook", "Identity"), ("own", "Identity"), ("forward_hook", "Sequential"),
        ("full_backward_pre_hook", "Sequential"), ("full_backward_pre_hook", "Identity"),
        ("full_backward_hook", "Identity"), ("full_backward_hook", "Sequential"),
    ]  # fmt: skip
    before = len(seen)
    net(one)
    assert len(seen) == before + 1


# ---- copies and cost ------------------------------------------------------------------------------------


def mark(m, args):
    return (args[0] + 1,)


def test_the_handle_of_a_copy_takes_off_the_hook_of_the_copy(lib):
    m = lib.nn.Identity()
    m.handle = m.register_forward_pre_hook(mark)
    twin = copy.deepcopy(m)
    twin.handle.remove()
    assert (twin(1), m(1)) == (1, 2)


def test_hooks_are_pickled():
    m = gw.nn.Identity()
    m.handle = m.register_forward_pre_hook(mark)
    twin = pickle.loads(pickle.dumps(m))  # noqa: S301
    assert twin(1) == 2
    twin.register_forward_pre_hook(mark)
    assert twin(1) == 3
    twin.handle.remove()
    assert twin(1) == 2


def test_a_call_without_hooks_runs_forward_and_nothing_else(monkeypatch):
    monkeypatch.setattr(gw.nn.module, "_everywhere", [])
    m, ran = gw.nn.Identity(), []
    sys.setprofile(lambda frame, event, arg: ran.append((event, frame.f_code.co_name)))
    m(1)
    sys.setprofile(None)
    assert ran[:4] == [("call", "__call__"), ("call", "forward"), ("return", "forward"), ("return", "__call__")]
    assert m._hooks is None


def test_hooks_that_were_taken_off_cost_nothing_any_more():
    m = gw.nn.LazyLinear(2)
    m.register_forward_hook(lambda *_: None).remove()
    gw.nn.hooks.register_module_forward_hook(lambda *_: None).remove()
    m(gw.ones(1, 3))  # which takes off the hooks of a lazy module
    m(gw.ones(1, 3))
    assert m._hooks is None
    assert gw.nn.hooks.everywhere == []
    m.register_state_dict_post_hook(lambda *_: None)
    m(gw.ones(1, 3))
    assert m._hooks


def test_programs_see_the_functions_and_take_them_off(torch):
    for t in (gw, torch):
        net, calls = t.nn.Linear(1, 1), []

        def before(module, args, calls=calls):
            calls.append(args)

        net.register_forward_pre_hook(before)
        assert list(net._forward_pre_hooks.values()) == [before]
        (key,) = net._forward_pre_hooks
        del net._forward_pre_hooks[key]
        net(t.ones(1))
        assert not calls
