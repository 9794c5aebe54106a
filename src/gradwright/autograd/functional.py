"""Derivatives of plain functions."""

from typing import TYPE_CHECKING

from gradwright.base.lazy import lazy
from gradwright.transform.value_and_grad import value_and_grad

if TYPE_CHECKING:
    from gradwright.transform.functional import hessian, hvp, jacobian, jvp, vhp, vjp

__all__ = ["hessian", "hvp", "jacobian", "jvp", "value_and_grad", "vhp", "vjp"]

lazy(__name__, {"gradwright.transform.functional": "hessian hvp jacobian jvp vhp vjp"})
