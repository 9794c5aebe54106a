"""What is known of an entry after its checks."""

from __future__ import annotations

from dataclasses import dataclass, field

CHECKS = ("value", "dtype", "gradient", "second", "state", "forms", "errors", "warnings")
COMPILED = ("step", "history", "training")
TRANSFORMS = ("jvp", "torch jvp", "vmap", "vmap of jvp", "jvp of vmap", "jvp of vjp")


@dataclass
class Check:
    """How often a check passed and failed, and the first difference it found."""

    passed: int = 0
    failed: int = 0
    reason: str = ""


@dataclass
class Record:
    """One entry: ``checks`` by the names of `CHECKS`; ``missing`` if gradwright does not have it."""

    name: str
    group: str
    missing: bool = False
    checks: dict[str, Check] = field(default_factory=lambda: {name: Check() for name in CHECKS + TRANSFORMS + COMPILED})
    skipped: int = 0
    other_kind: list[str] = field(default_factory=list)
    """Inputs refused with another kind of exception than PyTorch's: told apart, not counted as a disagreement."""
    compiled: int = 0
    """How many functions have run as one program."""
    eager: list[str] = field(default_factory=list)
    """Why others have run eagerly, or as several programs."""

    def note(self, check: str, difference: str | None, where: str = "") -> bool:
        """Count one comparison; ``difference`` is None if there was none. Returns whether it passed."""
        entry = self.checks[check]
        if difference is None:
            entry.passed += 1
            return True
        entry.failed += 1
        if not entry.reason:
            entry.reason = " ".join(f"{where}: {difference}".split()) if where else difference
        return False

    @property
    def status(self) -> str:
        """``missing``, ``disagree`` or ``agree``."""
        if self.missing:
            return "missing"
        return "disagree" if any(c.failed for c in self.checks.values()) else "agree"

    def agrees_in(self, check: str) -> bool:
        """Whether this check found nothing wrong, of an operation that worked at least once."""
        if self.missing or not (self.checks["value"].passed or self.skipped):
            return False
        return not self.checks[check].failed

    def reasons(self) -> list[str]:
        """A line per check that failed."""
        return [f"{n}: {c.reason} [{c.failed} of {c.failed + c.passed}]" for n, c in self.checks.items() if c.failed]
