"""The pages of the reference: one for each module, and for each part of one that has many names."""

from __future__ import annotations

import ast
import importlib
import inspect
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import gradwright
from docs.generator import docstrings, torch_links
from docs.generator.figures import figure
from docs.generator.names import Name, first_of_each, names, namespaces, torch_path
from docs.generator.places import ROOT, Place, formulas, place
from docs.generator.signatures import signatures

LARGE = 40
"""A module with more names than this has a page for each file that makes them."""
TENSOR = {
    "attributes": "What a tensor knows of itself.",
    "methods": "Methods that are no functions of a module.",
    "functions": "Functions that are methods, too: the tensor is their first argument.",
    "in-place": "Methods that write their result into the tensor, and return it.",
}
"""The pages of Tensor's members."""
_ALT = "{} (full line) and its derivative (dashed) between -4 and 4"


class Reference:
    """What the pages say. ``pages`` makes them: reStructuredText by name; and ``figures``, the pictures on them."""

    def __init__(self) -> None:
        self.names = names()
        self.first = first_of_each(self.names)
        self.described = [name for name in self.names if self.first[name] is name]
        self.aliases: dict[Name, list[Name]] = {name: [] for name in self.described}
        for name in self.names:
            if self.first[name] is not name:
                self.aliases[self.first[name]].append(name)
        self.by_value = {id(name.value): name for name in self.described}
        self.figures: dict[str, str] = {}
        self.taken = {name.path for name in self.names}

    def pages(self) -> dict[str, str]:
        """The text of each page."""
        found: dict[str, list[str]] = {}
        tops: dict[str, str] = {}
        others = []
        for namespace in namespaces():
            own = [name for name in self.names if name.namespace == namespace]
            if not any(self.first[name] is name for name in own):
                others.append(namespace)
                continue
            tops[namespace] = _first_line(inspect.getdoc(importlib.import_module(namespace)))
            found |= self._door(namespace, own)
        found |= self._tensor()
        found["paths"] = self._paths(others)
        members = sum(name[0] != "_" for name in dir(gradwright.Tensor))
        found["index"] = [
            *_title("Reference"),
            f"All public names: {len(self.described)} functions, classes and values in {len(tops)} modules,",
            f"and {members} members of ``Tensor``. Made from the package when the site is built.",
            "Examples take ``import gradwright as gw`` for granted.", "",
            *_contents({**dict(sorted(tops.items(), key=lambda top: (".pytorch." in top[0], top[0]))),
                        "paths": "Other import paths of names that are described above."}),
        ]  # fmt: skip
        return {page: "\n".join(lines) + "\n" for page, lines in found.items()}

    # -- pages --

    def _door(self, namespace: str, own: list[Name]) -> dict[str, list[str]]:
        described = [name for name in own if self.first[name] is name and name.value is not gradwright.Tensor]
        elsewhere = [name for name in own if self.first[name] is not name and self.first[name].namespace != namespace]
        module = importlib.import_module(namespace)
        title = f"{namespace} ({torch_path(namespace)})" if ".pytorch." in namespace else namespace
        start = [*_title(title), *self._module(namespace), *docstrings.rest(inspect.getdoc(module) or ""), ""]
        if len(described) <= LARGE:
            return {namespace: [*start, *self._table(described), *self._entries(described), *self._pointers(elsewhere)]}
        parts = self._parts(described)
        tensor = {"gradwright.Tensor": docstrings.summary(gradwright.Tensor.__doc__ or "")}
        inner = tensor if namespace == "gradwright" else {}
        inner |= {f"{namespace}-{part}": _about(part, members) for part, members in parts.items()}
        pages = {namespace: [*start, *_contents(inner), *self._pointers(elsewhere)]}
        for part, members in parts.items():
            pages[f"{namespace}-{part}"] = [
                *_title(f"{namespace}: {part.replace('_', ' ')}"), f".. py:currentmodule:: {namespace}", "",
                _about(part, members), "",
                *self._table(members), *self._entries(members),
            ]  # fmt: skip
        return pages

    def _parts(self, described: list[Name]) -> dict[str, list[Name]]:
        """The names by the file that makes them; files with few together."""
        found: dict[str, list[Name]] = {}
        for name in described:
            found.setdefault(Path(place(name)[0]).stem, []).append(name)
        more = [name for part, members in found.items() if len(members) < 3 or part == "__init__" for name in members]
        kept = {part: members for part, members in sorted(found.items()) if members[0] not in more}
        return kept | ({"more": more} if more else {})

    def _tensor(self) -> dict[str, list[str]]:
        """Tensor, and its members: those that are functions, too, point there."""
        groups: dict[str, list[str]] = {group: [] for group in TENSOR}
        for name in dir(gradwright.Tensor):
            value = inspect.getattr_static(gradwright.Tensor, name)
            if name[0] != "_":
                group = ("attributes" if not _is_method(value) else "functions" if id(value) in self.by_value
                         else "in-place" if name.endswith("_") else "methods")  # fmt: skip
                groups[group].append(name)
        pages = {"gradwright.Tensor": [
            *_title("gradwright.Tensor"), ".. py:currentmodule:: gradwright", "",
            *self._entry(self.by_value[id(gradwright.Tensor)], members=()),
            *_contents({f"gradwright.Tensor-{group}": TENSOR[group] for group in groups}),
        ]}  # fmt: skip
        for group, members in groups.items():
            lines = [*_title(f"Tensor: {group}"), ".. py:currentmodule:: gradwright", "", TENSOR[group], ""]
            for name in members:
                lines += self._member(gradwright.Tensor, "Tensor.", name)
            pages[f"gradwright.Tensor-{group}"] = lines
        return pages

    def _paths(self, others: Iterable[str]) -> list[str]:
        """The modules whose names are all described at another."""
        lines = [*_title("Other import paths"), "The names of these modules are described where they stand first.", ""]
        for namespace in others:
            own = [name for name in self.names if name.namespace == namespace]
            lines += [*_title(namespace, "-"), *self._module(namespace), *self._pointers(own, "")] if own else []
        return lines

    # -- parts of pages --

    def _module(self, namespace: str) -> list[str]:
        """Says that a module is described here, unless a function has the same path."""
        return [f".. py:{'currentmodule' if namespace in self.taken else 'module'}:: {namespace}", ""]

    def _table(self, described: list[Name]) -> list[str]:
        """The names, and what each is, in a line each."""
        if len(described) < 4:
            return []
        lines = [".. list-table::", "   :class: summary", "   :widths: 30 70", ""]
        for name in described:
            doc = inspect.getdoc(name.value) if callable(name.value) else f"{_short(name.value)}."
            lines += [f"   * - :py:obj:`{name.name} <{name.path}>`", f"     - {docstrings.summary(doc or '')}"]
        return [*lines, ""]

    def _pointers(self, others: list[Name], heading: str = "Also here, and described elsewhere:") -> list[str]:
        """Names for what is described elsewhere."""
        lines = [heading, ""] if others else []
        for name in others:
            kind = _kind(name.value)
            lines += [f".. py:{kind}:: {name.name}", f"   :module: {name.namespace}", "   :no-typesetting:", ""]
        lines += [f"- ``{name.name}``: :py:obj:`{self.first[name].path}`" for name in others]
        return [*lines, ""]

    def _entries(self, described: Iterable[Name]) -> Iterator[str]:
        for name in described:
            yield from self._entry(name)

    def _entry(self, name: Name, members: Iterable[str] | None = None) -> list[str]:
        """A name: its signatures, its docstring, where it is made, and the members of a class."""
        value, kind = name.value, _kind(name.value)
        texts = (signatures(value) if callable(value) else []) or [""]
        short = texts[0] if len(texts) == 1 and len(texts[0]) < 50 else "(...)"
        heads = [f"{name.name}{text}" for text in texts]
        heads += [f"{alias.name}{short}" for alias in self.aliases[name] if alias.namespace == name.namespace]
        lines = [*_directive(kind, heads), f"   :module: {name.namespace}"]
        if kind == "data":
            lines += [f"   :type: {type(value).__name__}", f"   :value: {_short(value)}"]
        body = docstrings.rest(inspect.getdoc(value) or "") if callable(value) else []
        bases = [base for base in value.__bases__ if id(base) in self.by_value] if inspect.isclass(value) else []
        if bases:
            body += ["", "Base: " + ", ".join(f":py:obj:`{self.by_value[id(base)].path}`" for base in bases)]
        drawn = not name.name.endswith("_") and not name.namespace.startswith("gradwright.xp")
        if drawn and (picture := figure(value)):
            self.figures[name.path] = picture
            body += ["", f".. image:: {name.path}.svg", "   :class: figure", f"   :alt: {_ALT.format(name.name)}"]
        body += ["", *self._where(name)]
        if kind == "class":
            for member in self._own(value) if members is None else members:
                body += self._member(value, "", member)
        return [*lines, "", *_under(body), ""]

    def _where(self, name: Name) -> list[str]:
        """Where its source and its formula are, PyTorch's name, and its other names here."""
        at = place(name)
        links = [_link("Source", at)]
        links += [_link("Formula", found) for found in formulas(name.value)]
        if found := torch_links.link(name, at[0]):
            links.append(found)
        if others := [f"``{alias.path}``" for alias in self.aliases[name] if alias.namespace != name.namespace]:
            links.append("Also " + ", ".join(others))
        return [".. rst-class:: where", "", " · ".join(links), ""]

    def _own(self, cls: type) -> list[str]:
        """The public members that a class has not from another that is described, nor from outside."""
        above = [base for base in cls.__mro__[1:] if id(base) in self.by_value]
        found = []
        for name in dir(cls):
            maker = next((base for base in cls.__mro__ if name in vars(base)), object)
            known = maker is not cls and any(hasattr(base, name) for base in above)
            if name[0] != "_" and maker.__module__.startswith("gradwright") and not known:
                found.append(name)
        return found

    def _member(self, cls: type, owner: str, name: str) -> list[str]:
        """A method or an attribute; one that is a function of a module points there."""
        static = inspect.getattr_static(cls, name)
        value = getattr(cls, name)
        if _is_method(static):
            texts = signatures(value, bound=not isinstance(static, classmethod | staticmethod)) or ["()"]
            lines = _directive("method", [f"{owner}{name}{text}" for text in texts])
            function = self.by_value.get(id(static))
            doc = [f"See :py:obj:`{function.path}`."] if function else docstrings.rest(inspect.getdoc(value) or "")
        else:
            lines = [f".. py:attribute:: {owner}{name}"]
            documented = isinstance(static, property) or hasattr(static, "__get__")
            doc = docstrings.rest(inspect.getdoc(static) or "") if documented else []
        return [*lines, "", *_under(doc), ""]


