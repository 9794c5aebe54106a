"""What is recorded of a pair: two functions of arrays that must agree, and where the program was when it called them.

Both are called with one array, where the derivative is taken, and with what the point has besides. A door binds what
else its library passes (``args=``, keywords, what comes before the array), and hands over what the function returned as
it was: lists, matrices, sparse ones, LinearOperators. One array of another shape than (n,) is as good.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

GRADIENT, JACOBIAN, HESSIAN = "gradient", "jacobian", "hessian"
HVP, JVP, VJP, ADJOINT, OBJECTIVE = "hvp", "jvp", "vjp", "adjoint", "objective"
KINDS = {
    GRADIENT: "value(x) is a number; derivative(x) has the shape of x",
    JACOBIAN: "derivative(x) has the shape of value(x), then that of x: a fun's jac, a constraint's, f(t, y)'s, a "
              "kernel's eval_gradient",
    HESSIAN: "derivative(x) is n by n, of value(x) and, where there is one, gradient(x)",
    HVP: "derivative(x, v) is the Hessian times v",
    JVP: "derivative(x, v) is the Jacobian of value(x) times v",
    VJP: "derivative(x, w) is w, of the shape of value(x), times the Jacobian",
    ADJOINT: "value(x) is linear; derivative(w) is its adjoint, rmatvec: needs no x but for the shape",
    OBJECTIVE: "derivative(x) is (gradient, diagonal of the Hessian); value may be None, as of LightGBM and XGBoost",
}  # fmt: skip
"""The kinds of pairs, and what each says of the shapes."""


@dataclass(frozen=True, eq=False)
class Point:
    """Where a derivative was called.

    Attributes:
        x: the array, as it was then: a copy. extra: what follows it in every call there: a time, multipliers.
        v: of a product (hvp, jvp, vjp, adjoint) the vector, a copy; None to draw one.
        returned: what the program got from the derivative there, a copy; None if that is not known.
        value: what it got from the value there, a copy; None if that is not known.
        before: where the derivative was called last before this, to tell results of that point; None if nowhere.
        call: which call of the run it was, from 1; 0 if it was none.
    """

    x: Any
    extra: tuple[Any, ...] = ()
    v: Any = None
    returned: Any = None
    value: Any = None
    before: Any = None
    call: int = 0


@dataclass(frozen=True, eq=False)
class Pair:
    """A function and its derivative, as they were handed to a library.

    Attributes:
        kind: one of `KINDS`.
        value: the function; None of an objective, or of a Hessian with a gradient, that comes without.
        derivative: what is judged.
        points: where; spread over the run, in the order of the calls.
        names: of the value and of the derivative, as the user wrote them.
        where: file and line of the derivative; ``("", 0)`` if they are not to be had.
        door: where they were handed over, ``scipy.optimize.minimize(jac=)``; ``""`` if nowhere.
        gradient: of a Hessian or hvp, the gradient that was handed over beside it, or None.
        bounds: the lowest and the highest x that the problem allows, arrays or numbers; None if it has none. No
            function is called beyond them.
        fixed: which entries of x cannot be moved, as they are integers; None if all can.
        transposed: whether the library was told that the Jacobian is transposed (``col_deriv``).
        elementwise: whether derivative(x) is the diagonal of the Jacobian, entry by entry.
        triangle: ``"lower"`` or ``"upper"`` if the library reads only that of the Hessian.
        convention: whether what uses it may take the derivative by another variable than x, as kernels do by
            log-parameters: then that is told, and no alarm.
        reused: whether the program got one array again and again, with other numbers, and keeps it to compare.
        declared: why the derivative is none, on purpose, where that is declared; ``""`` if it is not.
        calls: how often the program called it; 0 with points to judge it at all the same.
        restore: is called before value or derivative is called anew, to put back what they hold; or None.
        parameters: what the entries of x are called where they have names; () if they have none.
        notes: what the door has to say beside the verdict.
    """

    kind: str
    value: Callable[..., Any] | None
    derivative: Callable[..., Any]
    points: tuple[Point, ...]
    names: tuple[str, str] = ("f", "df")
    where: tuple[str, int] = ("", 0)
    door: str = ""
    gradient: Callable[..., Any] | None = None
    bounds: tuple[Any, Any] | None = None
    fixed: Any = None
    transposed: bool = False
    elementwise: bool = False
    triangle: str = ""
    convention: bool = False
    reused: bool = False
    declared: str = ""
    calls: int = 0
    restore: Callable[[], None] | None = None
    parameters: tuple[str, ...] = ()
    notes: tuple[str, ...] = field(default=())

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"Pair: there is no kind {self.kind!r}; there are {', '.join(KINDS)}")
        if self.value is None and self.gradient is None and self.kind != OBJECTIVE:
            raise ValueError(f"Pair: a {self.kind} needs the value that {self.names[1]} is the derivative of"
                             f"{', or its gradient' if self.kind in (HESSIAN, HVP) else ''}")
