"""What helps around training: `data` to load, `checkpoint` to save memory, operations in C++ (`cpp_extension`)."""

from typing import TYPE_CHECKING

from gradwright.base.lazy import lazy
from gradwright.utils import checkpoint as checkpoint

if TYPE_CHECKING:
    from gradwright.utils import cpp_extension as cpp_extension
    from gradwright.utils import data as data

__all__ = ["checkpoint", "cpp_extension", "data"]

lazy(__name__, {f"gradwright.utils.{name}": name for name in ("_pytree", "cpp_extension", "data")})
