"""What is otherwise than in PyTorch, on purpose: a table, whose programs the tests run, and the pages made of it."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PAGES = {language: Path(__file__).parent.parent / "docs" / f"differences{language}.md" for language in ("", ".zh-CN")}


@dataclass(frozen=True)
class Difference:
    """A program whose last line, an expression, gives another value, or error, here (``ours``) than in PyTorch."""

    program: str
    theirs: str
    ours: str
    english: str
    chinese: str

    def run(self, library: Any) -> str:
        """What the program gives, with the library as ``T``: the value as text, or the name of the error's class."""
        *before, last = self.program.split("; ")
        names = {"T": library, "nn": library.nn, "copied": copy.deepcopy}
        try:
            exec("; ".join(before), names)  # noqa: S102 - it stands below
            return " ".join(str(eval(last, names)).split())  # noqa: S307
        except (RuntimeError, TypeError, ValueError) as e:
            return type(e).__name__


DIFFERENCES = [
    Difference("T.tensor([1j]).conj().is_conj()", "True", "False",
               "`conj` and the imaginary part of it are computed at once: there is no conj bit and no neg bit.",
               "`conj` 以及它的虚部立即计算出来：没有 conj 位，也没有 neg 位。"),
    Difference("p = nn.Parameter(T.ones(1)); p.grad = T.ones(1); copied(p).grad", "None", "tensor([1.])",
               "Deep copies, copies and pickles of parameters and modules have their `.grad`, with memory of its own. "
               "A loop that trains the copy begins with `zero_grad()`.",
               "参数和模块的深拷贝、浅拷贝和 pickle 都带着 `.grad`，它有自己的内存。"
               "训练副本的循环要先调用 `zero_grad()`。"),
    Difference("w = T.zeros(1, requires_grad=True); w.grad = T.ones(1) * 5; "
               "float(nn.utils.clip_grad_norm_([w, w], 1.0)) < 6", "False", "True",
               "A parameter that is listed twice counts once, and is scaled once.",
               "列出两次的参数只算一次，也只缩放一次。"),
    Difference("w = T.zeros(1, requires_grad=True); w.grad = T.ones(1); float(nn.utils.clip_grad_norm_(w, -1.0))",
               "1.0", "ValueError", "A negative bound would turn the gradients round.", "负的界限会使梯度反向。"),
    Difference("e = nn.Embedding(3, 2, sparse=True); e(T.tensor([1])).sum().backward(); e.weight.grad.is_sparse",
               "True", "False",
               "Gradients of tensors are dense: `sparse=True` has no effect, and a sparse gradient that a Function "
               "returns becomes a dense one.",
               "张量的梯度是稠密的：`sparse=True` 没有作用，Function 返回的稀疏梯度会变成稠密的。"),
    Difference("x, w = T.ones(1), T.ones(1, requires_grad=True); a = x.numpy(); y = (w * x).sum(); a[0] = 5; "
               "y.backward(); w.grad", "tensor([5.])", "RuntimeError",
               "What is written through an array that `numpy()` has given counts as a write in place.",
               "通过 `numpy()` 给出的数组写入，算作原地写入。"),
    Difference("p = nn.Parameter(T.ones(1).half()); o = T.optim.Adam([p]); p.grad = T.ones(1).half(); o.step(); "
               "s = o.state_dict(); s['state'][0]['exp_avg_sq'] = T.tensor([1e-9]); o.load_state_dict(s); "
               "o.state[p]['exp_avg_sq'].item() > 0", "False", "True",
               "State that was saved in float32 stays so for parameters of 16 bits.",
               "以 float32 保存的状态，对 16 位的参数仍保持 float32。"),
    Difference("x = T.zeros((), requires_grad=True); g, = T.autograd.grad(nn.functional.elu(x), x, create_graph=True); "
               "T.autograd.grad(g, x)[0].item()", "0.0", "0.5",
               "At a kink of the first derivative, the second is the mean of both sides, where each has one.",
               "在一阶导数的折点处，二阶导数取两侧的平均值（如果两侧都有）。"),
    Difference("ad = T.autograd.forward_ad; a, b = ad.dual_level(), ad.dual_level(); a.__enter__(); b.__enter__(); "
               "(b.__exit__(None, None, None), a.__exit__(None, None, None))", "RuntimeError", "(None, None)",
               "Levels of dual numbers can be nested: a dual of a dual has second derivatives.",
               "对偶数的层可以嵌套：对偶数的对偶数给出二阶导数。"),
    Difference("T.full((2,), T.tensor(1.0, requires_grad=True)).requires_grad", "TypeError", "True",
               "`full`, `linspace` and `logspace` are recorded where they are given tensors that require grad.",
               "`full`、`linspace` 和 `logspace` 如果收到需要梯度的张量，就会被记录。"),
    Difference("T.save(nn.Linear(1, 1), '/dev/null')", "None", "TypeError",
               "Files hold data and no code: save what `state_dict()` returns.",
               "文件里只有数据，没有代码：请保存 `state_dict()` 返回的内容。"),
]  # fmt: skip

_TEXT = {
    "": """# Differences from PyTorch

[中文](differences.zh-CN.md)

Programs for PyTorch run as they are. Where something is otherwise on purpose, it stands here, with a program (`T` is
the library, `copied` is `copy.deepcopy`) and what it gives. The page is made of the table in
[oracle/differences.py](../oracle/differences.py), which the tests run.

| program | PyTorch | gradwright | |
|---|---|---|---|
""",
    ".zh-CN": """# 与 PyTorch 的不同之处

[English](differences.md)

为 PyTorch 编写的程序可以原样运行。有意的不同之处列在这里，附有程序（`T` 是所用的库，
`copied` 是 `copy.deepcopy`）及其结果。本页由
[oracle/differences.py](../oracle/differences.py) 中的表格生成，测试会运行这张表。

| 程序 | PyTorch | gradwright | |
|---|---|---|---|
""",
}


def page(language: str) -> str:
    """The text of a page: "" for English, ".zh-CN" for Chinese."""
    rows = [f"| `{d.program}` | {d.theirs} | {d.ours} | {d.chinese if language else d.english} |" for d in DIFFERENCES]
    return _TEXT[language] + "\n".join(rows) + "\n"


def write() -> None:
    """Write the pages anew."""
    for language, path in PAGES.items():
        path.write_text(page(language), encoding="utf-8")
