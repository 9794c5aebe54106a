"""Markup: everything that is not markup is escaped."""

import json
from html.parser import HTMLParser

import pytest

from gradwright.base.pages.markup import Markup, data, join, prose, tag

NASTY = ["</script><script>alert(1)</script>", "\"' onload='x", "<!--", "&amp;", "a\x00b\x1b[31m\ud800", "]]>", "`<b>`"]


class Seen(HTMLParser):
    """Which elements, attributes and texts a parser that is not ours finds."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, list[tuple[str, str | None]]]] = []
        self.text = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, attrs))

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.parametrize("text", NASTY)
def test_text_and_attributes_come_out_as_they_went_in(text: str) -> None:
    seen = Seen(tag("p", text, title=text))
    clean = "".join("\N{REPLACEMENT CHARACTER}" if c in "\x00\x1b\ud800" else c for c in text)
    assert [name for name, _ in seen.tags] == ["p"]
    assert seen.text == clean
    assert seen.tags[0][1] == [("title", clean)]


def test_markup_lists_and_nothing_go_in_as_they_are() -> None:
    assert tag("p", Markup("<b>1</b>"), ["<", None, [2]]) == "<p><b>1</b>&lt;2</p>"


def test_attributes() -> None:
    made = tag("input", class_="a", for_="b", aria_label="c", hidden=True, open=False, id=None, value=0)
    assert made == '<input class="a" for="b" aria-label="c" hidden value="0">'


def test_backquotes_are_code() -> None:
    assert prose("`a<` is `b`") == "<code>a&lt;</code> is <code>b</code>"
    assert prose("one ` alone <") == "one ` alone &lt;"


@pytest.mark.parametrize("text", NASTY)
def test_data_reads_back_and_holds_no_markup(text: str) -> None:
    made = data({text: [text]})
    assert not set("<>&") & set(made)
    assert json.loads(made) == {text: [text]}


def test_data_is_json_as_browsers_read_it() -> None:
    with pytest.raises(ValueError, match="JSON"):
        data(float("nan"))


def test_join_is_markup() -> None:
    assert isinstance(join(["a", 1]), Markup)
