"""Numbers on the command line."""

from __future__ import annotations

import argparse


def count(text: str) -> int:
    """A whole number of at least 1."""
    n = int(text)
    if n < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, got {text}")
    return n


def seconds(text: str) -> float:
    """A number of seconds above 0."""
    n = float(text)
    if not 0 < n < 1e6:
        raise argparse.ArgumentTypeError(f"must be a number of seconds above 0, got {text}")
    return n
