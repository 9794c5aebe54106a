"""The check of compiled forms."""

import textwrap

import pytest

from gradwright.check import Outcome, check

CASES = {
    "right": ("PASS", "", """
        ctx.save_for_backward(x)
        return x * x
    """, "return g * 2 * ctx.saved_tensors[0]"),
    "in NumPy": ("PASS", "Case.forward", """
        ctx.save_for_backward(x)
        return gw.from_numpy(np.square(x.detach().numpy()))
    """, "return g * 2 * ctx.saved_tensors[0]"),
    "with a counter": ("SKIPPED", "it stays eager", """
        ctx.save_for_backward(x)
        calls.append(1)
        return x * x
    """, "return g * 2 * ctx.saved_tensors[0]"),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_the_compiled_form(name, tmp_path):
    outcome, said, forward, backward = CASES[name]
    file = tmp_path / "case.py"
    body = textwrap.indent(textwrap.dedent(forward).strip(), " " * 8)
    file.write_text(
        "import numpy as np\nimport gradwright as gw\ncalls = []\n\n\nclass Case(gw.autograd.Function):\n"
        f"    @staticmethod\n    def forward(ctx, x):\n{body}\n\n"
        f"    @staticmethod\n    def backward(ctx, g):\n        {backward}\n\n"
        "    @staticmethod\n    def samples():\n        return [(gw.tensor([1.0, 2.0], dtype=gw.float64, "
        "requires_grad=True),)]\n"
    )
    (checked,) = check(str(file), compiled=True, jobs=1).checked
    (finding,) = [f for f in checked.findings if f.check == "compiled"]
    assert finding.outcome is Outcome[outcome], finding
    assert said in finding.sentence


def test_it_is_made_only_if_asked_for(tmp_path):
    file = tmp_path / "case.py"
    file.write_text("import gradwright as gw\n\n\nclass Case(gw.autograd.Function):\n"
                    "    @staticmethod\n    def forward(ctx, x):\n        return x * 2\n\n"
                    "    @staticmethod\n    def backward(ctx, g):\n        return g * 2\n")  # fmt: skip
    (checked,) = check(str(file), jobs=1, fast=True).checked
    assert "compiled" not in {f.check for f in checked.findings}
