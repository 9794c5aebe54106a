"""Several processes: how they begin, part, load and save."""

import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradwright as gw
from gradwright import distributed as gd
from gradwright.distributed import PartSampler, session
from gradwright.utils.data import BatchSampler, DataLoader, RandomSampler, TensorDataset

PROGRAM = """
import os
import sys

import numpy as np

import gradwright as gw
from gradwright import distributed as gd

gd.init()
rank, size = gd.get_rank(), gd.get_world_size()
what, file = sys.argv[1:3]
mesh = gd.mesh()

def trained(name, layers):
    net = gd.replicate(gw.nn.Sequential(*layers).to(gw.float64))
    data = gw.utils.data.TensorDataset(gw.randn(40, 4, dtype=gw.float64), gw.randn(40, 2, dtype=gw.float64))
    batches = gw.utils.data.BatchSampler(gw.utils.data.RandomSampler(data), 8, drop_last=True)
    optimizer = gw.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    for part in gw.utils.data.DataLoader(data, batch_sampler=gd.PartSampler(batches)):
        x, y = gd.shard(tuple(part), "batch", local=True)
        optimizer.zero_grad()
        loss = ((net(x) - y) ** 2).mean()
        loss.backward()
        optimizer.step()
    gd.save({"net": net.state_dict(), "optimizer": optimizer.state_dict(), "x": x}, f"{file}.{name}")
    np.testing.assert_array_equal(gw.load(f"{file}.{name}")["x"].numpy(), gd.gather(x).cpu().numpy())
    print(name, "loss", repr(loss.item()), flush=True)
    return x

gw.manual_seed(0)
if what == "both":
    trained("convnet", (gw.nn.Unflatten(1, (1, 2, 2)), gw.nn.Conv2d(1, 3, 2, padding=1), gw.nn.BatchNorm2d(3),
                        gw.nn.ReLU(), gw.nn.Flatten(), gw.nn.Linear(27, 2)))  # fmt: skip
gw.manual_seed(0)
if what == "bad":
    x = gd.shard(gw.randn(4, 4, dtype=gw.float64), "batch", local=True)
else:
    x = trained("mlp", (gw.nn.Linear(4, 8), gw.nn.Dropout(0.2), gw.nn.Tanh(), gw.nn.Linear(8, 2)))

if what == "killed":
    if rank == size - 1:
        os.kill(os.getpid(), 9)
    while True:
        (x * 2).sum().item()
if what == "bad":
    for call in (lambda: x.cpu(), lambda: gd.shard(gw.ones(2 + rank, 2), "batch", local=True),
                 lambda: gw.full((2,), float(rank)).to(mesh), lambda: gd.init()):  # fmt: skip
        try:
            call()
        except RuntimeError as e:
            print("error", e, flush=True)
    print(repr(x), flush=True)
    try:
        gd.barrier() if rank == 1 else gd.shard(gw.ones(2), "batch")
    except RuntimeError as e:
        print("order", e, flush=True)
    if rank == 1:
        raise KeyError("mine")
    gd.barrier()
"""
"""It trains one network, both or none, saves, and then does what its argument names."""


def launched(n: int, what: str, file: Path, heartbeat: int = 4, text: str = PROGRAM) -> Any:
    """A program as ``n`` processes, each of which has one device."""
    environment = {**os.environ, "XLA_FLAGS": "", "GRADWRIGHT_TIMEOUT": "60"}
    command = [sys.executable, "-m", "gradwright", "launch", "-n", str(n), "--heartbeat", str(heartbeat)]
    program = file.with_name("program.py")
    program.write_text(text)
    return subprocess.run([*command, str(program), what, str(file)], capture_output=True, text=True, timeout=150,
                          env=environment)  # fmt: skip


ENDING = """
import sys
import time

import gradwright as gw
from gradwright import distributed as gd
from gradwright.distributed import watch

watch._PERIOD = 1e-5
gd.init()
gd.replicate(gw.ones(3), gd.mesh()).sum().item()
if gd.get_rank() == 1:
    time.sleep(2.5)
if sys.argv[1] == "parting":
    gd.shutdown()
"""
"""Its watch looks all the time, and that one process ends later than the other is no error."""