# -- words --


def _title(text: str, sign: str = "=") -> list[str]:
    return [text, sign * len(text), ""]


def _contents(pages: dict[str, str]) -> list[str]:
    """A table of contents: pages, and what each has in a line."""
    lines = [".. toctree::", "   :hidden:", "", *(f"   {page}" for page in pages), "",
             ".. list-table::", "   :class: summary", "   :widths: 40 60", ""]  # fmt: skip
    for page, about in pages.items():
        lines += [f"   * - :doc:`{page}`", f"     - {about}"]
    return [*lines, ""]


def _directive(kind: str, heads: list[str]) -> list[str]:
    start = f".. py:{kind}:: "
    return [start + heads[0], *(" " * len(start) + head for head in heads[1:])]


def _under(lines: list[str]) -> list[str]:
    return [f"   {line}".rstrip() for line in lines]


def _is_method(static: Any) -> bool:
    return callable(static) or isinstance(static, classmethod | staticmethod)


def _kind(value: Any) -> str:
    if inspect.isclass(value):
        return "exception" if issubclass(value, BaseException) else "class"
    return "function" if callable(value) else "data"


def _short(value: Any) -> str:
    """A value on one line, or its type where that would be long or have an address in it."""
    text = " ".join(repr(value).split())
    return f"a {type(value).__name__}" if len(text) > 80 or " at 0x" in text else text


def _link(word: str, at: Place) -> str:
    file, line = at
    return f"{word}: :source:`{file.removeprefix('src/gradwright/')}:{line} <{file}:{line}>`"


def _about(part: str, members: list[Name]) -> str:
    """What a part has: what the file that makes its names says of itself, or the names."""
    if part == "more":
        return docstrings.inline(", ".join(f"`{name.path}`" for name in members[:5]) + " and others.")
    doc = ast.get_docstring(ast.parse((ROOT / place(members[0])[0]).read_text(encoding="utf-8")))
    return _first_line(doc)


def _first_line(doc: str | None) -> str:
    return docstrings.inline((doc or "").partition("\n\n")[0].replace("\n", " "))
