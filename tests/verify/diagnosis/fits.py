"""What the tests of the hypotheses share: those of one file fit nothing that is not theirs."""

from types import ModuleType

import pytest

from gradwright.verify.diagnosis.case import Case
from gradwright.verify.diagnosis.context import Context
from gradwright.verify.diagnosis.hypotheses import TABLE
from gradwright.verify.diagnosis.measure import measure
from gradwright.verify.diagnosis.probes import experiments, repeat
from tests.corpus.right import RIGHT
from tests.corpus.wrong import function, t


def context(f, inputs):
    case = Case(f, inputs)
    found = repeat(case)
    residuals, _ = measure(case)
    return Context(case, residuals, experiments(case, residuals, found))


class Hypotheses:
    """The hypotheses of `module` fit nothing in a right function, nor in one wrong in another way."""

    module: ModuleType

    @property
    def mine(self):
        return [fit for fit in TABLE if fit.__module__ == self.module.__name__]

    def test_the_table_has_them(self):
        assert self.mine

    @pytest.mark.parametrize(
        "name", ["softmax", "linear", "two outputs", "complex product", "broadcasting", "float32", "0-d"]
    )
    def test_none_fits_what_is_right(self, name):
        c = context(*RIGHT[name])
        assert [fit(r, c) for fit in self.mine for r in c.residuals] == [None] * len(self.mine) * len(c.residuals)

    def test_none_fits_what_is_wrong_in_no_known_way(self):
        odd = function(
            lambda x, w: (x @ w).sin(), lambda g, x, w: (((g + g.roll(1, 0)) * (x @ w)).exp() @ w.mT - w.mT[:1], None)
        )
        c = context(odd, (t(2, 4), t(4, 3).detach()))
        fits = [fit for fit in self.mine if fit.__name__ != "cotangent"]
        assert [fit(c.residuals[0], c) for fit in fits] == [None] * len(fits)
