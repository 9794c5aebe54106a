"""What `load_inline` finds out about code in strings."""

from __future__ import annotations

import pytest

from gradwright.utils.cpp_extension import inline

PARAMETERS = [
    ("double f(double x, int n) { }", ["x", "n"]),
    ("gw::Tensor f(gw::Array<double, 2> x, const std::pair<int, int> &by = {1, 2}) { }", ["x", "by"]),
    ("void f() { }", []),
    ("int g();\n/* one\ntwo */ int f(int x);", ["x"]),
    ("static gw::Tensor\nf(gw::Tensor x) { return f(x); }", ["x"]),
    ("// f(y)\nint g() { return f(y); }\nint f(int x /* , int y */) { return x; }", ["x"]),
    ("int f(int, double)", None),
    ("int f(int (*call)(int), int a[3]) { }", None),
    ("nothing", None),
    ("int f(int x", None),
]


@pytest.mark.parametrize(("code", "names"), PARAMETERS)
def test_where_a_function_is_defined_and_its_parameters(code: str, names: list[str] | None) -> None:
    found = inline.definition(inline._without_comments(code), "f")
    assert names == (found and found[1])
    assert found is None or code[found[0] :].startswith("f(")


def test_the_place_of_a_text_in_the_users_file() -> None:
    text = """
int here_it_is = 1;
"""
    places = inline.found([text, "int composed = 2;" * 2], 1)
    assert list(places) == ["cpp_sources[0]"]
    file, line = places["cpp_sources[0]"]
    assert file == __file__
    with open(file, encoding="utf-8") as program:
        assert program.read().splitlines()[line].startswith("int here_it_is")


def test_the_source_names_places_and_registers_functions() -> None:
    made = inline.source(["int g;", "\nint f(int x) { return x; }"], {"f": 'says "hello"'})
    assert '#line 1 "cpp_sources[0]"\nint g;' in made
    assert '#line 1 "cpp_sources[1]"\n\nint f' in made
    assert '#line 2 "cpp_sources[1]"\nGRADWRIGHT_DEF_DOC(f, "says \\"hello\\"", x)' in made
    made = inline.source(["#define F(name) int name(int x) { return x; }\nF(f)"], {"f": ""})
    assert f'#line 1 "{inline.REGISTERED}"\nGRADWRIGHT_DEF_DOC(f, "", )' in made
