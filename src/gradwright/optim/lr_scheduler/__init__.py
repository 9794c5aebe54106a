"""Schedules: how the learning rate of an optimiser changes from epoch to epoch.

A schedule is made for an optimiser; its ``step()`` is called after the optimiser's, once an epoch (or once a batch).
"""

from gradwright.base.lazy import lazy
from gradwright.face.reading.keywords import told_keywords
from gradwright.optim.lr_scheduler.base import ChainedScheduler, LRScheduler, ReduceLROnPlateau, SequentialLR
from gradwright.optim.lr_scheduler.cyclic import CyclicLR, OneCycleLR
from gradwright.optim.lr_scheduler.factors import (
    ConstantLR,
    CosineAnnealingLR,
    CosineAnnealingWarmRestarts,
    ExponentialLR,
    LambdaLR,
    LinearLR,
    MultiplicativeLR,
    MultiStepLR,
    PolynomialLR,
    StepLR,
)

_LRScheduler = LRScheduler  # its old name, by which older programs derive from it

__all__ = [
    "ChainedScheduler", "ConstantLR", "CosineAnnealingLR", "CosineAnnealingWarmRestarts", "CyclicLR", "ExponentialLR",
    "LRScheduler", "LambdaLR", "LinearLR", "MultiStepLR", "MultiplicativeLR", "OneCycleLR", "PolynomialLR",
    "ReduceLROnPlateau", "SequentialLR", "StepLR",
]  # fmt: skip

told_keywords(globals(), __all__)

lazy(__name__)
