"""What programs ask torch._C."""

import pytest

import gradwright as gw
from gradwright.pytorch import inside


def test_nothing_is_traced():
    assert inside._get_tracing_state() is None
    assert not inside._is_tracing()
    inside._log_api_usage_once("x")


def test_the_names_are_pytorchs(torch):
    assert [name for name in inside.__all__ if not hasattr(torch._C, name)] == []
    assert issubclass(gw.Tensor, inside.TensorBase)
    with inside.DisableTorchFunction():
        pass


@pytest.mark.filterwarnings("ignore:.torch.jit.script:DeprecationWarning")
def test_whether_tensors_are_more_than_their_numbers(torch):
    def seen(t, ask):
        found = []

        def f(x):
            found.append(ask())
            return (x * x).sum()

        x = t.ones(2, 2)
        f(x)
        t.func.vmap(f)(x)
        t.func.jvp(f, (x,), (x,))
        return found

    mine = seen(gw, inside._are_functorch_transforms_active)
    assert mine == seen(torch, torch._C._are_functorch_transforms_active) == [False, True, True]
