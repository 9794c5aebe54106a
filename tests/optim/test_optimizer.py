"""What all optimisers share."""

import copy
import gc
import importlib
import pickle  # noqa: TID251 - optimisers can be pickled
import re
import tracemalloc
import warnings
from collections import OrderedDict

import numpy as np
import pytest

import gradwright as gw
from gradwright.errors import GradientWarning
from tests.thorough import some


@pytest.fixture(params=["gradwright", "torch"])
def lib(request):
    return gw if request.param == "gradwright" else request.getfixturevalue("torch")


def parameter(lib, *shape):
    p = lib.ones(*shape or (2,), requires_grad=True)
    p.grad = lib.ones(*shape or (2,))
    return p


# ---- groups ---------------------------------------------------------------------------------------------


def test_groups_take_what_they_lack_from_the_defaults(lib):
    p, q = parameter(lib), parameter(lib, 3)
    optimizer = lib.optim.SGD([{"params": [p]}, {"params": q, "lr": 0.5}], lr=0.25, momentum=0.5)
    assert optimizer.defaults["lr"] == 0.25
    assert [group["lr"] for group in optimizer.param_groups] == [0.25, 0.5]
    assert optimizer.param_groups[1]["params"] == [q]
    optimizer.step()
    assert (p[0].item(), q[0].item()) == (0.75, 0.5)
    r = parameter(lib)
    optimizer.add_param_group({"params": [r], "momentum": 0})
    optimizer.step()
    assert r[0].item() == 0.75
    assert r not in optimizer.state


def test_options_are_in_pytorchs_order(torch):
    for name in ("SGD", "ASGD", "Adam", "AdamW", "NAdam", "RAdam", "Adamax", "Adagrad", "Adadelta", "RMSprop", "Rprop",
                 "Adafactor", "Muon", "LBFGS"):  # fmt: skip
        mine, other = (getattr(lib.optim, name)([parameter(lib, 2, 2)]).state_dict() for lib in (gw, torch))
        assert mine["param_groups"] == other["param_groups"]
        assert list(mine["param_groups"][0]) == list(other["param_groups"][0])


def test_names(lib):
    p, q = parameter(lib), parameter(lib)
    optimizer = lib.optim.Adam([("first", p), ("second", q)])
    assert optimizer.param_groups[0]["params"] == [p, q]
    assert optimizer.state_dict()["param_groups"][0]["param_names"] == ["first", "second"]
    optimizer.load_state_dict(lib.optim.Adam([p, q]).state_dict())
    assert optimizer.param_groups[0]["param_names"] == ["first", "second"]
    with pytest.raises(ValueError, match=r"^all optimizer param groups should be with/without names. cannot add param "
                                         "group without names to the optimizer"):  # fmt: skip
        optimizer.add_param_group({"params": [parameter(lib)]})


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda lib: lib.ones(2), TypeError, "params argument given to the optimizer should be an iterable of Tensors"),
        (lambda lib: [], ValueError, "optimizer got an empty parameter list"),
        (lambda lib: [3], TypeError, "optimizer can only optimize Tensors, but one of the params is int"),
        (lambda lib: [parameter(lib) * 2], ValueError, "can't optimize a non-leaf Tensor"),
        (lambda lib: [{"params": {parameter(lib)}}], TypeError, "optimizer parameters need to be organized in ordered"),
        (lambda lib: [{"params": [p := parameter(lib)]}, {"params": [p]}], ValueError, "some parameters appear in"),
        (lambda lib: [("a", parameter(lib)), parameter(lib)], ValueError, "all optimizer params should be with"),
        (lambda lib: [{"params": [parameter(lib)]}, 3], TypeError, "param_group must be a dict, but got <class 'int'>"),
    ],
)
def test_errors(lib, make, error, message):
    with pytest.raises(error, match=f"^{message}"):
        lib.optim.SGD(make(lib))


def test_a_parameter_twice(lib):
    p = parameter(lib)
    with pytest.warns(UserWarning, match=r"^optimizer contains a parameter group with duplicate parameters"):
        optimizer = lib.optim.Adam([p, p], lr=0.25)
    for _ in range(2):
        optimizer.step()
    assert optimizer.state[p]["step"].item() == 4
    assert p[0].item() == pytest.approx(0.0, abs=1e-5)


