"""Saving and loading."""

import io
import math
import os
import stat
import subprocess
import sys
import time
from collections import Counter, OrderedDict
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gradwright as gw
from gradwright.serialization.public import replacing

DTYPES = ["bool", "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64", "float16", "bfloat16",
          "float32", "float64", "complex64", "complex128"]  # fmt: skip


def saved(data):
    file = io.BytesIO()
    gw.save(data, file)
    return file.getvalue()


def loaded(content):
    return gw.load(io.BytesIO(content))


def there_and_back(data):
    return loaded(saved(data))


def same(a, b):
    """Whether two nested data are equal: types, order, NaN, the sign of zero, tensors and their flags."""
    if type(a) is not type(b):
        return False
    if isinstance(a, gw.Tensor):
        return a.requires_grad == b.requires_grad and a.dtype is b.dtype and same(np.asarray(a.array), b.array)
    if isinstance(a, (np.ndarray, np.generic)):
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    if isinstance(a, dict):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a.items(), b.items(), strict=True))
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, (set, frozenset)):
        return sorted(map(repr, a)) == sorted(map(repr, b))
    if isinstance(a, float):
        return (math.isnan(a) and math.isnan(b)) or (a == b and math.copysign(1, a) == math.copysign(1, b))
    return same(a.real, b.real) and same(a.imag, b.imag) if isinstance(a, complex) else a == b


# -- what comes back --


def tensor(dtype, shape, seed):
    random = np.random.default_rng(seed)
    return gw.tensor(random.integers(0, 2 if dtype == "bool" else 100, shape), dtype=dtype)


shapes = st.lists(st.integers(0, 3), max_size=3)
tensors = st.builds(tensor, st.sampled_from(DTYPES), shapes, st.integers(0, 9))
parameters = st.builds(lambda t, flag: gw.nn.Parameter(t if t.is_complex() else t.double(), flag), tensors,
                       st.booleans())  # fmt: skip
keys = st.one_of(st.none(), st.booleans(), st.integers(), st.text(st.characters(codec=None)), st.binary(max_size=3),
                 st.tuples(st.integers(), st.text(max_size=2)))  # fmt: skip
leaves = st.one_of(
    keys, st.floats(), st.none().map(lambda _: 10**5000), st.complex_numbers(), tensors, parameters,
    tensors.map(lambda t: t.numpy()),
    st.floats(width=32).map(np.float32), st.sampled_from([gw.float32, gw.bfloat16, gw.device("cpu")]),
    st.sets(st.integers(), max_size=3), st.frozensets(st.text(), max_size=3), shapes.map(gw.Size),
)  # fmt: skip
nested = st.recursive(
    leaves,
    lambda part: st.one_of(
        st.lists(part, max_size=3), st.lists(part, max_size=3).map(tuple), st.dictionaries(keys, part, max_size=3),
        st.dictionaries(keys, part, max_size=3).map(OrderedDict),
    ),
    max_leaves=12,
)  # fmt: skip


@settings(max_examples=150)
@given(nested)
def test_nested_data_come_back(data):
    assert same(data, there_and_back(data))


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype_and_layout_comes_back(dtype):
    t = tensor(dtype, (3, 4), 1)
    data = [t, t.clone().t(), t.clone()[::2, 1::2], t[0, 0].clone(), t.clone()[:, :0], t.clone().expand(2, 3, 4)]
    assert same(data, there_and_back(data))
    assert same(data, there_and_back([x.clone() for x in data]))


def test_numbers_and_texts_are_exact():
    data = [10**6000, -(2**63), -0.0, 5e-324, 0.1, math.nan, -math.inf, complex(math.nan, -0.0), "\ud800\0", b"\0\xff"]
    assert same(data, there_and_back(data))


