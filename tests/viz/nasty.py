"""Names that could do harm where they are written, and graphs with them."""

from typing import Any

from hypothesis import strategies as st

import gradwright
from gradwright import viz

NASTY = [
    "</text><script>alert(1)</script>", '"];n9[label="', "\"' onload='x", "\\", 'a\\"', "a\\nb", "line\nbreak",
    "&amp;<b>", "]]>", "<!--", "%%{init: {}}%%", "`x`", "#quot;", "end", "a\x00b\x1b[31m", "\ud800", "\ufffe",
    "\u202eabc", "", " ",
]  # fmt: skip
names = st.text(st.characters(exclude_categories=()), max_size=20) | st.sampled_from(NASTY)


def named(name: str) -> viz.Graph:
    """A small graph of which everything that a user names is so named."""
    x = gradwright.ones(2, requires_grad=True)
    y = x * 2
    graph: Any = viz.graph({name: y.sin()}, params={name: x, f"{name}!": y})
    return graph
