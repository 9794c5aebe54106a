"""Random numbers with tensors as parameters, and filling tensors in place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwright.backends import is_array, library, namespace, to_host
from gradwright.backends.devices import chosen, device_of
from gradwright.base import dtypes
from gradwright.engine.base import TensorBase, wrap
from gradwright.engine.levels import LevelArray, below, followed
from gradwright.engine.mode import is_grad_enabled
from gradwright.engine.numbers import number
from gradwright.engine.strict import warn
from gradwright.face.creation import finish, size_of
from gradwright.face.functions.memory_options import strided_only
from gradwright.face.random.plain import rand_like, randn_like, real
from gradwright.face.random.streams import Generator, drawn_array, source_of
from gradwright.face.reading.torch import tensor_arg
from gradwright.function.watched.in_backward import is_guarded, made_of

if TYPE_CHECKING:
    from typing import Unpack

    from gradwright.face.typing import DeviceLike, DType, Memory, Tensor


def _host(array: Any) -> Any:
    """The values of an array as NumPy's; in a transform or a trace as they are."""
    if isinstance(array, LevelArray):
        return array.values()
    return array if library(array).outer else to_host(array)


def _chances(function: str, p: Any) -> Any:
    all_of = below(p)
    if p.size and namespace(all_of).any(~((all_of >= 0) & (all_of <= 1))):
        all_of = to_host(all_of)
        raise RuntimeError(f"{function}(): Expected p_in >= 0 && p_in <= 1 to be true, but got {all_of.min()} to "
                           f"{all_of.max()}")  # fmt: skip
    return p


def bernoulli(input: Tensor, p: float | None = None, *, generator: Generator | None = None) -> Tensor:
    """1 with the probabilities in ``input`` (or with probability ``p`` everywhere), else 0, of its size and dtype.

    It has no history, and warns of an ``input`` that requires grad. Raises RuntimeError for probabilities outside [0,
    1], or of no floating-point dtype.

    >>> gw.bernoulli(gw.tensor([0.0, 1.0]))
    tensor([0., 1.])
    """
    x = tensor_arg("bernoulli", input)
    if p is None and not x.is_floating_point():
        raise RuntimeError(f"bernoulli(): argument 'input' must hold probabilities, but its dtype is {x.dtype}")
    given = _host(x.array) if p is None else np.asarray(number("bernoulli", "p", p), np.float64)
    drawn = _beside(x, _tries(generator, x.array.shape, _chances("bernoulli", given)))
    return _drawn("bernoulli", drawn, *(x,) * (p is None))


def normal(mean: Tensor | float, std: Tensor | float = 1.0, size: Sequence[int] | None = None, *,
           generator: Generator | None = None, dtype: DType = None, device: DeviceLike = None,
           requires_grad: bool = False, **memory: Unpack[Memory]) -> Tensor:  # fmt: skip
    """Normal random numbers of these means and standard deviations: tensors, or numbers with a ``size``.

    Shapes: tensors broadcast; numbers give ``size``. They have no
    history, and warn of parameters that require grad: in PyTorch the gradient of these is 0, which methods that
    differentiate the probability of a draw (REINFORCE) rely on. ``mean + std * randn_like(mean)`` has one.

    Raises RuntimeError for a negative standard deviation.

    >>> gw.normal(gw.tensor([1.0, 2.0]), 0.0)
    tensor([1., 2.])
    >>> gw.normal(0.0, 1.0, (2, 3)).shape
    torch.Size([2, 3])
    """
    if memory:
        strided_only(normal, memory)
    parts = [_host(tensor_arg("normal", m).array) if isinstance(m, TensorBase) else m for m in (mean, std)]
    spread = below(parts[1])
    if namespace(spread).any(spread < 0) if is_array(spread) else spread < 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {np.min(spread)}")
    shape = size_of("normal", (size,)) if size is not None else np.broadcast_shapes(*map(np.shape, parts))
    tensors = [m for m in (mean, std) if isinstance(m, TensorBase)]
    d = dtypes.of(dtype) if dtype is not None else dtypes.of(tensors[0].array.dtype) if tensors else dtypes.default()
    drawn = real("randn", source_of(generator).standard_normal, shape, d)
    array = drawn_array(parts[0] + parts[1] * drawn).astype(d.dtype)
    device = device_of(tensors[0].array) if tensors and device is None else chosen(device)
    out = made_of(tensors, _drawn("normal", finish(array, None, device, False), *tensors), "normal()")
    return out.requires_grad_() if requires_grad else out