def test_what_schedulers_and_state_dicts_hold():
    state = OrderedDict(weight=gw.ones(2))
    state._metadata = OrderedDict([("", {"version": 1}), ("bn", {"version": 2})])
    back = there_and_back({"model": state, "milestones": Counter({30: 1, 80: 2}), 0: {"step": gw.tensor(3.0)}})
    assert same(back["model"], state)
    assert back["model"]._metadata == state._metadata
    assert type(back["milestones"]) is Counter
    assert back["milestones"] == {30: 1, 80: 2}
    assert back[0]["step"].item() == 3


def test_a_graph_is_left_behind_and_its_flag_kept():
    w = gw.ones(2, requires_grad=True)
    w.grad = gw.ones(2)
    with pytest.warns(gw.GradientWarning, match="MulBackward0.* is saved"):
        leaf, result = there_and_back([w, w * 2])
    assert leaf.requires_grad
    assert leaf.grad is None
    assert result.requires_grad
    assert result.is_leaf


@pytest.mark.parametrize(("name", "options"), [("SGD", {"momentum": 0.9}), ("Adam", {}), ("LBFGS", {"max_iter": 3})])
def test_training_goes_on_from_a_checkpoint(tmp_path, name, options):
    x, y = gw.randn(8, 3), gw.randn(8, 1)

    def new():
        model = gw.nn.Sequential(gw.nn.Linear(3, 4), gw.nn.Tanh(), gw.nn.Linear(4, 1))
        optimiser = getattr(gw.optim, name)(model.parameters(), lr=0.1, **options)
        return model, optimiser, gw.optim.lr_scheduler.MultiStepLR(optimiser, [2, 4])

    def train(model, optimiser, scheduler):
        def loss():
            optimiser.zero_grad()
            error = ((model(x) - y) ** 2).mean()
            error.backward()
            return error

        for _ in range(3):
            optimiser.step(loss)
            scheduler.step()
        return [p.tolist() for p in model.parameters()]

    one, other = new(), new()
    train(*one)
    gw.save([part.state_dict() for part in one], tmp_path / "checkpoint.gw")
    for part, state in zip(other, gw.load(tmp_path / "checkpoint.gw"), strict=True):
        part.load_state_dict(state)
    assert train(*other) == train(*one)


# -- other programs --


def test_safetensors_reads_a_state_dict(torch, tmp_path):
    load_file = pytest.importorskip("safetensors.torch").load_file
    state = OrderedDict((f"layer.{d}", tensor(d, (2, 3), i)) for i, d in enumerate(DTYPES[:-1]))
    state |= {"transposed": gw.arange(6.0).reshape(2, 3).t(), "empty": gw.zeros(0, 3), "scalar": gw.tensor(1.5)}
    gw.save(state, tmp_path / "x.safetensors")
    back = load_file(tmp_path / "x.safetensors")
    assert back.keys() == state.keys()
    for name, t in state.items():
        assert str(back[name].dtype) == str(t.dtype)
        assert back[name].tolist() == t.tolist()


def test_files_of_torch_with_safetensors_load(torch, tmp_path):
    save_file = pytest.importorskip("safetensors.torch").save_file
    state = {d: torch.arange(6).reshape(2, 3).to(getattr(torch, d)) for d in DTYPES[:-1]}
    save_file(state, tmp_path / "x.safetensors", metadata={"format": "pt", "note": "ours"})
    for mmap in (False, True):
        back = gw.load(tmp_path / "x.safetensors", map_location="cpu", weights_only=True, mmap=mmap)
        assert type(back) is dict
        assert back.keys() == state.keys()
        assert all(str(back[d].dtype) == f"torch.{d}" and back[d].tolist() == state[d].tolist() for d in state)


