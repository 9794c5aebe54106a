import math
from typing import Any

import numpy as np
import pytest

import gradwright
from gradwright.engine.watch import Watch


def numbers(*shape: int) -> Any:
    return np.arange(1.0, math.prod(shape) + 1).reshape(shape) / 3


CALLS: dict[str, tuple[Any, list[tuple[int, ...]]]] = {
    "cat": (lambda t, x, y: [t.cat([x, y]), t.cat((x, y, x), dim=0), t.cat([x, y], -2), t.cat([x])], [(2, 3), (1, 3)]),
    "cat along the last": (lambda t, x, y: [t.cat([x, y], 1), t.cat([x, y], dim=-1), t.concat([x, y], 1),
                                            t.concatenate([y, x], 1)], [(2, 3), (2, 1)]),
    "cat with none": (lambda t, x, y, z: [t.cat([x, y]), t.cat([z, x], 1), t.cat([x, z, x], 1)],
                      [(2, 3), (0, 3), (2, 0)]),
    "cat with an empty vector": (lambda t, x, y: [t.cat([x, y]), t.cat([y, x]), t.cat([y, y])], [(2, 3), (0,)]),
    "stack": (lambda t, x, y: [t.stack([x, y]), t.stack((x, y), 1), t.stack([x, y, x], dim=-1)], [(2, 3), (2, 3)]),
    "stack of 0-d": (lambda t, x, y: [t.stack([x, y]), t.stack([x], -1)], [(), ()]),
    "split": (lambda t, x: [x.split(2), x.split(3, dim=1), x.split([1, 4]), t.split(x, [2, 0, 2], -1), x.split(9)],
              [(5, 4)]),
    "split of none": (lambda t, x: [x.split(2), x.split(0), x.split([0, 0]), x.split(2, 1)], [(0, 3)]),
    "chunk": (lambda t, x: [x.chunk(2), x.chunk(3), x.chunk(9), t.chunk(x, 2, dim=-1), x.chunk(1)], [(5, 4)]),
    "unbind": (lambda t, x: [x.unbind(), t.unbind(x, 1), x.unbind(-1)], [(2, 3)]),
    "iteration": (lambda t, x: list(x), [(2, 3)]),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_call(same: Any, name: str) -> None:
    f, shapes = CALLS[name]
    same(f, *(numbers(*s) for s in shapes))


def test_joining_promotes(same: Any) -> None:
    x, y, z = np.ones((2, 3), np.float32), np.ones((2, 3)), np.ones((2, 3), np.int64)
    for f in (lambda t, x, y: t.cat([x, y]), lambda t, x, y: t.stack([x, y])):
        same(f, x, y, names=False)
        same(f, z, x, names=False)
        same(f, z, z > 0, names=False)


class Entries(Watch):
    """How many numbers the nodes of backward passes put out."""

    computes, seen = False, 0

    def run(self, node: Any, g: Any, call: Any) -> Any:
        results = call()
        for r in results:
            self.seen += sum(v.size for v in r.values()) if isinstance(r, dict) else r.size
        return results


def test_backward_of_many_pieces_takes_linear_work() -> None:
    for f in (lambda x, n: gradwright.cat(x.split(1)), lambda x, n: gradwright.stack(x.unbind())):
        for n in (100, 2000):
            x = gradwright.ones(n, requires_grad=True)
            y = f(x, n).sum()
            with Entries() as entries:
                y.backward()
            assert x.grad.tolist() == [1.0] * n
            assert n < entries.seen < 6 * n  # n * n, if each piece put out a gradient of the whole


def test_pieces_are_views() -> None:
    x = gradwright.ones(4, 4)
    for name in ("hsplit", "vsplit", "tensor_split", "split_with_sizes"):
        arguments = ([1, 3],) if name == "split_with_sizes" else (2,)
        assert all(p._base is x for p in getattr(x, name)(*arguments))
    assert not any(p._is_view() for p in gradwright.unsafe_split(x, 2))


def test_meshgrid_warns_without_indexing() -> None:
    with pytest.warns(UserWarning, match="indexing"):
        gradwright.meshgrid(gradwright.ones(2), gradwright.ones(3))


def test_axis_is_another_name_of_dim(torch):
    for t in (gradwright, torch):
        x = t.arange(6.0).reshape(2, 3)
        assert t.cat((x, x), axis=1).shape == t.concat((x, x), axis=-1).shape == (2, 6)
        assert t.stack([x, x], axis=1).shape == (2, 2, 3)
        assert [p.tolist() for p in t.unbind(x, axis=1)] == [[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]]
        assert [p.shape for p in x.chunk(3, axis=1)] == [(2, 1)] * 3
        assert t.unsqueeze(x, axis=0).squeeze(axis=0).shape == (2, 3)
        with pytest.raises(TypeError, match="unsqueeze"):
            x.unsqueeze()


def test_dim_and_axis_both_given(torch):
    for t in (gradwright, torch):
        x = t.zeros(1, 2)
        for name, given in (("cat", [x, x]), ("stack", [x]), ("unbind", x), ("squeeze", x), ("unsqueeze", x)):
            for call in (lambda f, v: f(v, 0, axis=1), lambda f, v: f(v, dim=0, axis=0)):
                message = rf"^{name}\(\)" + (": 'axis' is another name of 'dim'; both given" if t is gradwright else "")
                with pytest.raises(TypeError, match=message):
                    call(getattr(t, name), given)
        with pytest.raises(TypeError, match=r"chunk\(\)"):
            x.chunk(2, 0, axis=1)
