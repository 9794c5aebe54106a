import pytest

import gradwright as gw
from gradwright.transform import arguments
from gradwright.transform.arguments import Inputs

X = gw.ones(2)


def test_positions():
    assert arguments.chosen((1, 2, 3), -1) == (2,)
    assert arguments.chosen((1, 2, 3), (2, 0)) == (2, 0)
    for wrong in (3, (), (0, -3), "0", (0, None)):
        with pytest.raises(RuntimeError, match="argnum"):
            arguments.chosen((1, 2, 3), wrong)


def test_inputs_are_flattened_and_made_again():
    inputs = Inputs("f", (X, "beside", {"w": [X * 2]}), (2, 0))
    assert [inputs.name(k) for k in range(2)] == ['inputs[2]["w"][0]', "inputs[0]"]
    assert inputs.with_leaves(["a", "b"]) == ("b", "beside", {"w": ["a"]})
    one = Inputs("f", ("beside", {"w": X}), 1)
    assert one.spec.unflatten([3]) == {"w": 3}
    assert one.with_leaves([3]) == ("beside", {"w": 3})
    with pytest.raises(ValueError, match=r'must be Tensor.*inputs\[1\]\["w"\]'):
        Inputs("f", (X, {"w": 3.0}))


def test_what_a_function_is_called_stays():
    def f(x):
        """What it is for."""

    made = arguments.like(f)(lambda x: None)
    assert (made.__name__, made.__doc__) == ("f", "What it is for.")


@pytest.mark.parametrize("transform", [gw.func.grad, gw.func.jacrev, gw.func.jacfwd, gw.func.hessian])
def test_what_is_no_function_is_refused_at_once(transform):
    x = gw.tensor(1.0, requires_grad=True)
    with pytest.raises(TypeError, match=r"expected a function to transform, but got Tensor.*autograd\.grad\(y, x\)"):
        transform(x * x, 0)
