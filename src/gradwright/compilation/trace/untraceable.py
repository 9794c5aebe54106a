"""Why a function is not compiled."""


class Untraceable(Exception):  # noqa: N818 - no error: the function is run eagerly
    """The function is run eagerly instead, and this says why."""
