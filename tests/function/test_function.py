"""The contract of `Function`, one clause a test: its forms and its arguments.

Outputs: test_function_outputs.py and test_function_declarations.py; ctx, and the gradients that backward returns:
test_context.py.
"""

import pytest

import gradwright

# ---- the usual form --------------------------------------------------------------------------------------


def test_forward_and_backward(T, leaf):
    class Square(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return 2 * g * x

    x = leaf([1.0, 2.0])
    y = Square.apply(x)
    assert y.requires_grad
    assert type(y.grad_fn).__name__ == "SquareBackward"
    assert repr(y).endswith("grad_fn=<SquareBackward>)")
    assert y.grad_fn.next_functions[0][0].variable is x
    (g,) = T.autograd.grad(y.sum(), x, create_graph=True)
    assert g.tolist() == [2, 4]
    assert T.autograd.grad(g.sum(), x)[0].tolist() == [2, 2]


def test_nothing_is_recorded_where_nothing_requires_grad(T, leaf):
    ctxs = []

    class F(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctxs.append(ctx)
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    y = F.apply(T.ones(2))
    assert not y.requires_grad
    assert ctxs[0].needs_input_grad == (False,)
    with T.no_grad():
        assert not F.apply(leaf([1.0])).requires_grad
    assert ctxs[1].needs_input_grad == (True,)


def test_the_old_style_is_refused(T):
    class OldStyle(T.autograd.Function):
        def __init__(self, k=1):
            self.k = k

        def forward(self, x):
            return x * self.k

    message = "Legacy autograd function with non-static forward method is deprecated. Please use new-style autograd"
    with pytest.raises(RuntimeError, match=message):
        OldStyle(5)(T.ones(2))
    with pytest.raises(AttributeError, match="'OldStyleBackward' object has no attribute 'k'"):
        OldStyle.apply(T.ones(2))


def test_it_cannot_be_instantiated():
    class F(gradwright.autograd.Function):
        pass

    with pytest.raises(RuntimeError, match=r"write F\.apply\(\.\.\.\) instead of F\(\.\.\.\)"):
        F()


def test_staticmethod_may_be_forgotten(T, leaf):
    class Double(T.autograd.Function):
        def forward(ctx, x):
            return x * 2

        def backward(ctx, g):
            return g * 2

    x = leaf(1.0)
    Double.apply(x).backward()
    assert x.grad.item() == 2


def test_what_is_not_written(T, leaf):
    class Empty(T.autograd.Function):
        pass

    class OneWay(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

    with pytest.raises(NotImplementedError, match="You must implement the forward function for custom autograd"):
        Empty.apply(leaf(1.0))
    y = OneWay.apply(leaf(1.0))
    assert y.item() == 2
    with pytest.raises(NotImplementedError, match="You must implement either the backward or vjp method for your"):
        y.backward()


def test_inheritance(T, leaf):
    class Scale(T.autograd.Function):
        factor = 3.0

        @classmethod
        def scaled(cls, x):
            return cls.apply(x)

        @staticmethod
        def forward(ctx, x):
            ctx.factor = Scale.factor
            return x * ctx.factor

        @staticmethod
        def backward(ctx, g):
            return g * ctx.factor

    class Wrong(Scale):
        @staticmethod
        def backward(ctx, g):
            return g * 0

    for cls, expected in ((Scale, 3), (Wrong, 0)):
        x = leaf(1.0)
        y = cls.scaled(x)
        assert type(y.grad_fn).__name__ == f"{cls.__name__}Backward"
        y.backward()
        assert x.grad.item() == expected


def test_vjp_is_another_name_of_backward(T, leaf):
    class F(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def vjp(ctx, g):
            return g * 2

    class Both(F):
        @staticmethod
        def backward(ctx, g):
            return g

    x = leaf(1.0)
    F.apply(x).backward()
    assert x.grad.item() == 2
    message = "Implementing both 'backward' and 'vjp' for a custom Function is not allowed."
    with pytest.raises(RuntimeError, match=message):
        Both.apply(x).backward()


# ---- the form with setup_context -------------------------------------------------------------------------


def test_setup_context(T, leaf):
    class Scaled(T.autograd.Function):
        @staticmethod
        def forward(x, factor):
            assert not T.is_grad_enabled()
            return x * factor, x + factor

        @staticmethod
        def setup_context(ctx, inputs, output):
            x, ctx.factor = inputs
            ctx.save_for_backward(x, output[0])

        @staticmethod
        def backward(ctx, g, h):
            x, out = ctx.saved_tensors
            assert out.tolist() == (x * ctx.factor).tolist()
            return g * ctx.factor + h, None

    x = leaf([1.0, 2.0])
    a, b = Scaled.apply(x, 3.0)
    (a * 10 + b).sum().backward()
    assert x.grad.tolist() == [31, 31]


def test_setup_context_with_keywords(T, leaf):
    class Scaled(T.autograd.Function):
        @staticmethod
        def forward(x, factor=2.0, offset=0.0):
            return x * factor + offset

        @staticmethod
        def setup_context(ctx, inputs, output):
            _, ctx.factor, _ = inputs

        @staticmethod
        def backward(ctx, g):
            return g * ctx.factor, None, None

    x = leaf(1.0)
    assert Scaled.apply(x, offset=1.0).item() == 3
    Scaled.apply(x, factor=5.0, offset=1.0).backward()
    assert x.grad.item() == 5


def test_setup_context_gets_the_defaults_too(T, leaf):
    seen = []

    class Scaled(T.autograd.Function):
        @staticmethod
        def forward(x, factor=2.0, offset=0.0):
            return x * factor + offset

        @staticmethod
        def setup_context(ctx, inputs, output):
            seen.append(inputs[1:])
            ctx.factor = inputs[1]

        @staticmethod
        def backward(ctx, g):
            return g * ctx.factor, None, None

    x = leaf(1.0)
    for out in (Scaled.apply(x), Scaled.apply(x, 3.0), Scaled.apply(x, offset=1.0), Scaled.apply(x, 4.0, 5.0)):
        out.backward()
    assert seen == [(2, 0), (3, 0), (2, 1), (4, 5)]
    assert x.grad.item() == 11
    with pytest.raises(TypeError, match=r"missing (1|a) required.* argument: 'x'"):
        Scaled.apply()


# ---- arguments -------------------------------------------------------------------------------------------


@pytest.fixture
def Linear(T):
    class Linear(T.autograd.Function):
        seen = []

        @staticmethod
        def forward(ctx, input, weight, bias=None):
            ctx.save_for_backward(input, weight, bias)
            output = input.mm(weight.t())
            return output if bias is None else output + bias

        @staticmethod
        def backward(ctx, g):
            Linear.seen.append(ctx.needs_input_grad)
            input, weight, bias = ctx.saved_tensors
            grads = [None, None, None]
            if ctx.needs_input_grad[0]:
                grads[0] = g.mm(weight)
            if ctx.needs_input_grad[1]:
                grads[1] = g.t().mm(input)
            if bias is not None and ctx.needs_input_grad[2]:
                grads[2] = g.sum(0)
            return tuple(grads)

    return Linear


def test_an_optional_argument(T, leaf, Linear):
    x, w, b = leaf([[1.0, 2.0]]), leaf([[3.0, 4.0]]), leaf([5.0])
    Linear.apply(x, w).backward()
    assert x.grad.tolist() == [[3, 4]]
    assert w.grad.tolist() == [[1, 2]]
    Linear.apply(x, w, None).backward()
    Linear.apply(x, w, b).backward()
    assert b.grad.tolist() == [1]
    assert Linear.seen == [(True, True), (True, True, False), (True, True, True)]


def test_keywords(T, leaf, Linear):
    x, w, b = leaf([[1.0, 2.0]]), leaf([[3.0, 4.0]]), leaf([5.0])
    Linear.apply(x, weight=w).backward()
    Linear.apply(bias=b, weight=w, input=x).backward()
    assert x.grad.tolist() == [[6, 8]]
    assert b.grad.tolist() == [1]
    with pytest.raises(TypeError, match="unexpected keyword argument 'other'"):
        Linear.apply(x, w, other=1)
    with pytest.raises(TypeError, match=r"missing (a|1) required"):
        Linear.apply(x)


def test_only_what_requires_grad_needs_a_gradient(T, leaf, Linear):
    x, w = leaf([[1.0, 2.0]]), T.tensor([[3.0, 4.0]], dtype=T.float64)
    Linear.apply(x, w).backward()
    assert Linear.seen == [(True, False)]
    assert x.grad.tolist() == [[3, 4]]


def test_arguments_that_are_no_tensors(T, leaf):
    class F(T.autograd.Function):
        @staticmethod
        def forward(ctx, x, text, number, function, nothing, many):
            assert (text, number, nothing, many) == ("text", 3, None, [1, {"k": 2}])
            return function(x) * number

        @staticmethod
        def backward(ctx, g):
            assert ctx.needs_input_grad == (True, False, False, False, False, False)
            return g * 3, None, None, None, None, None

    x = leaf(2.0)
    F.apply(x, "text", 3, lambda t: t + 1, None, [1, {"k": 2}]).backward()
    assert x.grad.item() == 3


def test_only_tensors_have_edges(T, leaf):
    class F(T.autograd.Function):
        @staticmethod
        def forward(ctx, x, number, plain, y):
            return x + y

        @staticmethod
        def backward(ctx, g):
            return g, None, None, g

    x, y = leaf(1.0), leaf(2.0)
    edges = F.apply(x, 3, T.ones(1), y).grad_fn.next_functions
    assert [None if n is None else n.variable for n, _ in edges] == [x, None, y]


def test_any_number_of_arguments(T, leaf):
    class Sum(T.autograd.Function):
        @staticmethod
        def forward(ctx, *xs):
            ctx.n = len(xs)
            return sum(xs[1:], start=xs[0] * 1)

        @staticmethod
        def backward(ctx, g):
            return (g,) * ctx.n

    xs = [leaf(float(k)) for k in range(5)]
    Sum.apply(*xs).backward()
    assert [x.grad.item() for x in xs] == [1] * 5


def test_the_same_tensor_twice(T, leaf):
    class Product(T.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.save_for_backward(x, y)
            return x * y

        @staticmethod
        def backward(ctx, g):
            x, y = ctx.saved_tensors
            return g * y, g * x

    x = leaf(3.0)
    Product.apply(x, x).backward()
    assert x.grad.item() == 6


def test_integer_inputs_need_no_gradient(T, leaf):
    class Pick(T.autograd.Function):
        @staticmethod
        def forward(ctx, x, index):
            ctx.save_for_backward(index)
            return x[index]

        @staticmethod
        def backward(ctx, g):
            (index,) = ctx.saved_tensors
            assert ctx.needs_input_grad == (True, False)
            return T.zeros(3, dtype=g.dtype).scatter_add(0, index, g), None

    x = leaf([1.0, 2.0, 3.0])
    Pick.apply(x, T.tensor([0, 2, 2])).sum().backward()
    assert x.grad.tolist() == [1, 0, 2]


def test_views_are_arguments_like_any_other(T, leaf):
    class Double(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    x = leaf([1.0, 2.0])
    y = x * 1
    v = y[1:]
    y.mul_(3)
    Double.apply(v).sum().backward()
    assert x.grad.tolist() == [0, 6]


def test_apply_keeps_the_docstring_useful():
    assert "forward" in gradwright.autograd.Function.apply.__doc__


@pytest.mark.parametrize(("keywords", "words"), [
    ({"x": 1, "y": 1}, r"forward\(\) got an unexpected keyword argument 'y'$"),
    ({"x": 1, "k": 2, "z": 3}, r"forward\(\) got an unexpected keyword argument 'z'$"),
    ({}, r"forward\(\) missing 1 required positional argument: 'x'$"),
    ({"k": 2}, r"forward\(\) missing "),
])  # fmt: skip
def test_arguments_that_forward_has_not(T, keywords, words):
    class Power(T.autograd.Function):
        @staticmethod
        def forward(ctx, x, k=2):
            return x**k

        @staticmethod
        def backward(ctx, g):
            return g, None

    with pytest.raises(TypeError, match=words):
        Power.apply(**keywords)


# ---- each subset of keywords, with how many gradients are returned --------------------------------------

SUBSETS = [
    ((), {}, 1), ((5,), {}, 2), ((5, 7), {}, 3), ((), {"a": 5}, 2), ((), {"b": 7}, 3), ((), {"a": 5, "b": 7}, 3),
    ((5,), {"b": 7}, 3), ((), {"b": 7, "a": 5}, 3),
]  # fmt: skip


@pytest.mark.parametrize(("args", "keywords", "needed"), SUBSETS)
@pytest.mark.parametrize("returned", [1, 2, 3, 4])
@pytest.mark.parametrize("setup", [False, True])
@pytest.mark.parametrize("named", [False, True])
def test_each_subset_of_keywords_with_each_number_of_gradients(args, keywords, needed, returned, setup, named):
    def gradients(a, b, g):
        found = (g * a * b, None, None, None)[:returned]
        return found if returned > 1 else found[0]

    class Plain(gradwright.autograd.Function):
        @staticmethod
        def forward(ctx, x, a=1, b=2):
            ctx.a, ctx.b = a, b
            return x * a * b

        @staticmethod
        def backward(ctx, g):
            return gradients(ctx.a, ctx.b, g)

    class Apart(gradwright.autograd.Function):
        @staticmethod
        def forward(x, a=1, b=2):
            return x * a * b

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.a, ctx.b = inputs[1:]

        @staticmethod
        def backward(ctx, g):
            return gradients(ctx.a, ctx.b, g)

    if named and args:
        return
    x = gradwright.tensor([2.0], requires_grad=True)
    first = {"x": x} if named else {}
    out = (Apart if setup else Plain).apply(*(() if named else (x,)), *args, **first, **keywords)
    a, b = keywords.get("a", args[0] if args else 1), keywords.get("b", args[1] if len(args) > 1 else 2)
    assert out.item() == 2 * a * b
    if returned >= (3 if setup else needed):  # setup_context gets the defaults, too
        out.sum().backward()
        assert x.grad.item() == a * b
    else:
        with pytest.raises(RuntimeError, match="incorrect number of gradients"):
            out.sum().backward()
