"""What authors of custom derivatives suffer: first the wrong program, silent on PyTorch; then what one is told here.

The numbers are those of the list of pain points. Each program has a right answer that nobody gives for the wrong
program: what matters is that it is not given a wrong one without a word.
"""

import math
import re
import weakref

import pytest

import gradwright
from gradwright.engine.backward import passes


def silent_on(T):
    return T is not gradwright


def told(T, program, *lines):
    """Run a wrong program. On gradwright it must raise; each of ``lines`` must be found in a line of the message."""
    if silent_on(T):
        return program()
    with pytest.raises(RuntimeError) as error:
        program()
    text = str(error.value)
    for line in lines:
        assert re.search(line, text), f"{line!r} is not in:\n{text}"
    return None


def here(code):
    """A pattern for this file with a line's text."""
    return rf"{re.escape(__file__)}:\d+: .*{re.escape(code)}"


# ---- 1: an intermediate of forward is kept, and a second derivative taken --------------------------------


def bad_sinh(T):
    class Sinh(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.up, down = x.exp(), (-x).exp()
            ctx.save_for_backward(down)
            return (ctx.up - down) / 2

        @staticmethod
        def backward(ctx, g):
            return g * (ctx.up + ctx.saved_tensors[0]) / 2 + 0 * g

    return Sinh


def test_1_an_intermediate_is_kept(T, leaf):
    x, v = leaf([0.5, -1.0]), leaf([1.0, 1.0])
    (g,) = T.autograd.grad(bad_sinh(T).apply(x), x, v, create_graph=True)
    (second,) = T.autograd.grad(g.sum(), x, allow_unused=True)
    if silent_on(T):
        assert second is None  # no derivative, as it were
    else:
        assert second.tolist() == pytest.approx([math.sinh(0.5), math.sinh(-1)])


def test_1_values_that_left_for_numpy(T, leaf):
    class Cube(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.slope = 3 * x.detach().numpy() ** 2
            return x**3

        @staticmethod
        def backward(ctx, g):
            return g * T.from_numpy(ctx.slope)

    x, v = leaf([0.5, -1.0]), leaf([1.0, 1.0])

    def program():
        (g,) = T.autograd.grad(Cube.apply(x), x, v, create_graph=True)
        return T.autograd.grad(g.sum(), x, allow_unused=True)

    lines = (r"CubeBackward cut the gradient off with numpy\(\)", here("ctx.slope = 3 * x.detach().numpy() ** 2"),
             "once_differentiable")  # fmt: skip
    assert told(T, program, *lines) == ((None,) if silent_on(T) else None)


# ---- 2: what was left on ctx changes before backward -----------------------------------------------------


def square(T, **how):
    class Square(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            how["save"](ctx, x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            return 2 * g * how["load"](ctx)

    return Square


ATTRIBUTES = {
    "ctx.x": (lambda ctx, x: setattr(ctx, "x", x), lambda ctx: ctx.x),
    "ctx.xs[0]": (lambda ctx, x: setattr(ctx, "xs", [x]), lambda ctx: ctx.xs[0]),
    "ctx.d['x']": (lambda ctx, x: setattr(ctx, "d", {"x": x}), lambda ctx: ctx.d["x"]),
}


@pytest.mark.parametrize("attribute", ATTRIBUTES)
def test_2_an_attribute_is_changed_in_place(T, leaf, attribute):
    save, load = ATTRIBUTES[attribute]
    x = leaf([1.0, 2.0])

    def program():
        h = x * 1
        y = square(T, save=save, load=load).apply(h)
        h.mul_(10)
        y.sum().backward()
        return x.grad.tolist()

    lines = (f"SquareBackward saved it as .{re.escape(attribute)}.", "changed at " + here("h.mul_(10)"),
             rf"saved at {re.escape(__file__)}:\d+, in .*Square.forward")  # fmt: skip
    grad = told(T, program, "modified by an inplace operation", *lines)
    assert grad == ([20, 40] if silent_on(T) else None)  # [2, 4] is right
    assert silent_on(T) or x.grad is None


@pytest.mark.parametrize("keep", [True, False])
def test_2_it_is_changed_through_numpy(T, leaf, keep):
    w = leaf([1.0, 1.0])

    def program():
        x = T.ones(2, dtype=T.float64)
        y = (w * x).sum()
        a = x.numpy()
        a[0] = 5.0
        if not keep:
            del a
        y.backward()
        return w.grad.tolist()

    grad = told(T, program, "written through an array over its memory", "MulBackward0 saved it as",
                "handed out at " + here("a = x.numpy()"))  # fmt: skip
    assert grad == ([5, 1] if silent_on(T) else None)


def test_2_what_was_written_before_it_was_saved_is_fine(T, leaf):
    x, w = T.ones(2, dtype=T.float64), leaf([1.0, 1.0])
    a = x.numpy()
    a[0] = 5.0
    (w * x).sum().backward()
    assert w.grad.tolist() == [5, 1]


# ---- 3: backward changes its grad_output -----------------------------------------------------------------

CHANGES = {
    "g.mul_(2)": lambda g: g.mul_(2),
    "g[...] = 0": lambda g: g.__setitem__(..., 0) or g,
    "g += 1": lambda g: g.__iadd__(1),
    "a view": lambda g: g[:1].mul_(5) + g,
    "a detached alias": lambda g: g.detach().mul_(3) + g,
    "g.numpy()[...] = 7": lambda g: g.detach().numpy().fill(7) or g,
}


def changing(T, change, attribute=False):
    class Careless(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            if attribute:
                ctx.x = x
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return change(g)

    return Careless


@pytest.mark.parametrize("recorded", [False, True])
@pytest.mark.parametrize("watched", [False, True])
@pytest.mark.parametrize("attribute", [False, True])
@pytest.mark.parametrize("name", CHANGES)
def test_3_a_sibling_gets_what_backward_made_of_its_grad_output(T, leaf, name, recorded, watched, attribute):
    x, w = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    change = CHANGES[name]

    def program():
        h = w * 1
        with T.autograd.set_detect_anomaly(watched and not silent_on(T)):
            y = changing(T, change, attribute).apply(x) + h  # both branches are given the same memory
            T.autograd.backward(y * 1, T.ones(2, dtype=T.float64), create_graph=recorded)
        return w.grad.tolist()

    grad = told(T, program, "CarelessBackward: backward changed its grad_output in place", r"clone\(\) it first",
                f"at {re.escape(__file__)}")  # fmt: skip
    assert silent_on(T) or (x.grad is None and w.grad is None)
    assert grad is None or len(grad) == 2  # right would be [1, 1]


def test_3_memory_that_is_shared_through_a_view():
    x, w = gradwright.ones(2, requires_grad=True), gradwright.ones(2, 1, requires_grad=True)
    h = w * 1
    with pytest.raises(RuntimeError, match="backward changed its grad_output in place"):
        (changing(gradwright, CHANGES["g.mul_(2)"]).apply(x).view(2, 1) + h).mul(2.0).backward(gradwright.ones(2, 1))
    assert w.grad is None


def test_3_is_silent_there(torch):
    x, w = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    (w * 1 + changing(torch, CHANGES["g.mul_(2)"]).apply(x)).mul(1).backward(torch.ones(2))
    assert w.grad.tolist() == [2, 2]


@pytest.mark.parametrize("change", [lambda g: g.clone().mul_(2), lambda g: (g * 1).add_(g), lambda g: g + g])
def test_3_a_copy_may_be_changed(T, leaf, change):
    x, w = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    (changing(T, change).apply(x) + w).sum().backward()
    assert x.grad.tolist() == [2, 2]
    assert w.grad.tolist() == [1, 1]


@pytest.mark.parametrize("change", [lambda g: g.mul_(2), lambda g: g.__iadd__(g), lambda g: g.__setitem__(..., 4) or g])
@pytest.mark.parametrize("watched", [False, True])
@pytest.mark.parametrize("attribute", [False, True])
def test_3_and_so_may_a_grad_output_that_nobody_shares(T, leaf, change, watched, attribute):
    x = leaf([1.0, 2.0])
    with T.autograd.set_detect_anomaly(watched):
        (changing(T, change, attribute).apply(x) * T.full((2,), 2.0, dtype=T.float64)).sum().backward()
    assert x.grad.tolist() == [4, 4]


def test_3_nor_once_tensors_have_gone_between_libraries(monkeypatch):
    monkeypatch.setattr(passes, "mixed", True)
    x = gradwright.ones(2, requires_grad=True)
    (changing(gradwright, CHANGES["g.mul_(2)"]).apply(x) * gradwright.full((2,), 2.0)).sum().backward()
    assert x.grad.tolist() == [4, 4]


def test_3_a_number(T, leaf):
    x, w = leaf(1.0), leaf(3.0)
    (changing(T, lambda g: g * 2).apply(x) + w).backward()
    x.grad = w.grad = None
    y = changing(gradwright, lambda g: g.mul_(2)).apply(gradwright.ones((), requires_grad=True))
    y.backward()


def test_3_what_the_caller_gave_stays_shared():
    x, v = gradwright.ones(2, requires_grad=True), gradwright.ones(2)
    with pytest.raises(RuntimeError, match="changed its grad_output in place"):
        changing(gradwright, CHANGES["g.mul_(2)"]).apply(x).backward(v)


def test_3_several_outputs(T, leaf):
    class Two(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1, x * 2

        @staticmethod
        def backward(ctx, g, h):
            return g.add_(h * 2)

    x, w = leaf([1.0, 2.0]), leaf([1.0, 1.0])
    two = T.full((2,), 2.0, dtype=T.float64)
    a, b = Two.apply(x)
    (a * two + b * two).sum().backward()
    assert x.grad.tolist() == [6, 6]
    x.grad = None

    def program():
        h = w * 1
        a, b = Two.apply(x)
        (((h + a) * two).sum() + b.sum()).backward()

    told(T, program, "TwoBackward: backward changed its grad_output in place", here("return g.add_(h * 2)"))


# ---- 4: a returned gradient of another shape or dtype ----------------------------------------------------


@pytest.mark.parametrize(("change", "line"), [
    (lambda g: g.reshape(3, 1).expand(3, 2), r"of shape \[3, 2\] for input 1 \('bias'\) of shape \[2\]"),
    (lambda g: g.sum().float().expand(2), "of torch.float32 for input 1 \\('bias'\\) of torch.float64"),
])  # fmt: skip
def test_4_a_gradient_of_another_shape_or_dtype(T, leaf, change, line):
    class Add(T.autograd.Function):
        @staticmethod
        def forward(ctx, x, bias):
            return x + bias.sum()

        @staticmethod
        def backward(ctx, g):
            return g, change(g)

    x, bias = leaf([1.0, 2.0, 3.0]), leaf([1.0, 2.0])
    if silent_on(T):
        Add.apply(x, bias).sum().backward()
        return
    with pytest.warns(gradwright.GradientWarning, match=line) as found:
        Add.apply(x, bias).sum().backward()
    assert re.search(rf"backward is at {re.escape(__file__)}:\d+", str(found[0].message))
    with gradwright.autograd.strict(True):
        told(T, lambda: Add.apply(x, bias).sum().backward(), line, "return grad.(sum_to_size|to)")


# ---- 5: forward uses a tensor that is no argument --------------------------------------------------------


def test_5_a_captured_tensor(T, leaf):
    scale = leaf([2.0, 3.0])

    class Scale(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * scale

        @staticmethod
        def backward(ctx, g):
            return g * scale

    x = leaf([1.0, 2.0])
    if silent_on(T):
        Scale.apply(x).sum().backward()
        assert scale.grad is None
        return
    with pytest.warns(gradwright.errors.CapturedTensor, match="Scale: forward uses 'scale', which requires") as found:
        Scale.apply(x)
    assert re.search("used at " + here("return x * scale"), str(found[0].message))
    with gradwright.autograd.strict(True):
        told(T, lambda: Scale.apply(x), "no argument of it")


# ---- 7: forward changes an input and does not say so -----------------------------------------------------

WRITES = {
    "x.mul_(3)": lambda x: x.mul_(3),
    "x += 1": lambda x: x.__iadd__(1),
    "x[0] = 0": lambda x: x.__setitem__(0, 0.0),
    "a view of x": lambda x: x[1:].zero_(),
    "x.detach()": lambda x: x.detach().add_(1),
    "numpy": lambda x: x.detach().numpy().fill(3),
}


def writing(T, write, result):
    class Scale(T.autograd.Function):
        @staticmethod
        def forward(ctx, factor, data, *more):
            write(data)
            return result(data)

        @staticmethod
        def backward(ctx, g):
            return None, g * 3, None

    return Scale


@pytest.mark.parametrize("returned", ["x", "view of x", "another"])
@pytest.mark.parametrize("name", WRITES)
def test_7_forward_changes_an_input(T, leaf, name, returned):
    x = leaf([1.0, 2.0])
    result = {"x": lambda x: x, "view of x": lambda x: x.view(-1), "another": lambda x: x * 1}[returned]

    def program():
        h = x * 1
        y = writing(T, WRITES[name], result).apply(2.0, h, None)
        return y, h

    told(T, program, "Scale: forward changed its input 'data' in place and did not say so", f"at {re.escape(__file__)}",
         r"ctx.mark_dirty\(data\) and return data")  # fmt: skip
    assert x.grad is None


def test_7_is_silent_there(torch):
    x = torch.ones(2, requires_grad=True)
    h = x * 1
    y = writing(torch, lambda x: x.mul_(3), lambda x: x * 1).apply(2.0, h, None)
    (y + h).sum().backward()  # h is 3x by now, but does not know: 4 is wrong, 12 is right
    assert x.grad.tolist() == [4, 4]


def test_7_the_argument_is_named():
    class Variadic(gradwright.autograd.Function):
        @staticmethod
        def forward(factor, *xs):
            xs[2].mul_(factor)
            return xs[0] * 1

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.n = len(inputs)

        @staticmethod
        def backward(ctx, g):
            return g

    xs = [gradwright.ones(2, requires_grad=True) * 1 for _ in range(3)]
    with pytest.raises(RuntimeError, match=r"Variadic: forward changed its input 'xs\[2\]'") as error:
        Variadic.apply(2.0, *xs)
    assert re.search("changed at " + here("xs[2].mul_(factor)"), str(error.value))


def test_7_one_that_needs_no_gradient_but_is_returned():
    x, w = gradwright.ones(2), gradwright.ones(2, requires_grad=True)

    class Into(gradwright.autograd.Function):
        @staticmethod
        def forward(ctx, x, w):
            x.mul_(w)
            return x

        @staticmethod
        def backward(ctx, g):
            return None, g

    with pytest.raises(RuntimeError, match="Into: forward changed its input 'x' in place"):
        Into.apply(x, w)


def test_7_buffers_may_be_changed(T, leaf):
    class Normalize(T.autograd.Function):
        @staticmethod
        def forward(ctx, x, running_mean):
            running_mean.mul_(0.9).add_(0.1 * x.mean())
            return x - x.mean()

        @staticmethod
        def backward(ctx, g):
            return g - g.mean(), None

    x, mean = leaf([1.0, 3.0]), T.zeros((), dtype=T.float64)
    Normalize.apply(x, mean)[0].backward()
    assert mean.item() == pytest.approx(0.2)
    assert x.grad.tolist() == [0.5, -0.5]


def test_7_what_is_declared_or_not_recorded_may_be_changed(T, leaf):
    class Declares(T.autograd.Function):
        @staticmethod
        def forward(ctx, x, same):
            x.mul_(3)
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def backward(ctx, g):
            return g * 3, None

    x = leaf([1.0, 2.0])
    h = x * 1
    h.detach().numpy()  # has been handed out, but nobody writes through it
    Declares.apply(h, h.detach()).sum().backward()
    assert x.grad.tolist() == [3, 3]
    with T.no_grad():
        y = writing(T, lambda x: x.mul_(3), lambda x: x).apply(2.0, x * 1, None)
    assert y.tolist() == [3, 6]


# ---- 12: which line was it? ------------------------------------------------------------------------------


def test_12_both_lines(T, leaf):
    x = leaf([1.0, 2.0])

    def program():
        y = x.exp()
        z = y * y
        y[0] = 0.0
        z.sum().backward()

    with pytest.raises(RuntimeError, match="has been modified by an inplace operation") as error:
        program()
    if silent_on(T):
        assert "y[0]" not in str(error.value)
        return
    assert re.search("changed at " + here("y[0] = 0.0"), str(error.value))
    assert "saved at a line that gradwright.autograd.detect_anomaly() would note" in str(error.value)
    with pytest.raises(RuntimeError) as error, gradwright.autograd.detect_anomaly():
        program()
    assert re.search("changed at " + here("y[0] = 0.0"), str(error.value))
    assert re.search("saved at " + here("z = y * y"), str(error.value))


# ---- 13: the first operation that made a NaN -------------------------------------------------------------


def test_13_the_first_operation_that_made_it(T, leaf):
    x = leaf([1.0, -1.0, 4.0])

    def program():
        y = (x - 1) * 0
        z = y / y.detach()
        z.sum().backward()
        return x.grad.isnan().tolist()

    with T.autograd.set_detect_anomaly(not silent_on(T)):  # with it, PyTorch names the last operation instead
        grad = told(T, program, "(?i)div", here("z = y / y.detach()"))
    assert grad == ([True] * 3 if silent_on(T) else None)


# ---- 14: what keeps itself alive -------------------------------------------------------------------------


def test_14_outputs_on_ctx(no_gc, T):
    class Exp(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.y = x.exp()
            return ctx.y

        @staticmethod
        def backward(ctx, g):
            return g * ctx.y

    y = Exp.apply(T.ones(3, requires_grad=True))
    y.sum().backward()
    output = weakref.ref(y)
    del y
    assert (output() is None) is not silent_on(T)


def test_14_gradients_of_gradients(no_gc, T):
    x = T.ones(3, requires_grad=True)
    y = x.exp()
    y.sum().backward(create_graph=True)
    result = weakref.ref(y.grad_fn) if T is gradwright else weakref.ref(y)
    leaf = weakref.ref(x)
    del x, y
    if T is gradwright:
        assert result() is None
        assert leaf() is None


# ---- 18: the wrong number of gradients -------------------------------------------------------------------


def test_18_too_few_gradients(T, leaf):
    def define():
        class Scale(T.autograd.Function):
            @staticmethod
            def forward(ctx, x, weight):
                return x * weight

            @staticmethod
            def backward(ctx, g):
                return (g,)

        return Scale

    if silent_on(T):
        y = define().apply(leaf(1.0), leaf(2.0))
        with pytest.raises(RuntimeError, match=r"incorrect number of gradients \(expected 2, got 1\)"):
            y.backward()
        return
    with pytest.raises(TypeError, match=r"Scale: backward returns 1 gradient, but forward takes 2 inputs \(x, wei"):
        define()


def test_18_arguments_are_named(T, leaf):
    class Scale(T.autograd.Function):
        @staticmethod
        def forward(ctx, x, weight):
            return x * weight

        @staticmethod
        def backward(ctx, g):
            return tuple([g] * 3)

    with pytest.raises(RuntimeError, match=r"incorrect number of gradients \(expected 2, got 3\)") as error:
        Scale.apply(leaf(1.0), leaf(2.0)).backward()
    assert silent_on(T) or "(x, weight)" in str(error.value)


# ---- 19: needs_input_grad ---------------------------------------------------------------------------------


def test_19_what_this_pass_needs(T, leaf):
    seen = []

    class Product(T.autograd.Function):
        @staticmethod
        def forward(ctx, a, k, b):
            ctx.save_for_backward(a, b)
            return a * b * k

        @staticmethod
        def backward(ctx, g):
            seen.append(ctx.needs_input_grad)
            a, b = ctx.saved_tensors
            return g * b, None, g * a

    a, b = leaf(1.0), leaf(2.0)
    y = Product.apply(a * 1, 1.0, b)
    T.autograd.grad(y, a, retain_graph=True)
    T.autograd.grad(y, b, retain_graph=True)
    y.backward(inputs=[a], retain_graph=True)
    T.autograd.grad(y, (a, b), create_graph=True)
    y.backward()
    both = (True, False, True)
    ours = [(True, False, False), (False, False, True), (True, False, False), both, both]
    assert seen == ([both] * 5 if silent_on(T) else ours)
    assert (a.grad.item(), b.grad.item()) == (4, 1)


# ---- 21: backward cuts the gradient off -------------------------------------------------------------------

CUTS = {
    "detach()": lambda x: 3 * x.detach() ** 2,
    ".data": lambda x: 3 * x.data**2,
    "numpy()": lambda x: x.detach().new_tensor(3 * x.detach().numpy() ** 2),
}


@pytest.mark.parametrize("name", CUTS)
def test_21_a_backward_that_cuts_off(T, leaf, name):
    class Cube(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx, g):
            return g * CUTS[name](ctx.saved_tensors[0])

    x, v = leaf([0.5, -1.0]), leaf([1.0, 1.0])

    def program():
        (g,) = T.autograd.grad(Cube.apply(x), x, v, create_graph=True)
        assert g.tolist() == [0.75, 3]
        return T.autograd.grad(g.sum(), x, allow_unused=True)

    lines = (f"CubeBackward cut the gradient off with {re.escape(name)}",
             rf"{re.escape(__file__)}:\d+: \"{re.escape(name)}", "once_differentiable")  # fmt: skip
    assert told(T, program, *lines) == ((None,) if silent_on(T) else None)  # the right answer is 6x
