"""Random numbers: PyTorch's functions; the generator behind them is in `backends.generator`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from gradwright import dtypes
from gradwright.backends import is_array, library, namespace, to_host
from gradwright.backends.devices import chosen, device_of, place
from gradwright.backends.generator import Source, initial_seed, manual_seed, seed, shared
from gradwright.creation import finish, like, size_of
from gradwright.engine.base import TensorBase
from gradwright.engine.levels import LevelArray, below, followed
from gradwright.engine.mode import is_grad_enabled
from gradwright.engine.numbers import number
from gradwright.engine.strict import warn
from gradwright.engine.watch import drawing
from gradwright.errors import kind
from gradwright.guards.in_backward import is_guarded, made_of
from gradwright.reading.torch import tensor_arg

if TYPE_CHECKING:
    from gradwright._typing import DeviceLike, DType, Ints, MemoryFormat, RandomLike, Tensor

__all__ = [
    "Generator", "bernoulli", "default_generator", "get_rng_state", "initial_seed", "manual_seed",
    "multinomial", "normal", "poisson", "rand", "rand_like", "randint", "randint_like", "randn", "randn_like",
    "randperm", "seed", "set_rng_state",
]  # fmt: skip


class Generator:
    """Random numbers of their own, drawn by what is given this as ``generator=``.

    ``device`` is the CPU. The stream is NumPy's PCG64; a new generator always starts from the same seed.

        >>> import gradwright
        >>> g = gradwright.Generator().manual_seed(0)
        >>> state = g.get_state()
        >>> first = gradwright.rand(2, generator=g)
        >>> bool((gradwright.rand(2, generator=g.set_state(state)) == first).all())
        True
    """

    __slots__ = ("_source", "device")

    def __init__(self, device: Any = "cpu") -> None:
        self.device = place(device)
        self._source = Source(67280421310721)

    def manual_seed(self, seed: int) -> Generator:
        """Start anew from ``seed``; RuntimeError if that is no whole number of 64 bits."""
        self._source.manual_seed(seed)
        return self

    def seed(self) -> int:
        """Start anew from a seed that nobody chose, and return it."""
        return self._source.seed()

    def initial_seed(self) -> int:
        """The seed that it started from."""
        return self._source.initial_seed()

    def get_state(self) -> Any:
        """Its state, a uint8 tensor for `set_state`. The bytes are not PyTorch's."""
        return finish(np.frombuffer(self._source.get_state(), np.uint8).copy(), None, None, False)

    def set_state(self, new_state: Any) -> Generator:
        """Go on as from where `get_state` returned ``new_state``.

        Raises TypeError if that is no uint8 tensor, RuntimeError if it is of another size.
        """
        if not isinstance(new_state, TensorBase):
            raise TypeError(f"expected a torch.ByteTensor, but got {kind(new_state)}")
        state = to_host(new_state.array)
        if state.dtype != np.uint8:
            raise TypeError(f"RNG state must be a torch.ByteTensor, but it is of {dtypes.of(state.dtype)}")
        self._source.set_state(state.tobytes())
        return self

    def clone_state(self) -> Generator:
        """A generator that will draw the same numbers."""
        return Generator(self.device).set_state(self.get_state())


default_generator = Generator()
"""What is drawn from where no other generator is named."""
default_generator._source = shared


def _source(generator: Any) -> Any:
    """NumPy's generator behind one of ours, or behind None, which is the default one."""
    if generator is None:
        source = shared
    elif isinstance(generator, Generator):
        source = generator._source
    else:
        raise TypeError(f"argument 'generator' must be a torch.Generator or None, not {kind(generator)}")
    return drawing(source)


def get_rng_state() -> Tensor:
    """The state of the random numbers, a uint8 tensor for `set_rng_state`. Its bytes are not PyTorch's."""
    return default_generator.get_state()


def set_rng_state(new_state: Tensor) -> None:
    """Draw on as from where `get_rng_state` returned ``new_state``.

    Raises TypeError if that is no uint8 tensor, RuntimeError if it is of another size.
    """
    default_generator.set_state(new_state)


@contextmanager
def fork_rng(devices: Any = None, enabled: bool = True, device_type: Any = None) -> Iterator[None]:
    """Go back, after a ``with`` block, to the random numbers as they were before it, unless not ``enabled``.

    ``devices`` and ``device_type`` are accepted and do nothing: all numbers are drawn on the CPU.

        >>> import gradwright
        >>> _ = gradwright.manual_seed(0)
        >>> with gradwright.random.fork_rng():
        ...     first = gradwright.rand(2)
        >>> bool((gradwright.rand(2) == first).all())
        True
    """
    before = shared.get_state() if enabled else b""
    try:
        yield
    finally:
        if enabled:
            shared.set_state(before)


