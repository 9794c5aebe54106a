"""Where PyTorch's documentation has a name."""

import pytest

import gradwright as gw
from docs.generator.names import Name
from docs.generator.torch_links import BASE, link


@pytest.mark.parametrize(("namespace", "value", "address"), [
    ("gradwright", gw.sum, "generated/torch.sum.html"),
    ("gradwright.nn", gw.nn.Linear, "generated/torch.nn.Linear.html"),
    ("gradwright.special", gw.special.bessel_j0, "special.html"),
    ("gradwright.serialization", gw.save, "search.html?q=torch.serialization.save"),
])  # fmt: skip
def test_the_address_follows_the_module(namespace: str, value: object, address: str) -> None:
    name = Name(namespace, value.__name__, value)
    assert f"<{BASE}/{address}>" in (link(name, "src/gradwright/face/functions/reduce.py") or "")


def test_names_that_pytorch_has_not_have_no_link() -> None:
    assert link(Name("gradwright", "audit", gw.audit), "src/gradwright/verify/audit/session.py") is None
    assert link(Name("gradwright.viz", "graph", gw.viz.graph), "src/gradwright/viz/walk.py") is None
