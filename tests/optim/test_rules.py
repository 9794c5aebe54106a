"""Rules, run one parameter after another and over many at once."""

import copy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gradwright as gw
from gradwright.backends import fused


def run(lib, program, **options):
    """What a program makes of parameters and an optimiser, as arrays: parameters and state, by name."""
    starts = lib.ones(3), lib.full((2, 2), 2.0), lib.ones(())
    params = [start.requires_grad_() for start in starts]
    optimizer = lib.optim.Adam(params, lr=0.1, **options)

    def step(*which):
        for i, p in enumerate(params):
            p.grad = lib.full(tuple(p.shape), 0.5 + i, dtype=p.dtype) if i in which or not which else None
        optimizer.step()

    program(lib, params, optimizer, step)
    return {
        f"{i}.{name}": t.detach().numpy()
        for i, p in enumerate(params) for name, t in [("value", p), *sorted(optimizer.state[p].items())]
    }  # fmt: skip


def replace_memory(lib, params, optimizer, step):
    step()
    params[0].data = lib.full((3,), 5.0)
    step()


def replace_state(lib, params, optimizer, step):
    step()
    optimizer.state[params[1]]["exp_avg"] = lib.full((2, 2), 7.0)
    optimizer.state[params[0]]["step"] = lib.tensor(10.0)
    step()


def write_state(lib, params, optimizer, step):
    step()
    optimizer.state[params[1]]["exp_avg"].zero_()
    optimizer.state[params[0]]["exp_avg_sq"].data = lib.ones(3)
    optimizer.state[params[2]]["step"].fill_(3.0)
    step()


def forget_state(lib, params, optimizer, step):
    step()
    optimizer.state.pop(params[1])
    step()
    optimizer.state.clear()
    step()


def come_late(lib, params, optimizer, step):
    step(1)
    step(0, 2)
    step(1, 2)
    step()
    step(0)


def another_group(lib, params, optimizer, step):
    step()
    params.append(lib.ones(4, requires_grad=True))
    optimizer.add_param_group({"params": params[-1:], "lr": 0.3})
    step()


def expanded_and_shared_gradients(lib, params, optimizer, step):
    step()
    params[0].grad = lib.tensor(2.0).expand(3)
    params[1].grad = lib.tensor([[1.0, 2.0], [3.0, 4.0]]).t()
    params[2].grad = params[0].grad[0]
    optimizer.step()


@pytest.mark.parametrize(
    "program", [replace_memory, replace_state, write_state, forget_state, come_late, another_group,
                expanded_and_shared_gradients]
)  # fmt: skip
def test_programs(torch, program):
    mine, other = run(gw, program), run(torch, program)
    assert mine.keys() == other.keys()
    for name in mine:
        np.testing.assert_allclose(mine[name], other[name], rtol=1e-5, atol=1e-6, err_msg=name)


@given(st.lists(st.sets(st.integers(0, 5)), max_size=6), st.permutations([(), (3,), (40,), (0,), (5, 7), (2, 2)]))
@settings(max_examples=50)
def test_whoever_has_gradients(masks, shapes):
    """Parameters together give what each gives alone."""
    chunk, fused._CHUNK = fused._CHUNK, 64
    try:
        together = [gw.full(shape, 1.0 + i, requires_grad=True) for i, shape in enumerate(shapes)]
        alone = [p.detach().clone().requires_grad_() for p in together]
        one = gw.optim.NAdam(together, weight_decay=0.1)
        each = [gw.optim.NAdam([p], weight_decay=0.1) for p in alone]
        for mask in masks:
            for i, (p, q) in enumerate(zip(together, alone, strict=True)):
                p.grad = q.grad = gw.full(p.shape, 0.5 - i) if i in mask else None
                each[i].step()
            one.step()
        for p, q, optimizer in zip(together, alone, each, strict=True):
            assert gw.equal(p, q)
            assert one.state[p].keys() == optimizer.state[q].keys()
            assert all(gw.equal(one.state[p][name], value) for name, value in optimizer.state[q].items())
    finally:
        fused._CHUNK = chunk


