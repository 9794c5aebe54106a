"""The kinds of pooling in annotations have the parameters of the functions."""

import inspect
from types import SimpleNamespace
from typing import get_overloads

import pytest

from gradwright.face.typing import pooling
from gradwright.nn import functional as F

MADE = {
    "MaxPool": F.max_pool2d, "AvgPool": F.avg_pool2d, "LPPool": F.lp_pool2d, "AdaptiveAvgPool": F.adaptive_avg_pool2d,
    "AdaptiveMaxPool": F.adaptive_max_pool2d, "FractionalMaxPool": F.fractional_max_pool2d,
    "MaxUnpool": F.max_unpool2d,
}  # fmt: skip


@pytest.mark.parametrize("kind", MADE)
def test_parameters_are_those_of_the_function(kind):
    protocol = getattr(pooling, kind)
    call = SimpleNamespace(__module__=protocol.__module__, __qualname__=f"{kind}.__call__")
    for declared in get_overloads(call) or [protocol.__call__]:
        expected = [p for p in inspect.signature(declared).parameters.values() if p.name != "self"]
        found = inspect.signature(MADE[kind]).parameters
        assert [p.name for p in expected] == [*found]
        for p in expected:
            without_default = p.default is inspect.Parameter.empty and p.name != "return_indices"
            assert without_default == (found[p.name].default is inspect.Parameter.empty)
