"""The steps that random programs are made of: functions of a library, two tensors, and a small number.

Each does the same thing to gradwright's tensors and to PyTorch's.
"""

import math
from typing import Any


def put(x: Any, key: Any, value: Any) -> None:
    x[key] = value


def like(x: Any, y: Any) -> Any:
    """``y`` where it broadcasts to the shape of ``x``, else its sum.""",
    pairs = zip(reversed(y.shape), reversed(x.shape), strict=False)
    return y if y.dim() <= x.dim() and all(m in (1, n) for m, n in pairs) else y.sum()


def full(x: Any, y: Any) -> Any:
    """``y`` in the shape of ``x``.""",
    return like(x, y).expand(x.shape)


def some(T: Any, x: Any, k: int) -> Any:
    """An index into the first dim of ``x``; which repeats itself for some k.""",
    n = len(x)
    return T.tensor([k % n, 0, n - 1] if k > 4 else sorted({k % n, n - 1}))


def places(T: Any, x: Any, k: int) -> Any:
    """An index for ``scatter`` along the first dim of ``x``.""",
    index = T.tensor([(i + k) % len(x) for i in range(max(1, len(x) - k % 2))])
    return index.view(-1, *[1] * (x.dim() - 1)).expand(-1, *x.shape[1:])


def own(x: Any) -> Any:
    """``x``, unless it is a view: which it says to be even when it is made to show other memory.""",
    return x.detach() if x._is_view() or x.is_inference() else x


def set_data(x: Any, y: Any) -> None:
    """Assign ``y`` to ``x.data``, unless gradients may be taken through x: PyTorch's history notices nothing of it."""
    (x.detach() if x.requires_grad else own(x)).data = y


def strided(x: Any, shape: Any, strides: Any, *start: int) -> Any:
    """`as_strided`; of a view only what it shows itself, as PyTorch loses derivatives of the rest of the memory."""
    return x.as_strided(x.shape[::-1], x.stride()[::-1]) if x._is_view() else x.as_strided(shape, strides, *start)


def strided_(x: Any) -> Any:
    if x._is_view():
        return x.as_strided_(x.shape[::-1], x.stride()[::-1])
    return x.as_strided_((x.numel(),), (1,))