def poisson(input: Tensor, generator: Generator | None = None) -> Tensor:
    """Poisson random numbers of the rates in ``input``, of its size and dtype.

    k has the probability rate**k e**-rate / k!.
    They have no history, and warn of rates that require grad. Raises RuntimeError for a negative rate.

    >>> gw.poisson(gw.zeros(3))
    tensor([0., 0., 0.])
    """
    x = tensor_arg("poisson", input)
    rates = _host(x.array)
    if namespace(below(rates)).any(below(rates) < 0):
        raise RuntimeError("poisson(): invalid Poisson rate, expected rate to be non-negative")
    return _drawn("poisson", _beside(x, source_of(generator).poisson(rates)), x)


def binomial(count: Tensor, prob: Tensor, generator: Generator | None = None) -> Tensor:
    """How many of ``count`` tries succeed, each with probability ``prob``: draws of the size of both, and their dtype.

    They have no history, and warn of probabilities that require grad. Raises RuntimeError for a number that is not
    whole or not positive, or a probability outside of 0 to 1.

    >>> gw.binomial(gw.full((2,), 5.0), gw.ones(2))
    tensor([5., 5.])
    """
    n, p = tensor_arg("binomial", count, "count"), tensor_arg("binomial", prob, "prob", 2)
    if n.dtype is not p.dtype or not p.dtype.is_floating_point:
        raise RuntimeError(f"binomial(): expected count and prob of one floating-point dtype, but got {n.dtype} and "
                           f"{p.dtype}")  # fmt: skip
    n, p = n.broadcast_to(np.broadcast_shapes(n.shape, p.shape)), p.broadcast_to(np.broadcast_shapes(n.shape, p.shape))
    tries, chance = _host(n.array), _host(p.array)
    counts, chances = below(tries), below(chance)  # in all examples
    if not (((counts >= 0) & (counts % 1 == 0)).all() and ((chances >= 0) & (chances <= 1)).all()):
        raise RuntimeError("binomial(): expected counts that are whole and not negative, and probabilities from 0 to 1")
    return _drawn("binomial", _beside(p, source_of(generator).binomial(tries.astype(np.int64), chance)), p)


def drawn_by(method: str, *parameters: Any) -> Any:
    """What NumPy's generator draws by ``method`` with these tensors of one shape, a number for each of their entries.

    It has the dtype and device of the last, and no history.
    """
    values = getattr(source_of(None), method)(*[_host(tensor_arg(method, p).array) for p in parameters])
    return _beside(parameters[-1], values)


def multinomial(input: Tensor, num_samples: int, replacement: bool = False, *,
                generator: Generator | None = None) -> Tensor:  # fmt: skip
    """Indices drawn from each row of weights in ``input``, with or without ``replacement``.

    Shapes: ``input`` is (n,) or (rows, n), of weights that need not sum to 1; the result is (num_samples,) or (rows,
    num_samples), of int64.

    Raises RuntimeError if weights are negative or not finite, sum to 0, or are too few; for other dims and dtypes.

    >>> gw.multinomial(gw.tensor([0.0, 3.0, 0.0]), 2, replacement=True)
    tensor([1, 1])
    """
    x = tensor_arg("multinomial", input)
    if not x.is_floating_point():
        raise RuntimeError(f"multinomial only supports floating-point dtypes for input, got: {x.dtype}")
    if x.array.ndim not in (1, 2):
        raise RuntimeError("multinomial(): prob_dist must be 1 or 2 dim")
    n = x.array.shape[-1]
    if num_samples <= 0 or (not replacement and num_samples > n):
        raise RuntimeError(f"multinomial(): cannot sample n_sample > prob_dist.size(-1) samples without replacement, "
                           f"or none: got num_samples={num_samples} of {n}")  # fmt: skip
    w: Any = wrap(x.array.values() if isinstance(x.array, LevelArray) else to_host(x.array)).double().reshape(-1, n)
    rows = to_host(below(w.array))
    if not np.isfinite(rows).all() or (rows < 0).any():
        raise RuntimeError("multinomial(): probability tensor contains either `inf`, `nan` or element < 0")
    if (rows.sum(-1) <= 0).any() or (not replacement and ((rows > 0).sum(-1) < num_samples).any()):
        raise RuntimeError("multinomial(): invalid multinomial distribution (too few nonzero probabilities)")
    source, many = source_of(generator), w.array.shape[0]
    if replacement and num_samples > 1:
        ends = w.cumsum(1)
        draws = wrap(drawn_array(source.random((many, num_samples)))) * ends[:, -1:]
        drawn = (draws[:, :, None] >= ends[:, None, :]).sum(-1)
    else:  # the largest of w over exponential numbers come as if drawn one after the other
        keys = w / wrap(drawn_array(source.exponential(1.0, (many, n))))
        drawn = keys.argsort(1, descending=True)[:, :num_samples]
    return finish(drawn.reshape(*x.array.shape[:-1], num_samples).array, dtypes.int64, device_of(x.array), False)


