"""Schedules, against PyTorch's, and what a profile with one records."""

import itertools

import pytest

import gradwright as gw
from gradwright.profiler import profile, schedule, tensorboard_trace_handler

PLANS = [
    {"wait": wait, "warmup": warmup, "active": active, "repeat": repeat, "skip_first": skip}
    for wait, warmup, active, repeat, skip in itertools.product((0, 2), (0, 1), (1, 3), (0, 2), (0, 2))
]


@pytest.mark.filterwarnings("ignore:Profiler won.t be using warmup")
def test_the_plans_are_pytorchs(torch):
    for plan in [*PLANS, {"wait": 2, "warmup": 1, "active": 1, "skip_first": 1, "skip_first_wait": 1}]:
        ours, theirs = schedule(**plan), torch.profiler.schedule(**plan)
        assert [ours(step).name for step in range(20)] == [theirs(step).name for step in range(20)], plan


# As PyTorch 2.13 gives: its profiler has crashed on Linux where it is entered often in one process.
READY = {
    (0, 0, 1, 0, 0): [1, 2, 3, 4, 5, 6, 7, 8, 9, 9], (0, 0, 3, 0, 2): [5, 8, 9], (0, 1, 3, 0, 0): [4, 8, 9],
    (2, 0, 1, 2, 0): [3, 6], (2, 1, 1, 0, 0): [4, 8], (2, 1, 3, 2, 2): [8], (0, 1, 1, 2, 2): [4, 6],
}  # fmt: skip


@pytest.mark.parametrize("plan", READY)
def test_traces_are_ready_when_pytorchs_are(plan):
    ready = []
    steps = schedule(**dict(zip(PLANS[0], plan, strict=True)))
    with profile(schedule=steps, on_trace_ready=lambda prof: ready.append(prof.step_num)) as prof:
        for _ in range(9):
            gw.ones(2).exp()
            prof.step()
    assert ready == READY[plan]


def test_only_active_steps_are_recorded(tmp_path):
    names = []
    write = tensorboard_trace_handler(tmp_path / "traces", "me")
    ready = lambda prof: (names.append([e.name for e in prof.events()]), write(prof))
    with profile(schedule=schedule(wait=1, warmup=1, active=2, repeat=1), on_trace_ready=ready) as prof:
        for operation in ("exp", "sin", "cos", "tan", "log"):
            getattr(gw.ones(2), operation)()
            prof.step()
    assert names == [["cos", "tan"]]
    assert [path.name.split(".")[0] for path in (tmp_path / "traces").iterdir()] == ["me"]
    assert prof.total_average().count == 2


def test_what_is_no_plan():
    with pytest.raises(AssertionError, match="Invalid profiler schedule arguments"):
        schedule(wait=0, warmup=0, active=0)
    with pytest.raises(AssertionError, match="Step must be non-negative"):
        schedule(wait=0, warmup=0, active=1)(-1)
