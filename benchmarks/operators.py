"""Common operations, forward and backward, on 1,000 and 1,000,000 float32 elements: ``python -m benchmarks.operators``.

One case calls the operation on tensors that require grad and runs backward from a fixed gradient. What counts is the
geometric mean over all cases, at most 1.0, and each one: at most 2.0, unless `REASONS` says why it is slower.
"""

from __future__ import annotations

import argparse
import math
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

import gradwright
from benchmarks.runner import Case, Pace, Result, amount, measure, timed

LIMIT = 2.0
SIZES = {"1,000": (1000, (25, 40), (10, 10, 10)), "1,000,000": (1_000_000, (1000, 1000), (100, 100, 100))}
PACE = Pace(3, 0.01)

_WHY = {
    "PyTorch makes one pass on every core, NumPy one for each operator, on one core": """relu leaky_relu elu selu gelu
        silu softplus logsigmoid hardswish hardtanh sigmoid glu logit layer_norm batch_norm group_norm softmax
        log_softmax cross_entropy huber smooth_l1 bce_logits sign frac lerp addcmul pad embedding""",
    "NumPy copies in one thread, PyTorch in several": "flip tril triu split expand outer",
    "the windows are copied out for one matrix product; PyTorch's oneDNN multiplies without that copy": """conv2d
        conv_transpose2d""",
    "LAPACK matrix by matrix in one thread; PyTorch hands batches to several": "cholesky eigvalsh svdvals qr",
    "NumPy has no vector kernel for it on every CPU and calls the C library for each number": """exp2 log2 log10 hypot
        acos asin pow_xx""",
    "computed in vectors, in pieces that stay in the cache, but on one core; PyTorch uses all": """exp log log1p expm1
        sin cos sinh cosh tan atan atan2 atanh erf erfc""",
    "SciPy computes it a number at a time, on one core": "lgamma erfinv sinc digamma",
    "on small images the Python calls that arrange the windows are most of it": """max_pool2d
        avg_pool2d bilinear nearest""",
}
REASONS: dict[str, str] = {
    "cumsum": "NumPy adds up a line one entry after the other; in pairs, as here, it takes several passes over memory",
    "cumprod": "in pairs like cumsum, and a derivative that divides by nothing: a linear recurrence, also in pairs",
    "prod": "backward is the product of all other entries, right at zeros: several passes over memory, in one thread",
    "cummax": "NumPy's running maximum is not vectorised, and where it stands takes a second one",
    "gather": "NumPy reads and adds by flat index, which is made from the indices in a pass of its own, in one thread",
    "index_select": "NumPy adds by flat index, which is made from the indices in a pass of its own, in one thread",
    "scatter_add": "NumPy reads and adds by flat index, made from the indices in a pass of its own, in one thread",
    "topk": "a partition of the values, then a pass that finds where they stand; PyTorch selects rows in parallel",
} | {name: why for why, names in _WHY.items() for name in names.split()}
"""Cases slower than twice PyTorch's time, with the reason."""

