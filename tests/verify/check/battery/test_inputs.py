"""What a subject is called with: its samples, or what is made up; and what is said if neither will do."""

import pytest

import gradwright as gw
from gradwright.verify.check.battery.inputs import given, trials
from gradwright.verify.check.calls import samples
from gradwright.verify.check.discover import subject_of

x = gw.tensor([0.3, -1.2])


def called(f, **kwargs):
    stages = []
    found = trials(subject_of(f, **kwargs), stages.append)
    assert stages[:1] == ["samples"]
    return found


class Ridge(gw.autograd.Function):
    @staticmethod
    def forward(ctx, x, lam):
        ctx.save_for_backward(x, lam)
        return x * lam

    @staticmethod
    def backward(ctx, g):
        x, lam = ctx.saved_tensors
        return g * lam, g * x


def test_samples_are_taken_in_float64():
    found, problem, made_up = called(Ridge, samples=[(x, x)])
    assert [str(trial.call) for trial in found] == ["x: float64 (2,), lam: float64 (2,)"]
    assert (problem, made_up) == (None, False)


def test_without_samples_the_use_of_an_argument_says_what_it_is():
    (trial, larger), problem, made_up = called(Ridge)
    assert (str(trial.call), problem, made_up) == ("x: float64 (5,), lam: float64 (5,)", None, True)
    assert str(larger.call) == "x: float64 (3, 4), lam: float64 (3, 4)"


def test_what_is_wrong_with_any_inputs_is_not_guessed_away():
    """The guess that shows it is kept; what an earlier one raised for another reason does not take its place."""

    class Writes(Ridge):
        @staticmethod
        def backward(ctx, g):
            x, lam = ctx.saved_tensors
            g *= 1.0
            return g * lam, (g * x).sum()

    class WritesLater(Ridge):
        @staticmethod
        def backward(ctx, g):
            x, lam = ctx.saved_tensors
            slopes = g * lam, (g * x).sum()
            g.add_(1)
            return slopes

    for f in (Writes, WritesLater):
        (trial,), problem, made_up = called(f)
        assert (str(trial.call), problem, made_up) == ("x: float64 (5,), lam: float64 ()", None, True)
        with pytest.raises(RuntimeError, match="changed its grad_output in place"):
            trial.backward(trial.run())


def test_a_larger_guess_has_to_do_without_any_doubt():
    class Bias(gw.autograd.Function):
        @staticmethod
        def forward(ctx, x, bias):
            if x.shape == bias.shape and x.dim() > 1:
                raise ValueError("not so")
            return x + bias

        @staticmethod
        def backward(ctx, g):
            return g, g.sum(0) if g.dim() > 1 else g

    class Broadcasts(Bias):
        @staticmethod
        def backward(ctx, g):
            return g, g

    assert [str(trial.call) for trial in called(Bias)[0]] == [
        "x: float64 (5,), bias: float64 (5,)", "x: float64 (3, 4), bias: float64 (4,)"
    ]  # fmt: skip
    assert [str(trial.call) for trial in called(Broadcasts)[0]] == ["x: float64 (5,), bias: float64 (5,)"]


def test_the_larger_guess_has_other_numbers_where_the_first_are_neutral():
    @gw.custom_op
    def softplus(x, beta: float = 1.0):
        return gw.from_numpy(x.numpy() * beta)

    softplus.vjp(x=lambda xp, g: g)
    assert [trial.call.arguments[1] for trial in called(softplus)[0]] == [1.0, 0.7]


def test_a_custom_op_is_read_by_its_formulas():
    @gw.custom_op
    def scaled(x, lam, *more, n: int = 2, **rest):
        return gw.from_numpy(x.numpy() * lam * n)

    scaled.vjp(x=lambda xp, g, lam, n: g * lam * n, lam=None)
    (trial, *_), problem, _ = called(scaled)
    assert problem is None
    line = "x: float64 (5,), lam: 0.7, more: ('float64 (5,)', 'float64 (5,)'), n: 2, rest: {}"
    assert str(trial.call).startswith(line)


