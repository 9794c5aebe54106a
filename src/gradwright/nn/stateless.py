"""Modules as functions of their parameters and buffers, for transforms of functions and for ensembles."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar, cast

from gradwright.base.errors import kind
from gradwright.engine.strict import warn
from gradwright.face.tensor import Tensor
from gradwright.face.xp import stack
from gradwright.nn.module import Module
from gradwright.nn.modules.norm import _BatchNorm

_MISSING: Any = object()


if TYPE_CHECKING:
    from gradwright.face.typing import Forwards

M = TypeVar("M", bound=Module)
R = TypeVar("R")

def functional_call(
    module: Forwards[..., R],
    parameter_and_buffer_dicts: Mapping[str, Tensor] | Sequence[Mapping[str, Tensor]],
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> R:
    """What ``module`` returns with other parameters and buffers in the place of its own, which remain as they are.

    What the module puts in the place of a buffer while it runs is in the dictionary afterwards, and what it writes into
    one is written into the tensor that was given.

    Args:
        module: a module.
        parameter_and_buffer_dicts: tensors by their paths, ``{"0.weight": w}``, or a sequence of such dictionaries that
            have no path in common. What is not given is the module's own.
        args, kwargs: its arguments; what is no tuple is the one argument.
        tie_weights: a value given for one path of a tensor that the module has at several is used at all of them.
        strict: raise if a path is missing, or leads to no parameter or buffer.

    >>> functional_call(gw.nn.Linear(2, 1), {"weight": gw.ones(1, 2), "bias": gw.zeros(1)}, gw.ones(2))
    tensor([2.])

    Raises ValueError unless given such a dictionary, for a path that is there twice, and for different values of
    what is tied; RuntimeError if it is strict; TypeError for what is no tensor.
    """
    given = _one_dictionary(parameter_and_buffer_dicts)
    used = _tied(module, given) if tie_weights else given
    if strict:
        _check(module, used)
    args, call = () if args is None else args if isinstance(args, tuple) else (args,), cast("Any", module)
    with _swapped(module, used) as last:
        out = call(*args, **kwargs or {})
    given.update({path: last[path] for path in given if path in last})
    return out


def _one_dictionary(given: Any) -> dict[str, Any]:
    if isinstance(given, dict):
        return given
    if not isinstance(given, Sequence):
        raise ValueError(
            f"Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got {type(given)}"
        )
    if not all(isinstance(d, dict) for d in given):
        raise ValueError("Expected all elements of parameter_and_buffer_dicts to be dictionaries")
    every = [path for d in given for path in d]
    repeated = (
        list(dict.fromkeys(path for path in every if every.count(path) > 1)) if len(every) > len({*every}) else []
    )
    if repeated:
        raise ValueError(f"{repeated} appeared in multiple dictionaries; behavior of functional call is ambiguous")
    return {path: t for d in given for path, t in d.items()}


def _named(module: Any) -> dict[str, Any]:
    return {
        **dict(module.named_parameters(remove_duplicate=False)),
        **dict(module.named_buffers(remove_duplicate=False)),
    }


def _tied(module: Any, given: dict[str, Any]) -> dict[str, Any]:
    """``given``, with the same tensor at every path that the module has for it."""
    groups: dict[int, list[str]] = {}
    for path, t in _named(module).items():
        groups.setdefault(id(t), []).append(path)
    used = dict(given)
    for tied in groups.values():
        values = [given[path] for path in tied if path in given]
        if len(tied) == 1 or not values:
            continue
        if any(value is not values[0] for value in values):
            raise ValueError(f"functional_call got multiple values for keys {sorted(tied)}, which are tied. Consider "
                             "using tie_weights=False")  # fmt: skip
        used |= dict.fromkeys(tied, values[0])
    return used


def _check(module: Any, given: dict[str, Any]) -> None:
    own = _named(module)
    unexpected, missing = [p for p in given if p not in own], [p for p in own if p not in given]
    found = [f"{what} key(s): {', '.join(map(repr, paths))}."
             for what, paths in (("Unexpected", unexpected), ("Missing", missing)) if paths]  # fmt: skip
    if found:
        raise RuntimeError(f"Error(s) in reparametrizing for {type(module).__name__}:\n\t" + "\n\t".join(found))


@contextmanager
def _reparametrize_module(module: Any, parameters_and_buffers: dict[str, Any], tie_weights: bool = False,
                          strict: bool = False, stack_weights: bool = False) -> Iterator[None]:  # fmt: skip
    """A block in which a module has these tensors, as in `functional_call`; ``stack_weights`` makes no difference."""
    used = _tied(module, parameters_and_buffers) if tie_weights else parameters_and_buffers
    if strict:
        _check(module, used)
    with _swapped(module, used) as last:
        yield
    parameters_and_buffers.update({path: last[path] for path in parameters_and_buffers if path in last})


@contextmanager
def _swapped(module: Any, given: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Have these tensors in the module; afterwards, in what is handed out, those that were there at the end."""
    before: dict[str, Any] = {}
    last: dict[str, Any] = {}
    try:
        for path, t in given.items():
            before[path] = _swap(module, path, t)
            if before[path] is _MISSING:
                warn(
                    f"functional_call: {type(module).__name__} has nothing at {path!r}, so what is given for it is not "
                    "used, unless forward asks for it: see named_parameters(); strict=True makes an error of this"
                )
        yield last
    finally:
        for path in reversed(before):
            last[path] = _swap(module, path, before[path])


