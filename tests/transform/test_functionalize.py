import pytest

import gradwright as gw
from gradwright import func
from gradwright.transform.tangent import Tangents


def writes(x):
    y = x + 1
    y.view(-1)[0].mul_(2)
    return y.view(-1)


def test_results_are_those_of_the_function():
    x = gw.arange(4.0).reshape(2, 2)
    for remove in ("mutations", "mutations_and_views"):
        out = func.functionalize(writes, remove=remove)(x)
        assert out.tolist() == writes(x).tolist()
        assert (out._view is None) is (remove == "mutations_and_views")
    assert gw.equal(func.vmap(func.functionalize(writes))(x), gw.stack([writes(row) for row in x]))
    assert gw.equal(func.jacfwd(func.functionalize(writes))(x[0]), func.jacrev(writes)(x[0]))


def test_an_argument_that_is_written_to_is_written_to():
    x = gw.zeros(2)
    func.functionalize(lambda x: x.add_(1))(x)
    assert x.tolist() == [1, 1]


def test_another_remove():
    with pytest.raises(RuntimeError, match="invalid argument for remove=all"):
        func.functionalize(writes, remove="all")


def test_unwrapped():
    x = gw.ones(3)
    assert func.debug_unwrap(x) is x
    outer, inner = Tangents(), None
    with outer.running():
        a = outer.dual(x, x)
        inner = Tangents()
        with inner.running():
            b = inner.dual(a, a)
            assert func.debug_unwrap(b) is x
            assert func.debug_unwrap(b, recurse=False) is a