@pytest.mark.parametrize("what", ["parting", "nothing"])
def test_processes_may_end_at_different_times(what: str, tmp_path: Path) -> None:
    pytest.importorskip("jax")
    done = launched(2, what, tmp_path / "none", heartbeat=1, text=ENDING)
    assert done.returncode == 0, done.stderr
    assert done.stdout + done.stderr == ""


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where one process has saved what its training made of the networks: an MLP, and a convnet with batch norm."""
    pytest.importorskip("jax")
    file = tmp_path_factory.mktemp("alone") / "state"
    done = subprocess.run([sys.executable, "-c", PROGRAM, "both", str(file)], capture_output=True, text=True,
                          timeout=100, env={**os.environ, "XLA_FLAGS": ""})  # fmt: skip
    assert done.returncode == 0, done.stderr
    return file


def same(file: Path, alone: Path, network: str) -> None:
    got, want = (gw.load(f"{saved}.{network}") for saved in (file, alone))
    for name, t in want["net"].items():
        np.testing.assert_allclose(got["net"][name].numpy(), t.numpy(), rtol=1e-12, atol=1e-12)
    assert got["optimizer"]["state"].keys() == want["optimizer"]["state"].keys()
    assert ("2.running_var" in got["net"]) == (network == "convnet")


@pytest.mark.parametrize("n", [2, 4])
def test_several_processes_have_the_numbers_of_one(n: int, alone: Path, tmp_path: Path) -> None:
    networks = ("mlp", "convnet") if n == 2 else ("mlp",)  # each process compiles each operation for itself
    done = launched(n, "both" if n == 2 else "mlp", tmp_path / "state", heartbeat=20)
    assert done.returncode == 0, done.stderr
    for network in networks:
        said = re.findall(rf"^\[(\d)\] {network} loss (.*)", done.stdout, re.MULTILINE)
        assert sorted(rank for rank, _ in said) == [str(k) for k in range(n)]
        assert len({loss for _, loss in said}) == 1
        same(tmp_path / "state", alone, network)


def test_a_process_that_is_killed(alone: Path, tmp_path: Path) -> None:
    file, start = tmp_path / "state", time.monotonic()
    done = launched(2, "killed", file)
    assert time.monotonic() - start < 60
    assert done.returncode == 128 + 9
    assert re.search(r"process 1 of 2 \(pid \d+\) was ended by SIGKILL; ending the other 1", done.stderr)
    same(file, alone, "mlp")


def test_what_is_wrong_is_said(tmp_path: Path) -> None:
    pytest.importorskip("jax")
    done = launched(2, "bad", tmp_path / "state", heartbeat=20)
    assert done.returncode == 1, done.stderr
    for text in (
        r"of shape \(8, 4\) on batch=2 are asked for, and process 0 has a part of them only\. gradwright",
        r"process 0: a part of torch\.float32 of shape \(2, 2\); process 1: a part of torch\.float32 of shape \(3, 2\)",
        r"the processes differ: process 0: float32 of shape \(2,\) with checksum",
        r"init\(\) was called before: this is process 1 of 2",
        r"tensor\(\.\.\., device='jax:batch=2', size=\(8, 4\), dtype=torch\.float64\)",
    ):
        assert re.search(text, done.stdout), done.stdout
    assert re.search(r"KeyError: 'mine'", done.stderr)
    for rank in range(2):  # which go on together: each has met the other once
        text = rf"^\[{rank}\] order the processes differ: process 0: float32 of shape .*; process 1: .*barrier\(\)\."
        assert re.search(text, done.stdout, re.MULTILINE), done.stdout


def test_without_others(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*session._TORCHS, *session._CLUSTERS):
        monkeypatch.delenv(name, raising=False)
    assert gd.is_available() in (True, False)
    assert (gd.get_rank(), gd.get_world_size(), gd.is_initialized()) == (0, 1, False)
    gd.init()
    assert (gd.get_rank(), gd.get_world_size(), gd.is_initialized()) == (0, 1, True)
    with pytest.raises(RuntimeError, match="was called before: this is process 0 of 1"):
        gd.init()
    gd.barrier()
    gd.shutdown()
    assert not gd.is_initialized()


@pytest.mark.parametrize(
    ("variables", "message"),
    [({"RANK": "0", "WORLD_SIZE": "2"}, "the environment has RANK, WORLD_SIZE, but not MASTER_ADDR, MASTER_PORT"),
     ({"RANK": "x", "WORLD_SIZE": "2", "MASTER_ADDR": "a", "MASTER_PORT": "1"}, "RANK must be a whole number, but"),
     ({"RANK": "2", "WORLD_SIZE": "2", "MASTER_ADDR": "a", "MASTER_PORT": "1"}, "rank 2 of 2 processes")],
)  # fmt: skip
def test_variables_that_fit_no_process(variables: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        session._of_environment(variables)


def test_variables() -> None:
    assert session._of_environment({}) is None
    found = session._of_environment({"RANK": "1", "WORLD_SIZE": "2", "MASTER_ADDR": "host", "MASTER_PORT": "70",
                                     "LOCAL_RANK": "1", "LOCAL_WORLD_SIZE": "2",
                                     "TORCHELASTIC_USE_AGENT_STORE": "True"})  # fmt: skip
    assert found == {"coordinator_address": "host:71", "num_processes": 2, "process_id": 1, "local_device_ids": [1]}


def test_arguments_of_init() -> None:
    with pytest.raises(ValueError, match=r"init\(\): rank must be given, too, as coordinator, world_size is"):
        gd.init("host:1", 2)
    with pytest.raises(ValueError, match=r"expected the coordinator as host:port, but got 'host'"):
        gd.init("host", 2, 0)
    with pytest.raises(ValueError, match="heartbeat must be seconds, 1 or more, but got 0"):
        gd.init(heartbeat=0)


def said(program: str) -> str:
    """What a program prints that is one of two processes."""
    variables = {"RANK": "1", "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "1",
                 "GRADWRIGHT_TIMEOUT": "1"}  # fmt: skip
    program = f"""if True:
        import gradwright as gw
        try:
            {program}
            gw.distributed.init()
        except (RuntimeError, ImportError) as e:
            print(e)
        """
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60,
                          env={**os.environ, **variables}).stdout  # fmt: skip


def test_starts_that_fail() -> None:
    pytest.importorskip("jax")
    assert "init(): process 1 of 2 has found no connection within 1 s: the coordinator" in said("pass")
    assert "init(): JAX has started already" in said('gw.ones(2, device="jax")')
    assert "pip install jax" in said('import sys; sys.modules["jax"] = None')


def test_the_parts_are_the_batches() -> None:
    def batches() -> BatchSampler:
        return BatchSampler(RandomSampler(range(12), generator=gw.Generator().manual_seed(0)), 6, drop_last=True)

    parts = [list(PartSampler(batches(), rank, 3)) for rank in range(3)]
    assert [[k for part in these for k in part] for these in zip(*parts, strict=True)] == list(batches())
    assert len(PartSampler(batches(), 0, 3)) == 2
    loader = DataLoader(TensorDataset(gw.arange(12)), batch_sampler=PartSampler(batches(), 1, 3))
    assert [b[0].tolist() for b in loader] == parts[1]


def test_parts_that_cannot_be() -> None:
    with pytest.raises(ValueError, match="batch 1, of 2 samples, does not divide among 4 processes"):
        list(PartSampler([[0, 1, 2, 3], [4, 5]], 0, 4))
    with pytest.raises(ValueError, match="rank 2 of 2 processes: expected 0 to 1"):
        PartSampler([], 2, 2)


jax = pytest.importorskip("jax")


def test_state_goes_to_a_file_and_back_to_where_it_lies(tmp_path: Path) -> None:
    if len(jax.local_devices()) < 8:
        pytest.skip("JAX was started with fewer devices before this could ask for more")
    one = gd.mesh(batch=4, model=2)
    net = gd.shard_parameters(gw.nn.Sequential(gw.nn.Linear(2, 4)), {"*": "model"}, one)
    gd.save(net.state_dict(), tmp_path / "net.safetensors")
    state = gw.load(tmp_path / "net.safetensors")
    assert state["0.weight"].device.type == "cpu"
    other = gd.shard_parameters(gw.nn.Sequential(gw.nn.Linear(2, 4)), {"*": "model"}, one)
    other.load_state_dict(state)
    assert gd.layout(other[0].weight) == ("model", None)
    assert other[0].weight.tolist() == net[0].weight.tolist() == state["0.weight"].tolist()
