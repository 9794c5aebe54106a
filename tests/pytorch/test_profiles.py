"""The older names of the profiler."""

import gradwright as gw
from gradwright.pytorch import profiles


def test_what_ran_is_listed():
    with profiles.profile(use_cpu=True) as found, profiles.record_function("mine"):
        gw.ones(2).exp()
    assert {"mine", "exp"} <= {event.name for event in found.function_events}
    assert "exp" in found.key_averages().table()


def test_without_effect():
    with profiles.profile(enabled=False) as found, profiles.emit_nvtx():
        gw.ones(2).exp()
    assert found.function_events == []
