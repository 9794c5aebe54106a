"""PyTorch's own table of cases for its modules, run on both libraries: one state, one input, one result.

`run(torch, "nn.Linear")` builds every case that `torch.testing` has for a module in both, and compares what is printed,
the state, the outputs, and the gradients of inputs and parameters; `refuse` runs its cases of bad input.
"""

import contextlib
import warnings
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import gradwright


def run(torch: ModuleType, name: str, training: bool = True, convert: Callable[[Any], Any] = lambda value: value,
        random: bool = False, every: int = 1) -> None:  # fmt: skip
    """Compare the cases of module ``name``, or one in ``every`` of them. ``convert`` translates other arguments.

    Of a ``random`` module only the shapes of outputs and gradients are compared.
    """
    with double(torch):
        info = database()[name]
        cases = list(info.module_inputs_func(info, device="cpu", dtype=torch.float64, requires_grad=True,
                                             training=training))  # fmt: skip
        assert cases
        for case in cases[::every]:
            args, kwargs = case.constructor_input.args, case.constructor_input.kwargs
            theirs = info.module_cls(*args, **kwargs).train(training)
            args, kwargs = translated((args, kwargs), convert)
            mine = getattr(gradwright.nn, name.removeprefix("nn."))(*args, **kwargs).train(training)
            call = case.forward_input
            compare(mine, theirs, call.args, call.kwargs, convert, random)


def same(torch: ModuleType, name: str, args: Any, kwargs: Any, *inputs: Any, training: bool = True) -> None:
    """Compare one module, made of these arguments and called with these inputs, all of them PyTorch's, in float64."""
    with double(torch):
        kwargs = {argument: _leaf(value) for argument, value in kwargs.items()}
        theirs = getattr(torch.nn, name)(*args, **kwargs).train(training)
        mine = getattr(gradwright.nn, name)(*args, **translated(kwargs)).train(training)
        compare(mine, theirs, tuple(map(_leaf, inputs)))


def with_options(torch: ModuleType, name: str, args: tuple[Any, ...]) -> None:
    """Compare one module of single entries, in evaluation; the last argument is True if it is to work in place."""
    mine, theirs = (getattr(lib.nn, name)(*args).eval() for lib in (gradwright, torch))
    inplace = bool(args) and args[-1] is True
    x = torch.linspace(-4, 4, 24).reshape(4, 3, 2).requires_grad_(not inplace)
    compare(mine, theirs, (x,), tolerance=1e-5)
    if inplace:
        twin = gradwright.tensor(x.numpy())
        assert mine(twin) is twin


def _leaf(value: Any) -> Any:
    """A tensor of real numbers as a leaf in float64."""
    if hasattr(value, "detach") and value.is_floating_point():
        return value.detach().double().requires_grad_(value.requires_grad)
    return value


def refuse(torch: ModuleType, name: str) -> None:
    """Every bad input that PyTorch's table has for the module must raise an error of the same type, in its words."""
    with double(torch):
        info = database()[name]
        cases = info.module_error_inputs_func(info, device="cpu", dtype=torch.float64, requires_grad=True,
                                              training=True)  # fmt: skip
        for case in cases:
            given = case.module_error_input
            inputs = [i for i in (given.constructor_input, given.forward_input) if i is not None]
            with pytest.raises(case.error_type, match=case.error_regex):
                _built(getattr(gradwright.nn, name.removeprefix("nn.")), *inputs)


def _built(made: Any, *inputs: Any) -> None:
    """Call a class with the first inputs, and what it makes with the second."""
    for given in inputs:
        args, kwargs = translated((given.args, given.kwargs))
        made = made(*args, **kwargs)


