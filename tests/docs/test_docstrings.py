"""Docstrings as reStructuredText."""

import inspect
import io

import pytest

from docs.generator.docstrings import inline, rest, summary
from docs.generator.names import names

DOC = """y = x**2 | with `exp`, ``a_`` and *args; **Bold** words.

    Over two
    lines::

        a line  as it is

    - one `x + y`
      and on
    - two

    Args:
        x, y: two *things*:
            with more.

            >>> 1 + 1
            2
        **rest: others.

    Raises:
        ValueError: for a `b`.

    Shape: (N, C) to (N, C).

    Example::

        >>> print("*")
        *
    """


def test_each_kind_of_block() -> None:
    assert rest(DOC) == [
        r"y = x\*\*2 \| with :py:obj:`exp`, ``a_`` and \*args; **Bold** words.", "",
        "Over two", r"lines\:", "",
        ".. code-block:: text", "", "   a line  as it is", "",
        "- one ``x + y`` and on", "- two", "",
        ":Args:", r"   - **x**, **y**: two \*things\*\:", "     with more.", "",
        "     .. code-block:: pycon", "", "        >>> 1 + 1", "        2", "",
        r"   - **\*\*rest**: others.", "", "",
        ":Raises:", "   - **ValueError**: for a :py:obj:`b`.", "", "",
        r"Shape\: (N, C) to (N, C).", "",
        ".. code-block:: pycon", "", '   >>> print("*")', "   *", "",
    ]  # fmt: skip


def test_the_summary_is_the_first_sentence() -> None:
    assert summary("One of `x`, i.e. a\nthing. More.\n\nEven more.") == "One of :py:obj:`x`, i.e. a thing."


def test_lines_that_are_equations_stay_apart() -> None:
    assert rest("One\n\n    m = b g**2\n    p' = p - m") == ["One", "", r"| m = b g\*\*2", "| p' = p - m", ""]


def test_code_with_what_would_end_it() -> None:
    assert inline("``a`b`` and ``\\n``s") == r":code:`a\`b` and :code:`\\n`\ s"


def test_no_docstring_is_misread() -> None:
    core = pytest.importorskip("docutils.core", reason="docutils, which Sphinx brings, is not installed")
    from docutils import nodes
    from docutils.parsers.rst import roles

    roles.register_local_role("py:obj", lambda *a, **_: ([nodes.literal("", a[2])], []))
    texts = {}
    for name in names():
        for value in (name.value, *(vars(name.value).values() if inspect.isclass(name.value) else ())):
            if callable(value) and (doc := inspect.getdoc(value)):
                texts[doc] = name.path
    said = io.StringIO()
    together = "\n\n".join("\n".join([f".. {path}", "", *rest(doc)]) for doc, path in texts.items())
    settings = {"warning_stream": said, "report_level": 2, "syntax_highlight": "none"}
    core.publish_doctree(together, settings_overrides=settings)
    assert len(texts) > 1500
    assert said.getvalue() == ""
