"""The examples: of every wrong Function the true cause is found, and every right one passes; in both libraries."""

from pathlib import Path

import pytest

import gradwright as gw
from gradwright.check import Outcome, check
from gradwright.op import A, Sample, op
from gradwright.verify.check.battery.run import AFTER, ASKED, CHECKS, examine
from gradwright.verify.check.discover import subject_of
from tests.corpus.right import Double

EXAMPLES = Path(__file__).parents[4] / "examples"
CAUSES = {
    "Cube": ("first order", "factor", "1 / the 3 in forward"),
    "MulConstant": ("first order", "factor", "1 / `constant`"),
    "Total": ("first order", "factor", "a mean where a sum belongs"),
    "Cosine": ("first order", "sign", "wrong sign"),
    "Sigmoid": ("first order", "missing factor", "(1 - `out`)"),
    "Softmax": ("first order", "missing term", "(grad_output * `out`).sum() * `out` too much"),
    "LeakyRelu": ("first order", "region", "exactly where `x` < 0: 2 times"),
    "Doubled": ("first order", "not a number", "nan or inf for `x` at [1]"),
    "Sine": ("first order", "cotangent ignored", "whatever grad_output is"),
    "MatMul": ("first order", "transpose", "gradient of `x`"),
    "AddBias": ("shapes", "gradient shape", "(3, 4) for `bias` of shape (4,)"),
    "AddBiasFirstRow": ("first order", "missing sum", "only entry 0 of dimension 0"),
    "Multiply": ("first order", "swapped", "`a` and `b` are swapped"),
    "Flip": ("first order", "reversed", "reverse order"),
    "ComplexSquare": ("complex", "conjugate", "lacks a conjugate"),
    "Scale": ("first order", "zero", "None for `scale`"),
    "SinCos": ("first order", "zero", "leaves out what comes from `out[1]`"),
    "Round": ("first order", "surrogate", "straight-through"),
    "ClippedExp": ("first order", "clipped", "±3"),
    "Gain": ("captured tensors", "captured tensor", "`gain`"),
    "LastCall": ("independent calls", "stale state", "LastCall.x"),
    "FirstCall": ("first order", "stale state", "FirstCall.slope"),
    "InPlace": ("inputs unchanged", "changed input", "in place"),
    "TakesOver": ("inputs unchanged", "changed grad_output", "in place"),
    "Jitter": ("deterministic", "non-determinism", "backward"),
    "Noise": ("deterministic", "non-determinism", "forward"),
    "Remembers": ("no leak", "leak", "outputs"),
    "OneGradient": ("runs", "number of gradients", "expected 2, got 1"),
    "AsksNobody": ("undefined gradients", "undefined gradient", "output 0"),
    "AsksForTheOther": ("needs_input_grad", "needs_input_grad", "`a`"),
    "Coarse": ("dtype", "dtype", "float32"),
    "MemoryOrder": ("strides", "transposed cotangent", "transposed"),
    "Expanded": ("strides", "stride-0 cotangent", "stride-0"),
    "Recorded": ("grad modes", "grad mode", "create_graph=True"),
    "SineAndCosine": ("marked outputs", "non-differentiable", "output 1"),
    "Detached": ("second order", "second derivative", "second derivative"),
    "InNumPy": ("second order", "second derivative", "second derivative"),
    "Pushforward": ("forward mode", "jvp", "2 times"),
    "ReluAtZero": ("first order", "kink", "0 to the left and 1 to the right"),
}


def reported(name, library, tmp_path_factory):
    text = (EXAMPLES / f"{name}.py").read_text()
    file = tmp_path_factory.mktemp(library) / f"{name}_{library}.py"
    file.write_text(text.replace("import gradwright as gw\n", f"import {library} as gw\n"))
    # one job: to import the library again takes as long as the checks
    return {c.name: c for c in check([str(file)], limit=300, jobs=1).checked}


@pytest.fixture(scope="module", params=["gradwright", "torch"])
def library(request):
    if request.param == "torch":
        request.getfixturevalue("torch")
    return request.param


@pytest.fixture(scope="module")
def wrong(library, tmp_path_factory):
    return reported("wrong_functions", library, tmp_path_factory)


@pytest.fixture(scope="module")
def right(library, tmp_path_factory):
    return reported("right_functions", library, tmp_path_factory)