def test_parameters_that_share_memory(torch):
    """They are changed one after the other, the later from what the earlier has left."""
    found = []
    for lib in gw, torch:
        whole = lib.arange(6.0)
        params = [whole[1:5].detach(), whole.detach(), whole.detach().view(2, 3), lib.ones(2)]
        for p in params:
            p.requires_grad_()
            p.grad = lib.ones(tuple(p.shape))
        optimizer = lib.optim.SGD(params, lr=0.1, momentum=0.9, weight_decay=0.5)
        for _ in range(3):
            optimizer.step()
        found.append(whole.tolist())
    np.testing.assert_allclose(*found, rtol=1e-5)


def test_state_is_views_of_few_buffers():
    params = [gw.ones(3, requires_grad=True), gw.ones(2, 2, requires_grad=True)]
    optimizer = gw.optim.Adam(params)
    for p in params:
        p.grad = gw.ones(p.shape)
    optimizer.step()
    first, second = (optimizer.state[p]["exp_avg"] for p in params)
    assert first.array.base is second.array.base
    step = optimizer.state[params[0]]["step"]
    optimizer.step()
    assert optimizer.state[params[0]]["exp_avg"] is first
    assert step.item() == 2


def test_memory_is_not_exchanged():
    small, large = gw.ones(3, requires_grad=True), gw.ones(100_000, requires_grad=True)
    turned = gw.ones(400, 500).t().detach().requires_grad_()
    params = [small, turned, large]
    before = [p.array for p in params]
    optimizer = gw.optim.Adam(params, lr=0.25)
    for p in params:
        p.grad = gw.ones(p.shape)
    optimizer.step()
    assert all(p.array is array for p, array in zip(params, before, strict=True))
    assert all(np.allclose(array, 0.75) for array in before)


@pytest.mark.parametrize("differentiable", [False, True])
@pytest.mark.parametrize(("change", "error", "message"), [
    (lambda T, state: state.pop("exp_avg"), KeyError, "exp_avg"),
    (lambda T, state: state.pop("step"), KeyError, "step"),
    (lambda T, state: state.update(exp_avg=T.ones(1)), RuntimeError, r"(?i)shape \[[12]\]"),
    (lambda T, state: state.update(exp_avg_sq=T.ones(3)), RuntimeError, r"The size of .*3"),
])  # fmt: skip
def test_state_that_does_not_fit(T, change, error, message, differentiable):
    """Not even where it would broadcast."""
    p = T.ones(2, requires_grad=True)
    p = p.clone() if differentiable else p
    optimizer = T.optim.Adam([p], differentiable=differentiable)
    for k in range(2):
        p.grad = T.ones(2)
        if k:
            change(T, optimizer.state[p])
            with pytest.raises(error, match=message):
                optimizer.step()
        else:
            optimizer.step()
            before = p.tolist()
    if T is gw:
        assert p.tolist() == before


def test_a_number_of_one_element_will_do(torch):
    """So old programs saved it."""
    found = []
    for lib in gw, torch:
        p = lib.ones(2, requires_grad=True)
        optimizer = lib.optim.Adam([p], lr=0.5)
        for slope in 1.0, 3.0:
            p.grad = lib.full((2,), slope)
            optimizer.step()
            optimizer.state[p]["step"] = lib.tensor([2.0])
        found.append(p.tolist())
    assert found[0] == pytest.approx(found[1])


def test_what_must_not_be_written():
    p = gw.ones(1).expand(3).detach().requires_grad_()
    p.grad = gw.ones(3)
    with pytest.raises(RuntimeError, match=r"^unsupported operation: more than one element of the written-to tensor"):
        gw.optim.SGD([p]).step()


def test_who_watches_writes_is_told():
    p = gw.ones(2, requires_grad=True)
    optimizer = gw.optim.SGD([p], lr=0.0)
    p.grad = gw.zeros(2)
    optimizer.step()  # what follows is not new to it
    optimizer.param_groups[0]["lr"] = 1.0
    with gw.autograd.graph.allow_mutation_on_saved_tensors():
        y = (p * p).sum()
        p.grad = gw.ones(2)
        optimizer.step()
        p.grad = None
        y.backward()
    assert p.grad.tolist() == [2, 2]


@pytest.mark.parametrize("kind", [gw.optim.Adam, gw.optim.NAdam, gw.optim.RMSprop, gw.optim.Adamax, gw.optim.Muon])
def test_numbers_of_compiled_steps_stay_double_until_they_meet_an_array(kind):
    seen = []
    for compiles in (False, True):
        p = gw.tensor([[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]], requires_grad=True)
        optimizer = kind([p])

        def step(p=p, optimizer=optimizer):
            optimizer.zero_grad()
            (p.sin() * p).sum().backward()
            optimizer.step()

        run = gw.compile(step, backend="plan", exact=True) if compiles else step
        for _ in range(5):
            run()
        seen.append(p.detach())
    assert run.programs.reason == ""
    assert (seen[0] == seen[1]).all()


