"""Checkpoints that keep some results: a policy says of each operation, when it first runs, whether to keep its result.

A further run takes what was kept instead of computing it. Kept is a copy, so that what is written later does not reach
it; it is given out once, and computed again by another backward pass.
"""

from __future__ import annotations

import enum
import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from gradwright.base.absent import Absent
from gradwright.base.errors import kind
from gradwright.engine.base import TensorBase, wrap
from gradwright.engine.levels import LevelArray
from gradwright.engine.memory import unwritten
from gradwright.engine.mode import now, switch
from gradwright.engine.watch import Watch
from gradwright.ops.declare import Op, table

named: dict[str, Any] = {}
"""Operations by names such as "mylib::sin", as `gradwright.pytorch.library` makes them: they are kept as a whole."""


class CheckpointPolicy(enum.Enum):
    """What to do with an operation's result: keep it or compute it again."""

    MUST_SAVE = 0
    PREFER_SAVE = 1
    MUST_RECOMPUTE = 2
    PREFER_RECOMPUTE = 3
    MUST_CPU_OFFLOAD = 4
    PREFER_CPU_OFFLOAD = 5


_SAVED = (CheckpointPolicy.MUST_SAVE, CheckpointPolicy.PREFER_SAVE)


class SelectiveCheckpointContext:
    """What a policy is told besides the operation and its arguments: the result, ``op_output``."""

    def __init__(self, *, is_recompute: bool, op_output: Any = None) -> None:
        self.is_recompute = is_recompute
        self.op_output = op_output


class OpOverload(Absent):
    """``torch.ops.aten.mm.default``, which names an operation to a policy and cannot be called.

    Overloads of one name are equal: one operation of gradwright's does what they do.
    """

    def __getattr__(self, name: str) -> Any:
        return super().__getattr__(name) if name.startswith(("__", "pytest")) else OpOverload(f"{self.__name__}.{name}")

    def _name(self) -> str:
        return ".".join(self.__name__.split(".")[:4])

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Op):
            other = _overload(other.name)
        return isinstance(other, OpOverload) and other._name() == self._name()

    def __hash__(self) -> int:
        return hash(self._name())

    def __str__(self) -> str:
        return self.__name__.removeprefix("torch.ops.")


_NAMES = {"astype": "_to_copy", "einsum": "bmm", "equal": "eq", "greater": "gt", "greater_equal": "ge", "less": "lt",
          "less_equal": "le", "log_softmax": "_log_softmax", "masked_softmax": "_safe_softmax", "not_equal": "ne",
          "softmax": "_softmax"}  # fmt: skip
"""PyTorch's names of operations whose nodes are called by others."""


@cache
def _overload(name: str, *ndims: int) -> OpOverload:
    """An operation by the name that PyTorch has for it: mostly that of its node, PowBackward0 for a power."""
    if name == "matmul" and ndims:
        other = "bmm" if ndims[-1] > 2 else "dot" if ndims == (1, 1) else "mv" if ndims == (2, 1) else "mm"
    else:
        node = table[name].node.partition("Backward")[0] if name in table else name
        other = _NAMES.get(name) or re.sub(r"(?<=[a-z])(?=[A-Z])", "_", node).lower()
    return OpOverload(f"torch.ops.aten.{other}.default")


class Asks(Watch):
    """The first run: asks the policy, and keeps."""

    def __init__(self, policy: Callable[..., Any], kept: defaultdict[Any, list[Any]]) -> None:
        self.policy, self.kept = policy, kept
        self.inside = self.used_up = False

    def __enter__(self) -> Any:
        if self.used_up:
            raise RuntimeError("create_selective_checkpoint_contexts(): these contexts belong to a checkpoint that has "
                               "run: context_fn must make new ones at each call")  # fmt: skip
        self.used_up = True
        return super().__enter__()

    def compute(self, name: str, inputs: Sequence[Any], call: Callable[[], Any]) -> Any:
        if self.inside or not _whole(name, inputs):
            return call()
        self.inside = True
        try:
            result = call()
            self.kept[name].append(self.chosen(name, inputs, result))
        finally:
            self.inside = False
        return result

    def chosen(self, name: str, inputs: Sequence[Any], result: Any) -> Any:
        """A copy of the result, in a list, if the policy wants it kept; else None."""
        op = named.get(name) or _overload(name, *[a.ndim for a in inputs[:2] if name == "matmul"])
        before = now()
        switch(before.but(watches=(), records=False))
        try:
            ctx = SelectiveCheckpointContext(is_recompute=False, op_output=_each(_shown, result))
            policy = self.policy(ctx, op, *[_shown(x) for x in inputs])
        except (ValueError, TypeError, IndexError) as e:  # as an operation's own, it would be taken for that
            raise RuntimeError(f"checkpoint: the policy failed for {op}: {e}") from e
        finally:
            switch(before)
        if not isinstance(policy, (bool, CheckpointPolicy)):
            raise RuntimeError(f"checkpoint: expected the policy to return a CheckpointPolicy for {op}, but got "
                               f"{kind(policy)}")  # fmt: skip
        is_view = name in table and table[name].kind == "view"  # it has no memory of its own
        if policy is False or (policy is not True and policy not in _SAVED) or is_view or _in_transform(result):
            return None
        return [_each(_copy, result)]


