"""Batching rules: where the batch goes in each operation. A rule is entered where it is declared."""

from gradwright.transform.batching import algebra, indexing, lines, shapes, windows
from gradwright.transform.batching.rules import batched

__all__ = ["algebra", "batched", "indexing", "lines", "shapes", "windows"]
