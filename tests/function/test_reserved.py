"""Attributes of ctx under names that the node itself uses are refused where the class is defined; others are kept."""

import pytest

import gradwright as gw
from gradwright.function.reserved import check_names

METHODS = {
    "forward": "def forward(ctx, x):\n    y = x * 2\n    ctx.{} = 3.0\n    return y",
    "setup_context": "def setup_context(ctx, inputs, output):\n    ctx.a, ctx.{} = 1.0, 2.0",
    "backward": "def backward(ctx, g):\n    ctx.{} = g\n    return g",
}


def method(name: str, attribute: str) -> object:
    scope: dict[str, object] = {}
    exec(METHODS[name].format(attribute), scope)  # noqa: S102 - the text is written here
    return staticmethod(scope[name])


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("attribute", ["_seq", "_read", "_saved", "_next", "_needs", "_run"])
def test_names_of_the_node_are_refused(name: str, attribute: str) -> None:
    with pytest.raises(TypeError, match=rf"Double\.{name} sets ctx\.{attribute}, .*such as ctx\.{attribute[1:]}_"):
        type("Double", (gw.autograd.Function,), {name: method(name, attribute)})


@pytest.mark.parametrize("attribute", ["_mask", "_values", "_x", "seq", "saved", "_count", "shape", "saved_for_later"])
def test_other_names_are_the_users(attribute: str) -> None:
    class Scaled(gw.autograd.Function):
        @staticmethod
        def forward(ctx, x, by):
            setattr(ctx, attribute, by)
            return x * by

        @staticmethod
        def backward(ctx, g):
            return g * getattr(ctx, attribute), None

    x = gw.tensor([1.0, 2.0], requires_grad=True)
    Scaled.apply(x, 3.0).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [3.0, 3.0]


def test_other_objects_may_have_such_attributes() -> None:
    def forward(ctx: object, x: gw.Tensor) -> gw.Tensor:
        held = type("Held", (), {})()
        held._seq = 1  # type: ignore[attr-defined]
        return x * held._seq  # type: ignore[attr-defined]

    check_names("F", {"forward": staticmethod(forward)})
