"""See tests/face/methods/test_subclasses.py, which compares them with PyTorch's."""

import subprocess
import sys

import pytest

import gradwright as gw
from gradwright.pytorch import overrides


class Doubling:
    """Answers every function with its name."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return func.__name__


def test_plain_tensors_have_none():
    assert not overrides.has_torch_function((gw.ones(1), gw.nn.Parameter(gw.ones(1)), 1))
    assert overrides.has_torch_function_variadic(gw.ones(1), Doubling())
    assert overrides.has_torch_function_unary(Doubling())
    assert overrides.is_tensor_like(gw.ones(1))
    assert not overrides.is_tensor_like([1])


def test_the_call_is_handed_over():
    assert overrides.handle_torch_function(len, (Doubling(),), Doubling()) == "len"


def test_nobody_answers(monkeypatch):
    monkeypatch.setattr(Doubling, "__torch_function__", classmethod(lambda *_: NotImplemented))
    with pytest.raises(TypeError, match="no implementation found for 'len' on types that implement __torch_function__"):
        overrides.handle_torch_function(len, (Doubling(),), Doubling())


def test_names_are_those_of_the_modules_imported_by_now():
    program = """if True:
        import gradwright.as_torch
        from torch.overrides import get_overridable_functions, get_testing_overrides, resolve_name
        import torch
        print(resolve_name(torch.exp), torch.exp in get_overridable_functions()[torch])
        import torch.nn.functional as F
        print(resolve_name(F.relu), F.relu in get_overridable_functions()[F], F.relu in get_testing_overrides())
        print(get_overridable_functions() is get_overridable_functions())
        """
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["torch.exp", "True", "torch.nn.functional.relu", "True", "True", "True"]
