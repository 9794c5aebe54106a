"""`C` against `Interpreted`: every operation, random programs, layouts, writes, errors."""

import warnings
from itertools import islice
from typing import Any

import numpy as np
import pytest

from gradwright.compilation.by_c import runner as module
from gradwright.compilation.by_c.runner import C
from gradwright.compilation.node import HOST, GuardFailed, Interpreted
from gradwright.compilation.trace.traced import Notes, Traced, space, traced
from gradwright.errors import LinAlgError
from gradwright.op import table
from tests.compilation.checks import sample_arrays
from tests.compilation.random_programs import Making, bits, close
from tests.thorough import some

OPERATIONS = [*table]


def samples_of(name: str, kind: Any) -> list[tuple[Any, list[Any]]]:
    """The samples of an operation that are for such arrays, and their arrays."""
    found = []
    for sample in table[name].samples:
        given = map(np.asarray, sample_arrays(sample))
        arrays = [x.astype(kind) if kind and x.dtype == np.float64 else x for x in given]
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                table[name](*arrays, **sample.static)
        except (TypeError, ValueError, NotImplementedError, ModuleNotFoundError):
            continue
        found.append((sample, arrays))
    return found


def programs_of(names: list[str], kinds: list[Any]) -> tuple[Any, list[Any], list[tuple[str, Any]]]:
    """All samples of some operations in one program, which is compiled once; its arrays; and whose each output is."""
    cases, arrays, owners = [], [], []
    for name in names:
        for kind in kinds:
            samples = samples_of(name, kind)
            if any(kind is None or x.dtype == kind for _, own in samples for x in own):
                cases += [(name, kind, sample.static, len(own)) for sample, own in samples]
                arrays += [x for _, own in samples for x in own]

    def f(*arrays: Any) -> list[Any]:
        found, rest = [], iter(arrays)
        for name, kind, static, count in cases:
            made = table[name](*islice(rest, count), **static)
            made = made if isinstance(made, (tuple, list)) else [made]
            owners.extend([(name, kind)] * len(made))
            found += made
        return found

    return traced(f, *arrays), arrays, owners


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("part", range(8))
def test_every_operation(compiler: None, part: int, exact: bool) -> None:
    names, kinds = OPERATIONS[part::8], some((None, np.float32), 2, part + exact)
    for k in range(0, len(names), 4):
        program, arrays, owners = programs_of(names[k : k + 4], kinds)
        ours, want = C(program, exact=exact), Interpreted(program)(arrays)
        for _ in range(2):
            for a, b, (name, kind) in zip(want, ours(arrays), owners, strict=True):
                assert (a.dtype, a.shape) == (b.dtype, b.shape)
                if exact:
                    assert bits(b) == bits(a), name
                else:
                    near, small = (3e-6, 1e-6) if kind or a.dtype.itemsize <= 4 else (1e-12, 1e-14)
                    np.testing.assert_allclose(b, a, rtol=near, atol=small, err_msg=name)


@pytest.mark.parametrize("seed", some(range(40), 2))
def test_random_programs(compiler: None, seed: int) -> None:
    exact = seed % 3 == 0
    made = Making(seed, special=exact, long=seed % 5 == 0, outside=True)
    ours = C(made.program, exact=exact)
    for _ in range(2):
        x, y = made.inputs(), made.inputs()
        got, want = ours(x), Interpreted(made.program)(y)
        for a, b in [*zip(got, want, strict=True), *zip(x, y, strict=True)]:
            assert (a is None) == (b is None)
            if b is not None:
                assert bits(a) == bits(b) if exact else close(a, b)


def check(f: Any, *arrays: Any, writes: Any = None, form: Any = None) -> C:
    """Assert that C and call by call give the same, for copies of arrays in their layout, twice."""
    program = traced(f, *arrays)
    if writes is not None:
        program.writes = writes
    ours = C(program)
    for k in range(2):
        x, y = ([form(a.copy(order="K") + k) if form else a.copy(order="K") for a in arrays] for _ in range(2))
        for a, b in zip(ours(x), Interpreted(program)(y), strict=True):
            assert (a is None) == (b is None)
            if b is not None:
                np.testing.assert_allclose(a, b, rtol=1e-6)
        for a, b in zip(x, y, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-6)
    return ours


X = np.random.default_rng(0).standard_normal((4, 5))


def test_any_layout_of_an_input(compiler: None) -> None:
    program = traced(lambda x: [x * 2.0, space.sum(x, axis=0), x.T + 1.0], X)
    ours = C(program)
    packed = np.zeros(4 * 5 * 8 + 1, np.uint8)
    askew = np.ndarray((4, 5), np.float64, packed, 1)
    askew[...] = X
    within = np.zeros((4, 5), [("a", "i4"), ("b", "f8")])
    within["b"] = X
    wide = np.zeros((8, 15))
    wide[::2, ::3] = X
    layouts = [X, np.asfortranarray(X), X[::-1].copy()[::-1], X[:, ::-1].copy()[:, ::-1], wide[::2, ::3], askew,
               within["b"], np.broadcast_to(X[:1], X.shape), np.broadcast_to(X[0, 0], X.shape)]  # fmt: skip
    for _ in range(2):
        for x in layouts:
            for got, want in zip(ours([x]), Interpreted(program)([x]), strict=True):
                np.testing.assert_allclose(got, want)


