"""`gradwright.compile` as it is called."""

import copy
import pickle  # noqa: TID251 - what is loaded here was made here

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


def test_a_module_is_compiled_in_place():
    net = gw.nn.Sequential(gw.nn.Linear(3, 3), gw.nn.Tanh())
    x = gw.randn(2, 3)
    expected = net(x)
    net.compile(backend="plan")
    for _ in range(4):
        assert (net(x) == expected).all()
    assert net.programs.entries


def test_a_compiled_module_is_pickled_as_what_compiles_it_again():
    net = gw.compile(gw.nn.Linear(3, 2), backend="plan")
    other = pickle.loads(pickle.dumps(net))  # noqa: S301
    x = gw.randn(2, 3)
    assert (other(x) == net(x)).all()
    assert other.programs is not net.programs
    assert (copy.copy(net)(x) == net(x)).all()


def test_the_environment_names_the_way(monkeypatch):
    def f(x):
        return x

    monkeypatch.setenv("GRADWRIGHT_COMPILE", "eager")
    assert gw.compile(f) is f
    assert gw.compile(f, backend="inductor") is f
    monkeypatch.setenv("GRADWRIGHT_COMPILE", "nonsense")
    with pytest.raises(ValueError, match="nonsense"):
        gw.compile(f)
    assert gw.compile(f, backend="plan") is not f


def _pickled(one):
    return pickle.loads(pickle.dumps(one))  # noqa: S301


class Scale:
    def __init__(self):
        self.w = gw.ones(2)
        self.fast = gw.compile(self.slow, backend="plan")

    def slow(self, x):
        """Twice."""
        return x * self.w


@pytest.mark.parametrize("copied", [copy.deepcopy, _pickled])
def test_a_compiled_method_is_copied_with_its_object(copied):
    one = Scale()
    x = gw.tensor([1.0, 2.0])
    for _ in range(4):
        assert one.fast(x).tolist() == [1.0, 2.0]
    other = copied(one)
    other.w = gw.full((2,), 3.0)
    for _ in range(4):
        assert other.fast(x).tolist() == [3.0, 6.0]
        assert one.fast(x).tolist() == [1.0, 2.0]
    assert other.fast.explain().traced == [""]
    assert (one.fast.__name__, one.fast.__doc__) == ("slow", "Twice.")


def test_what_lies_row_by_row_in_eager_runs_can_be_viewed_in_a_program_too():
    def step(x):
        turned = x.permute(2, 0, 1)
        total = turned.softmax(1).view(-1) + turned.cumsum(1).view(-1)
        return total.square().sum() + turned.sum(1).view(-1).sin().sum()

    compiled = gw.compile(step, fullgraph=True)
    for k in range(3):
        x = (gw.arange(24, dtype=gw.float64).reshape(2, 3, 4) + k).requires_grad_()
        assert gw.allclose(compiled(x), step(x))
    assert "1 program" in str(compiled.explain())


@pytest.mark.parametrize("product", [
    lambda x, w: x @ w.T, lambda x, w: gw.nn.functional.linear(x, w), lambda x, w: (w @ x.T).T, gw.mm,
], ids=["transposed", "linear", "the other way", "mm"])  # fmt: skip
def test_exact_programs_multiply_as_eager_runs_do(product):
    gw.manual_seed(0)
    x, w = gw.randn(128, 300, dtype=gw.float64), gw.randn(50, 300, dtype=gw.float64)  # whose bits tell the two ways
    w = (w if product is not gw.mm else w.T).requires_grad_()

    def step():
        return gw.autograd.grad(product(x, w).tanh().square().sum(), w)[0]

    compiled = gw.compile(step, backend="plan", exact=True)
    assert all(gw.equal(compiled(), step()) for _ in range(4))
    assert not compiled.explain().reason