# -- what cannot be saved --


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (len, r"\['optimizer'\]\[0\]\['hook'\].*code"),
        (gw.nn.Linear(1, 1), r"\['hook'\]: it is a Linear: save what its state_dict"),
        (gw.eye(2).to_sparse_csr(), r"\['hook'\]: it is a SparseRows: save its to_dense\(\)"),
        (gw.Generator(), "get_state"),
        (object(), "it is a object; expected tensors"),
        (OrderedDict, "code"),
        (np.array(["text"]), "expected one of bool"),
        (np.array([1], ">i4"), "byte order"),
        (np.ma.array([1]), "numpy.asarray"),
        (type("Odd", (gw.Tensor,), {})([1.0]), "derived from Tensor"),
        (gw.nn.LazyLinear(2).weight, "it has no shape yet: call the module once before"),
    ],
    ids=lambda value: "" if isinstance(value, str) else type(value).__name__,
)
def test_what_cannot_be_saved_is_named_with_its_place(value, message, tmp_path):
    path = tmp_path / "x.gw"
    gw.save("old", path)
    with pytest.raises(TypeError, match=message):
        gw.save({"optimizer": [{"hook": value}]}, path)
    assert gw.load(path) == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["x.gw"]


def test_data_that_contain_themselves():
    cycle: list = [1]
    cycle.append({"again": cycle})
    with pytest.raises(ValueError, match=r"contain themselves: \['x'\]\[1\]\['again'\] is the list that it is in"):
        gw.save({"x": cycle}, io.BytesIO())
    shared = [1]
    assert there_and_back([shared, shared]) == [[1], [1]]


def test_data_that_nest_too_deeply():
    deep: list = []
    for _ in range(99):
        deep = [deep]
    assert there_and_back(deep) == deep
    with pytest.raises(ValueError, match="more than 100 deep"):
        gw.save([deep], io.BytesIO())


def test_where_to():
    with pytest.raises(AttributeError, match="expected 'f' to be string, path, or a file-like object"):
        gw.save(1, 3)
    with pytest.raises(AttributeError, match="seekable"):
        gw.load(3)
    with pytest.raises(ValueError, match="mmap"):
        gw.load(io.BytesIO(saved(1)), mmap=True)
    with pytest.raises(RuntimeError, match="no device 'cuda'"):
        gw.load(io.BytesIO(saved(gw.ones(1))), "cuda")
    with pytest.raises(FileNotFoundError):
        gw.load("/nowhere/x.gw")


def test_a_stream_is_read_from_where_it_stands():
    file = io.BytesIO()
    file.write(b"abc")
    gw.save([gw.ones(2)], file)
    file.seek(3)
    assert same(gw.load(file), [gw.ones(2)])


# -- damage --

SMALL = {"w": gw.arange(4.0), "n": [1, {"lr": 0.5}], "tied": None}
SMALL["tied"] = SMALL["w"][1:]
SMALL_FILE = saved(SMALL)


def is_found_or_harmless(content, data):
    try:
        return same(loaded(content), data)
    except gw.FileError:
        return True


