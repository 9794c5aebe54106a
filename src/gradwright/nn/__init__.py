"""Modules: parameters, layers and their containers, under PyTorch's names."""

from gradwright.base.lazy import lazy as _lazy
from gradwright.face.reading.keywords import told_keywords as _told_keywords
from gradwright.nn import functional as functional
from gradwright.nn import init as init
from gradwright.nn import utils as utils
from gradwright.nn.container import ModuleDict as ModuleDict
from gradwright.nn.container import ModuleList as ModuleList
from gradwright.nn.container import Sequential as Sequential
from gradwright.nn.layer import own_init as _own_init
from gradwright.nn.lazy import LazyModuleMixin as LazyModuleMixin
from gradwright.nn.module import Module as Module
from gradwright.nn.modules.activation import *
from gradwright.nn.modules.adaptive_softmax import *
from gradwright.nn.modules.attention import *
from gradwright.nn.modules.conv import *
from gradwright.nn.modules.distance import *
from gradwright.nn.modules.dropout import *
from gradwright.nn.modules.embedding import *
from gradwright.nn.modules.lazy_layers import *
from gradwright.nn.modules.linear import *
from gradwright.nn.modules.loss import *
from gradwright.nn.modules.norm import *
from gradwright.nn.modules.pad import *
from gradwright.nn.modules.pool import *
from gradwright.nn.modules.rearrange import *
from gradwright.nn.modules.recurrent import *
from gradwright.nn.modules.transformer import *
from gradwright.nn.parallel import DataParallel as DataParallel
from gradwright.nn.parameter import Buffer as Buffer
from gradwright.nn.parameter import Parameter as Parameter
from gradwright.nn.parameter import UninitializedBuffer as UninitializedBuffer
from gradwright.nn.parameter import UninitializedParameter as UninitializedParameter
from gradwright.nn.parameters import ParameterDict as ParameterDict
from gradwright.nn.parameters import ParameterList as ParameterList

__all__ = ["functional", "init", "utils", *(name for name, value in globals().items() if isinstance(value, type))]

_lazy(__name__, {}, "modules", "parameter")

for _name in __all__:
    _own_init(globals()[_name])
_told_keywords(globals(), __all__)