def test_required_options():
    from gradwright.optim.optimizer import required

    with pytest.raises(ValueError, match=r"^parameter group didn't specify a value of required optimization"):
        gw.optim.Optimizer([parameter(gw)], {"lr": required})
    assert repr(required) == "<required parameter>"


def test_repr(lib):
    optimizer = lib.optim.Adagrad([parameter(lib)], lr=0.5)
    assert repr(optimizer) == (
        "Adagrad (\nParameter Group 0\n    differentiable: False\n    eps: 1e-10\n    foreach: None\n    fused: None\n"
        "    initial_accumulator_value: 0\n    lr: 0.5\n    lr_decay: 0\n    maximize: False\n    weight_decay: 0\n)"
    )


def test_zero_grad(lib):
    p, q = parameter(lib), parameter(lib)
    q.grad = None
    optimizer = lib.optim.SGD([p, q])
    kept = p.grad = lib.ones(2, requires_grad=True) * 3
    optimizer.zero_grad(set_to_none=False)
    assert p.grad is kept
    assert p.grad.tolist() == [0, 0]
    assert not p.grad.requires_grad
    assert q.grad is None
    optimizer.zero_grad()
    assert p.grad is None


# ---- steps ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["SGD", "Adafactor", "Muon"])
def test_closures_run_with_gradients_on(lib, name):
    p = parameter(lib, 2, 2)
    optimizer = getattr(lib.optim, name)([p], lr=0.5)

    def closure():
        optimizer.zero_grad()
        loss = (p * p).sum()
        loss.backward()
        return loss

    with lib.no_grad():
        loss = optimizer.step(closure)
    assert loss.item() == 4
    assert p.grad.tolist() == [[2, 2], [2, 2]]
    assert p[0, 0].item() < 1


def test_a_step_is_to_be_defined(lib):
    optimizer = lib.optim.Optimizer([parameter(lib)], {})
    with pytest.raises(NotImplementedError):
        optimizer.step()


def test_step_hooks(lib):
    seen = []
    module = importlib.import_module(f"{lib.__name__}.optim.optimizer")
    optimizer = lib.optim.SGD([parameter(lib)])
    handles = [
        module.register_optimizer_step_pre_hook(lambda o, args, kwargs: seen.append("all, before")),
        optimizer.register_step_pre_hook(lambda o, args, kwargs: seen.append(("before", len(args), kwargs))),
        optimizer.register_step_post_hook(lambda o, args, kwargs: seen.append("after")),
        module.register_optimizer_step_post_hook(lambda o, args, kwargs: seen.append("all, after")),
    ]
    optimizer.step(closure=None)
    assert seen == ["all, before", ("before", 1, {"closure": None}), "after", "all, after"]
    for handle in handles:
        handle.remove()
    optimizer.step()
    assert len(seen) == 4


def test_a_step_hook_may_change_the_arguments(lib):
    optimizer = lib.optim.SGD([parameter(lib)])
    handle = optimizer.register_step_pre_hook(lambda o, args, kwargs: ((o, lambda: 7), {}))
    assert optimizer.step() == 7
    handle.remove()
    optimizer.register_step_pre_hook(lambda o, args, kwargs: 3)
    with pytest.raises(RuntimeError, match=r"must return None or a tuple of \(new_args, new_kwargs\), but got 3"):
        optimizer.step()


def test_an_optimizer_that_wraps_another_may_leave_init_out(lib):
    class Every(lib.optim.Optimizer):
        def __init__(self, inner):
            self.inner, self.param_groups = inner, inner.param_groups

        def step(self, closure=None):
            self.inner.step(closure)

    p = parameter(lib)
    Every(lib.optim.SGD([p], lr=0.25)).step()
    assert p.tolist() == [0.75, 0.75]


def test_hooks_run_once_around_an_overriding_step():
    class Twice(gw.optim.SGD):
        def step(self, closure=None):
            super().step(closure)
            return super().step(closure)

    seen = []
    p = parameter(gw)
    optimizer = Twice([p], lr=0.25)
    optimizer.register_step_pre_hook(lambda *_: seen.append(1))
    optimizer.step()
    assert seen == [1]
    assert p.tolist() == [0.5, 0.5]


