// gradwright/extension.h: functions, Functions and elementwise operations of gradwright, written in C++.
//
//     #include <gradwright/extension.h>
//
//     gw::Tensor running_sum(gw::Array<double, 1> x) {
//         auto y = gw::empty_like(x);
//         double total = 0;
//         for (int64_t i = 0; i < x.size(); ++i) y[i] = total += x[i];
//         return y;
//     }
//
//     GRADWRIGHT_DEF(running_sum, x)
//
// One of GRADWRIGHT_DEF (here), GRADWRIGHT_FUNCTION (here), GRADWRIGHT_ELEMENTWISE (elementwise.h) for each thing that
// Python is to see, at namespace scope, in any of the sources; there is no other module definition. For further nanobind
// bindings: GRADWRIGHT_MODULE(m) { m.def(...); }. Compile with -DGRADWRIGHT_EXTENSION_NAME=<the module's name>, and link
// with runtime.cpp and nanobind: gradwright.utils.cpp_extension does both.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>
#include <stdexcept>
#include <string>

#if !defined(GRADWRIGHT_EXTENSION_NAME)
#  error "compile with -DGRADWRIGHT_EXTENSION_NAME=<the name of the module>"
#endif

// What runtime.cpp and bind.py have agreed on: raised when either can no longer do with the other as it was.
#define GRADWRIGHT_PROTOCOL 2