@pytest.mark.parametrize(("declared", "says"), [
    (lambda: 1 / 0, "samples raises ZeroDivisionError: division by zero at line "),
    (lambda: x, "samples must return a list with a tuple of arguments for each call, not Tensor"),
    (lambda: 3, "samples must return a list with a tuple of arguments for each call, not int"),
    (lambda: [(x, 1.0), (x,)], "sample 1 has 1 arguments, but forward takes x, lam: missing a required argument"),
    (lambda: [(x, 1.0, 2)], "sample 0 has 3 arguments, but forward takes x, lam: too many positional arguments"),
])  # fmt: skip
def test_samples_that_will_not_do_are_blamed(declared, says):
    found, problem, made_up = called(Ridge, samples=declared)
    assert (found, made_up, problem.outcome, problem.cause) == ([], False, "ERROR", "samples")
    assert problem.sentence.startswith(says)


def test_a_custom_op_is_given_its_defaults():
    @samples((x,))
    @gw.custom_op
    def scaled(x, n: float = 2.5):
        return gw.from_numpy(x.numpy() * n)

    assert [str(c) for c in given(subject_of(scaled))] == ["x: float32 (2,), n: 2.5"]


def test_what_is_wrong_whatever_it_is_called_with_is_left_to_the_checks():
    class Changes(gw.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            x.mul_(2)
            return x + 1

        @staticmethod
        def backward(ctx, g):
            return g

    class Several(gw.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x + 1

        @staticmethod
        def backward(ctx, g):
            return tuple(g for _ in range(3))

    for F in (Changes, Several):
        found, problem, made_up = called(F)
        assert (len(found), problem, made_up) == (1, None, True)


def test_a_slip_of_the_pen_in_backward_is_not_guessed_away():
    class Slip(gw.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return g.reshap(-1) if g.ndim > 1 else g  # which tensors of two dims alone come to

    class Always(Slip):
        @staticmethod
        def backward(ctx, g):
            return g * facto  # noqa: F821 - the slip

    (_, larger), problem, _ = called(Slip)
    assert (str(larger.call), problem) == ("x: float64 (3, 4)", None)
    (trial,), problem, _ = called(Always)
    assert (str(trial.call), problem) == ("x: float64 (5,)", None)


def test_what_backward_raises_of_inputs_that_forward_takes_is_told():
    class Outer(gw.autograd.Function):
        @staticmethod
        def forward(ctx, a, b):
            ctx.save_for_backward(a, b)
            return (a @ b).sum()

        @staticmethod
        def backward(ctx, g):
            a, b = ctx.saved_tensors
            if b.dim() > 1:
                raise ValueError("for vectors only")
            return g * b.expand(a.shape), g * (a.sum(0) if a.dim() > 1 else a)

    (trial, *_), problem, _ = called(Outer)
    assert problem is None
    assert "which forward takes, backward raised ValueError: for vectors only at line " in trial.doubt
    assert "b: float64 (4, 2)" in trial.doubt or "b: float64 (4, 3)" in trial.doubt
    assert called(Ridge)[0][0].doubt == ""


def test_a_matrix_and_a_vector_are_guessed():
    class Solve(gw.autograd.Function):
        @staticmethod
        def forward(ctx, A, b):
            y = gw.linalg.solve(A, b)
            ctx.save_for_backward(A, y)
            return y

        @staticmethod
        def backward(ctx, g):
            A, y = ctx.saved_tensors
            u = gw.linalg.solve(A.t(), g)
            return -gw.outer(u, y), u

    (trial, *_), problem, _ = called(Solve)
    assert (str(trial.call), problem) == ("A: float64 (3, 3), b: float64 (3,)", None)
    assert "A: float64 (3, 3), b: float64 (3, 3), which forward takes" in trial.doubt


def test_a_guess_that_gives_nothing_but_zeros_is_the_last():
    """p is a power to some, and to others how much is dropped: all, with 2 of it."""

    class Dropout(gw.autograd.Function):
        @staticmethod
        def forward(ctx, x, p):
            mask = (gw.rand(x.shape) > p).to(x.dtype)
            ctx.save_for_backward(mask)
            return x * mask

        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_tensors[0], None

    class Nothing(Dropout):
        @staticmethod
        def forward(ctx, x, p):
            ctx.save_for_backward(0 * x)
            return 0 * x

    assert [trial.call.arguments[1] for trial in called(Dropout)[0]] == [0.4, 0.4]
    assert [str(trial.call) for trial in called(Nothing)[0]] == ["x: float64 (5,), p: 2"]
