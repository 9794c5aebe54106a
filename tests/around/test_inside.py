"""What programs ask torch._C."""

import gradwright as gw
from gradwright.around import inside


def test_nothing_is_traced():
    assert inside._get_tracing_state() is None
    assert not inside._is_tracing()
    inside._log_api_usage_once("x")


def test_the_names_are_pytorchs(torch):
    assert [name for name in inside.__all__ if not hasattr(torch._C, name)] == []
    assert issubclass(gw.Tensor, inside.TensorBase)
    with inside.DisableTorchFunction():
        pass
