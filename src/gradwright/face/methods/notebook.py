"""What a notebook shows of a tensor."""

from __future__ import annotations

from typing import Any

from gradwright.backends import library, to_host
from gradwright.base.errors import home
from gradwright.base.formatting import values_text
from gradwright.base.pages.markup import tag
from gradwright.base.pages.shown import QUIET, block
from gradwright.engine.levels import batches


class Notebook:
    """The values, and below them shape, dtype, device, and what made it."""

    __slots__ = ()

    def _repr_html_(self: Any) -> str | None:
        """None, for which notebooks show the text, where that says something else: of classes of yours, under vmap."""
        if home(type(self)) != "gradwright" or batches(self.array):
            return None
        if not library(self.array).is_here(self.array):
            return None
        try:
            about = [type(self).__name__, f"shape {list(self.array.shape)}", self.dtype.name, str(self.device)]
            if self.requires_grad:
                about.append(made_by(self))
        except RuntimeError:  # of a view whose history cannot be told any more: that is for operations to say
            return None
        return tag("div", block(values_text(to_host(self.array))), tag("div", " · ".join(about), style=QUIET))


def made_by(x: Any) -> str:
    """``made by MulBackward0``, or of a leaf whether it has a gradient."""
    if x.grad_fn is not None:
        return f"made by {type(x.grad_fn).__name__}"
    return f"requires grad, has {'no' if x.grad is None else 'a'} .grad"
