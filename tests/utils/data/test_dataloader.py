"""DataLoader: the batches PyTorch's gives, the same with any workers; and what it refuses."""

import random
import subprocess
import sys
from itertools import islice

import numpy as np
import pytest

import gradwright as gw
from gradwright.utils.data import DataLoader, Dataset, IterableDataset, TensorDataset, get_worker_info

WORKERS = [{}, {"num_workers": 1}, {"num_workers": 3}, {"num_workers": 2, "multiprocessing_context": "thread"},
           {"num_workers": 2, "persistent_workers": True}]  # fmt: skip
BUSY = WORKERS[2:]


def plain(batches):
    return [[x.tolist() if hasattr(x, "tolist") else x for x in b] if isinstance(b, list) else b.tolist()
            for b in batches]  # fmt: skip


def named(options):
    return ",".join(str(v) for v in options.values()) or "none"


class Squares(Dataset):
    def __len__(self):
        return 10

    def __getitem__(self, index):
        return index, float(index) ** 2


def row(data, n):
    """A dataset of 0 to n - 1, shared out among workers."""

    class Row(data.IterableDataset):
        def __iter__(self):
            info = data.get_worker_info()
            return iter(range(n)) if info is None else islice(range(n), info.id, None, info.num_workers)

        def __len__(self):
            return n

    return Row()


# -- the batches --


@pytest.mark.parametrize("drop_last", [False, True])
@pytest.mark.parametrize("batch_size", [1, 3, 5, 20])
@pytest.mark.parametrize("options", [{}, {"num_workers": 2}], ids=named)
def test_batches_as_pytorch(torch, options, batch_size, drop_last):
    from torch.utils.data import DataLoader as Theirs

    options = {**options, "batch_size": batch_size, "drop_last": drop_last}
    ours, theirs = DataLoader(Squares(), **options), Theirs(Squares(), **{**options, "num_workers": 0})
    assert len(ours) == len(theirs)
    assert plain(ours) == plain(theirs)
    options["num_workers"] = 0
    ours, theirs = DataLoader(row(gw.utils.data, 7), **options), Theirs(row(torch.utils.data, 7), **options)
    assert len(ours) == len(theirs)
    assert plain(ours) == plain(theirs)


@pytest.mark.parametrize("options", [{}, {"num_workers": 2}], ids=named)
def test_single_samples_and_samplers(T, data, options):
    if T is not gw:
        options = {}
    loader = data.DataLoader([np.ones(2), np.zeros(2)], batch_size=None, **options)
    assert plain(loader) == [[1, 1], [0, 0]]
    assert len(loader) == 2
    assert plain(data.DataLoader(range(5), sampler=[4, 2], **options)) == [[4], [2]]
    loader = data.DataLoader(range(5), batch_sampler=[[0, 1], [4]], **options)
    assert plain(loader) == [[0, 1], [4]]
    assert len(loader) == 2
    assert loader.batch_size is None
    assert list(data.DataLoader(range(4), 2, collate_fn=sum, **options)) == [1, 5]
    assert list(data.DataLoader(row(data, 3), None)) == [0, 1, 2]
    assert len(data.DataLoader(row(data, 3), None)) == 3


def test_tensors_go_through_in_every_dtype():
    tensors = [gw.arange(6).reshape(3, 2).to(dtype=d) for d in (gw.bfloat16, gw.bool, gw.complex64, gw.uint16)]
    for options in ({}, {"num_workers": 1}):
        (batch,) = DataLoader(TensorDataset(*tensors), 3, **options)
        assert all((a == b).all() and a.dtype is b.dtype for a, b in zip(batch, tensors, strict=True))


@pytest.mark.parametrize("options", WORKERS, ids=named)
def test_a_seed_gives_the_same_order_with_any_workers(options):
    def epochs(seed, **options):
        loader = DataLoader(range(40), 4, True, generator=gw.Generator().manual_seed(seed), **options)
        return [plain(loader) for _ in range(2)]

    assert epochs(1, **options) == epochs(1)
    assert epochs(1, **options) != epochs(2)
    first, second = epochs(1, **options)
    assert first != second
    gw.manual_seed(5)
    expected = plain(DataLoader(range(40), 4, True))
    gw.manual_seed(5)
    assert plain(DataLoader(range(40), 4, True, **options)) == expected


def test_random_numbers_in_workers_are_those_of_the_batch():
    class Noise(Dataset):
        def __len__(self):
            return 12

        def __getitem__(self, index):
            return gw.rand(()).item(), random.random(), np.random.rand()

    def draw(seed, workers):
        loader = DataLoader(Noise(), 2, num_workers=workers, generator=gw.Generator().manual_seed(seed))
        return np.array([plain(loader) for _ in range(2)])

    before = random.getstate(), gw.get_rng_state()
    one = draw(1, 1)
    assert (one == draw(1, 3)).all()
    assert len(np.unique(one)) == one.size
    assert not (one == draw(2, 2)).any()
    assert before[0] == random.getstate()
    assert (before[1] == gw.get_rng_state()).all()


