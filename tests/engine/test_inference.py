"""Inference tensors: what is made in inference mode has no version, and nobody may save it or write it elsewhere."""

from threading import Thread

import pytest

import gradwright

SAVED = "Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode"
WRITTEN = "Inplace update to inference tensor outside InferenceMode is not allowed"


@pytest.fixture
def made(T):
    """A tensor made in inference mode."""
    with T.inference_mode():
        return T.ones(3, dtype=T.float64) * 2


MAKERS = {
    "creation": lambda T, x: T.zeros(2), "operator": lambda T, x: x * 2, "function": lambda T, x: x.exp(),
    "sum": lambda T, x: x.sum(), "two": lambda T, x: x + x, "clone": lambda T, x: x.clone(),
    "index": lambda T, x: x[[0]], "cat": lambda T, x: T.cat([x, x]), "unbind": lambda T, x: T.ones(2, 2).unbind()[0],
    "view": lambda T, x: T.ones(2)[:1],
    "number": lambda T, x: T.tensor(1.0), "detach": lambda T, x: (x * 2).detach(), "data": lambda T, x: (x * 2).data,
    "float": lambda T, x: x.float(), "max": lambda T, x: x.max(0)[0], "random": lambda T, x: T.rand(2),
}  # fmt: skip


@pytest.mark.parametrize("name", MAKERS)
def test_what_is_made_in_inference_mode(T, leaf, name):
    x = leaf([1.0, 2.0])
    with T.inference_mode():
        y = MAKERS[name](T, x)
        assert y.is_inference()
        assert not y.requires_grad
        with T.inference_mode(False):
            z = MAKERS[name](T, x)
    assert not z.is_inference()
    assert not MAKERS[name](T, x).is_inference()
    with pytest.raises(RuntimeError, match="Inference tensors do not track version counter"):
        y._version


def test_views_of_ordinary_tensors_are_ordinary(T, leaf):
    y = leaf([1.0, 2.0]) * 1
    with T.inference_mode():
        v, d = y[:1], y.detach()
        y.add_(1)
    assert not v.is_inference()
    assert not d.is_inference()
    assert v._base is y
    assert v.requires_grad
    assert (y._version, v._version, d._version) == (1, 1, 1)
    with pytest.raises(RuntimeError, match="A view was created in inference mode and is being modified inplace"):
        v.add_(1)


def test_an_inference_tensor_has_no_views(T, made):
    assert made[0].is_inference()
    assert not made[0]._is_view()
    assert made.view(-1)._base is None
    assert made.is_leaf


@pytest.mark.parametrize(
    "use", [lambda i, x: i * x, lambda i, x: x * i, lambda i, x: (x + 1).mul_(i), lambda i, x: i @ x]
)
def test_it_cannot_be_saved(T, leaf, made, use):
    x = leaf([1.0, 2.0, 3.0])
    with pytest.raises(RuntimeError, match=SAVED):
        use(made, x)
    assert use(made.clone(), x).requires_grad
    with T.no_grad():
        use(made, x)


def test_it_may_be_used_where_it_is_not_saved(T, leaf, made):
    x = leaf([1.0, 2.0, 3.0])
    y = x + made
    y[0] = made[0]
    y.copy_(y + made)
    y.sum().backward()
    assert x.grad.tolist() == [0, 1, 1]


WRITES = {
    "add_": lambda i: i.add_(1), "zero_": lambda i: i.zero_(), "item": lambda i: i.__setitem__(0, 1.0),
    "copy_": lambda i: i.copy_(i.clone()), "iadd": lambda i: i.__iadd__(1), "t_": lambda i: i.t_(),
    "view": lambda i: i[0].add_(1), "unsqueeze_": lambda i: i.unsqueeze_(0),
}  # fmt: skip


@pytest.mark.parametrize("name", WRITES)
def test_it_may_be_written_in_inference_mode_only(T, made, name):
    with pytest.raises(RuntimeError, match=WRITTEN):
        WRITES[name](made)
    with T.no_grad(), pytest.raises(RuntimeError, match=WRITTEN):
        WRITES[name](made)
    with T.inference_mode():
        WRITES[name](made)


def test_a_refused_write_leaves_it_as_it_was():  # (PyTorch refuses when it has written)
    with gradwright.inference_mode():
        i = gradwright.ones(2)
    with pytest.raises(RuntimeError, match=WRITTEN):
        i.add_(1)
    assert i.tolist() == [1, 1]


def test_it_requires_grad_in_inference_mode_only(T, made):
    with pytest.raises(RuntimeError, match="Setting requires_grad=True on inference tensor outside InferenceMode"):
        made.requires_grad_()
    made.requires_grad_(False)
    with T.inference_mode():
        assert made.requires_grad_().requires_grad


def test_numbers_beside_an_inference_tensor_are_ordinary(T, leaf):
    with T.inference_mode():
        T.ones(2, dtype=T.float64) * 17.25
    x = leaf([1.0, 2.0])
    (x * 17.25).sum().backward()
    assert x.grad.tolist() == [17.25, 17.25]


def test_an_array_of_its_memory(T, made):
    assert made.numpy().tolist() == [2, 2, 2]
    assert made.is_inference()


def test_threads_are_in_their_own_mode(T):

    found = []
    with T.inference_mode():
        thread = Thread(target=lambda: found.append(T.ones(1).is_inference()))
        thread.start()
        thread.join()
        found.append(T.ones(1).is_inference())
    assert found == [False, True]
    assert not T.ones(1).is_inference()


@pytest.mark.parametrize("look", [lambda v: v.sum(), lambda v: v.grad_fn, lambda v: v.is_leaf, lambda v: v * v])
def test_a_view_whose_base_was_written_keeps_its_history_through_inference_mode(T, leaf, look):
    x = leaf([[1.0, 2.0], [3.0, 4.0]])
    base = x * 1.0
    view = base[1]
    base.mul_(x)
    with T.inference_mode():
        look(view)
        assert view.requires_grad
    assert not view.is_leaf
    (g,) = T.autograd.grad((view * view).sum(), x)  # of x**4
    assert g.tolist() == [[0, 0], [108, 256]]
