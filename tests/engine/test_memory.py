"""Views, aliases and writes over arrays that are never written do what they do over NumPy's."""

import importlib
import weakref
from typing import Any

import numpy as np
import pytest

import gradwright as gw
from gradwright import backends
from gradwright.engine.base import wrap
from gradwright.engine.memory import layout, overlaps, same
from gradwright.face.functions.views import set_

pytest.importorskip("array_api_strict")
strict = importlib.import_module("gradwright.backends.strict").namespace


def on_numpy(values: Any, dtype: Any = np.float64) -> Any:
    return gw.tensor(np.asarray(values, dtype))


def on_strict(values: Any, dtype: Any = np.float64) -> Any:
    return wrap(strict.asarray(np.asarray(values, dtype)))


def values(t: Any) -> Any:
    return np.array(backends.to_host(t.array))


def through_a_view(x: Any) -> list[Any]:
    b = x * 1
    v = b[:1]
    v.mul_(3)
    return [b, v]


def through_the_base(x: Any) -> list[Any]:
    b = x * 1
    v, w = b[1:], b.t()[0]
    b.mul_(x)
    return [b, v, w, b[0]]


def through_a_sibling(x: Any) -> list[Any]:
    b = x * 2
    v, w = b.view(-1), b[:, ::2]
    w.mul_(v[:2].clone())
    v.unbind()[0]
    return [b, v, w]


def through_an_alias(x: Any) -> list[Any]:
    b = x * 1
    v, d = b[0], b.detach()
    d[:, 1:].add_(1)
    return [b, v, d]


def through_data(x: Any) -> list[Any]:
    b = x * 1
    v = b[0]
    b.data[0].mul_(2)
    v.data.add_(1)
    return [b, v]


def without_recording(x: Any) -> list[Any]:
    with gw.no_grad():
        v = x[1]
        v -= 1
        x -= 0.5 * x
        a, b, c = x.unbind(-1)
        b.mul_(3)
    return [x, x * x, v.detach(), c.detach()]


def in_inference_mode(x: Any) -> list[Any]:
    with gw.inference_mode():
        b = x * 1
        v = b[0]
        v[1:].mul_(3)
        w = b.t()
        w[0].mul_(5)
        b.detach().add_(1)
    return [b, v, w]


def rearranged(x: Any) -> list[Any]:
    b = x * 1
    d, v = b.detach(), b[0]
    b.t_()
    b[0].mul_(2)
    d.add_(1)
    v.mul_(3)
    return [b, d, v, b.unsqueeze_(0)]


def shown(x: Any) -> list[Any]:
    b, c = x.detach() * 1, x.detach() * 2
    v, w = b[0], c[0]
    set_(b, c)
    b[0].mul_(2)
    w.add_(1)
    v.mul_(5)
    return [b, c, v, w]


def given_data(x: Any) -> list[Any]:
    b, c = x.detach() * 1, x.detach() * 2
    b.data = c
    b.mul_(2)
    c[0].add_(1)
    return [b, c]


def resized(x: Any) -> list[Any]:
    b = x.detach() * 1
    d = b.detach()
    b.resize_(3, 2)
    b[0].mul_(2)
    d[0].add_(1)
    return [b, d]


def strided(x: Any) -> list[Any]:
    b = x * 1
    v = b[0].as_strided((2, 2), (2, 1), 1)
    w = v.t()[1:]
    w.mul_(4)
    return [b, v, w, b.unfold(1, 2, 1)]


def complex_parts(x: Any) -> list[Any]:
    b = gw.view_as_complex(gw.stack([x, x * 2], -1)) * 1
    r, i = b.real, b.imag
    r[0].mul_(3)
    i.t()[1:].mul_(2)
    gw.view_as_real(b)[..., 0].add_(1)
    return [gw.view_as_real(b), r, i]


PROGRAMS = [
    through_a_view, through_the_base, through_a_sibling, through_an_alias, through_data, without_recording,
    in_inference_mode, rearranged, shown, given_data, resized, strided, complex_parts,
]  # fmt: skip


def outcome(program: Any, make: Any) -> list[Any]:
    x = make([[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]]).requires_grad_()
    out = program(x)
    facts = [(values(t), t.stride(), t.storage_offset(), t.is_contiguous(), t._is_view(),
              None if t.is_inference() else t._version) for t in out]  # fmt: skip
    ends = [t for t in out if not t.is_inference() and t.requires_grad]
    ones = [make(np.cos(values(t))) for t in ends]
    grads = gw.autograd.grad([t * t for t in ends], [x], ones, allow_unused=True) if ends else [None]
    return [*facts, values(x), None if grads[0] is None else values(grads[0])]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_a_program_does_the_same_on_both(program: Any) -> None:
    expected, got = outcome(program, on_numpy), outcome(program, on_strict)
    np.testing.assert_equal(got, expected)


