"""Steps whose guards or refusals come from `gradwright.compilation.watch.reads`."""

from __future__ import annotations

import collections
import types
from typing import Any

import numpy as np
import pytest

import gradwright as gw
from tests.compilation.watch.seen import departure

w = gw.ones(3, requires_grad=True)


READS: dict[str, Any] = {}


def read(make):
    READS[make.__name__] = make
    return make


@read
def dict_read():
    d = {"k": 1.0}

    def step():
        return w * d["k"]

    return step, lambda: d.update(k=2.0)


@read
def dict_nested_read():
    d = {"a": {"k": 1.0}}

    def step():
        return w * d["a"]["k"]

    return step, lambda: d.update(a={"k": 2.0})


@read
def dict_get_read():
    d = {}

    def step():
        return w * d.get("k", 1.0)

    return step, lambda: d.update(k=2.0)


@read
def in_read():
    d = {}

    def step():
        return w * 2 if "k" in d else w

    return step, lambda: d.update(k=2.0)


@read
def set_in_read():
    d = set()

    def step():
        return w * 2 if "k" in d else w

    return step, lambda: d.add("k")


@read
def list_in_read():
    d = []

    def step():
        return w * 2 if "k" in d else w

    return step, lambda: d.append("k")


@read
def list_len_read():
    d = []

    def step():
        return w * len(d)

    return step, lambda: d.append("k")


@read
def list_iter_read():
    d = [1.0]

    def step():
        return sum(w * k for k in d)

    return step, lambda: d.append(2.0)


@read
def list_iter_change_read():
    d = [1.0, 2.0]

    def step():
        return sum(w * k for k in d)

    return step, lambda: d.__setitem__(1, 3.0)


@read
def list_of_lists_read():
    d = [[1.0], [2.0]]

    def step():
        return sum(w * k for (k,) in d)

    return step, lambda: d[1].__setitem__(0, 3.0)


@read
def dict_items_read():
    d = {"a": 1.0}

    def step():
        return sum(w * v for k, v in d.items())

    return step, lambda: d.update(b=1.0)


@read
def dict_values_read():
    d = {"a": 1.0}

    def step():
        return w * sum(d.values())

    return step, lambda: d.update(a=3.0)


@read
def array_content_read():
    a = np.ones(3, np.float32)

    def step():
        return w * gw.from_numpy(a)

    return step, lambda: a.__setitem__(0, 2)


@read
def array_rebind_read():
    a = np.ones(3, np.float32)

    def step():
        return w * gw.from_numpy(a)

    def change():
        nonlocal a
        a = np.ones(3, np.float32)

    return step, change


@read
def array_in_list_read():
    a = [np.ones(3, np.float32)]

    def step():
        return w * gw.from_numpy(a[0])

    return step, lambda: a[0].__setitem__(0, 2)


@read
def tensor_rebind_read():
    a = gw.ones(3)

    def step():
        return w * a

    def change():
        nonlocal a
        a = gw.ones(3)

    return step, change


@read
def tensor_list_read():
    a = [gw.ones(3)]

    def step():
        return gw.stack(a).sum()

    return step, lambda: a.append(gw.ones(3))


@read
def tensor_list_gw_read():
    a = [gw.ones(3)]

    def step():
        return gw.stack([*a, *a]).sum()

    return step, lambda: a.__setitem__(0, gw.ones(3))


@read
def shape_list_read():
    a = [3, 1]

    def step():
        return w.reshape(a)

    return step, lambda: a.reverse()


@read
def returned_read():
    c = {"k": 1.0}

    def get():
        return c

    def step():
        return w * get()["k"]

    return step, lambda: c.update(k=2.0)


@read
def alias_read():
    a = {"k": 1.0}
    b = a

    def step():
        return w * a["k"] * b["k"]

    def change():
        nonlocal b
        b = {"k": 2.0}

    return step, change


@read
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


@read
def namedtuple_read():
    C = collections.namedtuple("C", "k d")
    c = C(1.0, {"z": 1.0})

    def step():
        return w * c.k * c.d["z"]

    return step, lambda: c.d.update(z=2.0)


@read
def ordereddict_read():
    d = collections.OrderedDict(k=1.0)

    def step():
        return w * d["k"]

    return step, lambda: d.__setitem__("k", 2.0)


@read
def defaultdict_read():
    d = collections.defaultdict(lambda: 1.0, k=1.0)

    def step():
        return w * d["k"]

    return step, lambda: d.__setitem__("k", 2.0)


@read
def dict_subclass_read():
    class D(dict):
        def __getattr__(self, k):
            return self[k]

    d = D(k=1.0)

    def step():
        return w * d.k

    return step, lambda: d.__setitem__("k", 2.0)


@read
def deque_read():
    d = collections.deque([1.0, 2.0])

    def step():
        return w * d[0]

    return step, lambda: d.appendleft(5.0)


@read
def deque_sum_read():
    d = collections.deque([1.0, 2.0])

    def step():
        return w * sum(d)

    return step, lambda: d.append(5.0)


@read
def mappingproxy_read():
    b = {"k": 1.0}
    d = types.MappingProxyType(b)

    def step():
        return w * d["k"]

    return step, lambda: b.update(k=2.0)


@read
def numpy_scalar_read():
    k = np.float32(2.0)

    def step():
        return w * float(k)

    def change():
        nonlocal k
        k = np.float32(3.0)

    return step, change


@read
def np_array_item_read():
    k = np.array([2.0])

    def step():
        return w * float(k[0])

    return step, lambda: k.__setitem__(0, 3.0)


@read
def frozen_tuple_of_lists_read():
    d = ([1.0], [2.0])

    def step():
        return w * d[0][0]

    return step, lambda: d[0].__setitem__(0, 4.0)


@pytest.mark.parametrize("name", READS)
@pytest.mark.filterwarnings("ignore")
def test_what_is_read_is_guarded(name):
    guard = departure(*READS[name]())
    assert guard is not None, name
