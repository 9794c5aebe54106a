"""The house rules that a program can check (import layers are checked by import-linter)."""

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import gradwright

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "gradwright"
SOURCES = sorted(PACKAGE.rglob("*.py"))
LINE_LIMIT = 600
FOLDER_LIMIT = 5000
ARRAY_LIBRARIES = {"array_api_strict", "jax", "numpy", "scipy"}


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def report(rule: str, breaches: list[str]) -> None:
    """Fail once, with every breach of a rule on its own line."""
    if breaches:
        pytest.fail("\n  ".join([f"{rule}:", *breaches]), pytrace=False)


def nodes(path: Path) -> Iterator[ast.AST]:
    return ast.walk(ast.parse(path.read_text(encoding="utf-8"), filename=str(path)))


def imported(node: ast.AST) -> set[str]:
    """The top-level packages that an import statement names."""
    if isinstance(node, ast.Import):
        return {alias.name.partition(".")[0] for alias in node.names}
    if isinstance(node, ast.ImportFrom) and node.module and not node.level:
        return {node.module.partition(".")[0]}
    return set()


def caught(handler: ast.ExceptHandler) -> set[str]:
    """The names of the exceptions that a handler catches; a bare one catches BaseException."""
    if handler.type is None:
        return {"BaseException"}
    types = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return {ast.unparse(t).rpartition(".")[2] for t in types}


def test_the_package_is_found() -> None:
    assert SOURCES, f"no sources under {PACKAGE}"


def test_files_are_short() -> None:
    breaches = []
    for path in SOURCES:
        lines = len(path.read_text(encoding="utf-8").splitlines())
        if lines > LINE_LIMIT:
            breaches.append(f"{relative(path)}: {lines} lines, at most {LINE_LIMIT}")
    report("files over the limit", breaches)


def test_every_source_file_has_its_tests() -> None:
    breaches = []
    for path in SOURCES:
        inside = path.relative_to(PACKAGE)
        named = inside.parts[:2] in {("face", "methods"), ("face", "reference"), ("face", "typing")}
        if named or any(part.startswith("_") for part in inside.parts):
            continue  # a method is a name for a function: the comparison with PyTorch's database calls both
        if holds_names_alone(path):
            continue  # tests/autograd/test_import_paths.py asks for each of them
        mirror = ROOT / "tests" / inside.with_name(f"test_{inside.name}")
        if not mirror.is_file():
            breaches.append(f"{relative(path)} has no {relative(mirror)}")
    report("tests/ does not mirror src/", breaches)


LAZY_NAMES = ("if TYPE_CHECKING:", "lazy(__name__")


def holds_names_alone(path: Path) -> bool:
    """Whether a file has imports, ``__all__`` and names that come later, and no code."""
    return all(
        isinstance(node, ast.Import | ast.ImportFrom | ast.Delete)
        or ast.unparse(node).startswith(LAZY_NAMES)
        or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
        or (isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__")
        for node in ast.parse(path.read_text(encoding="utf-8")).body
    )


def test_autograd_holds_names_alone() -> None:
    rooms = [path for path in SOURCES if path.relative_to(PACKAGE).parts[0] == "autograd"]
    report("code in autograd/", [relative(path) for path in rooms if not holds_names_alone(path)])


SMALL = {"autograd", "cli", "distributed", "serialization", "utils"}
WINGS = {path for path in PACKAGE.iterdir() if (path / "__init__.py").is_file() and path.name not in SMALL}
ROOMS = sorted(WINGS | {readme.parent for readme in PACKAGE.rglob("README.md")})


@pytest.mark.parametrize("wing", ROOMS, ids=relative)
def test_every_wing_says_what_it_holds(wing: Path) -> None:
    text = (wing / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 40
    rows = re.findall(r"^\| (`[^|]*) \|", text, re.MULTILINE)
    named = [name for row in rows for name in re.findall(r"`([^`]+)`", row)]
    assert named
    assert [name for name in named if not (wing / name).exists()] == []
    assert "Open first: " in text
    assert "May import: " in text


def test_what_is_to_be_read_first_is_an_afternoon() -> None:
    files = []
    for page in ("reading.md", "reading.zh-CN.md"):
        text = (ROOT / "docs" / page).read_text(encoding="utf-8")
        files.append(re.findall(r"^\| \d+ \| \[[^]]*\]\(\.\./([^)]+)\)", text, re.MULTILINE))
    assert files[0] == files[1]
    assert sum(len((ROOT / file).read_text(encoding="utf-8").splitlines()) for file in files[0]) <= 3500


def test_no_folder_is_too_large_to_read() -> None:
    sizes: dict[Path, int] = {}
    for path in SOURCES:
        sizes[path.parent] = sizes.get(path.parent, 0) + len(path.read_text(encoding="utf-8").splitlines())
    large = {folder: n for folder, n in sizes.items() if n > FOLDER_LIMIT}
    breaches = [f"{relative(folder)}: {n} lines, at most {FOLDER_LIMIT}" for folder, n in large.items()]
    report("folders with too much directly in them", breaches)


def test_formulas_and_modules_know_only_xp() -> None:
    formulas = [path for path in SOURCES if path.relative_to(PACKAGE).parts[0] in ("ops", "nn", "optim")]
    breaches = [
        f"{relative(path)}:{node.lineno} imports {', '.join(sorted(found))}"
        for path in formulas
        for node in nodes(path)
        if (found := imported(node) & ARRAY_LIBRARIES)
    ]
    report("array libraries imported under ops/, nn/ or optim/", breaches)


def test_exceptions_are_caught_by_name() -> None:
    breaches = [
        f"{relative(path)}:{node.lineno} catches {', '.join(sorted(broad))}"
        for path in SOURCES
        for node in nodes(path)
        if isinstance(node, ast.ExceptHandler) and (broad := caught(node) & {"Exception", "BaseException"})
    ]
    report("handlers that catch everything", breaches)


def test_what_is_left_to_do_has_an_issue() -> None:
    folders = [ROOT / name for name in ("src", "examples", "benchmarks")]
    breaches = [
        f"{relative(path)}:{number} {line.strip()}"
        for folder in folders
        for path in sorted(folder.rglob("*.py"))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if re.search(r"\b(TODO|FIXME|XXX)\b", line) and "issue" not in line
    ]
    report("TODO without an issue", breaches)


def test_every_exported_name_is_documented() -> None:
    breaches = [name for name in gradwright.__all__ if not documented(getattr(gradwright, name))]
    report("exported without a docstring", breaches)


def documented(value: object) -> bool:
    """Whether a module, class or function has a docstring of its own, or a constant's class has one."""
    if value is None:  # newaxis
        return True
    if inspect.isclass(value) or inspect.isroutine(value) or inspect.ismodule(value):
        return bool((value.__doc__ or "").strip())
    return bool(inspect.getdoc(value))
