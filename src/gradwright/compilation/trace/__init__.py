"""Traced runs: what is computed, read and written in one run of a function."""
