"""Packing and padding: against PyTorch, and back and forth."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gradwright as gw

rnn = gw.nn.utils.rnn


@pytest.fixture
def R(T):
    return T.nn.utils.rnn


def x(T):
    return T.arange(12.0).reshape(3, 2, 2).requires_grad_()


def plain(packed):
    return [None if t is None else t.tolist() for t in packed]


@pytest.mark.parametrize("batch_first", [False, True])
def test_pack_and_pad_again(T, R, batch_first):
    a = x(T).detach().transpose(0, 1).contiguous() if batch_first else x(T).detach()
    a.requires_grad_()
    packed = R.pack_padded_sequence(a, T.tensor([1, 3]), batch_first=batch_first, enforce_sorted=False)
    assert plain(packed) == [[[2, 3], [0, 1], [6, 7], [10, 11]], [2, 1, 1], [1, 0], [1, 0]]
    padded, lengths = R.pad_packed_sequence(packed, batch_first, padding_value=-1, total_length=4)
    assert lengths.tolist() == [1, 3]
    rows = padded if batch_first else padded.transpose(0, 1)
    assert rows.tolist() == [[[0, 1], [-1, -1], [-1, -1], [-1, -1]], [[2, 3], [6, 7], [10, 11], [-1, -1]]]
    (padded * padded).sum().backward()
    grad = a.grad if batch_first else a.grad.transpose(0, 1)
    assert grad.tolist() == [[[0, 2], [0, 0], [0, 0]], [[4, 6], [12, 14], [20, 22]]]


def test_sorted_lengths_need_no_indices(T, R):
    packed = R.pack_padded_sequence(x(T), [2, 1])
    assert plain(packed) == [[[0, 1], [2, 3], [4, 5]], [2, 1], None, None]
    assert type(packed) is R.PackedSequence
    assert packed.sorted_indices is packed.unsorted_indices is None


@pytest.mark.parametrize(("lengths", "error", "message"), [
    ([1, 3], RuntimeError, "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True"),
    ([3, 0], RuntimeError, "Length of all samples has to be greater than 0, but found an element in 'lengths' that"),
    ([3], RuntimeError, r"Expected `len\(lengths\)` to be equal to batch_size, but got 1 \(batch_size=2\)"),
])  # fmt: skip
def test_lengths_that_are_refused(T, R, lengths, error, message):
    with pytest.raises(error, match=message):
        R.pack_padded_sequence(x(T), lengths)


def test_a_length_beyond_the_input_is_refused():
    with pytest.raises(RuntimeError, match="'lengths' has an element of 4, but input has only 3 steps"):
        rnn.pack_padded_sequence(x(gw), [4, 1])


def test_what_cannot_be_packed(T, R):
    with pytest.raises(IndexError):
        R.pack_padded_sequence(T.ones(3), [3])
    with pytest.raises(RuntimeError, match=r"Cannot pack empty tensors\."):
        R.pack_padded_sequence(T.ones(3, 0), [])


def test_total_length_must_do(T, R):
    with pytest.raises(ValueError, match="Expected total_length to be at least the length of the longest sequence in "
                                         "input, but got total_length=2 and max sequence length being 3"):  # fmt: skip
        R.pad_packed_sequence(R.pack_padded_sequence(x(T), [3, 1]), total_length=2)


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("batch_first", [False, True])
def test_pad_sequence(T, R, side, batch_first):
    parts = [T.ones(1, 2, requires_grad=True), 2 * T.ones(3, 2)]
    out = R.pad_sequence(parts, batch_first, -1.0, side)
    rows = out if batch_first else out.transpose(0, 1)
    one, missing = [[1, 1]], [[-1, -1]] * 2
    assert rows.tolist() == [missing + one if side == "left" else one + missing, [[2, 2]] * 3]
    out.sum().backward()
    assert parts[0].grad.tolist() == [[1, 1]]


@pytest.mark.parametrize(("sequences", "message"), [
    (lambda T: 3, "pad_sequence: Expected iterable for input sequences, but got arg of type: <class 'int'>"),
    (lambda T: [], "received an empty list of sequences"),
    (lambda T: [T.ones(2), T.ones(3, 1)], "agree|match"),
])  # fmt: skip
def test_what_cannot_be_padded(T, R, sequences, message):
    with pytest.raises(RuntimeError, match=message):
        R.pad_sequence(sequences(T))


def test_padding_side(T, R):
    with pytest.raises(RuntimeError, match="Expected padding_side to be one of left or right, but got up"):
        R.pad_sequence([T.ones(2)], padding_side="up")


def test_lists(T, R):
    parts = [T.tensor([5.0]), T.tensor([1.0, 2.0, 3.0])]
    packed = R.pack_sequence(parts, enforce_sorted=False)
    assert packed.data.tolist() == [1, 5, 2, 3]
    assert [t.tolist() for t in R.unpack_sequence(packed)] == [[5], [1, 2, 3]]
    assert [t.tolist() for t in R.unpad_sequence(T.ones(3, 2), T.tensor([1, 3]))] == [[1], [1, 1, 1]]
    assert R.invert_permutation(T.tensor([2, 0, 1])).tolist() == [1, 2, 0]
    assert R.invert_permutation(None) is None


def test_converting(T, R):
    packed = R.pack_sequence([T.ones(2)])
    assert packed.cpu() is packed.to(T.float32) is packed.float() is packed
    assert packed.double().data.dtype is packed.to(T.float64).data.dtype is T.float64
    assert packed.long().data.dtype is T.int64
    assert packed.double().batch_sizes is packed.batch_sizes
    assert not packed.is_cuda
    assert not packed.is_pinned()


def test_of_a_pair(T, R):
    assert plain(R.PackedSequence((T.ones(2), T.tensor([2])))) == [[1, 1], [2], None, None]
    assert R.PackedSequence(T.ones(2), T.tensor([2]), T.tensor([1, 0])).unsorted_indices.tolist() == [1, 0]


def test_of_data_alone():
    with pytest.raises(ValueError, match="expected data and batch_sizes"):
        rnn.PackedSequence(gw.ones(2))


@given(st.lists(st.integers(1, 6), min_size=1, max_size=6))
def test_unpacking_undoes_packing(lengths):
    parts = [gw.rand(n, 2) for n in lengths]
    for one, other in zip(rnn.unpack_sequence(rnn.pack_sequence(parts, enforce_sorted=False)), parts, strict=True):
        assert one.tolist() == other.tolist()
