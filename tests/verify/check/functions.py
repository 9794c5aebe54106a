"""A trial to put Functions in, for the tests of the checks."""

from typing import Any

import numpy as np

from gradwright.verify.check.calls import Arg, Call
from gradwright.verify.check.discover import subject_of
from gradwright.verify.check.trial import Trial

x = np.array([0.3, -1.2, 0.7])


def trial(function: Any, *arguments: Any) -> Trial:
    """A trial of a subject; arrays among the arguments are tensors, those of floating point looked at."""
    subject = subject_of(function)
    args = tuple(Arg(a, a.dtype.kind in "fc") if isinstance(a, np.ndarray) else a for a in arguments)
    return Trial(subject, Call(args, tuple(subject.names(len(args)))))
