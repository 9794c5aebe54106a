"""Steps that read lists, tuples, dictionaries and sets. Every function gives one: (step, change)."""

from __future__ import annotations

import collections
import collections.abc
import types

import numpy as np

import gradwright as gw
from tests.compilation.watch.programs.common import w


def dict_read():
    d = {"k": 1.0}
    return lambda: w * d["k"], lambda: d.update(k=2.0)


def dict_nested_read():
    d = {"a": {"k": 1.0}}
    return lambda: w * d["a"]["k"], lambda: d.update(a={"k": 2.0})


def dict_get_read():
    d = {}
    return lambda: w * d.get("k", 1.0), lambda: d.update(k=2.0)


def in_read():
    d = {}
    return lambda: w * 2 if "k" in d else w, lambda: d.update(k=2.0)


def set_in_read():
    d = set()
    return lambda: w * 2 if "k" in d else w, lambda: d.add("k")


def list_in_read():
    d = []
    return lambda: w * 2 if "k" in d else w, lambda: d.append("k")


def list_len_read():
    d = []
    return lambda: w * len(d), lambda: d.append("k")


def list_iter_read():
    d = [1.0]
    return lambda: sum(w * k for k in d), lambda: d.append(2.0)


def list_iter_change_read():
    d = [1.0, 2.0]
    return lambda: sum(w * k for k in d), lambda: d.__setitem__(1, 3.0)


def list_of_lists_read():
    d = [[1.0], [2.0]]
    return lambda: sum(w * k for (k,) in d), lambda: d[1].__setitem__(0, 3.0)


def dict_items_read():
    d = {"a": 1.0}
    return lambda: sum(w * v for k, v in d.items()), lambda: d.update(b=1.0)


def dict_values_read():
    d = {"a": 1.0}
    return lambda: w * sum(d.values()), lambda: d.update(a=3.0)


def array_content_read():
    a = np.ones(3, np.float32)
    return lambda: w * gw.from_numpy(a), lambda: a.__setitem__(0, 2)


def array_rebind_read():
    a = np.ones(3, np.float32)

    def change():
        nonlocal a
        a = np.ones(3, np.float32)

    return lambda: w * gw.from_numpy(a), change


def array_in_list_read():
    a = [np.ones(3, np.float32)]
    return lambda: w * gw.from_numpy(a[0]), lambda: a[0].__setitem__(0, 2)


def tensor_rebind_read():
    a = gw.ones(3)

    def change():
        nonlocal a
        a = gw.ones(3)

    return lambda: w * a, change


def tensor_list_read():
    a = [gw.ones(3)]
    return lambda: gw.stack(a).sum(), lambda: a.append(gw.ones(3))


def tensor_list_gw_read():
    a = [gw.ones(3)]
    return lambda: gw.stack([*a, *a]).sum(), lambda: a.__setitem__(0, gw.ones(3))


def shape_list_read():
    a = [3, 1]
    return lambda: w.reshape(a), lambda: a.reverse()


def returned_read():
    c = {"k": 1.0}

    def get():
        return c

    return lambda: w * get()["k"], lambda: c.update(k=2.0)


def alias_read():
    a = {"k": 1.0}
    b = a

    def change():
        nonlocal b
        b = {"k": 2.0}

    return lambda: w * a["k"] * b["k"], change


def tuple_obj_read():
    class T:
        k = 1.0

    t = T()
    t.k = 1.0
    tup = (t, 2.0)

    def step():
        a, b = tup
        return w * a.k * b

    return step, lambda: setattr(t, "k", 2.0)


def namedtuple_read():
    C = collections.namedtuple("C", "k d")
    c = C(1.0, {"z": 1.0})
    return lambda: w * c.k * c.d["z"], lambda: c.d.update(z=2.0)


def ordereddict_read():
    d = collections.OrderedDict(k=1.0)
    return lambda: w * d["k"], lambda: d.__setitem__("k", 2.0)


def defaultdict_read():
    d = collections.defaultdict(lambda: 1.0, k=1.0)
    return lambda: w * d["k"], lambda: d.__setitem__("k", 2.0)


def dict_subclass_read():
    class D(dict):
        def __getattr__(self, k):
            return self[k]

    d = D(k=1.0)
    return lambda: w * d.k, lambda: d.__setitem__("k", 2.0)


def deque_read():
    d = collections.deque([1.0, 2.0])
    return lambda: w * d[0], lambda: d.appendleft(5.0)


def deque_sum_read():
    d = collections.deque([1.0, 2.0])
    return lambda: w * sum(d), lambda: d.append(5.0)


def mappingproxy_read():
    b = {"k": 1.0}
    d = types.MappingProxyType(b)
    return lambda: w * d["k"], lambda: b.update(k=2.0)


def numpy_scalar_read():
    k = np.float32(2.0)

    def change():
        nonlocal k
        k = np.float32(3.0)

    return lambda: w * float(k), change


def np_array_item_read():
    k = np.array([2.0])
    return lambda: w * float(k[0]), lambda: k.__setitem__(0, 3.0)


def frozen_tuple_of_lists_read():
    d = ([1.0], [2.0])
    return lambda: w * d[0][0], lambda: d[0].__setitem__(0, 4.0)


def values_kept_summed():
    d = {"a": 2.0}
    v = d.values()
    return lambda: w * sum(v), lambda: d.update(b=6.0)


def keys_kept_counted():
    d = {"a": 2.0}
    v = d.keys()
    return lambda: w * len(v), lambda: d.update(b=6.0)


def keys_kept_asked():
    d = {"a": 2.0}
    v = d.keys()
    return lambda: w * ("b" in v), lambda: d.update(b=6.0)


def keys_kept_as_truth():
    d = {}
    v = d.keys()
    return lambda: w * 2 if v else w, lambda: d.update(b=6.0)


def items_kept_gone_over():
    d = {"a": 2.0}
    v = d.items()
    return lambda: w * sum(n for _, n in v), lambda: d.update(a=6.0)


def values_of_a_proxy():
    d = {"a": 2.0}
    v = types.MappingProxyType(d).values()
    return lambda: w * sum(v), lambda: d.update(b=6.0)


def values_of_collections_abc():
    d = {"a": 2.0}
    v = collections.abc.ValuesView(d)
    return lambda: w * sum(v), lambda: d.update(a=6.0)
