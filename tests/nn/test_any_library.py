"""Modules over another library's arrays, on a device that is not its default one: as over NumPy's."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import gradwright as gw
import gradwright.backends.strict
from gradwright.backends import to_host
from tests.nn.module_cases import double, layer_of, tensors_in, translated

FAR = gw.device("array-api-strict", 1)
MANY = 24
"""Of more cases than these some are left out, evenly."""
REFUSED: dict[str, str] = {}
"""Modules that refuse the arrays of another library, and why."""


def database() -> dict[str, Any]:
    """PyTorch's table of modules by name; nothing without PyTorch."""
    try:
        from torch.testing._internal.common_modules import module_db
    except ImportError:
        return {}
    return {info.name: info for info in module_db}


def moved(value: Any) -> Any:
    """``value`` with the tensors in it moved, as leaves."""
    if isinstance(value, (tuple, list)):
        return type(value)(map(moved, value))
    if isinstance(value, dict):
        return {name: moved(v) for name, v in value.items()}
    return value.detach().to(FAR).requires_grad_(value.requires_grad) if isinstance(value, gw.Tensor) else value


def results(module: Any, args: Any, kwargs: Any) -> list[Any]:
    """What a call gives, the gradients of parameters and inputs, and the state after it."""
    gw.manual_seed(2)
    outputs = list(tensors_in(module(*args, **kwargs)))
    real = [o for o in outputs if o.requires_grad]
    if real:
        sum((o * o.detach().cos()).sum() for o in real).backward()
    leaves = [*module.parameters(), *(t for t in tensors_in((args, kwargs)) if t.requires_grad)]
    return [*outputs, *(t.grad for t in leaves), *tensors_in(module.state_dict())]


def same(near: Any, args: Any, kwargs: Any) -> None:
    """Call a module and its copy far away, and compare all there is."""
    far = copy.deepcopy(near).to(FAR)
    here, there = results(near, args, kwargs), results(far, moved(args), moved(kwargs))
    assert len(here) == len(there)
    for a, b in zip(here, there, strict=True):
        if a is None or b is None:
            assert a is b
            continue
        assert (b.device, b.dtype, b.shape) == (FAR, a.dtype, a.shape)
        np.testing.assert_allclose(to_host(b.array), to_host(a.array), 1e-9, 1e-9)


@pytest.mark.parametrize("name", database())
@pytest.mark.parametrize("training", [True, False])
def test_modules(torch: Any, name: str, training: bool) -> None:
    info = database()[name]
    with double(torch):
        cases = list(info.module_inputs_func(info, device="cpu", dtype=torch.float64, requires_grad=True,
                                             training=training))  # fmt: skip
        for case in cases[:: -(-len(cases) // MANY)]:
            made, called = case.constructor_input, case.forward_input
            args, kwargs = translated((made.args, made.kwargs), layer_of)
            gw.manual_seed(1)
            module = getattr(gw.nn, name.removeprefix("nn."))(*args, **kwargs).train(training)
            args, kwargs = translated((called.args, called.kwargs))
            if name not in REFUSED:
                same(module, args, kwargs)
                continue
            with pytest.raises((TypeError, RuntimeError, ValueError), match=REFUSED[name]):
                same(module, args, kwargs)
