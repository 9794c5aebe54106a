"""Versions: writes are counted, and those through arrays that were handed out are noticed when it matters."""

import multiprocessing
import re
import tempfile
import threading
from itertools import product

import numpy as np
import pytest

import gradwright
from gradwright.engine.version import ExportedVersion, bump, export, written_at
from gradwright.utils.checkpoint import checkpoint
from gradwright.utils.data import DataLoader
from tests.thorough import some

CHANGED = "has been modified by an inplace operation: .* was written through an array over its memory"


def raises():
    return pytest.raises(RuntimeError, match=CHANGED)


# ---- counting --------------------------------------------------------------------------------------------


def test_a_write_is_counted_and_its_line_noted():
    counter = [0]
    assert written_at(counter) is None
    bump(counter, 1)
    assert counter[0] == 1
    assert written_at(counter).source == "bump(counter, 1)"


def test_the_last_line_counts():
    t = gradwright.ones(3)
    t.add_(1)
    t[0] = 5.0
    assert t._version == 2
    assert written_at(t._counter).source == "t[0] = 5.0"


LINES = {
    "t.add_(1)": lambda t: t.add_(1),
    "t[0] = 1": lambda t: t.__setitem__(0, 1),
    "t.copy_(t)": lambda t: t.copy_(t * 2),
    "t.unsqueeze_(0)": lambda t: t.unsqueeze_(0),
    "t.resize_(5)": lambda t: t.resize_(5),
    "t.set_(t.clone())": lambda t: t.set_(t.clone()),
    "increment_version(t)": lambda t: gradwright.autograd.graph.increment_version(t),
}


@pytest.mark.parametrize("name", LINES)
def test_every_write_notes_the_innermost_line_of_the_user(name):
    t = gradwright.ones(3)
    write = LINES[name]
    write(t)
    assert t._version
    assert written_at(t._counter).code is write.__code__


# ---- arrays that were handed out -------------------------------------------------------------------------

WAYS = {
    "numpy": lambda t: t.numpy(),
    "detached": lambda t: t.detach().numpy(),
    "of a view": lambda t: t[..., :1].numpy(),
    "of a strided view": lambda t: t[..., ::2].numpy(),
    "transposed": lambda t: t.t().numpy(),
    "reversed": lambda t: t.flip(0) * 0 if t.ndim == 0 else t.numpy()[::-1],
    "view of the array": lambda t: t.numpy()[..., :1].T,
    "np.asarray": np.asarray,
    "np.asarray of a transpose": lambda t: np.asarray(t.t()),
    "__array__": lambda t: t.__array__(),
    "DLPack": np.from_dlpack,
    "memoryview": lambda t: np.frombuffer(memoryview(t.numpy()).cast("B"), t.array.dtype).reshape(t.array.shape),
    "force": lambda t: t.numpy(force=True),
}  # fmt: skip


@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128", "bool", "int64"])
@pytest.mark.parametrize("way", WAYS)
def test_a_write_after_saving_is_noticed_and_one_before_is_not(way, dtype):
    d = getattr(gradwright, dtype)
    t = gradwright.ones(4, 3, dtype=d)
    t0 = t.clone()
    w = gradwright.ones(4, 3, dtype=d if dtype in ("float64", "float32", "complex128") else None, requires_grad=True)

    def save():
        return gradwright.where(t, w, w * 2) if dtype == "bool" else w.gather(0, t) if dtype == "int64" else t * w

    def back(y):
        gradwright.autograd.grad(y, w, gradwright.ones_like(y), retain_graph=True)

    def write(a):
        a[...] = 1 - a if dtype == "int64" else ~a if dtype == "bool" else a * 3

    before = save()
    array = WAYS[way](t)
    back(before)
    write(array)
    with raises():
        back(before)
    after = save()
    back(after)
    back(after)
    write(array)
    with raises():
        back(after)
    last = save()
    del array  # and with it the last way to write
    back(last)
    assert t.tolist() != t0.tolist() or dtype in ("bool", "int64")


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_small_floats(dtype):
    d = getattr(gradwright, dtype)
    t, i = gradwright.ones(3, dtype=d), gradwright.zeros(3, dtype=gradwright.int64)
    array = t.numpy()
    version = +t._counter[0]
    array[1] = 2.0
    assert t.tolist() == [1, 2, 1]
    assert t._counter[0] != version
    assert not i._counter[0] != +i._counter[0]  # noqa: SIM202 - it is this operator that nodes use


