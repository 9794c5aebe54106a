"""What a compiled function tells of itself."""

import re
from io import StringIO

import pytest
from rich.console import Console

import gradwright as gw
from gradwright.compilation.compiled import CompileWarning


def compiled_sum(**options):
    scale = 3.0

    @gw.compile(**options)
    def step(x):
        y = (x * scale).exp()
        return (y + x).sum()

    for _ in range(4):
        step(gw.ones(50))
    return step


@pytest.mark.parametrize("backend", ["auto", "plan"])
def test_a_table_of_what_is_done(backend):
    step = compiled_sum(backend=backend)
    told = step.explain()
    assert told.name.endswith("step")
    assert (told.reason, told.traced) == ("", [""])
    (program,) = told.programs
    assert program.arguments == "float32 [50]"
    assert program.nodes == 4
    assert sum(row.nodes for row in program.rows) == 4
    assert all(row.line.startswith("test_explain.py:") for row in program.rows)
    text = str(told)
    assert "1 program, traced 1 time" in text
    assert re.search(r"1 +(C +multiply, exp, add, sum|NumPy +multiply)", text)
    assert "why in Python" not in text


def test_a_long_program_is_summed_up_and_has_its_table_on_request():
    net = gw.nn.Sequential(*(layer for _ in range(4) for layer in (gw.nn.Linear(3, 3), gw.nn.Tanh())))

    @gw.compile(backend="auto")
    def step(x):
        return net(gw.nn.functional.dropout(gw.nn.functional.dropout(x))).sum()

    for _ in range(4):
        step(gw.ones(2, 3))
    rows = step.explain().programs[0].rows
    short, full = str(step.explain()), str(step.explain(full=True))
    assert "Program 1: float32 [2, 3]; " in short
    assert re.search(r"in Python: random numbers .* are drawn as in an eager run \(.*test_explain.py:\d+\)", short)
    assert f"\n{len(rows)} " in full
    if len(rows) > 6:
        assert re.search(r"nodes in \d+ (loops in C|stretches by NumPy)", short)
        assert short.splitlines()[-1].startswith("explain(full=True) has the table")
        assert len(short.splitlines()) < 8
    assert len(str(step.explain(full=False)).splitlines()) < 8


def test_of_many_programs_the_newest_are_told():
    step = gw.compile(lambda x: (x * 2).sum(), dynamic=False)
    for n in (2, 3, 4, 5, 6):
        for _ in range(2):
            step(gw.ones(n))
    text = str(step.explain(full=False))
    assert "Program 5: float32 [6]" in text
    assert "Program 2" not in text
    assert "and 2 older programs" in text


def test_rich_prints_the_same():
    told = compiled_sum().explain()
    file = StringIO()
    Console(file=file, width=200).print(told)
    assert "multiply" in file.getvalue()
    assert "1 program, traced 1 time" in file.getvalue()


def test_what_stays_in_python_and_what_varied():
    class Odd(gw.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return gw.tensor(x.detach().numpy() + 1)

        @staticmethod
        def backward(ctx, g):
            return gw.tensor(g.numpy() * 1)

    @gw.compile
    def step(x):
        w = gw.ones(1, requires_grad=True)
        z = Odd.apply(gw.nn.functional.dropout(w * x, 0.5))
        (z * 2 if z.sum() > -1 else z).sum().backward()
        return w.grad

    for n in (3, 3, 3, 4, 4):
        step(gw.ones(n))
    told = step.explain()
    assert not told.reason
    reasons = {row.why for row in told.programs[0].rows}
    assert any("random numbers" in why for why in reasons)
    assert any("Odd.forward computes in Python" in why for why in reasons)
    assert "Python reads the value, so it must be what it was" in reasons
    assert any("Odd.backward computes in Python" in why for why in reasons)
    assert "shape (4,) in place of (3,)" in told.traced[-1]
    assert f"Trace {len(told.traced)} was made since" in str(told)


def test_before_there_is_a_program_and_when_there_is_none():
    step = gw.compile(lambda: [].append(gw.ones(1)) or object())
    assert "There is no program yet" in str(step.explain())
    assert step.source().startswith("# There is no program: call the function twice first")
    assert step.guards() == []
    with pytest.warns(CompileWarning):
        [step() for _ in range(3)]
    assert "It runs eagerly: " in str(step.explain())
    assert step.explain().reason in step.source()


def test_source_and_guards():
    step = compiled_sum(backend="plan")
    assert "def " in step.source()
    lines = step.guards()
    assert lines[0] == "argument 0 is a Tensor: float32 [50]"
    assert any(re.match(r"scale = 3.0 \(closure of step\), read at .*test_explain.py:\d+", line) for line in lines)


def test_reset_begins_anew():
    step = compiled_sum()
    step.reset()
    assert step.explain().programs == []
    for _ in range(3):
        assert step(gw.zeros(2)).item() == 2.0
    assert len(step.explain().programs) == 1


def test_a_module_keeps_its_own_methods():
    class Net(gw.nn.Linear):
        def reset(self):
            return "mine"

    net = gw.compile(Net(2, 2))
    assert net.reset() == "mine"
    for _ in range(3):
        net(gw.ones(1, 2))
    assert "Net: 1 program" in str(net.explain())
    assert net.explain().programs[0].backward
    assert net.guards()


def test_loops_are_timed():
    step = compiled_sum(backend="auto")
    if not hasattr(next(iter(step.programs.entries.values()))[0].runner, "loops"):
        pytest.skip("there is no C compiler, and programs run by NumPy have no clocks")
    step.explain(timed=True)
    for _ in range(3):
        step(gw.ones(50))
    assert sum(row.seconds for row in step.explain().programs[0].rows) > 0
    assert "µs, " in str(step.explain(timed=False))


def test_one_program_for_all_sizes():
    step = gw.compile(lambda x: (x * 2).sum(), dynamic=True)
    for n in (2, 3, 4, 5, 6, 7, 6):
        assert step(gw.ones(n)).item() == 2 * n
    told = step.explain()
    assert told.sized == [0]
    assert "One program stands for all sizes of the first dimension of argument 0" in str(told)
    assert len(told.programs) > len(told.traced)


def test_a_value_that_python_reads_is_no_loop():
    step = gw.compile(lambda x: x * 2 if x.sum() > 0 else x)
    for _ in range(3):
        step(gw.ones(3))
    told = str(step.explain(full=False))
    assert ", 1 value that Python reads\n" in told
    assert "in Python: Python reads the value, so it must be what it was (test_explain.py:" in told


def test_a_step_that_went_eager_has_no_programs():
    count = [0]

    def step(x):
        if count[0]:
            count[0] += 1
        return x * 2

    step = gw.compile(step, backend="plan")
    for _ in range(3):
        step(gw.ones(2))
    assert len(step.explain().programs) == 1
    count[0] = 1
    with pytest.warns(CompileWarning):
        [step(gw.ones(2)) for _ in range(4)]
    said = str(step.explain())
    assert "0 programs, traced 3 times" in said
    assert "It runs eagerly" in said
    assert "Program 1" not in said
    assert step.guards() == []
    assert "There is no program" in step.source()
