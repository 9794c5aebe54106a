"""What all distributions have: checks, shapes, expand, and classes of one's own."""

import pickle  # noqa: TID251 - of a distribution of our own
import warnings
from typing import Any

import pytest

import gradwright as gw
from gradwright import distributions as D
from gradwright.distributions import constraints
from tests.distributions.close import close


def test_a_wrong_parameter_is_named_with_its_constraint_and_a_mend() -> None:
    with pytest.raises(ValueError, match=r"(?s)parameter scale \(Tensor of shape \(2,\)\) of distribution Normal.*"
                       r"constraint GreaterThan\(lower_bound=0.0\), but found invalid values:\ntensor\(\[ 1., -2.\]\)\n"
                       r"transform_to\(Normal.arg_constraints\['scale'\]\)\(x\)"):  # fmt: skip
        D.Normal(gw.zeros(2), gw.tensor([1.0, -2.0]))
    with pytest.raises(ValueError, match="parameter rate"):
        D.Exponential(float("nan"))
    with pytest.raises(ValueError, match=r"Input arguments must all be instances of Number"):
        D.Normal([0.0], 1.0)
    assert D.Normal(0.0, -1.0, validate_args=False).stddev.item() == -1


def test_a_wrong_value_is_refused() -> None:
    n = D.Normal(gw.zeros(2), 1.0)
    with pytest.raises(ValueError, match="value argument to log_prob must be a Tensor, but got float"):
        n.log_prob(1.0)
    with pytest.raises(ValueError, match=r"not broadcastable with batch_shape\+event_shape"):
        n.log_prob(gw.zeros(3))
    with pytest.raises(ValueError, match="right-most size of value must match event_shape"):
        D.Dirichlet(gw.ones(3)).log_prob(gw.tensor([0.5, 0.5]))
    with pytest.raises(ValueError, match=r"within the support \(Boolean\(\)\) of the distribution Bernoulli"):
        D.Bernoulli(0.5).log_prob(gw.tensor(0.5))
    with pytest.raises(ValueError, match="within the support"):
        D.Exponential(1.0).cdf(gw.tensor(-1.0))
    assert D.Exponential(1.0, validate_args=False).log_prob(gw.tensor(-1.0)).item() == 1


def test_checks_can_be_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(D.Distribution, "_validate_args", D.Distribution._validate_args)
    D.Distribution.set_default_validate_args(False)
    D.Normal(0.0, -1.0)
    with pytest.raises(ValueError, match="parameter scale"):
        D.Normal(0.0, -1.0, validate_args=True)
    with pytest.raises(ValueError, match="expects True or False, but got 3"):
        D.Distribution.set_default_validate_args(3)  # type: ignore[arg-type]


def test_numbers_have_the_default_dtype_and_tensors_theirs() -> None:
    n = D.Normal(0, 1)
    assert (n.loc.dtype, n.batch_shape, n.sample().shape) == (gw.float32, (), ())
    assert D.Normal(gw.zeros(2, dtype=gw.float64), 1).rsample((3,)).dtype == gw.float64
    assert repr(n) == "Normal(loc: 0.0, scale: 1.0)"
    assert repr(D.Normal(gw.zeros(2), 1)) == "Normal(loc: torch.Size([2]), scale: torch.Size([2]))"
    assert D.Normal(gw.zeros(0), 1.0).rsample((3,)).shape == (3, 0)


def test_what_it_lacks_says_so() -> None:
    with pytest.raises(NotImplementedError, match=r"Poisson has no rsample\(\): use sample\(\)"):
        D.Poisson(1.0).rsample()
    with pytest.raises(NotImplementedError, match=r"Gamma has no icdf\(\)"):
        D.Gamma(1.0, 1.0).icdf(gw.tensor(0.5))
    with pytest.raises(NotImplementedError, match=r"LKJCholesky'> does not implement mean"):
        D.LKJCholesky(2).mean
    with pytest.warns(UserWarning, match="sample_n will be deprecated"):
        assert D.Normal(0.0, 1.0).sample_n(3).shape == (3,)


class Triangle(D.Distribution):
    """2 x / width**2 from 0 to the width."""

    arg_constraints = {"width": constraints.positive}
    has_rsample = True

    def __init__(self, width: Any, validate_args: bool | None = None) -> None:
        self.width = width
        super().__init__(width.shape, validate_args=validate_args)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        return constraints.interval(0, self.width)

    def rsample(self, sample_shape: Any = ()) -> Any:
        return self.width * gw.rand(self._extended_shape(sample_shape)).sqrt()

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        return (2 * value / self.width**2).log()


def test_a_class_of_ones_own() -> None:
    t = Triangle(gw.tensor([1.0, 2.0], requires_grad=True))
    assert t.rsample((3,)).requires_grad
    assert not t.sample().requires_grad
    assert repr(t) == "Triangle(width: torch.Size([2]))"
    with pytest.raises(ValueError, match="within the support"):
        t.log_prob(gw.tensor(1.5))
    with pytest.raises(ValueError, match="parameter width"):
        Triangle(gw.tensor(-1.0))
    with pytest.raises(NotImplementedError, match=r"Triangle has no expand\(\)"):
        t.expand((3, 2))


