"""PyTorch's files, as it writes them: what they hold, and what is said of those that are damaged."""

from __future__ import annotations

import io
import pickle  # noqa: TID251 - what is loaded here was made here
import random
import sys
import tarfile
import zipfile

import numpy as np
import pytest

import gradwright as gw
from gradwright.serialization.checkpoint.writing import Content
from tests.serialization.checkpoint.data import CASES, told
from tests.thorough import WHOLE

FORMATS = {
    "zip": {},
    "protocol 4": {"pickle_protocol": 4},
    "before 1.6": {"_use_new_zipfile_serialization": False},
    "before 1.6, protocol 4": {"_use_new_zipfile_serialization": False, "pickle_protocol": 4},
}


def file_of(save, data, **options):
    file = io.BytesIO()
    save(data, file, **options)
    return file.getvalue()


def written(data):
    file = io.BytesIO()
    Content(data).to_file(file, "archive")
    return file.getvalue()


@pytest.mark.filterwarnings("ignore:Sparse CSR")
@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("case", CASES)
def test_files_of_pytorch(torch, case, format):
    if case == "dtypes" and "1.6" in format:
        pytest.skip("PyTorch cannot write untyped storages in this format")
    data = CASES[case](torch)
    found = gw.load(io.BytesIO(file_of(torch.save, data, **FORMATS[format])))
    assert told(found) == told(data)


def test_what_shares_memory_shares_it_again_and_counts_its_changes(torch):
    found = gw.load(io.BytesIO(file_of(torch.save, CASES["shared"](torch))))
    found[1][0, 0] = -5
    assert [t.flatten()[0].item() for t in found[1:4]] == [-5, -5, -5]
    assert found[3]._version == 1
    assert found[5] is found[6]


def test_conjugated_and_negated_tensors(torch):
    z = torch.tensor([1 + 2j, 3 - 1j])
    found = gw.load(io.BytesIO(file_of(torch.save, [z.conj(), z.imag.clone()._neg_view()])))
    assert [t.tolist() for t in found] == [[1 - 2j, 3 + 1j], [-2.0, 1.0]]


def test_a_file_can_be_mapped(torch, tmp_path):
    path = tmp_path / "net.pt"
    torch.save(CASES["trained"](torch), path)
    before = path.read_bytes()
    found = gw.load(path, mmap=True)
    assert told(found) == told(torch.load(path))
    found["model"]["0.bias"].fill_(3)
    assert path.read_bytes() == before


def test_a_file_without_checksums(torch):
    torch.serialization.set_crc32_options(False)
    try:
        content = file_of(torch.save, torch.arange(3.0))
    finally:
        torch.serialization.set_crc32_options(True)
    assert gw.load(io.BytesIO(content)).tolist() == [0, 1, 2]


def test_a_file_of_a_big_endian_machine(torch):
    """Made of one of this machine, whose storages are turned around."""
    data = [torch.tensor([1.5, -2.0], dtype=torch.float64), torch.tensor([3, 70000]), torch.tensor([1 + 2j])]
    source, file = zipfile.ZipFile(io.BytesIO(file_of(torch.save, data))), io.BytesIO()
    words = {"archive/data/0": 8, "archive/data/1": 8, "archive/data/2": 4}
    with zipfile.ZipFile(file, "w") as target:
        for name in source.namelist():
            octets = b"big" if name.endswith("byteorder") else source.read(name)
            if name in words:
                octets = np.frombuffer(octets, f"V{words[name]}").view("u1").reshape(-1, words[name])[:, ::-1].tobytes()
            target.writestr(name, octets)
    assert told(gw.load(io.BytesIO(file.getvalue()))) == told(data)


def test_numpy_values_where_weights_only_is_false(torch):
    data = {"loss": np.float64(0.25), "ids": np.arange(4, dtype=np.int16).reshape(2, 2)}
    content = file_of(torch.save, data)
    with pytest.raises(gw.serialization.UnsafeGlobalError, match=r"GLOBAL numpy\..*scalar was not an allowed global"):
        gw.load(io.BytesIO(content))
    found = gw.load(io.BytesIO(content), weights_only=False)
    assert found["loss"] == 0.25
    assert (found["ids"].tolist(), found["ids"].dtype) == ([[0, 1], [2, 3]], np.int16)


@pytest.mark.parametrize("array", [
    np.array(["a", "bcd"]), np.array([b"ab"]), np.array(["2020-01-01"], "M8[D]"), np.array([1], "m8[s]"),
    np.array([True]), np.arange(3, dtype=">i4"), np.array(2j), np.float16(2),
], ids=str)  # fmt: skip
def test_arrays_of_numpys_of_every_plain_kind(torch, array):
    found = gw.load(io.BytesIO(file_of(torch.save, {"a": array})), weights_only=False)["a"]
    assert (found.tolist(), found.dtype.newbyteorder("=")) == (array.tolist(), array.dtype.newbyteorder("="))


@pytest.mark.parametrize(("code", "state"), [
    ("V8", (3, "|", None, ("a",), {"a": (np.dtype("O"), 0)}, 8, 1, 0)), ("O", (3, "|", None, None, None, -1, -1, 0)),
    ("S8", (3, "|", None, None, None, 2**40, 1, 0)), ("f8", (3, "<", None, None, None, -1, -1, 63)),
    ("f8", (3, "<", (np.dtype("f8"), (2,)), None, None, 16, -1, 0)),
])  # fmt: skip
def test_no_dtype_of_numpys_says_that_bytes_are_objects(code, state):
    class Posing:
        def __reduce__(self):
            return np.dtype, (code, False, True), state

    content = rezipped(written(gw.arange(3.0)), lambda n, b: pickle.dumps(Posing(), 2) if n.endswith(".pkl") else b)
    with pytest.raises(gw.FileError, match=r"sets more of NumPy's dtype .* than its byte order"):
        gw.load(io.BytesIO(content), weights_only=False)