def test_0d():
    x = gradwright.ones(2, dtype=gradwright.float64).sum()  # held as a number until somebody wants its memory
    w = gradwright.ones((), dtype=gradwright.float64, requires_grad=True)
    array = x.numpy()
    y = x * w
    array[...] = 7.0
    assert x.item() == 7
    with raises():
        y.backward()


@pytest.mark.parametrize("empty", [(0,), (3, 0)])
def test_empty_memory_is_nobodys_business(empty):
    t = gradwright.ones(*empty)
    assert t.numpy().shape == empty
    assert t._counter == [0]


def test_neither_is_memory_that_cannot_be_written():
    array = np.ones(3)
    array.flags.writeable = False
    t = gradwright.from_numpy(array)
    assert not t.numpy().flags.writeable
    assert t._counter == [0]


def test_writes_to_expanded_memory_are_noticed():
    t, w = gradwright.ones(2, 1), gradwright.ones(2, 1, requires_grad=True)
    y = t * w
    t.expand(2, 3).numpy()[0] = 5.0
    with pytest.raises(RuntimeError, match="the array was handed out at"):
        y.sum().backward()


def test_a_line_is_named_that_asked_for_the_array():
    t, w = gradwright.ones(3), gradwright.ones(3, requires_grad=True)
    y = t * w
    t.numpy()[0] = 5.0  # the array does not outlive this line
    with pytest.raises(RuntimeError, match=r"the array was handed out at .*t.numpy\(\)\[0\] = 5.0"):
        y.sum().backward()
    y = t * w
    t.add_(1)
    with pytest.raises(RuntimeError, match=r"is at version 1; expected version 0 instead[^$]*changed at .*t.add_\(1\)"):
        y.sum().backward()


def test_whatever_numpy_does_to_it():
    for write in (
        lambda a: np.add(a, 1, out=a), lambda a: a.sort(), lambda a: a.fill(9), lambda a: np.copyto(a, 4.0),
        lambda a: a.__setitem__(a > 1, 0.0), lambda a: a.resize((3,)) or a.put(2, 8.0), lambda a: a.view("u1").fill(1),
        lambda a: np.random.default_rng(0).random(out=a),
    ):  # fmt: skip
        t, w = gradwright.tensor([3.0, 2.0, 1.0], dtype=gradwright.float64), gradwright.ones(3, requires_grad=True)
        y = t * w
        write(t.numpy())
        with raises():
            y.sum().backward()


def test_a_ufunc_that_writes_into_a_tensor_counts_as_a_write_in_place():
    t, w = gradwright.ones(3), gradwright.ones(3, requires_grad=True)
    y = t * w
    np.add(t, 1, out=t)
    assert t._version == 1
    with pytest.raises(RuntimeError, match="is at version 1; expected version 0"):
        y.sum().backward()


def test_torch_writes_what_it_was_lent(torch):
    for take in (torch.from_dlpack, torch.as_tensor, lambda t: torch.from_numpy(t.numpy())):
        t, w = gradwright.ones(3), gradwright.ones(3, requires_grad=True)
        theirs = take(t)
        theirs[0] = 3
        y = t * w
        gradwright.autograd.grad(y.sum(), w, retain_graph=True)
        theirs.mul_(2)
        assert t.tolist() == [6, 2, 2]
        with raises():
            y.sum().backward()


