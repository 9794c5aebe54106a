"""Functions for the tests of audits, right and wrong."""

import gradwright as gw


class Scaled(gw.autograd.Function):
    """Right: x times a number."""

    calls = 0

    @staticmethod
    def forward(ctx, x, factor):
        Scaled.calls += 1
        ctx.factor = factor
        return x * factor

    @staticmethod
    def backward(ctx, g):
        return g * ctx.factor, None


class Forgotten(Scaled):
    """Wrong: without the factor."""

    @staticmethod
    def backward(ctx, g):
        return g * 1, None


def leaf(*shape, dtype=gw.float32):
    """Random numbers that require grad."""
    return gw.randn(*shape, dtype=dtype, requires_grad=True)


class Plain(gw.autograd.Function):
    """Wrong: 3 x, with the gradient of x; it counts nothing, so that it can be compiled."""

    @staticmethod
    def forward(ctx, x):
        return x * 3.0

    @staticmethod
    def backward(ctx, g):
        return g * 1
