"""PyTorch's own table of cases for its modules: every module that it has, in both libraries."""

import pytest

from tests.nn.module_cases import database, in_both_modes, layer_of, refuse, run

EVERY = {"NLLLoss": 2, "CrossEntropyLoss": 5, "LinearCrossEntropyLoss": 100, "MultiheadAttention": 5,
         "TransformerEncoderLayer": 5, "TransformerDecoderLayer": 17, "TransformerEncoder": 11,
         "Transformer": 41}  # fmt: skip
"""Of so many cases one is compared."""
ELSEWHERE = ("nn.CTCLoss", "nn.Lazy")
"""Compared in tests of their own: PyTorch's gradient supposes a softmax before; what has no shape yet."""


@pytest.mark.filterwarnings("ignore:enable_nested_tensor is True")  # PyTorch's
@pytest.mark.parametrize(("name", "training"), [case for case in in_both_modes() if not case[0].startswith(ELSEWHERE)])
def test_a_module_is_pytorchs(torch, name, training):
    run(torch, name, training, layer_of, every=EVERY.get(name.removeprefix("nn."), 1))


@pytest.mark.parametrize("name", [
    name for name, info in database().items() if info.module_error_inputs_func and name != "nn.MaxPool2d"
])  # fmt: skip
def test_what_pytorch_refuses_is_refused(torch, name):
    refuse(torch, name)