def test_writes_in_place_and_through_arrays_in_turn():
    t, w = gradwright.ones(3), gradwright.ones(3, requires_grad=True)
    array = t.numpy()
    for k in range(4):
        for write in (lambda: t.mul_(2), lambda: array.__imul__(2)):
            y = t * w
            gradwright.autograd.grad(y.sum(), w, retain_graph=True)
            write()
            with pytest.raises(RuntimeError, match="modified by an inplace operation"):
                y.sum().backward()
            y = t * w
            y.sum().backward()
        assert t._version == k + 1  # as PyTorch counts
    assert t.tolist() == [256] * 3


def test_a_write_that_is_taken_back_before_anybody_looks():
    t, w = gradwright.ones(3), gradwright.ones(3, requires_grad=True)
    y = t * w
    array = t.numpy()
    array[0] = 5.0
    array[0] = 1.0
    y.sum().backward()
    assert w.grad.tolist() == [1, 1, 1]


def test_a_write_is_not_forgotten_when_the_array_dies_or_another_is_asked_for():
    t, w = gradwright.ones(3), gradwright.ones(3, requires_grad=True)
    a = t.numpy()
    a[0] = 5.0
    y = t * w  # saved with 5
    a[0] = 1.0
    del a
    t.numpy()
    with raises():
        y.sum().backward()


def test_views_whose_base_was_written_through_an_array():
    """The history of a view has nothing to do with it: no error, even where a write in place would be one."""
    x = gradwright.ones(4, requires_grad=True)
    h = x * 1
    a, b = h.chunk(2)
    h.detach().numpy()[...] = 3.0
    (a + b).sum().backward()
    assert a.tolist() == [3, 3]
    assert x.grad.tolist() == [1, 1, 1, 1]


def test_ordinary_memory_costs_nothing():
    t = gradwright.ones(3)
    assert type(t._counter[0]) is int
    t.numpy()
    assert isinstance(t._counter[0], ExportedVersion)
    t.add_(1)
    assert type(t._counter[0]) is int


def test_many_arrays():
    t, w = gradwright.zeros(1000, 4), gradwright.ones(1000, 4, requires_grad=True)
    arrays = []
    for k in range(1000):
        arrays.append(t[k].numpy())
        arrays[-1][:] = k
    assert len(t._counter[0].exports) <= 16
    y = t * w
    gradwright.autograd.grad(y.sum(), w, retain_graph=True)
    more = [row.numpy() for row in t]
    gradwright.autograd.grad(y.sum(), w, retain_graph=True)
    arrays[777][2] += 1
    with raises():
        gradwright.autograd.grad(y.sum(), w, retain_graph=True)
    y = t * w
    more[3][1] += 1
    with raises():
        gradwright.autograd.grad(y.sum(), w, retain_graph=True)
    del arrays, more
    y = t * w
    assert t._counter[0].exports == []
    y.sum().backward()


def test_many_arrays_of_strided_parts():
    t, w = gradwright.zeros(40, 40), gradwright.ones(40, 40, requires_grad=True)
    columns = [t[:, k].numpy() for k in range(40)]
    assert len(t._counter[0].exports) <= 17
    for k in range(40):
        y = t * w
        gradwright.autograd.grad(y.sum(), w, retain_graph=True)
        columns[k][k] = 1.0
        with raises():
            y.sum().backward()


def test_memory_of_another_size_under_the_same_counter():
    x = gradwright.ones(3)
    first = x.numpy()
    x.data = gradwright.ones(5)
    arrays = [x[k:].numpy() for k in range(5)] + [x[:k].numpy() for k in range(1, 5)] + [x[::2].numpy()] * 20
    arrays[3][0] = 7.0
    first[0] = 9.0
    assert x.tolist() == [1, 1, 1, 7, 1]


