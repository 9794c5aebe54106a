// The extension that the tests share.
#include <gradwright/extension.h>

#include <nanobind/stl/vector.h>

#include <stdexcept>
#include <utility>

gw::Tensor running_sum(gw::Array<double, 1> x) {
    auto y = gw::empty_like(x);
    double total = 0;
    for (int64_t i = 0; i < x.size(); ++i) y[i] = total += x[i];
    return y;
}
GRADWRIGHT_DEF_DOC(running_sum, "The sums of the first entries.", x)

// The address of the first entry: of the array itself, if there is no copy.
int64_t address(gw::Strided<double> x) { return reinterpret_cast<int64_t>(x.data()); }
GRADWRIGHT_DEF(address, x)

double trace(gw::Strided<double, 2> x) {
    double sum = 0;
    for (int i = 0; i < x.shape(0) && i < x.shape(1); ++i) sum += x(i, i);
    return sum;
}
GRADWRIGHT_DEF(trace, x)

void fill(gw::Mutable<double> x, double value) {
    for (double &entry : x) entry = value;
}
GRADWRIGHT_DEF(fill, x, value)

gw::Tensor counts(gw::Array<int64_t> x, std::optional<gw::Array<bool>> where, int times) {
    auto y = gw::zeros<int32_t>(2, 1);
    for (int64_t i = 0; i < x.size(); ++i)
        if (!where || (*where)[i]) y(x[i] > 0 ? 1 : 0, 0) += times;
    return y;
}
GRADWRIGHT_DEF(counts, x, where, times)

gw::Tensor twice(gw::Tensor x) {
    return gw::floating(x, [&](auto zero) -> gw::Tensor {
        using T = decltype(zero);
        gw::Array<T> from(x);
        auto y = gw::empty_like(from);
        for (int64_t i = 0; i < from.size(); ++i) y[i] = 2 * from[i];
        return y;
    });
}
GRADWRIGHT_DEF(twice, x)

double unnamed(double, int n) { return n; }
GRADWRIGHT_DEF(unnamed)

// An array that was given, as it is.
gw::Array<double> same(gw::Array<double> x) { return x; }
GRADWRIGHT_DEF(same, x)

// Keeps its argument until the process ends.
void keep(gw::Tensor x) {
    static gw::Tensor tensor;
    static gw::Array<double> array;
    tensor = x;
    array = gw::Array<double>(x);
}
GRADWRIGHT_DEF(keep, x)

gw::Tensor undefined(int how) {
    const gw::Tensor none;
    if (how == 0) return gw::call("add", none, 1.0);
    if (how == 1) return gw::Array<double>(none);
    return gw::nb::object(none.attr("shape"));
}
GRADWRIGHT_DEF(undefined, how)

double corner(gw::Strided<double> x) {
    x.expect(2, -1);
    return x(0, 0);
}
GRADWRIGHT_DEF(corner, x)

// Arithmetic on tensors, keywords, methods.
gw::Tensor arithmetic(gw::Tensor x, gw::Tensor y, int how) {
    if (how == 0) return 1 - x;
    if (how == 1) return 2.0 * (x * y) / (-x + y) - 1;
    if (how == 2) return x.attr("t")() * y;
    return gw::call(how == 3 ? "sum" : "type_as", x, gw::nb::arg("dim") = 0);
}
GRADWRIGHT_DEF(arithmetic, x, y, how)

std::optional<double> first(gw::Array<double> x) { return x.size() ? std::optional<double>(x[0]) : std::nullopt; }
GRADWRIGHT_DEF(first, x)

std::pair<int, int> pair(int n) { return {n, n}; }
GRADWRIGHT_DEF(pair, n)

double total(const std::vector<double> &y, std::optional<int> n) { return y.empty() ? 0 : y[0] + n.value_or(0); }
GRADWRIGHT_DEF(total, y, n)

// Uses Python in a loop that runs without it.
void unlocked(gw::Tensor x, int how) {
    gw::parallel(1 << 10, [&](int64_t, int64_t) {
        if (how == 0) gw::empty<double>(2);
        if (how == 1) gw::call("neg", x);
        if (how == 2) gw::Array<double> entries(x);
        if (how == 3) gw::is_double(x);
    }, 1);
}
GRADWRIGHT_DEF(unlocked, x, how)

