"""Module: calling, the tree, modes, conversion, state, printing."""

import copy
from collections import OrderedDict

import pytest

import gradwright as gw


def make(lib):
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
def net(lib):
    return make(lib)


def fill(module, value):
    for parameter in module.parameters():
        parameter.data.fill_(value)
    return module


# ---- calling --------------------------------------------------------------------------------------------


def test_calling_runs_forward(lib):
    class Affine(lib.nn.Module):
        def forward(self, x, *, shift=0):
            return 2 * x + shift

    assert Affine()(3, shift=1) == 7


def test_forward_must_be_defined(lib):
    class Empty(lib.nn.Module):
        pass

    with pytest.raises(NotImplementedError, match=r'^Module \[Empty\] is missing the required "forward" function$'):
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


# ---- the tree -------------------------------------------------------------------------------------------


def names(pairs):
    return [name for name, _ in pairs]


def test_named_parameters(net):
    assert names(net.named_parameters()) == ["scale", "first.weight", "first.bias", "seq.0.weight"]
    assert names(net.seq.named_parameters(prefix="net")) == ["net.0.weight"]
    assert names(net.named_parameters(recurse=False)) == ["scale"]
    assert names(net.named_parameters(remove_duplicate=False)) == [
        "scale", "first.weight", "first.bias", "same.weight", "same.bias", "seq.0.weight",
    ]  # fmt: skip
    assert dict(net.named_parameters())["first.bias"] is net.first.bias


def test_a_parameter_under_two_names_is_listed_once(lib):
    m = lib.nn.Linear(2, 2, bias=False)
    m.tied = m.weight
    assert names(m.named_parameters()) == ["weight"]
    assert names(m.named_parameters(remove_duplicate=False)) == ["weight", "tied"]


def test_parameters(net):
    expected = [net.scale, net.first.weight, net.first.bias, net.seq[0].weight]
    assert [id(p) for p in net.parameters()] == [id(p) for p in expected]
    assert [id(p) for p in net.parameters(recurse=False)] == [id(net.scale)]


def test_buffers(net):
    assert names(net.named_buffers()) == ["count", "cache", "seq.mean"]
    assert names(net.named_buffers(prefix="net", recurse=False)) == ["net.count", "net.cache"]
    assert [id(b) for b in net.buffers()] == [id(net.count), id(net.cache), id(net.seq.mean)]


def test_children_and_modules(net):
    assert names(net.named_children()) == ["first", "seq"]
    assert list(net.children()) == [net.first, net.seq]
    assert names(net.named_modules()) == ["", "first", "seq", "seq.0", "seq.1"]
    assert names(net.named_modules(prefix="net")) == ["net", "net.first", "net.seq", "net.seq.0", "net.seq.1"]
    assert names(net.named_modules(remove_duplicate=False)) == ["", "first", "same", "seq", "seq.0", "seq.1"]
    assert list(net.modules()) == [net, net.first, net.seq, net.seq[0], net.seq[1]]


def test_get_by_path(net):
    assert net.get_submodule("") is net
    assert net.get_submodule("seq.0") is net.seq[0]
    assert net.get_parameter("seq.0.weight") is net.seq[0].weight
    assert net.get_parameter("scale") is net.scale
    assert net.get_buffer("seq.mean") is net.seq.mean


@pytest.mark.parametrize(("method", "path", "message"), [
    ("get_submodule", "seq.7", "Sequential has no attribute `7`"),
    ("get_submodule", "first.weight", "`weight` is not an nn.Module"),
    ("get_parameter", "first.x", "Linear has no attribute `x`"),
    ("get_parameter", "first.in_features", "`in_features` is not an nn.Parameter"),
    ("get_buffer", "first.weight", "`weight` is not a buffer"),
    ("get_buffer", "nowhere.weight", "Module has no attribute `nowhere`"),
])  # fmt: skip
def test_get_by_a_wrong_path(net, method, path, message):
    with pytest.raises(AttributeError, match=f"^{message}$"):
        getattr(net, method)(path)