class Bare(D.Distribution):
    def sample(self, sample_shape: Any = ()) -> Any:
        return gw.zeros(self._extended_shape(sample_shape))

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        return value


def test_a_class_without_constraints_warns() -> None:
    with pytest.warns(UserWarning, match="does not define `arg_constraints`"):
        bare = Bare()
    with pytest.warns(UserWarning, match="does not define `support`"):
        bare.log_prob(gw.zeros(()))


class Renamed(D.Normal):
    def __init__(self, mean: Any) -> None:
        super().__init__(mean, 1.0)


def test_expand() -> None:
    loc = gw.zeros(2, requires_grad=True)
    n = D.Normal(loc, 1.0).expand((3, 2))
    assert (n.batch_shape, n.rsample((4,)).shape, n.mean.shape) == ((3, 2), (4, 3, 2), (3, 2))
    n.log_prob(gw.ones(3, 2)).sum().backward()
    assert loc.grad.tolist() == [3, 3]
    with pytest.raises(RuntimeError):
        D.Normal(gw.zeros(2), 1.0).expand((3,))
    with pytest.raises(NotImplementedError, match="Subclass Renamed of Normal that defines a custom __init__ method"):
        Renamed(gw.zeros(2)).expand((3, 2))
    c = D.Categorical(logits=gw.zeros(3))
    assert c.probs.shape == (3,)
    assert c.expand((4,)).probs.shape == (4, 3)


class Learnt(D.Normal, gw.nn.Module):
    def __init__(self) -> None:
        D.Normal.__init__(self, 0.0, 1.0)
        self.more = gw.nn.Parameter(gw.ones(2))


def test_one_that_is_a_module() -> None:
    assert [p.shape for p in Learnt().parameters()] == [(2,)]


def test_on_another_device() -> None:
    pytest.importorskip("jax", reason="jax is not installed: nothing lies on its devices")
    p = gw.tensor([0.2, 0.3, 0.5], device="jax:0", requires_grad=True)
    eye = gw.eye(3, device=p.device)
    made = [D.Categorical(p), D.Gamma(p, 1.0), D.Dirichlet(p), D.MultivariateNormal(p, precision_matrix=eye),
            D.Wishart(5.0, eye), D.LKJCholesky(3, p), D.Binomial(5, p), D.VonMises(p, 1.0), D.StudentT(p)]  # fmt: skip
    for d in made:
        x = d.sample((2,))
        assert x.device == d.log_prob(x).device == p.device, d
    assert gw.autograd.grad(made[2].rsample()[0].log(), p)[0].device == p.device
    with pytest.raises(ValueError, match="parameter scale"):
        D.Normal(p, -1.0)


def test_pickled_and_copied() -> None:
    n = pickle.loads(pickle.dumps(D.Normal(gw.zeros(2), 1.0)))  # noqa: S301 - ours
    assert n.batch_shape == (2,)


class Count(D.ExponentialFamily):
    """Poisson's distribution, by its natural parameter alone."""

    arg_constraints: dict[str, Any] = {}

    def __init__(self, rate: Any) -> None:
        self.rate = rate
        super().__init__(rate.shape)

    _natural_params = property(lambda self: (self.rate.log(),))
    _mean_carrier_measure = 0.0

    def _log_normalizer(self, *natural_params: Any) -> Any:
        return natural_params[0].exp()


def test_an_exponential_family_by_its_natural_parameters() -> None:
    """The entropy less E[log k!], and the divergence, with derivatives by the rate."""
    rate = gw.tensor([0.5, 3.0], dtype=gw.float64, requires_grad=True)
    entropy = Count(rate).entropy()
    close(entropy, rate - rate * rate.log())
    assert gw.autograd.grad(entropy.sum(), rate)[0].tolist() == pytest.approx((-rate.log()).tolist())
    divergence = D.kl_divergence(Count(rate), Count(rate.detach() + 1))
    close(divergence, D.kl_divergence(D.Poisson(rate), D.Poisson(rate.detach() + 1)))
    assert divergence.requires_grad
    with pytest.raises(NotImplementedError, match=r"Poisson has no entropy\(\)"):
        D.Poisson(1.0).entropy()


@pytest.mark.parametrize("make", [
    lambda s: D.Normal(s, s.exp()), lambda s: D.Beta(s.exp(), 2.0), lambda s: D.Gumbel(s, 1.0),
    lambda s: D.MultivariateNormal(s.expand(2), gw.eye(2)), lambda s: D.Categorical(logits=s * gw.arange(3.0)),
])  # fmt: skip
def test_in_transforms(make: Any) -> None:
    """grad and vmap of log_prob give the loop's numbers; checks see what can be seen."""
    value = make(gw.tensor(0.3)).sample()
    slope = gw.func.grad(lambda s: make(s).log_prob(value))
    places = gw.tensor([0.1, 0.5, 0.9])
    close(gw.func.vmap(slope)(places), gw.stack([slope(s) for s in places]))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "vmap: the random numbers are others than those of a loop")  # of a beta
        drawn = gw.func.vmap(lambda s: make(s).sample(), randomness="different")(places)
    assert len(drawn) == 3
