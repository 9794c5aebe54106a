"""Calls of libraries: gradwright's own functions, NumPy's and the standard library's."""

from __future__ import annotations

import functools
import sys
from abc import ABCMeta, get_cache_token
from types import BuiltinFunctionType, CellType, FunctionType, MethodWrapperType
from typing import Any, get_args

from gradwright.compilation.watch import pure
from gradwright.compilation.watch.effects import UNSEEN, Effects
from gradwright.compilation.watch.files import NUMPY, OWN, STANDARD, is_library, whose
from gradwright.compilation.watch.guards import MISSING
from gradwright.compilation.watch.reads import Unknown, lookup
from gradwright.engine.base import TensorBase

_UNSET = CellType()
_IN_C = (BuiltinFunctionType, MethodWrapperType, functools.partial)


class Libraries(Effects):
    """Judges calls of functions that are not observed."""

    def library(self, callee: Any, kind: str, args: list[Any], kwargs: dict[str, Any]) -> None:
        """A function that is not observed."""
        module, name = callee.__globals__.get("__name__", ""), callee.__name__
        if kind == STANDARD:
            self.closure(callee)
        if kind == STANDARD and module.partition(".")[0] not in pure.MODULES and not module.startswith("_frozen"):
            self.refuse(f"`{module}.{callee.__qualname__}` is called: {UNSEEN}")
        elif kind == NUMPY:
            self.numpy(name, module, args, kwargs)
        elif kind == OWN:
            self.own(module, name, args)
        for value in (*args, *kwargs.values()):
            self.read(value)
            if isinstance(value, _IN_C):
                self.call(value, [Unknown(None, False)], {})

    def closure(self, function: Any) -> None:
        """What a function of Python's library shares with its maker is read: so `singledispatch` keeps them."""
        todo, done = [function], set()
        while todo:
            one = todo.pop()
            one = one.dispatcher if isinstance(one, functools.singledispatchmethod) else one
            if isinstance(one, (dict, list, set)):
                self.read(one)
            elif isinstance(one, FunctionType) and one not in done and whose(one.__code__) == STANDARD:
                done.add(one)
                todo += [cell.cell_contents for cell in one.__closure__ or () if cell != _UNSET]

    def noted(self, value: Any, how: str, found: Any) -> Any:
        """What a weak reference or a context variable has now."""
        if not self.reads.is_outside(value):
            return found
        known = self.reads.known(value)
        if how == "()" and isinstance(found, TensorBase):
            self.refuse(f"`{known.name}` refers weakly to a tensor, which a program would keep alive: hold the tensor.")
        return self.reads.note(self.reads.step(known.source, how), found, f"{known.name}()", type(value).__name__)

    def registered(self, asked: Any, one: Any = None, kinds: Any = ()) -> None:
        """It was asked about abstract classes, with which others can be registered: what they say was read."""
        cls = one if asked is issubclass else one.type if isinstance(one, Unknown) else type(one)
        for kind in kinds if isinstance(kinds, tuple) else get_args(kinds) or (kinds,):
            if isinstance(kind, tuple):
                self.registered(asked, one, kind)
            elif isinstance(kind, ABCMeta):
                try:
                    answer = issubclass(cls, kind)
                except TypeError:  # the class is not known, or a protocol says it of instances alone: all are counted
                    source = self.reads.step(self.reads.known(get_cache_token).source, "()")
                    self.reads.note(source, get_cache_token(), "abc.get_cache_token()", "abstract classes")
                else:
                    source = self.reads.step(self.reads.known(kind).source, "over", cls)
                    said = f"issubclass({cls.__name__}, {kind.__name__})"
                    self.reads.note(source, answer, said, "abstract class")

    def call(self, callee: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """A call is about to be made."""
        raise NotImplementedError

    def own(self, module: str, name: str, args: list[Any]) -> None:
        """A function of gradwright."""
        if name == "apply" and args and isinstance(args[0], type):
            self.function(args[0])
        if name in pure.OWN_EFFECTS or (module.startswith(pure.OWN_PACKAGES) and not name.startswith("__")):
            self.refuse(f"gradwright's `{name}` is called, which acts on more than tensors. Call it outside.")
        elif args and (name.startswith("register_") or name in pure.OWN_CHANGES) and self.is_changed(args[0]):
            self.changes(args[0], f"`{name}`")
        elif module.startswith("gradwright.optim") and args and name not in ("__init__", "add_param_group"):
            self.optimizer(args[0], name)
        elif module == "gradwright.nn.hooks" and name == "run" and args:
            self.hooks(args[0])

    def function(self, cls: type) -> None:
        """A Function is applied: what it computes by is read off its class."""
        for name in ("forward", "setup_context", "backward", "vjp", "jvp", "vmap"):
            found, owner = lookup(cls, name)
            if found is not MISSING and not is_library(owner):
                self.reads.of_kind(cls, owner, name, found)

    def is_changed(self, value: Any) -> bool:
        """Whether it is a module, an optimiser or a handle from outside."""
        return not isinstance(value, (type, TensorBase, Unknown)) and self.reads.is_outside(value)

    def hooks(self, module: Any) -> None:
        """The hooks of a module, and those that hold everywhere, are called."""
        everywhere = module.__call__.__func__.__globals__.get("_everywhere", ())
        self.read(everywhere)
        for hooks in (vars(module).get("_hooks"), *everywhere):
            if hooks is not None and self.reads.is_outside(hooks):
                known = self.reads.known(hooks)
                for kind in type(hooks).__slots__:
                    held = getattr(hooks, kind)
                    self.reads.note(self.reads.step(known.source, ".", kind), held, f"{known.name}.{kind}", "hooks")
                    self.registry(held)

    def optimizer(self, value: Any, name: str) -> None:
        """An optimiser reads its groups, its state and its hooks."""
        if not isinstance(getattr(value, "param_groups", None), list) or not self.reads.is_outside(value):
            return
        groups = self.reads.own_dict(value, "param_groups")
        if name == "zero_grad":
            self.reads.length(groups)
            for k in range(len(groups)):
                self.read(self.reads.item(self.reads.item(groups, k), "params"))
            return
        self.read(groups)
        self.read(self.reads.own_dict(value, "state"))
        if "differentiable" in value.defaults:
            self.reads.item(self.reads.own_dict(value, "defaults"), "differentiable")
        for name in vars(value):
            if name.endswith(("step_pre_hooks", "step_post_hooks")):
                self.registry(self.reads.own_dict(value, name))
        module = sys.modules["gradwright.optim.optimizer"]
        for name in ("_before_any_step", "_after_any_step"):
            self.registry(self.reads.note(self.reads.step(self.reads.known(module).source, ".", name),
                                          getattr(module, name), name, "optimisers"))  # fmt: skip

    def registry(self, held: Any) -> None:
        """Hooks are looked through."""
        self.reads.truth(held)
        if held:
            self.read(held)
            for hook in list(held.values()):
                self.reads.judge(hook)

    def numpy(self, name: str, module: str, args: list[Any], kwargs: dict[str, Any]) -> None:
        """A function of NumPy's."""
        if ".random" in module or name in pure.NUMPY_EFFECTS:
            self.refuse(f"NumPy's `{name}` is called, whose result does not depend on its arguments alone. Use "
                        "gradwright's random numbers, or call it outside of the step.")  # fmt: skip
        elif name in pure.NUMPY_CHANGES and args:
            self.changes(args[0], f"NumPy's `{name}`")
        out = kwargs.get("out")
        for one in out if isinstance(out, tuple) else (out,):
            if one is not None:
                self.changes(one, f"NumPy's `{name}` with out=")