def _real(function: str, draw: Any, given: Any, dtype: Any) -> Any:
    d = dtypes.default() if dtype is None else dtypes.of(dtype)
    if d.category < dtypes.FLOAT:
        raise NotImplementedError(f"{function}(): not implemented for {d}; expected a floating-point dtype")
    size = size_of(function, given)
    if d.is_complex:  # parts of half the variance each
        return ((draw(size) + 1j * draw(size)) * (0.5**0.5 if function == "randn" else 1)).astype(d.dtype)
    return _array(draw(size, np.float32 if d is dtypes.float32 else np.float64)).astype(d.dtype, copy=False)


def _array(drawn: Any) -> Any:
    """What was drawn as an array; in a transform or a trace it is one already."""
    return drawn if hasattr(drawn, "_apply") else np.asarray(drawn)


def _host(array: Any) -> Any:
    """The values of an array as NumPy's; in a transform or a trace as they are."""
    if isinstance(array, LevelArray):
        return array.values()
    return array if library(array).outer else to_host(array)


def rand(*size: Ints, generator: Generator | None = None, dtype: DType = None, device: DeviceLike = None,
         requires_grad: bool = False) -> Tensor:  # fmt: skip
    """Uniform random numbers from [0, 1); complex ones have both parts from it."""
    return finish(_real("rand", _source(generator).random, size, dtype), None, chosen(device), requires_grad)


def randn(*size: Ints, generator: Generator | None = None, dtype: DType = None, device: DeviceLike = None,
          requires_grad: bool = False) -> Tensor:  # fmt: skip
    """Normal random numbers of mean 0 and variance 1; for complex ones the variance of both parts together."""
    return finish(_real("randn", _source(generator).standard_normal, size, dtype), None, chosen(device), requires_grad)


@overload
def randint(high: int, size: Sequence[int], /, *, generator: Generator | None = None, dtype: DType = None,
            device: DeviceLike = None, requires_grad: bool = False) -> Tensor: ...  # fmt: skip
@overload
def randint(low: int, high: int, size: Sequence[int], *, generator: Generator | None = None, dtype: DType = None,
            device: DeviceLike = None, requires_grad: bool = False) -> Tensor: ...  # fmt: skip
def randint(low: int, high: Any, size: Any = None, *, generator: Generator | None = None,
            dtype: DType = None, device: DeviceLike = None, requires_grad: bool = False) -> Tensor:  # fmt: skip
    """Whole random numbers from ``low`` (0 if left out) to below ``high``."""
    if size is None:
        low, high, size = 0, low, high
    low, high = number("randint", "low", low), number("randint", "high", high)
    if low >= high:
        raise RuntimeError(f"randint(): expects 'low' to be less than 'high', but got low={low} >= high={high}")
    array = _array(_source(generator).integers(low, high, size_of("randint", (size,))))
    return finish(array, dtypes.int64 if dtype is None else dtype, chosen(device), requires_grad)


def randint_like(input: Tensor, low: int, high: int | None = None, *, generator: Generator | None = None,
                 dtype: DType = None, device: DeviceLike = None, requires_grad: bool = False,
                 memory_format: MemoryFormat | None = None) -> Tensor:  # fmt: skip
    """`randint` of the size and dtype of ``input``, which lies in memory as that."""
    bounds = (0, low) if high is None else (low, high)
    return _integers_like(input, *bounds, dtype=dtype, device=device, requires_grad=requires_grad,
                          memory_format=memory_format, generator=generator)  # fmt: skip


def randperm(n: int, *, generator: Generator | None = None, dtype: DType = None, device: DeviceLike = None) -> Tensor:
    """The numbers 0 to n - 1 in random order."""
    array = _source(generator).permutation(*size_of("randperm", (n,)))
    return finish(array, dtypes.int64 if dtype is None else dtype, chosen(device), False)


_integers_like: Any = like(lambda size, low, high, **options: randint(low, high, size, **options), "randint_like")
rand_like: RandomLike = like(rand, "rand_like")  # type: ignore[assignment]
randn_like: RandomLike = like(randn, "randn_like")  # type: ignore[assignment]


def _chances(function: str, p: Any) -> Any:
    all_of = below(p)
    if p.size and namespace(all_of).any(~((all_of >= 0) & (all_of <= 1))):
        all_of = to_host(all_of)
        raise RuntimeError(f"{function}(): Expected p_in >= 0 && p_in <= 1 to be true, but got {all_of.min()} to "
                           f"{all_of.max()}")  # fmt: skip
    return p


