"""`gradwright.compile` as it is called."""

import copy

import pytest

import gradwright as gw


def test_as_a_decorator_it_keeps_name_and_doc():
    @gw.compile(check="always")
    def double(x):
        """Twice x."""
        return x * 2

    assert double.__name__ == "double"
    assert double.__doc__ == "Twice x."
    assert [double(gw.ones(1)).item() for _ in range(4)] == [2.0] * 4


def test_methods():
    class Model:
        def __init__(self, k):
            self.k = gw.tensor([k])

        @gw.compile
        def scale(self, x):
            return x * self.k

    a, b = Model(2.0), Model(3.0)
    for _ in range(4):
        assert a.scale(gw.ones(1)).item() == 2.0
        assert b.scale(gw.ones(1)).item() == 3.0


def test_a_compiled_module_is_the_module():
    net = gw.nn.Sequential(gw.nn.Linear(3, 3), gw.nn.Dropout(0.5))
    fast = gw.compile(net)
    assert isinstance(fast, gw.nn.Sequential)
    assert list(fast.state_dict()) == list(net.state_dict())
    assert fast[0] is net[0]
    fast.eval()
    assert not net.training
    x = gw.randn(2, 3)
    for _ in range(4):
        assert (fast(x) == net(x)).all()
    holder = gw.nn.Sequential(fast)
    assert (holder(x) == net(x)).all()
    other = copy.deepcopy(fast)
    assert other[0].weight is not net[0].weight
    assert (other(x) == net(x)).all()


def test_switched_off():
    def f(x):
        return x

    assert gw.compile(f, disable=True) is f
    assert gw.compile(f, backend="eager") is f


@pytest.mark.parametrize(("options", "error", "text"), [
    ({"backend": "tpu"}, ValueError, "backend must be one of"),
    ({"check": "maybe"}, ValueError, "check must be one of"),
])  # fmt: skip
def test_bad_options(options, error, text):
    with pytest.raises(error, match=text):
        gw.compile(lambda x: x, **options)


@pytest.mark.parametrize("what", [3, "f", gw.nn.Linear])
def test_what_is_no_function(what):
    with pytest.raises(TypeError, match="expected a function or a module"):
        gw.compile(what)


def test_fullgraph_is_strict():
    f = gw.compile(lambda: object(), fullgraph=True)
    f()
    with pytest.raises(RuntimeError, match="cannot be compiled"):
        f()
