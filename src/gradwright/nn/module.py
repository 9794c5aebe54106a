"""Module: a function with parameters, and the root of the tree that modules inside modules make.

What it does is told in parts: how things are registered under a name (`gradwright.nn.registry`), the tree (`tree`),
conversion (`convert`), hooks (`hooks`), the state_dict (`state`) and what a failing call says (`faults`).
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, ParamSpec, Self, TypeVar

from gradwright.base.upward import above
from gradwright.nn import faults, hooks
from gradwright.nn.convert import Converted
from gradwright.nn.registry import Registry, extra
from gradwright.nn.state import State

if TYPE_CHECKING:
    from gradwright.face.typing import Forwards

P = ParamSpec("P")
R = TypeVar("R")


class Module(State, Converted):
    """A function with parameters. A subclass calls ``super().__init__()`` first, then defines `forward`.

    Parameters, buffers and modules assigned to attributes are registered, so that `parameters`, `state_dict`, `to` and
    their kin find them all through the tree. Calling a module runs `forward` and the hooks on it. An exception raised
    in there gets a note with the path of the layer that raised it, what it was given, and what it takes where it says
    so: by a method ``_takes``, or by attributes such as ``in_features``.

    Attributes:
        training: whether it is in training mode; set by `train` and `eval`.
        call_super_init: a subclass that has other bases sets it to True to have their ``__init__`` called, too, with
            the arguments that ``Module.__init__`` is given.

    Raises TypeError for a value that is not of the kind registered under a name, AttributeError for one assigned
    before ``super().__init__()``, KeyError for a name that is taken, NotImplementedError if called without a `forward`.

    >>> class Scale(Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.factor = gw.nn.Parameter(gw.tensor(2.0))
    ...     def forward(self, x):
    ...         return self.factor * x
    >>> scale = Scale()
    >>> scale(gw.ones(2))
    tensor([2., 2.], grad_fn=<MulBackward0>)
    >>> [name for name, _ in scale.named_parameters()]
    ['factor']
    """

    T_destination = TypeVar("T_destination", bound=dict[str, Any])
    dump_patches: bool = False
    call_super_init: bool = False
    training: bool

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if not self.call_super_init and (args or kwargs):
            name = f"{type(self).__name__}.__init__()"
            if kwargs:
                raise TypeError(f"{name} got an unexpected keyword argument '{next(iter(kwargs))}'")
            raise TypeError(f"{name} takes 1 positional argument but {len(args) + 1} were given")
        vars(self).update(
            training=True, _parameters={}, _buffers={}, _non_persistent_buffers_set=set(), _modules={}, _hooks=None
        )
        if self.call_super_init:
            super(Registry, self).__init__(*args, **kwargs)

    # -- calling --

    if TYPE_CHECKING:
        forward: Callable[..., Any]  # a subclass's has the arguments that it has, and a call has those of its forward

        def __call__(self: Forwards[P, R], *args: P.args, **kwargs: P.kwargs) -> R: ...
    else:

        def forward(self, *args: Any, **kwargs: Any) -> Any:
            """What the module computes; a subclass defines it."""
            own = [name for name in vars(type(self)) if name[0] != "_"]
            near = difflib.get_close_matches("forward", own, 1, 0.7)
            mend = f": is {near[0]!r} meant to be that?" if near else ""
            name = type(self).__name__
            raise NotImplementedError(f'Module [{name}] is missing the required "forward" function{mend}')

        def __call__(self, *args: Any, **kwargs: Any) -> Any:
            try:
                if self._hooks is None and not _everywhere:
                    return self.forward(*args, **kwargs)
                return hooks.run(self, args, kwargs)
            except faults.FAULTS as error:
                faults.blame(error, self, args, kwargs)
                raise

    def _takes(self) -> str:
        """The shape of its argument, for the note on an exception: "(N, 3, ...)"; "" if it does not say."""
        return faults.takes(self)

    def compile(self, **options: Any) -> None:
        """Let its calls be compiled from now on: `gradwright.compile` in place, with the same options."""
        above("compile_in_place")(self, **options)

    # -- modes --

    def train(self, mode: bool = True) -> Self:
        """Set ``training`` here and below. ValueError unless ``mode`` is a bool."""
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for child in self.children():
            child.train(mode)
        return self

    def eval(self) -> Self:
        """``train(False)``."""
        return self.train(False)

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)

    # -- printing --

    def extra_repr(self) -> str:
        """What stands between the brackets when the module is printed; a subclass may define it."""
        return ""

    @extra
    def summary(self, *inputs: Any, **keywords: Any) -> Any:
        """A table of the layers, when called with these inputs: see `gradwright.viz.summary`. PyTorch has none."""
        return above("summary")(self, *inputs, **keywords)

    def _get_name(self) -> str:
        return type(self).__name__

    def _described(self) -> Iterator[tuple[str, str]]:
        """Every child's label and text."""
        return ((name, repr(child)) for name, child in self._modules.items())

    def __repr__(self) -> str:
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        children = [_indented(f"({label}): {text}") for label, text in self._described()]
        if children or len(lines) > 1:
            return f"{self._get_name()}(\n  " + "\n  ".join(lines + children) + "\n)"
        return f"{self._get_name()}({extra})"


def _indented(text: str) -> str:
    """Every line but the first, and but the blank ones, moved to the right by two."""
    first, *rest = text.split("\n")
    return "\n".join([first, *(f"  {line}" if line.strip() else "" for line in rest)])


_everywhere = hooks.everywhere