def test_records_that_lie_across_each_other_are_refused():
    content = written({"a": gw.arange(100.0), "b": gw.arange(100.0)})
    table = content.rindex(b"PK\x01\x02", 0, content.rindex(b"archive/data/1"))
    forged = bytearray(content)
    forged[table + 20 : table + 28] = len(content).to_bytes(4, "little") * 2
    with pytest.raises(gw.FileError, match="more bytes than the file"):
        gw.load(io.BytesIO(bytes(forged)))


@pytest.mark.parametrize(("machine", "names"), [([1], []), ({}, None), ({}, [[1]])])
def test_a_legacy_file_that_says_other_things_is_damaged(machine, names):
    parts = (0x1950A86A20F9469CFC6C, 1001, machine, [1], names)
    with pytest.raises(gw.FileError, match="it is damaged"):
        gw.load(io.BytesIO(b"".join(pickle.dumps(part, 2) for part in parts)))


@pytest.mark.parametrize("only", [True, False])
def test_a_module_is_refused_by_its_name(torch, only):
    content = file_of(torch.save, torch.nn.Linear(2, 2))
    with pytest.raises(gw.FileError, match=r"GLOBAL torch\.nn\.modules\.linear\.Linear .* save its state_dict there"):
        gw.load(io.BytesIO(content), weights_only=only)


def test_a_tar_of_before_0_4_is_refused_by_that_word():
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as tar:
        tar.addfile(tarfile.TarInfo("storages"), io.BytesIO(b""))
    with pytest.raises(gw.FileError, match="a tar of before"):
        gw.load(io.BytesIO(file.getvalue()))


def rezipped(content, change):
    source, file = zipfile.ZipFile(io.BytesIO(content)), io.BytesIO()
    with zipfile.ZipFile(file, "w") as target:
        for name in source.namelist():
            if (octets := change(name, source.read(name))) is not None:
                target.writestr(name, octets)
    return file.getvalue()


DAMAGE = {
    "a record is missing": (lambda n, b: None if n.endswith("data/0") else b, "'archive/data/0' is missing"),
    "a record is short": (lambda n, b: b[:-1] if n.endswith("data/0") else b, "data/0 has 11 bytes where .* of 12"),
    "no pickle": (lambda n, b: None if n.endswith(".pkl") else b, "not of torch.save: it has 0 data.pkl"),
    "half a pickle": (lambda n, b: b[: len(b) // 2] if n.endswith(".pkl") else b, "its pickle is damaged"),
    "a strange order": (lambda n, b: b"middle" if n.endswith("order") else b, "byte order is b'middle'"),
}


@pytest.mark.parametrize("what", DAMAGE)
def test_what_is_said_of_damage(what):
    change, words = DAMAGE[what]
    content = rezipped(written(gw.arange(3.0)), change)
    with pytest.raises(gw.FileError, match=words):
        gw.load(io.BytesIO(content))


class Heard:
    """What an audit hook hears between `begin` and `end`: what a file that ran something would do."""

    TELLING = ("exec", "compile", "open", "os.exec", "os.posix_spawn", "os.remove", "os.rename", "os.system",
               "subprocess.Popen", "shutil.rmtree", "socket.connect")  # fmt: skip

    def __init__(self):
        self.events, self.on = [], False
        sys.addaudithook(lambda event, arguments: self.on and event in self.TELLING and
                         self.events.append((event, arguments)))  # fmt: skip


NAMES = [b"os\nsystem\n", b"builtins\neval\n", b"builtins\ngetattr\n", b"collections\nOrderedDict\n"]
OPCODES = [b"R", b"b", b"\x81", b"(", b"t", b".", b"0", b"Q", b"u", b"e"]


def mutated(content, draw):
    mutant = bytearray(content)
    for _ in range(draw.randrange(1, 4)):
        at, way = draw.randrange(len(mutant)), draw.randrange(4)
        if way == 0:
            mutant[at] = draw.randrange(256)
        elif way == 1:
            del mutant[at : at + draw.randrange(1, 20)]
        else:
            mutant[at:at] = b"c" + draw.choice(NAMES) if way == 2 else draw.choice(OPCODES)
    return bytes(mutant)


def test_damaged_files_run_nothing():
    """Each is loaded, or is a FileError; nothing is executed, opened or removed."""
    data = {name: CASES[name](gw) for name in ("trained", "shared", "dtypes", "parameters", "containers")}
    content = written(data)
    gw.load(io.BytesIO(content))  # imports what loading needs
    pickle = zipfile.ZipFile(io.BytesIO(content)).read("archive/data.pkl")
    draw, heard, refused = random.Random(0), Heard(), 0
    for i in range(2000 if WHOLE else 200):
        part = mutated(content if i % 2 else pickle, draw)
        file = part if i % 2 else rezipped(content, lambda n, b, part=part: part if n.endswith(".pkl") else b)
        heard.on = True
        try:
            gw.load(io.BytesIO(file))
        except gw.FileError:
            refused += 1
        finally:
            heard.on = False
    assert heard.events == []
    assert refused > i // 2