Call = Callable[[Any, Any], Any]
_POSITIVE = """abs add:x+2 sub:2-x mul:x*3 div:x/3 rdiv:1/x neg square sqrt rsqrt reciprocal exp exp2 expm1 log log1p
log2 log10 sin cos tan atan sinh cosh tanh asinh sigmoid relu erf erfc lgamma digamma floor round sign
logit:t.logit(x*0.1) asin:t.asin(x*0.1) acos:t.acos(x*0.1) atanh:t.atanh(x*0.1) acosh:t.acosh(x+1) sinc i0 pow2:x**2
pow3:x**3 pow_half:x**0.5 clamp:t.clamp(x,0.5,1.5) lerp:t.lerp(x,x,0.3) addcmul:t.addcmul(x,x,x) hypot:t.hypot(x,x)
logaddexp:t.logaddexp(x,x) maximum:t.maximum(x,x) atan2:t.atan2(x,x) pow_xx:x**x mul_xx:x*x div_xx:x/x
where:t.where(x>1,x,x) masked_fill:x.masked_fill(x>1,0.0) xlogy:t.xlogy(x,x) nan_to_num clone frac
erfinv:t.erfinv(x*0.1)"""
_MATRIX = """sum mean prod:t.prod(x*0.5,1) amax:t.amax(x,1) max:t.max(x,1).values logsumexp:t.logsumexp(x,1) var std
norm cumsum:t.cumsum(x,1) cumprod:t.cumprod(x*0.5,1) sum0:x.sum(0) sum1:x.sum(1) mean1:x.mean(1) var1:x.var(1)
sort:t.sort(x,dim=1,stable=True).values topk:t.topk(x,5).values median:t.median(x,1).values softmax:t.softmax(x,1)
log_softmax:t.log_softmax(x,1) t:x.t().contiguous() flip:t.flip(x,(1,)) roll:t.roll(x,3,1) cat:t.cat((x,x),1)
stack:t.stack((x,x)) split:t.cat(x.split(5,1),1) tril triu index:x[:,::2] gather:t.gather(x,1,i)
index_select:x.index_select(1,j) expand:x[:1].expand(x.shape) repeat:x[:5].repeat(2,1) take:x[:,j]
masked_select:x[x>1] scatter_add:t.scatter_add(x,1,i,x) logcumsumexp:t.logcumsumexp(x,1) cummax:t.cummax(x,1).values
matmul:x@x.t() mv:x@x[0] outer:t.outer(x[0],x[0]) einsum:t.einsum('ij,kj->ik',x,x) addmm:t.addmm(x[:,:1],x,x.t())"""
_SQUARES = """inv:t.linalg.inv(x+3*e) solve:t.linalg.solve(x+3*e,x) det:t.linalg.det(x*0.1+e)
cholesky:t.linalg.cholesky(x@x.mT+20*e) qr:t.linalg.qr(x+3*e).R eigvalsh:t.linalg.eigvalsh(x+x.mT+e) bmm:t.bmm(x,x)
svdvals:t.linalg.svdvals(x) slogdet:t.linalg.slogdet(x*0.1+e).logabsdet"""
_NETWORK = """relu leaky_relu elu selu gelu silu mish softplus hardswish hardtanh softsign logsigmoid
mse:F.mse_loss(x,x*0.5) l1:F.l1_loss(x,x*0.5) smooth_l1:F.smooth_l1_loss(x,x*0.5) huber:F.huber_loss(x,x*0.5)
bce_logits:F.binary_cross_entropy_with_logits(x,x*0.4) kl_div:F.kl_div(x,x) layer_norm:F.layer_norm(x,x.shape[1:])
normalize:F.normalize(x) cosine:F.cosine_similarity(x,x*2+1) cross_entropy:F.cross_entropy(x,j0)
batch_norm:F.batch_norm(x,None,None,training=True) linear:F.linear(x,x) glu:F.glu(x)
dropout0:F.dropout(x,0.0) pad:F.pad(x,(1,1)) embedding:F.embedding(j0,x)"""
_IMAGES = """conv2d:F.conv2d(x,w,padding=1) conv_transpose2d:F.conv_transpose2d(x,w,padding=1)
max_pool2d:F.max_pool2d(x,2) avg_pool2d:F.avg_pool2d(x,2) adaptive_avg_pool2d:F.adaptive_avg_pool2d(x,1)
bilinear:F.interpolate(x,scale_factor=2,mode='bilinear') nearest:F.interpolate(x,scale_factor=2) unfold:F.unfold(x,3)
pixel_shuffle:F.pixel_shuffle(x,2) group_norm:F.group_norm(x,2) attention:F.scaled_dot_product_attention(x,x,x)"""
_SPECTRA = "fft:t.fft.fft(x).abs() rfft:t.fft.rfft(x).abs() fft2:t.fft.fft2(x).abs()"


def _expressions(texts: str, plain: str) -> dict[str, str]:
    """Name and expression of each case; a bare name stands for ``plain`` with it as the function."""
    pairs = (text.partition(":") for text in texts.split())
    return {name: expression or plain.format(name) for name, _, expression in pairs}