def test_an_optimizer_of_ones_own(lib):
    class Signs(lib.optim.Optimizer):
        def __init__(self, params, lr):
            super().__init__(params, {"lr": lr})

        @lib.no_grad()
        def step(self, closure=None):
            for group in self.param_groups:
                for p in group["params"]:
                    p -= group["lr"] * p.grad.sign()
                    self.state[p]["count"] = self.state[p].get("count", 0) + 1

    seen = []
    p = parameter(lib)
    optimizer = Signs([p], 0.25)
    optimizer.register_step_post_hook(lambda *_: seen.append(1))
    optimizer.step()
    assert p.tolist() == [0.75, 0.75]
    assert optimizer.state_dict()["state"] == {0: {"count": 1}}
    assert seen == [1]


# ---- saving ---------------------------------------------------------------------------------------------


def test_state_dict_hooks(lib):
    seen = []
    optimizer = lib.optim.SGD([parameter(lib)])
    optimizer.register_state_dict_pre_hook(lambda o: seen.append("second"))
    optimizer.register_state_dict_pre_hook(lambda o: seen.append("first"), prepend=True)
    optimizer.register_state_dict_post_hook(lambda o, state: {**state, "more": 1})
    state = optimizer.state_dict()
    assert seen == ["first", "second"]
    assert state["more"] == 1
    optimizer.register_load_state_dict_pre_hook(lambda o, state: seen.append(state.pop("more")))
    optimizer.register_load_state_dict_post_hook(lambda o: seen.append("loaded"))
    optimizer.load_state_dict(state)
    assert seen[2:] == [1, "loaded"]
    assert "more" in state


def test_what_does_not_fit_is_refused(lib):
    p, q = parameter(lib), parameter(lib)
    one = lib.optim.SGD([p], lr=0.5)
    with pytest.raises(ValueError, match=r"^loaded state dict has a different number of parameter groups"):
        one.load_state_dict(lib.optim.SGD([{"params": [p]}, {"params": [q]}]).state_dict())
    with pytest.raises(ValueError, match=r"^loaded state dict contains a parameter group that doesn't match the size"):
        one.load_state_dict(lib.optim.SGD([p, q]).state_dict())
    assert one.param_groups[0]["lr"] == 0.5


def test_state_of_another_optimizer_is_refused():
    p = parameter(gw)
    adam, sgd = gw.optim.Adam([p]), gw.optim.SGD([p])
    with pytest.raises(ValueError, match=r"^loaded state dict lacks betas, eps in parameter group 0, which Adam needs"):
        adam.load_state_dict(sgd.state_dict())
    assert adam.param_groups[0]["betas"] == (0.9, 0.999)


def test_state_is_converted_but_for_the_step(lib):
    p = parameter(lib)
    optimizer = lib.optim.Adam([p])
    optimizer.step()
    state = optimizer.state_dict()
    wide = lib.ones(2, dtype=lib.float64, requires_grad=True)
    other = lib.optim.Adam([wide])
    other.load_state_dict(state)
    assert other.state[wide]["exp_avg"].dtype == lib.float64
    assert other.state[wide]["step"].dtype == lib.float32


def test_old_dictionaries_lack_options(lib):
    p = parameter(lib)
    optimizer = lib.optim.Adam([p], amsgrad=True)
    state = lib.optim.Adam([p]).state_dict()
    for name in "amsgrad", "maximize", "fused":
        del state["param_groups"][0][name]
    optimizer.load_state_dict(state)
    assert optimizer.param_groups[0]["amsgrad"] is False
    assert optimizer.param_groups[0]["fused"] is None


@pytest.mark.parametrize("way", ["eager", "plan"])
@pytest.mark.parametrize("name", ["SGD", "Adam", "Rprop", "Adagrad", "NAdam"])
def test_what_was_loaded_stays_as_it_was(name, way):
    p = gw.nn.Parameter(gw.ones(2))
    optimizer = getattr(gw.optim, name)([p], **{"momentum": 0.5} if name == "SGD" else {})

    def step(x):
        optimizer.zero_grad()
        (p * x).square().sum().backward()
        optimizer.step()

    compiled, x = gw.compile(step, backend=way), gw.tensor([1.0, 2.0])
    for _ in range(3):
        compiled(x)
    saved = copy.deepcopy(optimizer.state_dict())
    held = {k: v.tolist() for k, v in saved["state"][0].items()}
    for _ in range(2):
        optimizer.load_state_dict(saved)
        for _ in range(3):
            compiled(x)
        assert {k: v.tolist() for k, v in saved["state"][0].items()} == held