def test_every_flipped_bit_is_found_or_harmless():
    for i in range(8 * len(SMALL_FILE)):
        content = bytearray(SMALL_FILE)
        content[i // 8] ^= 1 << i % 8
        assert is_found_or_harmless(bytes(content), SMALL), i


def test_every_truncation_is_found():
    for n in range(len(SMALL_FILE)):
        with pytest.raises(gw.FileError):
            loaded(SMALL_FILE[:n])
    with pytest.raises(gw.FileError, match=r"cannot load 'BytesIO': .*bytes of data, but its header speaks of"):
        loaded(SMALL_FILE + b"\0")


@settings(max_examples=100)
@given(nested, st.data())
def test_damage_of_any_file_is_found_or_harmless(data, draw):
    content = bytearray(saved(data))
    for i, value in draw.draw(st.lists(st.tuples(st.integers(0, len(content) - 1), st.integers(0, 255)), max_size=4)):
        content[i] = value
    assert is_found_or_harmless(bytes(content), data)


@given(st.binary(max_size=300))
def test_any_bytes_are_refused_or_a_dict(content):
    with suppress(gw.FileError):
        assert loaded(content) == {}


# -- mapped --


def test_a_mapped_file_is_written_to_in_memory_only(tmp_path):
    path = tmp_path / "x.gw"
    gw.save(SMALL, path)
    data = gw.load(path, mmap=True)
    assert same(data, SMALL)
    data["w"][1] = 99
    assert data["tied"][0] == 99
    assert same(gw.load(path), SMALL)


# -- a crash --


def test_a_process_killed_while_saving_leaves_the_old_file(tmp_path):
    path = tmp_path / "x.gw"
    gw.save("old", path)
    slow = (
        "import os, sys, time, gradwright as gw\n"
        "os.fsync = lambda _: time.sleep(60)\n"
        "print('ready', flush=True)\n"
        "gw.save(gw.zeros(1_000_000), sys.argv[1])\n"
    )
    with subprocess.Popen([sys.executable, "-c", slow, str(path)], stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        deadline = time.monotonic() + 60
        while not list(tmp_path.glob(".x.gw.*.tmp")) and time.monotonic() < deadline:
            time.sleep(0.005)
        process.kill()
    assert gw.load(path) == "old"
    gw.save("new", path)
    assert gw.load(path) == "new"


def test_the_old_file_is_there_until_the_block_ends(tmp_path):
    path = tmp_path / "x"
    path.write_text("old")
    with replacing(path) as file:
        file.write(b"new")
        file.flush()
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert os.listdir(tmp_path) == ["x"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_exception_leaves_the_old_file_and_nothing_else(tmp_path, error):
    path = tmp_path / "x"
    path.write_text("old")
    def write() -> None:
        with replacing(path) as file:
            file.write(b"half")
            raise error

    with pytest.raises(error):
        write()
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["x"]


def test_the_disk_has_the_data_before_the_name(tmp_path, monkeypatch):
    done = []
    fsync, replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda fd: (done.append(os.fstat(fd).st_size), fsync(fd)))
    monkeypatch.setattr(os, "replace", lambda *paths: (done.append("replace"), replace(*paths)))
    with replacing(tmp_path / "x") as file:
        file.write(b"abc")
    assert done == [3, "replace"]


@pytest.mark.skipif(os.name != "posix", reason="permissions are POSIX's")
def test_permissions_are_kept_or_as_the_umask_says(tmp_path):
    path = tmp_path / "x"
    mask = os.umask(0o027)
    try:
        for mode in (0o640, 0o604):
            with replacing(path) as file:
                file.write(b"x")
            assert stat.S_IMODE(path.stat().st_mode) == mode
            path.chmod(0o604)
    finally:
        os.umask(mask)


def test_links_are_followed(tmp_path):
    (tmp_path / "folder").mkdir()
    target = tmp_path / "folder" / "x"
    target.write_text("old")
    link = tmp_path / "link"
    link.symlink_to(target)
    with replacing(link) as file:
        file.write(b"new")
    assert link.is_symlink()
    assert target.read_text() == "new"


def test_what_is_no_file_is_written_to(tmp_path):
    with replacing(os.devnull) as file:
        file.write(b"x")
    assert not os.path.isfile(os.devnull)
    with pytest.raises(IsADirectoryError), replacing(tmp_path):
        raise AssertionError
    with pytest.raises(RuntimeError, match=r"Parent .*nowhere does not exist"), replacing(tmp_path / "nowhere" / "x"):
        raise AssertionError


def test_a_name_as_long_as_can_be(tmp_path):
    path = tmp_path / ("n" * 255)
    with replacing(os.fsencode(path)) as file:
        file.write(b"x")
    assert path.read_bytes() == b"x"


def test_what_is_set_on_a_tensor_is_saved_with_it():
    x = gw.ones(2)
    x.note, x.parts, x.itself = "hi", [1, (2, gw.zeros(1))], x
    w = gw.nn.Parameter(gw.ones(1))
    w.tag = {"rank": 3}
    x2, again, w2 = there_and_back([x, x, w])
    assert again is x2 is x2.itself
    assert (x2.note, x2.parts[0], w2.tag) == ("hi", 1, {"rank": 3})
    assert gw.equal(x2.parts[1][1], gw.zeros(1))
    x.parts = print
    with pytest.raises(TypeError, match=r"cannot save \['x'\]\['attributes'\]\['parts'\]: .* which is code"):
        gw.save({"x": x}, io.BytesIO())