def bernoulli(input: Tensor, p: float | None = None, *, generator: Generator | None = None) -> Tensor:
    """1 with the probabilities in ``input`` (or with probability ``p`` everywhere), else 0, of its size and dtype."""
    x = tensor_arg("bernoulli", input)
    if p is None and not x.is_floating_point():
        raise RuntimeError(f"bernoulli(): argument 'input' must hold probabilities, but its dtype is {x.dtype}")
    given = _host(x.array) if p is None else np.asarray(number("bernoulli", "p", p), np.float64)
    drawn = _beside(x, _source(generator).random(x.array.shape) < _chances("bernoulli", given))
    return _drawn("bernoulli", drawn, *(x,) * (p is None))


def normal(mean: Tensor | float, std: Tensor | float = 1.0, size: Sequence[int] | None = None, *,
           generator: Generator | None = None, dtype: DType = None, device: DeviceLike = None,
           requires_grad: bool = False) -> Tensor:  # fmt: skip
    """Normal random numbers of these means and standard deviations: tensors, or numbers with a ``size``.

    They have no history, and warn of parameters that require grad: in PyTorch the gradient of these is 0, which methods
    that differentiate the probability of a draw (REINFORCE) rely on. ``mean + std * randn_like(mean)`` has one.
    Raises RuntimeError for a negative standard deviation.
    """
    parts = [_host(m.array) if isinstance(m, TensorBase) else m for m in (mean, std)]
    spread = below(parts[1])
    if namespace(spread).any(spread < 0) if is_array(spread) else spread < 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {np.min(spread)}")
    shape = size_of("normal", (size,)) if size is not None else np.broadcast_shapes(*map(np.shape, parts))
    tensors = [m for m in (mean, std) if isinstance(m, TensorBase)]
    d = dtypes.of(dtype) if dtype is not None else dtypes.of(tensors[0].array.dtype) if tensors else dtypes.default()
    array = _array(parts[0] + parts[1] * _source(generator).standard_normal(shape)).astype(d.dtype)
    device = device_of(tensors[0].array) if tensors and device is None else chosen(device)
    out = made_of(tensors, _drawn("normal", finish(array, None, device, False), *tensors), "normal()")
    return out.requires_grad_() if requires_grad else out


def poisson(input: Tensor, generator: Generator | None = None) -> Tensor:
    """Poisson random numbers of the rates in ``input``, of its size and dtype."""
    x = tensor_arg("poisson", input)
    rates = _host(x.array)
    if namespace(below(rates)).any(below(rates) < 0):
        raise RuntimeError("poisson(): invalid Poisson rate, expected rate to be non-negative")
    return _drawn("poisson", _beside(x, _source(generator).poisson(rates)), x)


def drawn_by(method: str, *parameters: Any) -> Any:
    """What NumPy's generator draws by ``method`` with these tensors of one shape, a number for each of their entries.

    It has the dtype and device of the last, and no history.
    """
    values = getattr(_source(None), method)(*[_host(p.array) for p in parameters])
    return _beside(parameters[-1], values)


def multinomial(input: Tensor, num_samples: int, replacement: bool = False, *,
                generator: Generator | None = None) -> Tensor:  # fmt: skip
    """Indices drawn from each row of weights in ``input`` (1 or 2 dims), with or without ``replacement``.

    Raises RuntimeError if weights are negative or not finite, sum to 0, or are too few.
    """
    x = tensor_arg("multinomial", input)
    if not x.is_floating_point():
        raise RuntimeError(f"multinomial only supports floating-point dtypes for input, got: {x.dtype}")
    if x.array.ndim not in (1, 2):
        raise RuntimeError("multinomial(): prob_dist must be 1 or 2 dim")
    rows = np.atleast_2d(to_host(x.array)).astype(np.float64)
    n = rows.shape[1]
    if num_samples <= 0 or (not replacement and num_samples > n):
        raise RuntimeError(f"multinomial(): cannot sample n_sample > prob_dist.size(-1) samples without replacement, "
                           f"or none: got num_samples={num_samples} of {n}")  # fmt: skip
    if not np.isfinite(rows).all() or (rows < 0).any():
        raise RuntimeError("multinomial(): probability tensor contains either `inf`, `nan` or element < 0")
    if (rows.sum(1) <= 0).any() or (not replacement and ((rows > 0).sum(1) < num_samples).any()):
        raise RuntimeError("multinomial(): invalid multinomial distribution (too few nonzero probabilities)")
    if replacement:
        ends = np.cumsum(rows, 1)
        draws = _source(generator).random((len(rows), num_samples)) * ends[:, -1:]
        drawn = (draws[:, :, None] >= ends[:, None, :]).sum(-1)
    else:  # the largest of log w + Gumbel noise come as if drawn one after the other
        keys = np.log(np.where(rows > 0, rows, 1)) + _source(generator).gumbel(0.0, 1.0, rows.shape)
        drawn = np.argsort(np.where(rows > 0, -keys, np.inf), 1)[:, :num_samples]
    return finish(drawn.reshape(*x.array.shape[:-1], num_samples), dtypes.int64, device_of(x.array), False)


