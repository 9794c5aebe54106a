"""Whose code it is: which is observed, and which only called; and what of that does nothing beside its result."""

from __future__ import annotations

import builtins
import cmath
import collections
import copy
import ctypes
import datetime
import decimal
import functools
import itertools
import math
import operator
import os
import re
import sys
import sysconfig
import threading
import types
import weakref
from collections.abc import Iterable
from types import CodeType, FrameType
from typing import Any

import numpy as np

from gradwright.base.cpython.frames import ASKING
from gradwright.base.errors import home
from gradwright.base.source_line import HOME, is_own
from gradwright.engine.base import TensorBase


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


OBSERVED, OWN, NUMPY, STANDARD, PURE = "observed", "gradwright's", "NumPy's", "the standard library's", "pure"
_NN = HOME + "nn" + os.sep
_EXCEPT = tuple(_NN + name for name in (
    "functional", "registry.py", "hooks.py", "faults.py", "init.py", "state.py", "stateless.py", "convert.py",
    "lazy.py", "parameter.py", "ties.py", "per_sample.py", *(f"utils{os.sep}{name}.py" for name in (
        "clip_grad", "convert_parameters", "finite", "rnn", "skip")),
))  # fmt: skip
_NUMPY = os.path.dirname(np.__file__) + os.sep
_STANDARD = tuple({sysconfig.get_path("stdlib") + os.sep, os.path.dirname(os.__file__) + os.sep, "<frozen "})
_PACKAGES = (os.sep + "site-packages" + os.sep, os.sep + "dist-packages" + os.sep)
_PURE = tuple(f"{packages}{name}{os.sep}" for packages in _PACKAGES for name in ("einops", "opt_einsum", "scipy"))
_JAX = tuple(f"{packages}{name}{os.sep}" for packages in _PACKAGES for name in ("jax", "jaxlib", "ml_dtypes"))
_LIBRARIES = (sys.stdlib_module_names - {"__main__"}) | {"gradwright", "numpy", "builtins"}
known: dict[str, str] = {"<rule>": OWN, ASKING: OWN}
"""Whose the code of a file is, of those that were asked about."""


def whose(code: CodeType) -> str:
    """One of the five: what is neither gradwright's nor a library's is observed, and so is most of gradwright.nn."""
    name = code.co_filename
    found = known.get(name)
    if found is None:
        found = known[name] = _whose(name)
    return found


def _whose(name: str) -> str:
    if name == copy.__file__:  # which `is_own` counts as ours
        return STANDARD
    if is_own(name):
        return OBSERVED if name.startswith(_NN) and not name.startswith(_EXCEPT) else OWN
    if name.startswith(_NUMPY) or any(part in name for part in _JAX):
        return NUMPY
    if any(part in name for part in _PURE):
        return PURE
    if name.startswith(_STANDARD) and not any(part in name for part in _PACKAGES):
        return STANDARD
    return OBSERVED


def is_ours(code: CodeType) -> bool:
    """Whether it is gradwright's code, observed or not."""
    return code.co_filename.startswith(HOME) or code.co_filename == ASKING


def is_tuple_of_ours(frame: FrameType) -> bool:
    """Whether gradwright makes a named tuple: its constructor is text of the standard library, without a file."""
    above, module = frame.f_back, frame.f_globals.get("__name__", "")
    made = frame.f_code.co_filename == "<string>" and module.startswith("namedtuple_")
    return made and above is not None and whose(above.f_code) == OWN


def is_told_of_end(given: Iterable[Any]) -> bool:
    """Whether Python calls a function since an object is freed, by its arguments: at any time, and not by the step."""
    return any(isinstance(value, weakref.ref) and value() is None for value in given)


def root(value: Any) -> str:
    """The name of the package that a class, function or module is of."""
    if isinstance(value, type):
        return home(value)
    name = getattr(value, "__module__", None) or getattr(value, "__name__", None)
    return name.partition(".")[0] if isinstance(name, str) else ""


def is_library(value: Any) -> bool:
    """Whether it is a class or function of Python, NumPy or gradwright, which nobody changes.

    A class that is made by `exec` without a `__name__` says that it is of builtins.
    """
    name = root(value)
    if name == "builtins" and isinstance(value, type):
        return getattr(builtins, value.__name__, None) is value or not value.__flags__ & (1 << 9)
    return name in _LIBRARIES


