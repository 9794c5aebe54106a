"""Derivatives of plain functions."""

from gradwright.transform.value_and_grad import value_and_grad

__all__ = ["value_and_grad"]
