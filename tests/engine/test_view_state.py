"""What becomes of tensors that are rearranged, resized or made to show other memory, and of views of them."""

import re
from contextlib import nullcontext

import numpy as np
import pytest

import gradwright

# ---- views of what takes up a history later ------------------------------------------------------------------


@pytest.mark.parametrize("quiet", [False, True])
def test_a_view_of_what_requires_grad_later(T, quiet):
    base = T.zeros(4)
    with T.set_grad_enabled(not quiet):
        v = base[:2]
    assert not v.requires_grad
    base.requires_grad_()
    assert v.requires_grad
    assert v.is_leaf
    y = (v * 2).sum()
    assert y.requires_grad
    y.backward()  # the gradient goes nowhere: there was no history when the view was made
    assert v.grad is None
    assert base.grad is None
    base.requires_grad_(False)
    assert not v.requires_grad
    assert not (v * 2).requires_grad


def test_a_view_made_in_no_grad_says_that_it_requires_grad(T, leaf):
    y = leaf([1.0, 2.0]) * 1
    with T.no_grad():
        v = y[:1]
    assert v.requires_grad
    assert v.is_leaf
    assert v._is_view()
    with pytest.raises(RuntimeError, match="A view was created in no_grad mode and is being modified inplace"):
        v.add_(1)
    y.add_(1)
    assert v.requires_grad
    for ask in (lambda: v.grad_fn, lambda: v.is_leaf, lambda: v * 2, lambda: v.register_hook(print)):
        with pytest.raises(RuntimeError, match="its base or another view of its base has been modified inplace"):
            ask()
    with T.no_grad():
        assert (v * 2).tolist() == [4]


def test_a_view_that_is_a_leaf_takes_up_its_base_s_history_when_that_is_written(T, leaf):
    base = T.zeros(3, dtype=T.float64)
    v = base[:2].requires_grad_()
    assert v._is_view()
    assert v._base is base
    assert not base.requires_grad
    x = leaf(3.0)
    base.add_(x)
    assert not v.is_leaf
    v.sum().backward()
    assert x.grad.item() == 2


def test_a_view_of_what_was_detached_in_place_goes_on(T, leaf):
    x = leaf([1.0, 2.0])
    y = x * 3
    v = y[:1]
    y.detach_()
    assert not y.requires_grad
    assert v.requires_grad
    v.sum().backward()
    assert x.grad.tolist() == [3, 0]
    y.add_(1)
    assert v.requires_grad
    warns = pytest.warns(gradwright.errors.GradientWarning, match="lost its history")
    with warns if T is gradwright else nullcontext():
        v.sum().backward()
    assert x.grad.tolist() == [3, 0]


# ---- rearranged in place ------------------------------------------------------------------------------------

REARRANGED = {
    "t_": (lambda x: x.t_(), lambda x: x.t()),
    "transpose_": (lambda x: x.transpose_(0, 1), lambda x: x.transpose(0, 1)),
    "unsqueeze_": (lambda x: x.unsqueeze_(0), lambda x: x.unsqueeze(0)),
    "squeeze_": (lambda x: x.squeeze_(), lambda x: x.squeeze()),
    "swapaxes_": (lambda x: x.swapaxes_(0, 1), lambda x: x.swapaxes(0, 1)),
    "as_strided_": (lambda x: x.as_strided_((6,), (1,)), lambda x: x.as_strided((6,), (1,))),
}  # fmt: skip


