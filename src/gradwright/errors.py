"""The exceptions and warnings that are gradwright's own.

    RuntimeError
      GradcheckError      a derivative that failed its check
      LinAlgError         a matrix that has no such inverse or factors
    UserWarning
      GradientWarning     a gradient that may not be what its author meant

Everything else is raised with Python's and PyTorch's own types (RuntimeError, TypeError, ValueError, IndexError).
"""

from __future__ import annotations


class GradcheckError(RuntimeError):
    """Raised by `gradcheck` and `gradgradcheck` when a derivative is wrong or cannot be checked."""


class LinAlgError(RuntimeError):
    """Raised where a matrix is singular, not positive-definite, or its decomposition does not converge."""


class GradientWarning(UserWarning):
    """Issued where a gradient may not be what its author meant, but a correct program could mean it."""


def size(shape: tuple[int, ...]) -> str:
    """A shape as messages print it: ``[2, 3]``."""
    return f"[{', '.join(map(str, shape))}]"


def kind(value: object) -> str:
    """What an argument is, for messages that say what they got: ``int``, or ``torch.Tensor`` for a stranger."""
    cls = type(value)
    home = cls.__module__.partition(".")[0]
    name = cls.__name__ if home in ("builtins", "gradwright", "numpy") else f"{home}.{cls.__name__}"
    return f"{name} (gradwright.from_dlpack() takes it)" if "." in name and hasattr(cls, "__dlpack__") else name