def _case(name: str, expression: str, size: str, shape: tuple[int, ...]) -> Case:
    """The case that evaluates ``expression`` on ``x`` of this shape and runs backward from its first tensor."""
    code = compile(expression.replace("\n", " "), name, "eval")

    @timed(f"{name}, {size}", limit=LIMIT)
    def case(lib: Any) -> Any:
        random = np.random.default_rng(0)
        x = lib.from_numpy(random.uniform(0.3, 2.0, shape).astype(np.float32)).requires_grad_()
        columns = random.integers(0, shape[-1], shape)
        scope = {"t": lib, "F": lib.nn.functional, "x": x, "i": lib.from_numpy(columns),
                 "j": lib.from_numpy(columns.reshape(-1)[: shape[-1]]),
                 "j0": lib.from_numpy(columns.reshape(-1)[: shape[0]] % shape[0])}  # fmt: skip
        if len(shape) == 3:
            scope["e"] = lib.eye(shape[-1])
        if len(shape) == 4:
            scope["w"] = lib.from_numpy(random.uniform(-1, 1, (shape[1], shape[1], 3, 3)).astype(np.float32))
        out = eval(code, scope)  # noqa: S307 - the expressions are those above
        g = lib.from_numpy(random.uniform(-1, 1, tuple(out.shape)).astype(np.float32)) if out.requires_grad else None

        def run() -> Any:
            x.grad = None
            y = eval(code, scope)  # noqa: S307
            if g is not None:
                y.backward(g)
            return x.grad

        return run

    return case


def cases() -> list[Case]:
    """All of them."""
    made = []
    for size, (n, matrix, stack) in SIZES.items():
        images = {"1,000": (2, 4, 11, 11), "1,000,000": (16, 16, 62, 62)}[size]
        for texts, plain, shape in (
            (_POSITIVE, "t.{}(x)", (n,)), (_MATRIX, "t.{}(x)", matrix), (_SQUARES, "t.{}(x)", stack),
            (_NETWORK, "F.{}(x)", matrix), (_IMAGES, "F.{}(x)", images), (_SPECTRA, "t.fft.{}(x)", matrix),
        ):  # fmt: skip
            made += [_case(name, e, size, shape) for name, e in _expressions(texts, plain).items()]
    return made


def geometric_mean(results: list[Result]) -> float:
    """Of the ratios to PyTorch."""
    return math.exp(sum(math.log(r.ratio) for r in results) / len(results))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.operators", description=__doc__)
    parser.add_argument("--only", action="append", metavar="NAME", help="the cases with this in their name; repeatable")
    options = parser.parse_args()
    console = Console()
    import torch

    warnings.simplefilter("ignore")
    chosen = [c for c in cases() if not options.only or any(n in c.figures[0].name for n in options.only)]
    results: list[Result] = []
    try:
        for case in track(chosen, "operations", console=console):
            results += measure(case, gradwright, torch, PACE)
    except KeyboardInterrupt:
        console.print(f"stopped after {len(results)} of {len(chosen)} cases")
    table = Table("operation, elements", title="slower than PyTorch, forward and backward, medians")
    for column in ("gradwright", "PyTorch", "ratio"):
        table.add_column(column, justify="right")
    table.add_column("")
    for r in sorted(results, key=lambda r: -r.ratio):
        if r.ratio > 1 or options.only:
            name = r.figure.name
            remark = "" if r.ratio <= LIMIT else REASONS.get(name.partition(",")[0], "[red]✗ no reason given[/]")
            ratio = f"{r.ratio:.2f}{'' if r.reliable else ' ?'}"
            table.add_row(name, *(amount(m, "s") for m in r.medians), ratio, remark)
    console.print(table)
    if not all(r.reliable for r in results):
        console.print("[dim]?  other programs kept the CPUs busy[/]")
    slow = [r for r in results if r.ratio > LIMIT]
    mean = geometric_mean(results) if results else math.nan
    console.print(f"{len(results)} cases, geometric mean of the ratios {mean:.2f}, {len(slow)} above {LIMIT}")
    return int(any(r.reliable and r.figure.name.partition(",")[0] not in REASONS for r in slow))


if __name__ == "__main__":
    sys.exit(main())
