"""The docstrings of what there is at the top level: examples that run, signatures with types, facts that hold."""

import doctest
import importlib.util
import inspect
import operator
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest

import gradwright as gw
from gradwright.face.reference import FAMILIES, texts

TEXTS = [name for family in (*FAMILIES, "pytorch", "in_place", "layers") for name in texts(family)]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    for name in gw.__all__:
        found = getattr(gw, name)
        if isinstance(found, FunctionType):
            yield name, found


NAMES = [name for name, _ in functions()]


def test_functions_have_examples() -> None:
    assert [name for name in NAMES if ">>> " not in getattr(gw, name).__doc__] == []


def test_a_text_is_joined_once() -> None:
    for scope, families in ((gw, FAMILIES), (gw.Tensor, ("methods", "written"))):
        examples = {name: text[text.index(">>> ") :] for family in families for name, text in texts(family).items()}
        assert [name for name, example in examples.items() if getattr(scope, name).__doc__.count(example) != 1] == []


def test_examples_take_gw_for_granted() -> None:
    files = [*Path(gw.__file__).parent.rglob("*.py"), *Path(gw.__file__).parent.rglob("*.txt")]
    assert [file.name for file in files if ">>> import gradwright as gw\n" in file.read_text(encoding="utf-8")] == []


def test_a_docstring_begins_all_its_parts_at_the_margin() -> None:
    headers = re.compile(r"^ +(>>> |(Args|Attributes|Raises|Returns|Shape)\b)", re.MULTILINE)
    methods = [f"Tensor.{name}" for name in dir(gw.Tensor)]
    about = {name: inspect.getdoc(operator.attrgetter(name)(gw)) or "" for name in (*NAMES, *methods)}
    assert [name for name, text in about.items() if headers.search(text)] == []


def run(name: str, said: list[str]) -> None:
    """Run the examples of a function; what fails is said. Those that need what is not installed are left out."""
    function = operator.attrgetter(name)(gw)
    about = f"{function.__doc__} {getattr(gw, name.rstrip('_'), function).__doc__}"
    for words, module in (("Needs SciPy", "scipy"), ("BFloat16Tensor", "ml_dtypes")):
        if words in about and importlib.util.find_spec(module) is None:
            return
    scope = {**getattr(inspect.unwrap(function), "__globals__", {}), "gw": gw}
    examples = doctest.DocTestParser().get_doctest(inspect.getdoc(function) or "", scope, name, None, 0)
    doctest.DocTestRunner(optionflags=FLAGS).run(examples, out=said.append)


@pytest.mark.parametrize("family", [*FAMILIES, "pytorch", "in_place", "layers", "methods", "written"])
def test_the_examples_of_texts_run(family: str) -> None:
    failures: list[str] = []
    for name in texts(family):
        run(f"Tensor.{name}" if family in ("methods", "written") else name, failures)
    assert "".join(failures) == ""


def test_the_other_examples_run() -> None:
    failures: list[str] = []
    typed = [name for name in gw.__all__ if name.endswith("Tensor") and ">>> " in (getattr(gw, name).__doc__ or "")]
    for name in {*NAMES, *typed} - set(TEXTS):
        run(name, failures)
    assert "".join(failures) == ""


def test_texts_have_short_lines() -> None:
    for family in (*FAMILIES, "pytorch", "in_place", "layers", "methods", "written"):
        assert [line for text in texts(family).values() for line in text.splitlines() if len(line) > 120] == []


def test_texts_are_of_functions_that_there_are() -> None:
    assert len(TEXTS) == len({id(getattr(gw, name)) for name in TEXTS}), "one text for each function"


def test_functions_have_their_names() -> None:
    wrong = [name for name in TEXTS if getattr(gw, name).__name__ != name]
    assert wrong == ["get_default_dtype", "set_default_dtype"]


def test_other_names_of_a_function_are_told() -> None:
    others = [(name, other) for name in TEXTS for other, found in functions() if found is getattr(gw, name)]
    untold = [pair for pair in others if pair[0] != pair[1] and f"`{pair[1]}`" not in getattr(gw, pair[0]).__doc__]
    assert untold == []