_HANDLES: Any = (
    types.ModuleType, types.MethodDescriptorType, types.CodeType,
    types.WrapperDescriptorType, types.ClassMethodDescriptorType, types.GetSetDescriptorType, types.GenericAlias,
    types.MemberDescriptorType, types.UnionType, property, staticmethod, classmethod, re.Pattern, datetime.date,
    datetime.time, datetime.timedelta, datetime.tzinfo, decimal.Decimal, np.ufunc, operator.itemgetter,
    operator.attrgetter, operator.methodcaller, type(threading.Lock()), type(threading.RLock()), TensorBase, super,
    type(np.dot), type(functools.lru_cache(len)), ctypes._CFuncPtr,  # type: ignore[attr-defined]
)  # fmt: skip
"""Classes whose objects nobody changes, or whose change is seen elsewhere."""
_OF_STATE = _names("distributions masked nn optim pytorch signal sparse utils")
"""Packages of gradwright whose objects the user changes,"""
_SEEN_ELSEWHERE = _names("Module Optimizer")
"""but these: what is read of them is noted where it is read."""
_CACHES = {"Transform": _names("_cached_x_y _inv _made _recorded")}
"""Attributes in which a class of gradwright's remembers what it has computed."""


def is_handle(value: Any, ours: bool) -> bool:
    """Whether nothing is to be read in an object, by gradwright's code or by that of others."""
    kind = type(value)
    if isinstance(value, _HANDLES) or kind.__module__ == "typing" or kind.__name__ == "cython_function_or_method":
        return True
    if not ours:
        return False
    own = _own(kind)
    if not own:
        return not hasattr(kind, "__dataclass_fields__")
    if not _SEEN_ELSEWHERE.isdisjoint(cls.__name__ for cls in own):
        return True
    return not any(part in _OF_STATE for cls in own for part in cls.__module__.split(".")[1:2])


@functools.lru_cache(maxsize=1024)
def caches_of(cls: Any) -> frozenset[str]:
    """The attributes in which objects of a class remember what they have computed."""
    return frozenset().union(*(_CACHES.get(own.__name__, ()) for own in _own(cls)))


def _own(cls: Any) -> list[Any]:
    """The classes of gradwright's among a class and those above it."""
    return [owner for owner in cls.__mro__ if root(owner) == "gradwright"]


# -- what may be called without that anything happens beside its result; all else that is not Python code is refused --


_BUILTINS = _names("""
    abs all any ascii bin callable chr divmod format getattr hasattr hash hex id isinstance issubclass iter len max min
    next oct ord pow repr round sorted sum""")
CHANGES_FIRST = frozenset({
    operator.setitem, operator.delitem, operator.iadd, operator.isub, operator.imul, operator.ior, operator.iand,
    operator.ixor, operator.iconcat, operator.itruediv, operator.ifloordiv, operator.imod, operator.ipow,
    operator.ilshift, operator.irshift, operator.imatmul,
})  # fmt: skip
"""Functions that change their first argument."""
_MATHS = [f for module in (math, cmath, operator) for f in vars(module).values()
          if isinstance(f, types.BuiltinFunctionType)]  # fmt: skip
FUNCTIONS = frozenset([getattr(builtins, name) for name in _BUILTINS] + _MATHS + [functools.reduce])
"""Functions in C that only compute. What they are given is read."""
OF_ATOMS = frozenset({abs, round, min, max, repr, pow, divmod})
"""Those whose result for plain values is computed once more, to know it."""
MAY_RETURN_THEIRS = frozenset({min, max, sum, next, functools.reduce, operator.getitem})
"""Those that may return something that they were given, or that was in there."""
TYPES = frozenset({
    int, float, complex, bool, str, bytes, bytearray, list, tuple, dict, set, frozenset, range, slice, zip, enumerate,
    map, filter, reversed, type, super, object, property, staticmethod, classmethod, functools.partial,
    collections.deque, collections.defaultdict, collections.OrderedDict, types.MethodType, types.SimpleNamespace,
    types.MappingProxyType, operator.itemgetter, operator.attrgetter, operator.methodcaller, memoryview,
} | {t for t in vars(itertools).values() if isinstance(t, type)})  # fmt: skip
"""Classes in C whose objects are made without an effect."""
MODULES = _names("""
    abc collections contextlib copy copyreg dataclasses enum fractions functools itertools math numbers operator
    re string textwrap types typing _collections_abc statistics typing_extensions""")
