"""A page as a parser sees it, and how well colours stand out."""

import re
from html.parser import HTMLParser


class Seen(HTMLParser):
    """Elements, in order, and text, with what is in scripts kept apart."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text, self.scripts = "", [""]
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag == "script":
            self.scripts.append("")

    def handle_data(self, data: str) -> None:
        if self.elements and self.elements[-1][0] in ("script", "style"):
            self.scripts[-1] += data
        else:
            self.text += data

    @property
    def colours(self) -> dict[str, list[str]]:
        """The colours of the page by name: light and dark."""
        found = re.findall(r"--(\w+): light-dark\((#\w+), (#\w+)\)", self.scripts[0])
        return {name: values for name, *values in found}


def luminance(colour: str) -> float:
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return sum(w * p for w, p in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one: str, other: str) -> float:
    """The contrast of two colours as the Web Content Accessibility Guidelines define it."""
    low, high = sorted(map(luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)
