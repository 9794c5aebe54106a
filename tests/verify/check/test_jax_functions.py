"""JAX's functions with rules of their own, right and wrong: found and checked as PyTorch's Functions are."""

import importlib.util

import pytest

from gradwright.verify.check.battery import examine
from gradwright.verify.check.discover import load, subjects

pytestmark = pytest.mark.skipif(importlib.util.find_spec("jax") is None, reason="jax is not installed")

CODE = """
from functools import partial
import jax
import jax.numpy as jnp
from gradwright.check import samples

@jax.custom_vjp
def swish(x):
    return x * jax.nn.sigmoid(x)
def swish_fwd(x):
    return swish(x), x
def swish_bwd(x, g):
    s = jax.nn.sigmoid(x)
    return (g * s * (1 + x * (1 - s)),)
swish.defvjp(swish_fwd, swish_bwd)

@jax.custom_vjp
def wave(x, y):
    return jnp.sin(x) * y, jnp.arange(3)
def wave_fwd(x, y):
    return wave(x, y), (x, y)
def wave_bwd(res, g):
    x, y = res
    return g[0] * jnp.cos(x) * y, g[0] * 2 * jnp.sin(x)  # twice what it should be
wave.defvjp(wave_fwd, wave_bwd)

@jax.custom_jvp
def softplus(x):
    return jnp.log1p(jnp.exp(x))
@softplus.defjvp
def softplus_jvp(primals, tangents):
    return softplus(*primals), jax.nn.sigmoid(primals[0]) * tangents[0]

@jax.custom_jvp
def cube(x):
    return x**3
cube.defjvps(lambda t, out, x: 2 * x**2 * t)  # not 3 x**2

@samples((3, jnp.array([0.3, -1.2])))
@partial(jax.custom_vjp, nondiff_argnums=(0,))
def power(n, x):
    return {"y": x**n}
def power_fwd(n, x):
    return power(n, x), x
def power_bwd(n, x, g):
    return (g["y"] * n * x ** (n - 1),)
power.defvjp(power_fwd, power_bwd)

@samples((jnp.array([0.3 + 0.4j, -1.2 + 1j]),))
@jax.custom_vjp
def squared(z):
    return z * z
squared.defvjp(lambda z: (z * z, z), lambda z, g: (2 * z * g,))

@jax.custom_vjp
def by_cosine(x):
    return jnp.sin(x)
by_cosine.defvjp(lambda x: (jnp.cos(x), x), lambda x, g: (g * jnp.cos(x),))  # fwd returns another value

@jax.custom_vjp
def rough(x):
    return jnp.sin(x), x * x
rough.defvjp(lambda x: ((jnp.sin(x), 1.001 * x * x), x), lambda x, g: (g[0] * jnp.cos(x) + g[1] * 2 * x,))

@jax.custom_jvp
def approximate(x):
    return jnp.exp(x)
@approximate.defjvp
def approximate_jvp(primals, tangents):
    return 1 + primals[0], jnp.exp(primals[0]) * tangents[0]

def plain(x):
    return x
"""
OTHER_VALUES = ["by_cosine", "rough", "approximate"]


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """What there is to check, in this process: to import JAX in others takes long."""
    file = tmp_path_factory.mktemp("jax") / "rules.py"
    file.write_text(CODE)
    return {s.name: s for s in subjects(*load(str(file)))}


def test_verdicts(found):
    said = {name: examine(subject, fast=True) for name, subject in found.items()
            if name not in OTHER_VALUES}
    assert [n for n, c in said.items() if c.verdict.value == "PASS"] == ["swish", "softplus", "power", "squared"]
    assert [n for n, c in said.items() if c.verdict.value == "FAIL"] == ["wave", "cube"]
    assert "the gradient of wave by `y`" in said["wave"].failures[0].sentence
    assert "0.666667 times what it should be" in said["cube"].failures[0].sentence
    orders = {f.check: f.outcome.value for f in said["swish"].findings}
    assert (orders["first order"], orders["second order"]) == ("PASS", "PASS")
    assert {f.check: f.outcome.value for f in said["squared"].findings}["complex"] == "PASS"


@pytest.mark.parametrize("name", OTHER_VALUES)
def test_a_rule_that_returns_another_value_than_the_function(found, name):
    said = {f.check: f for f in examine(found[name], fast=True).failures}
    assert said["grad modes"].cause == "value of the rule"
    assert "returns another value than the function" in said["grad modes"].sentence


def test_what_is_shown(found):
    wave = found["wave"]
    assert wave.kind == "jax"
    assert wave.source.startswith("@jax.custom_vjp\ndef wave")
    assert "def wave_bwd" in wave.source
    assert [p.name for p in found["power"].parameters] == ["n", "x"]
