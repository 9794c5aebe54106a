"""What may not be written in place, and that a refused write leaves no trace: "nothing is ever half-written"."""

import numpy as np
import pytest

import gradwright


def state(*tensors):
    return [(t.tolist(), t._version, t.requires_grad, t.grad_fn, t.is_leaf, tuple(t.shape), t.dtype) for t in tensors]


def refused(change, message, *tensors, error=RuntimeError):
    """Check that ``change()`` raises and that the tensors are as they were."""
    before = state(*tensors)
    with pytest.raises(error, match=message):
        change()
    assert state(*tensors) == before


WRITES = {
    "add_": lambda t: t.add_(1),
    "mul_": lambda t: t.mul_(t.detach().clone()),
    "iadd": lambda t: t.__iadd__(1),
    "zero_": lambda t: t.zero_(),
    "fill_": lambda t: t.fill_(3),
    "copy_": lambda t: t.copy_(t.detach().clone()),
    "setitem": lambda t: t.__setitem__(0, 1.0),
    "set by mask": lambda t: t.__setitem__(t > 0, 1.0),
    "uniform_": lambda t: t.uniform_(),
}


@pytest.mark.parametrize("name", WRITES)
def test_a_leaf_that_requires_grad(leaf, name):
    x = leaf([1.0, 2.0])
    message = "a (view of a )?leaf Variable that requires grad is being used in an in-place operation."
    refused(lambda: WRITES[name](x), message, x)


@pytest.mark.parametrize("name", WRITES)
def test_a_view_of_a_leaf(leaf, name):
    x = leaf([[1.0, 2.0], [3.0, 4.0]])
    v = x[0]
    message = "a view of a leaf Variable that requires grad is being used in an in-place operation."
    refused(lambda: WRITES[name](v), message, x, v)


def test_the_exact_words(leaf):
    x = leaf([1.0])
    for change, what in ((lambda: x.add_(1), "leaf Variable"), (lambda: x[:].add_(1), "view of a leaf Variable")):
        with pytest.raises(RuntimeError) as error:
            change()
        assert str(error.value).startswith(f"a {what} that requires grad is being used in an in-place operation.")


NO_GRAD = (
    r"A view was created in no_grad mode and {} modified inplace with grad mode enabled. Given that this use case is "
    r"ambiguous and error-prone, it is forbidden. You can clarify your code by moving both the view and the inplace "
    r"either both inside the no_grad block \(if you don't want the inplace to be tracked\) or both outside \(if you "
    r"want the inplace to be tracked\)."
)
SEVERAL = (
    r"Output 1 of {} is a view and {} modified inplace. This view is the output of a function that returns multiple "
    r"views. Such functions do not allow the output views to be modified inplace. You should replace the inplace "
    r"operation by an out-of-place one."
)
BASE = "its base or another view of its base has been"


@pytest.mark.parametrize("make", ["leaf", "result"])
def test_a_view_made_in_no_grad(T, leaf, make):
    x = leaf([1.0, 2.0])
    y = x if make == "leaf" else x * 2
    with T.no_grad():
        v = y[:1]
    before = y.tolist()
    with pytest.raises(RuntimeError, match=NO_GRAD.format("is being")):
        v.mul_(3)
    assert y.tolist() == before
    with T.no_grad():
        v.mul_(3)
    assert v.tolist() == [before[0] * 3]


def test_a_view_made_in_no_grad_of_a_base_that_changed(T, leaf):
    y = leaf([1.0, 2.0]) * 2
    with T.no_grad():
        v = y[:1]
    y.mul_(3)
    with pytest.raises(RuntimeError, match=NO_GRAD.format(BASE)):
        v * 2


@pytest.mark.parametrize(("name", "pieces"), [
    ("Unbind", lambda y: y.unbind()),
    ("Split", lambda y: y.split(1)),
    ("Split", lambda y: y.chunk(2)),
])  # fmt: skip
def test_one_of_several_views(leaf, name, pieces):
    y = leaf([[1.0, 2.0], [3.0, 4.0]]) * 1
    piece = pieces(y)[1]
    refused(lambda: piece.mul_(3), SEVERAL.format(name, "is being"), y, piece)
    y.mul_(2)
    with pytest.raises(RuntimeError, match=SEVERAL.format(name, BASE)):
        piece * 2


def test_one_of_several_views_without_history_may_be_written(T):
    x = T.ones(2, 2)
    x.unbind()[1].mul_(3)
    assert x.tolist() == [[1, 1], [3, 3]]


def test_expanded_memory(T):
    x = T.ones(2, 1)
    v = x.expand(2, 3)
    message = (
        "unsupported operation: more than one element of the written-to tensor refers to a single memory location. "
        r"Please clone\(\) the tensor before performing the operation."
    )
    refused(lambda: v.add_(1), message, x, v)
    v[:, 0].add_(1)  # no element of this is shared
    assert x.tolist() == [[2], [2]]


