"""Programs run by the plan, beside the same run call by call."""

import traceback
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gradwright as gw
from gradwright.compilation.by_numpy.plan import Plan
from gradwright.compilation.node import HOST, GuardFailed, Interpreted, Program
from gradwright.compilation.trace.traced import Notes, Traced, space, traced
from gradwright.errors import LinAlgError
from gradwright.op import table
from tests.compilation.checks import sample_arrays
from tests.compilation.random_programs import Making, bits, close

Make = Callable[[], list[Any]]
CALLS = 3


def _or_failed(runner: Any, arrays: list[Any]) -> Any:
    try:
        return runner(arrays)
    except GuardFailed:
        return None


def compare(program: Program, make: Make, exact: bool, equal: Callable[[Any, Any], bool]) -> None:
    """Assert that the plan does what `Interpreted` does in some calls, and leaves what it returned before alone."""
    reference, plan = Interpreted(program), Plan(program, exact=exact)
    first, second = make(), make()
    kept: list[tuple[Any, Any]] = []
    for _ in range(CALLS):
        want, got = _or_failed(reference, first), _or_failed(plan, second)
        assert (want is None) == (got is None)
        for a, b in zip((want or []) + first, (got or []) + second, strict=True):
            assert (a is None) == (b is None)
            assert a is None or (isinstance(b, np.ndarray) and equal(b, a))
        new = [x for x in got or [] if x is not None]
        for k, x in enumerate(new):
            assert not any(np.shares_memory(x, y) for y in [*second, *new[:k], *(y for y, _ in kept)])
        assert all(bits(x) == was for x, was in kept)
        kept += [(x, bits(x)) for x in new]
        for at in {at for at in program.writes if at is not None}:  # else rounding grows from call to call: sin(sum)
            second[at][...] = first[at]


def _same_bits(got: Any, want: Any) -> bool:
    return bits(got) == bits(want)


def _rounded(got: Any, want: Any) -> bool:
    same = got.dtype == want.dtype and got.shape == want.shape
    return same and np.allclose(got, want, rtol=1e-12, atol=1e-13, equal_nan=True)


@pytest.mark.parametrize("name", sorted(table))
def test_every_operation(name: str) -> None:
    op = table[name]
    for sample in op.samples:
        arrays = sample_arrays(sample)
        program = traced(lambda *v, op=op, sample=sample: op(*v, **sample.static), *arrays)
        compare(program, lambda arrays=arrays: [np.array(a) for a in arrays], True, _same_bits)
        compare(program, lambda arrays=arrays: [np.array(a) for a in arrays], False, _rounded)


