"""Random numbers: PyTorch's functions; the generator behind them is in `backends.generator`."""

from gradwright.backends.generator import initial_seed, seed
from gradwright.backends.generator import use as use
from gradwright.base.lazy import lazy
from gradwright.face.random.laws import bernoulli, binomial, multinomial, normal, poisson
from gradwright.face.random.laws import bernoulli_ as bernoulli_
from gradwright.face.random.laws import cauchy_ as cauchy_
from gradwright.face.random.laws import drawn_by as drawn_by
from gradwright.face.random.laws import exponential_ as exponential_
from gradwright.face.random.laws import geometric_ as geometric_
from gradwright.face.random.laws import log_normal_ as log_normal_
from gradwright.face.random.laws import normal_ as normal_
from gradwright.face.random.laws import random_ as random_
from gradwright.face.random.laws import uniform_ as uniform_
from gradwright.face.random.plain import rand, rand_like, randint, randint_like, randn, randn_like, randperm
from gradwright.face.random.streams import Generator, default_generator, get_rng_state, manual_seed, set_rng_state
from gradwright.face.random.streams import fork_rng as fork_rng

__all__ = [
    "Generator", "bernoulli", "binomial", "default_generator", "get_rng_state", "initial_seed", "manual_seed",
    "multinomial", "normal", "poisson", "rand", "rand_like", "randint", "randint_like", "randn", "randn_like",
    "randperm", "seed", "set_rng_state",
]  # fmt: skip

lazy(__name__)
