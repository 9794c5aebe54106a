"""Module: calling, modes, copies, printing."""

import copy
import pickle  # noqa: TID251 - what is loaded here was made here

import pytest

import gradwright as gw

# ---- calling --------------------------------------------------------------------------------------------


def test_calling_runs_forward(lib):
    class Affine(lib.nn.Module):
        def forward(self, x, *, shift=0):
            return 2 * x + shift

    assert Affine()(3, shift=1) == 7


def test_forward_must_be_defined(lib):
    class Empty(lib.nn.Module):
        pass

    with pytest.raises(NotImplementedError, match=r'^Module \[Empty\] is missing the required "forward" function'):
        Empty()(3)


def test_init_takes_no_arguments(lib):
    with pytest.raises(TypeError, match=r"takes 1 positional argument but 2 were given"):
        lib.nn.Module(3)
    with pytest.raises(TypeError, match=r"got an unexpected keyword argument 'size'"):
        lib.nn.Module(size=3)


def test_hooks_see_and_replace_arguments_and_result(lib):
    double = lib.nn.Identity()
    seen = []
    handles = [
        double.register_forward_pre_hook(lambda module, args: seen.append(("pre", module is double, args))),
        double.register_forward_pre_hook(lambda module, args: args[0] + 1),
        double.register_forward_pre_hook(lambda module, args: (args[0] * 10,)),
        double.register_forward_hook(lambda module, args, out: seen.append(("post", args, out))),
        double.register_forward_hook(lambda module, args, out: -out),
    ]
    assert double(1) == -20
    assert seen == [("pre", True, (1,)), ("post", (20,), 20)]
    for handle in handles:
        handle.remove()
    assert double(1) == 1
    assert len(seen) == 2


def test_a_hook_may_take_itself_off(lib):
    m = lib.nn.Identity()
    handle = m.register_forward_hook(lambda module, args, out: handle.remove())
    assert m(1) == 1
    assert len(m._forward_hooks) == 0


# ---- modes and copies -----------------------------------------------------------------------------------


def test_train_and_eval(net):
    assert net.training
    assert net.eval() is net
    assert not any(module.training for module in net.modules())
    assert net.seq.train() is net.seq
    assert [module.training for module in net.modules()] == [False, False, True, True, True]
    with pytest.raises(ValueError, match=r"^training mode is expected to be boolean$"):
        net.train(1)


def test_a_deep_copy_trains_on_its_own(lib, net):
    twin = copy.deepcopy(net)
    assert repr(twin) == repr(net)
    assert twin.same is twin.first
    twin.first(lib.ones(1, 2)).sum().backward()
    assert net.first.weight.grad is None
    assert twin.first.weight.grad.tolist() == [[1, 1], [1, 1]]
    for parameter in twin.parameters():
        parameter.data.fill_(9.0)
    assert net.scale.tolist() == [1]


def test_pickled_in_one_process(lib, net):
    again = pickle.loads(pickle.dumps(net))  # noqa: S301
    assert repr(again) == repr(net)
    assert again.same is again.first
    for (name, one), (other, two) in zip(again.state_dict().items(), net.state_dict().items(), strict=True):
        assert (name, one.tolist()) == (other, two.tolist())
    assert type(again.scale) is lib.nn.Parameter
    assert again.scale.requires_grad


def test_setstate_can_be_extended(lib):
    class Remembers(lib.nn.Module):
        def __setstate__(self, state):
            super().__setstate__(state)
            self.restored = True

    again = copy.deepcopy(Remembers())
    assert again.restored
    assert again.training


def test_the_other_bases_are_initialised_on_request(lib):
    class Other:
        def __init__(self, a, b=0):
            self.given = a, b

    class Both(lib.nn.Module, Other):
        call_super_init = True

        def __init__(self):
            super().__init__(1, b=2)

    assert Both().given == (1, 2)
    assert Both().training


def test_compiling_changes_nothing():
    m = gw.nn.ReLU()
    m.compile(fullgraph=True)
    assert m(gw.ones(1)).item() == 1


def test_every_public_name_of_pytorch_is_there(torch):
    def public(cls):
        return {name for name in dir(cls) if not name.startswith("_")}

    assert public(gw.nn.Module) == public(torch.nn.Module) | {"summary"}


def test_without_init():
    class Forgot(gw.nn.Module):
        def __init__(self):
            self.n = 3

    with pytest.raises(AttributeError, match=r"Module.__init__\(\) has not been called"):
        Forgot()(1)


# ---- printing -------------------------------------------------------------------------------------------


def test_repr_of_a_tree(net):
    assert repr(net) == """\
Module(
  (first): Linear(in_features=2, out_features=2, bias=True)
  (same): Linear(in_features=2, out_features=2, bias=True)
  (seq): Sequential(
    (0): Linear(in_features=2, out_features=1, bias=False)
    (1): ReLU()
  )
  (none): None
)"""


@pytest.mark.parametrize(("extra", "child", "expected"), [
    ("", False, "Named()"),
    ("a=1", False, "Named(a=1)"),
    ("a=1", True, "Named(\n  a=1\n  (act): Tanh()\n)"),
    ("a=1\nb=2", False, "Named(\n  a=1\n  b=2\n)"),
    ("", True, "Named(\n  (act): Tanh()\n)"),
])  # fmt: skip
def test_extra_repr(lib, extra, child, expected):
    class Named(lib.nn.Module):
        def extra_repr(self):
            return extra

    m = Named()
    if child:
        m.act = lib.nn.Tanh()
    assert repr(m) == expected


def test_repr_indents_every_line_but_blank_ones(lib):
    class Poem(lib.nn.Module):
        def extra_repr(self):
            return "one\n\ntwo"

    m = lib.nn.Module()
    m.poem = Poem()
    assert repr(m) == "Module(\n  (poem): Poem(\n    one\n\n    two\n  )\n)"


# ---- what PyTorch's has not -----------------------------------------------------------------------------


def test_summary_is_that_of_viz():
    table = gw.nn.Linear(2, 3).summary(gw.ones(4, 2))
    assert table.layers[0].shapes == ((4, 3),)
    assert "Linear" in str(table)


def test_the_name_summary_is_free(lib):
    class Net(lib.nn.Module):
        def __init__(self):
            super().__init__()
            self.summary = lib.nn.Linear(2, 1)

        def forward(self, x):
            return self.summary(x)

    net = Net()
    assert net(lib.ones(5, 2)).shape == (5, 1)
    assert sorted(net.state_dict()) == ["summary.bias", "summary.weight"]
    assert net.get_submodule("summary") is net.summary
    for register in ("register_buffer", "add_module", "register_parameter"):
        module = lib.nn.Module()
        getattr(module, register)("summary", None)
        assert module.summary is None
        with pytest.raises(KeyError, match="already exists"):
            module.register_buffer("forward", None)

    class Own(lib.nn.Module):
        def summary(self):
            return "mine"

    assert Own().summary() == "mine"


def test_a_misspelt_forward_is_named():
    class Net(gw.nn.Module):
        def forwrad(self, x):
            return x

    with pytest.raises(NotImplementedError, match="function: is 'forwrad' meant to be that"):
        Net()(gw.ones(1))
