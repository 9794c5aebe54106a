"""Functions for the tests of the checks, and a trial to put them in."""

from __future__ import annotations

from typing import Any

import numpy as np

import gradwright as gw
from gradwright.verify.check.calls import Arg, Call
from gradwright.verify.check.discover import subject_of
from gradwright.verify.check.trial import Trial

x = np.array([0.3, -1.2, 0.7])


def trial(function: Any, *arguments: Any) -> Trial:
    """A trial of a subject; arrays among the arguments are tensors, those of floating point looked at."""
    subject = subject_of(function)
    args = tuple(Arg(a, a.dtype.kind in "fc") if isinstance(a, np.ndarray) else a for a in arguments)
    return Trial(subject, Call(args, tuple(subject.names(len(args)))))


class Double(gw.autograd.Function):
    """Right."""

    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 2


class Halved(gw.autograd.Function):
    """Wrong: a factor of one half."""

    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        grad = g * 1
        return grad


class Product(gw.autograd.Function):
    """Right, and asks what is needed."""

    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a * b

    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        return g * b if ctx.needs_input_grad[0] else None, g * a if ctx.needs_input_grad[1] else None
