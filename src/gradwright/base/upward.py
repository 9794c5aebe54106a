"""What a wing asks of the wings above it: all of it is here, and nowhere else.

Imports go down only (see the layers in pyproject.toml). Where a lower wing needs something of a higher one all the
same, that is a row of `ABOVE`, a name that is imported when it is asked for the first time; or a field of `Slots`,
which the higher wing fills when it is loaded, where a test or a call for each operation must not cost an import.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from importlib import import_module
from typing import Any

from gradwright.base.errors import GradientWarning

ABOVE = {
    "batched_grad": "gradwright.transform.batch",  # engine.calls.grad(is_grads_batched=True): a pass under vmap
    "by_rows": "gradwright.face.sparse.rows",  # Tensor.to_sparse_csr, SparseTensor.to_sparse_csr: derived from it
    "compile_in_place": "gradwright.compilation.compile",  # nn.Module.compile: loading it takes a while
    "from_dense": "gradwright.face.sparse.tensor",  # Tensor.to_sparse: derived from Tensor
    "functional": "gradwright.nn",  # face.methods.subclasses: its functions, too, ask classes derived from Tensor
    "sparse_coo_tensor": "gradwright.face.sparse.tensor",  # zeros(layout=torch.sparse_coo): derived from Tensor
    "summary": "gradwright.viz",  # nn.Module.summary
}
"""By name, the module that has it; beside it, who asks, and why it does not import it."""


def above(name: str) -> Any:
    """What has this name in `ABOVE`."""
    return getattr(import_module(ABOVE[name]), name)


class Slots:
    """What higher wings fill in.

    Attributes:
        tensor: the class of every result. Filled by engine.base with its TensorBase, then by face.tensor with Tensor;
            asked by all that makes tensors, such as `gradwright.engine.base.wrap`.
        warn: how to warn at the user's line. Filled by engine.strict; asked by backends.spectrum.
        operand: ``operand(operator, *values)``, what values that are no tensors make of an operator, or NotImplemented.
            Filled by face.methods.subclasses; asked by the operators of face.forms.
        applied: ``applied(cls, args)``, the result of a Function for an audit that is on, or NotImplemented. Filled by
            verify.audit while it runs, else None; asked by `gradwright.function.function.Function.apply`.
    """

    __slots__ = ("applied", "operand", "tensor", "warn")

    tensor: Any

    def __init__(self) -> None:
        self.applied: Callable[[Any, tuple[Any, ...]], Any] | None = None
        self.operand: Callable[..., Any] = lambda operator, *values: NotImplemented
        self.warn: Callable[[str], None] = lambda message: warnings.warn(message, GradientWarning, stacklevel=3)


slots = Slots()
