"""Checkpointing: keep what goes into a part of a model, and compute what is inside it again when backward needs it.

The way without reentrance records the graph as always, but nodes inside keep none of the values they save: see
`gradwright.utils.recompute`. The older, reentrant way records nothing inside: it is a Function that runs the function
again in its backward, and a backward pass through that.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from functools import partial
from typing import Any, TypeVar, cast

from gradwright.base.errors import kind
from gradwright.base.lazy import lazy
from gradwright.base.source_line import here, warn
from gradwright.engine import calls
from gradwright.engine.backward import accumulating
from gradwright.engine.base import TensorBase
from gradwright.engine.grad_mode import enable_grad, no_grad
from gradwright.engine.mode import is_grad_enabled, now, switch
from gradwright.function.contract.once_differentiable import once_differentiable
from gradwright.function.function import Function
from gradwright.nn.container import Sequential
from gradwright.utils.recompute import Aside, Checkpoint, CheckpointError, Forget, Log, Surroundings, checkpointed
from gradwright.utils.selective import (
    CheckpointPolicy,
    SelectiveCheckpointContext,
    create_selective_checkpoint_contexts,
)


def noop_context_fn() -> tuple[AbstractContextManager[Any], AbstractContextManager[Any]]:
    """Two contexts that do nothing: the default ``context_fn`` of `checkpoint`."""
    return nullcontext(), nullcontext()


def detach_variable(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Each tensor of a tuple without its history, requiring grad as it does; what is no tensor as it is."""
    if not isinstance(inputs, tuple):
        raise RuntimeError(f"Only tuple of tensors is supported. Got Unsupported input type: {kind(inputs)}")
    out: list[Any] = []
    for value in inputs:
        x: Any = value
        if isinstance(value, TensorBase):
            x = value.detach()  # type: ignore[attr-defined]
            x.requires_grad = value.requires_grad
        out.append(x)
    return tuple(out)


def get_device_states(*args: Any) -> tuple[list[int], list[Any]]:
    """The states of the random numbers of CUDA devices: all numbers are drawn on the CPU, so there are none."""
    return [], []


def set_device_states(devices: Sequence[int], states: Sequence[Any], *, device_type: str | None = None) -> None:
    """Set the states that `get_device_states` has given."""
    if devices or states:
        raise RuntimeError("set_device_states(): random numbers are drawn on the CPU, but got states of "
                           f"{list(devices)}")  # fmt: skip


__all__ = [
    "CheckpointError", "CheckpointFunction", "CheckpointPolicy", "SelectiveCheckpointContext", "checkpoint",
    "checkpoint_sequential", "create_selective_checkpoint_contexts", "detach_variable", "get_device_states",
    "noop_context_fn", "set_checkpoint_debug_enabled", "set_checkpoint_early_stop", "set_device_states",
]  # fmt: skip

lazy(__name__)

R = TypeVar("R")
_early_stop: ContextVar[bool | None] = ContextVar("early stop, if it has been set", default=None)
_debug: ContextVar[bool | None] = ContextVar("debug, if it has been set", default=None)


@contextmanager
def _setting(variable: ContextVar[bool | None], value: bool | None) -> Iterator[None]:
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)


def set_checkpoint_early_stop(enable: bool) -> AbstractContextManager[None]:
    """A context that decides ``early_stop`` for the checkpoints of forward passes in it, whatever they were given."""
    return _setting(_early_stop, enable)


def set_checkpoint_debug_enabled(enabled: bool | None) -> AbstractContextManager[None]:
    """A context that decides ``debug`` for the checkpoints of forward passes in it; None leaves it to them."""
    return _setting(_debug, enabled)


