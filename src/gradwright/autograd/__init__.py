"""The engine, its extension contract and its checkers, under PyTorch's names. No code lies here."""

from typing import TYPE_CHECKING

from gradwright.autograd import functional, graph
from gradwright.autograd.function import Function, once_differentiable
from gradwright.autograd.grad_mode import enable_grad, inference_mode, no_grad, set_grad_enabled
from gradwright.autograd.gradcheck import GradcheckError
from gradwright.base.errors import AnomalyError
from gradwright.base.lazy import lazy
from gradwright.debug.anomaly import (
    detect_anomaly,
    is_anomaly_check_nan_enabled,
    is_anomaly_enabled,
    set_detect_anomaly,
)
from gradwright.debug.why_none import WhyNone, why_none
from gradwright.engine.calls import backward, grad
from gradwright.engine.node import Node
from gradwright.engine.strict import strict
from gradwright.face.methods.variable import Variable
from gradwright.function.contract.surrogate import surrogate
from gradwright.function.custom_op import custom_op
from gradwright.function.pushforward import pushforward

__all__ = [
    "AnomalyError", "Diagnosis", "Function", "GradcheckError", "Node", "Variable", "WhyNone", "backward", "custom_op",
    "detect_anomaly", "diagnose", "enable_grad", "forward_ad", "functional", "grad", "gradcheck", "gradgradcheck",
    "graph", "inference_mode", "is_anomaly_check_nan_enabled", "is_anomaly_enabled", "no_grad", "once_differentiable",
    "pushforward", "set_detect_anomaly", "set_grad_enabled", "strict", "surrogate", "why_none",
]  # fmt: skip

if TYPE_CHECKING:
    from gradwright.autograd import forward_ad
    from gradwright.autograd import function as function
    from gradwright.autograd.gradcheck import gradcheck, gradgradcheck
    from gradwright.verify.diagnosis import Diagnosis, diagnose

lazy(__name__, {
    "gradwright.autograd.forward_ad": "forward_ad",
    "gradwright.verify.diagnosis": "Diagnosis diagnose",
    "gradwright.verify.gradcheck": "gradcheck gradgradcheck",
})  # fmt: skip
del gradcheck  # the module, which has the name of its function
