// gradwright/elementwise.h: operations given as one expression for an entry, with its derivatives.
//
//     GRADWRIGHT_ELEMENTWISE(square, x * x, 2 * x, 2.0)
//
// makes `square` for Python, a custom_op on float32 and float64 tensors of any shape and strides: the value, its first
// derivative by x, its second, and so on, as many as are given, up to four. Of two inputs, which broadcast:
//
//     GRADWRIGHT_ELEMENTWISE_BINARY(scaled, x * exp(y), exp(y), x * exp(y))
//
// the value and the derivatives by x and by y; optionally then those by xx, xy and yy. A derivative that is needed and
// not given is an error. An expression with commas outside parentheses goes in parentheses.
//
// x and y are `Real<T>`, a number of the tensor's dtype, whatever it is combined with: 1.702 * x does not become a
// double because 1.702 is one. But 1 / 3 has neither in it, and is 0 in C++: that is refused. The functions below are found without std::. The loops are vectorised, exp and its
// kind included where the C library has vector forms of them (glibc's libmvec, within 4 ulp), and run in several
// threads from 131,072 entries on.
#pragma once

// The vector forms that glibc's libmvec has. Declared here because <math.h> does so under -ffast-math alone, which
// would change the results.
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
#  define GRADWRIGHT_VECTOR(fn)                                                                                        \
      extern "C" __attribute__((__simd__("notinbranch"))) double fn(double) noexcept;                                  \
      extern "C" __attribute__((__simd__("notinbranch"))) float fn##f(float) noexcept;
GRADWRIGHT_VECTOR(exp)
GRADWRIGHT_VECTOR(log)
GRADWRIGHT_VECTOR(sin)
GRADWRIGHT_VECTOR(cos)
#  if __GLIBC_PREREQ(2, 35)
GRADWRIGHT_VECTOR(tan)
GRADWRIGHT_VECTOR(asin)
GRADWRIGHT_VECTOR(acos)
GRADWRIGHT_VECTOR(atan)
GRADWRIGHT_VECTOR(sinh)
GRADWRIGHT_VECTOR(cosh)
GRADWRIGHT_VECTOR(tanh)
GRADWRIGHT_VECTOR(asinh)
GRADWRIGHT_VECTOR(acosh)
GRADWRIGHT_VECTOR(atanh)
GRADWRIGHT_VECTOR(exp2)
GRADWRIGHT_VECTOR(expm1)
GRADWRIGHT_VECTOR(log1p)
GRADWRIGHT_VECTOR(log2)
GRADWRIGHT_VECTOR(log10)
GRADWRIGHT_VECTOR(cbrt)
GRADWRIGHT_VECTOR(erf)
GRADWRIGHT_VECTOR(erfc)
#  endif
#  undef GRADWRIGHT_VECTOR
extern "C" __attribute__((__simd__("notinbranch"))) double pow(double, double) noexcept;
extern "C" __attribute__((__simd__("notinbranch"))) float powf(float, float) noexcept;
#endif

