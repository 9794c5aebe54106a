"""A docstring as reStructuredText: prose, `names`, ``code``, **words**, lists, examples, and sections such as Args."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator

_HEADS = ("Args", "Arguments", "Attributes", "Raises", "Shape", "Shapes", "Returns", "Yields", "State", "Note", "Notes",
          "Formula", "Formulas", "Kinks", "Errors")  # fmt: skip
_HEAD = re.compile(rf"({'|'.join(_HEADS)}):$")
_ITEM = re.compile(r"(\*{0,2}[\w.]+(?: \([^)]*\))?(?:, \*{0,2}[\w.]+)*): +(.+)")
_CODE = re.compile(r"``(.+?)``|`([^`]+)`|(?<![\w*])\*\*(?=[^\s*])([^*]+?)(?<=\S)\*\*(?![\w*])")
_NAME = re.compile(r"\w+(\.\w+)*")
_EQUATION = re.compile(r"[\w'\[\], ]{1,12} = ")
_BULLET = re.compile(r"([-*]|\d+\.) +")


def rest(docstring: str) -> list[str]:
    """The lines that say in reStructuredText what the docstring says; whatever else it has of that is escaped."""
    return _blocks(inspect.cleandoc(docstring).splitlines())


def summary(docstring: str) -> str:
    """The first sentence, escaped, on one line."""
    first = inspect.cleandoc(docstring).partition("\n\n")[0].replace("\n", " ")
    return inline(re.split(r"(?<=[^.\s][.])\s+(?![a-z])", first, maxsplit=1)[0])


def inline(text: str) -> str:
    """Prose of a docstring, with its code and names, everything else escaped."""
    out, at = [], 0
    for found in _CODE.finditer(text):
        code, name, bold = found.groups()
        out.append(_escaped(text[at : found.start()]))
        if bold:
            out.append(f"**{_escaped(bold)}**")
        elif name and _NAME.fullmatch(name):
            out.append(f":py:obj:`{name}`")
        else:
            out.append(_literal(code or name))
        at = found.end()
        if text[at : at + 1].isalnum():
            out.append("\\ ")
    return "".join(out) + _escaped(text[at:])


def _literal(code: str) -> str:
    """Code that stands in a line: what would end it, or begin or end with a blank, is written around."""
    code = code.strip()
    return f":code:`{_backslashed(code)}`" if "`" in code or "\\" in code else f"``{code}``"


def _backslashed(text: str) -> str:
    return text.replace("\\", "\\\\").replace("`", "\\`")


def _escaped(text: str) -> str:
    return re.sub(r"([\\*`|_<>\[\]:])", r"\\\1", text)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _paragraphs(lines: list[str]) -> Iterator[list[str]]:
    """What stands between empty lines."""
    found: list[str] = []
    for line in [*lines, ""]:
        if line.strip():
            found.append(line)
        elif found:
            yield found
            found = []


def _blocks(lines: list[str]) -> list[str]:
    out: list[str] = []
    paragraphs = list(_paragraphs(lines))
    while paragraphs:
        block = paragraphs.pop(0)
        head = _HEAD.match(block[0])
        while head and paragraphs and _indent(paragraphs[0][0]):  # a section goes on after an empty line
            block += ["", *paragraphs.pop(0)]
        found = _section(head[1], block[1:]) if head else _block(block)
        out += [*found, ""] if found else []
    return out


def _block(block: list[str]) -> list[str]:
    """One paragraph: an example, lines that stand in, a list, or prose with any of these after it."""
    if block[0].lstrip().startswith(">>>"):
        return [".. code-block:: pycon", "", *_under(inspect.cleandoc("\n".join(block)).splitlines())]
    if _indent(block[0]):
        return [".. code-block:: text", "", *_under(inspect.cleandoc("\n".join(block)).splitlines())]
    if re.fullmatch(r"Examples?::?", block[0]):
        return _block([line[_indent(block[1]) :] for line in block[1:]]) if block[1:] else []
    for i, line in enumerate(block[1:], 1):
        starts = line.lstrip().startswith(">>>") or (_BULLET.match(line) and not _BULLET.match(block[0]))
        if starts or _HEAD.match(line) or (_indent(line) and not _BULLET.match(block[0])):
            return [*_block(block[:i]), "", *_blocks(block[i:])]
    if _BULLET.match(block[0]):
        return _list(block)
    if len(block) > 1 and all(_EQUATION.match(line) for line in block):
        return [f"| {inline(line)}" for line in block]
    *start, last = block
    return inline("\n".join([*start, re.sub(r"(?<=\S)::$", ":", last)])).split("\n")


def _list(block: list[str]) -> list[str]:
    items: list[str] = []
    for line in block:
        if _BULLET.match(line):
            items.append(_BULLET.sub("", line, count=1))
        else:
            items[-1] += " " + line.strip()
    return [f"- {inline(item)}" for item in items]


def _section(head: str, lines: list[str]) -> list[str]:
    """A field: of what it lists (arguments, errors) one item each, else its text."""
    lines = inspect.cleandoc("\n".join(lines)).splitlines()
    starts = [i for i, line in enumerate(lines) if not _indent(line) and _ITEM.match(line)]
    if not starts or starts[0]:
        return [f":{head}:", *_under(_blocks(lines))]
    out = []
    for start, end in zip(starts, [*starts[1:], None], strict=True):
        names, text = _ITEM.match(lines[start]).groups()
        more = inspect.cleandoc("\n".join(["", *lines[start + 1 : end]])).splitlines()
        words = ", ".join(f"**{_escaped(word.strip())}**" for word in names.split(","))
        first, *others = _blocks([text, *more])
        out += [f"- {words}: {first}", *(f"  {line}".rstrip() for line in others)]
    return [f":{head}:", *_under(out)]


def _under(lines: list[str]) -> list[str]:
    return [f"   {line}".rstrip() for line in lines]