def checkpoint(
    function: Callable[..., R],
    *args: Any,
    use_reentrant: bool | None = None,
    context_fn: Callable[[], tuple[Any, Any]] = noop_context_fn,
    determinism_check: str = "default",
    debug: bool = False,
    preserve_rng_state: bool = True,
    early_stop: bool = True,
    **kwargs: Any,
) -> R:
    """``function(*args, **kwargs)``, of which backward computes again what it needs: less memory, more time.

    The arguments are kept, nothing computed in the function is. ``function`` must compute the same when it is run
    again. It draws the same random numbers: gradwright's, and those of the generators of NumPy and Python, global
    ones or such as its code, its arguments and its modules name. Tensors that it writes (running statistics, other
    buffers) are then as they were before it first ran, and are left as they are now: they count once, in place or
    bound anew. Whatever else it does, to a number or a list, it does each time.

    Args:
        function: what to run; it is run again by every backward pass through it.
        use_reentrant: False is the better way. True records nothing inside: there are no gradients for tensors in
            containers or in ``kwargs``, none at all if no argument requires grad, no `autograd.grad`, no
            ``backward(inputs=...)`` and no second derivatives. Left out, it is True, with a warning, as in PyTorch.
        context_fn: makes two context managers, for the first run and for those that follow.
        determinism_check: "default" compares the operations, shapes and dtypes of what is saved; "none" compares
            nothing but how many values there are.
        debug: errors show all operations of both runs, with their lines.
        preserve_rng_state: let the function draw the same random numbers again; else it draws others, and later
            ones are others than they would be.
        early_stop: end a further run as soon as all that is needed has been computed.

    Returns:
        What ``function`` returns.

    Raises:
        CheckpointError: in backward, if the function did not save the same number of values with the same
            operations, shapes and dtypes again; or if it uses a tensor, such as a weight, that was changed since or
            is another one. (Writes through ``.data`` are not noticed.)
        RuntimeError: in backward, if an argument was changed in place.
        ValueError: for ``kwargs``, ``context_fn`` or ``debug`` with ``use_reentrant=True``, and for an unknown
            ``determinism_check``.

    Warns, in backward, of a number in a variable of the function's closure that is another one by then.

        >>> import gradwright
        >>> from gradwright.utils.checkpoint import checkpoint
        >>> def f(x, power):
        ...     print("running")
        ...     return (x.sin() ** power).exp()
        >>> x = gradwright.tensor([0.5, 1.0], requires_grad=True)
        >>> y = checkpoint(f, x, power=2, use_reentrant=False)
        running
        >>> y.sum().backward()
        running
        >>> x.grad
        tensor([1.0589, 1.8459])
    """
    if use_reentrant is None:
        warnings.warn(_left_out("checkpoint"), stacklevel=2)
        use_reentrant = True
    if not use_reentrant:
        return _recorded(function, args, kwargs, context_fn, determinism_check, debug, preserve_rng_state, early_stop)
    if kwargs:
        raise ValueError(f"Unexpected keyword arguments: {','.join(kwargs)} (use_reentrant=False takes them)")
    if context_fn is not noop_context_fn or debug is not False:
        raise ValueError("Passing `context_fn` or `debug` is only supported when use_reentrant=False.")
    found: Any = CheckpointFunction.apply(function, preserve_rng_state, *args)
    return cast("R", found)


def _left_out(name: str) -> str:
    return (
        f"torch.utils.checkpoint.{name}: the use_reentrant parameter should be passed explicitly. "
        "use_reentrant=False is recommended, but if you need to preserve the current default behavior, you can pass "
        "use_reentrant=True."
    )


def checkpoint_sequential(
    functions: Sequential | Sequence[Callable[..., Any]], segments: int, input: Any,
    use_reentrant: bool | None = None, **kwargs: Any
) -> Any:
    """Run functions one after the other, in ``segments`` pieces of which all but the last are checkpointed.

    Args:
        functions: a `Sequential`, or a list of modules or functions of one argument.
        segments: how many pieces; each holds ``len(functions) // segments`` of them, the last what is left.
        input: what the first is given.
        use_reentrant: as in `checkpoint`.
        preserve_rng_state: as in `checkpoint`; True by default.

    Raises ValueError for other keywords.

        >>> import gradwright
        >>> from gradwright.utils.checkpoint import checkpoint_sequential
        >>> x = gradwright.tensor([0.5, 1.0], requires_grad=True)
        >>> y = checkpoint_sequential([gradwright.sin, gradwright.exp, gradwright.cos], 2, x, use_reentrant=False)
        >>> y.sum().backward()
        >>> x.grad
        tensor([-1.4160, -0.9180])
    """
    if use_reentrant is None:
        warnings.warn(_left_out("checkpoint_sequential"), stacklevel=2)
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if kwargs:
        raise ValueError(f"Unexpected keyword arguments: {','.join(kwargs)}")
    steps = list(functions.children()) if isinstance(functions, Sequential) else list(functions)
    size = len(steps) // segments
    for start in range(0, size * (segments - 1), size):
        piece = partial(_chain, steps[start : start + size])
        input = checkpoint(piece, input, use_reentrant=use_reentrant, preserve_rng_state=preserve)
    return _chain(steps[size * (segments - 1) :], input)