def test_writes(compiler: None) -> None:
    g = np.ones_like(X)
    check(lambda p, g: p - 0.1 * g, X, g, writes=[0])
    check(lambda p, g: [p - 0.1 * g, space.sum(p)], X, g, writes=[0, None])
    check(lambda p: [p * 2.0, space.matmul(p * 2.0, p.T)], X, writes=[0, None])
    check(lambda p: p.T + 1.0, X[:, :4], writes=[0])
    check(lambda p, q: [q, p], X, X + 1.0, writes=[0, 1])
    check(lambda p: p[::-1], X, writes=[0])
    check(lambda p: space.roll(p, 1, axis=0), X, writes=[0])


def _written_and_read(p: Any) -> Any:
    new = p * 2.0
    return new, space.cumulative_sum(new, axis=0)[0] + space.reshape(new, (2, -1))[:, :5]


@pytest.mark.parametrize("form", [np.asfortranarray, lambda a: a[::-1], lambda a: a[:, ::-1]])
def test_writes_into_any_layout(compiler: None, form: Any) -> None:
    check(lambda p: [p * 2.0 + p, space.sum(p)], X, writes=[0, None], form=form)
    check(lambda p: p + space.sum(p, axis=0), X, writes=[0], form=form)
    check(lambda p: [p * 2.0, space.sum(space.reshape(p * 2.0, (2, -1)), axis=0)], X, writes=[0, None], form=form)
    check(_written_and_read, X, writes=[0, None], form=form)


def test_more_layouts_than_are_compiled_for(compiler: None) -> None:
    program = traced(lambda p: p * 2.0, X)
    program.writes = [0]
    ours = C(program)
    for step in range(1, 9):
        wide = np.zeros((4, 5 * step))
        x = wide[:, ::step]
        x[...] = X
        ours([x])
        np.testing.assert_array_equal(x, X * 2.0)
        assert np.count_nonzero(wide) == X.size


def test_memory_that_two_inputs_share(compiler: None) -> None:
    program = traced(lambda p, q: [p + q, q * 3.0], np.ones(9), np.ones(9))
    program.writes = [0, None]
    ours = C(program)
    for start in (0, 1, 5):
        both = [np.arange(20.0), np.arange(20.0)]
        got, want = (f([b[:9], b[start : start + 9]]) for f, b in zip((ours, Interpreted(program)), both, strict=True))
        np.testing.assert_array_equal(both[0], both[1])
        np.testing.assert_array_equal(got[1], want[1])


def test_results_are_the_callers(compiler: None) -> None:
    ours = C(traced(lambda x: [x + 1.0, space.roll(x, 1, axis=0)], X))
    kept = []
    for k in range(6):
        x = X + k
        results = ours([x])
        kept.append((x, results))
        assert all(r.base is None and r.flags.writeable for r in results)
    for x, (plus, ordered) in kept:
        np.testing.assert_array_equal(plus, x + 1.0)
        np.testing.assert_array_equal(ordered, np.roll(x, 1, axis=0))
    view = ours([X])[0][1:]
    ours([X * 0.0])
    np.testing.assert_array_equal(view, X[1:] + 1.0)


def test_memory_of_results_serves_again_once_nobody_holds_them(compiler: None) -> None:
    ours = C(traced(lambda x: x + 1.0, X))
    first = id(ours([X])[0])
    assert id(ours([X])[0]) == first
    held = [ours([X])[0] for _ in range(2)]
    assert len({*map(id, held)}) == 2
    seen = {*map(id, held)}
    del held
    last = ours([X])[0]
    assert {id(ours([X])[0]) for _ in range(5)} <= seen
    assert id(last) in seen


def test_outputs_that_are_inputs_or_constants(compiler: None) -> None:
    one = np.ones(3)
    program = traced(lambda x: [x, x, one, x[0]], X)
    x = X.copy()
    results = C(program)([x])
    for got, want in zip(results, [X, X, one, X[0]], strict=True):
        np.testing.assert_array_equal(got, want)
        assert not np.may_share_memory(got, x)
        got[...] = 0.0
    np.testing.assert_array_equal(x, X)
    np.testing.assert_array_equal(one, 1.0)


def test_what_raises_leaves_everything_as_it_was(compiler: None) -> None:
    program = traced(lambda p, m: [p + 1.0, space.linalg.inv(m)], X, np.eye(3))
    program.writes = [0, None]
    ours, p = C(program), X.copy()
    with pytest.raises(LinAlgError) as raised:
        ours([p, np.zeros((3, 3))])
    assert any("linalg.inv" in note and "test_runner.py" in note for note in raised.value.__notes__)
    np.testing.assert_array_equal(p, X)
    ours([p, np.eye(3)])
    np.testing.assert_array_equal(p, X + 1.0)


