"""What transforms have in common: inverses, caches, compositions."""

import copy
from typing import Any

import pytest

import gradwright as gw
from gradwright import distributions as D
from gradwright.distributions import constraints
from tests.distributions.close import close


def test_an_inverse_has_the_transform_for_its_inverse() -> None:
    t = D.ExpTransform()
    assert t.inv.inv is t
    assert t.inv is t.inv
    assert t.inv == D.ExpTransform().inv
    assert t != t.inv
    assert (t.inv.domain, t.inv.codomain) == (constraints.positive, constraints.real)
    assert t.inv(gw.tensor(1.0)).item() == 0
    assert t.inv.log_abs_det_jacobian(t(gw.tensor(2.0)), gw.tensor(2.0)).item() == -2
    assert repr(t.inv) == "_InverseTransform(ExpTransform())"


def test_a_cache_remembers_the_last_pair() -> None:
    t = D.TanhTransform(cache_size=1)
    x = gw.tensor(9.0)
    y = t(x)
    assert t.inv(y) is x
    assert t(x) is y
    assert t.inv(y.clone()) is not x
    plain = t.with_cache(0)
    assert plain.inv(plain(x)).item() != 9
    assert t.with_cache(1) is t
    assert t.inv.with_cache(0)(y).shape == ()
    assert copy.deepcopy(t).inv(y).shape == ()
    with pytest.raises(ValueError, match="cache_size must be 0 or 1"):
        D.ExpTransform(cache_size=2)


def test_compositions() -> None:
    c = D.ComposeTransform([D.AffineTransform(1.0, -2.0), D.ExpTransform()])
    x = gw.tensor([0.3, -0.5], dtype=gw.float64, requires_grad=True)
    y = c(x)
    close(c.inv(y), x)
    assert c.sign == -1
    assert c.bijective
    (slope,) = gw.autograd.grad(y.sum(), x)
    close(c.log_abs_det_jacobian(x, y), slope.abs().log())
    assert c.inv.inv is c
    assert c == D.ComposeTransform([D.AffineTransform(1.0, -2.0), D.ExpTransform()])
    assert D.identity_transform(x) is x
    assert D.identity_transform.log_abs_det_jacobian(x, x).tolist() == [0, 0]
    cached = c.with_cache()
    assert cached.inv(cached(x)) is x
    assert "AffineTransform" in repr(c)


def test_dims_of_events_are_found() -> None:
    c = D.ComposeTransform([D.ExpTransform(), D.StickBreakingTransform(), D.AffineTransform(0, 2)])
    assert (c.domain.event_dim, c.codomain.event_dim) == (1, 1)
    x = gw.randn(5, 3, dtype=gw.float64)
    assert c.log_abs_det_jacobian(x, c(x)).shape == (5,)
    assert c.forward_shape((5, 3)) == (5, 4)
    assert c.inverse_shape((5, 4)) == (5, 3)
    with pytest.raises(ValueError, match=r"either .domain.event_dim or .codomain.event_dim"):
        D.ReshapeTransform((4,), (2, 2)).event_dim


def test_independent_ones() -> None:
    i = D.IndependentTransform(D.ExpTransform(), 1)
    x = gw.randn(4, 3)
    close(i.log_abs_det_jacobian(x, i(x)), x.sum(-1))
    assert i.domain.event_dim == 1
    close(i.inv(i(x)), x, 1e-4)
    with pytest.raises(ValueError, match="Too few dimensions on input"):
        i(gw.tensor(1.0))
    assert i.with_cache().with_cache(1).reinterpreted_batch_ndims == 1
    assert repr(i) == "IndependentTransform(ExpTransform(), 1)"


class Cube(D.Transform):
    domain = codomain = constraints.real
    bijective = True
    sign = 1

    def _call(self, x: Any) -> Any:
        return x**3

    def _inverse(self, y: Any) -> Any:
        return y.sign() * y.abs() ** (1 / 3)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return (3 * x**2).log()