def said(words: str) -> list[str]:
    """The functions whose docstrings have these words, which their builders put there."""
    return [name for name in NAMES if words in getattr(gw, name).__doc__ and not name.endswith("_")]


def called(name: str, values: Any) -> gw.Tensor:
    """A function of tensors, of these values in each."""
    function, x = getattr(gw, name), gw.tensor(values)
    required = [p for p in inspect.signature(function).parameters.values() if p.default is p.empty]
    if "Needs SciPy" in function.__doc__:
        pytest.importorskip("scipy")
    found: gw.Tensor = function(*[x] * len(required))
    return found


@pytest.mark.parametrize("name", said("; complex numbers too.") + said("; NotImplementedError for complex numbers."))
def test_whether_it_takes_complex_numbers(name: str) -> None:
    if name in said("; complex numbers too."):
        called(name, [0.5 + 0.25j, 1j])
    else:
        with pytest.raises(NotImplementedError):
            called(name, [0.5 + 0.25j, 1j])


@pytest.mark.parametrize("name", said("are computed in the default one") + said("or to the default one"))
def test_whole_numbers_become_the_default_dtype(name: str) -> None:
    assert called(name, [1, 1]).dtype is gw.float32
    assert called(name, [True, True]).dtype is gw.float32


@pytest.mark.parametrize("name", said("any but bool (RuntimeError)"))
def test_it_takes_no_booleans(name: str) -> None:
    assert called(name, [1, 2]).dtype is gw.int64
    with pytest.raises(RuntimeError):
        called(name, [True, False])


@pytest.mark.parametrize("name", said("Shape: any, and the result has the same.\n\nDtypes: "))
def test_the_result_has_the_shape_of_the_argument(name: str) -> None:
    assert called(name, [[0.5], [0.25]]).shape == (2, 1)
    assert called(name, [[]]).shape == (1, 0)


@pytest.mark.parametrize("name", said("Shape: the arguments broadcast; RuntimeError if they do not."))
def test_the_arguments_broadcast(name: str) -> None:
    function = getattr(gw, name)
    whole = "whole numbers" in function.__doc__
    sizes = [gw.ones(*size, dtype=gw.int64 if whole else gw.float32) for size in ((2, 1), (3,), (4,))]
    assert function(*sizes[:2]).shape == (2, 3)
    with pytest.raises(RuntimeError):
        function(*sizes[1:])


def test_signatures_have_types() -> None:
    bare = {
        name for name, function in functions()
        for p in inspect.signature(function).parameters.values()
        if p.annotation is p.empty and p.name != "self"
    }  # fmt: skip
    assert bare == set()
    assert str(inspect.signature(gw.exp)) == "(input: 'Tensor') -> 'Tensor'"
    assert str(inspect.signature(gw.exp_)) == "(input: 'Tensor') -> 'Tensor'"
    assert str(inspect.signature(gw.Tensor.exp_)) == "(input: 'Tensor') -> 'Tensor'"
    assert str(inspect.signature(gw.fmod)) == "(input: 'Tensor', other: 'Tensor | Number') -> 'Tensor'"


@pytest.mark.parametrize("name", ["exp", "mul", "cumsum", "hstack", "exp_", "Tensor.exp_"])
def test_editors_show_it(name: str) -> None:
    jedi = pytest.importorskip("jedi")
    found = jedi.Interpreter(f"gw.{name}", [{"gw": gw}]).help()[0].docstring()
    call = jedi.Interpreter(f"gw.{name}(", [{"gw": gw}]).get_signatures()[0]
    assert (operator.attrgetter(name)(gw).__doc__ or "").strip().splitlines()[0] in found
    assert "Tensor" in call.params[0].to_string()


@pytest.mark.parametrize(
    "value", ["gw.tensor([1.0])", "(gw.ones(3) + 1)", "gw.exp(gw.zeros(2))", "gw.nn.Linear(2, 2).weight",
              "gw.max(gw.ones(2), dim=0).values", "gw.autograd.grad(y, x)[0]"],
)  # fmt: skip
def test_editors_know_tensors_without_running_the_code(value: str) -> None:
    jedi = pytest.importorskip("jedi")
    text = f"import gradwright as gw\n{value}."
    assert {"backward", "requires_grad_", "logsumexp"} <= {each.name for each in jedi.Script(text).complete()}
