"""Sequential, ModuleList and ModuleDict."""

from collections import OrderedDict

import pytest

import gradwright as gw


def modules(lib):
    return [lib.nn.Linear(2, 3), lib.nn.ReLU(), lib.nn.Linear(3, 1)]


@pytest.fixture(params=["Sequential", "ModuleList"])
def listed(request, lib):
    """Makes a container that holds modules in order."""
    if request.param == "Sequential":
        return lambda given: lib.nn.Sequential(*given)
    return lib.nn.ModuleList


# ---- what the two that hold modules in order share -------------------------------------------------------


def test_indexing(lib, listed):
    given = modules(lib)
    m = listed(given)
    assert len(m) == 3
    assert list(m) == given
    assert m[0] is given[0]
    assert m[-1] is given[2]
    for index in (3, -4):
        with pytest.raises(IndexError, match=f"^index {index} is out of range$"):
            m[index]
    with pytest.raises(TypeError):
        m["0"]


def test_slicing_shares_the_modules(lib, listed):
    given = modules(lib)
    part = listed(given)[1:]
    assert type(part) is type(listed([]))
    assert list(part) == given[1:]
    assert list(listed(given)[::2]) == given[::2]


def test_parameters_are_found(lib, listed):
    assert [name for name, _ in listed(modules(lib)).named_parameters()] == ["0.weight", "0.bias", "2.weight", "2.bias"]


def test_setting_and_deleting(lib, listed):
    given = modules(lib)
    m = listed(given)
    tanh = lib.nn.Tanh()
    m[-2] = tanh
    assert list(m) == [given[0], tanh, given[2]]
    with pytest.raises(TypeError, match="cannot assign 'int' as child module '1'"):
        m[1] = 3
    del m[0]
    assert list(m._modules.items()) == [("0", tanh), ("1", given[2])]
    del m[:]
    assert len(m) == 0


def test_append_extend_insert_pop(lib, listed):
    a, b, c, d = (lib.nn.Identity() for _ in range(4))
    m = listed([a])
    assert m.append(c) is m
    assert m.extend([d]) is m
    m.insert(1, b)
    assert list(m._modules.items()) == [("0", a), ("1", b), ("2", c), ("3", d)]
    assert m.pop(1) is b
    assert list(m._modules.items()) == [("0", a), ("1", c), ("2", d)]


def test_wrong_modules(lib, listed):
    with pytest.raises(TypeError, match=r"^int is not a Module subclass$"):
        listed([3])
    with pytest.raises(TypeError, match=r"^int is not a Module subclass$"):
        listed([]).append(3)


def test_attribute_names_leave_the_numbers_out(lib, listed):
    assert "0" not in dir(listed(modules(lib)))
    assert "append" in dir(listed([]))


# ---- Sequential -----------------------------------------------------------------------------------------


def test_sequential_runs_one_after_another(lib):
    first, relu, last = modules(lib)
    first.load_state_dict({"weight": lib.tensor([[1.0, 0], [0, 1], [1, 1]]), "bias": lib.tensor([0.0, 0, -3])})
    last.load_state_dict({"weight": lib.tensor([[1.0, 10, 100]]), "bias": lib.tensor([0.5])})
    net = lib.nn.Sequential(first, relu, last)
    assert net(lib.tensor([[-1.0, 2.0], [3.0, 4.0]])).tolist() == [[20.5], [443.5]]
    x = lib.ones(1)
    assert lib.nn.Sequential()(x) is x


def test_sequential_repr(lib):
    assert repr(lib.nn.Sequential(*modules(lib))) == """\
Sequential(
  (0): Linear(in_features=2, out_features=3, bias=True)
  (1): ReLU()
  (2): Linear(in_features=3, out_features=1, bias=True)
)"""
    assert repr(lib.nn.Sequential()) == "Sequential()"


def test_sequential_with_names(lib):
    linear, relu, _ = modules(lib)
    net = lib.nn.Sequential(OrderedDict([("lin", linear), ("act", relu)]))
    assert net.lin is net[0] is linear
    assert list(net[1:]._modules) == ["act"]
    net.append(lib.nn.Tanh())
    assert list(net._modules) == ["lin", "act", "2"]
    with pytest.raises(KeyError, match="attribute 'forward' already exists"):
        lib.nn.Sequential(OrderedDict(forward=relu))


def test_sequential_slices_keep_their_numbers(lib):
    assert list(lib.nn.Sequential(*modules(lib))[1:]._modules) == ["1", "2"]


def test_sequential_addition(lib):
    a, b, c = modules(lib)
    net = lib.nn.Sequential(a, b)
    total = net + lib.nn.Sequential(c)
    assert type(total) is lib.nn.Sequential
    assert list(total) == [a, b, c]
    assert list(net) == [a, b]
    net += lib.nn.Sequential(c)
    assert list(net) == [a, b, c]


def test_sequential_insert_out_of_range(lib):
    net = lib.nn.Sequential(lib.nn.ReLU())
    with pytest.raises(IndexError, match=r"^Index out of range: 2$"):
        net.insert(2, lib.nn.ReLU())
    assert len(net) == 1


