"""What schedules share; plateaus; schedules made of schedules."""

import copy
import itertools
import warnings

import numpy as np
import pytest

import gradwright as gw
from gradwright.optim.lr_scheduler import ChainedScheduler, ExponentialLR, ReduceLROnPlateau, SequentialLR
from tests.thorough import some

SCHEDULES = {
    "LambdaLR": lambda s, o: s.LambdaLR(o, [lambda k: 0.9**k, lambda k: 1 / (k + 1)]),
    "MultiplicativeLR": lambda s, o: s.MultiplicativeLR(o, lambda k: 1 - 1 / (k + 2)),
    "StepLR": lambda s, o: s.StepLR(o, 7, 0.3),
    "MultiStepLR": lambda s, o: s.MultiStepLR(o, [2, 9, 9, 30], 0.5),
    "ConstantLR": lambda s, o: s.ConstantLR(o, 0.25, 8),
    "LinearLR": lambda s, o: s.LinearLR(o, 0.2, 0.9, 13),
    "LinearLR to 0": lambda s, o: s.LinearLR(o, 1.0, 0.0, 20),
    "ExponentialLR": lambda s, o: s.ExponentialLR(o, 0.93),
    "PolynomialLR": lambda s, o: s.PolynomialLR(o, 20, 2.5),
    "CosineAnnealingLR": lambda s, o: s.CosineAnnealingLR(o, 9, 0.01),
    "CosineAnnealingWarmRestarts": lambda s, o: s.CosineAnnealingWarmRestarts(o, 3, 2, 0.01),
    "CyclicLR": lambda s, o: s.CyclicLR(o, 0.01, [0.1, 0.2], 4, 6),
    "CyclicLR, triangular2": lambda s, o: s.CyclicLR(o, 0.01, 0.1, 4, mode="triangular2"),
    "CyclicLR, exp_range": lambda s, o: s.CyclicLR(o, 0.01, 0.1, 5, 3, "exp_range", 0.95),
    "CyclicLR, scaled": lambda s, o: s.CyclicLR(o, 0.01, 0.1, 5, scale_fn=lambda k: 1 / (1 + k), scale_mode="cycle"),
    "OneCycleLR": lambda s, o: s.OneCycleLR(o, [0.3, 0.7], 50),
    "OneCycleLR, linear": lambda s, o: s.OneCycleLR(o, 0.3, epochs=10, steps_per_epoch=5, anneal_strategy="linear"),
    "OneCycleLR, three phases": lambda s, o: s.OneCycleLR(o, 0.3, 50, three_phase=True, pct_start=0.25),
    "ChainedScheduler": lambda s, o: s.ChainedScheduler([s.ConstantLR(o, 0.1, 5), s.ExponentialLR(o, 0.9)]),
    "SequentialLR": lambda s, o: s.SequentialLR(
        o, [s.LinearLR(o, 0.1, total_iters=10), s.CosineAnnealingLR(o, 20), s.StepLR(o, 3)], [10, 33]
    ),
    "SequentialLR of chains": lambda s, o: s.SequentialLR(
        o, [s.ChainedScheduler([s.ConstantLR(o, 0.1, 5), s.ExponentialLR(o, 0.9)]), s.ExponentialLR(o, 0.8)], [6]
    ),
}  # fmt: skip


@pytest.mark.parametrize("make", SCHEDULES.values(), ids=SCHEDULES)
def test_fifty_steps(pair, make):
    both = pair(make, momentum=0.9)
    both.check()
    both.run(50)


@pytest.mark.parametrize("make", [SCHEDULES["CyclicLR"], SCHEDULES["OneCycleLR"]])
def test_beta1_goes_round_as_well(pair, make):
    pair(make, "Adam").run(50)


@pytest.mark.parametrize("name", [n for n in SCHEDULES if not n.startswith(("Chained", "Seq", "OneCycle", "Cyclic"))])
def test_a_given_epoch(pair, name):
    both = pair(SCHEDULES[name])
    both.run(3)
    for epoch in 11, 2, 19:
        both.run(1, epoch)


