"""Where the reference says that names and formulas are: what stands there."""

import re

import gradwright as gw
from docs.generator.names import Name, first_of_each, names
from docs.generator.places import ROOT, formulas, place

DESCRIBED = sorted(set(first_of_each(names()).values()), key=lambda name: name.path)


def line(at: tuple[str, int]) -> str:
    return (ROOT / at[0]).read_text(encoding="utf-8").splitlines()[at[1] - 1]


def test_a_name_stands_where_it_is_said_to_be_made() -> None:
    found = [name for name in DESCRIBED if place(name)[1]]
    assert len(found) > 0.9 * len(DESCRIBED)
    for name in found:
        at = place(name)
        path = (ROOT / at[0]).read_text(encoding="utf-8").splitlines()
        statement = "\n".join(path[at[1] - 1 : at[1] + 15])
        words = {name.name, getattr(name.value, "__name__", name.name)}
        assert any(re.search(rf"\b{word}\b", statement) for word in words), f"{name.path}: {at}"


def test_a_formula_is_that_of_the_operation() -> None:
    (at,) = formulas(gw.exp)
    assert at[0] == "src/gradwright/ops/elementary.py"
    text = (ROOT / at[0]).read_text(encoding="utf-8").splitlines()[at[1] - 1 : at[1] + 3]
    assert any("def exp(xp, x)" in one for one in text)
    assert formulas(1) == []


def test_a_function_has_the_formulas_that_its_code_names() -> None:
    for value, name in ((gw.logsumexp, "logsumexp"), (gw.softmax, "softmax"), (gw.nn.functional.mish, "mish")):
        ((file, number),) = formulas(value)
        assert file.startswith("src/gradwright/ops/")
        text = (ROOT / file).read_text(encoding="utf-8").splitlines()[number - 1 : number + 9]
        assert any(f"def {name}(xp, " in one for one in text)


def test_a_function_made_from_a_declaration_is_where_it_is_declared() -> None:
    at = place(Name("gradwright", "mul", gw.mul))
    assert at[0] == "src/gradwright/face/functions/elementwise.py"
    assert line(at).startswith("mul = ")
    assert place(Name("gradwright.nn", "Linear", gw.nn.Linear))[0] == "src/gradwright/nn/modules/linear.py"
