"""What is told of common mistakes: the user's line, once, and the mend; with each compiler that there is."""

import re
import shutil
import textwrap
from pathlib import Path

import numpy as np
import pytest

import gradwright as gw
from gradwright.utils.cpp_extension import load, load_inline, messages

# The number of the line that is named, what is said, and how many lines that is; the first of each source is included.
MISTAKES = {
    "std_exp": ("GRADWRIGHT_ELEMENTWISE(f, x * std::exp(x), std::exp(x) + x * std::exp(x))",
                2, r"In an elementwise expression it is exp\(\.\.\.\), without std::\.", 4),
    "no_such_function": ("GRADWRIGHT_ELEMENTWISE(f, logb(x))", 2,
                         r"have abs, .*tanh, .*trunc\. .*template <class R> R logb\(R x\)", 4),
    "not_an_array": ("double f(double *x) {\n    return *x;\n}\nGRADWRIGHT_DEF(f, x)", 5,
                     r"arrays as gw::Array<T>", 2),
    "read_only": ("void f(gw::Array<double> x) {\n    x[0] = 1;\n}\nGRADWRIGHT_DEF(f, x)", 3,
                  r"take gw::Mutable<T>", 4),
    "overloaded": ("int f() { return 1; }\nint f(int x) { return x; }\nGRADWRIGHT_DEF(f)", 4,
                   "the name is that of several functions", 4),
    "not_static": ("struct F { int forward(gw::Context &); int backward(gw::Context &); };\nGRADWRIGHT_FUNCTION(F)", 3,
                   "forward and backward are static, and their first parameter is gw::Context &", 2),
    "no_return": ("int f(int x) {\n    x += 1;\n}\nGRADWRIGHT_DEF(f, x)", 4, "return", 3),
    "no_semicolon": ("struct S { static int forward(gw::Context &), backward(gw::Context &); } GRADWRIGHT_FUNCTION(S)",
                     2, r"a struct ends in \}; with a semicolon|expected ';' after struct", 3),
    "short_name": ("Tensor f(Array<double> x) { return x; }", 2, r"It is gw::Tensor", 4),
    "pytorch": ("#include <torch/extension.h>", 2, "Here it is gradwright/extension.h", 4),
}  # fmt: skip


@pytest.mark.parametrize("cxx", ["c++", "clang++"])
def test_common_mistakes(compiler: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cxx: str) -> None:
    if shutil.which(cxx) is None:
        pytest.skip(f"there is no {cxx}: its messages not read")
    monkeypatch.setenv("CXX", cxx)
    sources = [tmp_path / f"{name}.cpp" for name in MISTAKES]
    for source in sources:
        source.write_text(f"#include <gradwright/extension.h>\n{MISTAKES[source.stem][0]}\n")
    with pytest.raises(RuntimeError, match="Error building extension 'wrong'") as raised:
        load("wrong", sources, build_directory=tmp_path / "build")
    said = str(raised.value).removeprefix("Error building extension 'wrong': ")
    start = re.compile(rf"^{re.escape(str(tmp_path))}/(\w+)\.cpp:(\d+): error: ", re.MULTILINE)
    parts = re.split(rf"(?m)^(?={re.escape(str(tmp_path))}/\w+\.cpp:\d+: error: )", said)[1:]
    told = {match[1]: part for part in parts if (match := start.match(part))}
    assert len(parts) == len(told), said  # each once
    assert told.keys() == MISTAKES.keys()
    for name, (code, line, message, most) in MISTAKES.items():
        match = start.match(told[name])
        assert match
        assert int(match[2]) == line, told[name]
        assert re.search(message, told[name]), told[name]
        assert code.splitlines()[int(match[2]) - 2] in told[name]
        assert len(told[name].splitlines()) <= most, told[name]


def test_a_mistake_in_a_string(compiler: None, tmp_path: Path) -> None:
    code = "int g() { return 1; }\n\n" * 2  # composed: in no file
    with pytest.raises(RuntimeError, match=r": cpp_sources\[0\]:3: error: redefinition .*\n.*int g\(\) \{") as raised:
        load_inline("wrong", code, functions="g", build_directory=tmp_path)
    assert "cpp_sources[0]:1: note:" in str(raised.value)


@pytest.mark.parametrize("expression", ["logb(x)", "nextafter(x, 8)"])
def test_what_is_told_of_other_functions_works(compiler: None, tmp_path: Path, expression: str) -> None:
    code = f"GRADWRIGHT_ELEMENTWISE(f, {expression})"
    with pytest.raises(RuntimeError, match="template") as raised:
        load_inline("wrong", code, build_directory=tmp_path)
    advice = re.findall(r"template <.*?; }", str(raised.value))["," in expression]
    x = np.array([0.3, 2.5, 9.0])
    given = load_inline("right", f"{advice}\n{code}", build_directory=tmp_path).f(gw.tensor(x)).numpy()
    expected = np.nextafter(x, 8) if "," in expression else np.floor(np.log2(x))
    np.testing.assert_array_equal(given, expected)


def test_of_many_errors_some_are_told() -> None:
    said = "".join(f"a.cpp:{k}:1: error: no {k}\n" for k in range(8))
    told = messages.shortened(said, []).splitlines()
    assert told == [*(f"a.cpp:{k}: error: no {k}" for k in range(5)), "And 3 more."]


def test_the_headers_of_python_are_missing() -> None:
    said = """
        In file included from main.cpp:1:
        /site/nanobind/nanobind.h:20:10: fatal error: Python.h: No such file or directory
           20 | #include <Python.h>
              |          ^~~~~~~~~~
        compilation terminated."""
    told = messages.shortened(textwrap.dedent(said), ["/site/nanobind"])
    assert told.splitlines()[0].endswith("error: the headers of Python are not installed")
    assert "apt install python3-dev" in told


def test_what_is_no_error_of_cpp_stays() -> None:
    said = "c++: error: unrecognized command-line option '-fnothere'"
    assert messages.shortened(said, []) == said


LOADING = [
    ("a.so: undefined symbol: _ZTVN10__cxxabiv120__si_class_type_infoE", r"a compiler for C\. Use g\+\+ for gcc"),
    ("a.so: undefined symbol: _Z1gd", r"is used, but is in none of the sources and libraries.*extra_ldflags"),
    ("symbol not found in flat namespace '_ddot_'", r"^ddot_ is used"),
    ("libq.so.1: cannot open shared object file: No such file", r"linked with libq\.so\.1,.*-Wl,-rpath"),
    ("dynamic module does not define module export function (PyInit_a)", r"includes gradwright/extension\.h"),
    ("something else", "^something else$"),
]


@pytest.mark.parametrize(("said", "told"), LOADING)
def test_what_cannot_be_loaded(said: str, told: str) -> None:
    assert re.search(told, messages.of_loading(said))