# -- iterable datasets --


@pytest.mark.parametrize("options", BUSY, ids=named)
def test_workers_share_out_a_row(options):
    n = options["num_workers"]
    expected = [list(range(i, 20, n))[j : j + 3] for j in range(0, 20, 3) for i in range(n)]
    loader = DataLoader(row(gw.utils.data, 20), 3, **options)
    for _ in range(2):
        assert plain(loader) == [b for b in expected if b]
    dropping = DataLoader(row(gw.utils.data, 20), 3, drop_last=True, **options)
    assert plain(dropping) == [b for b in expected if len(b) == 3]
    assert sorted(DataLoader(row(gw.utils.data, 20), None, **options)) == list(range(20))


@pytest.mark.parametrize("options", BUSY, ids=named)
def test_worker_init_fn_may_change_the_workers_dataset(options):
    class Span(IterableDataset):
        start, end = 0, 10

        def __iter__(self):
            return iter(range(self.start, self.end))

    def split(worker_id):
        info = get_worker_info()
        assert info.id == worker_id
        step = -(-10 // info.num_workers)
        info.dataset.start, info.dataset.end = worker_id * step, min(10, worker_id * step + step)

    dataset = Span()
    batches = plain(DataLoader(dataset, 2, worker_init_fn=split, **options))
    assert sorted(i for b in batches for i in b) == list(range(10))
    assert (dataset.start, dataset.end) == (0, 10)


# -- what it refuses --


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"num_workers": -1}, ValueError, "num_workers option should be non-negative"),
        ({"timeout": -1}, ValueError, "timeout option should be non-negative"),
        ({"prefetch_factor": 2}, ValueError, "prefetch_factor option could only be specified in multiprocessing"),
        ({"prefetch_factor": -2, "num_workers": 1}, ValueError, "prefetch_factor option should be non-negative"),
        ({"persistent_workers": True}, ValueError, "persistent_workers option needs num_workers > 0"),
        ({"sampler": [0], "shuffle": True}, ValueError, "sampler option is mutually exclusive with shuffle"),
        ({"batch_sampler": [[0]], "batch_size": 2}, ValueError, "batch_sampler option is mutually exclusive with"),
        ({"batch_sampler": [[0]], "drop_last": True}, ValueError, "batch_sampler option is mutually exclusive with"),
        ({"batch_size": None, "drop_last": True}, ValueError, "batch_size=None option disables auto-batching"),
        ({"batch_size": 0}, ValueError, "batch_size should be a positive integer value, but got batch_size=0"),
        ({"multiprocessing_context": "fork"}, ValueError, "can only be used with multi-process loading"),
        ({"multiprocessing_context": "no", "num_workers": 1}, ValueError, "should specify a valid start method in"),
        ({"multiprocessing_context": 3, "num_workers": 1}, TypeError, "should be a valid context object or a string"),
        ({"dataset": "rows", "shuffle": True}, ValueError, "IterableDataset: expected unspecified shuffle option"),
        ({"dataset": "rows", "sampler": [0]}, ValueError, "expected unspecified sampler option, but got sampler="),
        ({"dataset": "rows", "batch_sampler": [0]}, ValueError, "expected unspecified batch_sampler option"),
    ],
    ids=str,
)
def test_options_that_do_not_fit(T, data, options, error, message):
    dataset = row(data, 3) if options.get("dataset") == "rows" else "abc"
    with pytest.raises(error, match=message):
        data.DataLoader(**{**options, "dataset": dataset})


def test_what_may_not_be_changed(T, data):
    loader = data.DataLoader("abc", pin_memory=False)
    loader.collate_fn = list
    with pytest.raises(ValueError, match="batch_size attribute should not be set after DataLoader is initialized"):
        loader.batch_size = 3


def test_an_error_names_the_sample():
    class Broken(Dataset):
        def __len__(self):
            return 10

        def __getitem__(self, index):
            return 1 // (7 - index)

    with pytest.raises(ZeroDivisionError) as e:
        list(DataLoader(Broken(), 4))
    assert e.value.__notes__ == ["DataLoader was fetching sample 7 of Broken"]
    with pytest.raises(ZeroDivisionError) as e:
        list(DataLoader(Broken(), None))
    assert e.value.__notes__ == ["DataLoader was fetching sample 7 of Broken"]
    with pytest.raises(TypeError) as e:
        list(DataLoader([None, None], 2))
    assert not hasattr(e.value, "__notes__")


def test_a_stray_stop_iteration_does_not_end_the_epoch():
    class Broken(Dataset):
        def __len__(self):
            return 10

        def __getitem__(self, index):
            return next(iter([]))

    for options in ({}, {"num_workers": 1}):
        with pytest.raises(RuntimeError, match="StopIteration"):
            list(DataLoader(Broken(), **options))


def test_it_is_loaded_only_when_used():
    program = "import sys, gradwright as gw; a = 'multiprocessing' in sys.modules; gw.utils.data.DataLoader; print(a)"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert run.stdout == "False\n", run.stderr
