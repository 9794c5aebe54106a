"""Search that finds Chinese words: each two characters side by side are a word, in the index as in a query."""

from __future__ import annotations

import re

from sphinx.search.en import SearchEnglish

_RUN = re.compile(r"[\u4e00-\u9fff]+|[^\W\u4e00-\u9fff]+")


def words(text: str) -> list[str]:
    """The words of a text; of Chinese characters each pair, and one that stands alone."""
    found = []
    for run in _RUN.findall(text):
        chinese = "\u4e00" <= run[0] <= "\u9fff"
        found += [run[i : i + 2] for i in range(max(1, len(run) - 1))] if chinese else [run]
    return found


class Search(SearchEnglish):
    """English search, with Chinese."""

    js_splitter_code = r"""
var splitQuery = (query) => (query.match(/[\u4e00-\u9fff]+|[\p{Letter}\p{Number}_]+/gu) || []).flatMap((run) =>
  /^[\u4e00-\u9fff]{3,}$/.test(run) ? [...run].slice(1).map((letter, i) => run[i] + letter) : [run]);
"""

    def split(self, input: str) -> list[str]:
        """The words of a text."""
        return words(input)
