"""What programs take from PyTorch's private modules."""

import importlib

import gradwright as gw
from gradwright.pytorch import compiler, private


def test_a_dispatch_by_an_argument():
    f = private.boolean_dispatch("flag", 1, False, lambda x, flag=False: x + 1, lambda x, flag=False: x)
    assert [f(1), f(1, True), f(1, flag=True), f(1, False)] == [1, 2, 2, 1]


def test_tensors_as_one_vector_and_back(torch):
    for t, flatten, back in ((gw, private._flatten_dense_tensors, private._unflatten_dense_tensors),
                             (torch, torch._utils._flatten_dense_tensors, torch._utils._unflatten_dense_tensors)):
        tensors = [t.arange(6.0).reshape(2, 3), t.tensor(7.0), t.arange(2.0)]
        flat = flatten(tensors)
        assert flat.tolist() == [0, 1, 2, 3, 4, 5, 7, 0, 1]
        assert [x.tolist() for x in back(flat, tensors)] == [x.tolist() for x in tensors]


def test_tensors_that_count_as_not_written(T):
    x = T.ones(2, requires_grad=True)
    y = x * 2
    z = (y * y).sum()
    preserve = private._unsafe_preserve_version_counter if T is gw else T.autograd._unsafe_preserve_version_counter
    with preserve(y), T.no_grad():
        y.add_(1)
    assert y._version == 0
    z.backward()
    assert x.grad.tolist() == [12, 12]


def test_a_setting_without_effect():
    x = gw.ones(2, requires_grad=True)
    with private.set_multithreading_enabled(False):
        (x * 2).sum().backward()
    assert x.grad.tolist() == [2, 2]


def test_lines_are_moved(torch):
    assert private._addindent("a\nb\nc", 2) == torch.nn.modules.module._addindent("a\nb\nc", 2)


def test_a_setting_without_effect_as_a_decorator(T):
    setting = private.set_multithreading_enabled if T is gw else T.autograd.grad_mode.set_multithreading_enabled

    @setting(False)
    def double(x):
        return x * 2

    assert double(T.ones(2)).tolist() == [2, 2]
    assert double.__name__ == "double"


def test_vmap_by_its_older_name(T):
    vmap = private._vmap if T is gw else importlib.import_module("torch._vmap_internals")._vmap
    dot = vmap(lambda x, y: (x * y).sum(), in_dims=(0, None))
    assert dot(T.ones(2, 3), T.tensor([1.0, 2.0, 3.0])).tolist() == [6, 6]


def test_nothing_is_compiled_by_pytorch(T):
    assert not (private if T is gw else importlib.import_module("torch._utils")).is_compiling()
    assert private.is_compiling is compiler.is_compiling
