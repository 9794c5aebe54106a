import contextvars
import sys
import threading
import time
import weakref

import numpy as np
import pytest

import gradwright
from gradwright.autograd import Function
from gradwright.debug.profiler import ProfilerActivity, profile, record_function
from gradwright.engine.saved_hooks import allow_mutation_on_saved_tensors, saved_tensors_hooks
from gradwright.utils.checkpoint import checkpoint


def mlp_step(weights, x):
    for w in weights:
        x = (x @ w).tanh()
    loss = x.square().mean()
    loss.backward()


class Cube(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 3 * x * x * g


def ones(*shape):
    return gradwright.ones(*shape, requires_grad=True)


def test_a_training_step_adds_up():
    weights, x = [ones(200, 200) for _ in range(3)], gradwright.ones(300, 200)
    mlp_step(weights, x)
    began = time.monotonic()
    with profile() as prof:
        mlp_step(weights, x)
    took = (time.monotonic() - began) * 1e6
    rows = prof.key_averages()
    busy = sum(row.self_total for row in rows)
    assert 0 < busy <= rows.wall
    assert rows.wall <= took
    assert prof["matmul"].count == prof["matmul"].backward_count == 3
    assert sum(row.self_total for row in rows) == pytest.approx(
        sum(e.duration for e in prof.events() if e.parent is None) / 1e3
    )


def test_counts_and_bytes():
    x = ones(10, 100)
    with profile() as prof:
        y = x.exp() * x
        y.sum().backward()
    assert (prof["exp"].count, prof["exp"].saved, prof["exp"].output) == (1, 4000, 4000)
    assert (prof["multiply"].saved, prof["multiply"].output) == (8000, 4000)
    assert prof["sum"].saved == 0
    (event,) = [e for e in prof.events() if e.name == "exp"]
    assert event.inputs == [((10, 100), "float32")]
    assert event.kind == "forward"
    (back,) = [e for e in prof.events() if e.name == "ExpBackward0"]
    assert (back.kind, back.made_by, back.parent, back.output) == ("backward", event, None, 4000)


def test_what_a_function_keeps_on_ctx_is_saved_too():
    class Kept(Cube):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            ctx.same, ctx.slope, ctx.parts, ctx.array = x, 3 * x * x, [x + 1, {"a": x + 2}], np.ones(250)
            return x * x * x

    with profile() as prof:
        Kept.apply(ones(1000))
    assert prof["Kept"].saved == 4 * 4000 + 2000


def test_what_runs_inside_a_function_is_its_total_and_not_its_own():
    x = ones(1000)
    with profile() as prof:
        y = Cube.apply(x).sum()
        y.backward()
    cube, multiply = prof["Cube"], prof["multiply"]
    assert cube.saved == 4000
    assert multiply.count == 2 + 3
    inside = [e for e in prof.events() if e.name == "multiply"]
    assert [e.parent.name for e in inside] == ["Cube"] * 2 + ["CubeBackward"] * 3
    assert cube.forward - cube.self_forward == pytest.approx(sum(e.duration for e in inside[:2]) / 1e3)
    assert cube.backward - cube.self_backward == pytest.approx(sum(e.duration for e in inside[2:]) / 1e3)


class Twice(Function):
    @staticmethod
    def forward(ctx, x, depth):
        time.sleep(0.001)
        return Twice.apply(x, depth - 1) if depth else x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 2, None


def test_an_operation_inside_itself_is_not_counted_twice_in_the_total():
    with profile() as prof:
        Twice.apply(ones(1), 3)
    row = prof["Twice"]
    assert row.count == 4
    assert row.forward <= prof.wall / 1e3
    assert row.self_forward <= row.forward
    assert row.forward >= 4000


def test_a_recorded_backward_is_itself_operations():
    x = ones(3)
    with profile() as prof:
        (g,) = gradwright.autograd.grad((x * x * x).sum(), x, create_graph=True)
        g.sum().backward()
    inside = {e.parent.name for e in prof.events() if e.parent is not None and e.kind == "forward"}
    assert "MulBackward0" in inside
    assert prof["multiply"].backward_count > 2
    assert x.grad.tolist() == [6.0, 6.0, 6.0]


def test_the_rows_may_be_lines():
    x = ones(3)
    with profile(by_line=True) as prof:
        y = x.exp().log().sum()
        y.backward()
    (row,) = [row for row in prof.key_averages() if row.key.endswith("y = x.exp().log().sum()")]
    here = sys._getframe().f_code
    assert f"{here.co_filename}:{here.co_firstlineno + 3}".endswith(row.key.split(": ")[0])
    assert (row.count, row.backward_count, row.saved) == (3, 3, 24)


def test_a_node_from_before_is_named_after_itself():
    y = ones(3).exp().sum()
    with profile() as prof:
        y.backward()
    assert prof["ExpBackward0"].count == 1
    assert prof["ExpBackward0"].forward == 0


def test_spans_as_blocks_and_as_decorators():
    @record_function("mine")
    def double(x):
        """Twice x."""
        return x + x

    with profile() as prof:
        with record_function("outer") as span:
            double(ones(3))
        double(ones(3))
    assert span.name == "outer"
    assert double.__doc__ == "Twice x."
    assert [(e.name, e.parent and e.parent.name) for e in prof.events()] == [
        ("outer", None), ("mine", "outer"), ("add", "mine"), ("mine", None), ("add", "mine"),
    ]  # fmt: skip
    assert prof["mine"].count == 2
    with record_function("nobody listens"):
        double(ones(3))


def test_what_a_checkpoint_keeps_is_a_row_of_its_own():
    with profile() as prof:
        y = ones(1000) * 2
        checkpoint(gradwright.exp, y, use_reentrant=False)
    assert (prof["multiply"].saved, prof["exp"].saved, prof["Checkpoint"].saved) == (4, 0, 4000)


def test_a_write_through_a_view_goes_back_as_its_operation():
    with profile() as prof:
        y = ones(1000) * 2
        y[1:].exp_()
        y.sum().backward()
    assert {e.name for e in prof.events() if e.made_by and e.made_by.name == "exp"} == {"ExpBackward0", "CopySlices"}


def test_a_span_needs_a_name():
    with pytest.raises(TypeError, match="record_function: the name must be a string, but got function"):
        record_function(ones)


def test_a_span_may_end_after_the_profile_or_by_an_exception():
    prof = profile()
    with record_function("before"):
        prof.__enter__()
        with pytest.raises(ZeroDivisionError), record_function("fails"):
            raise ZeroDivisionError
        after = record_function("after")
        after.__enter__()
        prof.__exit__(None, None, None)
    ends = [e.end for e in prof.events()]
    after.__exit__(None, None, None)
    assert [e.name for e in prof.events()] == ["fails", "after"]
    assert [e.end for e in prof.events()] == ends


def test_an_operation_that_raises_is_recorded_and_leaves_nothing_open():
    with profile() as prof:
        with pytest.raises(RuntimeError):
            gradwright.ones(2, 3) @ gradwright.ones(2, 3)
        gradwright.ones(2).exp()
    assert [(e.name, e.parent) for e in prof.events()][-1] == ("exp", None)


def test_it_may_be_entered_again_but_not_inside_itself():
    prof = profile()
    for _ in range(2):
        with prof:
            gradwright.ones(2).exp()
    assert prof["exp"].count == 2
    with prof, pytest.raises(RuntimeError, match="on already"):
        prof.__enter__()
    gradwright.ones(2).exp()
    assert prof["exp"].count == 2


def test_two_profiles_at_once():
    with profile() as outer, profile() as inner:
        gradwright.ones(2).exp()
    assert outer["exp"].count == inner["exp"].count == 1


def test_another_thread_joins_by_a_copy_of_the_context_or_by_entering():
    x = ones(3)
    with profile() as prof:
        y = x.exp().sum()
        threads = [
            threading.Thread(target=contextvars.copy_context().run, args=(y.backward,), name="back"),
            threading.Thread(target=lambda: gradwright.ones(3).log()),
        ]
        for thread in threads:
            thread.start()
            thread.join()
    assert prof["exp"].backward_count == 1
    assert len({e.thread for e in prof.events()}) == 2
    assert "log" not in [row.key for row in prof.key_averages()]

    def enter():
        with prof:
            gradwright.ones(3).log()

    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    assert prof["log"].count == 1


def test_what_saved_tensors_hooks_packed_is_not_unpacked_to_be_counted():
    unpacked = []
    x = ones(10)
    with profile() as prof, saved_tensors_hooks(lambda t: t, lambda t: unpacked.append(t) or t):
        y = x.exp()
    assert prof["exp"].saved == 40
    assert not unpacked
    with saved_tensors_hooks(lambda t: t, lambda t: t), profile() as prof:
        y = x * y
    assert prof["multiply"].saved == 80
    with allow_mutation_on_saved_tensors(), profile() as prof:
        x.exp()
    assert prof["exp"].saved == 40


def test_several_saved_under_one_name_count():
    with profile() as prof:
        gradwright.linalg.eigh(gradwright.eye(2).requires_grad_())
    assert prof["eigh"].saved == prof["eigh"].output == 4 * (2 + 2 * 2)


def test_a_profile_keeps_no_tensor_alive():
    with profile() as prof:
        y = ones(3).exp()
        node = weakref.ref(y.grad_fn)
        del y
    assert node() is None
    assert prof["exp"].count == 1


def test_the_arguments_of_pytorch_are_taken(torch):
    x = {T: T.ones(3, requires_grad=True) for T in (gradwright, torch)}
    shown = []
    for T, leaf in x.items():
        with T.profiler.profile(activities=[T.profiler.ProfilerActivity.CPU], record_shapes=True) as prof:
            with T.profiler.record_function("mine"):
                y = leaf.exp().sum()
            y.backward()
        rows = {row.key: row for row in prof.key_averages()}
        assert rows["mine"].cpu_time_total >= rows["mine"].self_cpu_time_total > 0
        shown.append(prof.key_averages().table(sort_by="self_cpu_time_total", row_limit=3))
    assert all("exp" in text or "mine" in text for text in shown)
    assert list(ProfilerActivity) == [ProfilerActivity.CPU]
