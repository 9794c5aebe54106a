"""stop_at_nan: which module it names, where the NaN comes from, and what it leaves behind."""

import math

import pytest

import gradwright as gw
from gradwright import nn
from gradwright.nn.utils import stop_at_nan


class Apply(nn.Module):
    def __init__(self, fn):
        super().__init__()
        self.fn = fn

    def forward(self, *args, **kwargs):
        return self.fn(*args, **kwargs)


class Spoilt(gw.autograd.Function):
    """The identity, whose gradient is NaN."""

    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        return g * math.nan


def stopped(call):
    with pytest.raises(gw.AnomalyError) as error:
        call()
    return error.value


def net(*fns):
    return nn.Sequential(nn.Linear(2, 2), *map(Apply, fns))


def test_the_innermost_module_whose_result_is_bad():
    model = nn.Sequential(net(lambda x: x), net(lambda x: (x - x).log() * 0, lambda x: x))
    with stop_at_nan(model):
        error = stopped(lambda: model(gw.ones(3, 2)))
    assert str(error) == (
        "step 1: the result of Sequential.1.1 has nan in 6 of 6 values, the first at [0, 0]\n"
        "  Sequential.1.1: Apply()\n  what it was given, and its parameters, are finite"
    )
    assert (error.operation, error.what, error.index, error.count) == ("Sequential.1.1", "nan", (0, 0), 6)
    assert (error.backward, error.step) == (False, 1)


def test_where_it_came_from():
    model = net()
    with stop_at_nan(model):
        x = gw.ones(1, 2)
        x[0, 1] = math.nan
        assert str(stopped(lambda: model(x))).endswith("what it was given has it already")
        model[0].weight.data[0, 0] = math.inf
        assert str(stopped(lambda: model(gw.ones(1, 2)))).endswith("its parameter 'weight' has it already")


def test_the_step_counts_the_calls_of_the_model():
    model = net(lambda x: x)
    with stop_at_nan(model) as watch:
        for _ in range(3):
            model(gw.ones(1, 2))
        model[0].bias.data[1] = math.nan
        error = stopped(lambda: model(gw.ones(1, 2)))
    assert watch.step == error.step == 4
    assert error.index == (0, 1)


def test_a_loss_that_makes_it():
    model = net()
    with stop_at_nan(model):
        out = model(gw.ones(1, 2))
        error = stopped(((out - out).sqrt().sum()).backward)
    assert str(error).startswith("step 1: the gradient of the result of Sequential has ")
    assert "what is computed from its result, in the end the loss, made it" in str(error)
    assert error.backward
    assert all(p.grad is None for p in model.parameters())


def test_a_loss_that_is_a_module():
    model, loss = net(), Apply(lambda x: (x - x.detach()).sqrt().sum())
    with stop_at_nan(model, loss):
        error = stopped(loss(model(gw.ones(1, 2))).backward)
    assert "the gradient of the argument of Apply has inf" in str(error)


def test_a_backward_that_makes_it():
    model = net(lambda x: x * 2, Spoilt.apply, lambda x: x * 3)
    with stop_at_nan(model):
        error = stopped(model(gw.ones(1, 2)).sum().backward)
    assert error.operation == "Sequential.2"
    assert "its backward made it: the gradient of its result is finite" in str(error)


def test_modules_that_work_in_place():
    """Which full backward hooks do not allow."""
    model = nn.Sequential(nn.Linear(2, 2), nn.ReLU(inplace=True), nn.Dropout(0.0, inplace=True), Apply(Spoilt.apply))
    with stop_at_nan(model):
        error = stopped(model(gw.ones(1, 2)).sum().backward)
    assert error.operation == "Sequential.3"
    values = []
    for spy in (False, True):
        gw.manual_seed(0)
        model = nn.Sequential(nn.Linear(2, 2), nn.ELU(inplace=True), nn.Hardtanh(inplace=True))
        watch = stop_at_nan(model) if spy else None
        out = model(gw.ones(3, 2))
        out.sum().backward()
        values.append([out.tolist(), *(p.grad.tolist() for p in model.parameters())])
        if watch:
            watch.remove()
    assert values[0] == values[1]


def test_what_is_handed_on_is_not_blamed_on_who_hands_it_on():
    model = nn.Sequential(nn.Linear(2, 2), nn.Identity(), nn.Sequential(nn.Identity()))
    with stop_at_nan(model):
        error = stopped((model(gw.ones(1, 2)) * 0).sqrt().sum().backward)
    assert str(error).startswith("step 1: the gradient of the result of Sequential has ")


def test_a_gradient_of_several_users():
    """Of an argument that others use as well, only what comes through the module counts."""
    model = nn.Sequential(nn.Linear(2, 2), Apply(lambda x: x + side(x)))
    side = Apply(Spoilt.apply)
    model[1].side = side
    with stop_at_nan(model):
        error = stopped(model(gw.ones(1, 2)).sum().backward)
    assert error.operation == "Sequential.1.side"


def test_lazy_modules_come_later():
    model = nn.Sequential(nn.Linear(1, 1), nn.LazyLinear(1))
    with pytest.raises(RuntimeError, match=r"^stop_at_nan: Sequential.1 has no shape yet: call the model once before"):
        stop_at_nan(model)
    model(gw.ones(1, 1))
    with stop_at_nan(model):
        assert stopped(lambda: model(gw.tensor([[math.nan]]))).operation == "Sequential.0"


def test_backward_after_the_end():
    model = net(Spoilt.apply)
    with stop_at_nan(model):
        out = model(gw.ones(1, 2))
    out.sum().backward()
    assert model[0].weight.grad.isnan().all()


def test_a_parameter_alone():
    class Scale(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nn.Parameter(gw.ones(1))

        def forward(self, x):
            return x * Spoilt.apply(self.w)

    model = nn.Sequential(Scale())
    with stop_at_nan(model):
        error = stopped(model(gw.ones(1)).sum().backward)
    assert "the gradient of the parameter 'w' of Sequential.0 has nan in 1 of 1 values" in str(error)


def test_results_in_containers():
    model = Apply(lambda x: {"a": [x, (None, x.log())]})
    with stop_at_nan(model):
        assert stopped(lambda: model(gw.zeros(2))).what == "inf"


def test_infinities_may_be_let_be():
    model = Apply(lambda x, y=0: x.log() + y)
    with stop_at_nan(model, check_inf=False):
        assert model(gw.zeros(1)).item() == -math.inf
        assert stopped(lambda: model(gw.zeros(1), y=math.inf)).what == "nan"


def test_it_leaves_nothing_behind():
    model = net()
    with stop_at_nan(model):
        model(gw.ones(1, 2)).sum().backward()
    watch = stop_at_nan(model)
    watch.remove()
    watch.remove()
    model[0].bias.data[0] = math.nan
    assert model(gw.ones(1, 2)).isnan().any()


def test_training_is_the_same():
    both = []
    for watch in (False, True):
        gw.manual_seed(0)
        model = net(gw.relu, lambda x: x.sum())
        handle = stop_at_nan(model) if watch else None
        model(gw.ones(3, 2)).backward()
        both.append([p.grad.tolist() for p in model.parameters()])
        if handle:
            handle.remove()
    assert both[0] == both[1]


def test_whole_numbers_pass():
    with stop_at_nan(model := Apply(lambda x: (x, x.argmax()))):
        model(gw.ones(2))
