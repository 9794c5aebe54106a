"""What a compiler says, in short: each error once, with the user's line and, for common mistakes, the mend.

GCC and Clang tell of an error that shows in a template or a macro from the inside: first the line of a header, then,
pages later, the user's. Here the user's line comes first, and what is known of headers alone is left out.
"""

from __future__ import annotations

import linecache
import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

REGISTERED = "load_inline(functions=...)"
"""What the lines are said to be of by which functions are registered that have no place in the code."""
MOST = 5
"""So many errors are told."""
_AT = r"(?P<file>\S.*?):(?P<line>\d+):(?P<column>\d+):\s+"
_SAID = re.compile(_AT + r"(?P<kind>(?:fatal )?error|warning|note): (?P<text>.*)")
_REQUIRED = re.compile(_AT + r"required (?:from|by)")
_AROUND = re.compile(r"In file included from|\s+from |\S.*: (?:In|At) |\S.*:\s+\[ ?skipping|\S.*:\d+: +required|"
                     r"note: \(|compilation terminated|\d+ (?:errors?|warnings?) (?:generated|and)")  # fmt: skip
_ASSERTION = re.compile(r"static(?:_| )assert(?:ion)? failed(?: due to requirement '.*')?:? \"?(.*?)\"?")
_HELPFUL = re.compile(r"previous|declared here|to match|did you forget")

Place = tuple[str, int]
_MENDS: tuple[tuple[str, str, str], ...] = (  # what is told is that, what is said instead, and what helps
    (r"read-only location|cannot assign to return value", "",
     "The entries of a gw::Array are read-only: write into a new one, gw::empty_like(x), or take gw::Mutable<T>."),
    (r"unable to deduce 'auto'|function<\(& ?\w+\)>|template parameter 'F'", "the name is that of several functions",
     "They are overloads, a template, or the C library has one too: register one that has the name alone."),
    (r"'Tensor' does not name|type name 'Tensor'|'Array' (?:does not name|was not)|template named 'Array'", "",
     "It is gw::Tensor, gw::Array<double>, and so on."),
    (r"(?:torch|ATen|c10|pybind11)/\S+[':]", "",
     "Here it is gradwright/extension.h: gw::Tensor, gw::Array<double> for its entries, GRADWRIGHT_DEF for m.def."),
    (r"expected initializer before 'gradwright_", "",
     "What comes before it is not complete: a struct ends in }; with a semicolon."),
    (r"Python\.h[':]", "the headers of Python are not installed",
     "Install them: sudo apt install python3-dev, or sudo dnf install python3-devel."),
)  # fmt: skip


@dataclass
class _Told:
    """One error, and all that is said of it."""

    place: Place
    text: str
    after: list[str] = field(default_factory=list)
    notes: list[_Told] = field(default_factory=list)
    required: list[Place] = field(default_factory=list)


def shortened(said: str, headers: Iterable[str], program: str = "", known: Iterable[str] = ()) -> str:
    """What a compiler has said, in short; as it is, if there is no error of C++ in it.

    ``headers`` are the folders of what is not the user's, ``program`` is the source if it was a text, and ``known`` are
    the functions that elementwise expressions may use.
    """
    own = (*headers, "/usr/include/", "/usr/lib", "/usr/bin/", "<", REGISTERED)
    lines, errors = _lines(program), dict[Place, _Told]()
    for error in _errors(said.splitlines()):
        errors.setdefault(_place(error, own), error)  # further ones in a line follow from the first
    if not all(file.startswith(own) for file, _ in errors):
        errors = {place: error for place, error in errors.items() if not place[0].startswith(own)}
    told = [_one(place, error, own, lines, known) for place, error in errors.items()]
    told[MOST:] = [[f"And {len(told) - MOST} more."]] if len(told) > MOST else []
    return "\n".join(line for part in told for line in part) or said


def placed(said: str, places: Mapping[str, Place]) -> str:
    """What is said of the lines of parts, said of where they are written."""

    def place(match: re.Match[str]) -> str:
        file, line = places.get(match[1], (match[1], 1))
        return f"{file}:{line - 1 + int(match[2])}:"

    return re.sub(r"^(\S+):(\d+):", place, said, flags=re.MULTILINE)