namespace gradwright {

namespace nb = nanobind;

constexpr int max_ndim = 32;

namespace detail {

// An object that is let go if Python has ended before it: it may be in a static variable.
class Object : public nb::object {
  public:
    Object() = default;
    Object(const Object &) = default;
    Object(Object &&) = default;
    Object(const nb::object &o) : nb::object(o) {}
    Object(nb::object &&o) : nb::object(std::move(o)) {}
    Object &operator=(const Object &) = default;
    Object &operator=(Object &&) = default;
    ~Object() {
        if (!Py_IsInitialized()) release();
    }
};

}  // namespace detail

// A gradwright.Tensor with its history: an object of Python's, with attr() and everything else that nb::object has.
// One that was default-constructed is undefined, and None in Python: a gradient that there is not.
class Tensor : public detail::Object {
  public:
    Tensor() : Object(nb::none()) {}
    Tensor(const nb::object &o) : Object(o) {}
    Tensor(nb::object &&o) : Object(std::move(o)) {}
    bool defined() const { return is_valid() && !is_none(); }
    int64_t size(int dim) const { return nb::cast<int64_t>(attr("shape")[dim]); }
};

namespace detail {

// What is asked of an array. kind is NumPy's letter: f, i, u, c or b.
struct Wanted {
    char kind;
    int itemsize, ndim;  // ndim -1: any
    bool contiguous, writable;
};

struct Memory {
    Object array, tensor;  // what keeps it alive, and the Tensor that it is the values of, if there is one
    void *data = nullptr;
    int ndim = 0, index = -1;  // index: as that of import
    int64_t size = 0, shape[max_ndim], strides[max_ndim];  // strides in elements
};

struct Definition;

// The arguments of one call from Python.
struct Arguments {
    const Definition &of;
    const char *method;  // "forward", "backward" or ""
    nb::args values;
    nb::handle operator[](size_t i) const { return values[i]; }
};

// index: which of the arguments the value is; -1 if that is not known, -2 - i for saved tensor i.
Memory import(nb::handle value, Wanted wanted, const Arguments *arguments, int index);
nb::object tensor_of(const Memory &memory);
void expect(const Memory &memory, int ndim, const int64_t *shape);
void expect_unrecorded(const Arguments &arguments, int index);
Memory allocate(Wanted wanted, const int64_t *shape, bool zero);
[[noreturn]] void wrong_type(const Arguments &arguments, int index, const char *wanted);
nb::object as_tensor(nb::object result);
nb::object tuple_of(const Tensor *items, size_t n);
inline nb::object or_none(nb::object o) { return o.is_valid() ? o : nb::object(nb::none()); }
nb::object named(const char *function);
void parallel(int64_t n, int64_t grain, void (*body)(void *, int64_t, int64_t), void *state);

template <class T> struct scalar {
    static constexpr char kind = std::is_same_v<T, bool> ? 'b'
                                 : std::is_floating_point_v<T> ? 'f'
                                 : std::is_unsigned_v<T> ? 'u' : 'i';
    static_assert(std::is_arithmetic_v<T> || nb::detail::is_complex_v<T>,
                  "arrays have entries of float, double, an integer type, bool, or std::complex of the first two");
};

template <class T> constexpr Wanted wanted(int ndim, bool contiguous, bool writable) {
    return {nb::detail::is_complex_v<T> ? 'c' : scalar<T>::kind, (int) sizeof(T), ndim, contiguous, writable};
}

}  // namespace detail

// The entries of an array, without a copy: of a Tensor, a NumPy array, or anything on the CPU that speaks DLPack.
//
//   Array<T, N>    read-only, contiguous, of N dims (of any number, if N is left out)
//   Strided<T, N>  read-only, of any strides
//   Mutable<T, N>  to be written, contiguous: what empty() makes; as an argument, one that is changed in place
//
// What does not fit is an error in Python that names function and argument. In the methods of a Function, which get
// gradients as the engine has them, what is not contiguous is copied instead. x.expect(n, -1) is such an error unless
// the shape is [n, any], same_shape(x, y, ...) unless that of all is one. x(i, j) is an entry, x[i] one of the entries
// in order; neither checks its indices, but with -DGRADWRIGHT_CHECKED. The GIL may be released while entries are used,
// but must be held where an array is made, copied or destroyed.
template <class T, int N, bool Contiguous> class View {
    static_assert(N <= max_ndim, "arrays have at most 32 dims");
    using Value = std::remove_const_t<T>;
    detail::Memory m;

    static void check(int64_t index, int64_t size) {
#if defined(GRADWRIGHT_CHECKED)
        if (index < 0 || index >= size)
            throw std::out_of_range("index " + std::to_string(index) + " of " + std::to_string(size) + " entries");
#else
        (void) index, (void) size;
#endif
    }

  public:
    static constexpr detail::Wanted wanted = detail::wanted<Value>(N, Contiguous, !std::is_const_v<T>);

    View() = default;
    explicit View(detail::Memory memory) : m(std::move(memory)) {}
    explicit View(const nb::object &tensor) : m(detail::import(tensor, wanted, nullptr, -1)) {}
    template <class U, int M, bool C, class = std::enable_if_t<std::is_const_v<T> && std::is_same_v<U, Value> &&
                                                               (N < 0 || N == M) && (C || !Contiguous)>>
    View(const View<U, M, C> &other) : m(other.memory()) {}

    T *data() const { return static_cast<T *>(m.data); }
    T *begin() const { return data(); }
    T *end() const { return data() + size(); }
    int64_t size() const { return m.size; }
    int ndim() const { return m.ndim; }
    int64_t shape(int i) const { return m.shape[i]; }
    int64_t stride(int i) const { return m.strides[i]; }
    const detail::Memory &memory() const { return m; }
    operator Tensor() const { return detail::tensor_of(m); }
    template <class... I> void expect(I... sizes) const {
        static_assert(N < 0 || N == sizeof...(I), "one size for each dim");
        const int64_t shape[] = {(int64_t) sizes..., 0};
        detail::expect(m, sizeof...(I), shape);
    }

    T &operator[](int64_t i) const {
        static_assert(Contiguous, "only a contiguous array has its entries in order");
        check(i, m.size);
        return data()[i];
    }
    template <class... I> T &operator()(I... index) const {
        static_assert(N < 0 || N == sizeof...(I), "one index for each dim");
        int64_t at = 0;
        int k = 0;
        (check((int64_t) index, m.shape[k++]), ...);
        k = 0;
        if constexpr (Contiguous)
            ((at = at * m.shape[k++] + (int64_t) index), ...);
        else
            ((at += m.strides[k++] * (int64_t) index), ...);
        return data()[at];
    }
};

template <class T, int N = -1> using Array = View<const T, N, true>;
template <class T, int N = -1> using Strided = View<const T, N, false>;
template <class T, int N = -1> using Mutable = View<T, N, true>;

template <class X, class... Y> void same_shape(const X &x, const Y &...others) {
    (detail::expect(others.memory(), x.ndim(), x.memory().shape), ...);
}

// A new array, to be filled and returned: empty<double>(2, 3).
template <class T, class... I> Mutable<T, sizeof...(I)> empty(I... sizes) {
    const int64_t shape[] = {(int64_t) sizes..., 0};
    return Mutable<T, sizeof...(I)>(detail::allocate(Mutable<T, sizeof...(I)>::wanted, shape, false));
}
template <class T, class... I> Mutable<T, sizeof...(I)> zeros(I... sizes) {
    const int64_t shape[] = {(int64_t) sizes..., 0};
    return Mutable<T, sizeof...(I)>(detail::allocate(Mutable<T, sizeof...(I)>::wanted, shape, true));
}
template <class T, int N, bool C> Mutable<std::remove_const_t<T>, N> empty_like(const View<T, N, C> &x) {
    auto wanted = detail::wanted<std::remove_const_t<T>>(x.ndim(), true, true);
    return Mutable<std::remove_const_t<T>, N>(detail::allocate(wanted, x.memory().shape, false));
}
template <class T, int N, bool C> Mutable<std::remove_const_t<T>, N> zeros_like(const View<T, N, C> &x) {
    auto wanted = detail::wanted<std::remove_const_t<T>>(x.ndim(), true, true);
    return Mutable<std::remove_const_t<T>, N>(detail::allocate(wanted, x.memory().shape, true));
}

// Several tensors, as a tuple: return {dx, dw, {}}; {} is a gradient that there is not.
class Tensors : public detail::Object {
  public:
    Tensors() = default;
    Tensors(const nb::object &o) : Object(o) {}
    Tensors(std::initializer_list<Tensor> items) : Object(detail::tuple_of(items.begin(), items.size())) {}
    size_t size() const { return nb::len(*this); }
    Tensor operator[](size_t i) const {
        return Tensor(nb::object(attr("__getitem__")(i)));
    }
};

// The ctx of a Function: what forward leaves on it, backward finds. attr("name") is any attribute of your own.
class Context : public nb::object {
  public:
    explicit Context(nb::handle ctx) : nb::object(nb::borrow(ctx)) {}
    template <class... A> void save_for_backward(const A &...tensors) {
        attr("save_for_backward")(detail::or_none(Tensor(tensors))...);
    }
    template <class... A> void mark_dirty(const A &...tensors) { attr("mark_dirty")(Tensor(tensors)...); }
    template <class... A> void mark_non_differentiable(const A &...tensors) {
        attr("mark_non_differentiable")(Tensor(tensors)...);
    }
    void set_materialize_grads(bool on) { attr("set_materialize_grads")(on); }
    bool needs_input_grad(int i) const { return nb::cast<bool>(attr("needs_input_grad")[i]); }
    Tensors saved_tensors() const { return Tensors(nb::object(attr("saved_tensors"))); }
    template <class A = Tensor> A saved(int i) const {
        if constexpr (std::is_base_of_v<Tensor, A>)
            return saved_tensors()[i];
        else
            return A(detail::import(saved_tensors()[i], A::wanted, nullptr, -2 - i));
    }
};

namespace detail {

template <class A> struct Argument {
    static A get(const Arguments &a, int i) {
        expect_unrecorded(a, i);
        try {
            return nb::cast<A>(a[i]);
        } catch (const std::bad_cast &) {
            using Caster = nb::detail::make_caster<A>;
            wrong_type(a, i, std::is_same_v<A, bool>                 ? "bool"
                             : std::is_integral_v<A>                 ? "int"
                             : std::is_floating_point_v<A>           ? "float"
                             : !nb::detail::is_base_caster_v<Caster> ? Caster::Name.text
                                 : "of a class that is bound (for std::string, std::vector and their kind: #include "
                                   "<nanobind/stl/string.h>, <nanobind/stl/vector.h> ...)");
        }
    }
};
template <class T, int N, bool C> struct Argument<View<T, N, C>> {
    static View<T, N, C> get(const Arguments &a, int i) {
        return View<T, N, C>(import(a[i], View<T, N, C>::wanted, &a, i));
    }
};
template <class A> struct Argument<std::optional<A>> {
    static std::optional<A> get(const Arguments &a, int i) {
        return a[i].is_none() ? std::nullopt : std::optional<A>(Argument<A>::get(a, i));
    }
};
template <> struct Argument<Tensor> {
    static Tensor get(const Arguments &a, int i);
};
template <> struct Argument<nb::object> {
    static nb::object get(const Arguments &a, int i) { return nb::borrow(a[i]); }
};

template <class A> using plain = std::remove_cv_t<std::remove_reference_t<A>>;
template <class A> struct is_view : std::false_type {};
template <class T, int N, bool C> struct is_view<View<T, N, C>> : std::true_type {};
template <class A> struct is_view<std::optional<A>> : is_view<A> {};

// Whether a parameter of this type can be given what Python passes.
#define GRADWRIGHT_PARAMETERS                                                                                          \
    "parameters are taken by value or as const &, and arrays as gw::Array<T>, gw::Strided<T> or gw::Mutable<T>"
template <class A>
constexpr bool is_parameter = !(std::is_lvalue_reference_v<A> && !std::is_const_v<std::remove_reference_t<A>>) &&
                              !(std::is_pointer_v<A> && std::is_arithmetic_v<std::remove_pointer_t<A>> &&
                                !std::is_same_v<A, const char *>);

template <class R> nb::object result(R &&r) {
    using P = plain<R>;
    if constexpr (is_view<P>::value)
        return tensor_of(r.memory());
    else if constexpr (std::is_base_of_v<nb::object, P>)
        return or_none(std::forward<R>(r));
    else if constexpr (std::is_arithmetic_v<P>)
        return nb::cast(r);
    else
        try {
            return as_tensor(nb::cast(std::forward<R>(r)));
        } catch (const std::bad_cast &) {
            throw nb::type_error("what C++ returns is of no class that is bound (for std::string, std::vector and their "
                                 "kind: #include <nanobind/stl/string.h>, <nanobind/stl/vector.h> ...)");
        }
}

template <class R, class Call> nb::object returned(Call &&call) {
    if constexpr (std::is_void_v<R>) {
        call();
        return nb::none();
    } else {
        return result(call());
    }
}

// A C++ function as Python calls it, and how many arguments it takes; raw: whether some are bare entries.
template <auto F, class = decltype(F)> struct Callable;
template <auto F, class R, class... A> struct Callable<F, R (*)(A...)> {
    static_assert((is_parameter<A> && ...), GRADWRIGHT_PARAMETERS);
    static constexpr int count = sizeof...(A);
    static nb::object call(const Arguments &a) { return call(a, std::index_sequence_for<A...>()); }
    template <size_t... I> static nb::object call(const Arguments &a, std::index_sequence<I...>) {
        (void) a;
        return returned<R>([&]() -> R { return F(Argument<plain<A>>::get(a, I)...); });
    }
};
template <auto F, class R, class... A> struct Callable<F, R (*)(A...) noexcept> : Callable<F, R (*)(A...)> {};

// The same of forward or backward, whose first argument is the ctx.
template <auto F, class T = decltype(F)> struct Method {
    static_assert(std::is_void_v<T>, "forward and backward are static, and their first parameter is gw::Context &");
    static constexpr int count = 0;
    static constexpr bool raw = false;
    static nb::object call(const Arguments &);
};
template <auto F, class R, class... A> struct Method<F, R (*)(Context &, A...)> {
    static_assert((is_parameter<A> && ...), GRADWRIGHT_PARAMETERS);
    static constexpr int count = sizeof...(A);
    static constexpr bool raw = (is_view<plain<A>>::value || ...);
    static nb::object call(const Arguments &a) { return call(a, std::index_sequence_for<A...>()); }
    template <size_t... I> static nb::object call(const Arguments &a, std::index_sequence<I...>) {
        Context ctx(a[0]);
        return returned<R>([&]() -> R { return F(ctx, Argument<plain<A>>::get(a, I + 1)...); });
    }
};
template <auto F, class R, class... A>
struct Method<F, R (*)(Context &, A...) noexcept> : Method<F, R (*)(Context &, A...)> {};

using Entry = nb::object (*)(const Arguments &);
using Loop = void (*)(const void *const *inputs, void *out, int64_t n);

// One derivative of an elementwise operation: how often by each input, and its loops.
struct Term {
    int orders[2];
    Loop loops[2];  // float, double
};

// What one macro has declared. They are in a list, which the module is made of when Python imports it.
struct Definition {
    enum Kind { function, autograd, elementwise, module };
    Kind kind;
    const char *name, *arguments, *file;
    int line;
    Entry call = nullptr, backward = nullptr;
    int count = 0, gradients = 0;  // arguments of call and of backward, without ctx
    bool raw = false;
    const char *doc = nullptr;
    const Term *terms = nullptr;
    int terms_count = 0;
    void (*bind)(nb::module_ &) = nullptr;
    PyObject **made = nullptr;  // where what Python makes of it is kept
    Definition *next = nullptr;
};

struct Register {
    explicit Register(Definition &definition);
};

template <class F> inline PyObject *made = nullptr;

template <class F> constexpr Definition autograd(const char *name, const char *arguments, const char *file, int line) {
    Definition d{Definition::autograd, name, arguments, file, line};
    d.call = Method<&F::forward>::call;
    d.count = Method<&F::forward>::count;
    d.backward = Method<&F::backward>::call;
    d.gradients = Method<&F::backward>::count;
    d.raw = Method<&F::backward>::raw;
    d.made = &made<F>;
    return d;
}

template <auto F>
constexpr Definition function(const char *name, const char *arguments, const char *file, int line, const char *doc) {
    Definition d{Definition::function, name, arguments, file, line};
    d.call = Callable<F>::call;
    d.count = Callable<F>::count;
    d.doc = doc;
    return d;
}

nb::object applied(PyObject *made);

}  // namespace detail

// gradwright's own function of this name on tensors and numbers, recorded: call("matmul", x, w), call("mul", g, 2.0),
// call("nn.functional.elu", x).
template <class... A> Tensor call(const char *function, const A &...arguments) {
    return Tensor(nb::object(detail::named(function)(arguments...)));
}

// A Function that is registered here, applied, recorded: what a backward with a second derivative is made of.
template <class F, class... A> Tensor apply(const A &...arguments) {
    return Tensor(nb::object(detail::applied(detail::made<F>)(arguments...)));
}

// body(begin, end) over parts of 0 ... n, in threads if n is over `grain`, without the GIL: body must use no Python.
// What it throws is thrown here.
template <class Body> void parallel(int64_t n, Body &&body, int64_t grain = 1 << 17) {
    using B = std::remove_reference_t<Body>;
    detail::parallel(n, grain, [](void *b, int64_t begin, int64_t end) { (*static_cast<B *>(b))(begin, end); },
                     const_cast<void *>(static_cast<const void *>(&body)));
}

// Calls body with a float or a double, 0, as the dtype of x is: floating(x, [&](auto zero) { using T = decltype(zero);
// ... }), for code that does for both. TypeError for other dtypes.
bool is_double(const Tensor &x);
template <class Body> auto floating(const Tensor &x, Body &&body) { return is_double(x) ? body(0.0) : body(0.0f); }

}  // namespace gradwright

