"""Inputs for the tests of audits."""

import gradwright as gw


def leaf(*shape, dtype=gw.float32):
    """Random numbers that require grad."""
    return gw.randn(*shape, dtype=dtype, requires_grad=True)