FUSED = ["SGD", "ASGD", "Adam", "AdamW", "NAdam", "RAdam", "Adamax", "Adagrad", "Adadelta", "RMSprop", "Rprop"]


def options_of(torch, name):
    """The options that PyTorch's own database tries; none beyond the CPU's."""
    from torch.testing._internal.common_optimizers import optim_db

    (info,) = [info for info in optim_db if info.optim_cls.__name__ == name]
    return [case.kwargs for case in info.optim_inputs_func("cpu")]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", FUSED)
def test_ten_steps(torch, twins, name, dtype):
    for options in options_of(torch, name):
        both = twins(name, options, dtype)
        for k in range(10):
            both.step(skipped=((), (1, 3), (5,), (), (0, 1, 2, 3, 4, 5, 6))[k % 5] if k else (3,))
        both.check()


@pytest.mark.parametrize("name", FUSED)
def test_complex(twins, name):
    both = twins(name, {} if name == "Rprop" else {"weight_decay": 0.1}, "complex64")
    for _ in range(5):
        both.step()
    both.check()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", FUSED)
def test_sixteen_bits(torch, name, dtype):
    start, slope = np.random.default_rng(0).standard_normal((2, 50))
    options = {} if name in ("SGD", "ASGD", "Rprop") else {"eps": 0.1}
    found = []
    for lib in gw, torch:
        p = lib.tensor(start, dtype=getattr(lib, dtype), requires_grad=True)
        optimizer = getattr(lib.optim, name)([p], **options)
        for k in range(5):
            p.grad = lib.tensor(slope * (k + 1), dtype=p.dtype)
            optimizer.step()
        assert all(v.dtype in (p.dtype, lib.float32) for v in optimizer.state[p].values())
        found.append(p.detach().to(lib.float32).numpy())
    np.testing.assert_allclose(*found, rtol=0.02, atol=0.02)


@pytest.mark.parametrize("name", FUSED)
def test_state_travels_to_pytorch_and_back(twins, name):
    """Saved in the middle by one library, loaded by the other."""
    options = {"SGD": {"momentum": 0.9, "dampening": 0.5}, "Adam": {"amsgrad": True},
               "RMSprop": {"momentum": 0.5, "centered": True}}.get(name, {})  # fmt: skip
    both = twins(name, options)
    for _ in range(3):
        both.step()
    mine, other = both.mine.state_dict(), both.other.state_dict()
    both.make(name, {"lr": 99.0})
    both.mine.load_state_dict(other)
    both.other.load_state_dict(
        {**mine, "state": {i: {k: both.torch.tensor(v.numpy()) for k, v in held.items()}
                           for i, held in mine["state"].items()}}
    )  # fmt: skip
    for _ in range(3):
        both.step()
    both.check()


@pytest.mark.parametrize("name", FUSED)
def test_a_copy_goes_on_alike(name):
    p, q = (gw.tensor([1.0, -2.0], requires_grad=True) for _ in range(2))
    optimizer = getattr(gw.optim, name)([p, q])

    def go(optimizer):
        for r in optimizer.param_groups[0]["params"]:
            r.grad = 2 * r.detach()
        optimizer.step()

    go(optimizer)
    twin = copy.deepcopy(optimizer)
    go(optimizer)
    again, _ = twin.param_groups[0]["params"]
    assert again is not p
    assert not gw.equal(again, p)
    go(twin)
    assert gw.equal(again, p)
    assert twin.state_dict()["state"].keys() == optimizer.state_dict()["state"].keys()


def recorded(lib, name, start, slope, steps):
    """The parameter after some recorded steps from ``start``, with gradients that are multiples of ``slope``."""
    p = start.clone()
    optimizer = getattr(lib.optim, name)([p], differentiable=True)
    for k in range(steps):
        p.grad = slope * (k + 1)
        optimizer.step()
    return p