class Gives(Watch):
    """A further run: gives what was kept instead of computing it."""

    def __init__(self, kept: defaultdict[Any, list[Any]]) -> None:
        self.kept = kept
        self.counts: defaultdict[Any, int] = defaultdict(int)
        self.inside = False

    def __enter__(self) -> Any:
        self.counts.clear()
        return super().__enter__()

    def compute(self, name: str, inputs: Sequence[Any], call: Callable[[], Any]) -> Any:
        if self.inside or not _whole(name, inputs):
            return call()
        k = self.counts[name]
        self.counts[name] += 1
        of = self.kept[name]
        if k >= len(of):
            raise RuntimeError(f"{name}() invocation index {k} encountered during backward but not found in storage: "
                               "the checkpointed function has not run it so often in the forward pass, so it depends "
                               "on what has changed since")  # fmt: skip
        found, of[k] = of[k], None
        if found is not None:
            return found[0]
        self.inside = True
        try:
            return call()
        finally:
            self.inside = False


def _whole(name: str, inputs: Sequence[Any]) -> bool:
    """Whether an operation is kept as a whole; of a user's Function, which takes tensors, those in it are."""
    return name in named or not any(isinstance(x, TensorBase) for x in inputs)


def _in_transform(result: Any) -> bool:
    return any(isinstance(r, LevelArray) for r in (result if isinstance(result, (list, tuple)) else (result,)))


def _each(f: Callable[[Any], Any], result: Any) -> Any:
    return type(result)(map(f, result)) if type(result) in (list, tuple) else f(result)


def _shown(value: Any) -> Any:
    return value if isinstance(value, TensorBase) or not hasattr(value, "dtype") else wrap(value, None)


def _copy(value: Any) -> Any:
    if isinstance(value, TensorBase):
        return wrap(unwritten(value.array), None)
    return unwritten(value) if hasattr(value, "dtype") else value


def create_selective_checkpoint_contexts(policy_fn_or_list: Any, allow_cache_entry_mutation: bool = False) -> Any:
    """Contexts for ``context_fn`` of `checkpoint`, with which some results are kept and the others computed again.

    ``context_fn=functools.partial(create_selective_checkpoint_contexts, policy)``. Views are never kept, as they have
    no memory of their own, nor is anything within a transform. What is kept is not reached by writes in place, whatever
    ``allow_cache_entry_mutation`` says.

    Args:
        policy_fn_or_list: ``policy(ctx, op, *args)``, which is asked of each operation in the first run, and returns a
            `CheckpointPolicy`, or True to keep the result ``ctx.op_output``; or a list of the operations to keep. They
            are ``torch.ops.aten.mm.default``, operations of `torch.library.custom_op` and of `gradwright.op`. PyTorch's
            name stands for what does it here: ``mm``, ``bmm``, ``mv``, ``dot`` for a matrix product, ``addmm`` for a
            linear layer with a bias. What consists here of several operations, such as an attention, is asked of by
            these.

    Raises:
        TypeError: for what is neither a function nor a list.
        ValueError: for what is no operation in the list.
        RuntimeError: in the first run, if a policy returns something else; in a further run, for an operation that the
            first has not run.

        >>> from functools import partial
        >>> import gradwright
        >>> from gradwright.utils.checkpoint import checkpoint, create_selective_checkpoint_contexts
        >>> def policy(ctx, op, *args):
        ...     print(op)
        ...     return "mm" in str(op)
        >>> x = gradwright.ones(2, 2, requires_grad=True)
        >>> y = checkpoint(lambda x: (x @ x).sin(), x, use_reentrant=False,
        ...                context_fn=partial(create_selective_checkpoint_contexts, policy))
        aten.mm.default
        aten.sin.default
    """
    if isinstance(policy_fn_or_list, list):
        ops = [_listed(op) for op in policy_fn_or_list]
        policy: Any = lambda ctx, op, *args: op in ops
    elif callable(policy_fn_or_list):
        policy = policy_fn_or_list
    else:
        raise TypeError("policy_fn_or_list must be either a function or a list of ops.")
    kept: defaultdict[Any, list[Any]] = defaultdict(list)
    return Asks(policy, kept), Gives(kept)


def _listed(op: Any) -> Any:
    if isinstance(op, OpOverload) and op.__name__.count(".") < 4:
        raise ValueError(f"Expected op in `op_list` to be an OpOverload but got: {op} of type {type(op)}. Please "
                         "update the OpOverloadPacket to a specific OpOverload. For example, if you have "
                         "`torch.ops.aten.mm`, change it to `torch.ops.aten.mm.default`.")  # fmt: skip
    if isinstance(op, (Op, OpOverload)) or op in named.values():
        return op
    raise ValueError(f"Expected op in `op_list` to be an OpOverload, as torch.ops.aten.mm.default, or an operation of "
                     f"gradwright.op, but got: {op} of type {type(op)}.")  # fmt: skip