def compare(mine: Any, theirs: Any, args: Any, kwargs: Any = None, convert: Callable[[Any], Any] = lambda value: value,
            random: bool = False, tolerance: float = 1e-9) -> None:  # fmt: skip
    """Give ``mine`` the state of ``theirs``, call both alike, and compare everything."""
    assert repr(mine).replace("NonDynamicallyQuantizable", "") == repr(theirs).replace("NonDynamicallyQuantizable", "")
    mine.load_state_dict(translated(dict(theirs.state_dict())))
    import torch

    seen = []
    for module, lib, change in ((mine, gradwright, convert), (theirs, torch, lambda value: value)):
        given, named = translated((args, kwargs or {}), change, lib)
        outputs = list(tensors_in(module(*given, **named)))
        real = [o for o in outputs if o.requires_grad]
        if real:
            sum((o * o.detach().cos()).sum() for o in real).backward()
        leaves = [t for t in tensors_in((given, named)) if t.requires_grad]
        grads = [(n, p.grad) for n, p in module.named_parameters()] + [(f"input {i}", t.grad)
                                                                       for i, t in enumerate(leaves)]  # fmt: skip
        state = list(module.state_dict().items())
        seen.append([*((f"output {i}", o) for i, o in enumerate(outputs)), *grads, *state])
    assert [n for n, _ in seen[0]] == [n for n, _ in seen[1]]
    for (what, a), (_, b) in zip(*seen, strict=True):
        if a is None or b is None:  # one library gives no gradient, the other may give zeros
            assert all(t is None or not t.any() for t in (a, b)), what
            continue
        x, y = a.detach().numpy(), b.detach().numpy()
        assert (x.shape, x.dtype) == (y.shape, y.dtype), what
        if not random:
            np.testing.assert_allclose(x, y, tolerance, tolerance, err_msg=f"{theirs}: {what}")


def translated(value: Any, convert: Callable[[Any], Any] = lambda value: value, lib: ModuleType = gradwright) -> Any:
    """PyTorch's tensors, dtypes and functions in a value as those of ``lib``; tensors are copied, and are leaves."""
    kind = type(value)
    if kind in (tuple, list):
        return kind(translated(v, convert, lib) for v in value)
    if isinstance(value, dict):
        return kind((k, translated(v, convert, lib)) for k, v in value.items())
    if hasattr(value, "requires_grad") and hasattr(value, "numpy"):
        return lib.tensor(value.detach().numpy().copy()).requires_grad_(value.requires_grad)
    if kind.__name__ == "dtype":
        return getattr(lib, str(value).removeprefix("torch."))
    if kind.__name__ == "builtin_function_or_method":
        return getattr(lib.nn.functional, value.__name__)
    return convert(value)


def tensors_in(value: Any) -> Iterator[Any]:
    """The tensors in nested results, in order."""
    if hasattr(value, "requires_grad"):
        yield value
    elif isinstance(value, (tuple, list, dict)):
        for v in value.values() if isinstance(value, dict) else value:
            yield from tensors_in(v)


def layer_of(value: Any) -> Any:
    """A layer like PyTorch's; anything else as it is."""
    if type(value).__name__ != "TransformerEncoderLayer":
        return value
    return gradwright.nn.TransformerEncoderLayer(
        value.self_attn.embed_dim, value.self_attn.num_heads, value.linear1.out_features, value.dropout.p,
        value.activation.__name__, batch_first=value.self_attn.batch_first, norm_first=value.norm_first,
        bias=value.linear1.bias is not None,
    )  # fmt: skip


def database() -> dict[str, Any]:
    """PyTorch's table of modules by name; nothing without PyTorch."""
    try:
        from torch.testing._internal.common_modules import module_db
    except ImportError:
        return {}
    return {info.name: info for info in module_db}


def in_both_modes() -> list[tuple[str, bool]]:
    """Their names, with True for training, and those of which evaluation may be another thing with False, too."""
    others = ("nn.Transformer", "nn.TransformerDecoderLayer")  # which have dropout
    return [(name, mode) for name, info in database().items()
            for mode in (True, False)[: 1 + (info.train_and_eval_differ or name in others)]]  # fmt: skip


@contextlib.contextmanager
def double(torch: ModuleType) -> Iterator[None]:
    """Parameters in float64, and no warning an error: what a case warns of is not what is compared."""
    before = gradwright.get_default_dtype(), torch.get_default_dtype()
    gradwright.set_default_dtype(gradwright.float64)
    torch.set_default_dtype(torch.float64)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        gradwright.set_default_dtype(before[0])
        torch.set_default_dtype(before[1])