@pytest.mark.parametrize("name", REARRANGED)
def test_rearranged_in_place(T, leaf, name):
    change, form = REARRANGED[name]
    x = leaf([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    y = x * 2
    v = y[0]
    assert change(y) is y
    assert y._version == v._version == 1
    assert not y._is_view()
    assert y._base is None
    assert v._base is y
    assert y.tolist() == form(x * 2).tolist()
    y.mul_(y.detach().clone())
    v.add_(1)
    weights = T.arange(6, dtype=T.float64).reshape(y.shape)
    (y * weights).sum().backward()
    u = leaf(x.tolist())
    (form((u * 2) ** 2 / 2) * weights).sum().backward()
    np.testing.assert_allclose(x.grad.tolist(), u.grad.tolist())
    assert v.tolist() == [5, 17, 37]


def test_rearranging_a_leaf(T, leaf):
    x = leaf([[1.0, 2.0, 3.0]])
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used in an in-place operation"):
        x.t_()
    with T.no_grad():
        x.t_()
    assert x.is_leaf
    assert x.requires_grad
    (x * x).sum().backward()
    assert x.grad.tolist() == [[2], [4], [6]]


def test_rearranging_in_no_grad_keeps_the_history():  # (PyTorch's no longer fits the tensor then, and backward fails)
    x = gradwright.ones(2, 3, requires_grad=True)
    y = x * 2
    with gradwright.no_grad():
        y.t_()
    (y * gradwright.arange(6.0).reshape(3, 2)).sum().backward()
    assert x.grad.tolist() == [[0, 4, 8], [2, 6, 10]]


@pytest.mark.parametrize("of", ["a leaf", "a leaf that is a view", "a result"])
@pytest.mark.parametrize("name", REARRANGED)
def test_rearranging_a_view_in_no_grad_keeps_the_history(name, of):
    change, form = REARRANGED[name]
    whole = gradwright.arange(6.0)
    x = (whole.clone() if of == "a leaf" else whole).reshape(2, 3)
    x = (x.clone() if of == "a leaf" else x).requires_grad_()
    v = (x * 1 if of == "a result" else x)[:]
    with gradwright.no_grad():
        change(v)
    weights = gradwright.arange(6.0).reshape(v.shape)
    (v * weights).sum().backward()
    u = x.detach().clone().requires_grad_()
    (form(u) * weights).sum().backward()
    assert x.grad.tolist() == u.grad.tolist()


# ---- other memory -------------------------------------------------------------------------------------------


def test_data_shares_memory_only(T, leaf):
    x = leaf([1.0, 2.0])
    y = (x * x).sum()
    x.data.add_(1)
    assert x._version == 0
    assert x.tolist() == [2, 3]
    with pytest.warns(UserWarning, match="written through .data") if T is gradwright else nullcontext():
        y.backward()
    assert x.grad.tolist() == [4, 6]  # the new values: `.data` does not count


def test_assigning_data(T, leaf):
    x = leaf([1.0, 2.0])
    x.data = T.tensor([5.0, 6.0, 7.0], dtype=T.float64)
    assert x.is_leaf
    assert x.requires_grad
    (x * x).sum().backward()
    assert x.grad.tolist() == [10, 12, 14]


def test_the_data_of_a_leaf_that_was_dropped():
    x = gradwright.ones(2, requires_grad=True)
    x.data = gradwright.zeros(3)
    node = (x * 2).grad_fn.next_functions[0][0]
    del x
    assert node.variable.tolist() == [0, 0, 0]


def test_set_shares_memory_but_no_version(T):
    x, source = T.ones(3), T.zeros(4)
    x.set_(source)
    source.add_(1)
    assert x.tolist() == [1, 1, 1, 1]
    assert (x._version, source._version) == (1, 1)
    x.add_(1)
    assert source.tolist() == [2, 2, 2, 2]
    assert (x._version, source._version) == (2, 1)
    assert x.set_().shape == (0,)


@pytest.mark.parametrize("typed", [False, True])
def test_set_shows_a_part_of_a_storage(T, typed):
    x = T.arange(6.0)
    storage = x.storage() if typed else x.untyped_storage()
    y = T.empty(0).set_(storage)
    assert y.data_ptr() == x.data_ptr()
    assert y.tolist() == [0, 1, 2, 3, 4, 5]
    assert y.set_(storage, 1, (2, 2)).tolist() == [[1, 2], [3, 4]]
    assert y.set_(source=storage, storage_offset=1, size=(2,), stride=(3,)).tolist() == [1, 4]
    y.zero_()
    assert x.tolist() == [0, 0, 2, 3, 0, 5]
    assert T.empty(0).set_(x[2:], 1, (3,)).tolist() == [3, 0, 5]
    assert T.empty(0, dtype=T.int32).set_(x.untyped_storage()).shape == (6,)
    assert T.empty(0, dtype=T.float64).set_(x.untyped_storage()).shape == (3,)


def test_set_shows_no_more_than_there_is():
    x = gradwright.arange(6.0)
    for where in ((0, (7,)), (6, (1,)), (0, (2, 2), (6, 1)), (-1, (2,)), (0, (2,), (-1,)), (0, (2, 2), (1,))):
        with pytest.raises(RuntimeError, match=r"does not fit the 6 entries of the memory"):
            gradwright.empty(0).set_(x.untyped_storage(), *where)
    assert gradwright.empty(0).set_(x.untyped_storage(), 6).shape == (0,)


def test_set_has_no_derivative(T, leaf):
    x = leaf([1.0, 2.0])
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used in an in-place operation"):
        x.set_(T.zeros(2, dtype=T.float64))
    y = x * 1
    y.set_(T.zeros(2, dtype=T.float64))
    assert y.requires_grad
    with pytest.raises((RuntimeError, NotImplementedError), match=r"derivative for '?set_'? is not implemented"):
        y.sum().backward()
    with pytest.raises(RuntimeError, match="type"):
        y.set_(T.zeros(2, dtype=T.int64))


@pytest.mark.parametrize("source", [lambda x: x, lambda x: x * 2, lambda x: (x * 2)[1:]])
def test_set_to_what_requires_grad_has_no_derivative(T, leaf, source):
    y = T.zeros(2, dtype=T.float64).set_(source(leaf([1.0, 2.0])))
    assert y.requires_grad
    with pytest.raises((RuntimeError, NotImplementedError), match=r"derivative for '?set_'? is not implemented"):
        y.sum().backward()
    with T.no_grad():
        assert not T.zeros(2, dtype=T.float64).set_(leaf([1.0, 2.0])).requires_grad


def test_set_of_a_saved_value_is_noticed(T, leaf):
    x = leaf([1.0, 2.0])
    y = x.exp()
    z = y * y
    y.set_(T.zeros(2, dtype=T.float64))
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()


def test_a_view_that_is_given_other_data_is_a_view_no_more():  # (PyTorch still says so, and spoils the base's history)
    x = gradwright.ones(3, requires_grad=True)
    y = x * 1
    v = y[:2]
    v.data = gradwright.zeros(2)
    v.mul_(5)
    assert y.tolist() == [1, 1, 1]
    y.sum().backward()
    assert x.grad.tolist() == [1, 1, 1]


def test_resized_in_place(T):
    x = T.arange(6.0).view(2, 3)
    v = x[:, 1:]
    assert v.resize_(3) is v
    assert v.tolist() == [1, 2, 3]  # what its memory holds
    assert v._is_view()
    v[0] = 9
    assert x.tolist() == [[0, 9, 2], [3, 4, 5]]
    assert T.ones(2, 3).t().resize_(3, 2).stride() == (1, 3)
    assert x.resize_(8).shape == (8,)
    assert x[:6].tolist() == [0, 9, 2, 3, 4, 5]
    assert x._version == 3
    with pytest.raises(RuntimeError, match="cannot resize variables that require grad"):
        T.ones(2, requires_grad=True).resize_(3)


# ---- how it lies in memory ----------------------------------------------------------------------------------

LAYOUTS = {
    "plain": lambda x: x, "row": lambda x: x[1], "t": lambda x: x.t(), "even": lambda x: x[:, ::2],
    "none": lambda x: x[None],
    "last": lambda x: x[..., None], "expand": lambda x: x.expand(2, 2, 3), "unfold": lambda x: x.unfold(1, 2, 1),
    "diagonal": lambda x: x.diagonal(), "narrow": lambda x: x.narrow(1, 1, 2),
    "as_strided": lambda x: x.as_strided((2, 2), (1, 2), 1),
    "select": lambda x: x[0, 1], "sum": lambda x: x.sum(), "empty": lambda x: x[2:],
}  # fmt: skip


@pytest.mark.parametrize("name", LAYOUTS)
def test_strides(torch, name):
    ours, theirs = (LAYOUTS[name](T.arange(6.0).view(2, 3)) for T in (gradwright, torch))
    assert ours.stride() == theirs.stride()
    assert ours.is_contiguous() == theirs.is_contiguous()
    assert ours.contiguous().is_contiguous()
    assert (ours.contiguous() is ours) == (theirs.contiguous() is theirs)
    if ours.numel():
        assert ours.storage_offset() == theirs.storage_offset()


def test_windows_of_windows(T, leaf):
    x = leaf([1.0, 2.0, 3.0, 4.0])
    w = x.unfold(0, 3, 1).unfold(1, 2, 1)
    (g,) = T.autograd.grad((w * w).sum(), x, create_graph=True)
    assert g.tolist() == [2, 12, 18, 8]
    (h,) = T.autograd.grad((g * g).sum(), x)
    assert h.tolist() == pytest.approx([8, 144, 216, 32])


def test_windows_of_an_expanded_tensor_show_its_memory(T, leaf):
    x = leaf([[1.0, 2.0, 3.0]])
    y = x * 1
    w = y.expand(2, 3).unfold(1, 2, 1)
    y.mul_(2)
    assert w[1].tolist() == [[2, 4], [4, 6]]
    w.sum().backward()
    assert x.grad.tolist() == [[4, 8, 4]]


def test_a_write_through_a_view_of_memory_that_its_parent_does_not_show(T, leaf):
    x = leaf([1.0, 2.0, 3.0, 4.0])
    y = x * 1
    v = y[:2].as_strided((2,), (1,), 2)
    v.mul_(5)
    assert y.tolist() == [1, 2, 15, 20]
    y.sum().backward()
    assert x.grad.tolist() == [1, 1, 5, 5]


PASSED_OVER = {  # what is called on a view, what is written to then, and what of it comes to the backward pass
    "retained, a view of it": ("retain_grad", lambda x, v: x[0].add_(1), lambda v: v[1]),
    "hooked, a view of it": ("register_hook", lambda x, v: x[0].add_(1), lambda v: v[1]),
    "hooked, a view of a view": ("register_hook", lambda x, v: x.sub_(1), lambda v: v[:1][0]),
    "retained, a view of a view": ("retain_grad", lambda x, v: v.sub_(1), lambda v: v[:1][0]),
    "hooked, itself": ("register_hook", lambda x, v: x.mul_(2), lambda v: v),
    "hooked, written itself": ("register_hook", lambda x, v: v.mul_(2), lambda v: v),
}


@pytest.mark.parametrize("name", PASSED_OVER)
def test_hooks_that_a_write_leaves_behind_are_told(name):
    hook, write, use = PASSED_OVER[name]
    seen = []
    x = gradwright.ones(3, requires_grad=True) * 1
    v = x[1:]
    y = use(v)
    getattr(v, hook)(*[seen.append] * (hook == "register_hook"))
    write(x, v)
    with pytest.warns(UserWarning, match=r"^The base of a view .* register_hook\(\) or retain_grad\(\) .* the write"):
        (y * 2).sum().backward()
    assert seen == []
    assert hook == "register_hook" or v.grad is None


def test_hooks_that_a_write_does_not_leave_behind():
    x = gradwright.ones(3, requires_grad=True) * 1
    v = x[1:]
    v.retain_grad()
    x[0] = 7
    v.register_hook(lambda g: g * 10)  # after the write
    v[1].backward()
    assert v.grad.tolist() == [0, 10]


def test_hooks_of_a_view_see_what_was_made_of_it_before(T, leaf):
    x = leaf([1.0, 2.0])
    y = x * 1
    v = y[:1]
    v.register_hook(lambda g: g * 10)
    before = v * 1
    v.mul_(3)
    (g,) = T.autograd.grad(before.sum(), x, retain_graph=True)
    assert g.tolist() == [10, 0]
    (g,) = T.autograd.grad(y.sum(), x)
    assert g.tolist() == [3, 1]


def test_parts_that_may_be_written(T, leaf):
    x = leaf([1.0, 2.0, 3.0])
    y = x * 1
    y.tensor_split(2)[0].mul_(2)
    y.sum().backward()
    assert x.grad.tolist() == [2, 2, 1]


def test_filling_memory_in_which_entries_share_a_place():  # (PyTorch fills it, and fails in backward)
    x = gradwright.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x * 1
    y[:2].expand(3, 2).fill_(5)
    y[1:].unfold(0, 2, 1).zero_()
    assert y.tolist() == [5, 0, 0]
    y.sum().backward()
    assert x.grad.tolist() == [0, 0, 0]
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        gradwright.ones(1).expand(2).fill_(x[0])


def test_python_functions_of_each_element(T, leaf):
    x = T.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert x[0].apply_(lambda v: v * 10) is not x
    x.map_(T.tensor([[1.0, 2.0], [5.0, 6.0]]), lambda v, w: v + w)
    x.t().map2_(x.clone(), x.clone(), lambda v, w, u: v + w - u)
    assert x.tolist() == [[11, 22], [8, 10]]
    for call in (lambda t: t.apply_(abs), lambda t: x.map_(t, max)):
        with pytest.raises((RuntimeError, TypeError), match="requires"):
            call(leaf([1.0, 2.0]))


def test_every_in_place_method_of_pytorch_exists(torch):
    names = {n for n in dir(torch.Tensor) if n.endswith("_") and not n.startswith("_")}
    beyond = {"resize_as_sparse_", "sparse_resize_", "sparse_resize_and_clear_"}
    assert names - set(dir(gradwright.Tensor)) == beyond


def test_a_gradient_is_retained_of_what_was_rearranged():  # (PyTorch's has the shape of before)
    y = gradwright.tensor([[1.0, 2.0, 3.0]], requires_grad=True) * 2
    y.retain_grad()
    y.t_()
    y.retain_grad()
    (y * gradwright.tensor([[1.0], [2.0], [3.0]])).sum().backward()
    assert y.grad.tolist() == [[1], [2], [3]]


def test_a_view_whose_history_cannot_be_told_is_printed_all_the_same(torch):
    for lib in (torch, gradwright):
        x = lib.tensor([1.0, 2.0], requires_grad=True)
        with lib.no_grad():
            v = x[0]
            x.add_(1)
            assert repr(v) == "tensor(2., grad_fn=<Invalid>)"
            assert v.requires_grad
        with pytest.raises(RuntimeError, match="A view was created in no_grad mode"):
            v * 2


def test_what_has_a_history_is_made_no_leaf_by_asking_for_a_gradient(T, leaf):
    w = leaf([1.0, 2.0])
    x = T.zeros(2, 3, dtype=T.float64)
    row = x[0]
    x.t_()
    x[0] = w
    assert x.requires_grad_() is x
    assert not x.is_leaf
    with pytest.raises(RuntimeError, match="you can only change requires_grad flags of leaf variables"):
        x.requires_grad = False
    (g,) = T.autograd.grad((x * x).sum(), w)
    assert g.tolist() == [2, 4]
    assert row.requires_grad


NOT_RECORDED = {
    "one of several": lambda T, b: b.unbind()[0],
    "a chunk": lambda T, b: b.chunk(2)[0][0],
    "made there": lambda T, b: recorded_nowhere(T, lambda: b[0]),
    "made there, of a leaf": lambda T, b: recorded_nowhere(T, lambda: T.ones(2, 3, requires_grad=True)[:]),
    "made elsewhere": lambda T, b: b[0],
    "of what has no history": lambda T, b: T.ones(2, 3)[:],
}


def recorded_nowhere(T, f):
    with T.no_grad():
        return f()


@pytest.mark.parametrize("then", ["read", "written", "base written"])
@pytest.mark.parametrize("kind", NOT_RECORDED)
def test_a_view_that_is_rearranged_where_nothing_is_recorded_is_pytorchs(torch, kind, then):
    found = []
    for T in (torch, gradwright):
        a = T.ones(2, 2, 3, requires_grad=True)
        b = a * 2
        x = NOT_RECORDED[kind](T, b)
        base = x._base
        with T.no_grad():
            x.t_()
            if then != "read":
                (x if then == "written" else base).mul_(3)
        try:
            y = x * x
            slope = T.autograd.grad(y.sum(), a, allow_unused=True)[0] if y.requires_grad else None
            found.append((y.tolist(), x.requires_grad, slope if slope is None else slope.tolist()))
        except RuntimeError as error:
            found.append(re.sub(r"of \w+ is a view", "of a function is a view", str(error))[:70])
    assert found[0] == found[1]
