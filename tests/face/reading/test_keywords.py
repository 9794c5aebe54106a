"""Arguments given by a name that there is not."""

import inspect
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import gradwright as gw
from gradwright import distributions, nn
from gradwright.face.reading.keywords import hint, hint_attribute, names_of
from gradwright.utils.data import DataLoader

x = gw.ones(3)
p = [gw.ones(3, requires_grad=True)]


@pytest.mark.parametrize(("call", "said"), [
    (lambda: nn.Linear(3, 4, biass=True), "got an unexpected keyword argument 'biass'; did you mean 'bias'?"),
    (lambda: nn.Conv2d(1, 2, 3, strde=2), "did you mean 'stride'?"),
    (lambda: nn.Hardtanh(mn_val=1), "Hardtanh.__init__() got an unexpected keyword argument 'mn_val'; did"),
    (lambda: nn.MSELoss(reducton="sum"), "did you mean 'reduction'?"),
    (lambda: gw.optim.Adam(p, learning_rate=1), "'learning_rate'; it takes params, lr, betas, eps, weight_decay"),
    (lambda: gw.optim.SGD(p, momentun=1), "did you mean 'momentum'?"),
    (lambda: gw.optim.lr_scheduler.StepLR(gw.optim.SGD(p), stepsize=3), "did you mean 'step_size'?"),
    (lambda: DataLoader([1], batchsize=1), "did you mean 'batch_size'?"),
    (lambda: distributions.Normal(loc=0.0, scal=1.0), "did you mean 'scale'?"),
    (lambda: gw.sum(x, axes=0), "sum() got an unexpected keyword argument 'axes'; did you mean 'axis'?"),
    (lambda: x.sum(keepdimm=True), "did you mean 'keepdim'?"),
    (lambda: gw.mean(x, dims=0), "did you mean 'dim'?"),
    (lambda: gw.std(x, colour=0), "std() got an unexpected keyword argument 'colour'; it takes "),
])  # fmt: skip
def test_a_wrong_keyword_is_told_the_nearest_or_all(call: Callable[[], Any], said: str) -> None:
    with pytest.raises(TypeError) as caught:
        call()
    assert said in str(caught.value)


def test_signatures_and_other_errors_are_as_before() -> None:
    assert list(inspect.signature(nn.Linear).parameters)[:3] == ["in_features", "out_features", "bias"]
    with pytest.raises(TypeError, match=r"Linear.__init__\(\) missing 1 required positional argument"):
        nn.Linear(3)


@pytest.mark.parametrize("make", [nn.ReLU, nn.Softmax, nn.Dropout, nn.LeakyReLU, nn.Flatten, nn.MSELoss, nn.HuberLoss])
def test_a_tensor_where_a_layer_is_made_is_told_where_it_belongs(make: Any) -> None:
    with pytest.raises(TypeError, match=rf"not Tensor: .* called with the tensor: {make.__name__}\(\.\.\.\)\(x\)$"):
        make(x)
    assert isinstance(make(), nn.Module)


def test_a_tensor_is_taken_where_one_may_be() -> None:
    assert nn.CrossEntropyLoss(x).weight is x
    assert nn.Linear(gw.tensor(3), 2).weight.shape == (2, 3)


def test_classes_of_yours_take_what_they_say() -> None:
    class Own(nn.Linear):
        def __init__(self, wide: int, **rest: Any) -> None:
            super().__init__(wide, wide, **rest)

    assert Own(3, bias=False).bias is None
    with pytest.raises(TypeError, match="did you mean 'bias'"):
        Own(3, biass=False)


def test_warnings_of_constructors_are_of_the_users_line() -> None:
    for make in (lambda: nn.NLLLoss2d(), lambda: nn.LSTM(1, 1, dropout=0.5), lambda: nn.Hardtanh(min_value=0)):
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            make()
        assert [w.filename for w in found] == [__file__]


def test_names_of() -> None:
    def f(a: int, /, b: int, *, c: int) -> None: ...
    def g(**any_: int) -> None: ...

    assert names_of(f) == ("b", "c")
    assert names_of(g) is names_of(print) is None


def conv1d(input: Any) -> Any:
    return input


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="Python says it itself from 3.13 on")
@pytest.mark.parametrize(("call", "notes"), [
    (lambda: nn.functional.conv2d(x, x, strides=2), ["gradwright's conv2d(): did you mean 'stride'?"]),
    (lambda: nn.functional.dropout(x, chance=0.5), ["gradwright's dropout(): it takes input, p, training, inplace"]),
    (lambda: gw.tensor([1.0], requires_gard=True), ["gradwright's tensor(): did you mean 'requires_grad'?"]),
    (lambda: x.backward(retain_grahp=True), ["gradwright's backward(): did you mean 'retain_graph'?"]),
    (lambda: nn.ReLU().load_state_dict({}, stric=True), ["gradwright's load_state_dict(): did you mean 'strict'?"]),
    (lambda: gw.optim.SGD(p).zero_grad(set_to_nonne=True), ["gradwright's zero_grad(): did you mean 'set_to_none'?"]),
    (lambda: conv1d(strides=2), []),
    (lambda: sorted([1], keys=2), []),
    (lambda: gw.mean(x, dims=0), []),
    (lambda: 1 / 0, []),
])  # fmt: skip
def test_an_error_that_is_shown_says_what_the_function_takes(call: Callable[[], Any], notes: list[str]) -> None:
    with pytest.raises((TypeError, ZeroDivisionError)) as caught:
        call()
    hint(caught.value)
    hint(caught.value)  # which is once enough
    assert getattr(caught.value, "__notes__", []) == notes


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="Python says it itself from 3.13 on")
def test_an_error_that_ends_a_program_says_it_under_run(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("import gradwright as gw\ngw.vmap(gw.sin, in_dim=0)")
    ended = subprocess.run([sys.executable, "-m", "gradwright", "run", script], capture_output=True, text=True)
    assert ended.stderr.endswith("gradwright's vmap(): did you mean 'in_dims'?\n"), ended.stderr


def test_the_import_leaves_the_hook_for_uncaught_errors_as_it_is() -> None:
    program = "import sys; before = sys.excepthook; import gradwright; assert sys.excepthook is before"
    assert subprocess.run([sys.executable, "-c", program]).returncode == 0


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(1, 1)


@pytest.mark.parametrize(("ask", "notes"), [
    (lambda: x.sigmod(), ["did you mean 'sigmoid'?"]),
    (lambda: Net().liner, ["did you mean 'linear'?"]),
    (lambda: x.wholly_else, []),
    (lambda: gw.sinn, []),  # the message has it
    (lambda: (1).reel, []),
    (lambda: nn.Linear.wait, []),
])  # fmt: skip
def test_a_misspelt_attribute_of_ours_is_told_the_nearest(ask: Callable[[], Any], notes: list[str]) -> None:
    with pytest.raises(AttributeError) as caught:
        ask()
    hint_attribute(caught.value)
    assert getattr(caught.value, "__notes__", []) == notes
