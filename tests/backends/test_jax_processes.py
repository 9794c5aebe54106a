"""What processes say to each other, where there is one; several are started in tests/distributed/test_session.py."""

from importlib import import_module

import numpy as np
import pytest

pytest.importorskip("jax")
module = import_module("gradwright.backends.jax_processes")


def test_a_process_alone_agrees_with_itself() -> None:
    assert module.client() is None
    assert module.meet("here") == {"here": "0"}
    module.agree("this", "never")
    module.agree_on_values(np.ones(3))
    module.wait("nowhere", "nothing")


def test_reading_together_ends_with_its_block() -> None:
    assert not module.reading_together()
    with module.together():
        assert module.reading_together()
    assert not module.reading_together()
