"""JAX's devices and meshes: where arrays lie, how they get there, what they are called."""

import copy
import os
import subprocess
import sys
from importlib import import_module
from typing import Any

import numpy as np
import pytest

import gradwright as gw
from gradwright.backends.devices import device_of

jax = pytest.importorskip("jax")
module = import_module("gradwright.backends.jax_devices")
namespace = import_module("gradwright.backends.jax").namespace
P = jax.sharding.PartitionSpec

if len(jax.local_devices()) < 4:
    pytest.skip("JAX was started with fewer devices before this could ask for more", allow_module_level=True)


def spread(values: Any, spec: Any, name: str = "batch") -> Any:
    mesh = jax.sharding.Mesh(np.array(jax.local_devices()[:4]), (name,))
    return jax.device_put(np.asarray(values), jax.sharding.NamedSharding(mesh, spec))


def test_a_mesh_is_a_device() -> None:
    gw.device("jax")
    x, y = (gw.xp.asarray(spread(np.arange(8.0), spec)) for spec in (P("batch"), P()))
    assert x.device == y.device
    assert (x.device.type, x.device.index, x.device.mesh) == ("jax", None, "batch=4")
    assert (str(x.device), repr(x.device)) == ("jax:batch=4", "device(type='jax', mesh='batch=4')")
    assert gw.device("jax:batch=4") == x.device == copy.deepcopy(x.device)
    assert x.get_device() == -1
    assert (x + y).device == x.device
    assert (x * y).sum().item() == 140
    assert gw.zeros(3, device=x.device).device == x.device == gw.arange(3, device=x.device).device
    assert x.to(x.device) is x
    assert x.cpu().tolist() == list(range(8))
    assert repr(x[:2]) == "tensor([0., 1.], device='jax:batch=4', dtype=torch.float64)"


def test_a_mesh_that_is_not_there() -> None:
    gw.device("jax")
    with pytest.raises(RuntimeError, match=r"no device 'jax:b=77': there is no such mesh"):
        gw.device("jax:b=77")
    with pytest.raises(RuntimeError, match="array-api-strict has no meshes"):
        gw.device("array-api-strict:b=2")


def test_a_mesh_beside_one_device() -> None:
    gw.device("jax")
    x = gw.xp.asarray(spread(np.arange(8.0), P("batch")))
    with pytest.raises(RuntimeError, match=r"on one device of jax, but found two, jax:batch=4 and jax:0\. Move one"):
        x + gw.ones(8, dtype=gw.float64, device="jax:0")
    other = gw.xp.asarray(spread(np.arange(8.0), P("rows"), "rows"))
    with pytest.raises(RuntimeError, match=r"but found two, jax:batch=4 and jax:rows=4"):
        x + other
    assert (x + other.to(x.device)).device == x.device


def test_places_that_name_no_mesh() -> None:
    place = jax.sharding.PmapSharding if hasattr(jax.sharding, "PmapSharding") else None
    assert module.whole(None) is None
    assert module.whole(jax.devices()[0]) is jax.devices()[0]
    assert place is None or not issubclass(place, jax.sharding.NamedSharding)


def test_writes_keep_how_an_array_is_parted() -> None:
    x = gw.xp.asarray(spread(np.zeros((8, 2)), P("batch")))
    part = x.array.sharding
    x[3] = 1.0
    x.add_(gw.ones(8, 2, dtype=gw.float64, device=x.device))
    x.copy_(x.cpu() * 2)
    assert x.array.sharding == part
    assert gw.xp.asarray(namespace.zeros_like(x.array)).array.sharding == part
    assert x[3].tolist() == [4.0, 4.0]
    assert device_of(x.array) == x.device


AHEAD = """
import os
import gradwright as gw
from gradwright import distributed as gd

x = gd.shard(gw.ones(8, 200_000), "batch", mesh=gd.mesh(batch=8))
sums = [(x * k * 2 + 1).sum(0) for k in range(80)]
print(sum(y[0].item() for y in sums), os.environ.get("NPROC"))
"""


@pytest.mark.parametrize(
    "said", [{"XLA_FLAGS": "--xla_force_host_platform_device_count=8"}, {"JAX_NUM_CPU_DEVICES": "8"}], ids=str
)
def test_many_sums_over_devices_may_be_in_flight(said: dict[str, str]) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "NPROC"} | {"XLA_FLAGS": "", **said}
    run = subprocess.run([sys.executable, "-c", AHEAD], capture_output=True, text=True, timeout=200, env=environment)
    assert (run.returncode, run.stdout) == (0, f"{8 * 80 * 80}.0 None\n"), run.stderr[:2000]
