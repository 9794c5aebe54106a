"""The functions behind the modules: the same formulas, with their parameters handed in."""

from gradwright.base.lazy import findable as _findable
from gradwright.base.lazy import lazy as _lazy
from gradwright.nn.functional.activation import *
from gradwright.nn.functional.attention import *
from gradwright.nn.functional.classification import *
from gradwright.nn.functional.conv import *
from gradwright.nn.functional.ctc import *
from gradwright.nn.functional.distance import *
from gradwright.nn.functional.dropout import *
from gradwright.nn.functional.grid import *
from gradwright.nn.functional.loss import *
from gradwright.nn.functional.norm import *
from gradwright.nn.functional.pad import *
from gradwright.nn.functional.pixel import *
from gradwright.nn.functional.pool import *
from gradwright.nn.functional.resize import *
from gradwright.nn.functional.sparse import *

__all__ = [name for name, value in globals().items() if callable(value) and name[0] != "_"]

_lazy(__name__)
_findable(__name__)
