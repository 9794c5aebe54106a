"""Compiled training steps, each as the eager one."""

import copy
from threading import Thread

import numpy as np
import pytest

import gradwright as gw
from tests.compilation.checks import entries

OPTIMIZERS = ["SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "Adadelta", "Adamax", "NAdam", "RAdam", "ASGD", "Rprop",
              "Adafactor"]  # fmt: skip


def trained(name, wrap):
    """The losses and the weights of a small network after some steps."""
    gw.manual_seed(0)
    net = gw.nn.Sequential(gw.nn.Linear(4, 8), gw.nn.Tanh(), gw.nn.Dropout(0.5), gw.nn.Linear(8, 3)).double()
    optimizer = getattr(gw.optim, name)(net.parameters(), lr=0.1)
    schedule = gw.optim.lr_scheduler.StepLR(optimizer, 2, 0.5)

    def step(x, y):
        optimizer.zero_grad()
        loss = gw.nn.functional.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        return loss

    step = wrap(step)
    losses = []
    for _ in range(6):
        losses.append(step(gw.randn(5, 4, dtype=gw.float64), gw.tensor([0, 1, 2, 0, 1])).item())
        schedule.step()
    return step, losses, [p.detach().numpy() for p in net.parameters()]


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_a_training_step_with_a_schedule_and_dropout(name):
    _, losses, weights = trained(name, lambda step: step)
    step, found, ours = trained(name, gw.compile)
    assert not step.programs.reason
    assert len(step.programs.traced) == 1
    np.testing.assert_allclose(found, losses, rtol=1e-12)
    for a, b in zip(ours, weights, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-13)


def test_what_varies_is_told_after_some_traces():
    step = gw.compile(lambda x, k: x * k)
    x = gw.ones(2)
    for k in range(9):
        assert step(x, float(k)).tolist() == [k, k]
    with pytest.warns(UserWarning, match=r"argument 1, which was 8.0, is 9.0: each value has a program of its own"):
        assert step(x, 9.0).tolist() == [9, 9]
    assert step(x, 10.0).tolist() == [10, 10]


def test_a_branch_on_values_has_a_program_for_each_side():
    step = gw.compile(lambda x: x * 2 if x.sum() > 0 else x * 3)
    up, down = gw.ones(2), -gw.ones(2)
    for _ in range(3):
        assert step(up).tolist() == [2, 2]
        assert step(down).tolist() == [-3, -3]
    assert not step.programs.reason
    assert len(step.programs.traced) == 2


@pytest.mark.parametrize("backend", ["plan", "c"])
def test_a_run_that_raises_leaves_what_the_eager_one_does(backend, compiler):
    w = gw.zeros(2)

    def step(x):
        w.add_(1)
        return gw.linalg.inv(x)

    step = gw.compile(step, backend=backend)
    for _ in range(4):
        step(gw.eye(2))
    assert w.tolist() == [4, 4]
    with pytest.raises(gw.linalg.LinAlgError):
        step(gw.zeros(2, 2))
    assert w.tolist() == [5, 5]
    assert w._version == 5


@pytest.mark.parametrize("backend", ["plan", "c"])
def test_the_function_catches_what_an_operation_raises(backend, compiler):
    def factor(x):
        noise = gw.rand(2)
        for jitter in (0.0, 1.0, 10.0):
            try:
                return gw.linalg.cholesky(x + jitter * gw.eye(2)), noise
            except gw.linalg.LinAlgError:
                noise = noise + gw.rand(2)
        return x, noise

    def results(step):
        gw.manual_seed(0)
        return [step(gw.eye(2) * k) for k in (1.0, 1.0, 1.0, 1.0, -0.5, 1.0, -5.0, -50.0, 2.0)]

    step = gw.compile(factor, backend=backend)
    for found, expected in zip(results(step), results(factor), strict=True):
        assert gw.allclose(found[0], expected[0])
        assert gw.equal(found[1], expected[1])
    assert not step.programs.reason


def test_a_program_that_raises_at_its_first_run_is_no_error_of_a_function_that_catches_it():
    def step(x):
        try:
            return gw.linalg.inv(x)
        except gw.linalg.LinAlgError:
            return x * 2

    step = gw.compile(step, backend="plan")
    for k in (1.0, 1.0, 0.0, 1.0, 0.0):
        assert step(gw.eye(2) * k).tolist() == (gw.eye(2) * k).tolist()


