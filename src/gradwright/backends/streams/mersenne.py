"""PyTorch's random numbers on the CPU: the Mersenne Twister, and PyTorch's ways of making numbers of its words.

They are those of PyTorch 2.13 on a machine whose CPU is not Intel's. (On Intel's, exponential numbers and tries of one
probability, dropout among them, are drawn by its library MKL, which gives others.) Uniform and whole numbers, orders
and tries are the same to the bit; where logarithms, sines and cosines are taken, to some units in the last place.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from functools import partial
from threading import Lock
from typing import Any

import numpy as np

_WIDE = 2**28
"""From this many numbers on, one of them takes two words."""

_STATE = struct.Struct("<Qiiq624Q3di4xf?3x")
"""PyTorch's: the seed, words left, whether it was seeded, the next word, the words, three normal numbers of which the
second is waiting if the flag behind them is set, and the same of float32."""

_TAIL = (0.0810614667953272, 0.0413406959554092, 0.0276779256849983, 0.0207906721037650, 0.0166446911898211,
         0.0138761288230707, 0.0118967099458917, 0.0104112652619720, 0.00925546218271273,
         0.00833056343336287)  # fmt: skip
"""Of Stirling's series for log k!, k = 0 to 9."""


class Mersenne:
    """PyTorch's CPU generator, from ``seed``, by the names of NumPy's methods."""

    size = _STATE.size

    def __init__(self, seed: int) -> None:
        self.seed = seed % 2**64
        self._words: Any = np.random.MT19937()
        self._words._legacy_seeding(self.seed % 2**32)
        self._waiting: float | None = None  # the second of a pair of normal numbers
        self._fresh = True
        self._lock = Lock()

    def _short(self, n: int) -> Any:
        self._fresh = self._fresh and not n
        return self._words.random_raw(n)

    def _long(self, n: int) -> Any:
        words = self._short(2 * n)
        return (words[0::2] << np.uint64(32)) | words[1::2]

    def _fine(self, n: int) -> Any:
        """Uniform numbers of 53 bits."""
        return (self._long(n) & np.uint64(2**53 - 1)) * 2.0**-53

    def _coarse(self, n: int) -> Any:
        """Uniform numbers of 24 bits, float32."""
        return ((self._short(n) & np.uint64(2**24 - 1)) * 2.0**-24).astype(np.float32)

    def random(self, size: Any = (), dtype: Any = np.float64) -> Any:
        """Uniform numbers from [0, 1): float64 of 53 bits for that dtype, else float32 of 24."""
        return (self._fine if dtype == np.float64 else self._coarse)(math.prod(_shape(size))).reshape(_shape(size))

    def bernoulli(self, p: float, size: Any, dtype: Any = np.float64) -> Any:
        """Whether each of so many tries, each with probability ``p``, succeeds."""
        return self.random(size) < p

    def standard_normal(self, size: Any = (), dtype: Any = np.float64) -> Any:
        """Normal numbers by Box and Muller's way: from 16 on in blocks, of ``dtype``, else in pairs, float64."""
        n = math.prod(_shape(size))
        return (self._pairs(n) if n < 16 else self._blocks(n, np.dtype(dtype))).reshape(_shape(size))

    def _pairs(self, n: int) -> Any:
        with self._lock:
            first = [] if self._waiting is None or not n else [self._waiting]
            u = self._fine((n - len(first) + 1) // 2 * 2)
            radius, angle = np.sqrt(-2 * np.log1p(-u[1::2])), 2 * np.pi * u[0::2]
            drawn = np.concatenate([first, np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1).ravel()])
            if n:
                self._waiting = float(drawn[-1]) if len(drawn) > n else None
        return drawn[:n]

    def _blocks(self, n: int, dtype: Any) -> Any:
        draw = self._fine if dtype == np.float64 else self._coarse
        small = dtype.itemsize == 2  # these are drawn block by block, others all at once
        whole = n // 16 * 16
        u = draw(whole if small else n)
        out = np.empty(n, u.dtype)
        out[:whole] = _turned(u[:whole])
        if n > whole:
            out[-16:] = _turned(draw(16))
        return out

    def integers(self, low: int, high: int, size: Any = (), dtype: Any = np.int64) -> Any:
        """Whole numbers from ``low`` to below ``high``: of two words for 2**28 or more, unless ``dtype`` is int32."""
        n, many = math.prod(_shape(size)), high - low
        words = self._long(n) if many >= _WIDE and np.dtype(dtype) == np.int64 else self._short(n)
        drawn = words if many == 2**64 else words % np.uint64(many)
        return (drawn + np.uint64(low % 2**64)).view(np.int64).reshape(_shape(size))

    def permutation(self, n: int) -> Any:
        """The numbers 0 to n - 1 in random order, by exchanges."""
        order = list(range(n))
        steps = self._short(max(n - 1, 0)) % np.arange(n, 1, -1, dtype=np.uint64)
        for i, step in enumerate(steps.tolist()):
            order[i], order[i + step] = order[i + step], order[i]
        return np.array(order, np.int64)

    def exponential(self, scale: float = 1.0, size: Any = ()) -> Any:
        """Exponential numbers of mean ``scale``."""
        return -scale * np.log1p(-self.random(size))

    def geometric(self, p: float, size: Any = ()) -> Any:
        """The numbers of tries up to a first success of probability ``p``."""
        return np.ceil(np.log(self.random(size)) / math.log1p(-p))

    def standard_cauchy(self, size: Any = ()) -> Any:
        """Cauchy numbers of median 0 and scale 1."""
        return np.tan(np.pi * (self.random(size) - 0.5))

    def lognormal(self, mean: float, sigma: float, size: Any = ()) -> Any:
        """Exponentials of normal numbers, drawn in pairs."""
        return np.exp(self._pairs(math.prod(_shape(size))) * sigma + mean).reshape(_shape(size))

    def _each(self, draw: Callable[..., float], *parameters: Any) -> Any:
        parameters = np.broadcast_arrays(*parameters)
        drawn = [draw(*values) for values in zip(*(p.ravel().tolist() for p in parameters), strict=True)]
        return np.array(drawn, np.float64).reshape(parameters[0].shape)

    def _one(self) -> float:
        return float(self._fine(1)[0])

    def poisson(self, rates: Any) -> Any:
        """Poisson numbers: products of uniform numbers below the rate 10, else Hörmann's transformed rejection."""
        return self._each(self._poisson, rates)

    def _poisson(self, rate: float) -> float:
        if rate == 0:
            return 0
        if rate < 10:
            count, product, least = -1, 1.0, math.exp(-rate)
            while product > least or count < 0:
                count, product = count + 1, product * self._one()
            return count
        b = 0.931 + 2.53 * math.sqrt(rate)
        a = -0.059 + 0.02483 * b
        inverse, tight = 1.1239 + 1.1328 / (b - 3.4), 0.9277 - 3.6224 / (b - 2)
        while True:
            u, v = self._one() - 0.5, self._one()
            room = 0.5 - abs(u)
            k = math.floor((2 * a / room + b) * u + rate + 0.43)
            if room >= 0.07 and v <= tight:
                return k
            if k < 0 or (room < 0.013 and v > room):
                continue
            bound = -rate + k * math.log(rate) - math.lgamma(k + 1)
            if math.log(v) + math.log(inverse) - math.log(a / (room * room) + b) <= bound:
                return k

    def binomial(self, counts: Any, chances: Any) -> Any:
        """How many of so many tries succeed: sums of geometric numbers below ten on average, else Hörmann's BTRS."""
        return self._each(self._binomial, counts, chances)

    def _binomial(self, count: int, p: float) -> float:
        if count <= 0 or p <= 0:
            return 0
        if p >= 1:
            return count
        if p > 0.5:
            return count - self._binomial(count, 1 - p)
        if count * p >= 10:
            return self._btrs(count, p)
        tried, found = 0, -1
        while tried <= count:
            tried, found = tried + math.ceil(math.log(self._one()) / math.log1p(-p)), found + 1
        return found

    def _btrs(self, count: int, p: float) -> float:
        spread = math.sqrt(count * p * (1 - p))
        b = 1.15 + 2.53 * spread
        a, c, tight = -0.0873 + 0.0248 * b + 0.01 * p, count * p + 0.5, 0.92 - 4.2 / b
        odds, alpha, m = p / (1 - p), (2.83 + 5.1 / b) * spread, math.floor((count + 1) * p)
        while True:
            u, v = self._one() - 0.5, self._one()
            room = 0.5 - abs(u)
            k = math.floor((2 * a / room + b) * u + c)
            if room >= 0.07 and v <= tight:
                return k
            if k < 0 or k > count:
                continue
            bound = (
                (m + 0.5) * math.log((m + 1) / (odds * (count - m + 1)))
                + (count + 1) * math.log((count - m + 1) / (count - k + 1))
                + (k + 0.5) * math.log(odds * (count - k + 1) / (k + 1))
                + _tail(m) + _tail(count - m) - _tail(k) - _tail(count - k)
            )  # fmt: skip
            if math.log(v * alpha / (a / (room * room) + b)) <= bound:
                return k

    def standard_gamma(self, concentrations: Any) -> Any:
        """Gamma numbers by Marsaglia and Tsang's way."""
        return self._each(self._gamma, concentrations)

    def log_gamma(self, concentrations: Any) -> Any:
        """Logarithms of gamma numbers: the smallest do not underflow."""
        return self._each(partial(self._gamma, log=True), concentrations)

    def _gamma(self, a: float, log: bool = False) -> float:
        if a == 0:
            return -math.inf if log else 0.0
        boost, power = (1 - self._one(), 1 / a) if a < 1 else (1.0, 1.0)
        a += a < 1
        d = a - 1 / 3
        c = 1 / math.sqrt(9 * d)
        while True:
            y = -1.0
            while y <= 0:
                x = float(self._pairs(1)[0])
                y = 1 + c * x
            v, u = y * y * y, 1 - self._one()
            if u < 1 - 0.0331 * x**4 or math.log(u) < 0.5 * x * x + d * (1 - v + math.log(v)):
                return math.log(boost) * power + math.log(d * v) if log else boost**power * d * v

    def vonmises(self, mu: Any, kappa: Any) -> Any:
        """Angles around ``mu`` by Best and Fisher's way, all at once until each is accepted."""
        kappa = np.asarray(kappa, np.float64)
        tau = 1 + np.sqrt(1 + 4 * kappa**2)
        rho = (tau - np.sqrt(2 * tau)) / (2 * kappa)
        ratio = np.where(kappa < 1e-5, 1 / kappa + kappa, (1 + rho**2) / (2 * rho))
        out, done = np.zeros_like(kappa), np.zeros(kappa.shape, bool)
        while not done.all():
            u1, u2, u3 = self.random((3, *kappa.shape))
            z = np.cos(np.pi * u1)
            f = (1 + ratio * z) / (ratio + z)
            c = kappa * (ratio - f)
            good = (c * (2 - c) - u2 > 0) | (np.log(c / u2) + 1 - c >= 0)
            out = np.where(good, np.sign(u3 - 0.5) * np.arccos(f), out)
            done |= good
        return (out + np.pi + mu) % (2 * np.pi) - np.pi

    def get_state(self) -> bytes:
        """PyTorch's bytes for this state."""
        state = self._words.state["state"]
        place = int(state["pos"])
        waiting = 0.0 if self._waiting is None else self._waiting
        return _STATE.pack(self.seed, 625 - place, 1, 0 if self._fresh else place, *state["key"].tolist(),
                           0.0, waiting, 0.0, self._waiting is not None, 0.0, False)  # fmt: skip

    def set_state(self, state: bytes) -> None:
        """Go on from PyTorch's bytes, or those of `get_state`."""
        self.seed, left, _, place, *words, _, waiting, _, has, _, _ = _STATE.unpack(state)
        self._fresh = left == 1 and place == 0
        key = {"key": np.array(words, np.uint64).astype(np.uint32), "pos": 625 - left}
        self._words.state = {"bit_generator": "MT19937", "state": key}
        self._waiting = waiting if has else None


def _shape(size: Any) -> tuple[int, ...]:
    return tuple(size) if isinstance(size, (tuple, list)) else (size,)


def _turned(u: Any) -> Any:
    """Blocks of 16 uniform numbers as normal ones: the first eight give radii, the others angles."""
    u = u.reshape(-1, 2, 8)
    radius, angle = np.sqrt(-2 * np.log(1 - u[:, 0])), u.dtype.type(2 * np.pi) * u[:, 1]
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1).reshape(-1)


def _tail(k: float) -> float:
    if k <= 9:
        return _TAIL[int(k)]
    square = (k + 1) ** 2
    return (1 / 12 - (1 / 360 - 1 / 1260 / square) / square) / (k + 1)