def test_apply_goes_from_the_leaves_up(net):
    order = []
    assert net.apply(order.append) is net
    assert order == [net.first, net.seq[0], net.seq[1], net.seq, net]


# ---- all parameters at once -----------------------------------------------------------------------------


def test_train_and_eval(net):
    assert net.training
    assert net.eval() is net
    assert not any(module.training for module in net.modules())
    assert net.seq.train() is net.seq
    assert [module.training for module in net.modules()] == [False, False, True, True, True]
    with pytest.raises(ValueError, match=r"^training mode is expected to be boolean$"):
        net.train(1)


def test_requires_grad_(net):
    assert net.requires_grad_(False) is net
    assert not any(p.requires_grad for p in net.parameters())
    assert all(p.requires_grad for p in net.requires_grad_().parameters())


def test_zero_grad(lib):
    m = lib.nn.Linear(2, 1)
    m.zero_grad()
    m(lib.ones(1, 2)).sum().backward()
    grad = m.weight.grad
    m.zero_grad(set_to_none=False)
    assert m.weight.grad is grad
    assert grad.tolist() == [[0, 0]]
    m.zero_grad()
    assert (m.weight.grad, m.bias.grad) == (None, None)
    assert grad.tolist() == [[0, 0]]


def test_zero_grad_cuts_the_history_of_a_gradient(lib):
    m = lib.nn.Linear(1, 1)
    m.weight.grad = (m.weight * m.weight).detach() * m.weight
    m.zero_grad(set_to_none=False)
    assert m.weight.grad.grad_fn is None
    assert not m.weight.grad.requires_grad


@pytest.mark.parametrize("convert", [
    lambda lib, m: m.double(),
    lambda lib, m: m.to(lib.float64),
    lambda lib, m: m.to(dtype=lib.float64),
    lambda lib, m: m.to("cpu", lib.float64),
    lambda lib, m: m.to(lib.ones(1, dtype=lib.float64)),
])  # fmt: skip
def test_conversion_keeps_the_parameters(lib, net, convert):
    net.first(lib.ones(1, 2)).sum().backward()
    before, grad = list(net.parameters()), net.first.weight.grad
    assert convert(lib, net) is net
    assert [id(p) for p in net.parameters()] == [id(p) for p in before]
    assert {p.dtype for p in net.parameters()} == {lib.float64}
    assert net.first.weight.grad is grad
    assert grad.dtype is lib.float64
    assert [b.dtype for b in net.buffers()] == [lib.int64, lib.float64, lib.float64]
    net.first(lib.ones(1, 2, dtype=lib.float64)).sum().backward()
    assert net.first.weight.grad.tolist() == [[2, 2], [2, 2]]


def test_float_and_half(lib, net):
    assert net.half().scale.dtype is lib.float16
    assert net.float().scale.dtype is lib.float32
    assert net.cpu() is net.to("cpu") is net.to(lib.device("cpu")) is net


def test_what_a_module_cannot_be_converted_to(lib, net):
    with pytest.raises(TypeError, match=r"^nn.Module.to only accepts floating point or complex dtypes, but got desired "
                                        r"dtype=torch.int64$"):  # fmt: skip
        net.to(lib.int64)
    assert net.scale.dtype is lib.float32


def test_no_other_device():
    with pytest.raises(RuntimeError, match="gradwright has no device 'cuda' yet"):
        make(gw).to("cuda")


def test_a_complex_parameter_is_never_cut_to_its_real_part():
    m = gw.nn.Module()
    m.w = gw.nn.Parameter(gw.tensor([1 + 2j]))
    assert m.double().w.tolist() == [1 + 2j]
    assert m.to(gw.complex128).w.dtype is gw.complex128


def test_a_deep_copy_trains_on_its_own(lib, net):
    twin = copy.deepcopy(net)
    assert repr(twin) == repr(net)
    assert twin.same is twin.first
    twin.first(lib.ones(1, 2)).sum().backward()
    assert net.first.weight.grad is None
    assert twin.first.weight.grad.tolist() == [[1, 1], [1, 1]]
    fill(twin, 9.0)
    assert net.scale.tolist() == [1]


# ---- state ----------------------------------------------------------------------------------------------


