"""Parameter: a leaf over another tensor's memory."""

import copy
import pickle  # noqa: TID251 - what is loaded here was made here

import pytest

import gradwright as gw


def test_repr(lib):
    p = lib.nn.Parameter(lib.tensor([1.0, 2.0]))
    assert repr(p) == "Parameter containing:\ntensor([1., 2.], requires_grad=True)"
    frozen = lib.nn.Parameter(lib.tensor([1.0]), requires_grad=False)
    assert repr(frozen) == "Parameter containing:\ntensor([1.])"
    assert repr(lib.nn.Parameter()) == "Parameter containing:\ntensor([], requires_grad=True)"


def test_is_a_leaf_that_requires_grad_even_of_a_result_and_under_no_grad(lib):
    result = lib.ones(2, requires_grad=True) * 2
    with lib.no_grad():
        p = lib.nn.Parameter(result)
    assert p.is_leaf
    assert p.requires_grad
    assert p.grad_fn is None
    assert p.grad is None


def test_shares_memory_and_version_with_its_data(lib):
    data = lib.zeros(2)
    p = lib.nn.Parameter(data)
    data.add_(1)
    assert p.tolist() == [1, 1]
    assert p._version == data._version == 1
    with lib.no_grad():
        p.mul_(3)
    assert data.tolist() == [3, 3]


def test_a_write_to_the_data_is_noticed_by_the_graph(lib):
    data = lib.ones(2)
    p = lib.nn.Parameter(data)
    out = (p * p).sum()
    data.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.backward()


def test_operations_give_plain_tensors_and_in_place_ones_the_parameter(lib):
    p = lib.nn.Parameter(lib.ones(2, 2))
    for result in (p * 2, 2 * p, p.t(), p[0], p.data, p.detach(), p.double(), p.clone()):
        assert type(result) is lib.Tensor
    with lib.no_grad():
        before = p
        p -= 0.5
    assert p is before
    assert type(p) is lib.nn.Parameter
    assert isinstance(p, lib.Tensor)


def test_gradients_accumulate_into_it(lib):
    p = lib.nn.Parameter(lib.tensor([1.0, 2.0]))
    (p * 3).sum().backward()
    (p * p).sum().backward()
    assert p.grad.tolist() == [5, 7]
    assert type(p.grad) is lib.Tensor


def test_the_graph_knows_a_dropped_parameter_as_one(lib):
    node = (lib.nn.Parameter(lib.ones(2)) * 2).grad_fn.next_functions[0][0]
    assert type(node.variable) is lib.nn.Parameter


def test_requires_grad_can_be_switched(lib):
    p = lib.nn.Parameter(lib.ones(1))
    assert p.requires_grad_(False) is p
    assert not (p * 2).requires_grad
    assert p.requires_grad_().requires_grad


def test_a_deep_copy_has_its_own_memory_and_gradient(lib):
    p = lib.nn.Parameter(lib.ones(2))
    (p * 2).sum().backward()
    q = copy.deepcopy(p)
    assert type(q) is lib.nn.Parameter
    assert q.grad is None if lib is not gw else q.grad.tolist() == [2, 2]  # which PyTorch's loses
    q.grad = None
    (q * 5).sum().backward()
    assert (p.grad.tolist(), q.grad.tolist()) == ([2, 2], [5, 5])
    with lib.no_grad():
        q.zero_()
    assert p.tolist() == [1, 1]


def test_a_shallow_copy_shares_memory_but_not_the_gradient(lib):
    p = lib.nn.Parameter(lib.ones(2), requires_grad=True)
    q = copy.copy(p)
    (q * 5).sum().backward()
    assert p.grad is None
    assert q.grad.tolist() == [5, 5]
    with lib.no_grad():
        q.zero_()
    assert p.tolist() == [0, 0]


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy])
def test_copies_stay_frozen(lib, again):
    assert not again(lib.nn.Parameter(lib.ones(2), requires_grad=False)).requires_grad


def test_integers_cannot_require_grad(lib):
    with pytest.raises(RuntimeError, match="Only Tensors of floating point and complex dtype can require gradients"):
        lib.nn.Parameter(lib.tensor([1]))
    assert lib.nn.Parameter(lib.tensor([1]), requires_grad=False).dtype is lib.int64


