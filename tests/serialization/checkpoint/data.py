"""Data as people keep them in PyTorch's files, in either library: `T` is torch, or gradwright."""

from __future__ import annotations

from collections import Counter, OrderedDict
from typing import Any

DTYPES = ["bool", "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64", "float16", "bfloat16",
          "float32", "float64", "complex64", "complex128"]  # fmt: skip


def trained(T: Any) -> dict[str, Any]:
    net = T.nn.Sequential(T.nn.Linear(3, 4), T.nn.BatchNorm1d(4))
    with T.no_grad():
        for i, p in enumerate(net.parameters()):
            p.copy_(T.arange(float(p.numel())).view_as(p).cos() + i)
    optimizer = T.optim.Adam(net.parameters())
    schedule = T.optim.lr_scheduler.StepLR(optimizer, 2)
    for _ in range(3):
        optimizer.zero_grad()
        net(T.arange(15.0).view(5, 3).sin()).cos().sum().backward()
        optimizer.step()
        schedule.step()
    return {"model": net.state_dict(), "optimizer": optimizer.state_dict(), "scheduler": schedule.state_dict(),
            "epoch": 3}  # fmt: skip


def with_attributes(T: Any) -> Any:
    x = T.arange(3.0)
    found = [x, T.nn.Parameter(T.ones(2)), T.nn.Buffer(T.ones(2))]
    for t in found:
        t.label = ("named", 3)
    return found


def shared(T: Any) -> list[Any]:
    """Several views of one memory, and one tensor twice."""
    base = T.arange(12.0)
    once = T.ones(2)
    return [base[2:5], base.view(3, 4).t(), base[::3], base[:1].expand(4), base.view(3, 4)[1:, 1:], once, once]


CASES = {
    "trained": trained,
    "shared": shared,
    "dtypes": lambda T: {d: T.tensor([0, 1, 1], dtype=getattr(T, d)) for d in DTYPES},
    "names of dtypes": lambda T: [getattr(T, d) for d in DTYPES],
    "shapes": lambda T: [T.zeros(0, 3), T.tensor(2.5), T.ones(1, 1, 1), T.arange(24.0).view(2, 3, 4).permute(2, 0, 1)],
    "parameters": lambda T: [T.nn.Parameter(T.ones(2)), T.nn.Parameter(T.ones(2), requires_grad=False),
                             T.ones(2, requires_grad=True), T.nn.Buffer(T.ones(2), persistent=False)],
    "sparse": lambda T: [T.eye(3).to_sparse(), T.eye(3).to_sparse_csr()],
    "attributes": with_attributes,
    "containers": lambda _: [(), (1, [2, {"a": {3}}]), OrderedDict(b=1, a=2), Counter("aab"), {1: 2, (1, 2): None}],
    "scalars": lambda T: [None, True, -1, 255, 65536, -(2**40), 2**80, 1.5, float("inf"), 1 + 2j, "é\n", b"\0\xff",
                          T.float16, T.device("cpu"), T.Size([2, 3]), bytearray(b"ab")],
}  # fmt: skip


def told(x: Any) -> Any:
    """What can be compared between two libraries."""
    if isinstance(x, dict):
        return type(x).__name__, [(told(k), told(v)) for k, v in x.items()], told(getattr(x, "_metadata", None))
    if isinstance(x, (list, tuple, set)):
        return type(x).__name__, [told(v) for v in x]
    if "sparse" in str(getattr(x, "layout", "")):
        return str(x.layout), told(x.to_dense())
    if not hasattr(x, "stride"):
        return type(x).__name__, str(x)
    values = x.detach().double() if x.dtype.itemsize == 2 and x.dtype.is_floating_point else x.detach()
    return (type(x).__name__.replace("Buffer", "Tensor"), str(x.dtype), tuple(x.shape), x.stride(), x.requires_grad,
            values.tolist(), getattr(x, "persistent", None), getattr(x, "label", None))  # fmt: skip
