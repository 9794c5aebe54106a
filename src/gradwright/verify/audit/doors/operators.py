"""Linear operators, SciPy's and PyLops's: an operator and its adjoint, when that is first asked for."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradwright.verify.audit.doors.door import Call, Door, Pairs, door
from gradwright.verify.audit.doors.heard import named, place
from gradwright.verify.pairs import Pair, Point
from gradwright.verify.pairs.pair import ADJOINT

_USES = ("LinearOperator.rmatvec", "LinearOperator.rmatmat", "LinearOperator.adjoint")


@door("scipy.sparse.linalg", *_USES, once=True)
def scipy(call: Call) -> Pairs | None:
    """SciPy's: one that a function was given for, or a class with ``_rmatvec`` or ``_adjoint`` of its own."""
    return _adjoint(call, "_CustomLinearOperator__rmatvec_impl", ("_rmatvec", "_adjoint"))


@door("pylops", *_USES, once=True)
def pylops(call: Call) -> Pairs | None:
    """PyLops's, and its FunctionOperator."""
    return _adjoint(call, "fc", ("_rmatvec", "_adjoint"))


def _adjoint(call: Call, attribute: str, methods: tuple[str, ...]) -> Pairs | None:
    operator: Any = call.given["self"]
    handed = getattr(operator, attribute, None)
    kind = type(operator)
    own = next((vars(c)[m] for c in kind.__mro__ for m in methods if m in vars(c)), None)
    written = handed if callable(handed) else own
    if written is None:
        return None
    call.about = [written]
    columns = operator.shape[1]
    dtype = np.result_type(operator.dtype or float, float)
    title = kind.__name__ if handed is None else "LinearOperator"
    return lambda: [Pair(ADJOINT, operator.matvec, operator.rmatvec, (Point(np.zeros(columns, dtype)),),
                         (f"{title}.matvec" if handed is None else f"matvec of {named(handed)}", named(written)),
                         place(written), call.door.name)]  # fmt: skip


DOORS: list[Door] = [*scipy, *pylops]