def _beside(x: Any, values: Any) -> Any:
    """Values that were drawn on the CPU, as a tensor of the dtype of ``x``, where that lives."""
    return finish(_array(values), x.array.dtype, device_of(x.array), False)


def _drawn(function: str, out: Any, *parameters: Any) -> Any:
    """``out``, drawn with these tensors as parameters: it has no history, which a warning says if they have one."""
    if is_grad_enabled() and not is_guarded() and any(map(followed, parameters)):
        path = " mean + std * randn_like(mean) has one;" if function == "normal" else ""
        warn(f"{function}(): what is drawn has no gradient by the parameters, and they require grad.{path} draw under "
             "no_grad(), or detach() them, if none is wanted.")  # fmt: skip
    return out


def _filled(self: Any, values: Any) -> Any:
    return self.copy_(_beside(self, values))


def uniform_(self: Tensor, a: float = 0.0, b: float = 1.0, *, generator: Generator | None = None) -> Tensor:
    """Fill in place with uniform random numbers from [a, b)."""
    if a > b:
        raise RuntimeError(f"uniform_ expects to return a [from, to) range, but found from={a} > to={b}")
    return self.copy_(a + (b - a) * rand_like(self, generator=generator))


def normal_(self: Tensor, mean: float = 0.0, std: float = 1.0, *, generator: Generator | None = None) -> Tensor:
    """Fill in place with normal random numbers."""
    if std < 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std}")
    return self.copy_(mean + std * randn_like(self, generator=generator))


def bernoulli_(self: Tensor, p: Tensor | float = 0.5, *, generator: Generator | None = None) -> Tensor:
    """Fill in place with 1, with probability ``p`` (a number or a tensor), and 0."""
    chances = _chances("bernoulli_", _host(p.array) if isinstance(p, TensorBase) else np.asarray(p))
    drawn = _beside(self, _source(generator).random(self.array.shape) < chances)
    return self.copy_(_drawn("bernoulli_", drawn, *(p,) * isinstance(p, TensorBase)))


def exponential_(self: Tensor, lambd: float = 1.0, *, generator: Generator | None = None) -> Tensor:
    """Fill in place with exponential random numbers of rate ``lambd``."""
    lambd = number("exponential_", "lambd", lambd)
    if lambd <= 0:
        raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={lambd}")
    return _filled(self, _source(generator).exponential(1 / lambd, self.array.shape))


def geometric_(self: Tensor, p: float, *, generator: Generator | None = None) -> Tensor:
    """Fill in place with the numbers of tries up to a first success of probability ``p``."""
    p = number("geometric_", "p", p)
    if not 0 < p < 1:
        raise RuntimeError(f"geometric_ expects p to be in (0, 1), but got p={p}")
    return _filled(self, _source(generator).geometric(p, self.array.shape))


def cauchy_(self: Tensor, median: float = 0.0, sigma: float = 1.0, *, generator: Generator | None = None) -> Tensor:
    """Fill in place with Cauchy random numbers."""
    median, sigma = number("cauchy_", "median", median), number("cauchy_", "sigma", sigma)
    if sigma <= 0:
        raise RuntimeError(f"cauchy_ expects sigma > 0.0, but found sigma={sigma}")
    return _filled(self, median + sigma * _source(generator).standard_cauchy(self.array.shape))


def log_normal_(self: Tensor, mean: float = 1.0, std: float = 2.0, *, generator: Generator | None = None) -> Tensor:
    """Fill in place with exponentials of normal random numbers."""
    mean, std = number("log_normal_", "mean", mean), number("log_normal_", "std", std)
    if std <= 0:
        raise RuntimeError(f"log_normal_ expects std > 0.0, but found std={std}")
    return _filled(self, _source(generator).lognormal(mean, std, self.array.shape))


def random_(self: Tensor, low: int = 0, high: int | None = None, *, generator: Generator | None = None) -> Tensor:
    """Fill in place with whole random numbers from ``low`` to below ``high`` (what the dtype holds exactly)."""
    low, high = number("random_", "low", low), number("random_", "high", high)
    if high is None:
        bits = {"float16": 11, "bfloat16": 8, "float32": 24, "float64": 53, "bool": 1}
        low, high = 0, low or 2 ** bits.get(self.dtype.name, 8 * self.dtype.itemsize - 1)
    if low >= high:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    return _filled(self, _source(generator).integers(low, high, self.array.shape))
