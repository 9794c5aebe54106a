"""What programs ask of tensors, beside PyTorch's answers."""

import pytest

import gradwright as gw

FLAGS = ["is_sparse", "is_sparse_csr", "is_quantized", "is_meta", "is_mkldnn", "is_nested", "is_mps", "is_mtia",
         "is_maia", "is_ipu", "is_vulkan", "is_xla", "is_xpu", "name", "itemsize", "nbytes"]  # fmt: skip
CALLS = ["is_conj", "is_neg", "is_distributed", "is_pinned", "is_signed", "ndimension", "dense_dim",
         "dim_order"]  # fmt: skip


def answers(lib):
    x = lib.arange(6, dtype=lib.float64).reshape(2, 3)
    for t in (x, x.t(), x[0], x[1, 1], lib.zeros(2, 1, 3).permute(2, 1, 0), lib.ones(2, dtype=lib.uint8)):
        yield [getattr(t, name) for name in FLAGS]
        yield [getattr(t, name)() for name in CALLS]
        yield t.is_same_size(x), t.is_same_size(x + 1)
        yield t.is_set_to(t), t.is_set_to(t[...]), t.is_set_to(t + 1), t.is_set_to(x), t.is_set_to(x[0])
        yield [tuple(n.shape) for n in (t.new(), t.new(2, 3), t.new(x.shape), t.new([1, 2]))]
        yield str(t.new([1, 2]).dtype), t.new([1, 2]).tolist(), t.sparse_dim() if lib is gw else 0


def test_answers_as_pytorch_does():
    torch = pytest.importorskip("torch")
    assert [*answers(gw)] == [*answers(torch)]


def test_the_gradient_is_deleted():
    x = gw.ones(2, requires_grad=True)
    x.sum().backward()
    del x.grad
    assert x.grad is None
    (x * 3).sum().backward()
    assert x.grad.tolist() == [3, 3]


@pytest.mark.parametrize("call", [
    lambda x: x.pin_memory(), lambda x: x.share_memory_(), lambda x: x.is_coalesced(), lambda x: x.record_stream(0),
    lambda x: x.reinforce(1.0), lambda x: x.indices(), lambda x: x.values(), lambda x: x.coalesce(),
    lambda x: x.eig(), lambda x: x.lstsq(x), lambda x: x.solve(x), lambda x: x.symeig(),
])  # fmt: skip
def test_what_has_no_meaning_says_so(call):
    with pytest.raises(RuntimeError):
        call(gw.ones(2))


def test_dense_is_itself():
    x = gw.ones(2)
    assert x.to_dense() is x
    assert x.to_dense(gw.float64).dtype == gw.float64


@pytest.mark.filterwarnings("ignore:non-inplace resize")
def test_older_names_of_what_there_is(T):
    x = T.arange(4.0)
    assert x.resize(2, 2).tolist() == x.resize_as(T.zeros(2, 2)).tolist() == [[0, 1], [2, 3]]
    assert T.ones(2, dtype=T.float64).dequantize().dtype == T.float32
    assert x.to_sparse_coo().to_dense().tolist() == x.tolist()


def test_hooks_are_seen(T):
    x = T.ones(2, requires_grad=True)
    assert x._backward_hooks is None
    handle = x.register_hook(lambda g: g)
    assert len(x._backward_hooks) == 1
    handle.remove()
    assert not x._backward_hooks