@pytest.mark.parametrize("name", CAUSES)
def test_the_true_cause_is_named(wrong, name):
    checked = wrong[name]
    where, cause, words = CAUSES[name]
    first = checked.failures[0]
    assert (first.check, first.cause) == (where, cause), checked.failures
    assert words in first.sentence
    assert checked.verdict == ("INCONCLUSIVE" if cause == "kink" else "FAIL")
    assert all(checked.line <= n < checked.line + len(checked.source.splitlines()) for n in first.lines)


@pytest.mark.parametrize("name", [n for n in CAUSES if CAUSES[n][0] != "runs"])
def test_the_suspected_lines_are_given(wrong, name):
    assert wrong[name].failures[0].lines


def test_every_one_is_in_the_table(wrong):
    assert wrong.keys() == CAUSES.keys()


def test_every_right_one_passes_every_check(right):
    assert len(right) == 30
    assert {n: c.failures for n, c in right.items() if c.verdict is not Outcome.PASS} == {}
    allowed = {Outcome.PASS, Outcome.SKIPPED}
    assert [(n, f) for n, c in right.items() for f in c.findings if f.outcome not in allowed] == []


@pytest.mark.parametrize(("name", "checks"), [
    ("Exp", ["complex", "dtype", "second order"]), ("Product", ["forward mode"]), ("Cube", ["vmap"]),
    ("SquaredModulus", ["complex"]), ("SinCos", ["undefined gradients"]),
])  # fmt: skip
def test_what_is_claimed_is_checked(right, name, checks):
    found = {f.check: f.outcome for f in right[name].findings}
    assert [found[c] for c in checks] == ["PASS"] * len(checks)


def test_diagnoses_are_kept(right):
    assert {d["dtype"] for d in right["Exp"].diagnoses} == {"float64", "complex128"}
    assert {d["order"] for d in right["Exp"].diagnoses} == {1, 2}
    assert all(d["sample"] in right["Exp"].samples for d in right["Exp"].diagnoses)


def test_every_check_is_in_the_record_in_order(right):
    assert [f.check for f in right["Exp"].findings] == list(CHECKS)


def test_what_is_barred_is_a_check():
    assert all(barred < CHECKS.keys() | ASKED.keys() and c in CHECKS for c, (barred, _) in AFTER.items())


# ---- subjects of other kinds ------------------------------------------------------------------------------


