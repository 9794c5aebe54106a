// An LLTM, a recurrent cell without a forget gate, in C++: one step of it, as lltm.py has it in Python.
//
// The matrix products stay gradwright's. All else is one loop over the entries of the state: one for the values, one
// for their derivatives, and one for the derivatives of those.
#include <gradwright/extension.h>

#include <cmath>
#include <stdexcept>

template <class T> using Rows = gw::Array<T, 2>;

// What one entry of the state is made of, given its gates before their activations: i = σ(a), o = σ(b), g = elu(c);
// then the new cell is cell + i g, and the new state o tanh(new cell). The primes are derivatives.
template <class T> struct Entry {
    T i, o, g, t, i1, o1, g1, t1;

    Entry(const T *gates, int64_t width, T cell) {
        const T a = gates[0], b = gates[width], c = gates[2 * width], e = std::expm1(c);
        i = 1 / (1 + std::exp(-a)), i1 = i * (1 - i);
        o = 1 / (1 + std::exp(-b)), o1 = o * (1 - o);
        g = c > 0 ? c : e, g1 = c > 0 ? T(1) : e + 1;
        t = std::tanh(cell + i * g), t1 = 1 - t * t;
    }
};

// Calls body(n, m) for each entry n of a state, whose gates are entries m, m + width and m + 2 width of theirs.
template <class T, class Body> void each(const Rows<T> &gates, const Rows<T> &cell, Body &&body) {
    const int64_t rows = cell.shape(0), width = cell.shape(1);
    if (gates.shape(0) != rows || gates.shape(1) != 3 * width)
        throw std::invalid_argument("LLTM: the weights must have 3 rows for each column of the cell, the state as many "
                                    "rows as the cell");
    for (int64_t r = 0; r < rows; ++r)
#pragma GCC ivdep  // no entry depends on another: the loop is vectorised
        for (int64_t k = 0; k < width; ++k) body(r * width + k, r * 3 * width + k);
}

// The gradients by the gates and by the cell, given those by all that LLTM returns.
struct LLTMGradient {
    static gw::Tensors forward(gw::Context &ctx, gw::Tensor grad_h, gw::Tensor grad_cell, gw::Tensor grad_gates,
                               gw::Tensor gates, gw::Tensor cell) {
        ctx.save_for_backward(grad_h, grad_cell, gates, cell);
        return gw::floating(gates, [&](auto zero) -> gw::Tensors {
            using T = decltype(zero);
            const Rows<T> z(gates), c(cell), gh(grad_h), gc(grad_cell), gz(grad_gates);
            gw::same_shape(c, gh, gc);
            gw::same_shape(z, gz);
            auto dz = gw::empty_like(z), dc = gw::empty_like(c);
            const int64_t width = c.shape(1);
            each<T>(z, c, [&](int64_t n, int64_t m) {
                const Entry<T> e(&z[m], width, c[n]);
                dc[n] = gc[n] + gh[n] * e.o * e.t1;
                dz[m] = gz[m] + dc[n] * e.g * e.i1;
                dz[m + width] = gz[m + width] + gh[n] * e.t * e.o1;
                dz[m + 2 * width] = gz[m + 2 * width] + dc[n] * e.i * e.g1;
            });
            return {dz, dc};
        });
    }

