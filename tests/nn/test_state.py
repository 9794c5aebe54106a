"""state_dict and load_state_dict."""

from collections import OrderedDict

import pytest

import gradwright as gw


def fill(module, value):
    for parameter in module.parameters():
        parameter.data.fill_(value)
    return module


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


def test_load_state_dict(lib, net, twin):
    source = fill(twin, 7.0)
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


def test_keys_that_lead_past_or_stop_short_are_unexpected(lib):
    m = lib.nn.Sequential(lib.nn.Linear(1, 1), lib.nn.Sequential(lib.nn.ReLU()))
    m.register_buffer("cache", lib.ones(1), persistent=False)
    strange = ["0", "0.weight.x", "1.0", "1.0.x", "2.weight", "cache", "x"]
    found = m.load_state_dict({**m.state_dict(), **dict.fromkeys(strange, 1)}, strict=False)
    assert (found.missing_keys, sorted(found.unexpected_keys)) == ([], strange)


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


# ---- versions, extra state, a class's own way -----------------------------------------------------------


def test_versions_are_saved_and_told(lib):
    class Versioned(lib.nn.Module):
        _version = 3

        def __init__(self):
            super().__init__()
            self.w = lib.nn.Parameter(lib.ones(1))

        def _load_from_state_dict(self, state_dict, prefix, local_metadata, *rest):
            told.append((prefix, dict(local_metadata)))
            if local_metadata.get("version", 1) < 3:
                state_dict[prefix + "w"] = state_dict.pop(prefix + "old")
            super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)
            loaded.append(self.w.item())

    net, told, loaded = lib.nn.Sequential(Versioned()), [], []
    state = net.state_dict()
    assert {path: dict(of) for path, of in state._metadata.items()} == {"": {"version": 1}, "0": {"version": 3}}
    net.load_state_dict(state)
    net.load_state_dict({"0.old": lib.zeros(1)})
    assert told == [("0.", {"version": 3}), ("0.", {})]
    assert loaded == [1, 0]


def test_saving_can_be_extended(lib):
    class More(lib.nn.Module):
        def _save_to_state_dict(self, destination, prefix, keep_vars):
            super()._save_to_state_dict(destination, prefix, keep_vars)
            destination[prefix + "more"] = keep_vars

    assert lib.nn.Sequential(More()).state_dict(keep_vars=True) == {"0.more": True}


def test_extra_state(lib):
    class Counts(lib.nn.Module):
        n = 3

        def get_extra_state(self):
            return {"n": self.n}

        def set_extra_state(self, state):
            self.n = state["n"]

    net = lib.nn.Sequential(Counts(), lib.nn.ReLU())
    state = net.state_dict()
    assert state == {"0._extra_state": {"n": 3}}
    net[0].n = 9
    assert repr(net.load_state_dict(state)) == "<All keys matched successfully>"
    assert net[0].n == 3
    assert net.load_state_dict({"1._extra_state": 1}, strict=False) == (["0._extra_state"], ["1._extra_state"])


@pytest.mark.parametrize("call", [lambda m: m.get_extra_state(), lambda m: m.set_extra_state(1)])
def test_extra_state_takes_both_methods(lib, call):
    with pytest.raises(RuntimeError, match=r"^Reached a code path in Module.[gs]et_extra_state\(\) that should never"):
        call(lib.nn.ReLU())


# ---- hooks ----------------------------------------------------------------------------------------------


def test_hooks_on_saving(net):
    seen = []
    net.seq.register_state_dict_pre_hook(lambda m, prefix, keep_vars: seen.append((m is net.seq, prefix, keep_vars)))
    net.seq.register_state_dict_post_hook(lambda m, state, prefix, metadata: state.__delitem__(prefix + "mean"))
    handle = net.register_state_dict_post_hook(lambda m, state, prefix, metadata: seen.append(list(state)[-1:]))
    assert list(net.state_dict(prefix="p."))[-1:] == ["p.seq.0.weight"]
    assert seen == [(True, "p.seq.", False), ["p.seq.0.weight"]]
    handle.remove()
    assert len(net.state_dict()) == 7
    assert len(seen) == 3


def test_a_hook_on_saving_returns_nothing(lib):
    m = lib.nn.ReLU()
    m.register_state_dict_post_hook(lambda m, state, prefix, metadata: state)
    with pytest.raises(RuntimeError, match=r"^state_dict post-hook must return None$"):
        m.state_dict()


def test_hooks_on_loading(lib, net, twin):
    seen = []

    def before(m, state, prefix, metadata, strict, missing, unexpected, errors):
        seen.append((m is net.seq, prefix, sorted(state)))
        state.pop(prefix + "mean")
        errors.append("as it happens")

    def after(m, found):
        seen.append((m.scale.item(), list(found.missing_keys)))
        found.missing_keys.clear()

    net.seq.register_load_state_dict_pre_hook(before)
    net.register_load_state_dict_post_hook(after)
    with pytest.raises(RuntimeError) as error:
        net.load_state_dict(fill(twin, 5.0).state_dict())
    assert str(error.value) == "Error(s) in loading state_dict for Module:\n\tas it happens"
    assert seen == [(True, "seq.", ["seq.0.weight", "seq.mean"]), (5, ["seq.mean"])]