def test_sequential_trains(lib):
    lib.manual_seed(0)
    net = lib.nn.Sequential(lib.nn.Linear(1, 8), lib.nn.Tanh(), lib.nn.Linear(8, 1))
    x = lib.linspace(-1, 1, 20).reshape(20, 1)
    losses = []
    for _ in range(200):
        loss = lib.nn.functional.mse_loss(net(x), x * x)
        losses.append(loss.item())
        net.zero_grad()
        loss.backward()
        with lib.no_grad():
            for p in net.parameters():
                p -= 0.3 * p.grad
    assert losses[-1] < 0.2 * losses[0]


def test_appending_to_a_slice_never_loses_a_module():
    # PyTorch gives the new one the number 2, which is taken, and drops the module that has it.
    net = gw.nn.Sequential(gw.nn.ReLU(), gw.nn.Tanh(), gw.nn.Sigmoid())[1:].append(gw.nn.Softplus())
    assert [type(m).__name__ for m in net] == ["Tanh", "Sigmoid", "Softplus"]


# ---- ModuleList -----------------------------------------------------------------------------------------


def test_module_list_repr_counts_repetitions(lib):
    nn = lib.nn
    m = nn.ModuleList([nn.Linear(2, 2), nn.Linear(2, 2), nn.ReLU(), nn.Sequential(nn.ReLU()), nn.Sequential(nn.ReLU())])
    assert repr(m) == """\
ModuleList(
  (0-1): 2 x Linear(in_features=2, out_features=2, bias=True)
  (2): ReLU()
  (3-4): 2 x Sequential(
    (0): ReLU()
  )
)"""
    assert repr(nn.ModuleList()) == "ModuleList()"


def test_module_list_slices_are_numbered_anew(lib):
    assert list(lib.nn.ModuleList(modules(lib))[1:]._modules) == ["0", "1"]


def test_module_list_from_and_plus_any_iterable(lib):
    a, b, c = modules(lib)
    m = lib.nn.ModuleList(iter([a]))
    m += [b]
    assert list(m) == [a, b]
    total = m + iter([c])
    assert type(total) is lib.nn.ModuleList
    assert list(total) == [a, b, c]
    assert list(lib.nn.ModuleList(None)) == []


def test_module_list_cannot_be_called(lib):
    with pytest.raises(NotImplementedError, match=r'Module \[ModuleList\] is missing the required "forward" function'):
        lib.nn.ModuleList()(3)


# ---- ModuleDict -----------------------------------------------------------------------------------------


def test_module_dict(lib):
    linear, relu, last = modules(lib)
    m = lib.nn.ModuleDict({"lin": linear, "act": relu})
    assert repr(m) == """\
ModuleDict(
  (lin): Linear(in_features=2, out_features=3, bias=True)
  (act): ReLU()
)"""
    assert (len(m), list(m), "act" in m, "x" in m) == (2, ["lin", "act"], True, False)
    assert m["lin"] is m.lin is linear
    assert (list(m.keys()), list(m.values())) == (["lin", "act"], [linear, relu])
    assert list(m.items()) == [("lin", linear), ("act", relu)]
    m["lin"] = last
    m.update({"act": linear})
    assert list(m.values()) == [last, linear]
    assert m.pop("act") is linear
    del m["lin"]
    assert len(m) == 0
    m.update([("a", relu)])
    m.update(lib.nn.ModuleDict({"b": relu}))
    assert list(m) == ["a", "b"]
    m.clear()
    assert list(m) == []
    assert repr(m) == "ModuleDict()"


@pytest.mark.parametrize(("values", "error", "message"), [
    (3, TypeError, "^ModuleDict.update should be called with an iterable of key/value pairs, but got int"),
    ([("a",)], ValueError, "^ModuleDict update sequence element #0 has length 1; 2 is required"),
    ([("a", gw.nn.ReLU()), 5], TypeError, "^ModuleDict update sequence element #1 should be Iterable"),
])  # fmt: skip
def test_what_a_module_dict_is_not_made_of(values, error, message):
    with pytest.raises(error, match=message):
        gw.nn.ModuleDict(values)


def test_module_dict_errors(lib):
    m = lib.nn.ModuleDict()
    for name in ("keys", "training"):
        with pytest.raises(KeyError, match=f"attribute '{name}' already exists"):
            m[name] = lib.nn.ReLU()
    with pytest.raises(TypeError, match=r"^int is not a Module subclass$"):
        m["a"] = 3
    for missing in (lambda: m["a"], lambda: m.pop("a"), lambda: m.__delitem__("a")):
        with pytest.raises(KeyError, match="a"):
            missing()


def test_subclasses_are_extended_by_what_is_given_alone(lib):
    class Counted(lib.nn.ModuleDict):
        def __init__(self, modules=None):
            super().__init__()
            self.count = 0
            self.update(modules or {})

        def update(self, modules):
            self.count += len(modules)
            super().update(modules)

    class Listed(lib.nn.ModuleList):
        def extend(self, modules):
            raise ValueError("extended")

    assert Counted({"a": lib.nn.ReLU()}).count == 1
    assert len(Listed()) == len(lib.nn.ModuleList(None)) == len(lib.nn.ModuleDict(None)) == 0
    with pytest.raises(ValueError, match="extended"):
        Listed([lib.nn.ReLU()])
