"""Every annotation of a public function can be read: its names are there."""

import importlib
import inspect
import typing

import pytest

import gradwright as gw
from gradwright import autograd, fft, func, linalg, masked, nn, optim, special
from gradwright.utils import data

_typing = importlib.import_module("gradwright.face.typing")  # not gradwright's attribute, which is Python's typing
NAMES = {name: getattr(_typing, name) for name in _typing.__all__}
NAMES |= {"Unpack": typing.Unpack, "TypeIs": typing.TypeGuard}
SPACES = (gw, nn, nn.functional, nn.init, optim, autograd, func, linalg, fft, special, masked, data)


def public(space):
    return [name for name in getattr(space, "__all__", dir(space)) if name[0] != "_"]


@pytest.mark.parametrize("space", SPACES, ids=lambda space: space.__name__)
def test_annotations_can_be_read(space):
    read = 0
    for name in public(space):
        function = inspect.unwrap(getattr(space, name))
        if inspect.isfunction(function):
            scope = {**vars(inspect.getmodule(function)), **NAMES}
            read += bool(typing.get_type_hints(function, scope))
    assert read or space in (fft, nn, optim)  # which hold classes, and functions that are made


def test_none_is_a_word_of_those_that_may_be_left_out():
    for name in ("Dims", "DType", "DeviceLike"):
        assert type(None) in typing.get_args(NAMES[name])
