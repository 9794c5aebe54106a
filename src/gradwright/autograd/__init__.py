"""The engine, its extension contract and its checkers, under PyTorch's names. No code lies here."""

from typing import TYPE_CHECKING

from gradwright.autograd import functional, graph
from gradwright.autograd.anomaly import (
    AnomalyError,
    detect_anomaly,
    is_anomaly_check_nan_enabled,
    is_anomaly_enabled,
    set_detect_anomaly,
)
from gradwright.autograd.custom import custom_op
from gradwright.autograd.function import Function, once_differentiable
from gradwright.autograd.grad_mode import enable_grad, inference_mode, no_grad, set_grad_enabled
from gradwright.autograd.gradcheck import GradcheckError
from gradwright.autograd.node import Node
from gradwright.autograd.public import Variable, backward, grad
from gradwright.autograd.pushforward import pushforward
from gradwright.autograd.strict import strict
from gradwright.autograd.surrogate import surrogate
from gradwright.autograd.why import WhyNone, why_none
from gradwright.base.later import later

__all__ = [
    "AnomalyError", "Diagnosis", "Function", "GradcheckError", "Node", "Variable", "WhyNone", "backward", "custom_op",
    "detect_anomaly", "diagnose", "enable_grad", "forward_ad", "functional", "grad", "gradcheck", "gradgradcheck",
    "graph", "inference_mode", "is_anomaly_check_nan_enabled", "is_anomaly_enabled", "no_grad", "once_differentiable",
    "pushforward", "set_detect_anomaly", "set_grad_enabled", "strict", "surrogate", "why_none",
]  # fmt: skip

if TYPE_CHECKING:
    from gradwright.autograd import forward_ad
    from gradwright.autograd import function as function
    from gradwright.autograd.diagnosis import Diagnosis, diagnose
    from gradwright.autograd.gradcheck import gradcheck, gradgradcheck

if not TYPE_CHECKING:
    __getattr__, __dir__ = later(__name__, {
        **dict.fromkeys(("gradcheck", "gradgradcheck"), "gradwright.verify.gradcheck"),
        **dict.fromkeys(("Diagnosis", "diagnose"), "gradwright.verify.diagnosis"),
        "forward_ad": "gradwright.autograd.forward_ad",
    })  # fmt: skip
    del gradcheck  # the module, which has the name of its function
