"""Running a test on gradwright and on PyTorch: what it expects of the one is then known to hold for the other."""

from types import ModuleType
from typing import Any

import pytest

import gradwright


@pytest.fixture(params=["gradwright", "torch"])
def lib(request: pytest.FixtureRequest) -> ModuleType:
    """gradwright, then PyTorch where it is installed."""
    return gradwright if request.param == "gradwright" else request.getfixturevalue("torch")


def make(lib: ModuleType) -> Any:
    """A net with a shared layer, a buffer and an absent module.

    The children are: first, same (first again), seq (with 0 and 1), none.
    """
    net = lib.nn.Module()
    net.first = lib.nn.Linear(2, 2)
    net.same = net.first
    net.seq = lib.nn.Sequential(lib.nn.Linear(2, 1, bias=False), lib.nn.ReLU())
    net.add_module("none", None)
    net.scale = lib.nn.Parameter(lib.ones(1))
    net.register_buffer("count", lib.tensor(3))
    net.register_buffer("cache", lib.ones(2), persistent=False)
    net.seq.register_buffer("mean", lib.zeros(2))
    return net


@pytest.fixture
def net(lib: ModuleType) -> Any:
    """What `make` makes."""
    return make(lib)


@pytest.fixture
def twin(lib: ModuleType) -> Any:
    """Another one."""
    return make(lib)