def _beside(x: Any, values: Any) -> Any:
    """Values that were drawn on the CPU, as a tensor of the dtype of ``x``, where that lives."""
    return finish(drawn_array(values), x.array.dtype, device_of(x.array), False)


def _drawn(function: str, out: Any, *parameters: Any) -> Any:
    """``out``, drawn with these tensors as parameters: it has no history, which a warning says if they have one."""
    if is_grad_enabled() and not is_guarded() and any(map(followed, parameters)):
        path = " mean + std * randn_like(mean) has one;" if function == "normal" else ""
        warn(f"{function}(): what is drawn has no gradient by the parameters, and they require grad.{path} draw under "
             "no_grad(), or detach() them, if none is wanted.")  # fmt: skip
    return out


def _tries(generator: Any, shape: Any, chances: Any) -> Any:
    """Whether tries with these probabilities, one or as many as there are tries, succeed."""
    source = source_of(generator)
    if chances.ndim:
        return source.random(shape, chances.dtype) < chances
    return source.bernoulli(float(chances), shape)


def tried(p: float, shape: Any, dtype: Any, device: Any) -> Any:
    """Whether each of so many tries, each with probability ``p``, succeeds; drawn as finely as ``dtype`` is."""
    return finish(drawn_array(source_of(None).bernoulli(p, shape, dtypes.numpy_dtype(dtype))), None, device, False)


def _filled(self: Any, values: Any) -> Any:
    return self.copy_(_beside(self, values))


def uniform_(self: Tensor, a: float = 0.0, to: float = 1.0, *, generator: Generator | None = None) -> Tensor:
    """Fill in place with uniform random numbers from [a, to). Raises RuntimeError if a > to.

    >>> x = gw.empty(100).uniform_(-1, 1)
    >>> bool((x.abs() <= 1).all())
    True
    """
    if a > to:
        raise RuntimeError(f"uniform_ expects to return a [from, to) range, but found from={a} > to={to}")
    if isinstance(a, TensorBase) or isinstance(to, TensorBase):
        return self.copy_(a + (to - a) * rand_like(self, generator=generator))
    low, high = (float(self.dtype.dtype.type(bound)) for bound in (a, to))
    drawn = real("uniform_", source_of(generator).random, self.array.shape, self.dtype)
    return _filled(self, drawn * (high - low) + low)


def normal_(self: Tensor, mean: float = 0.0, std: float = 1.0, *, generator: Generator | None = None) -> Tensor:
    """Fill in place with normal random numbers of this mean and standard deviation; RuntimeError if that is negative.

    >>> gw.empty(2).normal_(3, 0)
    tensor([3., 3.])
    """
    if std < 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std}")
    if isinstance(mean, TensorBase) or isinstance(std, TensorBase):
        return self.copy_(mean + std * randn_like(self, generator=generator))
    drawn = real("randn", source_of(generator).standard_normal, self.array.shape, self.dtype)
    return _filled(self, drawn * std + mean)