def test_the_arrays_themselves_stay_as_they_were() -> None:
    array = strict.asarray([1.0, 2.0])
    x = wrap(array)
    x[:1].mul_(5)
    assert np.asarray(array).tolist() == [1, 2]
    assert values(x).tolist() == [5, 2]


def test_gradients_are_added_up_without_writing_to_what_was_given() -> None:
    x, g = on_strict([1.0, 2.0]).requires_grad_(), on_strict([3.0, 4.0])
    (x * 1).backward(g)
    seen, part = x.grad.detach(), x.grad[1:]
    (x * 1).backward(g)
    assert [values(t).tolist() for t in (g, x.grad, seen, part)] == [[3, 4], [6, 8], [6, 8], [8]]


def test_a_saved_value_that_was_written_is_refused_as_on_numpy() -> None:
    said = []
    for make in (on_numpy, on_strict):
        x = make([1.0, 2.0]).requires_grad_()
        b = x * 1
        y = b * b
        b.detach()[:1].mul_(2)
        with pytest.raises(RuntimeError, match="modified by an inplace operation") as e:
            y.backward(make([1.0, 1.0]))
        said.append(str(e.value).splitlines()[0])
    assert said[0] == said[1]


def test_what_was_overwritten_is_kept_for_the_write_that_needs_it() -> None:
    x = on_strict([1.0, 2.0]).requires_grad_()
    b = x * 1
    b[:1].mul_(b[1:].clone())
    (b * b).backward(on_strict([1.0, 1.0]))
    assert values(x.grad).tolist() == [8, 8]


def test_writes_that_are_refused_change_nothing() -> None:
    b = on_strict([[1.0], [2.0]]) * 1
    wide = b.expand(2, 3)
    with pytest.raises(RuntimeError, match="more than one element"):
        wide.mul_(on_strict([1.0, 2.0, 3.0]))
    with pytest.raises(RuntimeError):
        b[0].add_(on_strict([1.0, 2.0]))
    assert values(b).tolist() == [[1], [2]]
    assert b._version == 0


def test_a_value_saved_by_a_graph_is_not_written() -> None:
    x = on_strict([1.0, 2.0]).requires_grad_()
    y = (x * 1) ** 2
    saved = y.grad_fn._saved_self
    for t in (saved, saved[:1], saved.detach()):
        with gw.no_grad(), pytest.raises(RuntimeError, match=r"saved for backward .* clone\(\)"):
            t.mul_(2)
    saved.clone().mul_(2)


def test_views_need_not_outlive_their_users(no_gc: None) -> None:
    b = on_strict([1.0, 2.0]) * 1
    views = [b[:1], b[1:], b.detach()]
    refs = [weakref.ref(v) for v in views]
    del views
    assert [r() for r in refs] == [None, None, None]
    b.mul_(2)
    v = b[:1]
    ref = weakref.ref(b)
    del b
    v.mul_(3)
    assert values(v).tolist() == [6]
    assert ref() is not None  # a view holds its base, as it does over NumPy's arrays


def test_a_stale_array_is_read_anew_by_whoever_asks() -> None:
    b = on_strict([1.0, 2.0]) * 1
    v, w = b[1:], b[1:].t()
    b.mul_(2)
    assert v.array is v.array
    assert np.asarray(w.array).tolist() == [4]
    assert "4." in repr(v)


def test_tensors_have_no_other_attributes() -> None:
    with pytest.raises(AttributeError, match="'Tensor' object has no attribute 'nothing'"):
        _ = on_strict([1.0]).nothing
    with pytest.raises(AttributeError, match="'array'"):
        _ = object.__new__(gw.Tensor).array


def test_same_memory_and_how_it_is_laid_out() -> None:
    for make in (on_numpy, on_strict):
        b, c = make([[1.0, 2.0]]) * 1, make([[1.0, 2.0]])
        assert same(b, b.t())
        assert same(b, b)
        assert not same(b, c)
        assert not same(b, b.clone())
        assert layout(b.t()).strides == (8, 16)


def test_what_shares_places_overlaps_and_what_has_no_entries_does_not() -> None:
    for make in (on_numpy, on_strict):
        row = make([[1.0, 2.0]]) * 1
        assert overlaps(row.expand(3, 2))
        assert not any(map(overlaps, (row, row.t(), row.expand(3, 2)[:, :0], row.expand(0, 2), row.expand(3, 2)[:1])))
