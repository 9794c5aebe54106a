import pytest

import gradwright
from gradwright.face.functions.returns import opaque, return_type


def test_a_named_tuple() -> None:
    pair = return_type("qr", "Q", "R")(1, 2)
    assert pair == (1, 2)
    assert (pair.Q, pair.R) == (1, 2)
    assert repr(pair) == "torch.return_types.qr(\nQ=1,\nR=2)"


def test_an_opaque_result() -> None:
    x = gradwright.zeros(2, requires_grad=True)
    y = opaque("riddle", "RiddleBackward0", x, gradwright.ones(3))
    assert y.tolist() == [1, 1, 1]
    assert type(y.grad_fn).__name__ == "RiddleBackward0"
    assert not opaque("riddle", "RiddleBackward0", x.detach(), gradwright.ones(3)).requires_grad
    with pytest.raises(NotImplementedError, match="derivative of riddle"):
        y.sum().backward()
