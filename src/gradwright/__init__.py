"""gradwright: write your own derivatives and trust them.

An autograd engine with PyTorch's names and contract on NumPy. ``gradwright run script.py`` runs a program that imports
torch as it is; one that takes all from that one name may begin with ``import gradwright as torch``.

Examples in docstrings take ``import gradwright as gw`` for granted.
"""

import sys as _sys
import typing as _typing
from math import e as e
from math import inf as inf
from math import nan as nan
from math import pi as pi

from gradwright import autograd as autograd
from gradwright.backends.devices import device as device
from gradwright.backends.devices import get_default_device as get_default_device
from gradwright.backends.devices import set_default_device as set_default_device
from gradwright.backends.kernels import kernels as kernels
from gradwright.backends.memory import keep_large_buffers as _keep_large_buffers
from gradwright.base import dtypes as _dtypes
from gradwright.base.dtypes import *
from gradwright.base.errors import AnomalyError as AnomalyError
from gradwright.base.errors import CapturedTensor as CapturedTensor
from gradwright.base.errors import FileError as FileError
from gradwright.base.errors import GradcheckError as GradcheckError
from gradwright.base.errors import GradientWarning as GradientWarning
from gradwright.base.errors import OutOfMemoryError as OutOfMemoryError
from gradwright.base.formatting import set_printoptions as set_printoptions
from gradwright.base.lazy import findable as _findable
from gradwright.base.lazy import lazy as _lazy
from gradwright.base.lazy_names import LAZY as _LAZY
from gradwright.base.paths import install as _install_paths
from gradwright.debug.anomaly import is_anomaly_check_nan_enabled as is_anomaly_check_nan_enabled
from gradwright.debug.anomaly import is_anomaly_enabled as is_anomaly_enabled
from gradwright.debug.anomaly import set_anomaly_enabled as set_anomaly_enabled
from gradwright.engine.grad_mode import enable_grad as enable_grad
from gradwright.engine.grad_mode import inference_mode as inference_mode
from gradwright.engine.grad_mode import no_grad as no_grad
from gradwright.engine.grad_mode import set_grad_enabled as set_grad_enabled
from gradwright.engine.mode import is_grad_enabled as is_grad_enabled
from gradwright.engine.mode import is_inference_mode_enabled as is_inference_mode_enabled
from gradwright.face import fft as fft
from gradwright.face import linalg as linalg
from gradwright.face import random as random
from gradwright.face import special_names as special
from gradwright.face import xp as xp
from gradwright.face.creation import *
from gradwright.face.creation import tensor as tensor  # by name, since editors would take it for the module
from gradwright.face.functions.activation import *
from gradwright.face.functions.algebra.householder import *
from gradwright.face.functions.algebra.lapack import *
from gradwright.face.functions.algebra.linalg import *
from gradwright.face.functions.algebra.products import *
from gradwright.face.functions.algebra.spectral import *
from gradwright.face.functions.arithmetic import *
from gradwright.face.functions.compare import *
from gradwright.face.functions.complex import *
from gradwright.face.functions.diagonal import *
from gradwright.face.functions.differences import *
from gradwright.face.functions.distance import *
from gradwright.face.functions.elementwise import *
from gradwright.face.functions.histogram import *
from gradwright.face.functions.indexing import *
from gradwright.face.functions.join import *
from gradwright.face.functions.memory_format import *
from gradwright.face.functions.order import *
from gradwright.face.functions.rearrange import *
from gradwright.face.functions.reduce import *
from gradwright.face.functions.scan import *
from gradwright.face.functions.scatter import *
from gradwright.face.functions.sets import *
from gradwright.face.functions.shape import *
from gradwright.face.functions.special import *
from gradwright.face.functions.statistics import *
from gradwright.face.functions.views import *
from gradwright.face.functions.windows import *
from gradwright.face.interop.einops import await_einops as _await_einops
from gradwright.face.random import *
from gradwright.face.reading.torch import result_type as result_type
from gradwright.face.reference import FAMILIES as _FAMILIES
from gradwright.face.reference import attach as _attach
from gradwright.face.reference import methods as _methods
from gradwright.face.tensor import Tensor as Tensor
from gradwright.face.xp.creation import from_dlpack as from_dlpack
from gradwright.function.custom_op import custom_op as custom_op
from gradwright.ops.declare import Op as Op
from gradwright.ops.declare import op as op

__version__ = "0.2.0"

newaxis = None
bool = _dtypes.boolean
half, float, double = float16, float32, float64
short, int, long = int16, int32, int64
cfloat, cdouble = complex64, complex128
get_default_dtype, set_default_dtype = _dtypes.default, _dtypes.set_default

