"""All of `torch.distributions` against PyTorch: value, gradient and moments of draws; the table of the documents."""

from types import ModuleType

import pytest

from gradwright import distributions as D

pytest.importorskip("torch", reason="compared with PyTorch, which is not installed")

from oracle.distribution_cases import CASES
from oracle.distributions import DOCS, KNOWN, disagreements, table, written


@pytest.mark.parametrize("name", CASES)
def test_a_distribution_agrees_with_pytorch(name: str) -> None:
    found = disagreements(name)
    assert [what for what, why in found.items() if why is None] == []
    assert {k[1:] for k in KNOWN if k[0] == name} == set(found), "what is known to differ agrees"


def test_all_names_are_there_and_all_distributions_compared(torch: ModuleType) -> None:
    assert set(D.__all__) == set(torch.distributions.__all__)
    classes = {name for name in D.__all__ if isinstance(getattr(D, name), type)
               and issubclass(getattr(D, name), D.Distribution)}  # fmt: skip
    assert classes - {"Distribution", "ExponentialFamily"} == {name.partition(",")[0] for name in CASES}


def test_the_table_of_the_documents() -> None:
    rows = table()
    for path in DOCS:
        page = path.read_text(encoding="utf-8")
        assert page == written(page, rows), "run: python -m oracle.distributions"