class Stop(Exception):  # noqa: N818 - a user's
    """An exception of the user's own."""


@pytest.mark.parametrize("error", [Stop, AssertionError, OSError, ValueError])
def test_what_was_done_before_an_error_of_the_users_own_stays(error):
    w = gw.ones(2, requires_grad=True)

    def step(x):
        w.grad = None
        (w * x).sum().backward()
        if x.sum() > 3:
            raise error("too much")
        return w * 1

    step = gw.compile(step, backend="plan")
    for k in (1.0, 1.0, 1.0, 1.0, 5.0, 1.0, 6.0):
        x = gw.full((2,), k)
        if k > 1:
            with pytest.raises(error, match="too much"):
                step(x)
        else:
            step(x)
        assert w.grad.tolist() == [k, k]
    assert not step.programs.reason


def test_results_do_not_alias():
    step = gw.compile(lambda x: x * 2)
    kept = [step(gw.full((3,), float(k))) for k in range(6)]
    assert [y[0].item() for y in kept] == [0, 2, 4, 6, 8, 10]


def test_gradients_add_up_over_calls():
    w = gw.tensor([1.0, 2.0], requires_grad=True)
    step = gw.compile(lambda x: (w * x).sum().backward())
    for k in range(6):
        step(gw.full((2,), 2.0))
        assert w.grad.tolist() == [2 * (k + 1)] * 2
    w.grad = None
    step(gw.ones(2))
    assert w.grad.tolist() == [1, 1]


def test_in_a_transform_it_is_the_function():
    f = gw.compile(lambda x: (x**3).sum())
    x = gw.tensor([1.0, 2.0], dtype=gw.float64)
    for _ in range(4):
        f(x)
    assert gw.func.grad(f)(x).tolist() == [3.0, 12.0]
    assert gw.vmap(f)(gw.stack([x, x])).tolist() == [9.0, 9.0]


def test_arguments_by_position_by_name_and_in_trees():
    step = gw.compile(lambda x, k=2.0, tree=None: x * k if tree is None else x * k + tree[0], check="always")
    x, p = gw.ones(2), gw.nn.Parameter(gw.ones(2))
    for _ in range(4):
        assert step(x).tolist() == [2, 2]
        assert step(p, 3.0).tolist() == [3, 3]
        assert step(p, 3).tolist() == [3, 3]
        assert step(x, k=3.0).tolist() == [3, 3]
        assert step(x, 1.0, [x]).tolist() == [2, 2]
    assert step(x, 1.0, tree=(x,)).tolist() == [2, 2]
    assert len(step.programs.traced) == 6
    assert not step.programs.reason


