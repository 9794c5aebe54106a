"""What was called, as a subject."""

import gradwright as gw
from gradwright.verify.audit.recorded import Met
from gradwright.verify.audit.subjects import argument_names, runs, subject_of_met, written
from tests.corpus.right import Scaled


def test_a_function():
    met = Met("function", Scaled, gw, "Scaled")
    subject = subject_of_met(met)
    assert subject.file.endswith("right.py")
    assert argument_names(subject, 2) == ["x", "factor"]
    assert Scaled.forward in [*written(met)]
    assert runs(met)(gw.ones(1), 2.0).item() == 2