def test_state_dict(net):
    state = net.state_dict()
    assert type(state) is OrderedDict
    assert list(state) == [
        "scale", "count", "first.weight", "first.bias", "same.weight", "same.bias", "seq.mean", "seq.0.weight",
    ]  # fmt: skip
    assert not any(t.requires_grad for t in state.values())
    fill(net, 5.0)
    assert state["scale"].tolist() == [5]  # the same memory


def test_state_dict_options(net):
    assert net.state_dict(keep_vars=True)["scale"] is net.scale
    mine = {"mine": 1}
    assert net.seq.state_dict(destination=mine, prefix="s.") is mine
    assert list(mine) == ["mine", "s.mean", "s.0.weight"]


def test_load_state_dict(lib, net):
    source = fill(make(lib), 7.0)
    before = net.scale
    result = net.load_state_dict(source.state_dict())
    assert repr(result) == "<All keys matched successfully>"
    assert result == ([], [])
    assert net.scale is before
    assert all((p == 7).all() for p in net.parameters())
    fill(source, 8.0)
    assert net.scale.tolist() == [7]  # a copy


def test_load_state_dict_converts_to_the_own_dtype(lib):
    m = lib.nn.Linear(1, 1, bias=False)
    m.load_state_dict({"weight": lib.tensor([[2.0]], dtype=lib.float64)})
    assert (m.weight.dtype, m.weight.item(), m.weight.requires_grad, m.weight.is_leaf) == (lib.float32, 2, True, True)


def test_load_state_dict_takes_one_entry_for_a_0d_parameter(lib):
    m = lib.nn.Module()
    m.p = lib.nn.Parameter(lib.tensor(1.0))
    m.load_state_dict({"p": lib.tensor([4.0])})
    assert m.p.item() == 4


def test_load_state_dict_leniently(lib):
    m = lib.nn.Linear(1, 1)
    result = m.load_state_dict({"weight": lib.tensor([[2.0]]), "w": lib.ones(1)}, strict=False)
    assert result.missing_keys == ["bias"]
    assert result.unexpected_keys == ["w"]
    assert repr(result) == "_IncompatibleKeys(missing_keys=['bias'], unexpected_keys=['w'])"
    assert m.weight.item() == 2


def test_load_state_dict_reports_all_that_is_wrong(lib):
    m = lib.nn.Sequential(lib.nn.Linear(1, 1), lib.nn.Linear(1, 1))
    wrong = {"0.weight": lib.ones(2, 2), "0.bias": 3, "2.x": lib.ones(1), "1.weight": lib.ones(1, 1), "1.y": 0}
    with pytest.raises(RuntimeError) as error:
        m.load_state_dict(wrong)
    assert str(error.value) == """\
Error(s) in loading state_dict for Sequential:
\tMissing key(s) in state_dict: "1.bias".\x20
\tUnexpected key(s) in state_dict: "2.x", "1.y".\x20
\tsize mismatch for 0.weight: copying a param with shape torch.Size([2, 2]) from checkpoint, \
the shape in current model is torch.Size([1, 1]).
\tWhile copying the parameter named "0.bias", expected torch.Tensor or Tensor-like object from checkpoint but \
received <class 'int'>"""


def test_load_state_dict_takes_a_mapping(lib):
    with pytest.raises(TypeError, match=r"^Expected state_dict to be dict-like, got <class 'list'>.$"):
        lib.nn.ReLU().load_state_dict([])


def test_a_size_mismatch_is_an_error_even_leniently(lib):
    with pytest.raises(RuntimeError, match="size mismatch for weight"):
        lib.nn.Linear(1, 1).load_state_dict({"weight": lib.ones(2, 2)}, strict=False)


def test_a_failed_load_changes_nothing():
    m = fill(gw.nn.Linear(1, 1), 1.0)
    with pytest.raises(RuntimeError, match="Unexpected key"):
        m.load_state_dict({"weight": gw.zeros(1, 1), "bias": gw.zeros(1), "x": gw.zeros(1)})
    assert (m.weight.item(), m.bias.item()) == (1, 1)


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
