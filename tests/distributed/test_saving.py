"""State on a mesh, in one file; of several processes in tests/distributed/test_session.py."""

from __future__ import annotations

from pathlib import Path

import pytest

import gradwright as gw
from gradwright import distributed as gd

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
