"""`layer`: a class of settings is a module with PyTorch's constructor, attributes and printing."""

import copy
import inspect
import pickle  # noqa: TID251 - what a user's multiprocessing does
from dataclasses import field
from typing import Any

import pytest

import gradwright as gw
from gradwright.nn import Module, Sequential, Softplus
from gradwright.nn.layer import layer


@layer
class Affine(Module):
    slope: float
    shift: float = 0.0
    inplace: bool = False
    hidden: bool = field(default=True, repr=False)

    def forward(self, input: Any) -> Any:
        return input * self.slope + self.shift


@layer
class Clamped(Affine):
    limit: float = 1.0

    def forward(self, input: Any) -> Any:
        return super().forward(input).clamp(max=self.limit)


def test_fields_are_arguments_and_attributes() -> None:
    assert list(inspect.signature(Affine).parameters) == ["slope", "shift", "inplace", "hidden"]
    made = Affine(2.0, shift=1.0)
    assert (made.slope, made.shift, made.inplace, made.training) == (2.0, 1.0, False, True)
    assert made(gw.tensor(3.0)).item() == 7.0


def test_what_is_printed() -> None:
    assert repr(Affine(2.0, hidden=False)) == "Affine(slope=2.0, shift=0.0)"
    assert repr(Affine(2.0, inplace=True)) == "Affine(slope=2.0, shift=0.0, inplace=True)"
    assert repr(Clamped(2.0)) == "Clamped(slope=2.0, shift=0.0, limit=1.0)"


def test_an_inherited_layer_takes_the_fields_of_both() -> None:
    assert Clamped(2.0, limit=5.0)(gw.tensor(3.0)).item() == 5.0


def test_a_missing_or_unknown_argument_is_named() -> None:
    with pytest.raises(TypeError, match="'slope'"):
        Affine()  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="'tilt'"):
        Affine(1.0, tilt=2.0)  # type: ignore[call-arg]


def test_layers_of_equal_settings_are_not_equal() -> None:
    assert Affine(1.0) != Affine(1.0)
    assert len({Affine(1.0), Affine(1.0)}) == 2


def test_a_user_may_inherit_with_an_init_of_their_own() -> None:
    class Sharp(Softplus):
        sharpness: int

        def __init__(self, sharpness: int) -> None:
            super().__init__(beta=float(sharpness))
            self.sharpness = sharpness
            self.inner = Sequential()

    sharp = Sharp(4)
    assert sharp.beta == 4.0
    assert next(sharp.named_children())[0] == "inner"


def test_copied_and_pickled() -> None:
    for twin in (copy.deepcopy(Affine(2.0)), pickle.loads(pickle.dumps(Affine(2.0)))):  # noqa: S301 - our own
        assert twin(gw.tensor(3.0)).item() == 6.0


@pytest.mark.parametrize("name", sorted(name for name in gw.nn.__all__ if isinstance(getattr(gw.nn, name), type)))
def test_a_wrong_argument_of_any_class_is_reported_by_the_name_of_that_class(name: str) -> None:
    made = getattr(gw.nn, name)
    known = f"{name.removeprefix('Lazy')}.__"  # a lazy layer takes the arguments of the one it becomes
    if name not in ("Identity", "LazyModuleMixin"):  # they take anything, or are no layer
        with pytest.raises(TypeError) as unknown:
            made(bogus=1)
        assert known in str(unknown.value)
        assert "'bogus'" in str(unknown.value)
    needed = [p for p in inspect.signature(made).parameters.values() if p.default is p.empty and p.kind < 2]
    if needed:
        with pytest.raises(TypeError, match="missing") as missing:
            made()
        assert known in str(missing.value)


def test_a_class_of_the_user_inherits_what_it_inherits() -> None:
    class Mine(gw.nn.MaxPool2d):
        pass

    assert (Mine(2).kernel_size, Mine.__init__) == (2, gw.nn.MaxPool2d.__init__)
    assert inspect.signature(gw.nn.MaxPool2d) == inspect.signature(gw.nn.MaxPool1d)
