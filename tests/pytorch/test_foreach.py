"""An operation on each tensor of a list: as PyTorch's."""

import numpy as np
import pytest

import gradwright as gw
from gradwright.pytorch import foreach

OTHERS = {
    "add": [(2.0,), "list", ("list", 3.0)], "sub": [(2.0,), "list"], "mul": [(2.0,), "list", ([1.0, 2.0],)],
    "div": [(2.0,), "list"], "pow": [(2.0,), "list"], "maximum": [(0.6,), "list"], "minimum": [(0.6,), "list"],
    "clamp_max": [(0.6,), "list"], "clamp_min": [(0.6,), "list"], "lerp": [("list", 0.5)],
    "addcmul": [("list", "list"), ("list", "list", 0.5), ("list", "list", [0.5, 2.0])],
    "addcdiv": [("list", "list"), ("list", "list", 0.5)],
}  # fmt: skip
CASES = [(name, case) for name in foreach._UNARY for case in [()]] + [(n, c) for n, cs in OTHERS.items() for c in cs]


@pytest.mark.parametrize(("name", "case"), CASES)
@pytest.mark.parametrize("end", ["", "_"])
def test_results_are_pytorchs(torch, name, case, end):
    rng = np.random.default_rng(0)
    a, b = ([rng.uniform(0.2, 0.9, n) for n in (3, 4)] for _ in range(2))
    options = {}
    if isinstance(case, tuple) and name == "add" and len(case) == 2:
        case, options = (case[0],), {"alpha": case[1]}
    case = (case,) if case == "list" else case
    found = []
    for t in (gw, torch):
        xs = [t.tensor(v) for v in a]
        args = [[t.tensor(v) for v in b] if other == "list" else other for other in case]
        out = getattr(t, f"_foreach_{name}{end}")(xs, *args, **options)
        found.append([v.numpy() for v in (xs if end else out)])
    for ours, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)


def test_the_others(torch):
    for t in (gw, torch):
        xs = [t.tensor([3.0, 4.0]), t.tensor([[1.0]])]
        assert [n.item() for n in t._foreach_norm(xs)] == [5.0, 1.0]
        assert [n.item() for n in t._foreach_norm(xs, 1)] == [7.0, 1.0]
        assert [n.item() for n in t._foreach_max(xs)] == [4.0, 1.0]
        copies = t._foreach_clone(xs)
        t._foreach_zero_(xs)
        assert xs[0].tolist() == [0.0, 0.0]
        t._foreach_copy_(xs, copies)
        assert xs[0].tolist() == [3.0, 4.0]
        with pytest.raises(RuntimeError, match="Tensor lists must have the same number of tensors, got 2 and 1"):
            t._foreach_add(xs, xs[:1])


def test_they_are_recorded():
    x = gw.tensor([1.0, 2.0], requires_grad=True)
    (y,) = gw._foreach_mul([x], 3.0)
    y.sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]
    assert all(hasattr(gw, name) for name in foreach.NAMES)


def test_writing_checks_the_dtype(torch):
    for t in (gw, torch):
        whole = t.tensor([3, 4])
        for name, others in (("div", (2.0,)), ("sqrt", ()), ("mul", (1.5,))):
            with pytest.raises(RuntimeError, match="result type Float can't be cast to"):
                getattr(t, f"_foreach_{name}_")([whole], *others)
        assert whole.tolist() == [3, 4]


def test_numbers_by_name_and_powers_of_a_number(torch):
    found = []
    for t in (gw, torch):
        xs = [t.tensor([1.0, 2.0]), t.tensor([3.0])]
        found.append([
            [x.tolist() for x in out]
            for out in (
                t._foreach_mul(xs, scalars=[2.0, 3.0]), t._foreach_mul(xs, scalar=2.0), t._foreach_mul(xs, other=xs),
                t._foreach_pow(2.0, xs), t._foreach_pow(2, exponent=xs), t._foreach_pow(xs, exponent=2.0),
                t._foreach_addcmul(xs, xs, xs, scalars=[2.0, 3.0]), t._foreach_addcmul(xs, xs, xs, value=2.0),
                t._foreach_addcdiv(xs, xs, xs, scalars=t.tensor([2.0, 3.0])), t._foreach_lerp(xs, xs, weight=0.5),
            )
        ])  # fmt: skip
    assert found[0] == found[1]
