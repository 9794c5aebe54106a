"""gradwright: write your own derivatives and trust them.

An autograd engine with PyTorch's names and contract on NumPy; ``import gradwright as torch`` is often enough.
"""

from gradwright.backends.memory import keep_large_buffers as _keep_large_buffers
from gradwright.tensor import Tensor  # first: the package's ``tensor`` must end up the function, not this module
from gradwright import autograd, nn, xp
from gradwright.autograd.grad_mode import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)
from gradwright.creation import (
    arange, as_tensor, asarray, empty, empty_like, eye, from_numpy, full, full_like, linspace, manual_seed, ones,
    ones_like, rand, rand_like, randint, randn, randn_like, randperm, tensor, zeros, zeros_like,
)  # fmt: skip
from gradwright.dtypes import Size, complex64, complex128, device, dtype, float16, float32, float64
from gradwright.dtypes import boolean as bool
from gradwright.dtypes import complex64 as cfloat
from gradwright.dtypes import complex128 as cdouble
from gradwright.dtypes import default as get_default_dtype
from gradwright.dtypes import float16 as half
from gradwright.dtypes import float32 as float
from gradwright.dtypes import float64 as double
from gradwright.dtypes import int8, int16, int32, int64, uint8, uint16, uint32, uint64
from gradwright.dtypes import int16 as short
from gradwright.dtypes import int32 as int
from gradwright.dtypes import int64 as long
from gradwright.dtypes import set_default as set_default_dtype
from gradwright.errors import GradcheckError, GradientWarning
from gradwright.face.arguments import promote_types, result_type
from gradwright.face.elementwise import (
    abs, absolute, acos, acosh, add, arccos, arccosh, arcsin, arcsinh, arctan, arctan2, arctanh, asin, asinh, atan,
    atan2, atanh, bitwise_and, bitwise_not, bitwise_or, bitwise_xor, ceil, clamp, clamp_max, clamp_min, clip, cos, cosh,
    div, divide, eq, exp, exp2, expm1, float_power, floor, floor_divide, ge, greater, greater_equal, gt, isfinite, isinf,
    isnan, le, less, less_equal, log, log1p, log2, log10, logical_and, logical_not, logical_or, logical_xor, lt,
    masked_fill, maximum, minimum, mul, multiply, ne, neg, negative, not_equal, pow, reciprocal, relu, remainder, round,
    rsqrt, rsub, sigmoid, sign, sin, sinh, sqrt, square, sub, subtract, tan, tanh, true_divide, trunc, where,
)  # fmt: skip
from gradwright.face.indexing import gather, index_select, nonzero, scatter_add
from gradwright.face.linalg import bmm, dot, einsum, matmul, mm, mv, outer
from gradwright.face.reduce import (
    all, amax, amin, any, argmax, argmin, argsort, cumsum, log_softmax, logsumexp, max, mean, min, norm, prod, softmax,
    sort, std, sum, topk, var,
)  # fmt: skip
from gradwright.face.shape import (
    broadcast_to, cat, chunk, clone, concat, concatenate, diag, diagonal, flatten, flip, movedim, narrow,
    permute, ravel, reshape, roll, select, split, squeeze, stack, swapaxes, t, transpose, tril, triu, unbind, unflatten,
    unsqueeze,
)  # fmt: skip
from gradwright.formatting import set_printoptions
from gradwright.op import Op, op

__version__ = "0.1.0"
__all__ = sorted(n for n in globals() if not n.startswith("_"))

_keep_large_buffers()
