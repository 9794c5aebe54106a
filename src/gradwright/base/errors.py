"""The exceptions and warnings that are gradwright's own.

    RuntimeError
      AnomalyError        an operation that made a NaN or an infinity, under anomaly mode
      GradcheckError      a derivative that failed its check
      CutError            a second derivative through what backward cut off
      LinAlgError         a matrix that has no such inverse or factors
      StrictError         what would be a GradientWarning, under strict
      FileError           a file that cannot be loaded
        UnsafeGlobalError because it names a class or function that it is not to call (an UnpicklingError, too)
      LayoutError         a picture that cannot be laid out
      NotProvedError      a formula that balls cannot run, or where they leave open what it does
      OutOfMemoryError    never: what programs written for PyTorch name in ``except``
    UserWarning
      GradientWarning     a gradient that may not be what its author meant
        CapturedTensor    a Function's forward uses a tensor that is no argument of it
        MisfitGradient    a backward returns a gradient of another shape or dtype than its input has

Everything else is raised with Python's and PyTorch's own types (RuntimeError, TypeError, ValueError, IndexError).
"""

from __future__ import annotations

from pickle import UnpicklingError  # noqa: TID251 - the class alone, which PyTorch's programs catch
from typing import Any


class AnomalyError(RuntimeError):
    """Raised under `gradwright.autograd.detect_anomaly` by the first operation that makes a NaN or an infinity.

    Attributes:
        operation: its name, ``divide``; of a backward, the node's: ``SqrtBackward0``.
        backward: whether it is the backward of an operation that made it.
        function: the name of the node whose backward it is, or in whose backward it was run; None if in none.
        what: ``nan`` or ``inf``.
        output: which of its results holds it; of a backward, the gradient of which input.
        index: where in that, the first one; a tuple.
        count: how many there are in that.
        place: the line of your program that ran it; of a backward, the line that ran the backward pass.
        recorded: the line that recorded that node; None if there is none, or the line was not noted.
        inputs: what it was given: for each label a record of shape, dtype, low, high, nans and infs.
    """

    operation: str
    backward: bool
    function: str | None
    what: str
    output: int
    index: tuple[int, ...]
    count: int
    place: str | None
    recorded: str | None
    inputs: dict[str, Any]


class GradcheckError(RuntimeError):
    """Raised by `gradcheck` and `gradgradcheck` when a derivative is wrong or cannot be checked.

    Attributes:
        diagnosis: what `gradwright.autograd.diagnose` says of it; None where that would have taken long.
    """

    diagnosis: Any = None

    def _repr_html_(self) -> str:
        """As it prints, with the diagnosis, for a notebook in which it is the value of a cell."""
        return f"<pre>{self._told().replace('&', '&amp;').replace('<', '&lt;')}</pre>"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(self._told())

    def _told(self) -> str:
        return "\n".join([f"{type(self).__name__}: {self}", *getattr(self, "__notes__", ())])


class CutError(RuntimeError):
    """Raised where a second derivative would miss what backward cut off: by detach(), for NumPy, in no_grad.

    Attributes:
        how: by what: ``detach()``; ``""`` if that is not known.
        place: the line of your program that did it; None if it is not known.
    """

    how: str = ""
    place: str | None = None


class LinAlgError(RuntimeError):
    """Raised where a matrix is singular, not positive-definite, or its decomposition does not converge."""


class OutOfMemoryError(RuntimeError):
    """Raised nowhere here, where memory that runs out is a MemoryError, or JAX's error: for ``except`` to name."""


class FileError(RuntimeError):
    """Raised by `gradwright.load` for a file that is damaged, cut short, or of another kind."""


class UnsafeGlobalError(FileError, UnpicklingError):
    """Raised by `gradwright.load` for a PyTorch file that names a class or function which it is not to call."""


class LayoutError(RuntimeError):
    """Raised where a picture of a graph is asked for and there is nothing to say where its nodes stand."""


class NotProvedError(RuntimeError):
    """Raised where a proof comes to a step that balls cannot take; it says which, and what would help."""


class StrictError(RuntimeError):
    """Raised under `gradwright.autograd.strict` instead of a `GradientWarning`, with its words."""


class GradientWarning(UserWarning):
    """Issued where a gradient may not be what its author meant, but a correct program could mean it."""


class CapturedTensor(GradientWarning):
    """Issued where the forward of a Function uses a tensor that requires grad and is no argument of it."""


class MisfitGradient(GradientWarning):
    """Issued where a backward returns a gradient that has to be summed down, or converted, to fit its input.

    Attributes:
        argument: the name of the input.
        got, expected: the two shapes, or the two dtypes.
        mend: what to return instead.
    """

    def __init__(self, message: str, argument: str, got: Any, expected: Any, mend: str) -> None:
        super().__init__(message)
        self.argument, self.got, self.expected, self.mend = argument, got, expected, mend


for _error in [value for value in globals().values() if isinstance(value, type) and value.__module__ == __name__]:
    _error.__module__ = "gradwright.errors"  # the path that users catch it by, in tracebacks as well


def size(shape: tuple[int, ...]) -> str:
    """A shape as messages print it: ``[2, 3]``."""
    return f"[{', '.join(map(str, shape))}]"


def home(cls: Any) -> str:
    """The package that a class is of; gradwright's own are known by PyTorch's name where they serve as PyTorch's."""
    name = str(cls.__module__).partition(".")[0]
    ours = name == "torch" and any(base.__module__.startswith("gradwright.") for base in cls.__mro__)
    return "gradwright" if ours else name


_MAKERS = {"ndarray": "from_numpy", **dict.fromkeys(("bool", "complex", "float", "int", "list", "tuple"), "tensor")}


def no_tensor(value: object) -> str:
    """`kind` of what is given where a tensor belongs, and what makes one of it."""
    name = kind(value)
    return f"{name}: gradwright.{_MAKERS[name]}() makes one of it" if name in _MAKERS else name


def no_input(op: Any, x: object) -> TypeError:
    """The error for an operation that is given something else than a tensor."""
    return TypeError(f"{op.name}(): argument 'input' must be Tensor, not {no_tensor(x)}")


def kind(value: object) -> str:
    """What an argument is, for messages that say what they got: ``int``, or ``torch.Tensor`` for a stranger."""
    cls = type(value)
    package = home(cls)
    name = cls.__name__ if package in ("builtins", "gradwright", "numpy") else f"{package}.{cls.__name__}"
    return f"{name} (gradwright.from_dlpack() takes it)" if "." in name and hasattr(cls, "__dlpack__") else name