namespace gradwright {
namespace detail {

// A float or a double that stays one when it meets other numbers.
template <class T> struct Real {
    T v;

    Real() = default;
    template <class A, class = std::enable_if_t<std::is_arithmetic_v<A>>> Real(A a) : v(static_cast<T>(a)) {}

    friend Real operator+(Real a) { return a; }
    friend Real operator-(Real a) { return -a.v; }
    friend Real operator+(Real a, Real b) { return a.v + b.v; }
    friend Real operator-(Real a, Real b) { return a.v - b.v; }
    friend Real operator*(Real a, Real b) { return a.v * b.v; }
    friend Real operator/(Real a, Real b) { return a.v / b.v; }
    Real &operator+=(Real b) { return *this = *this + b; }
    Real &operator-=(Real b) { return *this = *this - b; }
    Real &operator*=(Real b) { return *this = *this * b; }
    Real &operator/=(Real b) { return *this = *this / b; }
    friend bool operator==(Real a, Real b) { return a.v == b.v; }
    friend bool operator!=(Real a, Real b) { return a.v != b.v; }
    friend bool operator<(Real a, Real b) { return a.v < b.v; }
    friend bool operator>(Real a, Real b) { return a.v > b.v; }
    friend bool operator<=(Real a, Real b) { return a.v <= b.v; }
    friend bool operator>=(Real a, Real b) { return a.v >= b.v; }

#define GRADWRIGHT_MATH(fn)                                                                                            \
    friend Real fn(Real a) {                                                                                           \
        if constexpr (sizeof(T) == sizeof(float))                                                                      \
            return __builtin_##fn##f(a.v);                                                                             \
        else                                                                                                           \
            return __builtin_##fn(a.v);                                                                                \
    }
    GRADWRIGHT_MATH(exp) GRADWRIGHT_MATH(exp2) GRADWRIGHT_MATH(expm1) GRADWRIGHT_MATH(log) GRADWRIGHT_MATH(log2)
    GRADWRIGHT_MATH(log10) GRADWRIGHT_MATH(log1p) GRADWRIGHT_MATH(sqrt) GRADWRIGHT_MATH(cbrt) GRADWRIGHT_MATH(sin)
    GRADWRIGHT_MATH(cos) GRADWRIGHT_MATH(tan) GRADWRIGHT_MATH(asin) GRADWRIGHT_MATH(acos) GRADWRIGHT_MATH(atan)
    GRADWRIGHT_MATH(sinh) GRADWRIGHT_MATH(cosh) GRADWRIGHT_MATH(tanh) GRADWRIGHT_MATH(asinh) GRADWRIGHT_MATH(acosh)
    GRADWRIGHT_MATH(atanh) GRADWRIGHT_MATH(erf) GRADWRIGHT_MATH(erfc) GRADWRIGHT_MATH(floor) GRADWRIGHT_MATH(ceil)
    GRADWRIGHT_MATH(trunc) GRADWRIGHT_MATH(round) GRADWRIGHT_MATH(rint) GRADWRIGHT_MATH(fabs) GRADWRIGHT_MATH(lgamma)
    GRADWRIGHT_MATH(tgamma)
#undef GRADWRIGHT_MATH

#define GRADWRIGHT_MATH2(fn)                                                                                           \
    friend Real fn(Real a, Real b) {                                                                                   \
        if constexpr (sizeof(T) == sizeof(float))                                                                      \
            return __builtin_##fn##f(a.v, b.v);                                                                        \
        else                                                                                                           \
            return __builtin_##fn(a.v, b.v);                                                                           \
    }
    GRADWRIGHT_MATH2(pow) GRADWRIGHT_MATH2(atan2) GRADWRIGHT_MATH2(hypot) GRADWRIGHT_MATH2(fmod)
    GRADWRIGHT_MATH2(copysign)
#undef GRADWRIGHT_MATH2

    friend Real abs(Real a) { return fabs(a); }
    friend Real sigmoid(Real a) { return 1 / (1 + exp(-a)); }
    friend Real max(Real a, Real b) { return a.v > b.v || a.v != a.v ? a : b; }  // NaN, if one is
    friend Real min(Real a, Real b) { return a.v < b.v || a.v != a.v ? a : b; }
    template <class I, class = std::enable_if_t<std::is_integral_v<I>>> friend Real pow(Real a, I exponent) {
        const int64_t n = (int64_t) exponent;
        Real power = 1;
        for (uint64_t k = n < 0 ? 0u - (uint64_t) n : (uint64_t) n; k != 0; k >>= 1, a *= a)
            if (k & 1) power *= a;
        return n < 0 ? 1 / power : power;
    }
    friend bool isnan(Real a) { return a.v != a.v; }
    friend bool isinf(Real a) { return __builtin_isinf(a.v); }
    friend bool isfinite(Real a) { return __builtin_isfinite(a.v); }
};

// The values of all expressions; those that are not asked for are never computed.
template <class R, int N> struct Values {
    R at[N];
    static constexpr int count = N;
};
template <class R, class... E> Values<R, sizeof...(E)> values(E... e) { return {{R(e)...}}; }

// out = value number K of E at x and y; but for that of order 0, times u, which then is the first of the inputs.
template <class E, int K, class T> void loop(const void *const *inputs, void *out, int64_t n) {
    constexpr bool scaled = K > 0;
    const T *__restrict u = static_cast<const T *>(inputs[0]);
    const T *__restrict x = static_cast<const T *>(inputs[scaled]);
    const T *__restrict y = static_cast<const T *>(inputs[scaled + E::inputs - 1]);
    T *__restrict to = static_cast<T *>(out);
    for (int64_t i = 0; i < n; ++i) {
        const T value = E::all(Real<T>(x[i]), Real<T>(y[i])).at[K].v;
        to[i] = scaled ? u[i] * value : value;
    }
}

constexpr int orders[][2] = {{0, 0}, {1, 0}, {0, 1}, {2, 0}, {1, 1}, {0, 2}};

template <class E, class = std::make_index_sequence<decltype(E::all(Real<float>(), Real<float>()))::count>> struct Table;
template <class E, size_t... K> struct Table<E, std::index_sequence<K...>> {
    static constexpr int count = sizeof...(K);
    static_assert(count > 0 && (E::inputs == 1 ? count <= 5 : count == 1 || count == 3 || count == 6),
                  "the value and up to four derivatives; or, of two inputs, the value, those by x and y, and those by "
                  "xx, xy and yy");
    static constexpr Term terms[] = {
        {{E::inputs == 1 ? (int) K : orders[K][0], E::inputs == 1 ? 0 : orders[K][1]},
         {loop<E, K, float>, loop<E, K, double>}}...};
};

template <class E>
constexpr Definition elementwise(const char *name, const char *arguments, const char *file, int line,
                                 const char *expressions) {
    Definition d{Definition::elementwise, name, arguments, file, line};
    d.doc = expressions;
    d.count = E::inputs;
    d.terms = Table<E>::terms;
    d.terms_count = Table<E>::count;
    return d;
}

}  // namespace detail
}  // namespace gradwright

// Of one input the second parameter has no name, so that a y in an expression is an error, not a second x.
#define GRADWRIGHT_ELEMENTWISE(name, ...) GRADWRIGHT_ELEMENTS(name, 1, "x", , __VA_ARGS__)
#define GRADWRIGHT_ELEMENTWISE_BINARY(name, ...) GRADWRIGHT_ELEMENTS(name, 2, "x, y", y, __VA_ARGS__)
#define GRADWRIGHT_ELEMENTS(name, n, arguments, second, ...)                                                           \
    struct gradwright_elements_##name {                                                                                \
        static constexpr int inputs = n;                                                                               \
        template <class R> static auto all([[maybe_unused]] R x, [[maybe_unused]] R second) {                          \
            return ::gradwright::detail::values<R>(__VA_ARGS__);                                                       \
        }                                                                                                              \
    };                                                                                                                 \
    GRADWRIGHT_REGISTER(::gradwright::detail::elementwise<gradwright_elements_##name>(#name, arguments, __FILE__,      \
                                                                                      __LINE__, #__VA_ARGS__))
