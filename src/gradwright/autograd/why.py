"""Why there is no gradient."""

from gradwright.debug.why_none import WhyNone, why_none

__all__ = ["WhyNone", "why_none"]
