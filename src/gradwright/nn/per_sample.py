"""The gradient of each example of a batch by each parameter, not their sum."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradwright.face.tensor import Tensor
from gradwright.function.contract.trees import tree_map
from gradwright.nn.module import Module
from gradwright.nn.modules.norm import _BatchNorm
from gradwright.nn.stateless import functional_call
from gradwright.transform.reverse import grad
from gradwright.transform.vmap import vmap


def per_sample_gradients(module: Module, loss: Callable[..., Any], inputs: Any, *targets: Any,
                         randomness: str = "different", chunk_size: int | None = None) -> dict[str,
                         Tensor]:  # fmt: skip
    """For each parameter by its name, the gradients of the losses of all examples: (examples, *shape of the parameter).

    They are those that a loop of ``loss(module(x[k : k + 1]), y[k : k + 1]).backward()`` finds, in one pass by `vmap`:
    what it takes to clip or to weigh each example, as private training does. Their mean is the gradient of the mean
    loss. The module and its ``.grad`` remain as they are.

    Args:
        module: takes a batch; it is given batches of one example.
        loss: takes the output, and the targets, of such a batch, and returns one number.
        inputs: what the module takes: a tensor, or a tuple for several arguments, in which each tensor has the examples
            along its first dim.
        targets: what else the loss takes, likewise.
        randomness: of dropout and the like: "different" for each example, the "same", or an "error".
        chunk_size: how many examples are computed at a time; None for all.

    >>> line = gw.nn.Linear(2, 1)
    >>> found = per_sample_gradients(line, gw.nn.functional.mse_loss, gw.rand(5, 2), gw.rand(5, 1))
    >>> {name: tuple(g.shape) for name, g in found.items()}
    {'weight': (5, 1, 2), 'bias': (5, 1)}

    Frozen parameters are left out. Raises ValueError if there is no other, for what is no tensor, and if the numbers of
    examples differ; RuntimeError for a batch norm in training, by which examples depend on each other, and if ``loss``
    returns more than one number.
    """
    parameters = {name: p.detach() for name, p in module.named_parameters() if p.requires_grad}
    if not parameters:
        raise ValueError("per_sample_gradients: module has no parameter that requires a gradient: p.requires_grad_()")
    for name, part in module.named_modules():
        if isinstance(part, _BatchNorm) and (part.training or part.running_mean is None):
            raise RuntimeError(
                f"per_sample_gradients: module has a batch norm, {name!r}, that takes mean and variance of the batch: "
                "the loss of an example depends on the others, and has no gradient of its own. Call module.eval() to "
                "use the running ones, or put GroupNorm in its place"
            )

    def of_one(parameters: Any, inputs: Any, targets: Any) -> Any:
        args, given = tree_map(lambda t: t.unsqueeze(0) if isinstance(t, Tensor) else t, (inputs, targets))
        return loss(functional_call(module, parameters, args), *given)

    mapped = vmap(grad(of_one), in_dims=(None, 0, 0), randomness=randomness, chunk_size=chunk_size)
    return dict(mapped(parameters, inputs, targets))
