"""A step without any gradient: a warning, once, that names the mend; none for what is right."""

import copy

import pytest

import gradwright as gw

WARNS = pytest.warns(gw.errors.GradientWarning, match=r"step\(\): none of the parameters has a gradient")
NAMES = ["SGD", "ASGD", "Adam", "AdamW", "NAdam", "RAdam", "Adamax", "Adagrad", "Adadelta", "RMSprop", "Rprop",
         "Adafactor", "Muon", "LBFGS"]  # fmt: skip


def made(name):
    model = gw.nn.Linear(2, 2, bias=False)
    return model, getattr(gw.optim, name)(model.parameters(), lr=0.1)


def step(optimizer, loss):
    optimizer.step(lambda: loss) if isinstance(optimizer, gw.optim.LBFGS) else optimizer.step()


def wrong_order(model, optimizer):
    loss = model(gw.ones(1, 2)).square().sum()
    loss.backward()
    optimizer.zero_grad()
    return loss


def no_backward(model, optimizer):
    return model(gw.ones(1, 2)).square().sum()


def other_model(model, optimizer):
    loss = copy.deepcopy(model)(gw.ones(1, 2)).square().sum()
    loss.backward()
    return loss


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("how", [wrong_order, no_backward, other_model])
def test_a_step_that_does_nothing(name, how):
    model, optimizer = made(name)
    before = model.weight.tolist()
    with pytest.warns(gw.errors.GradientWarning, match=f"^{name}.*backward.*zero_grad.*why_none"):
        step(optimizer, how(model, optimizer))
    step(optimizer, how(model, optimizer))  # said once
    assert model.weight.tolist() == before


def test_after_steps_that_were_right():
    model, optimizer = made("SGD")
    for _ in range(2):
        optimizer.zero_grad()
        model(gw.ones(1, 2)).sum().backward()
        optimizer.step()
    with WARNS:
        wrong_order(model, optimizer)
        optimizer.step()


def test_a_closure_that_goes_back():
    for name in NAMES:
        model, optimizer = made(name)

        def closure(model=model, optimizer=optimizer):
            optimizer.zero_grad()
            loss = model(gw.ones(1, 2)).square().sum()
            loss.backward()
            return loss

        optimizer.step(closure)


def test_schedules_may_be_looked_at():
    """Their usual demonstration steps without any loss."""
    model, optimizer = made("SGD")
    for one in (optimizer, gw.optim.Adam(model.parameters())):
        schedule = gw.optim.lr_scheduler.StepLR(one, 2)
        for _ in range(3):
            one.step()
            schedule.step()


def test_one_gradient_will_do():
    model = gw.nn.Sequential(gw.nn.Linear(2, 2), gw.nn.Linear(2, 2))
    optimizer = gw.optim.SGD([{"params": model[0].parameters()}, {"params": model[1].parameters()}], lr=0.1)
    model[1](gw.ones(1, 2)).sum().backward()
    optimizer.step()


def test_a_step_may_ask_whether_it_is_captured(T):
    optimizer = T.optim.SGD([T.ones(1, requires_grad=True)], lr=0.1)
    assert optimizer._cuda_graph_capture_health_check() is None
