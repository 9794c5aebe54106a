"""Extensions built when a program asks for them, of files and of strings."""

import ctypes
import importlib
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import gradwright as gw
from gradwright.utils.cpp_extension import load, load_inline
from gradwright.utils.cpp_extension.load import _without_comments, definition, source
from gradwright.utils.cpp_extension.load import found as places_of
from gradwright.utils.cpp_extension.messages import REGISTERED
from tests.thorough import WHOLE

loading = importlib.import_module("gradwright.utils.cpp_extension.load")  # the function hides it

CODE = """
int64_t answer(gw::Array<double> x) { return x.size() + 40; }
"""


def test_code_in_a_string_is_built_once(compiler: None, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    def ask() -> Any:
        return load_inline("answers", CODE, functions=["answer"], build_directory=tmp_path, verbose=True)

    ext = ask()
    assert ext.answer(gw.ones(2, dtype=gw.float64)) == 42
    assert "main.cpp" in capfd.readouterr().err
    assert ask() is ext
    assert capfd.readouterr().err == ""
    (entry,) = [p for p in tmp_path.iterdir() if p.is_dir()]
    assert {p.suffix for p in entry.iterdir()} == {".cpp", ".d", ".json", ".o", ".so"}

    program = f"""
        import subprocess
        from gradwright.utils.cpp_extension import load_inline
        subprocess.Popen = None  # what is built is loaded without a process
        ext = load_inline("answers", {CODE!r}, functions=["answer"], build_directory={str(tmp_path)!r})
        print(ext.__file__)
    """
    out = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == ext.__file__


THREADS = """
import sys, threading
from gradwright.utils.cpp_extension import load_inline

sys.setswitchinterval(1e-6)
begin, modules = threading.Barrier(12), []
def work(k):
    begin.wait()
    modules.append(load_inline(f"threads{k}", f"int f() {{ return {k}; }}", functions="f", build_directory=sys.argv[1]))

crowd = [threading.Thread(target=work, args=(k % 3,)) for k in range(12)]
for thread in crowd: thread.start()
for thread in crowd: thread.join()
print(sorted(m.f() for m in modules), len(set(modules)))
"""


def test_many_threads_load_at_once(compiler: None, tmp_path: Path) -> None:
    for _ in range(5 if WHOLE else 2):  # built, then found built; each process asks for the first time
        done = subprocess.run([sys.executable, "-c", THREADS, str(tmp_path)], capture_output=True, text=True)
        assert done.stdout == f"{[0] * 4 + [1] * 4 + [2] * 4} 3\n", done.stderr


def test_asserts_are_made_unless_they_are_turned_off(compiler: None, tmp_path: Path) -> None:
    code = '#include <cassert>\nextern "C" int ask() { int made = 0; assert(++made); return made; }'
    for flags, made in (([], 1), (["-DNDEBUG"], 0)):
        path = load_inline("asserts", code, extra_cflags=flags, is_python_module=False, build_directory=tmp_path)
        assert ctypes.CDLL(path).ask() == made


def test_a_header_that_changes_makes_a_new_build(compiler: None, tmp_path: Path) -> None:
    header, source = tmp_path / "a header.h", tmp_path / "ask.cpp"
    source.write_text('#include "a header.h"\nextern "C" int ask() { return ANSWER; }\n')
    for answer in (41, 42, 41):
        header.write_text(f"#define ANSWER {answer}\n")
        path = load("ask", source, is_python_module=False, build_directory=tmp_path / "build", keep_intermediates=False)
        assert ctypes.CDLL(path).ask() == answer
    assert {p.name for p in Path(path).parent.iterdir()} == {Path(path).name, "manifest.json"}


def test_flags_and_folders_of_headers_are_used(compiler: None, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "given.h").write_text("#define GIVEN 1\n")
    code = '#include "given.h"\nextern "C" int ask() { return GIVEN + MORE; }'
    for more in (1, 2):
        path = load_inline(
            "flags", code, extra_cflags=[f"-DMORE={more}"], extra_include_paths=tmp_path / "folder",
            build_directory=tmp_path, is_python_module=False,
        )  # fmt: skip
        assert ctypes.CDLL(path).ask() == 1 + more


def test_an_error_of_the_compiler_names_the_users_line_once(compiler: None, tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="Error building extension 'bad'") as raised:
        load_inline(
            "bad",
            """
gw::Tensor f(gw::Array<double> x) {
    return gw::empty_like(nowhere);
}
""",
            functions=["f"],
            build_directory=tmp_path,
        )
    said = str(raised.value)
    line = next(k for k, text in enumerate(Path(__file__).read_text().splitlines(), 1) if "empty_like(nowhere)" in text)
    assert said.count("'nowhere' was not declared") + said.count("undeclared identifier 'nowhere'") == 1
    assert f"{__file__}:{line}:" in said
    assert "return gw::empty_like(nowhere);" in said
    assert not [p for p in tmp_path.iterdir() if p.is_dir()]
    assert [Path(entry.path).name for entry in raised.traceback[1:]] == ["load.py"] * 2  # and no more of ours


def test_errors_in_all_files_are_told(compiler: None, tmp_path: Path) -> None:
    sources = [tmp_path / f"{name}.cpp" for name in "ab"]
    for path in sources:
        path.write_text(f"int {path.stem} = missing;\n")
    with pytest.raises(RuntimeError, match=r"(?s)a\.cpp:1:.*missing.*b\.cpp:1:.*missing"):
        load("bad", sources, is_python_module=False, build_directory=tmp_path)


def test_changed_code_of_the_same_name(compiler: None, tmp_path: Path) -> None:
    code = """
        struct Scale {{
            static double by;
            static gw::Tensor forward(gw::Context &, gw::Tensor x) {{ return gw::call("mul", x, by); }}
            static gw::Tensor backward(gw::Context &, gw::Tensor g) {{ return gw::apply<Scale>(g); }}
        }};
        double Scale::by = {by};
        GRADWRIGHT_FUNCTION(Scale, x)
    """
    x = gw.ones(1, requires_grad=True)
    two, three = (load_inline("scaled", code.format(by=by), build_directory=tmp_path).Scale for by in (2, 3))
    three.apply(two.apply(x)).backward()
    assert (two.apply(x).item(), three.apply(x).item(), x.grad.item()) == (2, 3, 6)


def test_a_build_that_is_removed_before_it_is_loaded_is_made_again(
    compiler: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, built = loading.build, list[Path]()

    def build(*arguments: Any) -> Path:
        built.append(real(*arguments))
        if len(built) == 1:
            shutil.rmtree(built[0].parent)
        return built[-1]

    monkeypatch.setattr(loading, "build", build)
    ext = load_inline("removed", CODE.replace("40", "39"), functions="answer", build_directory=tmp_path)
    assert ext.answer(gw.ones(2, dtype=gw.float64)) == 41
    assert len(built) == 2


def test_any_letters_in_paths(compiler: None, tmp_path: Path) -> None:
    folder = tmp_path / "a folder, é $x: (1) #日本"
    folder.mkdir()
    source, header = folder / "my sörce.cpp", folder / "héader.h"
    source.write_text('#include "héader.h"\nextern "C" int ask() { return ANSWER; }\n', encoding="utf-8")
    for answer in (41, 42):
        header.write_text(f"#define ANSWER {answer}\n")
        path = load("ask", str(source), build_directory=folder / "the build", is_python_module=False)
        assert ctypes.CDLL(path).ask() == answer


def test_what_cannot_be_loaded_is_explained(compiler: None, tmp_path: Path) -> None:
    with pytest.raises(ImportError, match=r"extension 'undone': g\(double\) is used, but is in none of the sources"):
        load_inline("undone", "double g(double x);\ndouble f(double x) { return g(x); }", functions="f",
                    build_directory=tmp_path)  # fmt: skip
    source = tmp_path / "plain.cpp"
    source.write_text("int f() { return 1; }\n")
    with pytest.raises(ImportError, match=r"none of its sources includes gradwright/extension\.h"):
        load("plain", source, build_directory=tmp_path)
    with pytest.raises(ImportError, match=r"'mute' registers nothing .* load_inline\(\.\.\., functions="):
        load_inline("mute", "int f() { return 1; }", build_directory=tmp_path)


def test_warnings_are_told_if_commands_are(compiler: None, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for verbose in (False, True):
        load_inline("warned", f"int f(int x) {{ int y{verbose:d}; return x; }}", extra_cflags=["-Wall"],
                    is_python_module=False, build_directory=tmp_path, verbose=verbose)  # fmt: skip
    with pytest.raises(RuntimeError):
        load_inline("warned", "GRADWRIGHT_ELEMENTWISE(f, std::exp(x))", build_directory=tmp_path, verbose=True)
    said = capfd.readouterr().err
    assert "unused variable 'y1'" in said
    assert "Real<float>' to 'double'" in said
    assert "y0" not in said


BAD: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: load("not a name", "a.cpp"), FileNotFoundError, "a.cpp"),
    (lambda: load("a", []), ValueError, "no sources"),
    (lambda: load_inline("é", CODE), ValueError, "must be an identifier in ASCII"),
    (lambda: load_inline("not a name", CODE), ValueError, "must be an identifier in ASCII, but got 'not a name'"),
    (lambda: load_inline("a", None), TypeError, "cpp_sources must be C.* in a string, or several, but got None"),  # type: ignore[arg-type]
    (lambda: load_inline("a", ["", None]), TypeError, r"cpp_sources must be .* but got \['', None\]"),  # type: ignore[list-item]
    (lambda: load_inline("a", CODE, functions="question"), ValueError, "functions names 'question'"),
    (lambda: load("a", "a.cu"), NotImplementedError, "load: there is no CUDA here"),
    (lambda: load("a", "a.cpp", with_cuda=True), NotImplementedError, "load: there is no CUDA here"),
    (lambda: load_inline("a", CODE, with_cuda=True), NotImplementedError, "load_inline: there is no CUDA here"),
    (lambda: load_inline("a", CODE, cuda_sources="f"), NotImplementedError, "load_inline: there is no CUDA here"),
    (lambda: load("a", "not there.cpp", with_cuda=False), FileNotFoundError, "not there.cpp"),
    (lambda: load_inline("é", CODE, cuda_sources="", with_cuda=None), ValueError, "must be an identifier in ASCII"),
    (lambda: load_inline("a", CODE, extra_cflags="-O2"), TypeError, "extra_cflags must be a list of strings"),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(("call", "kind", "message"), BAD)
def test_bad_arguments(compiler: None, call: Callable[[], Any], kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        call()


def test_names_that_pytorch_has(compiler: None) -> None:
    from gradwright.utils import cpp_extension

    for name in cpp_extension.__all__:
        assert getattr(cpp_extension, name).__doc__
    with pytest.raises(AttributeError, match="CUDAExtension"):
        cpp_extension.CUDAExtension


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
    found = definition(_without_comments(code), "f")
    assert names == (found and found[1])
    assert found is None or code[found[0] :].startswith("f(")


def test_the_place_of_a_text_in_the_users_file() -> None:
    text = """
int here_it_is = 1;
"""
    places = places_of([text, "int composed = 2;" * 2], 1)
    assert list(places) == ["cpp_sources[0]"]
    file, line = places["cpp_sources[0]"]
    assert file == __file__
    with open(file, encoding="utf-8") as program:
        assert program.read().splitlines()[line].startswith("int here_it_is")


def test_the_source_names_places_and_registers_functions() -> None:
    made = source(["int g;", "\nint f(int x) { return x; }"], {"f": 'says "hello"'})
    assert '#line 1 "cpp_sources[0]"\nint g;' in made
    assert '#line 1 "cpp_sources[1]"\n\nint f' in made
    assert '#line 2 "cpp_sources[1]"\nGRADWRIGHT_DEF_DOC(f, "says \\"hello\\"", x)' in made
    made = source(["#define F(name) int name(int x) { return x; }\nF(f)"], {"f": ""})
    assert f'#line 1 "{REGISTERED}"\nGRADWRIGHT_DEF_DOC(f, "", )' in made