def test_threads_that_share_weights():
    gw.manual_seed(0)
    net = gw.nn.Sequential(gw.nn.Linear(4, 8), gw.nn.Tanh(), gw.nn.Linear(8, 3)).double()
    x = gw.randn(5, 4, dtype=gw.float64)
    expected = net(x).detach().numpy()
    others = [gw.tensor([float(k)], dtype=gw.float64, requires_grad=True) for k in range(4)]
    faults = []

    def work(k):
        shared = gw.compile(lambda x: net(x).detach())
        mine = gw.compile(lambda x: (others[k] * x).sum().backward())
        for n in range(30):
            out = shared(x) if n % 3 else net(x).detach()
            if not isinstance(out.array, np.ndarray) or abs(out.numpy() - expected).max() > 1e-12:
                faults.append((k, n))
            mine(gw.ones(1, dtype=gw.float64))

    threads = [Thread(target=work, args=(k,)) for k in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert not faults
    assert [t.grad.item() for t in others] == [30.0] * 4


def test_one_step_called_from_several_threads():
    w = gw.tensor([1.0, 2.0], dtype=gw.float64)
    step = gw.compile(lambda x: (w * x).exp().sum())
    faults = []

    def work(k):
        for n in range(200):
            value = (k * n % 7) / 7
            if abs(step(gw.full((2,), value, dtype=gw.float64)).item() - np.exp([value, 2 * value]).sum()) > 1e-12:
                faults.append((k, n))

    threads = [Thread(target=work, args=(k,)) for k in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert not faults


def test_never_compared():
    step = gw.compile(lambda x: x * 2, check="never", backend="plan")
    assert [step(gw.ones(1)).item() for _ in range(2)] == [2.0, 2.0]
    assert [entry.checked for entry in entries(step)] == [True]


def test_an_error_of_the_users_own_is_no_reason_to_stay_eager():
    step = gw.compile(lambda x, y: x @ y, backend="plan")
    for k in range(6):
        if k in (0, 1, 4):
            with pytest.raises(RuntimeError):
                step(gw.ones(2, 3), gw.ones(2, 3))
        assert step(gw.ones(2, 3), gw.ones(3, 2)).tolist() == [[3, 3], [3, 3]]
    assert not step.programs.reason
    assert step.programs.entries


WRONG_VALUES = {
    "a quotient": (lambda a, i: i // (i - 1), [gw.tensor([0, 3]), gw.tensor([1, 3])]),
    "a remainder": (lambda a, i: i % i, [gw.tensor([2, 3]), gw.tensor([0, 3])]),
    "rows": (lambda a, i: a[i] * 2, [gw.tensor([0, 1]), gw.tensor([0, 7])]),
    "entries": (lambda a, i: gw.gather(a, 0, i[None]) * 2, [gw.tensor([0, 1]), gw.tensor([0, 7])]),
    "classes": (lambda a, i: gw.nn.functional.cross_entropy(a[:2], i), [gw.tensor([0, 1]), gw.tensor([0, 7])]),
    "factors": (lambda a, i: gw.linalg.cholesky(a * i[0]), [gw.tensor([1]), gw.tensor([-1])]),
}


@pytest.mark.parametrize("backend", ["plan", "c"])
@pytest.mark.parametrize("name", WRONG_VALUES)
def test_wrong_values_raise_what_they_raise_eagerly(name, backend, compiler, request):
    before = gw.kernels("numpy")  # as a kernel's sums have bits of their own
    request.addfinalizer(before.__exit__)
    f, (right, wrong) = WRONG_VALUES[name]
    a = gw.eye(3)
    with pytest.raises((RuntimeError, IndexError)) as eagerly:
        f(a, wrong)
    step = gw.compile(f, backend=backend)
    for _ in range(3):
        assert gw.equal(step(a, right), f(a, right))
    with pytest.raises((RuntimeError, IndexError)) as compiled:
        step(a, wrong)
    assert isinstance(compiled.value, eagerly.type)
    assert gw.equal(step(a, right), f(a, right))
    assert not step.programs.reason


def loaded(net, opt, saved, k):
    if k == 4:
        saved["opt"] = copy.deepcopy(opt.state_dict())
    elif k == 7:
        opt.load_state_dict(saved["opt"])


def one_more_group(net, opt, saved, k):
    if k == 5:
        opt.add_param_group({"params": [net.extra], "lr": 0.5})


@pytest.mark.parametrize("change", [loaded, one_more_group])
def test_an_optimiser_that_makes_its_state_anew_is_compiled_again(change):
    found = []
    for wrap in (lambda f: f, gw.compile):
        gw.manual_seed(0)
        net = gw.nn.Linear(3, 2).double()
        net.extra = gw.nn.Parameter(gw.ones(2, dtype=gw.float64))
        opt = gw.optim.Adam([net.weight, net.bias], lr=0.1)

        def step(x, net=net, opt=opt):
            opt.zero_grad()
            loss = (net(x) * net.extra).pow(2).sum()
            loss.backward()
            opt.step()
            return loss

        step, saved, losses = wrap(step), {}, []
        for k in range(11):
            change(net, opt, saved, k)
            losses.append(step(gw.ones(2, 3, dtype=gw.float64) * (k + 1)).item())
        found.append(losses)
    np.testing.assert_allclose(found[1], found[0], rtol=1e-3)
    assert not step.programs.reason


def test_what_a_traced_run_leaves_to_python_holds_its_numbers():
    w, kept = gw.tensor([2.0], requires_grad=True), []
    waiting = gw.nn.LazyLinear(2)  # which has no arrays yet

    def step(x):
        y = w * x
        if x.sum() > 5:
            kept.append(y)
        return y * 1

    compiled = gw.compile(step)
    for k in (1.0, 2.0, 3.0, 4.0, 7.0):
        compiled(gw.tensor([k]))
    assert kept[0].tolist() == [14.0]
    kept[0].sum().backward()
    assert w.grad.tolist() == [7.0]
    assert gw.nn.parameter.is_lazy(waiting.weight)


def test_gradients_that_are_filled_with_zeros():
    def trained(wrap):
        gw.manual_seed(0)
        net = gw.nn.Linear(2, 1)
        optimizer = gw.optim.Adam(net.parameters(), 0.1)

        def step(batch):
            optimizer.zero_grad(set_to_none=False)
            loss = ((net(batch["x"]) - batch["y"]) ** 2).mean()
            loss.backward()
            gw.nn.utils.clip_grad_norm_(net.parameters(), 0.5)
            optimizer.step()
            return loss.detach()

        step = wrap(step)
        batches = [{"x": gw.full((4, 2), float(k)), "y": gw.ones(4, 1)} for k in range(6)]
        return step, [step(batch).item() for batch in batches]

    _, expected = trained(lambda step: step)
    step, found = trained(gw.compile)
    assert not step.programs.reason
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_a_sum_of_losses_is_run_backward_at_once():
    weights = [gw.full((2,), float(k + 1), dtype=gw.float64, requires_grad=True) for k in range(3)]

    def step(x):
        for w in weights:
            w.grad = None
        sum((w * x).pow(2).sum() for w in weights).backward()
        return gw.stack([w.grad for w in weights])

    step = gw.compile(step, backend="plan")
    for k in range(5):
        x = gw.full((2,), float(k), dtype=gw.float64)
        expected = np.stack([2 * w.detach().numpy() * k * k for w in weights])
        np.testing.assert_allclose(step(x).numpy(), expected)
    assert not step.programs.reason


def test_what_a_sum_returns_is_looked_at_if_python_code_has_made_it():
    class Total:
        k = 2.0

        def __radd__(self, other):
            return self

    total = Total()
    step = gw.compile(lambda x: x * sum([total]).k, backend="plan")
    for k in range(6):
        total.k = float(k)
        assert step(gw.ones(1)).item() == k


def test_a_write_to_a_tensor_with_several_entries_in_one_place_raises():
    step = gw.compile(lambda x: x.add_(1.0), backend="plan")
    part = gw.compile(lambda x: x[1:].add_(1.0), backend="plan")
    for given in (gw.ones(4), gw.ones(4), gw.ones(4), gw.ones(1).expand(4), gw.ones(4), gw.ones(1).expand(4)):
        for f in (step, part):
            if given.stride() == (0,):
                with pytest.raises(RuntimeError, match="single memory location"):
                    f(given)
            else:
                f(given)
    assert not step.programs.reason


@pytest.mark.parametrize("kind", [
    lambda ps: gw.optim.RMSprop(ps, lr=0.1, momentum=0.5, centered=True),
    lambda ps: gw.optim.SGD(ps, lr=0.1, momentum=0.5, nesterov=True),
    lambda ps: gw.optim.SGD(ps, lr=0.1, momentum=0.5, dampening=0.1),
], ids=["RMSprop", "SGD, Nesterov's", "SGD"])  # fmt: skip
def test_an_optimiser_with_a_schedule_for_its_momentum_is_compiled(kind):
    def training():
        v = gw.ones(3, requires_grad=True)
        optimizer = kind([v])

        def step():
            optimizer.zero_grad()
            (v * v).sum().backward()
            optimizer.step()
            return v.detach() * 1

        return step, optimizer.param_groups[0]

    (eager, its), (step, group) = training(), training()
    step = gw.compile(step)
    for _ in range(5):
        assert gw.equal(step(), eager())
        for g in (its, group):
            g["momentum"] *= 0.9
    assert not step.programs.reason
    assert len(step.programs.traced) == 1
    its["momentum"] = group["momentum"] = 0.0  # another formula
    assert gw.allclose(step(), eager())
