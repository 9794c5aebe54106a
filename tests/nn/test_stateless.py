"""Modules as functions: functional_call, stack_module_state, and batch norms without running statistics."""

import importlib

import pytest

import gradwright as gw
from gradwright import func, nn
from gradwright.nn.stateless import _reparametrize_module

F64 = {"dtype": gw.float64}


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(2, 2, **F64)
        self.second = nn.Linear(2, 2, bias=False, **F64)
        self.second.weight = self.first.weight
        self.register_buffer("scale", gw.ones((), **F64))

    def forward(self, x, shift=0.0):
        return self.second(self.first(x)) * self.scale + shift


X = gw.tensor([[1.0, -2.0], [0.5, 3.0]], **F64)


def test_other_parameters_and_buffers(T):
    module = T.nn.Linear(2, 1)
    own = dict(module.named_parameters())
    given = {"weight": T.ones(1, 2), "bias": T.full((1,), 3.0)}
    assert T.func.functional_call(module, given, T.ones(2)).tolist() == [5]
    assert T.func.functional_call(module, (given, {}), (T.ones(2),), {}).tolist() == [5]
    assert T.func.functional_call(module, {"weight": T.zeros(1, 2)}, T.ones(2)).tolist() == module.bias.tolist()
    assert all(t is own[name] for name, t in module.named_parameters())


def test_own_ones_come_back_after_an_error():
    module = Tied()
    own = {**dict(module.named_parameters()), **dict(module.named_buffers())}
    with pytest.raises(RuntimeError):
        func.functional_call(module, {"scale": gw.zeros(()), "first.bias": gw.zeros(5)}, X)
    assert all(t is own[name] for name, t in [*module.named_parameters(), *module.named_buffers()])


def test_tied_weights():
    module, other = Tied(), gw.eye(2, **F64) * 2
    bias = module.first.bias
    expected = (X * 2 + bias) * 2
    for name in ("first.weight", "second.weight"):
        assert gw.allclose(func.functional_call(module, {name: other}, X), expected)
    assert gw.allclose(func.functional_call(module, {"first.weight": other, "second.weight": other}, X), expected)
    with pytest.raises(ValueError, match=r"multiple values for keys \['first.weight', 'second.weight'\]"):
        func.functional_call(module, {"first.weight": other, "second.weight": other * 1}, X)
    untied = func.functional_call(module, {"first.weight": other}, X, tie_weights=False)
    assert gw.allclose(untied, (X * 2 + bias) @ module.second.weight.T)


def test_a_buffer_that_the_module_replaces_is_in_the_dictionary_afterwards():
    class Counter(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("count", gw.zeros(()))

        def forward(self):
            self.count = self.count + 1
            return self.count

    module, state = Counter(), {"count": gw.full((), 4.0)}
    assert func.functional_call(module, state) == 5
    assert state["count"] == 5
    assert module.count == 0


BAD = {
    "missing": lambda T, m: T.func.functional_call(m, {"weight": m.weight}, T.ones(2), strict=True),
    "unexpected": lambda T, m: T.func.functional_call(m, {**dict(m.named_parameters()), "w": m.bias}, T.ones(2),
                                                      strict=True),
    "no dictionary": lambda T, m: T.func.functional_call(m, 3, T.ones(2)),
    "no dictionaries": lambda T, m: T.func.functional_call(m, [3], T.ones(2)),
    "twice": lambda T, m: T.func.functional_call(m, [{"weight": m.weight}] * 2, T.ones(2)),
    "no tensor": lambda T, m: T.func.functional_call(m, {"weight": 3.0}, T.ones(2)),
    "no such module": lambda T, m: T.func.functional_call(m, {"below.weight": m.weight}, T.ones(2)),
    "no models": lambda T, m: T.func.stack_module_state([]),
    "in two modes": lambda T, m: T.func.stack_module_state([m, T.nn.Linear(2, 1).eval()]),
    "of two classes": lambda T, m: T.func.stack_module_state([m, T.nn.Bilinear(1, 1, 1)]),
    "with and without grad": lambda T, m: T.func.stack_module_state([m, T.nn.Linear(2, 1).requires_grad_(False)]),
}  # fmt: skip
ERRORS = {"missing": RuntimeError, "unexpected": RuntimeError, "no tensor": TypeError, "no such module": AttributeError}


@pytest.mark.parametrize("name", BAD)
def test_errors_are_pytorch_s(name, T):
    kind = ERRORS.get(name, RuntimeError if "state" in BAD[name].__code__.co_names[1] else ValueError)
    with pytest.raises(kind):
        BAD[name](T, T.nn.Linear(2, 1))


def test_gradients_by_parameters():
    module = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1)).double()
    parameters = {name: p.detach() for name, p in module.named_parameters()}
    loss = lambda p: func.functional_call(module, p, X).square().sum()
    slopes = func.grad(loss)(parameters)
    loss(dict(module.named_parameters())).backward()
    for name, p in module.named_parameters():
        assert gw.allclose(slopes[name], p.grad)
        assert not slopes[name].requires_grad