    static gw::Tensors backward(gw::Context &ctx, gw::Tensor by_gates, gw::Tensor by_cell) {
        const gw::Tensors saved = ctx.saved_tensors();
        return gw::floating(saved[2], [&](auto zero) -> gw::Tensors {
            using T = decltype(zero);
            const Rows<T> gh(saved[0]), gc(saved[1]), z(saved[2]), c(saved[3]), uz(by_gates), uc(by_cell);
            gw::same_shape(c, uc);
            gw::same_shape(z, uz);
            auto dh = gw::empty_like(c), dg = gw::empty_like(c), dc = gw::empty_like(c), dz = gw::empty_like(z);
            const int64_t width = c.shape(1);
            each<T>(z, c, [&](int64_t n, int64_t m) {
                const Entry<T> e(&z[m], width, c[n]);
                const T a = uz[m], b = uz[m + width], s = uz[m + 2 * width];
                const T g2 = z[m + 2 * width] > 0 ? 0 : e.g1;  // the second derivative of elu
                const T inner = gc[n] + gh[n] * e.o * e.t1;
                const T by_inner = a * e.g * e.i1 + s * e.i * e.g1 + uc[n];
                const T by_t = gh[n] * (b * e.o1 - 2 * by_inner * e.o * e.t);
                dg[n] = by_inner;
                dh[n] = by_inner * e.o * e.t1 + b * e.t * e.o1;
                dc[n] = by_t * e.t1;
                dz[m] = dc[n] * e.g * e.i1 + inner * (a * e.g * e.i1 * (1 - 2 * e.i) + s * e.i1 * e.g1);
                dz[m + width] = gh[n] * e.o1 * (by_inner * e.t1 + b * e.t * (1 - 2 * e.o));
                dz[m + 2 * width] = dc[n] * e.i * e.g1 + inner * (a * e.i1 * e.g1 + s * e.i * g2);
            });
            return {dh, dg, by_gates, dz, dc};
        });
    }
};
GRADWRIGHT_FUNCTION(LLTMGradient, grad_h, grad_cell, grad_gates, gates, cell)

// The gates before their activations are an output as well: backward needs them, and what is returned is known to the
// engine, so that second derivatives see where they come from.
struct LLTM {
    static gw::Tensors forward(gw::Context &ctx, gw::Tensor input, gw::Tensor weights, gw::Tensor bias, gw::Tensor h,
                               gw::Tensor cell) {
        const gw::Tensor x = gw::call("cat", gw::Tensors{h, input}, 1);
        const gw::Tensor gates = gw::call("nn.functional.linear", x, weights, bias);
        ctx.save_for_backward(input, weights, h, cell, gates);
        return gw::floating(gates, [&](auto zero) -> gw::Tensors {
            using T = decltype(zero);
            const Rows<T> z(gates), c(cell);
            auto new_h = gw::empty_like(c), new_cell = gw::empty_like(c);
            each<T>(z, c, [&](int64_t n, int64_t m) {
                const Entry<T> e(&z[m], c.shape(1), c[n]);
                new_h[n] = e.o * e.t;
                new_cell[n] = c[n] + e.i * e.g;
            });
            return {new_h, new_cell, gates};
        });
    }

    static gw::Tensors backward(gw::Context &ctx, gw::Tensor grad_h, gw::Tensor grad_cell, gw::Tensor grad_gates) {
        const gw::Tensors saved = ctx.saved_tensors();
        const gw::Tensor input = saved[0], weights = saved[1], h = saved[2], cell = saved[3], gates = saved[4];
        const gw::Tensors d(gw::apply<LLTMGradient>(grad_h, grad_cell, grad_gates, gates, cell));
        const gw::Tensor d_gates = d[0], d_cell = d[1];
        gw::Tensor d_input, d_weights, d_bias, d_h;
        if (ctx.needs_input_grad(1))
            d_weights = gw::call("mm", gw::call("t", d_gates), gw::call("cat", gw::Tensors{h, input}, 1));
        if (ctx.needs_input_grad(2)) d_bias = gw::call("sum", d_gates, 0);
        if (ctx.needs_input_grad(0) || ctx.needs_input_grad(3)) {
            const gw::Tensor d_x = gw::call("mm", d_gates, weights);
            d_h = gw::call("narrow", d_x, 1, 0, h.size(1));
            d_input = gw::call("narrow", d_x, 1, h.size(1), input.size(1));
        }
        return {d_input, d_weights, d_bias, d_h, d_cell};
    }
};
GRADWRIGHT_FUNCTION(LLTM, input, weights, bias, h, cell)
