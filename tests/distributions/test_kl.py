"""The table of divergences: which formula is found, and what is refused."""

from __future__ import annotations

import abc

import pytest

import gradwright as gw
from gradwright import distributions as D
from gradwright.distributions import kl


@pytest.fixture(autouse=True)
def own_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kl, "_KL_REGISTRY", dict(kl._KL_REGISTRY))
    monkeypatch.setattr(kl, "_KL_MEMOIZE", {})


class Mine(D.Normal):
    pass


def test_a_subclass_has_the_formula_of_its_class_until_one_is_registered() -> None:
    p, q = Mine(0.0, 1.0), D.Normal(1.0, 1.0)
    assert D.kl_divergence(p, q).item() == 0.5
    D.register_kl(Mine, D.Normal)(lambda p, q: gw.tensor(7.0))
    assert D.kl_divergence(p, q).item() == 7
    assert D.kl_divergence(q, p).item() == 0.5
    assert D.kl_divergence(p, Mine(1.0, 1.0)).item() == 7
    assert D.kl_divergence(D.Chi2(3.0), D.Chi2(3.0)).item() == pytest.approx(0, abs=1e-6)


def test_two_formulas_that_are_equally_near() -> None:
    D.register_kl(Mine, D.Normal)(lambda p, q: gw.tensor(1.0))
    D.register_kl(D.Normal, Mine)(lambda p, q: gw.tensor(2.0))
    with pytest.warns(RuntimeWarning, match=r"Ambiguous kl_divergence\(Mine, Mine\). Please register_kl\(Mine, Mine\)"):
        assert D.kl_divergence(Mine(0.0, 1.0), Mine(0.0, 1.0)).item() == 1


class Listed(abc.ABC):  # noqa: B024 - belonged to, not derived from
    pass


def test_abstract_classes_are_the_farthest() -> None:
    Listed.register(D.Normal)
    D.register_kl(D.Distribution, Listed)(lambda p, q: gw.tensor(9.0))
    assert D.kl_divergence(D.StudentT(3.0), D.Normal(0.0, 1.0)).item() == 9
    assert D.kl_divergence(D.Normal(0.0, 1.0), D.Normal(0.0, 1.0)).item() == 0


def test_what_is_refused() -> None:
    with pytest.raises(NotImplementedError, match="q type VonMises: register_kl\\(\\) adds one, or average"):
        D.kl_divergence(D.Normal(0.0, 1.0), D.VonMises(0.0, 1.0))
    with pytest.raises(TypeError, match="Expected type_q to be a Distribution subclass but got None"):
        D.register_kl(D.Normal, None)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="Expected type_p to be a Distribution subclass but got 3"):
        D.register_kl(3, D.Normal)  # type: ignore[arg-type]


def test_all_of_pytorchs_pairs(torch) -> None:
    def names(table):
        return {(p.__name__, q.__name__) for p, q in table}

    ours = {pair for pair in kl._KL_REGISTRY if all(hasattr(D, each.__name__) for each in pair)}
    assert names(ours) == names(torch.distributions.kl._KL_REGISTRY)
