"""What comes along with a copy or a pickle, and what shares memory in it."""

import copy
import importlib
import itertools
import pickle  # noqa: TID251 - what is loaded here was made here

import numpy as np
import pytest

import gradwright as gw
from gradwright.engine.base import wrap

WAYS = {"copy": copy.copy, "deepcopy": copy.deepcopy, "pickle": lambda x: pickle.loads(pickle.dumps(x))}  # noqa: S301


class Named(gw.Tensor):
    """A class of the user's."""


class Weight(gw.nn.Parameter):
    """A parameter of the user's."""


class State(gw.nn.Buffer):
    """A buffer of the user's."""


class Private(gw.nn.Buffer):
    """A buffer with slots, one of them private."""

    __slots__ = ("__secret", "shown")


class Single(gw.nn.Buffer):
    """A buffer whose one slot is named by a string."""

    __slots__ = "lonely"  # noqa: PLC0205 - Python takes it, too


KINDS = {
    "tensor": lambda: gw.tensor([2.0, 3.0], requires_grad=True),
    "constant": lambda: gw.tensor([2.0, 3.0], dtype=gw.bfloat16),
    "parameter": lambda: gw.nn.Parameter(gw.tensor([2.0, 3.0])),
    "frozen": lambda: gw.nn.Parameter(gw.tensor([2.0, 3.0]), requires_grad=False),
    "buffer": lambda: gw.nn.Buffer(gw.tensor([2.0, 3.0])),
    "buffer that is not saved": lambda: gw.nn.Buffer(gw.tensor([2.0, 3.0]), persistent=False),
    "subclass of a buffer": lambda: State(gw.tensor([2.0, 3.0]), persistent=False),
    "subclass": lambda: gw.tensor([2.0, 3.0]).as_subclass(Named).requires_grad_(),
    "subclass of a parameter": lambda: Weight(gw.tensor([2.0, 3.0])),
}  # fmt: skip


@pytest.mark.parametrize(("kind", "way"), [*itertools.product(KINDS, WAYS)])
def test_what_comes_along(kind, way):
    x = KINDS[kind]()
    x.grad = None if kind == "constant" else gw.tensor([5.0, 7.0])
    x.tag = ["mine"]
    y = WAYS[way](x)
    assert type(y) is type(x)
    assert gw.equal(y, x)
    assert (y.dtype, y.requires_grad, y.is_leaf) == (x.dtype, x.requires_grad, True)
    assert (y.data_ptr() == x.data_ptr()) == (way == "copy")
    assert getattr(y, "persistent", None) == getattr(x, "persistent", None)
    assert y.grad is None if x.grad is None else gw.equal(y.grad, x.grad)
    if not (way == "deepcopy" and isinstance(x, gw.nn.Parameter)):  # without, as PyTorch's
        assert y.tag == ["mine"]
    if y.requires_grad:
        (y * 2).sum().backward()
        assert y.grad.tolist() == [7, 9]
        assert x.grad.tolist() == [5, 7]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("kind", "names"), [(Private, ("_Private__secret", "shown")), (Single, ("lonely",))])
def test_slots_come_along(kind, names, way):
    x = kind(gw.tensor([2.0, 3.0]))
    for k, name in enumerate(names):
        setattr(x, name, k)
    y = WAYS[way](x)
    assert [getattr(y, name) for name in names] == [*range(len(names))]


@pytest.mark.parametrize("way", ["deepcopy", "pickle"])
def test_a_module_after_a_backward_pass(way):
    m = gw.nn.Sequential(gw.nn.Linear(2, 2), gw.nn.BatchNorm1d(2), gw.nn.Embedding(3, 2, sparse=True))
    m.register_parameter("tied", m[0].weight)
    m.mean = gw.nn.Buffer(gw.zeros(2))
    (m[1](m[0](gw.tensor([[1.0, 2.0], [0.5, 1.0]]))) ** 3).sum().backward(create_graph=True)
    m[2](gw.tensor([1, 2])).sum().backward()
    n = WAYS[way](m)
    assert n.tied is n[0].weight
    for p, q in zip(m.parameters(), n.parameters(), strict=True):
        assert (p.grad is None) == (q.grad is None)
        assert p.grad is None or (q.grad.is_leaf and gw.equal(p.grad, q.grad))
    assert isinstance(n.mean, gw.nn.Buffer)


def test_a_gradient_is_copied_once():
    a = gw.zeros(10)
    a.grad = gw.ones(10)
    b, grad = copy.deepcopy([a, a.grad])
    assert b.grad is grad


def _views(x):
    return [x, x[1:3], x.view(-1)[::2], x.flip(0)[1], x[None], x[..., ::3]]