@pytest.mark.parametrize("make", SCHEDULES.values(), ids=SCHEDULES)
def test_state_travels_from_pytorch(pair, torch, make):
    both = pair(make, momentum=0.9)
    both.run(8)
    again = pair(make, momentum=0.9)
    for new, saved in zip(again.optimizers, both.optimizers[::-1], strict=True):
        new.load_state_dict(saved.state_dict())
    state = both.schedules[1].state_dict()
    again.schedules[0].load_state_dict(state)
    again.schedules[1].load_state_dict(state)
    again.run(8)


@pytest.mark.parametrize("make", SCHEDULES.values(), ids=SCHEDULES)
def test_state_has_pytorchs_names(pair, make):
    mine, other = (set(schedule.state_dict()) for schedule in pair(make, momentum=0.9).schedules)
    assert mine <= other | {"base_momentums", "max_momentums", "use_beta1"}
    assert other - mine <= {"_scale_fn_ref"}


def test_going_on_from_an_epoch(pair, torch):
    for name in "StepLR", "LinearLR", "CosineAnnealingLR", "ExponentialLR":
        found = []
        for lib in gw, torch:
            optimizer = lib.optim.SGD([{"params": [lib.ones(1)], "initial_lr": 0.3}], lr=0.2)
            schedules = lib.optim.lr_scheduler
            arguments = {"StepLR": (3,), "LinearLR": (), "CosineAnnealingLR": (9,), "ExponentialLR": (0.9,)}[name]
            schedule = getattr(schedules, name)(optimizer, *arguments, last_epoch=1)
            lrs = [schedule.get_last_lr()]
            for _ in range(8):
                optimizer.step()
                schedule.step()
                lrs.append(schedule.get_last_lr())
            found.append([lr for (lr,) in lrs])
        assert found[0] == pytest.approx(found[1], rel=1e-12), name


def test_a_tensor_learning_rate_stays_the_same_tensor():
    lr = gw.tensor(1.0)
    optimizer = gw.optim.SGD([gw.ones(1)], lr=lr)
    schedule = gw.optim.lr_scheduler.ExponentialLR(optimizer, 0.5)
    optimizer.step()
    schedule.step()
    assert optimizer.param_groups[0]["lr"] is lr
    assert lr.item() == 0.5
    assert schedule.base_lrs[0].item() == 1


def test_the_wrong_order_is_noticed():
    def make():
        optimizer = gw.optim.SGD([gw.ones(1)], lr=1.0)
        optimizer.step()  # before there is a schedule: does not count
        return optimizer, gw.optim.lr_scheduler.StepLR(optimizer, 1)

    optimizer, schedule = make()
    with pytest.warns(UserWarning, match=r"^Detected call of `lr_scheduler\.step\(\)` before `optimizer\.step\(\)`"):
        schedule.step()
    optimizer, schedule = make()
    optimizer.step()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        schedule.step()


def test_get_lr_is_for_step_only():
    schedule = gw.optim.lr_scheduler.StepLR(gw.optim.SGD([gw.ones(1)], lr=1.0), 2)
    with pytest.warns(UserWarning, match=r"^To get the last learning rate .* please use `get_last_lr\(\)`"):
        schedule.get_lr()


def test_epochs_are_deprecated():
    optimizer = gw.optim.SGD([gw.ones(1)], lr=1.0)
    schedule = gw.optim.lr_scheduler.StepLR(optimizer, 2)
    optimizer.step()
    with pytest.warns(UserWarning, match=r"^The epoch parameter in `scheduler.step"):
        schedule.step(3)


def test_errors_of_schedules():
    with pytest.raises(TypeError, match=r"^int is not an Optimizer"):
        gw.optim.lr_scheduler.StepLR(3, 1)
    with pytest.raises(KeyError, match=r"param 'initial_lr' is not specified in param_groups\[0\]"):
        gw.optim.lr_scheduler.StepLR(gw.optim.SGD([gw.ones(1)]), 1, last_epoch=2)


