"""gradcheck of the Functions that diagnose explains: it finds what is wrong, and passes what is right."""

import pytest

from examples.wrong_functions import FirstCall
from gradwright.autograd import gradcheck, gradgradcheck
from tests.corpus.right import RIGHT
from tests.corpus.wrong import WRONG

pytestmark = pytest.mark.filterwarnings("ignore:.*double precision")  # some are float32

WITHIN = {"factor: unnamed", "factor: hardly any", "elsewhere"}
"""Errors smaller than the tolerances, and one that is not to be seen at these inputs."""


@pytest.fixture(autouse=True)
def _no_call_yet(monkeypatch):
    """Whatever ran before."""
    monkeypatch.setattr(FirstCall, "slope", None)


def called(f):
    return f.apply if isinstance(f, type) else f


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_found(name):
    case = WRONG[name]
    if case.order == 2:
        assert gradcheck(called(case.f), case.inputs)
        assert not gradgradcheck(called(case.f), case.inputs, raise_exception=False)
    else:
        assert gradcheck(called(case.f), case.inputs, raise_exception=False) is (name in WITHIN)


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_passes(name):
    f, inputs = RIGHT[name]
    assert gradcheck(called(f), inputs)