void fails(int how) {
    if (how == 0) throw std::runtime_error("the tank is empty");
    if (how == 1) throw std::invalid_argument("no such tank");
    if (how == 3) throw "the tank leaks";
    if (how == 4) throw 42;
    gw::parallel(1 << 20, [](int64_t, int64_t end) {
        if (end == 1 << 20) throw std::out_of_range("a leak in a thread");
    });
}
GRADWRIGHT_DEF(fails, how)

// How many entries a parallel loop has visited, and whether it ran without the GIL.
gw::Tensor visits(int64_t n) {
    auto y = gw::zeros<double>(n + 1);
    double *to = y.data();
    gw::parallel(n, [=](int64_t begin, int64_t end) {
        if (n > 1 << 17 && PyGILState_Check()) to[n] = 1;
        for (int64_t i = begin; i < end; ++i) to[i] += 1;
    });
    return y;
}
GRADWRIGHT_DEF(visits, n)

// x * x, differentiable any number of times, since its backward is a Function, too.
struct SquareBackward {
    static gw::Tensor forward(gw::Context &ctx, gw::Array<double> g, gw::Array<double> x) {
        gw::same_shape(x, g);
        ctx.save_for_backward(g, x);
        auto y = gw::empty_like(x);
        for (int64_t i = 0; i < x.size(); ++i) y[i] = 2 * g[i] * x[i];
        return y;
    }
    static gw::Tensors backward(gw::Context &ctx, gw::Tensor h) {
        return {gw::apply<SquareBackward>(h, ctx.saved(1)), gw::apply<SquareBackward>(h, ctx.saved(0))};
    }
};
GRADWRIGHT_FUNCTION(SquareBackward, g, x)

struct Square {
    static gw::Tensor forward(gw::Context &ctx, gw::Array<double> x) {
        ctx.save_for_backward(x);
        auto y = gw::empty_like(x);
        for (int64_t i = 0; i < x.size(); ++i) y[i] = x[i] * x[i];
        return y;
    }
    static gw::Tensor backward(gw::Context &ctx, gw::Tensor g) { return gw::apply<SquareBackward>(g, ctx.saved(0)); }
};
GRADWRIGHT_FUNCTION(Square, x)

// factor * x: its backward is made of operations of gradwright's own, and an attribute of ctx.
struct Scale {
    static gw::Tensor forward(gw::Context &ctx, gw::Array<double> x, double factor) {
        ctx.attr("factor") = factor;
        auto y = gw::empty_like(x);
        for (int64_t i = 0; i < x.size(); ++i) y[i] = factor * x[i];
        return y;
    }
    static gw::Tensors backward(gw::Context &ctx, gw::Tensor g) {
        return {gw::call("mul", g, ctx.attr("factor")), {}};
    }
};

namespace library {
// Product and sum. Its backward computes on bare entries, and so has no derivative itself.
struct Both {
    static gw::Tensors forward(gw::Context &ctx, gw::Array<double, 1> x, gw::Array<double, 1> y) {
        gw::same_shape(x, y);
        ctx.save_for_backward(x, y);
        auto product = gw::empty_like(x), sum = gw::empty_like(x);
        for (int64_t i = 0; i < x.size(); ++i) product[i] = x[i] * y[i], sum[i] = x[i] + y[i];
        return {product, sum};
    }
    static gw::Tensors backward(gw::Context &ctx, gw::Array<double, 1> g, gw::Array<double, 1> h) {
        auto x = ctx.saved<gw::Array<double, 1>>(0), y = ctx.saved<gw::Array<double, 1>>(1);
        gw::same_shape(x, g, h);
        gw::Tensor dx, dy;
        if (ctx.needs_input_grad(0)) {
            auto d = gw::empty_like(x);
            for (int64_t i = 0; i < x.size(); ++i) d[i] = g[i] * y[i] + h[i];
            dx = d;
        }
        if (ctx.needs_input_grad(1)) {
            auto d = gw::empty_like(y);
            for (int64_t i = 0; i < x.size(); ++i) d[i] = g[i] * x[i] + h[i];
            dy = d;
        }
        return {dx, dy};
    }
};
}  // namespace library