@given(seed=st.integers(0, 2**32), long=st.sampled_from([False] * 4 + [True]))
@settings(max_examples=settings.default.max_examples * 150 // 100, deadline=None)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_exact_random_programs(seed: int, long: bool) -> None:
    made = Making(seed, long=long, outside=bool(seed % 2))
    compare(made.program, made.inputs, True, _same_bits)


@given(seed=st.integers(0, 2**32), long=st.sampled_from([False] * 4 + [True]))
@settings(max_examples=settings.default.max_examples * 150 // 100, deadline=None)
def test_random_programs(seed: int, long: bool) -> None:
    made = Making(seed, special=False, long=long, outside=bool(seed % 2))
    compare(made.program, made.inputs, False, close)


@given(seed=st.integers(0, 2**32))
@settings(max_examples=settings.default.max_examples * 50 // 100, deadline=None)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_without_the_traced_values(seed: int) -> None:
    made = Making(seed, outside=bool(seed % 2))
    for node in made.program.nodes:
        node.value = None
    compare(made.program, made.inputs, True, _same_bits)


def test_a_program_of_nothing() -> None:
    assert Plan(Program([], [], [], []))([]) == []


def test_a_check_that_departs_leaves_everything() -> None:
    notes = Notes()
    x, p = notes.input(np.ones(3)), notes.input(np.ones(3))
    new = p + x
    notes.read(space.sum(x))
    plan = Plan(notes.program([x, p], [new, new * 2.0], [1, None]))
    kept = np.ones(3)
    with pytest.raises(GuardFailed) as caught:
        plan([np.full(3, 2.0), kept])
    assert caught.value.found == 6
    assert kept.tolist() == [1, 1, 1]
    assert plan([np.ones(3), kept])[1].tolist() == [4, 4, 4]
    assert kept.tolist() == [2, 2, 2]


def test_arrays_that_change_places() -> None:
    notes = Notes()
    x, y = notes.input(np.ones(3)), notes.input(np.zeros(3))
    plan = Plan(notes.program([x, y], [y, x], [0, 1]))
    a, b = np.array([1.0, 2, 3]), np.array([4.0, 5, 6])
    assert plan([a, b]) == [None, None]
    assert (a.tolist(), b.tolist()) == ([4, 5, 6], [1, 2, 3])


def test_host_calls_may_keep_what_they_are_given() -> None:
    kept: list[Any] = []
    notes = Notes()
    x = notes.input(np.ones(3))
    notes.enter(HOST, (kept.append, (x + 1.0).node), {}, None)
    plan = Plan(notes.program([x], [(x + 1.0) * 2.0], [None]))
    plan([np.ones(3)])
    plan([np.zeros(3)])
    assert [k.tolist() for k in kept] == [[2, 2, 2], [1, 1, 1]]


def test_a_host_call_that_returns_another_shape_departs() -> None:
    sizes = iter([3, 2])
    notes = Notes()
    x = notes.input(np.ones(3))
    node = notes.enter(HOST, (lambda x: np.ones(next(sizes)), x.node), {}, np.ones(3))
    plan = Plan(notes.program([x], [Traced(notes, node) + 1.0], [None]))
    assert plan([np.ones(3)])[0].tolist() == [2, 2, 2]
    with pytest.raises(GuardFailed):
        plan([np.ones(3)])


def test_errors_name_the_users_line() -> None:
    program = traced(lambda x: space.linalg.inv(x) + 1.0, np.eye(2))
    program.nodes[1].name = "inverse"
    with pytest.raises(LinAlgError) as caught:
        Plan(program)([np.zeros((2, 2))])
    assert "inverse" in caught.value.__notes__[0]
    assert "test_plan.py" in caught.value.__notes__[0]
    assert "v1 = linalg_inv(x0)" in "".join(traceback.format_exception(caught.value))


def test_no_warnings_but_the_hosts() -> None:
    notes = Notes()
    x = notes.input(np.ones(3))
    notes.enter(HOST, (lambda x: 1.0 / x, x.node), {}, np.ones(3))
    plan = Plan(notes.program([x], [1.0 / x], [None]))
    with pytest.warns(RuntimeWarning, match="divide by zero") as caught:
        assert np.isinf(plan([np.zeros(3)])[0]).all()
    assert len(caught) == 1


def test_long_sums_are_as_exact_as_numpys() -> None:
    x = np.random.default_rng(0).uniform(0, 1, 1_000_003).astype("float32")
    program = traced(lambda x: [space.sum(x), space.sum(x * x), space.sum(x * 3.0 + 1.0)], x)
    for got, want in zip(Plan(program)([x]), [x, x.astype("f8") ** 2, x * 3.0 + 1.0], strict=True):
        np.testing.assert_allclose(got, want.sum(dtype="f8"), rtol=2e-7)


def test_records_of_steps_and_their_times() -> None:
    notes = Notes()
    x = notes.input(np.ones(100_000))
    notes.enter(HOST, (len, x.node), {}, 100_000)
    plan = Plan(notes.program([x], [space.exp(x) + 1.0, space.sum(x)], [None, None]))
    kinds = [(r["kind"], r["entries"], len(r["nodes"])) for r in plan.loops]
    assert kinds == [("host", 100_000, 1), ("NumPy", 100_000, 3)]
    want = plan([np.ones(100_000)])
    assert not any(r["seconds"] for r in plan.loops)
    plan.timed = True
    for _ in range(2):
        for a, b in zip(plan([np.ones(100_000)]), want, strict=True):
            np.testing.assert_array_equal(a, b)
    assert all(r["seconds"] > 0 for r in plan.loops)
    plan.timed = False
    plan([np.ones(100_000)])
    assert "clock" not in plan.source


@pytest.mark.parametrize("name", ["pow", "rpow", "both", "slope"])
@pytest.mark.parametrize("dtype", [gw.float32, gw.float64])
def test_powers_of_numbers_are_the_eager_runs_to_the_bit(name: str, dtype: gw.dtype) -> None:
    def slope(x: gw.Tensor) -> gw.Tensor:
        x = x.detach().requires_grad_()
        return gw.autograd.grad((x * 1) ** 1.7, x)[0]

    f: Any = {"pow": lambda x: (x * 1) ** 1.5, "rpow": lambda x: 2.0 ** (x * 1), "both": lambda x: x**x, "slope": slope}
    f = f[name]
    compiled = gw.compile(f, backend="plan", exact=True)
    for k in range(200):
        x = gw.tensor(0.1 + 0.0173 * k, dtype=dtype)
        assert compiled(x).numpy().tobytes() == f(x).numpy().tobytes()
    assert not compiled.programs.reason
