"""Mixed precision: dtypes stay, and that is said once."""

import warnings

import numpy as np
import pytest

import gradwright as gw
from gradwright.pytorch import amp


@pytest.fixture(autouse=True)
def nothing_said(monkeypatch):
    monkeypatch.setattr(amp, "_said", set())
    monkeypatch.setattr(amp, "_dtypes", dict(amp._dtypes))


def test_autocast_keeps_dtypes_and_says_so_once():
    x = gw.ones(2, 2)
    context = amp.autocast("cpu", dtype=gw.bfloat16)
    with pytest.warns(UserWarning, match=r"autocast\(\) changes nothing here"):
        context.__enter__()
    assert (x @ x).dtype is gw.float32
    assert not gw.is_autocast_enabled()
    context.__exit__(None, None, None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with gw.autocast("cuda"), gw.autocast("cpu", enabled=False):
            pass

        @gw.autocast("cpu")
        def f(x):
            """Doubles."""
            return 2 * x

        assert f(x).dtype is gw.float32
        assert f.__doc__ == "Doubles."
    with pytest.raises(ValueError, match="Expected `device_type` of type `str`"):
        gw.autocast(1)


def test_switched_off_nothing_is_said():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with amp.autocast("cpu", enabled=False):
            pass
        gw.set_autocast_enabled("cpu", False)
        gw.set_autocast_cache_enabled(True)
        gw.clear_autocast_cache()
    with pytest.warns(UserWarning, match="changes nothing"):
        gw.set_autocast_enabled("cpu", True)
    assert gw.autocast_increment_nesting() == 1
    assert gw.autocast_decrement_nesting() == 0


def test_the_dtype_that_would_be_used(torch):
    for device in ("cpu", "cuda"):
        assert str(gw.get_autocast_dtype(device)) == str(torch.get_autocast_dtype(device))
    assert gw.get_autocast_cpu_dtype() is gw.bfloat16
    gw.set_autocast_cpu_dtype(gw.float16)
    assert gw.autocast("cpu").fast_dtype is gw.float16


@pytest.mark.parametrize("device", ["cpu", "cuda"])
@pytest.mark.filterwarnings("ignore:GradScaler:UserWarning", "ignore:torch.cuda.amp:UserWarning")
@pytest.mark.filterwarnings("ignore:.*GradScaler is enabled:UserWarning", "ignore:clip_grad_norm_. the norm of")
def test_steps_are_those_of_pytorch(torch, device):
    """With gradients that are clipped after unscaling, one of them not finite."""
    found = []
    for t, scaler in ((gw, amp.GradScaler(device)), (torch, torch.amp.GradScaler(device))):
        w = t.tensor([1.0, 2.0], requires_grad=True)
        optimizer = t.optim.SGD([w], lr=0.1)
        for factor in (1.0, float("inf") if device == "cpu" else 2.0, 3.0):
            optimizer.zero_grad()
            loss = (w * w).sum() * factor
            scaler.scale(loss).backward()
            scaler.unscale_(optimizer)
            t.nn.utils.clip_grad_norm_([w], 1.0)
            scaler.step(optimizer)
            scaler.update()
        found.append(w.detach().numpy())
        assert scaler.is_enabled() is (device == "cpu")
    np.testing.assert_allclose(*found, rtol=1e-6)


@pytest.mark.filterwarnings("ignore:GradScaler:UserWarning")
def test_the_scale_is_one():
    scaler = amp.GradScaler("cpu")
    assert scaler.get_scale() == scaler.get_growth_factor() == scaler.get_backoff_factor() == 1.0
    assert scaler.get_growth_interval() == 0
    scaler.load_state_dict(scaler.state_dict())
    assert amp.GradScaler("cpu", enabled=False).state_dict() == {}


WRONG = {
    "update before scale": lambda s, o, loss: s.update(),
    "step before scale": lambda s, o, loss: s.step(o),
    "unscale_ before scale": lambda s, o, loss: s.unscale_(o),
    "update after nothing": lambda s, o, loss: (s.scale(loss), s.update()),
    "update twice": lambda s, o, loss: (s.scale(loss).backward(), s.step(o), s.update(), s.update()),
    "step twice": lambda s, o, loss: (s.scale(loss).backward(), s.step(o), s.step(o)),
    "unscale_ twice": lambda s, o, loss: (s.scale(loss).backward(), s.unscale_(o), s.unscale_(o)),
    "unscale_ after step": lambda s, o, loss: (s.scale(loss).backward(), s.step(o), s.unscale_(o)),
    "step without gradients": lambda s, o, loss: (s.scale(loss), s.step(o)),
    "step with a closure": lambda s, o, loss: (s.scale(loss).backward(), s.step(o, closure=lambda: loss)),
    "state of none": lambda s, o, loss: s.load_state_dict({}),
    "step after update": lambda s, o, loss: (s.scale(loss).backward(), s.step(o), s.update(), s.step(o), s.update()),
    "a scale of its own": lambda s, o, loss: (s.scale(loss), s.update(2.0)),
}


@pytest.mark.parametrize("enabled", [True, False])
@pytest.mark.parametrize("calls", WRONG.values(), ids=WRONG.keys())
@pytest.mark.filterwarnings("ignore:GradScaler:UserWarning", "ignore:SGD.step.*gradient:UserWarning")
def test_calls_out_of_order_are_refused_as_pytorch_does(torch, calls, enabled):
    said = []
    for t, module in ((gw, amp), (torch, torch.amp)):
        scaler = module.GradScaler("cpu", enabled=enabled)
        w = t.ones(2, requires_grad=True)
        try:
            calls(scaler, t.optim.SGD([w], lr=0.1), w.sum())
            said.append(None)
        except (AssertionError, RuntimeError) as e:
            said.append((type(e), str(e)))
    assert said[0] == said[1]


def test_functions_for_autocast_are_as_they_are(torch):
    @amp.custom_fwd(device_type="cuda", cast_inputs=gw.float16)
    def forward(ctx, x):
        return x

    @amp.custom_bwd
    def backward(ctx, g):
        return g

    x = gw.ones(1)
    assert forward(None, x) is x
    assert backward(None, x) is x
    assert [name for name in amp.__all__ if not hasattr(torch.amp, name)] == []