def test_what_was_only_nominally_expanded_may_be_written(T, leaf):
    x = leaf([1.0, 2.0])
    y = x * 1
    y.expand(2).mul_(3)
    y.expand(4, 2)[1].mul_(2)
    y.sum().backward()
    assert x.grad.tolist() == [6, 6]


def test_read_only_memory():
    array = np.ones(3)
    array.flags.writeable = False
    x = gradwright.from_numpy(array)
    v = x[:2]
    w = gradwright.ones(2, dtype=gradwright.float64, requires_grad=True)
    for t in (x, v):
        refused(lambda t=t: t.mul_(2), r"the written-to memory is read-only. Please clone\(\)", x, v)
    refused(lambda: v.mul_(w), "read-only", x, v)
    assert not array.flags.writeable


# ---- shapes, dtypes, indices -----------------------------------------------------------------------------


def cases(T):
    """Per failing write: what is written to, the write, the error."""
    wide, many = T.ones(2, 2, 3, dtype=T.float64), T.ones(4, dtype=T.float64)
    return {
        "broadcast": (lambda y: y.add_(wide), RuntimeError, r"output with shape \[2, 3\] doesn't match the broadcast"),
        "shapes": (lambda y: y.mul_(many), RuntimeError, r"The size of tensor a \(3\) must match the size of tensor b"),
        "iadd": (lambda y: y.__iadd__(many), RuntimeError, r"The size of tensor a \(3\) must match"),
        "complex": (lambda y: y.mul_(1j), RuntimeError, "can't be cast to .*type Double|no complex autograd"),
        "index": (lambda y: y.__setitem__(5, 1.0), IndexError, "index 5 is out of bounds"),
        "too many": (lambda y: y.__setitem__((0, 0, 0), 1.0), IndexError, "too many indices"),
        "value": (lambda y: y.__setitem__(0, many), RuntimeError, r"must match|cannot be broadcast|expanded size"),
        "masked value": (lambda y: y.__setitem__(y > 0, many), (RuntimeError, IndexError), r"shape mismatch"),
        "copy_": (lambda y: y.copy_(many), RuntimeError, r"must match|cannot be broadcast|expanded size"),
        "fill_": (lambda y: y.fill_(many), RuntimeError, "fill_ only supports 0-dimension value tensor"),
        "clamp_": (lambda y: y.clamp_(), (RuntimeError, ValueError), "[Aa]t least one of '?min'? or '?max'?"),
    }


@pytest.mark.parametrize("where", ["plain", "result", "view"])
@pytest.mark.parametrize("name", cases(gradwright))
def test_a_failed_write_leaves_everything_as_it_was(T, leaf, name, where):
    x = leaf([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    base = x.detach().clone() if where == "plain" else x * 1
    y = base[:] if where == "view" else base
    base.add_(0)
    change, error, message = cases(T)[name]
    refused(lambda: change(y), message, base, y, error=error)
    if where != "plain":
        base.sum().backward()
        assert x.grad.tolist() == [[1, 1, 1], [1, 1, 1]]


def test_an_index_that_is_out_of_range_half_way():  # (PyTorch has by then written the entries before it)
    x = gradwright.ones(3)
    refused(lambda: x.__setitem__([0, 9], 5.0), "index 9 is out of bounds", x, error=IndexError)


def test_integers_do_not_take_fractions(T):
    n = T.tensor([1, 2])
    for change in (lambda: n.add_(1.5), lambda: n.__itruediv__(2), lambda: n.mul_(T.ones(2))):
        refused(change, "result type Float can't be cast to the desired output type (Long|long int)", n)
    n.copy_(T.tensor([1.7, 2.7]))
    assert n.tolist() == [1, 2]


def test_what_is_no_value_cannot_be_assigned():
    x = gradwright.zeros(2)
    refused(lambda: x.__setitem__(0, "one"), "__setitem__: can't assign a str to a tensor", x, error=TypeError)
    refused(lambda: x.copy_([1, 2]), r"copy_\(\): argument 'other' \(position 2\) must be Tensor", x, error=TypeError)
    refused(lambda: x.__setitem__(1.5, 1), "valid indices, but got float", x, error=IndexError)


@pytest.mark.parametrize("operand", ["one", None, object()])
def test_unknown_operands_are_left_to_python(operand):
    x = gradwright.zeros(2)

    def change():
        y = x
        y += operand

    refused(change, "unsupported operand type", x, error=TypeError)


def test_a_view_cannot_be_detached_in_place(T, leaf):
    v = (leaf([1.0, 2.0]) * 2)[:1]
    with pytest.raises(RuntimeError, match=r"Can't detach views in-place. Use detach\(\) instead"):
        v.detach_()