def test_state_of_nobody_is_kept(lib):
    optimizer = lib.optim.SGD([parameter(lib)])
    optimizer.state["note"] = {"a": OrderedDict(b=[1, 2])}
    other = lib.optim.SGD([parameter(lib)])
    other.load_state_dict(optimizer.state_dict())
    assert other.state["note"] == {"a": {"b": [1, 2]}}


@pytest.mark.parametrize("through", [copy.deepcopy, lambda o: pickle.loads(pickle.dumps(o))])  # noqa: S301
def test_copies(lib, through):
    optimizer = lib.optim.Adam([parameter(lib)], lr=0.25)
    optimizer.step()
    again = through(optimizer)
    (p,) = again.param_groups[0]["params"]
    assert again.state[p]["step"].item() == 1
    p.grad = lib.ones(2)
    again.step()
    assert p[0].item() == pytest.approx(0.5)
    assert optimizer.param_groups[0]["params"][0][0].item() == pytest.approx(0.75)
    again.register_step_pre_hook(lambda *_: None)


@pytest.mark.parametrize("name", ["SGD", "Adam", "NAdam"])
def test_training_does_not_grow(name):
    """Without the garbage collector: not an object, nor an array, is left by a step."""
    net = gw.nn.Sequential(gw.nn.Linear(8, 16, bias=False), gw.nn.ReLU(inplace=True), gw.nn.Linear(16, 3, bias=False))
    x, labels, loss = gw.randn(32, 8), gw.randint(3, (32,)), gw.nn.CrossEntropyLoss()
    optimizer = getattr(gw.optim, name)(net.parameters(), lr=1e-3)
    scheduler = gw.optim.lr_scheduler.CosineAnnealingLR(optimizer, 50)

    def closure():
        optimizer.zero_grad()
        out = loss(net(x), labels)
        out.backward()
        gw.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        return out

    def held(steps):
        for _ in range(steps):
            optimizer.step(closure)
            scheduler.step()
        objects, snapshot = len(gc.get_objects()), tracemalloc.take_snapshot()
        arrays = snapshot.filter_traces([tracemalloc.DomainFilter(True, np.lib.tracemalloc_domain)]).traces
        return objects, len(arrays)

    gc.collect()
    gc.disable()
    tracemalloc.start()
    try:
        before, after = held(20), held(60)
    finally:
        tracemalloc.stop()
        gc.enable()
    assert max(b - a for a, b in zip(before, after, strict=True)) < 30


