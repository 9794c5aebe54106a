"""``out=`` as PyTorch has it."""

import numpy as np
import pytest

import gradwright as gw
from gradwright.torch_names.known import WITH_OUT, table
from gradwright.torch_names.out import taking_out

CALLS = {
    "add": lambda f, t: f(t.tensor([1.0, 2.0]), t.tensor([3.0, 4.0]), out=t.empty(2)),
    "exp": lambda f, t: f(t.tensor([1, 2]), out=t.empty(0)),
    "add, cast": lambda f, t: f(t.tensor([1, 2]), 1, out=t.empty(2, dtype=t.float64)),
    "cat": lambda f, t: f([t.ones(2), t.zeros(1)], out=t.empty(3)),
    "matmul": lambda f, t: f(t.ones(2, 3), t.ones(3, 2), out=t.empty(2, 2)),
    "max": lambda f, t: f(t.tensor([[1.0, 3.0], [2.0, 0.0]]), 1, out=(t.empty(0), t.empty(0, dtype=t.int64))),
    "arange": lambda f, t: f(4, out=t.empty(4, dtype=t.int64)),
    "cumsum": lambda f, t: f(t.ones(3), 0, out=t.empty(3)),
    "sum": lambda f, t: f(t.ones(2, 3), 1, out=t.empty(2)),
    "clamp": lambda f, t: f(t.arange(4.0), 1, 2, out=t.empty(2, 4)[0]),
}


@pytest.mark.parametrize("case", CALLS)
def test_results_are_pytorchs(torch, case):
    name = case.partition(",")[0]
    found = []
    for t in (gw, torch):
        f = getattr(t, name)
        out = CALLS[case](taking_out(f, name) if t is gw else f, t)
        found.append([(x.numpy(), str(x.dtype)) for x in (out if isinstance(out, tuple) else (out,))])
    for (ours, kind), (theirs, wanted) in zip(*found, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-6)
        assert kind == wanted


def test_it_is_returned_and_may_be_an_argument(torch):
    for t, add in ((gw, taking_out(gw.add, "add")), (torch, torch.add)):
        x = t.tensor([1.0, 2.0])
        assert add(x, x, out=x) is x
        assert x.tolist() == [2.0, 4.0]
        view = t.zeros(2, 3)
        add(t.ones(3), 1, out=view[1])
        assert view.tolist() == [[0.0] * 3, [2.0] * 3]


def test_what_pytorch_refuses(torch):
    for t, add in ((gw, taking_out(gw.add, "add")), (torch, torch.add)):
        x = t.ones(2, requires_grad=True)
        message = r"^add\(\): functions with out=\.\.\. arguments don't support automatic differentiation"
        for arguments, out in (((x, 1), t.empty(2)), ((t.ones(2), 1), x)):
            with pytest.raises(RuntimeError, match=message):
                add(*arguments, out=out)
        with t.no_grad():
            assert add(x, 1, out=t.empty(2)).tolist() == [2.0, 2.0]
        with pytest.raises(RuntimeError, match=r"^result type Float can't be cast to the desired output type Long"):
            add(t.ones(2), 1, out=t.empty(2, dtype=t.int64))
        out = t.empty(3)
        with pytest.warns(UserWarning, match="An output with one or more elements was resized since it had shape"):
            add(t.ones(2), 1, out=out)
        assert out.tolist() == [2.0, 2.0]


def test_a_write_is_noticed():
    x = gw.ones(2, requires_grad=True)
    scale = gw.ones(2)
    y = (x * scale).sum()
    taking_out(gw.add, "add")(scale, 1, out=scale)
    with pytest.raises(RuntimeError, match=r"in.?place"):
        y.backward()


def test_the_number_and_kind_of_results():
    with pytest.raises(TypeError, match=r"^add\(\): argument 'out' must be Tensor, not int"):
        taking_out(gw.add, "add")(gw.ones(2), 1, out=5)
    with pytest.raises(TypeError, match=r"^max\(\): argument 'out' must be 2 tensors, but got 1"):
        taking_out(gw.max, "max")(gw.ones(2, 2), 1, out=gw.empty(0))


def test_the_functions_that_take_it_are_known():
    for module in WITH_OUT:
        assert table()[f"{module}:out"].public
    assert {"add", "cat", "arange", "sort"} <= table()["torch:out"].public
