"""`load` and `load_inline`: what they take, what they find built, and what they say of what does not compile."""

from __future__ import annotations

import ctypes
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import gradwright as gw
from gradwright.utils.cpp_extension import load, load_inline

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
        from time import perf_counter
        from gradwright.utils.cpp_extension import load_inline
        start = perf_counter()
        ext = load_inline("answers", {CODE!r}, functions=["answer"], build_directory={str(tmp_path)!r})
        print(perf_counter() - start, ext.__file__)
    """
    out = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, check=True)
    seconds, file = out.stdout.split()
    assert file == ext.__file__
    assert float(seconds) < 0.5  # 0.01 on a machine that does nothing else


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


def test_errors_in_all_files_are_told(compiler: None, tmp_path: Path) -> None:
    sources = [tmp_path / f"{name}.cpp" for name in "ab"]
    for source in sources:
        source.write_text(f"int {source.stem} = missing;\n")
    with pytest.raises(RuntimeError, match=r"(?s)a\.cpp:1:.*missing.*b\.cpp:1:.*missing"):
        load("bad", sources, is_python_module=False, build_directory=tmp_path)


BAD: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: load("not a name", "a.cpp"), FileNotFoundError, "a.cpp"),
    (lambda: load("a", []), ValueError, "no sources"),
    (lambda: load_inline("not a name", CODE), ValueError, "must be an identifier, but got 'not a name'"),
    (lambda: load_inline("a", CODE, functions="question"), ValueError, "functions names 'question'"),
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