ORDINARY = {
    "sin": lambda T, x, y, k: x.sin(), "tanh": lambda T, x, y, k: x.tanh(), "square": lambda T, x, y, k: x**2,
    "exp": lambda T, x, y, k: (x * 0.3).exp(), "add": lambda T, x, y, k: x + y,
    "mul": lambda T, x, y, k: x * like(x, y), "shift": lambda T, x, y, k: k - x,
    "div": lambda T, x, y, k: x / (like(x, y) ** 2 + 1), "sum 0": lambda T, x, y, k: x.sum(0),
    "sum": lambda T, x, y, k: x.sum(), "mean": lambda T, x, y, k: x.mean(-1, True),
    "clone": lambda T, x, y, k: x.clone(), "where": lambda T, x, y, k: T.where(x > 0.01, x, full(x, y)),
    "cat": lambda T, x, y, k: T.cat([x, full(x, y)]), "stack": lambda T, x, y, k: T.stack([x, full(x, y)]),
    "take": lambda T, x, y, k: x[T.tensor([k % 2, 0, k % 2])], "pick": lambda T, x, y, k: x[[0, -1]],
    "mask": lambda T, x, y, k: x[x > 0.1 * k], "max": lambda T, x, y, k: x.max(),
    "matmul": lambda T, x, y, k: x @ full(x, y).transpose(-1, -2), "cumsum": lambda T, x, y, k: x.cumsum(0),
    "softmax": lambda T, x, y, k: x.softmax(-1), "index_select": lambda T, x, y, k: x.index_select(0, some(T, x, k)),
    "flip": lambda T, x, y, k: x.flip(0), "gather": lambda T, x, y, k: x.gather(0, places(T, x, k)),
    "clamp": lambda T, x, y, k: x.clamp(-0.1 * k, 0.2 * k), "prod": lambda T, x, y, k: x.prod(-1),
    "complete": lambda T, x, y, k: x.contiguous() * 1,
}  # fmt: skip
VIEWS = {
    "first": lambda T, x, y, k: x[0], "at": lambda T, x, y, k: x[k], "last": lambda T, x, y, k: x[..., -1],
    "tail": lambda T, x, y, k: x[k:], "even": lambda T, x, y, k: x[..., ::2], "none": lambda T, x, y, k: x[None],
    "all": lambda T, x, y, k: x[:], "t": lambda T, x, y, k: x.t(), "T": lambda T, x, y, k: x.mT,
    "transpose": lambda T, x, y, k: x.transpose(0, -1), "flat": lambda T, x, y, k: x.view(-1),
    "reshape": lambda T, x, y, k: x.reshape(-1), "flatten": lambda T, x, y, k: x.flatten(),
    "unsqueeze": lambda T, x, y, k: x.unsqueeze(-1), "squeeze": lambda T, x, y, k: x.squeeze(),
    "squeeze 0": lambda T, x, y, k: x.squeeze(0), "expand": lambda T, x, y, k: x.expand(2, *x.shape),
    "same": lambda T, x, y, k: x.expand(x.shape), "narrow": lambda T, x, y, k: x.narrow(0, k % 2, 1),
    "select": lambda T, x, y, k: x.select(-1, k % 3), "unbind": lambda T, x, y, k: x.unbind(-1)[-1],
    "split": lambda T, x, y, k: x.split(1)[-1], "chunk": lambda T, x, y, k: x.chunk(2)[0],
    "tensor_split": lambda T, x, y, k: x.tensor_split(2, -1)[0], "diagonal": lambda T, x, y, k: x.diagonal(),
    "view as": lambda T, x, y, k: x.view_as(y), "permute": lambda T, x, y, k: x.permute(tuple(range(x.dim())[::-1])),
    "movedim": lambda T, x, y, k: x.movedim(0, -1), "unfold": lambda T, x, y, k: x.unfold(-1, 2, 1 + k % 2),
    "as_strided": lambda T, x, y, k: strided(x, (2,), (1,), k % 4),
    "as_strided 2": lambda T, x, y, k: strided(x, (2, 2), (1 + k % 2, 1)),
    "contiguous": lambda T, x, y, k: x if x.is_inference() else x.contiguous(), "real": lambda T, x, y, k: x.real,
    "unflatten": lambda T, x, y, k: x.unflatten(-1, (-1, 1)), "broadcast": lambda T, x, y, k: x.broadcast_to(y.shape),
    "data": lambda T, x, y, k: x.data, "detach": lambda T, x, y, k: x.detach(),
    "expand as": lambda T, x, y, k: x.expand_as(y),
}  # fmt: skip
WRITES = {
    "add_": lambda T, x, y, k: x.add_(y), "add_ like": lambda T, x, y, k: x.add_(like(x, y)),
    "mul_": lambda T, x, y, k: x.mul_(like(x, y)), "iadd": lambda T, x, y, k: x.__iadd__(like(x, y)),
    "isub": lambda T, x, y, k: x.__isub__(like(x, y)), "imul": lambda T, x, y, k: x.__imul__(0.5),
    "itruediv": lambda T, x, y, k: x.__itruediv__(like(x, y) ** 2 + 1), "double_": lambda T, x, y, k: x.mul_(2),
    "add_ alpha": lambda T, x, y, k: x.add_(like(x, y), alpha=0.5), "add_ number": lambda T, x, y, k: x.add_(k),
    "div_": lambda T, x, y, k: x.div_(3.0), "sub_": lambda T, x, y, k: x.sub_(0.5),
    "sin_": lambda T, x, y, k: x.sin_(), "tanh_": lambda T, x, y, k: x.tanh_(),
    "sigmoid_": lambda T, x, y, k: x.sigmoid_(), "neg_": lambda T, x, y, k: x.neg_(),
    "relu_": lambda T, x, y, k: x.relu_(), "pow_": lambda T, x, y, k: x.pow_(2), "abs_": lambda T, x, y, k: x.abs_(),
    "square_": lambda T, x, y, k: x.square_(), "clamp_": lambda T, x, y, k: x.clamp_(-0.3 * k, 1),
    "masked_fill_": lambda T, x, y, k: x.masked_fill_(x > 0.01, 0.25),
    "masked_fill_ tensor": lambda T, x, y, k: x.masked_fill_(x > 0.1 * k, y.sum()),
    "addcmul_": lambda T, x, y, k: x.addcmul_(like(x, y), like(x, y), value=0.5),
    "addcdiv_": lambda T, x, y, k: x.addcdiv_(like(x, y), like(x, y) ** 2 + 1),
    "lerp_": lambda T, x, y, k: x.lerp_(full(x, y), 0.3), "cumsum_": lambda T, x, y, k: x.cumsum_(0),
    "tril_": lambda T, x, y, k: x.tril_(),
    "index_add_": lambda T, x, y, k: x.index_add_(0, i := some(T, x, k), full(x[i], y)),
    "index_copy_": lambda T, x, y, k: x.index_copy_(0, i := some(T, x, k % 4), full(x[i], y)),
    "index_fill_": lambda T, x, y, k: x.index_fill_(0, some(T, x, k), 0.75),
    "index_fill_ tensor": lambda T, x, y, k: x.index_fill_(0, some(T, x, k), y.sum()),
    "scatter_": lambda T, x, y, k: x.scatter_(0, i := places(T, x, k), full(x.gather(0, i), y)),
    "scatter_ number": lambda T, x, y, k: x.scatter_(0, places(T, x, k), 1.5),
    "scatter_add_": lambda T, x, y, k: x.scatter_add_(0, i := places(T, x, k), full(x.gather(0, i), y)),
    "masked_scatter_": lambda T, x, y, k: x.masked_scatter_(x > 0.01, full(x, y)),
    "put 0": lambda T, x, y, k: put(x, 0, like(x[0], y)), "put raw": lambda T, x, y, k: put(x, k, y),
    "put number": lambda T, x, y, k: put(x, -1, 2.0),
    "put column": lambda T, x, y, k: put(x, (..., 0), like(x[..., 0], y)),
    "put slice": lambda T, x, y, k: put(x, slice(1, None), like(x[1:], y)),
    "put at": lambda T, x, y, k: put(x, T.tensor([1, 0]), like(x[:2], y)),
    "put mask": lambda T, x, y, k: put(x, x > 0.01, y.sum()),
    "put mask number": lambda T, x, y, k: put(x, x > 0.01, 0.1),
    "fill_diagonal_": lambda T, x, y, k: x.fill_diagonal_(0.5), "clip_": lambda T, x, y, k: x.clip_(max=full(x, y)),
    "index_put_": lambda T, x, y, k: x.index_put_((i := some(T, x, k),), full(x[i], y), accumulate=True),
    "logical": lambda T, x, y, k: x.eq_(1.0), "round_": lambda T, x, y, k: x.round_(),
}  # fmt: skip
OVERWRITES = {
    "zero_": lambda T, x, y, k: x.zero_(), "fill_": lambda T, x, y, k: x.fill_(0.5),
    "fill_ tensor": lambda T, x, y, k: x.fill_(y.sum()), "copy_": lambda T, x, y, k: x.copy_(y),
    "copy_ like": lambda T, x, y, k: x.copy_(like(x, y)), "put all": lambda T, x, y, k: put(x, ..., like(x, y)),
    "set": lambda T, x, y, k: own(x).set_((full(x, y) if x.requires_grad else y).detach()),
    "set data": lambda T, x, y, k: set_data(x, full(x, y).detach().clone().contiguous()),
}  # fmt: skip
REARRANGES = {
    "t_": lambda T, x, y, k: x.t_(), "squeeze_": lambda T, x, y, k: x.squeeze_(),
    "unsqueeze_": lambda T, x, y, k: x.unsqueeze_(0), "transpose_": lambda T, x, y, k: x.transpose_(0, -1),
    "as_strided_": lambda T, x, y, k: strided_(x), "resize_": lambda T, x, y, k: x.resize_(x.shape[::-1]),
    "shrink_": lambda T, x, y, k: x.resize_(max(1, math.prod(x.shape) - 1)), "detach_": lambda T, x, y, k: x.detach_(),
    "freeze": lambda T, x, y, k: x.requires_grad_(False), "thaw": lambda T, x, y, k: x.requires_grad_(),
    "retain": lambda T, x, y, k: x.retain_grad(),
    "hook": lambda T, x, y, k: x.register_hook(lambda g: g * (k - 2)) and None,
    "forget": lambda T, x, y, k: setattr(x, "grad", None),
    "bump": lambda T, x, y, k: T.autograd.graph.increment_version(x),
    "backward": lambda T, x, y, k: x.sum().backward(), "keep": lambda T, x, y, k: x.sum().backward(retain_graph=True),
    "create": lambda T, x, y, k: (x * x).sum().backward(create_graph=True),
}  # fmt: skip
CHANGES = WRITES | OVERWRITES | REARRANGES
STEPS = ORDINARY | VIEWS | CHANGES
