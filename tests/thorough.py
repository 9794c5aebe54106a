"""How much is drawn at random: a part of it at a desk, all of it with CI=1, and far more with `make soak`."""

import os

WHOLE = bool(os.environ.get("CI"))
PROGRAMS = int(os.environ.get("SOAK", "2000" if WHOLE else "500"))
"""How many random programs; interrupts, forks and steps are parts of that."""