OPTIONS = [
    dict(zip(("mode", "threshold_mode", "cooldown", "min_lr"), values, strict=True))
    for values in itertools.product(["min", "max"], ["rel", "abs"], [0, 3], [0, [0.01, 0.2]])
]


@pytest.mark.parametrize("options", OPTIONS)
def test_fifty_figures(pair, options):
    figures = np.random.default_rng(0).uniform(-1, 1, 50)
    both = pair(lambda s, o: s.ReduceLROnPlateau(o, factor=0.6, patience=2, threshold=0.05, **options))
    both.run(50, lambda k: figures[k])
    mine, other = (schedule.state_dict() for schedule in both.schedules)
    assert mine == other


def test_a_tensor_and_the_state(pair):
    both = pair(lambda s, o: s.ReduceLROnPlateau(o, patience=1))
    both.run(3, lambda k: 1.0)
    state = both.schedules[1].state_dict()
    both.schedules[0].load_state_dict(state)
    both.run(5, lambda k: 1.0)
    both.schedules[0].step(gw.tensor(0.5))
    assert both.schedules[0].best == 0.5


@pytest.mark.parametrize(
    ("options", "message"),
    [({"factor": 1.0}, "Factor should be < 1.0."), ({"mode": "up"}, "mode up is unknown!"),
     ({"threshold_mode": "up"}, "threshold mode up is unknown!"), ({"min_lr": [1, 2]}, "expected 1 min_lrs, got 2")],
)  # fmt: skip
def test_errors_of_plateaus(options, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        ReduceLROnPlateau(gw.optim.SGD([gw.ones(1)]), **options)


@pytest.mark.parametrize("least", [0.0, [0.0]])
def test_groups_may_be_added_unless_bounds_were_listed(least):
    optimizer = gw.optim.SGD([gw.ones(1)])
    schedule = ReduceLROnPlateau(optimizer, patience=0, min_lr=least)
    optimizer.add_param_group({"params": [gw.ones(2)]})
    schedule.step(1.0)
    if least:
        with pytest.raises(RuntimeError, match=r"^The number of param groups in the `optimizer`"):
            schedule.step(1.0)
    else:
        schedule.step(1.0)
        assert schedule.get_last_lr() == pytest.approx([1e-4, 1e-4])


@pytest.fixture
def optimizer():
    return gw.optim.SGD([gw.ones(1)], lr=1.0)


@pytest.mark.parametrize("compose", [lambda parts, o: ChainedScheduler(parts, o),
                                     lambda parts, o: SequentialLR(o, parts, [2])])  # fmt: skip
def test_errors_of_both(optimizer, compose):
    stranger = ExponentialLR(gw.optim.SGD([gw.ones(1)]), 0.9)
    mine = ExponentialLR(optimizer, 0.9)
    with pytest.raises(ValueError, match="expects at least one scheduler"):
        compose([], optimizer)
    with pytest.raises(TypeError, match="at index 1 should have `optimizer` as its attribute"):
        compose([mine, 3], optimizer)
    with pytest.raises(ValueError, match="does not support `ReduceLROnPlateau` scheduler as it requires additional"):
        compose([mine, ReduceLROnPlateau(optimizer)], optimizer)
    with pytest.raises(ValueError, match="expects all schedulers to belong to the same optimizer"):
        compose([mine, stranger], optimizer)


def test_one_milestone_less_than_schedules(optimizer):
    with pytest.raises(ValueError, match=r"^Sequential Schedulers expects number of schedulers provided to be one"):
        SequentialLR(optimizer, [ExponentialLR(optimizer, 0.9)], [1])


def test_state_goes_to_the_parts(optimizer):
    schedule = SequentialLR(optimizer, [ExponentialLR(optimizer, 0.5), ExponentialLR(optimizer, 0.25)], [2])
    for _ in range(3):
        optimizer.step()
        schedule.step()
    state = schedule.state_dict()
    assert [part["last_epoch"] for part in state["_schedulers"]] == [1, 1]
    assert schedule.get_last_lr() == [0.25]
    schedule.step()
    schedule.load_state_dict(state)
    assert schedule.last_epoch == 3
    assert schedule._schedulers[1].last_epoch == 1


RESUMED = {
    **SCHEDULES,
    "StepLR, resumed where it falls": lambda s, o, **k: s.StepLR(o, 5, 0.5, **k),
    "MultiStepLR, there too": lambda s, o, **k: s.MultiStepLR(o, [3, 5], 0.1, **k),
    "ConstantLR, where it ends": lambda s, o, **k: s.ConstantLR(o, 0.5, 5, **k),
    "ExponentialLR from an epoch": lambda s, o, **k: s.ExponentialLR(o, 0.8, **k),
    "LambdaLR from an epoch": lambda s, o, **k: s.LambdaLR(o, lambda n: 0.9**n, **k),
    "MultiplicativeLR from an epoch": lambda s, o, **k: s.MultiplicativeLR(o, lambda n: 1 - 1 / (n + 2), **k),
    "LinearLR from an epoch": lambda s, o, **k: s.LinearLR(o, 0.1, 1.0, 10, **k),
    "PolynomialLR from an epoch": lambda s, o, **k: s.PolynomialLR(o, 6, 2.0, **k),
    "CosineAnnealingLR from an epoch": lambda s, o, **k: s.CosineAnnealingLR(o, 4, 0.01, **k),
    "CosineAnnealingWarmRestarts, T_mult 2": lambda s, o, **k: s.CosineAnnealingWarmRestarts(o, 2, 2, **k),
    "CosineAnnealingWarmRestarts, T_mult 1": lambda s, o, **k: s.CosineAnnealingWarmRestarts(o, 4, **k),
    "CyclicLR from an epoch": lambda s, o, **k: s.CyclicLR(o, 0.01, [0.1, 0.2], 2, 3, "exp_range", 0.9, **k),
    "OneCycleLR from an epoch": lambda s, o, **k: s.OneCycleLR(o, [0.3, 0.7], 20, **k),
    "SWALR from an epoch": lambda s, o, **k: gw.optim.swa_utils.SWALR(o, [0.05, 0.1], 3, **k),
    "ChainedScheduler from an epoch": lambda s, o, **k: s.ChainedScheduler(
        [s.ConstantLR(o, 0.1, 3, **k), s.ExponentialLR(o, 0.9, **k)]
    ),
    "SequentialLR from an epoch": lambda s, o, **k: s.SequentialLR(
        o, [s.LinearLR(o, 0.1, 1.0, 3), s.CosineAnnealingWarmRestarts(o, 2)], [3], **k
    ),
    "SequentialLR of parts from an epoch": lambda s, o, **k: s.SequentialLR(
        o, [s.ChainedScheduler([s.LinearLR(o, 0.1, 1.0, 3, **k), s.StepLR(o, 2, **k)]), s.ExponentialLR(o, 0.8, **k)],
        [4], **k,
    ),
}  # fmt: skip


def _made(name, lr, tensors=False, saved=None, **options):
    """An optimiser, which may be given its state first, and a schedule."""
    groups = [{"params": [gw.zeros(1, requires_grad=True)], "lr": rate} for rate in (lr, lr / 2)]
    for group in groups:
        group["params"][0].grad = gw.ones(1)
        group["lr"] = gw.tensor(group["lr"]) if tensors else group["lr"]
    optimizer = gw.optim.SGD(groups, lr=0.1, momentum=0.9)
    if saved is not None:
        optimizer.load_state_dict(saved)
    return optimizer, RESUMED[name](gw.optim.lr_scheduler, optimizer, **options)


def _loaded(pair, saved, *order):
    for i in order:
        pair[i].load_state_dict(copy.deepcopy(saved[i]))
    return pair


def _run(pair, steps):
    """So many steps; the rates and momentums that each used."""
    optimizer, schedule = pair
    used = []
    for _ in range(steps):
        used += [float(group[option]) for group in optimizer.param_groups for option in ("lr", "momentum")]
        optimizer.step()
        schedule.step()
    return used


OVER = "ignore:.* where a schedule before may have ended"


@pytest.mark.filterwarnings(OVER)
@pytest.mark.filterwarnings("ignore:Detected call")  # a chain in a sequence begins twice
@pytest.mark.parametrize("tensors", [False, True], ids=["numbers", "tensors"])
@pytest.mark.parametrize("name", RESUMED)
def test_a_run_goes_on_as_if_it_had_not_been_interrupted(name, tensors):
    close = {"rel": 1e-5, "abs": 1e-7} if tensors else {"rel": 1e-9, "abs": 1e-13}
    whole = _run(_made(name, 0.5, tensors), 14)
    for done in some(range(9), 3, len(name)):
        before, under_way = _made(name, 0.5, tensors), _made(name, 0.5, tensors)
        _run(before, done)
        _run(under_way, 5)
        saved = copy.deepcopy([part.state_dict() for part in before])
        ways = {
            "copied": copy.deepcopy(before),
            "loaded": _loaded(_made(name, 0.5, tensors), saved, 0, 1),
            "the schedule first": _loaded(_made(name, 0.5, tensors), saved, 1, 0),
            "the schedule alone": _loaded(_made(name, 0.5, tensors), saved, 1),
            "other rates at first": _loaded(_made(name, 7.0, tensors), saved, 0, 1),
            "other rates, the schedule first": _loaded(_made(name, 7.0, tensors), saved, 1, 0),
            "made between": _loaded(_made(name, 7.0, tensors, saved[0]), saved, 1),
            "set back": _loaded(under_way, saved, 0, 1),
        }
        if done and ("epoch" in name or "T_mult" in name):
            options = {"saved": saved[0], "last_epoch": done - 1}
            ways["from an epoch"] = _made(name, 7.0, tensors, **options)
            ways["from an epoch, and loaded"] = _loaded(_made(name, 7.0, tensors, **options), saved, 1)
        for way, pair in ways.items():
            assert _run(pair, 14 - done) == pytest.approx(whole[4 * done :], **close), (way, done)


@pytest.mark.parametrize("name", ["ExponentialLR", "StepLR", "CosineAnnealingLR"])
def test_that_a_rate_of_zero_is_left_is_told_as_a_frozen_group_looks_the_same(name):
    optimizer = _made("LambdaLR from an epoch", 0.5)[0]
    optimizer.step()
    optimizer.param_groups[1]["lr"] = 0.0
    made = {"ExponentialLR": (0.9,), "StepLR": (2,), "CosineAnnealingLR": (4,)}[name]
    with pytest.warns(UserWarning, match=r"param_groups\[1\] is 0.0, .* set its initial_lr"):
        getattr(gw.optim.lr_scheduler, name)(optimizer, *made)
    optimizer.param_groups[1].update(lr=0.0, initial_lr=0.0)
    getattr(gw.optim.lr_scheduler, name)(optimizer, *made)
    assert [group["lr"] for group in optimizer.param_groups] == [0.5, 0.0]


@pytest.mark.filterwarnings("ignore:Detected call", OVER)
@pytest.mark.parametrize("name", [n for n in RESUMED if n.endswith("from an epoch") and "SWALR" not in n])
def test_a_new_schedule_begins_where_one_that_is_over_left_a_rate_of_zero(name):
    optimizer, _ = pair = _made(name, 0.5)
    rates = _run(pair, 8)
    for group in optimizer.param_groups:
        group["lr"] = 0.01 if name.startswith("CosineAnnealingLR") else 0.0  # the least
    new = RESUMED[name](gw.optim.lr_scheduler, optimizer)
    assert _run((optimizer, new), 8)[::2] == pytest.approx(rates[::2], rel=1e-12)
