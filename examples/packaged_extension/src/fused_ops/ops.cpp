#include <gradwright/extension.h>

#include <algorithm>
#include <stdexcept>

// ------------------------------------------------------------------------------------------------------------ mish
// x tanh(softplus(x)). With e = exp(-|x|) nothing overflows. R is a float or a double.

template <class R> R logistic(R x) {
    const R e = exp(-fabs(x));
    return (x > 0 ? R(1) : e) / (1 + e);
}

template <class R> R squashed(R x) {  // tanh(softplus(x))
    const R e = exp(-fabs(x));
    return x > 0 ? (1 + 2 * e) / (1 + 2 * e + 2 * e * e) : e * (e + 2) / (e * (e + 2) + 2);
}

template <class R> R slope(R x) {  // of squashed
    const R t = squashed(x);
    return logistic(x) * (1 - t * t);
}

template <class R> R bend(R x) {  // the slope of slope
    const R t = squashed(x), s = logistic(x);
    return s * (1 - t * t) * (1 - s - 2 * t * s);
}

GRADWRIGHT_ELEMENTWISE(mish, x * squashed(x), squashed(x) + x * slope(x), 2 * slope(x) + x * bend(x))

// ---------------------------------------------------------------------------------------------------------- banded
// A square matrix A is given by the diagonals next to its own: A[i, j] = band[k, i] with j = i + k - lower. What lies
// outside of A is not used. The sum over the band of y[i] A[i, j] x[j] is linear in each of three; the derivative by
// each is a Function, and each one's backward calls the other two: so there are derivatives of every order.

// Calls f(k, i, j) for each entry of A.
template <class F> void entries(int64_t bands, int64_t n, int64_t lower, F f) {
    for (int64_t k = 0; k < bands; ++k) {
        const int64_t shift = k - lower;
        const int64_t end = std::min(n, n - shift);
        for (int64_t i = std::max<int64_t>(0, -shift); i < end; ++i) f(k, i, i + shift);
    }
}

// band and x to y: A x.
struct Product {
    static gw::Tensor forward(gw::Context &ctx, gw::Tensor band, gw::Tensor x, int64_t lower);
    static gw::Tensors backward(gw::Context &ctx, gw::Tensor g);
};

// band and y to x: y A.
struct Transposed {
    static gw::Tensor forward(gw::Context &ctx, gw::Tensor band, gw::Tensor y, int64_t lower);
    static gw::Tensors backward(gw::Context &ctx, gw::Tensor g);
};

// y and x to a band: of y[i] x[j].
struct Outer {
    static gw::Tensor forward(gw::Context &ctx, gw::Tensor y, gw::Tensor x, int64_t lower, int64_t bands);
    static gw::Tensors backward(gw::Context &ctx, gw::Tensor g);
};

// The product with a vector, in which add(to, from, A[i, j], i, j) says what an entry adds where.
template <class F> gw::Tensor product(gw::Context &ctx, gw::Tensor band, gw::Tensor vector, int64_t lower, F add) {
    ctx.save_for_backward(band, vector);
    ctx.attr("lower") = lower;
    return gw::floating(vector, [&](auto zero) -> gw::Tensor {
        gw::Array<decltype(zero), 2> a(band);
        gw::Array<decltype(zero), 1> from(vector);
        from.expect(a.shape(1));
        if (lower < 0 || lower >= a.shape(0))
            throw std::invalid_argument("banded_matvec: lower must be in 0 ... len(band) - 1");
        auto to = gw::zeros_like(from);
        entries(a.shape(0), to.size(), lower, [&](auto k, auto i, auto j) { add(to, from, a(k, i), i, j); });
        return to;
    });
}

gw::Tensor Product::forward(gw::Context &ctx, gw::Tensor band, gw::Tensor x, int64_t lower) {
    return product(ctx, band, x, lower, [](auto &to, auto &from, auto a, auto i, auto j) { to[i] += a * from[j]; });
}

gw::Tensor Transposed::forward(gw::Context &ctx, gw::Tensor band, gw::Tensor y, int64_t lower) {
    return product(ctx, band, y, lower, [](auto &to, auto &from, auto a, auto i, auto j) { to[j] += a * from[i]; });
}

gw::Tensor Outer::forward(gw::Context &ctx, gw::Tensor y, gw::Tensor x, int64_t lower, int64_t bands) {
    ctx.save_for_backward(y, x);
    ctx.attr("lower") = lower;
    return gw::floating(x, [&](auto zero) -> gw::Tensor {
        gw::Array<decltype(zero), 1> a(y), b(x);
        gw::same_shape(b, a);
        auto to = gw::zeros<decltype(zero)>(bands, b.size());
        entries(bands, b.size(), lower, [&](auto k, auto i, auto j) { to(k, i) = a[i] * b[j]; });
        return to;
    });
}

gw::Tensors Product::backward(gw::Context &ctx, gw::Tensor g) {
    auto band = ctx.saved(0), x = ctx.saved(1);
    auto lower = ctx.get<int64_t>("lower");
    return {ctx.needs_input_grad(0) ? gw::apply<Outer>(g, x, lower, band.size(0)) : gw::Tensor(),
            ctx.needs_input_grad(1) ? gw::apply<Transposed>(band, g, lower) : gw::Tensor(), {}};
}

gw::Tensors Transposed::backward(gw::Context &ctx, gw::Tensor g) {
    auto band = ctx.saved(0), y = ctx.saved(1);
    auto lower = ctx.get<int64_t>("lower");
    return {ctx.needs_input_grad(0) ? gw::apply<Outer>(y, g, lower, band.size(0)) : gw::Tensor(),
            ctx.needs_input_grad(1) ? gw::apply<Product>(band, g, lower) : gw::Tensor(), {}};
}

gw::Tensors Outer::backward(gw::Context &ctx, gw::Tensor g) {
    auto y = ctx.saved(0), x = ctx.saved(1);
    auto lower = ctx.get<int64_t>("lower");
    return {ctx.needs_input_grad(0) ? gw::apply<Product>(g, x, lower) : gw::Tensor(),
            ctx.needs_input_grad(1) ? gw::apply<Transposed>(g, y, lower) : gw::Tensor(), {}, {}};
}

GRADWRIGHT_FUNCTION(Product, band, x, lower)
GRADWRIGHT_FUNCTION(Transposed, band, y, lower)
GRADWRIGHT_FUNCTION(Outer, y, x, lower, bands)
