"""Optimisers: they change parameters by their gradients, and schedulers change their learning rates."""

from typing import TYPE_CHECKING

from gradwright.base.lazy import lazy
from gradwright.face.reading.keywords import told_keywords
from gradwright.optim import lr_scheduler
from gradwright.optim.adagrad import Adadelta, Adafactor, Adagrad, RMSprop, Rprop
from gradwright.optim.adam import Adam, Adamax, AdamW, NAdam, RAdam, SparseAdam
from gradwright.optim.lbfgs import LBFGS
from gradwright.optim.optimizer import Optimizer
from gradwright.optim.sgd import ASGD, SGD, Muon

__all__ = [
    "ASGD", "Adadelta", "Adafactor", "Adagrad", "Adam", "AdamW", "Adamax", "LBFGS", "Muon", "NAdam", "Optimizer",
    "RAdam", "RMSprop", "Rprop", "SGD", "SparseAdam", "lr_scheduler",
]  # fmt: skip

told_keywords(globals(), __all__)

if TYPE_CHECKING:
    from gradwright.optim import swa_utils as swa_utils

lazy(__name__, {"gradwright.optim.swa_utils": "swa_utils"})
