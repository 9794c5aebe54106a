"""gradwright: write your own derivatives and trust them.

An autograd engine with PyTorch's names and contract on NumPy; ``import gradwright as torch`` is often enough.
"""

# First, so that the name `tensor` ends up creation's function and not the module.
from gradwright.tensor import Tensor

# isort: split

from importlib import import_module as _import_module
from math import e, inf, nan, pi
from sys import modules as _modules

from gradwright import autograd, fft, linalg, masked, nn, profiler, random, serialization, signal, special, utils, xp
from gradwright.backends.devices import device
from gradwright.backends.memory import keep_large_buffers as _keep_large_buffers
from gradwright.creation import (
    arange,
    as_tensor,
    asarray,
    empty,
    empty_like,
    empty_permuted,
    empty_strided,
    eye,
    from_numpy,
    full,
    full_like,
    linspace,
    logspace,
    ones,
    ones_like,
    scalar_tensor,
    tensor,
    zeros,
    zeros_like,
)
from gradwright.dtypes import (
    Size,
    bfloat16,
    can_cast,
    complex64,
    complex128,
    dtype,
    finfo,
    float16,
    float32,
    float64,
    iinfo,
    int8,
    int16,
    int32,
    int64,
    promote_types,
    uint8,
    uint16,
    uint32,
    uint64,
)
from gradwright.dtypes import boolean as bool
from gradwright.dtypes import complex64 as cfloat
from gradwright.dtypes import complex128 as cdouble
from gradwright.dtypes import default as get_default_dtype
from gradwright.dtypes import float16 as half
from gradwright.dtypes import float32 as float
from gradwright.dtypes import float64 as double
from gradwright.dtypes import int16 as short
from gradwright.dtypes import int32 as int
from gradwright.dtypes import int64 as long
from gradwright.dtypes import set_default as set_default_dtype
from gradwright.engine.grad_mode import enable_grad, inference_mode, no_grad, set_grad_enabled
from gradwright.engine.mode import is_grad_enabled, is_inference_mode_enabled
from gradwright.errors import AnomalyError, CapturedTensor, GradcheckError, GradientWarning
from gradwright.face.activation import *
from gradwright.face.algebra.householder import *
from gradwright.face.algebra.lapack import *
from gradwright.face.algebra.linalg import *
from gradwright.face.algebra.products import *
from gradwright.face.algebra.spectral import *
from gradwright.face.arithmetic import *
from gradwright.face.compare import *
from gradwright.face.complex import *
from gradwright.face.diagonal import *
from gradwright.face.differences import *
from gradwright.face.distance import *
from gradwright.face.elementwise import *
from gradwright.face.histogram import *
from gradwright.face.indexing import *
from gradwright.face.join import *
from gradwright.face.order import *
from gradwright.face.rearrange import *
from gradwright.face.reduce import *
from gradwright.face.scan import *
from gradwright.face.scatter import *
from gradwright.face.sets import *
from gradwright.face.shape import *
from gradwright.face.special import *
from gradwright.face.statistics import *
from gradwright.face.views import *
from gradwright.face.windows import *
from gradwright.formatting import set_printoptions
from gradwright.function.custom_op import custom_op
from gradwright.neighbours.einops import await_einops as _await_einops
from gradwright.nn.functional.aten import *
from gradwright.nn.functional.aten import _upsample_bilinear2d_aa
from gradwright.nn.functional.top import *
from gradwright.nn.functional.top import _batch_norm_with_update, _native_batch_norm_legit, _softmax_backward_data
from gradwright.op import Op, op
from gradwright.random import *
from gradwright.reading.torch import result_type
from gradwright.serialization import FileError, load, save
from gradwright.transform.value_and_grad import value_and_grad
from gradwright.watchers.anomaly import is_anomaly_check_nan_enabled, is_anomaly_enabled, set_anomaly_enabled
from gradwright.xp.creation import from_dlpack

__version__ = "0.1.0"

newaxis = None
_MODULES = ("autograd", "fft", "linalg", "masked", "nn", "profiler", "random", "serialization", "signal", "special",
            "utils", "xp")  # fmt: skip

__all__ = [
    name for name, value in globals().items()
    if name[0] != "_" and (type(value) is not type(nn) or name in _MODULES)
]  # fmt: skip


def __getattr__(name: str) -> object:
    if name in ("check", "optim", "viz"):  # for those who check, train or look, and not loaded with the rest
        return _import_module(f"gradwright.{name}")
    words = f"gradwright has no {name!r}: docs/operators.md lists the operations there are"
    raise AttributeError(words, name=name, obj=_modules[__name__])  # of which Python suggests one


_keep_large_buffers()
_await_einops()