def test_data_must_be_a_tensor():
    with pytest.raises(TypeError, match=r"Parameter\(\): argument 'data' must be Tensor or None, not list"):
        gw.nn.Parameter([1.0])


# ---- Buffer ---------------------------------------------------------------------------------------------


def test_a_buffer_shares_the_memory_of_its_data(lib):
    data = lib.zeros(2)
    b = lib.nn.Buffer(data, persistent=False)
    data.add_(1)
    assert b.tolist() == [1, 1]
    assert not b.requires_grad
    assert not b.persistent
    assert isinstance(b, lib.nn.Buffer)
    assert isinstance(b, lib.Tensor)
    assert not isinstance(data, lib.nn.Buffer)
    assert not isinstance(b + 1, lib.nn.Buffer)
    assert lib.nn.Buffer().shape == (0,)
    assert lib.nn.Buffer(lib.ones(1, requires_grad=True)).requires_grad


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy])
def test_copies_of_a_buffer(again):
    b = again(gw.nn.Buffer(gw.ones(2), persistent=False))
    assert type(b) is gw.nn.Buffer
    assert (b.tolist(), b.persistent) == ([1, 1], False)


def test_the_data_of_a_buffer_must_be_a_tensor():
    with pytest.raises(TypeError, match=r"Buffer\(\): argument 'data' must be Tensor or None, not list"):
        gw.nn.Buffer([1.0])


# ---- without a shape yet ----------------------------------------------------------------------------------

KINDS = ["UninitializedParameter", "UninitializedBuffer"]


@pytest.mark.parametrize("kind", KINDS)
def test_they_have_a_dtype_and_no_shape(T, kind):
    t = getattr(T.nn.parameter, kind)(dtype=T.float64)
    assert repr(t) == f"<{kind}>"
    assert t.dtype is T.float64
    assert t.is_floating_point()
    assert t.requires_grad is (kind == KINDS[0])
    assert T.nn.parameter.is_lazy(t)
    with pytest.raises(RuntimeError, match=r"^Can't access the shape of an uninitialized parameter or buffer"):
        t.shape


@pytest.mark.parametrize("use", [
    lambda T, t: t + 1, lambda T, t: 1 - t, lambda T, t: t.sum(), lambda T, t: T.exp(t), lambda T, t: t.add_(1),
    lambda T, t: t @ t, lambda T, t: t[0],
])  # fmt: skip
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_can_be_done_with_them(T, kind, use):
    with pytest.raises(ValueError, match=r"^Attempted to use an uninitialized parameter in"):
        use(T, getattr(T.nn.parameter, kind)())


@pytest.mark.parametrize(("kind", "becomes"), [(KINDS[0], "Parameter"), (KINDS[1], "Tensor")])
def test_materialize(T, kind, becomes):
    t = getattr(T.nn.parameter, kind)()
    t.materialize((2, 3), dtype=T.float64)
    assert type(t) is {"Parameter": T.nn.Parameter, "Tensor": T.Tensor}[becomes]
    assert (tuple(t.shape), t.dtype, t.requires_grad) == ((2, 3), T.float64, becomes == "Parameter")
    assert not T.nn.parameter.is_lazy(t)
    if t.requires_grad:
        (t * 2).sum().backward()
        assert t.grad.tolist() == [[2] * 3] * 2


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda t: pickle.loads(pickle.dumps(t))])  # noqa: S301
def test_copies_without_a_shape(again):
    t = again(gw.nn.UninitializedParameter(requires_grad=False, dtype=gw.float64))
    assert type(t) is gw.nn.UninitializedParameter
    assert (t.dtype, t.requires_grad) == (gw.float64, False)


def test_frozen_ones_stay_frozen():
    t = gw.nn.UninitializedParameter().requires_grad_(False)
    t.materialize((1,))
    assert not t.requires_grad


@pytest.mark.parametrize("device", ["cpu", "array-api-strict"])
@pytest.mark.parametrize("wrapped", [gw.nn.Parameter, gw.nn.Buffer])
def test_the_memory_is_shared_on_every_library(device, wrapped):
    pytest.importorskip("gradwright.backends.strict")
    base = gw.ones(4, device=device)
    p = wrapped(base[:2])
    with gw.no_grad():
        p.mul_(2)
    assert base.tolist() == [2, 2, 1, 1]