def test_a_hook_on_loading_returns_nothing(lib):
    m = lib.nn.ReLU()
    m.register_load_state_dict_post_hook(lambda m, found: found)
    with pytest.raises(AssertionError, match="are not expected to return new values"):
        m.load_state_dict({})


# ---- assign ---------------------------------------------------------------------------------------------


def test_assigned_tensors_are_used_themselves(lib, net, twin):
    state = {name: t.double() if t.is_floating_point() else t for name, t in fill(twin, 3.0).state_dict().items()}
    before = net.scale
    net.requires_grad_(False)
    assert repr(net.load_state_dict(state, assign=True)) == "<All keys matched successfully>"
    assert net.scale is not before
    assert (net.scale.dtype, type(net.scale), net.scale.requires_grad) == (lib.float64, lib.nn.Parameter, False)
    assert net.seq.mean is state["seq.mean"]
    state["scale"].zero_()
    assert net.scale.item() == 0


def test_an_assigned_parameter_stays_itself(lib):
    m, p = lib.nn.Linear(1, 1, bias=False), lib.nn.Parameter(lib.ones(1, 1), requires_grad=False)
    m.load_state_dict({"weight": p}, assign=True)
    assert m.weight is p
    assert p.requires_grad


# ---- where gradwright says more than PyTorch ------------------------------------------------------------


def test_keys_are_strings():
    with pytest.raises(TypeError, match="Expected the keys of state_dict to be str, got <class 'int'>: 3"):
        gw.nn.ReLU().load_state_dict({3: gw.ones(1)})


def test_an_imaginary_part_is_not_lost():
    with pytest.raises(RuntimeError, match=r"whose imaginary part would be lost in torch.float32"):
        gw.nn.Linear(1, 1).load_state_dict({"weight": gw.ones(1, 1, dtype=gw.complex64), "bias": gw.ones(1)})


def test_a_file_or_a_module_is_no_state(lib):
    for given, mend in (("net.pt", "read the file first, with load()"), (lib.nn.ReLU(), "write its state_dict()")):
        with pytest.raises(TypeError, match=r"^Expected state_dict to be dict-like, got ") as error:
            lib.nn.Linear(1, 1).load_state_dict(given)
        assert lib is not gw or str(error.value).endswith(mend)


def test_pytorchs_own_state_is_loaded(torch):
    theirs = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.BatchNorm1d(2))
    ours = gw.nn.Sequential(gw.nn.Linear(3, 2), gw.nn.BatchNorm1d(2))
    theirs(torch.ones(4, 3))
    ours.load_state_dict(theirs.state_dict())
    for name, value in theirs.state_dict().items():
        assert ours.state_dict()[name].tolist() == value.tolist()


def test_a_private_hook_on_saving_may_give_another_state(lib):
    layer = lib.nn.Linear(1, 1)
    layer._register_state_dict_hook(lambda m, state, prefix, metadata: {f"x.{k}": v for k, v in state.items()})
    assert list(layer.state_dict()) == ["x.weight", "x.bias"]


LAYOUTS = ("to_dense", "to_sparse", "to_sparse_csr")


@pytest.mark.filterwarnings("ignore:Sparse CSR")
@pytest.mark.parametrize("assign", [False, True])
@pytest.mark.parametrize("given", LAYOUTS)
@pytest.mark.parametrize("held", LAYOUTS)
def test_sparse_buffers_are_loaded(torch, held, given, assign):
    found = []
    for T in (torch, gw):
        module = T.nn.Module()
        module.register_buffer("a", getattr(T.eye(2), held)())
        before = module.a
        value = getattr(T.tensor([[0.0, 2.0], [3.0, 0.0]], dtype=T.float64), given)()
        try:
            module.load_state_dict({"a": value}, assign=assign)
            failed = False
        except RuntimeError as e:
            failed = 'While copying the parameter named "a"' in str(e)
        found.append((failed, module.a.to_dense().tolist(), str(module.a.layout), str(module.a.dtype),
                      module.a is before, module.a is value))  # fmt: skip
        with pytest.raises(RuntimeError, match="size mismatch for a"):
            module.load_state_dict({"a": T.eye(3).to_sparse()})
    assert found[0] == found[1]


def test_what_a_sparse_buffer_took_is_a_copy():
    module, eye = gw.nn.Module(), gw.eye(2).to_sparse()
    module.register_buffer("a", eye)
    module.register_buffer("b", module.a)
    twice = gw.sparse_coo_tensor([[0, 0], [1, 1]], [1.0, 2.0], (2, 2))
    with pytest.warns(gw.GradientWarning, match="'a' and 'b' are one tensor"):
        module.load_state_dict({"a": eye * 2, "b": twice})
    assert module.a is eye
    assert not eye.is_coalesced()
    twice._values().zero_()
    assert eye.to_dense().tolist() == [[0.0, 3.0], [0.0, 0.0]]
    module.load_state_dict(module.state_dict())
    assert eye.to_dense().tolist() == [[0.0, 3.0], [0.0, 0.0]]
    module.w = gw.nn.Parameter(gw.ones(2, 2))
    with pytest.raises(RuntimeError, match=r'named "w": .* is torch.sparse_coo, .* its to_dense\(\) can be loaded$'):
        module.load_state_dict({**module.state_dict(), "w": twice}, assign=True)