"""Modules of the standard library whose Python code may be called."""
READ_OBJECTS = _names("collections copy copyreg dataclasses fractions numbers statistics string")
"""Those of them that look into the objects that they are given; others only call what these can."""
ASKS_OBJECTS = _names("""
    _ProtocolMeta.__instancecheck__ MappingView.__len__ KeysView.__contains__ KeysView.__iter__ ItemsView.__contains__
    ItemsView.__iter__ ValuesView.__contains__ ValuesView.__iter__""")
"""Functions of others that do, too."""
READ_WHOLE = _names("__reduce_ex__ __reduce__ __getstate__ __copy__ __deepcopy__ format format_map")
"""Methods in C that look into objects."""
ITERATE = frozenset({list, tuple, zip, enumerate, reversed, itertools.chain, itertools.islice})
"""Classes in C that only go over what they are given."""
IMMUTABLE = (int, float, complex, bool, str, bytes, tuple, frozenset, range, slice, type(None))
_OF_DICTS = _names("get keys values items copy fromkeys")
READERS: dict[Any, frozenset[str]] = {
    list: _names("index count copy"),
    dict: _OF_DICTS,
    set: _names("copy difference intersection isdisjoint issubset issuperset symmetric_difference union"),
    collections.deque: _names("index count copy"),
    types.MappingProxyType: _OF_DICTS,
}
"""Methods of containers that change nothing."""
OF_CLASSES = _names("""
    __new__ __init_subclass__ __subclasshook__ fromkeys maketrans fromhex from_bytes from_iterable mro __subclasses__
    __instancecheck__ __subclasscheck__ __init__ __call__ __prepare__ __class_getitem__ __dir__ __repr__""")
"""Methods of classes that change nothing."""
CONTAINERS = (list, dict, set, collections.deque)
_IN_PLACE = "__iadd__ __isub__ __imul__ __ior__ __iand__ __ixor__ __itruediv__"
SPECIAL_CHANGES = _names(f"{_IN_PLACE} __setitem__ __delitem__ __init__ __setattr__ __delattr__ __setstate__")
"""Special methods that change what they are called on."""
ARRAY_CHANGES = _names(f"""
    {_IN_PLACE} fill sort resize put itemset partition setfield byteswap setflags __setitem__ __setstate__""")
ARRAY_EFFECTS = _names("tofile dump")
NUMPY_CHANGES = _names("copyto put putmask place fill_diagonal put_along_axis")
NUMPY_EFFECTS = _names("""
    save savez savez_compressed savetxt load loadtxt genfromtxt fromfile memmap seterr seterrcall setbufsize
    set_printoptions show_config info frombuffer fromregex tofile empty empty_like test geterr getbufsize geterrcall
    get_printoptions array2string array_repr array_str""")
OWN_EFFECTS = _names("""
    manual_seed seed set_rng_state set_default_dtype set_default_device set_default_tensor_type set_printoptions save
    set_num_threads initial_seed get_rng_state load data_ptr storage_offset storage untyped_storage""")
"""Functions of gradwright that act on more than tensors."""
OWN_CHANGES = _names("""
    add_module add_param_group load_state_dict remove requires_grad_ to half float double bfloat16 cpu cuda
    set_extra_state __setstate__ __setattr__ __delattr__ train eval share_memory to_empty""")
"""Methods of gradwright's objects that change them, as all do that begin with ``register_``."""
OWN_PACKAGES = tuple(f"gradwright.{name}" for name in (
    "viz", "cli", "verify", "utils.cpp_extension", "utils.data", "serialization", "optim.lr_scheduler",
    "debug.profiler"))  # fmt: skip
"""Packages of gradwright whose functions do."""
