"""What assigning to a module's attributes registers, and what it refuses."""

import re

import pytest

import gradwright as gw


@pytest.fixture
def module(lib):
    """A module with one of each kind: w, b (a buffer), act, plain."""
    m = lib.nn.Module()
    m.w = lib.nn.Parameter(lib.ones(2))
    m.register_buffer("b", lib.zeros(2))
    m.act = lib.nn.ReLU()
    m.plain = 3
    return m


def kept(module):
    """The names in each of the places where a module keeps things."""
    return list(module._parameters), list(module._buffers), list(module._modules)


def test_each_kind_is_kept_in_its_place(module):
    assert kept(module) == (["w"], ["b"], ["act"])
    assert module.w is module._parameters["w"]
    assert module.b is module._buffers["b"]
    assert module.act is module._modules["act"]
    assert module.plain == 3
    assert {"w", "b", "act", "plain", "forward"} <= set(dir(module))
    assert "w" not in vars(module)


def test_a_name_moves_with_the_kind_of_its_value(lib, module):
    module.plain = lib.nn.Parameter(lib.ones(1))
    module.act = lib.nn.Parameter(lib.ones(1))
    assert kept(module) == (["w", "plain", "act"], ["b"], [])
    assert "plain" not in vars(module)
    module.b = lib.nn.Tanh()
    assert kept(module) == (["w", "plain", "act"], [], ["b"])
    module.b = lib.nn.Parameter(lib.ones(1))
    assert kept(module) == (["w", "plain", "act", "b"], [], [])


def test_a_plain_tensor_is_a_plain_attribute(lib, module):
    module.t = lib.ones(1)
    assert kept(module) == (["w"], ["b"], ["act"])
    assert "t" in vars(module)


def test_none_keeps_the_name(lib, module):
    module.w = None
    module.b = None
    module.act = None
    assert (module.w, module.b, module.act) == (None, None, None)
    assert kept(module) == (["w"], ["b"], ["act"])
    module.w = lib.nn.Parameter(lib.ones(1))
    module.b = lib.ones(1)
    module.act = lib.nn.Tanh()
    assert kept(module) == (["w"], ["b"], ["act"])


def test_register_parameter_of_none_is_known_but_not_listed(lib):
    m = lib.nn.Module()
    m.register_parameter("bias", None)
    assert m._parameters == {"bias": None}
    assert m.bias is None
    assert list(m.named_parameters()) == []
    assert list(m.state_dict()) == []


def test_register_methods(lib, module):
    module.register_parameter("w2", lib.nn.Parameter(lib.ones(1)))
    module.register_parameter("w", lib.nn.Parameter(lib.ones(3)))  # in place of the old one
    module.add_module("a2", lib.nn.Tanh())
    module.register_module("a3", None)
    assert kept(module) == (["w", "w2"], ["b"], ["act", "a2", "a3"])
    assert module.w.shape == (3,)


def test_buffers_keep_whether_they_persist(lib, module):
    module.register_buffer("cache", lib.zeros(1), persistent=False)
    module.cache = lib.ones(1)
    assert list(module.state_dict()) == ["w", "b"]
    module.register_buffer("cache", lib.zeros(1))
    assert list(module.state_dict()) == ["w", "b", "cache"]


def test_a_deleted_buffer_forgets_that_it_did_not_persist(lib, module):
    module.register_buffer("cache", lib.zeros(1), persistent=False)
    del module.cache
    module.cache = None
    del module.cache
    module.register_buffer("cache", lib.zeros(1))
    assert "cache" in module.state_dict()


def test_buffers_by_assignment(lib, module):
    module.mean = lib.nn.Buffer(lib.ones(2))
    module.cache = lib.nn.Buffer(lib.ones(2), persistent=False)
    assert kept(module)[1] == ["b", "mean", "cache"]
    assert list(module.state_dict()) == ["w", "b", "mean"]
    module.cache = lib.zeros(3)
    assert list(module.state_dict()) == ["w", "b", "mean"]
    with pytest.raises(TypeError, match="as parameter 'w'"):
        module.w = lib.nn.Buffer(lib.ones(1))


