"""What bytecode says of functions, in this interpreter; and without."""

import pytest

import gradwright
from gradwright.base.cpython import bytecode

LIMIT = 3


def example(ctx, g):
    global LIMIT  # noqa: PLW0603 - what is read
    inner = lambda: LIMIT + len(ctx.name)
    LIMIT = inner()
    setattr(ctx, "other", g.shape)  # noqa: B010
    return g, None, None


def test_the_interpreter_reads_as_it_is_written():
    assert bytecode.reads_as_written()
    assert bytecode.READS


def test_names():
    loaded, stored = set(), set()
    found = set(bytecode.names(example.__code__, loaded, stored))
    assert found == {"LIMIT", "len", "setattr"}
    assert {"LIMIT", "name", "shape", "other"} <= loaded
    assert {"LIMIT", "other"} <= stored
    assert not stored & {"name", "shape", "len"}


def test_without_it_every_name_counts(monkeypatch):
    read = set(), set()
    names = set(bytecode.names(example.__code__, *read))
    monkeypatch.setattr(bytecode, "READS", False)
    loaded, stored = set(), set()
    assert names <= set(bytecode.names(example.__code__, loaded, stored))
    assert read[0] <= loaded
    assert read[1] <= stored


@pytest.mark.parametrize(("f", "due"), [
    (example, [(3, 3)]), (lambda g: (g, g), [(2, 2)]), (lambda g: (None, 2.0), [(2, 0)]), (lambda g: g, []),
    (lambda g: (g * 1, g * 2), [(2, 0)]), (lambda g: (yield g), []),
])  # fmt: skip
def test_returns(monkeypatch, f, due):
    assert bytecode.returned(f.__code__) == due
    monkeypatch.setattr(bytecode, "READS", False)
    assert bytecode.returned(f.__code__) == []


def test_a_class_is_checked_by_it(monkeypatch):
    def define():
        class Two(gradwright.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x * 1

            @staticmethod
            def backward(ctx, g):
                return g, g * 1

        return Two

    with pytest.raises(TypeError, match="backward returns 2 gradients, but forward takes 1 input"):
        define()
    monkeypatch.setattr(bytecode, "READS", False)
    two = define()
    x = gradwright.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="gradients"):
        two.apply(x).sum().backward()