@pytest.mark.parametrize("name", FUSED)
def test_a_recorded_step_is_the_same_and_has_gradients(torch, name):
    found = []
    for lib in gw, torch:
        start = lib.tensor([1.0, -2.0, 3.0], dtype=lib.float64, requires_grad=True)
        slope = lib.tensor([0.5, 0.25, -1.0], dtype=lib.float64, requires_grad=True)
        p = recorded(lib, name, start, slope, 1)
        found.append([p.detach().numpy(), *(g.numpy() for g in lib.autograd.grad(p.sum(), (start, slope)))])
    for mine, other in zip(*found, strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("name", FUSED)
def test_gradients_flow_through_several_recorded_steps(name):
    start, slope = (gw.tensor(v, dtype=gw.float64, requires_grad=True) for v in ([1.0, -2.0, 3.0], [0.5, 0.25, -1.0]))
    assert gw.autograd.gradcheck(lambda *inputs: recorded(gw, name, *inputs, 3), (start, slope))


@pytest.mark.parametrize("name", FUSED)
def test_recorded_and_ordinary_steps_agree(name):
    found = []
    for differentiable in False, True:
        p = gw.tensor([1.0 + 1j, -2.0], requires_grad=True).clone().detach().requires_grad_(not differentiable)
        optimizer = getattr(gw.optim, name)([p], differentiable=differentiable, maximize=True)
        for k in range(3):
            p.grad = gw.tensor([0.5, 0.25j]) * (k + 1)
            optimizer.step()
        found.append([p.detach(), *optimizer.state[p].values()])
    for plain, taped in zip(*found, strict=True):
        np.testing.assert_allclose(plain.numpy(), taped.numpy(), rtol=1e-6, atol=1e-7)


def test_the_learning_rate_has_a_gradient_in_a_recorded_step():
    lr = gw.tensor(0.5, requires_grad=True)
    p = gw.tensor([1.0, 2.0], requires_grad=True).clone()
    optimizer = gw.optim.SGD([p], lr=lr, differentiable=True)
    p.grad = gw.tensor([3.0, 4.0])
    optimizer.step()
    p.sum().backward()
    assert lr.grad.item() == -7


def test_a_tensor_of_one_element_serves_as_learning_rate(torch, twins):
    both = twins("Adam", {"lr": torch.tensor(0.01), "betas": (torch.tensor(0.8), torch.tensor(0.9))})
    both.step()
    both.mine.param_groups[0]["lr"].fill_(0.5)
    both.other.param_groups[0]["lr"].fill_(0.5)
    both.step()
    both.check()


def test_versions_and_aliases():
    p = gw.tensor([1.0, 2.0], requires_grad=True)
    q = gw.ones(100_000, requires_grad=True)
    view, version = p.detach().numpy(), p._version
    y = (p * p).sum()
    optimizer = gw.optim.SGD([p, q], lr=1.0)
    p.grad, q.grad = gw.ones(2), gw.ones(100_000)
    optimizer.step()
    assert (p._version, q._version) == (version + 1, 1)
    assert view.tolist() == [0.0, 1.0]
    with pytest.raises(RuntimeError, match=r"modified by an inplace operation(.|\n)*optimizer\.step\(\)"):
        y.backward()


def test_nothing_is_recorded():
    p = gw.tensor([1.0], requires_grad=True)
    optimizer = gw.optim.Adam([p])
    p.grad = gw.ones(1, requires_grad=True) * 2
    optimizer.step()
    assert p.is_leaf
    assert p.requires_grad
    assert not optimizer.state[p]["exp_avg"].requires_grad


@pytest.mark.parametrize("name", FUSED)
def test_state_that_is_dropped_begins_with_the_options_of_today(torch, name):
    """Rprop's step sizes and ASGD's eta begin at lr, which has changed since the optimiser was made."""
    found = []
    for lib in gw, torch:
        params = [lib.tensor([1.0, -2.0], dtype=lib.float64, requires_grad=True) for _ in range(2)]
        optimizer = getattr(lib.optim, name)(params, lr=0.1)
        for k in range(6):
            if k == 3:
                optimizer.param_groups[0]["lr"] = 0.02
                optimizer.state.pop(params[0], None)
            for p in params:
                p.grad = lib.tensor([0.5, (-1.0) ** k], dtype=lib.float64)
            optimizer.step()
        found.append([p.detach().numpy() for p in params])
    np.testing.assert_allclose(*found, rtol=1e-7)  # PyTorch keeps some numbers in float32