def test_a_check_that_fails_is_told(compiler: None) -> None:
    def f(x: Any) -> Any:
        return x * 2.0 if float(space.sum(x)) > 0 else x

    program = traced(f, np.ones(3))
    ours = C(program)
    np.testing.assert_array_equal(ours([np.ones(3)])[0], [2.0, 2.0, 2.0])
    with pytest.raises(GuardFailed):
        ours([np.zeros(3)])


def test_other_bits_of_what_is_equal_are_not_other_values(compiler: None) -> None:
    def f(x: Any, y: Any) -> Any:
        z = y + 1.0
        float(x)
        return z * 2.0, space.sum(y)

    other_nan = np.array(0x7FF8000000000001).view(np.float64)
    for was, now in ((np.nan, -np.nan), (np.nan, other_nan), (0.0, -0.0)):
        ours = C(traced(f, np.array(was), X))
        assert "check_" in ours.source
        for _ in range(2):
            double, total = ours([np.array(now), X])
            np.testing.assert_array_equal(double, (X + 1.0) * 2.0)
            np.testing.assert_allclose(total, X.sum())
        with pytest.raises(GuardFailed):
            ours([np.array(3.0), X])
        np.testing.assert_array_equal(ours([np.array(was), X])[0], (X + 1.0) * 2.0)


def test_arrays_side_by_side(compiler: None) -> None:
    def f(x: Any) -> list[Any]:
        y = x * 2.0
        both = space.concat([y, x.T[:, :4].T[:4], y[:1]], axis=0)
        return [both, space.stack([y, x], axis=-1), space.matmul(both.T, both), space.concat([x, y], axis=1) + 1.0]

    ours = check(f, X[:, :4])
    assert {r["kind"] for r in ours.loops} == {"C", "BLAS"}
    check(lambda p: [space.concat([p[2:], p[:2] * 2.0], axis=0), space.concat([p, p], axis=1)], X, writes=[0, None])
    check(lambda x: [space.concat([x, space.astype(x, np.float32)], axis=0), space.concat([x[:0], x], axis=0)], X)


def test_another_number_of_entries_departs(compiler: None) -> None:
    program = traced(lambda x: x[space.greater(x, 0.0)] * 2.0, np.array([1.0, -1.0, 2.0]))
    ours = C(program)
    np.testing.assert_array_equal(ours([np.array([3.0, -1.0, 4.0])])[0], [6.0, 8.0])
    with pytest.raises(GuardFailed):
        ours([np.array([3.0, 1.0, 4.0])])


def test_host_calls_keep_what_they_are_given(compiler: None) -> None:
    seen: list[Any] = []

    def host(x: Any) -> Any:
        seen.append(x)
        return x

    notes = Notes()
    x = notes.input(X)
    y = x * 2.0
    called = Traced(notes, notes.enter(HOST, (host, y.node), {}, y.node.value))
    program = notes.program([x], [called + 1.0, called], [None, None])
    ours = C(program)
    for k in range(4):
        plus, same = ours([X + k])
        np.testing.assert_array_equal(plus, (X + k) * 2.0 + 1.0)
        np.testing.assert_array_equal(same, (X + k) * 2.0)
        assert not np.may_share_memory(same, seen[-1])
    for k, given in enumerate(seen):
        np.testing.assert_array_equal(given, (X + k) * 2.0)


def test_other_arrays_are_refused(compiler: None) -> None:
    program = traced(lambda x: x + 1.0, X)
    program.writes = [0]
    ours = C(program)
    with pytest.raises(ValueError, match="takes 1 arrays, and got 2"):
        ours([X, X])
    for other, said in ((X[0], r"float64 \[5\]"), (X.astype(np.float32), r"float32 \[4, 5\]"), (1.0, "float")):
        with pytest.raises(ValueError, match=rf"input 0 of the program is float64 \[4, 5\], and got {said}"):
            ours([other])
    locked = X.copy()
    locked.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        ours([locked])


def test_time_is_measured_on_demand(compiler: None) -> None:
    ours = C(traced(lambda x: space.exp(space.roll(space.matmul(x, x.T) + 1.0, 1)), X))
    ours([X])
    assert sum(r["seconds"] for r in ours.loops) == 0
    ours.timed = True
    (got,) = ours([X])
    np.testing.assert_allclose(got, np.exp(np.roll(X @ X.T + 1.0, 1)))
    assert all(r["seconds"] > 0 for r in ours.loops)


def test_programs_without_anything(compiler: None) -> None:
    (got,) = C(traced(lambda x: x, np.zeros((0, 3))))([np.zeros((0, 3))])
    assert got.shape == (0, 3)
    assert C(traced(lambda x: [], X))([X]) == []
    assert module.C is C