def test_deleting(module):
    del module.w, module.b, module.act, module.plain
    assert kept(module) == ([], [], [])
    for name in ("w", "b", "act", "plain"):
        with pytest.raises(AttributeError, match=f"'Module' object has no attribute '{name}'"):
            getattr(module, name)
    with pytest.raises(AttributeError, match="w"):
        del module.w


def test_a_missing_attribute(lib):
    with pytest.raises(AttributeError, match="'ReLU' object has no attribute 'y'"):
        lib.nn.ReLU().y


@pytest.mark.parametrize(("name", "value", "got", "expected"), [
    ("w", lambda lib: lib.ones(2), "torch.FloatTensor", "parameter 'w' (torch.nn.Parameter or None expected)"),
    ("w", lambda lib: lib.ones(2).double(), "torch.DoubleTensor", "parameter 'w'"),
    ("w", lambda lib: 3, "int", "parameter 'w'"),
    ("w", lambda lib: lib.nn.ReLU(), r"[\w.]+\.ReLU", "parameter 'w'"),
    ("act", lambda lib: lib.ones(1), "torch.FloatTensor", "child module 'act' (torch.nn.Module or None expected)"),
    ("b", lambda lib: 3, "int", "buffer 'b' (torch.nn.Buffer, torch.Tensor or None expected)"),
])  # fmt: skip
def test_a_registered_name_takes_only_its_kind(lib, module, name, value, got, expected):
    before = getattr(module, name)
    with pytest.raises(TypeError, match=f"^cannot assign '{got}' as {re.escape(expected)}"):
        setattr(module, name, value(lib))
    assert getattr(module, name) is before


@pytest.mark.parametrize(("register", "value", "message"), [
    ("register_parameter", lambda lib: lib.ones(1),
     r"cannot assign 'torch.FloatTensor' object to parameter 'z' \(torch.nn.Parameter or None required\)"),
    ("register_buffer", lambda lib: 3, r"cannot assign 'int' object to buffer 'z' \(torch Tensor or None required\)"),
    ("add_module", lambda lib: 3, "int is not a Module subclass"),
    ("add_module", lambda lib: lib.nn.Tanh, r"[\w.]+\.activation\.Tanh is not a Module subclass"),
])  # fmt: skip
def test_register_takes_only_its_kind(lib, module, register, value, message):
    with pytest.raises(TypeError, match=f"^{message}"):
        getattr(module, register)("z", value(lib))
    assert not hasattr(module, "z")


@pytest.mark.parametrize(("register", "kind"), [
    ("register_parameter", "parameter"), ("register_buffer", "buffer"), ("add_module", "module"),
])  # fmt: skip
def test_names_that_are_refused(module, register, kind):
    refused = getattr(module, register)
    own = getattr(module, f"_{kind}s")
    taken = [name for name in ("plain", "forward", "training", "w", "b", "act") if name not in own]
    for name, message in [
        ("a.c", f'{kind} name can\'t contain "."'),
        ("", f'{kind} name can\'t be empty string ""'),
        *((name, f"attribute '{name}' already exists") for name in taken),
    ]:
        with pytest.raises(KeyError) as error:
            refused(name, None)
        assert error.value.args[0].startswith(message)
    with pytest.raises(TypeError, match=f"^{kind} name should be a string. Got int$"):
        refused(3, None)
    assert kept(module) == (["w"], ["b"], ["act"])


def test_a_parameter_that_an_operation_made_is_refused(lib, module):
    p = lib.nn.Parameter(lib.ones(1), requires_grad=False)
    p.mul_(lib.ones(1, requires_grad=True))
    for assign in (lambda: setattr(module, "w", p), lambda: module.register_parameter("wz", p)):
        with pytest.raises(ValueError, match=r"^Cannot assign non-leaf Tensor to parameter 'wz?'\. Model parameters"):
            assign()
    assert kept(module) == (["w"], ["b"], ["act"])
    assert module.w.shape == (2,)