def test_no_warnings_escape_a_step():
    p = gw.zeros(2, requires_grad=True)
    p.grad = gw.zeros(2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gw.optim.Adam([p], eps=0.0).step()  # 0 / 0
    assert p.isnan().all()


@pytest.mark.parametrize(("make", "kind", "words", "mend"), [
    (lambda t: t.optim.SGD(t.nn.Linear(1, 1), lr=0.1), TypeError, "", r"but got Linear: write net\.parameters\(\)$"),
    (lambda t: t.optim.SGD([], lr=0.1), ValueError, "optimizer got an empty parameter list", "in a ModuleList"),
    (lambda t: t.optim.SGD([{"param": [t.ones(1)]}], lr=0.1), KeyError, ".params", "but got one of 'param'"),
    (lambda t: t.optim.Adam([t.ones(1)], lr="0.1"), TypeError, "", "learning rate should be a number, but got '0.1'"),
])  # fmt: skip
def test_what_a_newcomer_hands_over(T, make, kind, words, mend):
    with pytest.raises(kind, match=f"^{words}") as error:
        make(T)
    assert T is not gw or re.search(mend, str(error.value))


@pytest.mark.parametrize("wrap", [gw.nn.Sequential, lambda m: gw.nn.ModuleList([m]), lambda m: [m]])
def test_a_module_in_place_of_its_parameters(wrap):
    with pytest.raises(TypeError, match=r"write net\.parameters\(\)"):
        gw.optim.SGD(wrap(gw.nn.Linear(1, 1)), lr=0.1)


WARNS = pytest.warns(GradientWarning, match=r"step\(\): none of the parameters has a gradient")
NAMES = ["SGD", "ASGD", "Adam", "AdamW", "NAdam", "RAdam", "Adamax", "Adagrad", "Adadelta", "RMSprop", "Rprop",
         "Adafactor", "Muon", "LBFGS"]  # fmt: skip


def made(name):
    model = gw.nn.Linear(2, 2, bias=False)
    return model, getattr(gw.optim, name)(model.parameters(), lr=0.1)


def step(optimizer, loss):
    optimizer.step(lambda: loss) if isinstance(optimizer, gw.optim.LBFGS) else optimizer.step()


def wrong_order(model, optimizer):
    loss = model(gw.ones(1, 2)).square().sum()
    loss.backward()
    optimizer.zero_grad()
    return loss


def no_backward(model, optimizer):
    return model(gw.ones(1, 2)).square().sum()


def other_model(model, optimizer):
    loss = copy.deepcopy(model)(gw.ones(1, 2)).square().sum()
    loss.backward()
    return loss


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("how", [wrong_order, no_backward, other_model])
def test_a_step_that_does_nothing(name, how):
    model, optimizer = made(name)
    before = model.weight.tolist()
    with pytest.warns(GradientWarning, match=f"^{name}.*backward.*zero_grad.*why_none"):
        step(optimizer, how(model, optimizer))
    step(optimizer, how(model, optimizer))  # said once
    assert model.weight.tolist() == before


def test_after_steps_that_were_right():
    model, optimizer = made("SGD")
    for _ in range(2):
        optimizer.zero_grad()
        model(gw.ones(1, 2)).sum().backward()
        optimizer.step()
    with WARNS:
        wrong_order(model, optimizer)
        optimizer.step()


def test_a_closure_that_goes_back():
    for name in NAMES:
        model, optimizer = made(name)

        def closure(model=model, optimizer=optimizer):
            optimizer.zero_grad()
            loss = model(gw.ones(1, 2)).square().sum()
            loss.backward()
            return loss

        optimizer.step(closure)


def test_schedules_may_be_looked_at():
    """Their usual demonstration steps without any loss."""
    model, optimizer = made("SGD")
    for one in (optimizer, gw.optim.Adam(model.parameters())):
        schedule = gw.optim.lr_scheduler.StepLR(one, 2)
        for _ in range(3):
            one.step()
            schedule.step()


def test_one_gradient_will_do():
    model = gw.nn.Sequential(gw.nn.Linear(2, 2), gw.nn.Linear(2, 2))
    optimizer = gw.optim.SGD([{"params": model[0].parameters()}, {"params": model[1].parameters()}], lr=0.1)
    model[1](gw.ones(1, 2)).sum().backward()
    optimizer.step()


def test_a_step_may_ask_whether_it_is_captured(T):
    optimizer = T.optim.SGD([T.ones(1, requires_grad=True)], lr=0.1)
    assert optimizer._cuda_graph_capture_health_check() is None


# ---- states: saved and loaded at every step, in the ways that people do it -----------------------------------


OPTIMIZERS = [
    ("SGD", {}), ("SGD", {"momentum": 0.9, "dampening": 0.5}), ("SGD", {"momentum": 0.9, "nesterov": True}),
    ("Adam", {}), ("Adam", {"amsgrad": True, "lr": "a tensor"}), ("AdamW", {}), ("NAdam", {}), ("RAdam", {}),
    ("Adamax", {}), ("Adagrad", {"initial_accumulator_value": 0.5, "lr_decay": 0.1}), ("Adadelta", {}),
    ("Rprop", {}), ("RMSprop", {"centered": True, "momentum": 0.9}), ("ASGD", {"t0": 2}), ("Adafactor", {}),
    ("Muon", {}), ("LBFGS", {"max_iter": 3}), ("LBFGS", {"max_iter": 3, "line_search_fn": "strong_wolfe"}),
]  # fmt: skip
REAL = {"Adafactor", "Adamax", "ASGD", "LBFGS", "Muon", "Rprop"}
SHAPES = [(3, 2), (2, 4)]


def _begun(name, options, values, dtype, lr=0.05):
    params = [gw.tensor(v.tolist(), dtype=dtype, requires_grad=True) for v in values]
    options = {**options, "lr": gw.tensor(lr) if options.get("lr") else lr}
    groups = params if name == "LBFGS" else [{"params": params[:1]}, {"params": params[1:], "lr": 2 * lr}]
    return params, getattr(gw.optim, name)(groups, **options)


def _steps(params, optimizer, first, stop):
    """Steps with numbers, each with its own gradients, some of them missing; the parameters after each."""
    found = []
    for n in range(first, stop):
        gradients = [np.random.default_rng(9 * n + k).standard_normal(shape) for k, shape in enumerate(SHAPES)]
        for k, p in enumerate(params):
            p.grad = None if (n, k) in ((0, 1), (3, 0)) else gw.tensor(gradients[k], dtype=p.dtype)

        def closure():
            optimizer.zero_grad()
            loss = sum(((p - k) ** 2 * (1 + k)).sum() for k, p in enumerate(params))
            loss.backward()
            return loss

        optimizer.step(*[closure] if isinstance(optimizer, gw.optim.LBFGS) else [])
        found.append([p.detach().clone() for p in params])
    return found


def _loaded(pair, values, state):
    pair[1].load_state_dict(state)
    for p, v in zip(pair[0], values, strict=True):
        p.data = v.clone()
    return pair


@pytest.mark.parametrize(
    ("name", "options", "dtype"),
    [(*pair, d) for pair in OPTIMIZERS for d, but in (("float32", ()), ("float16", ("LBFGS",)), ("complex64", REAL))
     if pair[0] not in but],
)  # fmt: skip
def test_a_run_goes_on_as_if_it_had_not_been_interrupted(tmp_path, name, options, dtype):
    dtype, stop = getattr(gw, dtype), 6
    start = [np.random.default_rng(k).standard_normal(shape) for k, shape in enumerate(SHAPES)]
    whole = _steps(*_begun(name, options, start, dtype), 0, stop)
    for done in some(range(stop), 3, len(name)):
        before = params, optimizer = _begun(name, options, start, dtype)
        _steps(*before, 0, done)
        values = [p.detach().clone() for p in params]
        gw.save([values, optimizer.state_dict()], tmp_path / "state")
        pickled = pickle.loads(pickle.dumps(before))  # noqa: S301

        under_way = _begun(name, options, start, dtype, 7.0)
        _steps(*under_way, 3, 5)
        again = _loaded(_begun(name, options, start, dtype), values, copy.deepcopy(optimizer.state_dict()))
        ways = {
            "copied": copy.deepcopy(before),
            "pickled": pickled,
            "from a file": _loaded(_begun(name, options, start, dtype), values, gw.load(tmp_path / "state")[1]),
            "under way": _loaded(under_way, values, copy.deepcopy(optimizer.state_dict())),
            "twice": _loaded(_begun(name, options, start, dtype), values, again[1].state_dict()),
            "again": again,
            "of one that went on": _loaded(_begun(name, options, start, dtype), values, optimizer.state_dict()),
            "itself": before,
        }
        for way, pair in ways.items():
            for found, right in zip(_steps(*pair, done, stop), whole[done:], strict=True):
                assert all(map(gw.equal, found, right)), (way, done)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize(("name", "options"), [(n, o) for n, o in OPTIMIZERS if n != "LBFGS"])
def test_what_was_saved_in_float32_is_not_rounded_for_16_bits(name, options, dtype):
    """Neither when it is loaded nor in a step, which is as that of parameters of float32."""
    start = [np.random.default_rng(k).standard_normal(shape) * 1e-3 for k, shape in enumerate(SHAPES)]
    params, optimizer = _begun(name, options, start, gw.float32)
    _steps(params, optimizer, 0, 3)
    saved = copy.deepcopy(optimizer.state_dict())
    some = next(iter(saved["state"].values()), {})
    if "exp_avg_sq" in some:
        some["exp_avg_sq"].fill_(1e-12)  # 0 in float16
    narrow, mine = _begun(name, options, [p.detach() for p in params], getattr(gw, dtype))
    mine.load_state_dict(saved)
    wide, other = _begun(name, options, narrow, gw.float32)
    other.load_state_dict(saved)
    for n in range(4, 7):
        for i, held in other.state_dict()["state"].items():
            for key, value in held.items():
                found = mine.state_dict()["state"][i][key]
                assert found.dtype is value.dtype
                assert gw.equal(found, value), (n, key)
        for p, q in zip(narrow, wide, strict=True):
            q.data = p.detach().to(gw.float32)
        for k, (p, q) in enumerate(zip(narrow, wide, strict=True)):
            p.grad = gw.tensor(np.random.default_rng(n + k).standard_normal(SHAPES[k]), dtype=p.dtype)
            q.grad = p.grad.to(gw.float32)
        mine.step()
        other.step()
        for p, q in zip(narrow, wide, strict=True):
            assert gw.equal(p, q.to(p.dtype))
    mine.load_state_dict(_begun(name, options, narrow, getattr(gw, dtype))[1].state_dict())
    mine.step()
    assert all(v.dtype in (p.dtype, gw.float32) for p in narrow for v in mine.state[p].values())
