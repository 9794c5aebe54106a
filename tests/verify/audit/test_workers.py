"""Calls of forked processes."""

import os

import pytest

from gradwright.verify.audit.session import audit
from tests.corpus.wrong import Forgotten
from tests.verify.audit.functions import leaf


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_call_in_a_child_is_looked_at_here():
    with audit(shown=False) as found:
        child = os.fork()
        if child == 0:
            Forgotten.apply(leaf(3), 4.0)
            os._exit(0)
        os.waitpid(child, 0)
    (checked,) = found.report.checked
    assert "worker process" in checked.samples[0]
    assert "0.25 times" in checked.failures[0].sentence