def test_gradients_of_each_sample():
    module = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1)).double()
    parameters = {name: p.detach() for name, p in module.named_parameters()}

    def loss(p, x, y):
        return (func.functional_call(module, p, x) - y).square().sum()

    ys = gw.tensor([[0.5], [-1.0]], **F64)
    each = func.vmap(func.grad(loss), in_dims=(None, 0, 0))(parameters, X, ys)
    for name in parameters:
        expected = gw.stack([func.grad(loss)(parameters, x, y)[name] for x, y in zip(X, ys, strict=True)])
        assert gw.allclose(each[name], expected)


def test_an_ensemble():
    models = [nn.Linear(2, 3).double() for _ in range(4)]
    parameters, buffers = func.stack_module_state(models)
    assert all(p.is_leaf and p.requires_grad for p in parameters.values())
    call = lambda p, b, x: func.functional_call(models[0], (p, b), x)
    out = func.vmap(call, (0, 0, None))(parameters, buffers, X)
    assert gw.allclose(out, gw.stack([m(X) for m in models]))
    out.square().sum().backward()
    models[2](X).square().sum().backward()
    assert gw.allclose(parameters["weight"].grad[2], models[2].weight.grad)


def test_batch_norms_without_running_statistics(T):
    root = T.nn.Sequential(T.nn.BatchNorm1d(2), T.nn.Sequential(T.nn.BatchNorm1d(2, affine=False)))
    assert T.func.replace_all_batch_norm_modules_(root) is root
    assert not dict(root.named_buffers())
    assert not root[0].track_running_stats
    root(T.ones(3, 2))
    norm = T.nn.BatchNorm1d(2)
    T.func.replace_all_batch_norm_modules_(norm)
    assert norm.running_mean is None


def test_buffers_of_batch_norm_are_updated_in_what_was_given():
    norm = nn.BatchNorm1d(2, dtype=gw.float64)
    state = {**{k: p.detach() for k, p in norm.named_parameters()}, **{k: b.clone() for k, b in norm.named_buffers()}}
    slopes = func.grad(lambda w: func.functional_call(norm, {**state, "weight": w}, X).square().sum())(state["weight"])
    assert norm.running_mean.tolist() == [0, 0]
    assert gw.allclose(state["running_mean"], 0.1 * X.mean(0))
    expected = nn.BatchNorm1d(2, dtype=gw.float64)
    expected(X).square().sum().backward()
    assert gw.allclose(slopes, expected.weight.grad)
    assert gw.allclose(state["running_var"], expected.running_var)


def test_a_name_that_leads_nowhere_is_told():
    line = gw.nn.Linear(2, 1)
    with pytest.warns(gw.errors.GradientWarning, match="functional_call: Linear has nothing at 'wieght'"):
        func.functional_call(line, {"wieght": gw.ones(1, 2)}, gw.ones(2))
    assert not hasattr(line, "wieght")


def test_a_block_in_which_a_module_has_other_tensors(torch):
    stateless = importlib.import_module("torch.nn.utils.stateless")
    for t, block in ((gw, _reparametrize_module), (torch, stateless._reparametrize_module)):
        net = t.nn.Linear(2, 1)
        own = net.weight
        given = {"weight": t.tensor([[2.0, 3.0]], requires_grad=True), "bias": t.zeros(1)}
        with block(net, given, tie_weights=True, strict=True):
            out = net(t.ones(2))
        out.sum().backward()
        assert out.item() == 5
        assert given["weight"].grad.tolist() == [[1.0, 1.0]]
        assert net.weight is own
        assert own.grad is None
        with pytest.raises(RuntimeError, match="Missing key"), block(net, {"bias": t.zeros(1)}, strict=True):
            pass
