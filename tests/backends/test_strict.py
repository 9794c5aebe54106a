import importlib
import sys

import numpy as np
import pytest

from gradwright import autograd, backends
from gradwright.verify.testing.derivatives import leaf

array_api_strict = pytest.importorskip("array_api_strict")
strict = importlib.import_module("gradwright.backends.strict")


def test_is_the_namespace_of_its_arrays() -> None:
    assert backends.namespace(array_api_strict.zeros(2)) is strict.namespace


def test_it_is_strict() -> None:
    with pytest.raises(TypeError):
        strict.namespace.exp(array_api_strict.asarray([1, 2]))
    with pytest.raises(AttributeError):
        strict.namespace.add_at


def test_tensors_over_its_arrays_stay_there() -> None:
    x = leaf(array_api_strict.asarray([1.0, 2.0]))
    one = leaf(array_api_strict.asarray([1.0, 1.0]))
    y = 2.5 * x**3 / (1 + x.exp()).sqrt() - x
    first = autograd.grad(y, x, one, create_graph=True)[0]
    second = autograd.grad(first, x, one, create_graph=True)[0]
    third = autograd.grad(second, x, one)[0]
    for t in (y, first, second, third):
        assert type(t.array) is type(x.array)
        assert t.dtype.name == "float64"
    h = 1e-4
    for k in (0, 1):
        ends = [leaf(array_api_strict.asarray([1.0 + s * h, 2.0 + s * h])) for s in (1, -1)]
        values = [2.5 * e**3 / (1 + e.exp()).sqrt() - e for e in ends]
        if k:
            values = [autograd.grad(v, e, one, create_graph=True)[0] for v, e in zip(values, ends, strict=True)]
        numeric = (np.asarray(values[0].array) - np.asarray(values[1].array)) / (2 * h)
        np.testing.assert_allclose(np.asarray((first, second)[k].array), numeric, rtol=1e-6)


def test_missing_library_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "array_api_strict", None)
    monkeypatch.delitem(sys.modules, "gradwright.backends.strict")
    with pytest.raises(ImportError, match="pip install array-api-strict"):
        importlib.import_module("gradwright.backends.strict")