// Keeps an intermediate, exp(x), which a second derivative cannot see through.
struct Intermediate {
    static gw::Tensor forward(gw::Context &ctx, gw::Array<double> x) {
        auto e = gw::empty_like(x), y = gw::empty_like(x);
        for (int64_t i = 0; i < x.size(); ++i) e[i] = __builtin_exp(x[i]), y[i] = e[i] * e[i];
        ctx.save_for_backward(e);
        return y;
    }
    static gw::Tensor backward(gw::Context &ctx, gw::Tensor g) {
        return gw::call("mul", gw::call("mul", g, 2.0), gw::call("square", ctx.saved(0)));
    }
};

// Reads back what is kept on ctx: a tensor, a number; how says which mistake backward makes.
struct Keeps {
    static gw::Tensor forward(gw::Context &ctx, gw::Array<double> x, int how, std::optional<bool>) {
        ctx.save_for_backward(x);
        ctx.attr("slope") = gw::call("full_like", x, 3.0);
        ctx.attr("how") = how;
        return gw::empty_like(x);
    }
    static gw::Tensors backward(gw::Context &ctx, gw::Tensor g) {
        const int how = ctx.get<int>("how");
        if (how == 1) ctx.saved(1);
        if (how == 2) gw::Array<float> entries(ctx.saved(0));
        const gw::Tensor slope = ctx.attr("slope");
        return {g * slope + ctx.get<gw::Tensor>("slope"), {}, {}};
    }
};
GRADWRIGHT_FUNCTION(Keeps, x, how, flag)

// Saves what it is given, and reads that as doubles in backward.
struct Saves {
    static gw::Tensor forward(gw::Context &ctx, gw::Array<double> x, std::optional<gw::Tensor> saved) {
        ctx.set_materialize_grads(false);
        ctx.save_for_backward(x, saved.value_or(gw::Tensor()));
        return gw::empty_like(x);
    }
    static gw::Tensors backward(gw::Context &ctx, gw::Tensor g) {
        if (!g.defined()) gw::Array<double> entries(g);
        ctx.saved<gw::Array<double>>(1);
        return {g, {}};
    }
};
GRADWRIGHT_FUNCTION(Saves, x, saved)
GRADWRIGHT_FUNCTION(Scale, x, factor)
GRADWRIGHT_FUNCTION(library::Both, x, y)
GRADWRIGHT_FUNCTION(Intermediate, x)

template <class R> R gelu_slope(R x) {
    R s = sigmoid(1.702 * x);
    return s * (1 + 1.702 * x * (1 - s));
}
GRADWRIGHT_ELEMENTWISE(quick_gelu, x *sigmoid(1.702 * x), gelu_slope(x))
GRADWRIGHT_ELEMENTWISE(cube, pow(x, 3), 3 * x * x, 6 * x, 6)
GRADWRIGHT_ELEMENTWISE(soft_relu, x > 0 ? x + 0.5 * x * x : exp(x) - 1, x > 0 ? 1 + x : exp(x), x > 0 ? 1 : exp(x))
GRADWRIGHT_ELEMENTWISE(many, sqrt(abs(x)) + log1p(x * x) + tanh(x) + erf(x) + sin(x) * cos(x) + max(x, 0) - min(x, 1))
GRADWRIGHT_ELEMENTWISE(pow_double, pow(x, 2.5))
GRADWRIGHT_ELEMENTWISE(pow_float, pow(x, 0.5f))
GRADWRIGHT_ELEMENTWISE(pow_negative, pow(x, -0.5))
GRADWRIGHT_ELEMENTWISE(pow_int, pow(x, 3))
GRADWRIGHT_ELEMENTWISE(pow_long, pow(x, -2L))
GRADWRIGHT_ELEMENTWISE(rounded, isnan(x) ? R(-7) : isinf(x) || !isfinite(x) ? R(7) : round(x) + 100 * rint(x) + lgamma(x))
GRADWRIGHT_ELEMENTWISE_BINARY(angles, atan2(y, x) + hypot(x, y) + fmod(x, y) + copysign(x, y) + pow(y, x))
GRADWRIGHT_ELEMENTWISE_BINARY(grown, x *exp(y), exp(y), x *exp(y), 0, exp(y), x *exp(y))

struct Counter {
    int n = 0;
    int next() { return ++n; }
};
GRADWRIGHT_MODULE(m) {
    nanobind::class_<Counter>(m, "Counter").def(nanobind::init<>()).def("next", &Counter::next);
    m.attr("answer") = 42;
}