def _one(place: Place, error: _Told, own: tuple[str, ...], lines: Mapping[Place, str], known: Iterable[str],
         ) -> list[str]:  # fmt: skip
    """The message about an error."""
    assertion = _ASSERTION.fullmatch(error.text)
    text, mend = _mended(error, known)
    told = [f"{place[0]}:{place[1]}: error: {text or (assertion[1] if assertion else error.text)}"]
    shown = error.after if place == error.place else []
    told += shown if shown and lines.get(place, "").strip() in shown[0] else _excerpt(place, lines)
    for note in error.notes:
        if note.place[1] != place[1] and not note.place[0].startswith(own) and _HELPFUL.search(note.text):
            told += [f"{note.place[0]}:{note.place[1]}: note: {note.text}"]
            told += note.after or _excerpt(note.place, lines)
    return [*told, *mend]


def _errors(said: Iterable[str]) -> list[_Told]:
    """The errors, with the notes that follow each and the places that come before it."""
    errors: list[_Told] = []
    last, required = _Told(("", 0), ""), list[Place]()
    for line in said:
        if match := _SAID.match(line):
            last = _Told((match["file"], int(match["line"])), match["text"], required=required)
            if match["kind"].endswith("error"):
                errors.append(last)
                required = []
            elif errors and match["kind"] == "note":
                errors[-1].notes.append(last)
        elif match := _REQUIRED.match(line):
            required.append((match["file"], int(match["line"])))
        elif not _AROUND.match(line) and len(last.after) < 2:
            last.after.append(line)
    return errors


def _place(error: _Told, own: tuple[str, ...]) -> Place:
    """Where the user has caused an error; of those places, the one next to it."""
    around = [error.place, *error.required, *(note.place for note in error.notes)]
    theirs = [place for place in around if not place[0].startswith(own) and "/include/c++/" not in place[0]]
    registered = [place for place in around if place[0] == REGISTERED]
    return [*theirs, *registered, error.place][0]


def _lines(program: str) -> dict[Place, str]:
    """The lines of a source by the places that it gives them in ``#line``."""
    lines, file, at = dict[Place, str](), "", 0
    for line in program.splitlines():
        if match := re.match(r'#line (\d+) "(.*)"', line):
            file, at = match[2], int(match[1])
        else:
            lines.setdefault((file, at), line)
            at += 1
    return lines


def _excerpt(place: Place, lines: Mapping[Place, str]) -> list[str]:
    line = lines.get(place) or linecache.getline(*place).rstrip("\n")
    return [f"    {line}"] if line else []


def _mended(error: _Told, known: Iterable[str]) -> tuple[str, list[str]]:
    """What is said instead of an error, if that is plainer, and what helps."""
    whole = "\n".join([error.text, *(note.text for note in error.notes)])
    called = re.search(r"call to '(\w+)", error.text)
    if called and "Real<" in whole and called[1] in known:
        return "", [f"In an elementwise expression it is {called[1]}(...), without std::."]
    if called and re.search(r"Real<\w+>&?[,)].*'|from '[\w:]*Real<", whole):
        one = f"template <class R> R {called[1]}(R x) {{ return std::{called[1]}(x.v); }}"
        two = f"template <class R, class S> R {called[1]}(R x, S y) {{ return std::{called[1]}(x.v, R(y).v); }}"
        names = ", ".join(sorted(set(known)))
        return "", [f"Elementwise expressions have {names}. For others write before: {one}, or of two: {two}"]
    for pattern, text, mend in _MENDS:
        if re.search(pattern, whole):
            return text, [mend]
    return "", []


def of_loading(said: str) -> str:
    """What the system says of a library that it cannot load, with what helps."""
    if match := re.search(r"undefined symbol: (\w+)|symbol not found.*'_?(\w+)'", said):
        if re.search(r"__cxxabiv1|__gxx_personality", match[0]):
            return "C++'s own library is missing: CXX names a compiler for C. Use g++ for gcc, clang++ for clang"
        return (f"{_demangled(match[1] or match[2])} is used, but is in none of the sources and libraries: add the "
                "source that defines it, or the library that has it, as extra_ldflags=['-l...']")  # fmt: skip
    if match := re.search(r"(\S+): cannot open shared object file|Library not loaded: (\S+)", said):
        return (f"it is linked with {match[1] or match[2]}, which is not found where the system looks: name its "
                "folder, as extra_ldflags=['-Wl,-rpath,/the/folder', ...]")  # fmt: skip
    if "does not define module export function" in said:
        return "none of its sources includes gradwright/extension.h; of a library for ctypes, is_python_module=False"
    return said


def _demangled(symbol: str) -> str:
    program = shutil.which("c++filt")
    if program is None:
        return symbol
    return subprocess.run([program, symbol], capture_output=True, text=True, check=False).stdout.strip() or symbol