# What is imported when it is first asked for. A name is written here, or in the `__all__` of a module that is here with
# a star; what is read of it when a program runs is `base.lazy_names`, which `python -m docs.generator.stubs` makes.
if _typing.TYPE_CHECKING:
    from gradwright import distributed as distributed
    from gradwright import distributions as distributions
    from gradwright import func as func
    from gradwright import nn as nn
    from gradwright import optim as optim
    from gradwright import profiler as profiler
    from gradwright import serialization as serialization
    from gradwright import testing as testing
    from gradwright import utils as utils
    from gradwright import viz as viz
    from gradwright.compilation.compile import compile as compile
    from gradwright.face import cuda as cuda
    from gradwright.face import masked as masked
    from gradwright.face import signal as signal
    from gradwright.face import sparse as sparse
    from gradwright.face.methods.storage import TypedStorage as TypedStorage
    from gradwright.face.methods.storage import UntypedStorage as UntypedStorage
    from gradwright.face.methods.storage import is_storage as is_storage
    from gradwright.face.methods.subclasses import DisableTorchFunctionSubclass as DisableTorchFunctionSubclass
    from gradwright.face.sparse import sparse_coo_tensor as sparse_coo_tensor
    from gradwright.face.typed import BFloat16Tensor as BFloat16Tensor
    from gradwright.face.typed import BoolTensor as BoolTensor
    from gradwright.face.typed import ByteTensor as ByteTensor
    from gradwright.face.typed import CharTensor as CharTensor
    from gradwright.face.typed import DoubleTensor as DoubleTensor
    from gradwright.face.typed import FloatTensor as FloatTensor
    from gradwright.face.typed import HalfTensor as HalfTensor
    from gradwright.face.typed import IntTensor as IntTensor
    from gradwright.face.typed import LongTensor as LongTensor
    from gradwright.face.typed import ShortTensor as ShortTensor
    from gradwright.face.typing.in_place import *
    from gradwright.nn.functional.aten import *
    from gradwright.nn.functional.top import *
    from gradwright.pytorch.amp import GradScaler as GradScaler
    from gradwright.pytorch.amp import autocast as autocast
    from gradwright.pytorch.amp import autocast_decrement_nesting as autocast_decrement_nesting
    from gradwright.pytorch.amp import autocast_increment_nesting as autocast_increment_nesting
    from gradwright.pytorch.amp import clear_autocast_cache as clear_autocast_cache
    from gradwright.pytorch.amp import get_autocast_cpu_dtype as get_autocast_cpu_dtype
    from gradwright.pytorch.amp import get_autocast_dtype as get_autocast_dtype
    from gradwright.pytorch.amp import get_autocast_gpu_dtype as get_autocast_gpu_dtype
    from gradwright.pytorch.amp import is_autocast_cache_enabled as is_autocast_cache_enabled
    from gradwright.pytorch.amp import is_autocast_cpu_enabled as is_autocast_cpu_enabled
    from gradwright.pytorch.amp import is_autocast_enabled as is_autocast_enabled
    from gradwright.pytorch.amp import set_autocast_cache_enabled as set_autocast_cache_enabled
    from gradwright.pytorch.amp import set_autocast_cpu_dtype as set_autocast_cpu_dtype
    from gradwright.pytorch.amp import set_autocast_cpu_enabled as set_autocast_cpu_enabled
    from gradwright.pytorch.amp import set_autocast_dtype as set_autocast_dtype
    from gradwright.pytorch.amp import set_autocast_enabled as set_autocast_enabled
    from gradwright.pytorch.amp import set_autocast_gpu_dtype as set_autocast_gpu_dtype
    from gradwright.pytorch.asked import *
    from gradwright.pytorch.jit import Future as Future
    from gradwright.pytorch.jit import fork as fork
    from gradwright.pytorch.jit import wait as wait
    from gradwright.pytorch.old import *
    from gradwright.pytorch.settings import *
    from gradwright.pytorch.symbols import *
    from gradwright.serialization import load as load
    from gradwright.serialization import save as save
    from gradwright.transform.value_and_grad import value_and_grad as value_and_grad
    from gradwright.transform.vmap import vmap as vmap
    from gradwright.verify import check as check
    from gradwright.verify.audit import audit as audit
    from gradwright.verify.audit.notebook import load_ipython_extension as load_ipython_extension
    from gradwright.verify.pairs.check import check_pair as check_pair

_install_paths()
_lazy(__name__, _LAZY)

_OFFERED = {"autograd", "fft", "linalg", "random", "special", "xp", *" ".join(_LAZY.values()).split()}
_OFFERED -= {"check", "optim", "testing", "viz"}
__all__ = [
    name for name in sorted({*globals(), *_OFFERED})
    if name[0] != "_" and (name in _OFFERED or type(globals()[name]) is not type(autograd))
]  # fmt: skip

_findable(__name__)
_attach(globals(), *_FAMILIES)
_attach(_methods(Tensor), "methods", "written")
_keep_large_buffers()
_await_einops()
if "IPython" in _sys.modules:
    from gradwright.face.interop.ipython import shorten_errors as _shorten_errors

    _shorten_errors()