def test_from_several_threads():
    t, w = gradwright.zeros(8, 100), gradwright.ones(8, 100, requires_grad=True)
    arrays = [None] * 8
    begin = threading.Barrier(8)

    def ask(k):
        begin.wait()
        for _ in range(50):
            arrays[k] = t[k].numpy()
            +t._counter[0]

    threads = [threading.Thread(target=ask, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for array in arrays:
        y = t * w
        gradwright.autograd.grad(y.sum(), w, retain_graph=True)
        array[0] += 1
        with raises():
            y.sum().backward()


def test_the_array_is_the_memory():
    for t in (gradwright.ones(2, 3), gradwright.ones(4, 6)[::2, ::2].t(), gradwright.ones(3).to(gradwright.bfloat16)):
        array = t.numpy()
        assert array.dtype == t.array.dtype
        assert array.strides == t.array.strides
        assert np.shares_memory(array, t.array)
        assert np.asarray(export(t.array, t._counter)).shape == t.array.shape


# ---- arrays that came, and are filled again -----------------------------------------------------------------

def mapped(shape):
    with tempfile.TemporaryFile() as file:
        return np.memmap(file, np.float64, shape=shape)


def shared(shape):
    memory = multiprocessing.RawArray("d", int(np.prod(shape)))
    return np.frombuffer(memory).reshape(shape)


BRINGS = {
    "from_numpy": gradwright.from_numpy, "as_tensor": gradwright.as_tensor, "asarray": gradwright.asarray,
    "DLPack": gradwright.from_dlpack,
    "frombuffer": lambda a: gradwright.frombuffer(a, dtype=gradwright.float64).reshape(a.shape),
    "a loader": lambda a: next(iter(DataLoader([a], batch_size=None, collate_fn=gradwright.as_tensor))),
}  # fmt: skip
MEMORY = {"an array": np.empty, "a file": mapped, "shared": shared,
          "a part": lambda shape: np.empty((*shape, 2))[..., 1], "reversed": lambda shape: np.empty(shape)[::-1],
          "by columns": lambda shape: np.empty(shape[::-1]).T}  # fmt: skip
FILLS = {
    "slice": lambda a, new: a.__setitem__(slice(None), new), "copyto": np.copyto,
    "out": lambda a, new: np.multiply(new, 1.0, out=a), "augmented": lambda a, new: a.__iadd__(new - a),
    "fill": lambda a, new: a.fill(9.0),
    "row by row": lambda a, new: [np.copyto(row, r) for row, r in zip(a, new, strict=True)],
    "shuffled": lambda a, new: np.copyto(a, a[::-1].copy()), "another view": lambda a, new: a.T.__setitem__(..., new.T),
}  # fmt: skip
USES = {
    "product": lambda x, w: (x * w).sum(), "matmul": lambda x, w: (x @ w.T).sum(),
    "of a view": lambda x, w: (x.T * w.T).sum(), "of a row": lambda x, w: (x[1] * w[1]).sum(),
    "linear": lambda x, w: gradwright.nn.functional.linear(x, w).sum(), "detached": lambda x, w: (x.detach() * w).sum(),
    "data": lambda x, w: (x.data * w).sum(), "joined": lambda x, w: gradwright.einsum("ij,ij->", x, w),
    "in a Function": lambda x, w: Product.apply(x, w).sum(),
    "in a checkpoint": lambda x, w: checkpoint(lambda v: (v * x).sum(), w, use_reentrant=False),
}  # fmt: skip


class Product(gradwright.autograd.Function):
    @staticmethod
    def forward(ctx, x, w):
        ctx.save_for_backward(x)
        return x * w

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return None, g * x


def filled_again(bring=gradwright.from_numpy, memory=np.empty, fill=FILLS["slice"], use=USES["product"], shape=(4, 3)):
    """The array, and what is to be run backward before it is filled again, and after."""
    rng = np.random.default_rng(0)
    array = memory(shape)
    array[...] = rng.normal(size=shape)
    w = gradwright.ones(*shape, dtype=gradwright.float64, requires_grad=True)
    y = use(bring(array), w)
    gradwright.autograd.grad(y, w, retain_graph=True)
    fill(array, rng.normal(size=shape))
    with pytest.raises(RuntimeError, match=r"written|changed") as error:
        y.backward()
    y = use(bring(array), w)
    y.backward()
    return str(error.value)


@pytest.mark.parametrize("bring", BRINGS)
@pytest.mark.parametrize("memory", MEMORY)
def test_an_array_that_is_filled_again_is_noticed_wherever_it_lies(bring, memory):
    if bring == "frombuffer" and memory not in ("an array", "a file", "shared"):
        pytest.skip("a buffer is contiguous")
    filled_again(BRINGS[bring], MEMORY[memory])


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("fill", FILLS)
def test_an_array_that_is_filled_again_is_noticed_whatever_it_is_used_for(fill, use):
    filled_again(fill=FILLS[fill], use=USES[use])


@pytest.mark.parametrize("shape", [(1, 1), (512, 1), (513, 1), (64, 784), (4096, 256)])
@pytest.mark.parametrize("memory", MEMORY)
def test_of_any_size(shape, memory):
    filled_again(memory=MEMORY[memory], use=USES["product"], shape=shape)


def test_what_is_told():
    said = filled_again()
    assert re.search(r"was written through an array.*MulBackward0 saved it as 'x'", said)
    assert re.search(r"the array was brought at .*y = use\(bring\(array\), w\)", said)
    assert "gradwright.tensor(array)" in said


UNTOUCHED = {
    "the next rows": lambda buffer, k: buffer.__setitem__(slice(k + 1, None), 9.0),
    "the row before": lambda buffer, k: buffer.__setitem__(slice(0, k), 9.0),
    "the same numbers": lambda buffer, k: buffer.__setitem__(k, buffer[k].copy()),
    "there and back": lambda buffer, k: (buffer.__iadd__(1.0), buffer.__isub__(1.0)),
    "nothing": lambda buffer, k: None,
}


ROWS = {"one": gradwright.from_numpy, "each": lambda b: [gradwright.from_numpy(r) for r in b],
        "unbound": lambda b: gradwright.from_numpy(b).unbind()}  # fmt: skip


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("then", UNTOUCHED)
def test_rows_of_a_buffer_are_filled_one_after_another(rows, then):
    buffer = np.zeros((6, 4))
    held = ROWS[rows](buffer)
    w = gradwright.ones(4, dtype=gradwright.float64, requires_grad=True)
    due = np.zeros(4)
    for k in range(6):
        buffer[k] = np.arange(4) + k
        due += buffer[k]
        y = (w * held[k]).sum()
        UNTOUCHED[then](buffer, k)
        y.backward()
    assert w.grad.tolist() == due.tolist()


def test_what_is_nobody_elses_or_copied_is_not_looked_at():
    w = gradwright.ones(3, dtype=gradwright.float64, requires_grad=True)
    array = np.ones(3)
    for x in (gradwright.from_numpy(np.ones(3)), gradwright.tensor(array), gradwright.from_numpy(array).clone(),
              gradwright.from_numpy(array) * 1):  # fmt: skip
        y = (x * w).sum()
        assert all(type(one[2]) is int for one in y.grad_fn.next_functions[0][0]._saved)
        array[0] += 1.0
        y.backward()


@pytest.mark.parametrize("take", [lambda x: x.data.numpy(), lambda x: np.asarray(x.data), lambda x: x.data[:2].numpy()])
def test_what_is_written_through_the_array_of_data_is_told(take):
    x, w = (gradwright.ones(3, requires_grad=True) for _ in range(2))
    for _ in range(2):
        y = (w * x).sum()
        take(x)[0] += 5.0
        with pytest.warns(UserWarning, match="saved for backward has been written through .data"):
            y.backward()
        held = take(x)
        y = (w * x).sum()
        y.backward()
        y = (w * x).sum()
        held[1] -= 3.0
        with pytest.warns(UserWarning, match="saved for backward has been written through .data"):
            y.backward()
        del held
    take(x)[0] = 2.0
    (w * x).sum().backward()


def test_an_operation_in_place_that_saves_its_result_on_memory_that_is_out(leaf, T):
    x = leaf([1.0, 2.0])
    h = x * 1
    array = h.detach().numpy()
    h.exp_()
    h.sum().backward()
    assert x.grad.tolist() == pytest.approx(array.tolist())


def test_many_arrays_of_memory_with_another_owner():
    t, w = gradwright.zeros(40), gradwright.ones(40, requires_grad=True)
    windows = [t.as_strided((2,), (3,), k).numpy() for k in range(36)]
    for k in range(36):
        y = t * w
        windows[k][1] += 1
        with raises():
            y.sum().backward()


@pytest.mark.parametrize("part", [lambda t, k: t[: k + 1], lambda t, k: t[k:], lambda t, k: t[k % 7 :]],
                         ids=["a common start", "a common end", "few starts"])  # fmt: skip
def test_parts_that_share_an_end_are_watched_as_one(part):
    t = gradwright.zeros(200)
    held = [part(t, k).numpy() for k in range(200)]
    assert len(t._counter[0].exports) <= 2
    w = gradwright.ones(200, requires_grad=True)
    y = w * t
    held[100][0] = 3
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


# ---- what is not taken for written, and the same when it is written ---------------------------------------


def running(write, again=True):
    """A function that saves a buffer, writes it, and saves it again, or what it has made of it."""

    def of(buffer):
        def f(x):
            y = x * buffer
            write(buffer)
            return y * buffer if again else (y + buffer).exp()

        return f

    return of


def written_first(buffer):
    def f(x):
        buffer.add_(1)
        return x * buffer  # what is saved within looks at the memory while it is another's

    return f


def not_saved(buffer):
    def f(x):
        buffer.add_(1)
        return (x + buffer).exp()

    return f


def behind_its_end(buffer):
    def f(x):
        y = x * buffer  # the last that is saved: a further run ends here
        buffer.add_(1)
        return y

    return f


def data_alone(buffer):
    def f(x):
        buffer.data.add_(1)
        return x.exp()

    return f


CHECKPOINTED = {
    "written first": written_first,
    "not saved": not_saved,
    "behind its end": behind_its_end,
    "data alone": data_alone,
    "saved and written": running(lambda buffer: buffer.mul_(2)),
    "saved, written, not saved": running(lambda buffer: buffer.mul_(2), again=False),
    "a part": running(lambda buffer: buffer[1:].add_(1)),
    "copied": running(lambda buffer: buffer.copy_(buffer.detach() * 0.5)),
    "through data": running(lambda buffer: buffer.data.add_(1), again=False),
}


def counting(buffer, function=written_first, **how):
    """The result of a checkpoint that writes a buffer. Its backward runs it again, and puts back what there was."""
    x = gradwright.ones(3, requires_grad=True)
    return gradwright.utils.checkpoint.checkpoint(function(buffer), x, **{"use_reentrant": False, **how}).sum()


def rewound(buffer):
    counting(buffer).backward()


def put_back(buffer):
    array = buffer.numpy()
    kept = array.copy()
    array[...] = 9.0
    array[...] = kept


def looked_at(buffer):
    buffer.numpy().sum()


def saved_and_used(buffer):
    x = gradwright.ones(3, requires_grad=True)
    (x * buffer).sum().backward()


def another_view_written(buffer):
    buffer.clone()[0].add_(1)


HARMLESS = {"put back": put_back, "looked at": looked_at, "used": saved_and_used, "another": another_view_written}
BEFORE = {"nothing": lambda buffer: None, "rewound": rewound, **HARMLESS}
THROUGH = {
    "array": lambda buffer, array: array.__setitem__(1, 50.0),
    "in place": lambda buffer, array: buffer.mul_(2),
    "a view": lambda buffer, array: buffer[1:].add_(1),
    "a detached one": lambda buffer, array: buffer.detach().add_(1),
    "a part of the array": lambda buffer, array: array[2:].fill(50.0),
    "another array": lambda buffer, array: buffer.numpy().__setitem__(0, 50.0),
    "a reshaped one": lambda buffer, array: buffer.view(3, 1).numpy().__iadd__(1),
}


@pytest.mark.parametrize("how", ["handed out", "brought"])
@pytest.mark.parametrize("before", BEFORE)
@pytest.mark.parametrize("rerun", [0, 1, 2])
@pytest.mark.parametrize("after", [*HARMLESS, *THROUGH])
def test_what_is_harmless_is_not_taken_for_written_and_a_write_is(how, before, after, rerun):
    calls = product(CHECKPOINTED.values(), [{}, {"early_stop": False}, {"use_reentrant": True}])
    for function, also in some(calls, 5, len(how + before + after) + rerun):
        array = np.arange(1.0, 4.0, dtype=np.float32)
        buffer = gradwright.from_numpy(array) if how == "brought" else gradwright.tensor(array)
        array = buffer.numpy()
        BEFORE[before](buffer)
        counted = counting(buffer, function, **also)
        kept = array.copy()
        x = gradwright.ones(3, requires_grad=True)
        out = (x * buffer).sum()
        for _ in range(rerun):
            counted.backward(retain_graph=True)
        if after in HARMLESS:
            HARMLESS[after](buffer)
            out.backward()
            assert x.grad.tolist() == kept.tolist()
            continue
        THROUGH[after](buffer, array)
        with pytest.raises(RuntimeError, match=r"modified|written|changed"):
            out.backward()


def test_a_write_through_an_array_that_a_further_run_has_handed_out():
    buffer, arrays = gradwright.ones(3), []

    def handing_out(buffer):
        def f(x):
            buffer.add_(1)
            arrays[:] = [buffer.numpy()]
            return x * buffer

        return f

    counted = counting(buffer, handing_out)
    arrays.clear()
    x = gradwright.ones(3, requires_grad=True)
    out = (x * buffer).sum()
    counted.backward(retain_graph=True)
    out.backward(retain_graph=True)
    assert x.grad.tolist() == [2, 2, 2]
    arrays[0][0] = 50.0
    for _ in range(2):
        counted.backward(retain_graph=True)
        with pytest.raises(RuntimeError, match=r"the array was handed out at .*arrays\[:\] = \[buffer.numpy"):
            out.backward(retain_graph=True)


THROUGH_DATA = {
    "an entry": lambda x: x.data.__setitem__(0, 7.0),
    "an operation": lambda x: x.data.mul_(7),
    "data of data": lambda x: x.data.data.add_(1),
    "a view of it": lambda x: x.data[1:].zero_(),
    "what is detached from it": lambda x: x.data.detach().fill_(3),
    "a parameter over it": lambda x: gradwright.nn.init.ones_(gradwright.nn.Parameter(x.data)),
    "augmented": lambda x: setattr(x, "data", x.data.__iadd__(1)),
}


@pytest.mark.parametrize("name", THROUGH_DATA)
def test_what_is_written_through_data_after_it_was_saved_is_told(name):
    x, w = (gradwright.ones(3, requires_grad=True) for _ in range(2))
    for _ in range(2):  # again after a write that was told
        y = (w * x).sum()
        THROUGH_DATA[name](x)
        assert x._version == 0
        with pytest.warns(UserWarning, match="saved for backward has been written through .data"):
            y.backward()


@pytest.mark.parametrize("name", THROUGH_DATA)
def test_what_is_written_through_data_before_or_after_is_not(name):
    x, w = (gradwright.ones(3, requires_grad=True) for _ in range(2))
    THROUGH_DATA[name](x)
    v = x[1:]
    y = (w * x).sum() + (v * v).sum()
    y.backward(retain_graph=True)
    y.backward()
    THROUGH_DATA[name](x)
    z = w.exp()  # does not save x
    THROUGH_DATA[name](x)
    (z + x).sum().backward()
    optimizer = gradwright.optim.SGD([x], lr=0.1)
    optimizer.step()
    assert type(x._counter[0]) is int
    (x * w).sum().backward()
