"""Checking everything with a hand-written derivative in a file or module: `gradwright check`."""
