"""What a PyTorch file may name besides: kept as PyTorch keeps it, and called as it says."""

import io
import os
import pickle  # noqa: TID251 - the error's class
from fractions import Fraction

import pytest

import gradwright as gw
from gradwright.serialization.checkpoint import safe_globals as ours


class A:
    pass


class B:
    pass


def test_names_are_kept_as_in_pytorch(torch):
    for module in (ours, torch.serialization):
        before = {*module.get_safe_globals()}
        with module.safe_globals([A]):
            module.add_safe_globals([B, A])
            assert {*module.get_safe_globals()} - before == {A, B}
        assert {*module.get_safe_globals()} - before == {B}
        with module.safe_globals([B]):
            pass
        assert {*module.get_safe_globals()} == before


def test_they_are_forgotten():
    with ours.safe_globals([A]):
        ours.add_safe_globals([B])
        ours.clear_safe_globals()
        assert ours.get_safe_globals() == []
    assert ours.get_safe_globals() == []


def test_what_is_trusted_is_called(torch):
    """A class under its own name, and a function under the one that a file has for another."""
    file = io.BytesIO()
    torch.save({"half": Fraction(1, 2), "range": range(3)}, file)
    assert gw.serialization.get_unsafe_globals_in_checkpoint(io.BytesIO(file.getvalue())) == [
        "fractions.Fraction", "builtins.range"]  # fmt: skip
    with ours.safe_globals([Fraction, (lambda *bounds: [*bounds], "builtins.range")]):
        assert gw.load(io.BytesIO(file.getvalue())) == {"half": Fraction(1, 2), "range": [0, 3, 1]}
    with pytest.raises(pickle.UnpicklingError, match=r"GLOBAL fractions\.Fraction .*add_safe_globals\(\[fractions"):
        gw.load(io.BytesIO(file.getvalue()))


def test_no_module_of_the_system_is_reached_whatever_is_trusted(torch):
    file = io.BytesIO()
    torch.save(Runs("true"), file)
    with ours.safe_globals([(os.system, "posix.system")]), pytest.raises(gw.FileError, match="no file may reach"):
        gw.load(io.BytesIO(file.getvalue()))


@pytest.mark.parametrize("given", ["fractions.Fraction", [3], [(Fraction, 3)], [(Fraction, "a", "b")]])
def test_what_is_no_class_is_refused_when_it_is_added(given):
    with pytest.raises(TypeError, match="expected a list of classes and functions, or of pairs"):
        ours.add_safe_globals(given)
    assert ours.get_safe_globals() == []


class Runs:
    def __init__(self, command):
        self.command = command

    def __reduce__(self):
        return os.system, (self.command,)