def test_a_refused_parameter_leaves_what_had_its_name():
    p = gw.nn.Parameter(gw.ones(1), requires_grad=False)
    p.mul_(gw.ones(1, requires_grad=True))
    m = gw.nn.Module()
    m.plain = 3
    with pytest.raises(ValueError, match="Cannot assign non-leaf Tensor to parameter 'plain'"):
        m.plain = p
    assert m.plain == 3


def test_before_init(lib):
    class Early(lib.nn.Module):
        def __init__(self, set_up):
            set_up(self)

    for set_up, what in [
        (lambda m: setattr(m, "p", lib.nn.Parameter(lib.ones(1))), "parameters"),
        (lambda m: setattr(m, "p", lib.nn.ReLU()), "module"),
        (lambda m: setattr(m, "p", lib.nn.Buffer(lib.ones(1))), "buffer"),
        (lambda m: m.register_parameter("p", None), "parameter"),
        (lambda m: m.register_buffer("p", None), "buffer"),
    ]:
        with pytest.raises(AttributeError, match=rf"^cannot assign {what} before Module.__init__\(\) call"):
            Early(set_up)
    early = Early(lambda m: setattr(m, "n", 3))
    assert early.n == 3
    with pytest.raises(AttributeError, match="'Early' object has no attribute 'm'"):
        early.m


# ---- where gradwright says more than PyTorch -------------------------------------------------------------


def test_a_class_handed_in_for_a_module_is_named():
    with pytest.raises(TypeError, match=r"Tanh is not a Module subclass, but the class itself: write Tanh\(...\)$"):
        gw.nn.Module().add_module("act", gw.nn.Tanh)


def test_nothing_hides_behind_a_class_attribute():
    class Hidden(gw.nn.Module):
        act = None
        weight = None

    for name, value in [("act", gw.nn.ReLU()), ("weight", gw.nn.Parameter(gw.ones(1)))]:
        m = Hidden()
        vars(m)[name] = "as it was"
        with pytest.raises(KeyError, match=f"attribute '{name}' already exists"):
            setattr(m, name, value)
        assert kept(m) == ([], [], [])
        assert getattr(m, name) == "as it was"


def test_a_property_that_is_not_there_yet_hides_nothing():
    class Ball(gw.nn.Module):
        @property
        def k(self):
            return -self.c

    m = Ball()
    m.k = gw.nn.Parameter(gw.ones(1))
    assert kept(m)[0] == ["k"]
    m.c = m._parameters.pop("k")
    assert m.k == -1
    with pytest.raises(KeyError, match="attribute 'k' already exists"):
        m.k = gw.nn.Parameter(gw.ones(1))


def test_a_property_that_fails_says_why():
    class Broken(gw.nn.Module):
        @property
        def width(self):
            return self.nowhere

    with pytest.raises(AttributeError, match="'Broken' object has no attribute 'nowhere'"):
        Broken().width


@pytest.mark.filterwarnings("ignore:Sparse CSR")
def test_sparse_buffers(T):
    m = T.nn.Module()
    m.register_buffer("a", T.eye(2).to_sparse())
    assert m.double().a.dtype is T.float64
    assert m.state_dict()["a"].to_dense().tolist() == [[1.0, 0.0], [0.0, 1.0]]
    with pytest.raises(TypeError, match="cannot assign 'float' object to buffer 'b'"):
        m.register_buffer("b", 1.0)
    m.a = T.ones(2, 2).to_sparse()
    assert m._buffers["a"].to_dense().tolist() == [[1.0, 1.0], [1.0, 1.0]]
    m.a = T.zeros(2)
    m.a = T.eye(2).to_sparse_csr()
    assert m._buffers["a"].layout is T.sparse_csr


def test_only_our_own_sparse_tensors_are_buffers(torch):
    with pytest.raises(TypeError, match="to buffer 'a'"):
        gw.nn.Module().register_buffer("a", torch.eye(2).to_sparse())
