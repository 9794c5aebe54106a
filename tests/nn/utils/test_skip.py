"""skip_init."""

import pytest


def test_makes_the_module(lib):
    m = lib.nn.utils.skip_init(lib.nn.Linear, 2, 3, dtype=lib.float64)
    assert (m.weight.shape, m.weight.dtype, m.weight.requires_grad) == ((3, 2), lib.float64, True)


def test_what_it_cannot_make(lib):
    class Plain(lib.nn.Module):
        def __init__(self):
            super().__init__()

    with pytest.raises(RuntimeError, match=r"^Expected a Module; got <class 'int'>"):
        lib.nn.utils.skip_init(int)
    with pytest.raises(RuntimeError, match="Module must support a 'device' arg to skip initialization"):
        lib.nn.utils.skip_init(Plain)
