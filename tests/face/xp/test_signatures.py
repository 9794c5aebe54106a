"""The names and parameters of the namespace, against array-api-strict's."""

import inspect
from typing import Any

import array_api_compat
import array_api_strict as strict
import pytest

import gradwright
from gradwright import backends, xp
from gradwright.op import table

EXTENSIONS = {"": (xp, strict), "linalg": (xp.linalg, strict.linalg), "fft": (xp.fft, strict.fft)}
OWN = {"ArrayAPIStrictFlags", "Device", "ModuleType"}


def public(space: Any) -> list[str]:
    names = space.__all__ if space is not strict else dir(strict)
    return [n for n in names if not n.startswith("_") and "array_api_strict" not in n and n not in OWN]


FUNCTIONS = [
    pytest.param(getattr(ours, name, None), getattr(theirs, name), id=f"{prefix}.{name}".strip("."))
    for prefix, (ours, theirs) in EXTENSIONS.items()
    for name in public(theirs)
    if inspect.isroutine(getattr(theirs, name))
]


@pytest.mark.parametrize(("ours", "theirs"), FUNCTIONS)
def test_parameters(ours: Any, theirs: Any) -> None:
    """The same parameters by name, kind and default; further keywords may follow, and a keyword may be positional."""
    have, wanted = (inspect.signature(f).parameters for f in (ours, theirs))
    positional = [p for p in wanted.values() if p.kind is not p.KEYWORD_ONLY]
    assert [(p.name, p.kind) for p in list(have.values())[: len(positional)] if p.kind is not p.VAR_POSITIONAL] == [
        (p.name, p.kind) for p in positional if p.kind is not p.VAR_POSITIONAL
    ]
    for p in wanted.values():
        if p.name == "device" and p.name not in have:
            continue  # of astype and from_dlpack: not yet defined in the standard's sense
        assert p.name in have or p.kind is p.VAR_POSITIONAL
        if p.default is not p.empty and "UNDEF" not in str(p.default):
            assert have[p.name].default == p.default


@pytest.mark.parametrize("name", public(strict))
def test_has_every_name(name: str) -> None:
    assert hasattr(xp, name)


def test_is_the_namespace_of_tensors() -> None:
    x = gradwright.ones(2)
    assert x.__array_namespace__() is backends.namespace(x) is array_api_compat.array_namespace(x) is xp
    assert xp.__array_api_version__ == "2024.12"


def test_has_every_operation() -> None:
    for name in table:
        assert callable(getattr(xp, name)), name
        assert getattr(xp, name).__doc__, name
    x = gradwright.ones(2, 3)
    assert xp.logsumexp(x, axis=-1).shape == (2,)
    assert xp.einsum(x, x, equation="ij,kj->ik").tolist() == [[3.0, 3.0], [3.0, 3.0]]
    with pytest.raises(AttributeError, match="no_such_function"):
        xp.no_such_function


def normalised(x: Any) -> Any:
    """A function as an array-API program writes it."""
    space = x.__array_namespace__()
    y = space.exp(x - space.max(x, axis=-1, keepdims=True))
    return space.concat([y / space.sum(y, axis=-1, keepdims=True), space.mean(x, axis=-1, keepdims=True)], axis=-1)


def test_array_api_programs_run_on_tensors_with_gradients() -> None:
    x = gradwright.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], dtype=xp.float64, requires_grad=True)
    assert gradwright.autograd.gradcheck(normalised, (x,))
    assert gradwright.autograd.gradgradcheck(normalised, (x,))