def bernoulli_(self: Tensor, p: Tensor | float = 0.5, *, generator: Generator | None = None) -> Tensor:
    """Fill in place with 1, with probability ``p`` (a number or a tensor), and 0; RuntimeError if p is outside [0, 1].

    >>> gw.empty(2).bernoulli_(1.0)
    tensor([1., 1.])
    """
    given = _host(tensor_arg("bernoulli_", p).array) if isinstance(p, TensorBase) else np.asarray(p)
    chances = _chances("bernoulli_", given)
    drawn = _beside(self, _tries(generator, self.array.shape, chances))
    return self.copy_(_drawn("bernoulli_", drawn, *(p,) * isinstance(p, TensorBase)))


def exponential_(self: Tensor, lambd: float = 1.0, *, generator: Generator | None = None) -> Tensor:
    """Fill in place with exponential random numbers of rate ``lambd``: density lambd e**(-lambd x), x > 0.

    Raises RuntimeError unless the rate is positive.

    >>> bool((gw.empty(100).exponential_(2.0) >= 0).all())
    True
    """
    lambd = number("exponential_", "lambd", lambd)
    if lambd <= 0:
        raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={lambd}")
    return _filled(self, source_of(generator).exponential(1 / lambd, self.array.shape))


def geometric_(self: Tensor, p: float, *, generator: Generator | None = None) -> Tensor:
    """Fill in place with the numbers of tries up to a first success of probability ``p``.

    k has the probability p (1 - p)**(k - 1), k >= 1.
    Raises RuntimeError unless 0 < p < 1.

    >>> bool((gw.empty(100).geometric_(0.5) >= 1).all())
    True
    """
    p = number("geometric_", "p", p)
    if not 0 < p < 1:
        raise RuntimeError(f"geometric_ expects p to be in (0, 1), but got p={p}")
    return _filled(self, source_of(generator).geometric(p, self.array.shape))


def cauchy_(self: Tensor, median: float = 0.0, sigma: float = 1.0, *, generator: Generator | None = None) -> Tensor:
    """Fill in place with Cauchy random numbers: density sigma / (pi ((x - median)**2 + sigma**2)).

    Raises RuntimeError unless sigma is positive.

    >>> gw.empty(2).cauchy_().shape
    torch.Size([2])
    """
    median, sigma = number("cauchy_", "median", median), number("cauchy_", "sigma", sigma)
    if sigma <= 0:
        raise RuntimeError(f"cauchy_ expects sigma > 0.0, but found sigma={sigma}")
    return _filled(self, median + sigma * source_of(generator).standard_cauchy(self.array.shape))


def log_normal_(self: Tensor, mean: float = 1.0, std: float = 2.0, *, generator: Generator | None = None) -> Tensor:
    """Fill in place with exponentials of normal random numbers of this mean and standard deviation.

    Raises RuntimeError unless the standard deviation is positive.

    >>> bool((gw.empty(100).log_normal_() > 0).all())
    True
    """
    mean, std = number("log_normal_", "mean", mean), number("log_normal_", "std", std)
    if std <= 0:
        raise RuntimeError(f"log_normal_ expects std > 0.0, but found std={std}")
    return _filled(self, source_of(generator).lognormal(mean, std, self.array.shape))


def random_(self: Tensor, low: int = 0, high: int | None = None, *, generator: Generator | None = None) -> Tensor:
    """Fill in place with whole random numbers from ``low`` to below ``high``.

    One argument is ``high``, from 0; without any, the whole numbers from 0 on that the dtype holds exactly. Raises
    RuntimeError unless low < high.

    >>> bool((gw.empty(100).random_(3) < 3).all())
    True
    """
    low, high, words = number("random_", "low", low), number("random_", "high", high), "int64"
    if high is None:
        whole = {"float16": 2**11 + 1, "bfloat16": 2**8 + 1, "float32": 2**24 + 1, "float64": 2**53 + 1, "bool": 2,
                 "uint8": 2**8}  # fmt: skip
        high = low or whole.get(self.dtype.name, 2 ** (8 * self.dtype.itemsize - 1))
        low, words = 0, "int64" if low or self.dtype.itemsize == 8 else "int32"
    if low >= high:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    return _filled(self, source_of(generator).integers(low, high, self.array.shape, words))