SHARING = {
    "a base and its views": (lambda: gw.arange(8.0), _views),
    "of two dims": (lambda: gw.arange(12.0, dtype=gw.float64).reshape(4, 3), _views),
    "lying the other way": (lambda: gw.from_numpy(np.asfortranarray(np.ones((3, 4)))), lambda x: [x, x[1], x[:, ::2]]),
    "views first": (lambda: gw.arange(8.0), lambda x: _views(x)[::-1]),
    "views alone": (lambda: gw.arange(8.0), lambda x: _views(x)[1:]),
    "an alias": (lambda: gw.arange(4.0), lambda x: [x, x, gw.ones(2)]),
    "detached": (lambda: gw.arange(4.0, requires_grad=True), lambda x: [x, x.detach()[2:]]),
    "complex": (lambda: gw.tensor([1 + 2j, 3 - 1j]), lambda z: [z, z.real, gw.view_as_real(z)]),
    "of another dtype": (lambda: gw.arange(4.0), lambda x: [x, x.view(gw.int32)]),
    "expanded": (lambda: gw.arange(4.0), lambda x: [x, x[:1].expand(3)]),
    "NumPy's": (lambda: np.arange(6.0), lambda a: [gw.from_numpy(a), gw.from_numpy(a[::-2].copy()[1:])]),
    "parameters": (lambda: gw.arange(6.0), lambda x: [x, gw.nn.Parameter(x[:3]), gw.nn.Buffer(x[3:])]),
    "nothing": (lambda: gw.zeros(0), lambda x: [x, gw.zeros(2, 0), gw.zeros(3)]),
}


@pytest.mark.parametrize("name", SHARING)
def test_what_shared_memory_shares_it_in_a_deep_copy(name):
    make, show = SHARING[name]
    before = show(make())
    after = copy.deepcopy(before)
    for x, y in zip(before, after, strict=True):
        assert gw.equal(x, y)
        assert x.stride() == y.stride()
    for i, j in itertools.permutations(range(len(after)), 2):
        for these in before, after:
            if these[i].numel() and 0 not in these[i].stride():
                with gw.no_grad():
                    these[i].copy_(gw.full_like(these[i], 7 * i + j + 1))
        for x, y in zip(before, after, strict=True):
            assert gw.equal(x, y), (i, j)
    new = copy.deepcopy(before)
    with gw.no_grad():
        after[0].fill_(0)
    assert all(map(gw.equal, new, before))  # other memory


def test_a_write_is_counted_for_all_that_share_it():
    whole, part = copy.deepcopy(_views(gw.arange(8.0))[:2])
    w = gw.ones(2, requires_grad=True)
    out = (w * part).sum()
    whole.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.backward()


def test_memory_that_is_not_written():
    pytest.importorskip("array_api_strict")
    x = wrap(importlib.import_module("gradwright.backends.strict").namespace.asarray(np.arange(4.0)))
    whole, part = copy.deepcopy([x, x[1:3]])
    whole[1] = 9.0
    assert part.tolist() == [9, 2]
    assert x.tolist() == [0, 1, 2, 3]
    assert copy.deepcopy(gw.ones(2)).tolist() == [1, 1]


def test_hooks_stay_behind_with_a_warning():
    x = gw.ones(2, requires_grad=True)
    x.register_hook(lambda g: g * 2)
    copy.deepcopy(x)
    for way in copy.copy, pickle.dumps:
        with pytest.warns(UserWarning, match="backward hook .* will not be serialized"):
            way(x)


@pytest.mark.parametrize("derivative", [
    lambda f, x: gw.func.grad(f)(x), lambda f, x: gw.func.jacrev(f)(x), lambda f, x: gw.func.jacfwd(f)(x),
    lambda f, x: gw.func.jvp(gw.func.grad(lambda x: f(x) * 1.0), (x,), (x,))[1] + 2,
    lambda f, x: gw.func.vmap(gw.func.grad(f))(gw.stack([x, x]))[1],
    lambda f, x: gw.func.linearize(f, x)[1](gw.ones(2)) / 2 * gw.ones(2),
])  # fmt: skip
def test_a_copy_in_a_transform_has_the_derivative_or_is_refused(derivative):
    x = gw.tensor([1.0, 2.0])
    assert derivative(lambda x: (copy.copy(x) * 2).sum(), x).tolist() == [2, 2]
    with pytest.raises(RuntimeError, match=r"deepcopy protocol .*: detach"):
        derivative(lambda x: (copy.deepcopy([x])[0] * 2).sum(), x)
    constant = gw.tensor([2.0, 2.0], requires_grad=True)
    assert derivative(lambda x: (copy.deepcopy(constant) * x).sum(), x).tolist() == [2, 2]
