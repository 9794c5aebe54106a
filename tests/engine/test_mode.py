import threading

import pytest

import gradwright as gw
from gradwright.engine.general import general
from gradwright.engine.mode import PLAIN, UNRECORDED, Mode, now, recording, resumed, switch
from gradwright.engine.watch import Watch
from gradwright.op import Op


@pytest.fixture(autouse=True)
def plain_before_and_after():
    assert now() is PLAIN
    yield
    assert now() is PLAIN


def test_a_mode_cannot_be_changed():
    with pytest.raises(AttributeError):
        PLAIN.records = False  # type: ignore[misc]


def test_the_usual_modes_are_told_by_identity():
    watch = Watch()
    assert PLAIN.but(records=False) is UNRECORDED
    assert PLAIN.but(watches=(watch,)).but(records=False, watches=()) is UNRECORDED
    assert UNRECORDED.but(records=True) is PLAIN


@pytest.mark.parametrize("changes", [{"watches": (Watch(),)}, {"inference": True}, {"interpreter": print}])
def test_what_looks_on_or_reads_otherwise_is_not_quick(changes):
    assert not PLAIN.but(**changes).quick
    assert PLAIN.but(**changes).but(watches=(), inference=False, interpreter=None) is PLAIN


def test_a_watch_turned_on_inside_stays_on():
    watch = Watch()
    before = recording(False)
    watch.__enter__()
    switch(resumed(before))
    assert now() == Mode(watches=(watch,), quick=False)
    watch.__exit__()


def test_each_thread_has_its_own():
    seen = []
    with gw.no_grad():
        thread = threading.Thread(target=lambda: seen.append(now()))
        thread.start()
        thread.join()
    assert seen == [PLAIN]


def test_an_interpreter_gets_every_operation_as_it_is():
    """Elementwise, with numbers beside, views, reductions, products, several outputs, of a user: none goes past it."""
    x = gw.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)

    @gw.op(kind="elementwise")
    def twice(xp, x):
        return x + x

    twice.vjp(x=lambda xp, g: g + g)
    asked = []

    def interpreter(op: Op, inputs, static):
        asked.append(op.name)
        before = now()
        switch(before.but(interpreter=None))
        try:
            return general(op, inputs, static)
        finally:
            switch(before)

    calls = {
        "multiply": lambda: x * 2.0, "add": lambda: x + x, "exp": lambda: x.exp(), "index": lambda: x[0],
        "sum": lambda: x.sum(), "matmul": lambda: x @ x, "concat": lambda: gw.cat([x, x]), "twice": lambda: twice(x),
        "permute_dims": lambda: x.T, "split": lambda: x.split(1),
    }  # fmt: skip
    for name, call in calls.items():
        asked.clear()
        plain = call()
        switch(PLAIN.but(interpreter=interpreter))
        try:
            out = call()
        finally:
            switch(PLAIN)
        assert name in asked, f"{name}: only {asked} were asked for"
        for a, b in zip(out, plain, strict=True) if isinstance(out, tuple) else [(out, plain)]:
            assert a.tolist() == b.tolist()
            assert a.grad_fn.name() == b.grad_fn.name()