def _swap(module: Any, path: str, t: Any) -> Any:
    """Put a tensor at a path; what was there."""
    if t is not _MISSING and t is not None and not isinstance(t, Tensor):
        raise TypeError(f"{path}: {t!r}, {kind(t)}, is not an instance of torch.Tensor")
    above, _, name = path.rpartition(".")
    owner = module.get_submodule(above)
    for own in (owner._parameters, owner._buffers):
        if name in own:
            old = own[name]
            own[name] = t
            return old
    old = getattr(owner, name, _MISSING)
    if old is not _MISSING and not isinstance(old, Tensor):
        raise TypeError(f"attribute `{name}`: {old!r} is not an instance of torch.Tensor")
    if t is _MISSING:
        delattr(owner, name)
    else:
        setattr(owner, name, t)
    return old


def stack_module_state(models: Sequence[Module]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The parameters and the buffers of modules of one kind, each stacked along a new first dim, by their paths.

    With `functional_call` of one of them, and `vmap` over these, an ensemble runs as one. The stacked parameters are
    leaves, which an optimiser takes.

    >>> parameters, buffers = stack_module_state([gw.nn.Linear(2, 3) for _ in range(4)])
    >>> parameters["weight"].shape, parameters["weight"].is_leaf, buffers
    (torch.Size([4, 3, 2]), True, {})

    Raises RuntimeError if there are none, or they differ in class, in mode or in what requires grad.
    """
    if not len(models):
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if len({m.training for m in models}) > 1:
        raise RuntimeError("stack_module_state: Expected all models to have the same training/eval mode.")
    if len({type(m) for m in models}) > 1:
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")
    return _stacked([dict(m.named_parameters()) for m in models]), _stacked([dict(m.named_buffers()) for m in models])


def _stacked(states: Sequence[dict[str, Any]]) -> dict[str, Any]:
    made = {}
    for path in states[0]:
        ts = [state[path] for state in states]
        needs = {t.requires_grad for t in ts}
        if len(needs) > 1:
            raise RuntimeError(f"Expected {path} from each model to have the same .requires_grad")
        made[path] = stack(ts)
        if needs == {True}:
            made[path] = made[path].detach().requires_grad_()
    return made


def replace_all_batch_norm_modules_(root: M) -> M:
    """Let all batch norms in ``root`` go without running statistics, which vmap could not update; returns ``root``.

    >>> net = gw.func.replace_all_batch_norm_modules_(gw.nn.Sequential(gw.nn.BatchNorm1d(2)))
    >>> net[0].track_running_stats
    False
    """
    for module in root.modules():
        if isinstance(module, _BatchNorm) and module.track_running_stats:
            module.running_mean = module.running_var = module.num_batches_tracked = None
            module.track_running_stats = False
    return root