def _chain(steps: Sequence[Callable[[Any], Any]], value: Any) -> Any:
    """Run functions one after the other."""
    for step in steps:
        value = step(value)
    return value


def _recorded(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    context_fn: Callable[[], tuple[Any, Any]],
    check: str,
    debug: bool,
    preserve_rng_state: bool,
    early_stop: bool,
) -> Any:
    """`checkpoint` with ``use_reentrant=False``."""
    chosen = _debug.get()
    if debug if chosen is None else chosen:
        if context_fn is not noop_context_fn:
            raise ValueError("debug=True is incompatible with non-default context_fn")
        first, further = Log(), Log()
    else:
        first, further = context_fn()
    if check not in ("default", "none"):
        raise ValueError(f"determinism_check should be one of ['default', 'none'], but got {check}")
    if not is_grad_enabled():
        return function(*args, **kwargs)
    region = Checkpoint(function, args, kwargs, preserve_rng_state)
    region.first, region.further, region.compares = first, further, check == "default"
    stop = _early_stop.get()
    region.early_stop = early_stop if stop is None else stop
    before, done = now(), False
    try:
        with region.around, Forget(region), first:
            result = function(*args, **kwargs)
            region.complete = True
        done = True
    finally:
        if not done:
            switch(before)  # an interrupt may have kept blocks from ending
    if not region.complete:
        raise RuntimeError(
            "torch.utils.checkpoint: the forward context provided by context_fn suppressed an exception raised during "
            "the checkpointed forward. This is not supported because checkpoint cannot return a value for a failed "
            "forward."
        )
    return result


def _told(ctx: Any, message: str) -> CheckpointError:
    return CheckpointError(f"torch.utils.checkpoint: {message}\n{checkpointed(ctx.around.function, ctx.place)}")


class CheckpointFunction(Function):
    """`checkpoint` with ``use_reentrant=True``."""

    captures_tensors = True

    @staticmethod
    def forward(ctx: Any, run_function: Callable[..., Any], preserve_rng_state: bool, *args: Any) -> Any:
        """Run the function without recording."""
        if not any(ctx.needs_input_grad):
            warn("None of the inputs have requires_grad=True. Gradients will be None")
        ctx.place = here()
        ctx.around = Surroundings(run_function, dict(enumerate(args)), preserve_rng_state)
        ctx.inputs = [None if isinstance(a, TensorBase) else a for a in args]
        ctx.places = [i for i, a in enumerate(args) if isinstance(a, TensorBase)]
        ctx.save_for_backward(*[args[i] for i in ctx.places])
        ctx.set_materialize_grads(False)
        with no_grad(), ctx.around:
            return run_function(*args)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Any) -> Any:
        """Run it again, recorded, and a backward pass through that."""
        if not accumulating.get():
            raise RuntimeError(
                "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or passing an `inputs` "
                "parameter to .backward(). To resolve this error, you can either set use_reentrant=False, or call "
                ".backward() without passing the `inputs` argument."
            )
        inputs: list[Any] = list(ctx.inputs)
        for i, t in zip(ctx.places, ctx.saved_tensors, strict=True):
            inputs[i] = t.detach().requires_grad_(t.requires_grad)
        tensors = [inputs[i] for i in ctx.places]
        around = ctx.around
        aside = Aside(around) if around.written else nullcontext()
        with enable_grad(), aside, around.as_before(tensors, partial(_told, ctx)):
            outputs = around.function(*inputs)
        outputs = outputs if isinstance(outputs, (tuple, list)) else (outputs,)
        pairs: Any = zip(outputs, grads, strict=False)
        wanted = [(o, g) for o, g in pairs if isinstance(o, TensorBase) and o._node is not None and g is not None]
        if not wanted:
            raise RuntimeError("none of output has requires_grad=True, this checkpoint() is not necessary")
        calls.backward([o for o, _ in wanted], [g for _, g in wanted])
        return None, None, *[getattr(t, "grad", None) for t in inputs]
