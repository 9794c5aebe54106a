"""Checks of what a Function holds on to, and of what it takes from outside."""

from __future__ import annotations

import gc
import warnings
import weakref
from typing import Any

from gradwright.base.errors import CapturedTensor
from gradwright.function.contract.reached import named
from gradwright.verify.check.attempt import Attempt
from gradwright.verify.check.battery.findings import failed, passed
from gradwright.verify.check.records import Finding
from gradwright.verify.check.trial import Trial


def no_leak(trial: Trial) -> Finding:
    """When a call's results are dropped, all it used is freed, by reference counting alone."""
    trial.told.clear()
    gc.disable()
    try:
        held = _once(trial)
        trial.told.clear()
        kept = sorted({name for name, ref in held if ref() is not None})
    finally:
        gc.enable()
    if not kept:
        return passed()
    gc.collect()
    still = sorted({name for name, ref in held if ref() is not None})
    names = " and ".join(kept)
    if still:
        return failed("leak", f"{names} of a call stay in memory after everything from it was dropped: something "
                      "outside holds them", "keep nothing on the class or in a global; what backward needs goes on "
                      "ctx, with save_for_backward", trial.lines("forward", r"append|global|cache|\b[A-Z]\w*\.\w+\s*="))
    return failed("leak", f"{names} of a call stay in memory until the garbage collector comes by: a reference cycle",
                  "save outputs with ctx.save_for_backward, not as attributes of ctx",
                  trial.lines("forward", r"ctx\.\w+\s*=") or trial.lines("setup_context", r"ctx\.\w+\s*="))


def _once(trial: Trial) -> list[tuple[str, Any]]:
    """Run it and forget it; returns weak references to its tensors."""
    run = trial.run()
    if run.outputs:
        trial.backward(run)
    own = {id(a.array) for a in trial.call.args}
    found = []
    for what, tensors in (("inputs", run.leaves), ("outputs", run.outputs)):
        for t in tensors:
            array = getattr(t, "array", t)  # of gradwright's tensors the graph holds only that
            found += [(what, weakref.ref(v)) for v in (t, array) if id(v) not in own]
    return found


def captured_tensors(trial: Trial) -> Finding:
    """Forward uses no tensor that requires grad but those it is given: it would silently get no gradient."""
    function = trial.subject.function
    for part in ("forward", "setup_context") if function is not None else ():
        for spot in named(getattr(function, part)):
            t, name = spot.get(), spot.name
            if isinstance(t, trial.T.Tensor) and t.requires_grad:
                short = name.rpartition(".")[2]
                return failed("captured tensor", f"{part} uses `{name}`, which requires grad but is no argument: it "
                              "never gets a gradient", "pass it to apply as an argument and return its gradient; or "
                              f"use {name}.detach(), if it is a constant", trial.lines(part, rf"\b{short}\b"))
    with warnings.catch_warnings(record=True) as caught, Attempt():
        warnings.simplefilter("always", CapturedTensor)
        trial.run()
    for w in caught:
        if issubclass(w.category, CapturedTensor):  # where forward calls something else that uses it
            return failed("captured tensor", str(w.message), "pass it to apply as an argument and return its "
                          "gradient; or use its detach(), if it is a constant",
                          (w.lineno,) if w.filename == trial.subject.file else ())
    return passed()
