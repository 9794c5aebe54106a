"""Several devices, and several processes: meshes of JAX's devices, and tensors that lie on all of one."""

from typing import TYPE_CHECKING

from gradwright.base.lazy import lazy

if TYPE_CHECKING:
    from gradwright.distributed.meshes import Mesh, gather, layout, mesh, replicate, shard, shard_parameters
    from gradwright.distributed.session import (
        PartSampler,
        barrier,
        get_rank,
        get_world_size,
        init,
        is_available,
        is_initialized,
        save,
        shutdown,
    )

__all__ = [
    "Mesh", "PartSampler", "barrier", "gather", "get_rank", "get_world_size", "init", "is_available", "is_initialized",
    "layout", "mesh", "replicate", "save", "shard", "shard_parameters", "shutdown",
]  # fmt: skip
lazy(__name__, {
    "gradwright.distributed.meshes": "Mesh gather layout mesh replicate shard shard_parameters",
    "gradwright.distributed.session":
        "PartSampler barrier get_rank get_world_size init is_available is_initialized save shutdown",
})  # fmt: skip