// A shorter name, for code and for typing.
namespace gw = gradwright;

#define GRADWRIGHT_JOIN_(a, b) a##b
#define GRADWRIGHT_JOIN(a, b) GRADWRIGHT_JOIN_(a, b)

#define GRADWRIGHT_REGISTER(...) GRADWRIGHT_REGISTER_(GRADWRIGHT_JOIN(gradwright_definition_, __COUNTER__), __VA_ARGS__)
#define GRADWRIGHT_REGISTER_(id, ...)                                                                                  \
    static ::gradwright::detail::Definition id = __VA_ARGS__;                                                          \
    static ::gradwright::detail::Register GRADWRIGHT_JOIN(id, _)(id);

// A function for Python, with the names of its parameters: GRADWRIGHT_DEF(scale, x, factor).
#define GRADWRIGHT_DEF(function, ...) GRADWRIGHT_DEF_DOC(function, nullptr, __VA_ARGS__)
#define GRADWRIGHT_DEF_DOC(fn, doc, ...)                                                                               \
    GRADWRIGHT_REGISTER(::gradwright::detail::function<&fn>(#fn, #__VA_ARGS__, __FILE__, __LINE__, doc))

// A Function: a struct with static forward and backward, with the names of forward's parameters after ctx.
//
//     struct Square {
//         static gw::Tensor forward(gw::Context &ctx, gw::Array<double> x);
//         static gw::Tensor backward(gw::Context &ctx, gw::Tensor g);
//     };
//     GRADWRIGHT_FUNCTION(Square, x)
//
// A backward that takes tensors, and is made of apply<...>() and call(...), has derivatives itself. One that takes
// arrays has none, as one marked with once_differentiable in Python.
#define GRADWRIGHT_FUNCTION(F, ...)                                                                                    \
    GRADWRIGHT_REGISTER(::gradwright::detail::autograd<F>(#F, #__VA_ARGS__, __FILE__, __LINE__))

// Further bindings, with nanobind: GRADWRIGHT_MODULE(m) { nb::class_<...>(m, "..."); }
#define GRADWRIGHT_MODULE(m) GRADWRIGHT_MODULE_(GRADWRIGHT_JOIN(gradwright_module_, __COUNTER__), m)
#define GRADWRIGHT_MODULE_(id, m)                                                                                      \
    static void id(::nanobind::module_ &m);                                                                            \
    static ::gradwright::detail::Definition GRADWRIGHT_JOIN(id, _d) = ::gradwright::detail::bindings(id);              \
    static ::gradwright::detail::Register GRADWRIGHT_JOIN(id, _r)(GRADWRIGHT_JOIN(id, _d));                            \
    static void id(::nanobind::module_ &m)

namespace gradwright::detail {
constexpr Definition bindings(void (*bind)(nb::module_ &)) {
    Definition d{Definition::module, "", "", "", 0};
    d.bind = bind;
    return d;
}
}  // namespace gradwright::detail

// What Python calls to import the module; it is the same in every source.
extern "C" PyObject *PyInit_gradwright_extension();
extern "C" __attribute__((weak, visibility("default"))) PyObject *
GRADWRIGHT_JOIN(PyInit_, GRADWRIGHT_EXTENSION_NAME)() {
    return PyInit_gradwright_extension();
}

#include <gradwright/elementwise.h>