def test_made_up_samples_are_said_to_be():
    class Cube(gw.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return 3 * g * x * x

    checked = examine(subject_of(Cube))
    assert (checked.guessed, checked.verdict) == (True, "PASS")
    assert checked.samples == ("x: float64 (5,)", "x: float64 (3, 4)")


def straight_through(library):
    """Rounding, declared a surrogate, as a Function of a library."""

    @gw.autograd.surrogate("straight-through")
    class Round(library.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.round()

        @staticmethod
        def backward(ctx, g):
            return g

    return Round


def test_a_declared_surrogate_is_not_failed():
    checked = examine(subject_of(straight_through(gw)))
    assert checked.verdict == "PASS"
    assert {f.check: f.sentence for f in checked.findings}["first order"] == (
        "declared a surrogate gradient: straight-through"
    )


def test_a_surrogate_of_pytorch_is_declared_with_the_same_decorator(torch):
    Round = straight_through(torch)

    class Undeclared(Round):
        __gradwright_surrogate__ = None
        surrogate = "mine"

    samples = [(torch.tensor([0.3, -1.2]),)]
    assert examine(subject_of(Round, samples)).verdict == "PASS"
    assert examine(subject_of(Undeclared, samples)).verdict == "FAIL"


@pytest.mark.parametrize(("factor", "verdict"), [(1, "PASS"), (2, "FAIL")])
def test_an_op(factor, verdict):
    @op(kind="elementwise", samples=[Sample(A(3))])
    def tanh(xp, x):
        return xp.tanh(x)

    tanh.vjp(x=lambda xp, g, out: factor * g * (1 - out * out))
    assert examine(subject_of(tanh)).verdict == verdict


@pytest.mark.parametrize(("factor", "verdict"), [(1, "PASS"), (2, "FAIL")])
def test_a_custom_op(factor, verdict):
    @gw.custom_op
    def scaled(x, n: float = 2.5):
        return gw.from_numpy(x.numpy() * n)

    scaled.vjp(x=lambda xp, g, n: factor * g * n)
    checked = examine(subject_of(scaled, samples=[(gw.tensor([0.3, -1.2]),)]))
    assert checked.verdict == verdict, checked.failures
    assert checked.samples == ("x: float64 (2,), n: 2.5",)


def test_a_missing_sum_in_a_formula_points_at_it():
    @gw.custom_op
    def shifted(x, bias):
        return gw.from_numpy(x.numpy() + bias.numpy())

    shifted.vjp(x=lambda xp, g: g, bias=lambda xp, g: g)
    (failure,) = examine(subject_of(shifted, samples=[(gw.ones(3, 4), gw.ones(4))])).failures
    assert (failure.check, failure.cause) == ("shapes", "gradient shape")
    assert "shifted.vjp(" in Path(__file__).read_text().splitlines()[failure.lines[0] - 1]
    assert 'custom_op(kind="elementwise")' in failure.mend


def test_empty_inputs_are_no_failure():
    checked = examine(subject_of(Double, samples=[(gw.ones(0, 3),), (gw.ones(2),)]))
    assert checked.verdict == "PASS", checked.failures
    checked = examine(subject_of(Double, samples=[(gw.ones(0, 3),)]))
    assert {f.check: f.outcome for f in checked.findings}["first order"] == "SKIPPED"


def test_nested_inputs():
    class Pair(gw.autograd.Function):
        @staticmethod
        def forward(ctx, pair):
            ctx.save_for_backward(*pair)
            return pair[0] * pair[1]

        @staticmethod
        def backward(ctx, g):
            a, b = ctx.saved_tensors
            return [g * b, g * a]

    checked = examine(subject_of(Pair, samples=[([gw.tensor([0.3, 2.0]), gw.tensor([1.3, 0.4])],)]))
    assert checked.verdict == "PASS", checked.failures


def test_what_has_no_derivative_is_not_failed():
    @op(samples=[Sample(A(3), A(3))])
    def less(xp, x, y):
        return xp.less(x, y)

    checked = examine(subject_of(less))
    assert checked.verdict == "PASS"
    assert {f.sentence for f in checked.findings if f.check != "captured tensors"} == {
        "none of the sample inputs requires grad, nor can"
    }


def test_an_operation_may_be_asked_for_a_dtype():
    @op(kind="elementwise", samples=[Sample(A(3), dtype="float32")])
    def cast(xp, x, *, dtype):
        return xp.astype(x, getattr(xp, dtype))

    cast.vjp(x=lambda xp, g, x: xp.astype(g, x.dtype))
    found = {f.check: f.outcome for f in examine(subject_of(cast)).findings}
    assert found["dtype"] == "PASS"


@pytest.mark.parametrize(("returns", "said"), [(lambda: 1 / 0, "raises ZeroDivisionError"), (lambda: 3, "returns int")])
def test_without_samples_it_says_what_came_of_those_made_up(returns, said):
    class Odd(gw.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return returns()

        @staticmethod
        def backward(ctx, g):
            return g

    (failure,) = examine(subject_of(Odd)).failures
    assert f": with x: float64 (5,) it {said}" in failure.sentence


def test_with_which_sample_it_is_right_is_said():
    class Total(gw.autograd.Function):
        """The sum over the other axis."""

        @staticmethod
        def forward(ctx, x):
            return x.cumsum(0)

        @staticmethod
        def backward(ctx, g):
            return g.flip(-1).cumsum(-1).flip(-1)

    found = {f.check: f for f in examine(subject_of(Total)).findings}
    assert found["first order"].sentence.endswith("It is wrong with x: float64 (3, 4), and right with x: float64 (5,)")

    class Row(Total):
        """Right with rows alone."""

        @staticmethod
        def forward(ctx, x):
            return x.sum(-1)

        @staticmethod
        def backward(ctx, g):
            return g.expand(5) * 2 if g.dim() == 0 else g[:, None].expand(-1, 4)

    found = {f.check: f for f in examine(subject_of(Row)).findings}
    assert found["first order"].sentence.endswith("It is wrong with x: float64 (5,), and right with x: float64 (3, 4)")
