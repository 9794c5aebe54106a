"""Functions at the top that write into their first argument."""

import pytest

import gradwright as gw
from gradwright.pytorch import in_place


@pytest.mark.parametrize("name", in_place.NAMES)
def test_the_argument_is_written_and_returned(torch, name):
    more = {"addmv_": ([[1.0, 2.0], [3.0, 4.0]], [1.0, 1.0]), "xlogy_": (2.0,), "clamp_": (0.2, 0.3),
            "clamp_max_": (0.2,), "clamp_min_": (0.3,), "clip_": (0.2, 0.3), "gcd_": ([4, 6],), "lcm_": ([4, 6],),
            "ldexp_": ([1, 2],)}.get(name, ())  # fmt: skip
    values = [6, 8] if name in ("gcd_", "lcm_") else [1.25, 1.5] if "cosh" in name else [0.25, 0.5]
    found = []
    for library in (gw, torch):
        x = library.tensor(values)
        given = [library.tensor(v) if isinstance(v, list) else v for v in more]
        assert getattr(library, name)(x, *given) is x
        found.append(x.numpy())
    assert found[0] == pytest.approx(found[1], rel=1e-6)


def test_what_is_no_tensor_is_refused():
    with pytest.raises(TypeError, match=r"^exp_\(\): argument 'input' \(position 1\) must be Tensor, not list"):
        gw.exp_([1.0])


def test_it_is_recorded():
    x = gw.tensor([1.0], requires_grad=True)
    y = gw.exp_(x * 1)
    y.backward()
    assert x.grad == y.detach()