class Shift(D.Transform, gw.nn.Module):
    """A transform with a parameter."""

    domain = codomain = constraints.real
    bijective = True

    def __init__(self, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.by = gw.nn.Parameter(gw.tensor(2.0))

    def _call(self, x: Any) -> Any:
        return x + self.by

    def _inverse(self, y: Any) -> Any:
        return y - self.by

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return gw.zeros_like(x)


def test_one_that_is_a_module() -> None:
    shift = Shift()
    d = D.TransformedDistribution(D.Normal(0.0, 1.0), shift)
    (slope,) = gw.autograd.grad(d.log_prob(gw.tensor(3.0)), list(shift.parameters()))
    assert slope.item() == 1
    assert len(list(shift.with_cache().parameters())) == 1


def test_one_of_ones_own() -> None:
    d = D.TransformedDistribution(D.Normal(0.0, 1.0), Cube())
    x = gw.tensor(0.5)
    exact = D.Normal(0.0, 1.0).log_prob(x ** (1 / 3)) - (3 * x ** (2 / 3)).log()
    close(d.log_prob(x), exact, 1e-5)
    assert Cube() != Cube()
    with pytest.raises(NotImplementedError, match="AbsTransform has no log_abs_det_jacobian"):
        D.AbsTransform().log_abs_det_jacobian(x, x)


def both(module: Any) -> list[Any]:
    return [module.CatTransform([module.ExpTransform(), module.AffineTransform(1.0, 2.0)], dim=1, lengths=[1, 2]),
            module.StackTransform([module.ExpTransform(), module.TanhTransform(), module.AffineTransform(0, 2)], dim=1)]


@pytest.mark.parametrize("k", [0, 1])
def test_pytorchs_values(k: int, torch: Any) -> None:
    found = []
    for T, module in ((torch, torch.distributions), (gw, D)):
        it, x = both(module)[k], T.arange(6.0).reshape(2, 3) / 4
        y = it(x)
        found.append([y, it.inv(y), it.log_abs_det_jacobian(x, y), it.domain.check(x), it.codomain.check(y)])
        assert it.bijective
    for theirs, mine in zip(*found, strict=True):
        assert mine.flatten().tolist() == pytest.approx(theirs.flatten().tolist(), rel=1e-5)


def test_an_event_of_pieces() -> None:
    """Along a dim of the event their volumes add up."""
    t = D.CatTransform([D.StickBreakingTransform(), D.IndependentTransform(D.ExpTransform(), 1)], -1, [2, 2])
    x = gw.randn(5, 4, dtype=gw.float64)
    pieces = [(D.StickBreakingTransform(), x[:, :2]), (D.IndependentTransform(D.ExpTransform(), 1), x[:, 2:])]
    y = gw.cat([f(p) for f, p in pieces], -1)
    close(t(x), y)
    assert t.event_dim == 1
    assert (t.length, len(t.with_cache().transforms)) == (4, 2)


def test_what_is_refused() -> None:
    with pytest.raises(AssertionError, match="expected Transforms, but got 3"):
        D.StackTransform([3])  # type: ignore[list-item]
    with pytest.raises(AssertionError, match="expected 1 lengths, but got 2"):
        D.CatTransform([D.ExpTransform()], 0, [1, 2])
    cat, stack = both(D)
    for t in (cat, stack):
        with pytest.raises(AssertionError, match="along dim 1, but got 4"):
            t(gw.zeros(2, 4))


CACHED: dict[str, Any] = {
    "affine": lambda a, b, k: D.AffineTransform(a, b, cache_size=k),
    "power": lambda a, b, k: D.ComposeTransform([D.ExpTransform(), D.PowerTransform(a)], cache_size=k),
    "module": lambda a, b, k: Shift(k).to(gw.float64),
    "composed": lambda a, b, k: D.ComposeTransform([D.AffineTransform(a, b), D.TanhTransform()], cache_size=k),
    "inverse": lambda a, b, k: D.AffineTransform(a, b, cache_size=k).inv,
    "of events": lambda a, b, k: D.IndependentTransform(D.AffineTransform(a, b), 1, cache_size=k),
    "catenated": lambda a, b, k: D.CatTransform([D.AffineTransform(a, b), D.ExpTransform()], cache_size=k),
    "stacked": lambda a, b, k: D.StackTransform([D.AffineTransform(a, b), D.ExpTransform()], cache_size=k),
    "by a distribution": lambda a, b, k: D.ComposeTransform(
        [D.SigmoidTransform(), D.CumulativeDistributionTransform(D.Normal(a, b)).inv], cache_size=k
    ),
    "nothing to learn": lambda a, b, k: D.TanhTransform(cache_size=k),
}  # fmt: skip


def _looked_at(name: str, size: int) -> list[Any]:
    """Values and gradients: of a sample, after a step, after a write, by the sample itself, of a draw with its path."""
    a, b = (gw.tensor(v, dtype=gw.float64, requires_grad=True) for v in (1.5, 2.0))
    mean = gw.zeros(2, dtype=gw.float64, requires_grad=True)
    map_ = CACHED[name](a, b, size)
    learned = [a, b, mean, *(map_.parameters() if isinstance(map_, gw.nn.Module) else [])]
    d = D.TransformedDistribution(D.Normal(mean, gw.ones(2, dtype=gw.float64)), [map_], validate_args=False)
    gw.manual_seed(3)
    found: list[Any] = []

    def look(z: Any, *more: Any) -> None:
        loss = d.log_prob(z).sum()
        found.extend([loss, *gw.autograd.grad(loss, [*learned, *more], allow_unused=True)])
        with gw.no_grad():
            found.append(d.log_prob(z))

    z = d.sample()
    look(z)
    look(z)
    with gw.no_grad():
        for p in learned:
            p += 0.25
    look(z)
    z.mul_(0.5)
    look(z)
    look(z.requires_grad_(), z)
    look(d.rsample())
    return found


@pytest.mark.parametrize("name", CACHED)
def test_derivatives_and_values_are_those_without_a_cache(name: str) -> None:
    for plain, cached in zip(_looked_at(name, 0), _looked_at(name, 1), strict=True):
        zero = gw.zeros(())  # for None
        close(zero if cached is None else cached, zero if plain is None else plain)


class Bent(D.Transform):
    """One that has no inverse written down, and needs the cache."""

    domain = codomain = constraints.real
    bijective = True

    def __init__(self, a: Any) -> None:
        super().__init__(cache_size=1)
        self.a = a

    def _call(self, x: Any) -> Any:
        return self.a * x + x**3

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return (self.a + 3 * x * x).log()


def test_without_an_inverse_a_sample_has_no_gradient_by_the_map() -> None:
    mean = gw.tensor(0.5, requires_grad=True)
    d = D.TransformedDistribution(D.Normal(mean, 1.0), Bent(gw.tensor(2.0)))
    z = d.sample()
    x, _ = d.transforms[0]._cached_x_y
    (slope,) = gw.autograd.grad(d.log_prob(z), mean)
    close(slope, x - 0.5)
    learned = D.TransformedDistribution(D.Normal(mean, 1.0), Bent(gw.tensor(2.0, requires_grad=True)))
    with pytest.raises(NotImplementedError, match=r"^Bent has no inverse, .* sample\(\) .*: write rsample\(\)"):
        learned.log_prob(learned.sample())
    learned.log_prob(learned.rsample()).backward()
    assert mean.grad is not None
