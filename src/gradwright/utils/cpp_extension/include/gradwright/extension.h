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

#include <gradwright/array.h>

#if !defined(GRADWRIGHT_EXTENSION_NAME)
#  error "compile with -DGRADWRIGHT_EXTENSION_NAME=<the name of the module>"
#endif

// What runtime.cpp and bind.py have agreed on: raised when either can no longer do with the other as it was.
#define GRADWRIGHT_PROTOCOL 3

namespace gradwright {

namespace detail {

struct Definition;

// The arguments of one call from Python.
struct Arguments {
    const Definition &of;
    const char *method;  // "forward", "backward" or ""
    nb::args values;
    nb::handle operator[](size_t i) const { return values[i]; }
};

void expect_unrecorded(const Arguments &arguments, int index);
[[noreturn]] void wrong_type(const Arguments &arguments, int index, const char *wanted);
nb::object saved(const nb::object &tensors, int i);
[[noreturn]] void unbound();
nb::object named(const char *function);
void parallel(int64_t n, int64_t grain, void (*body)(void *, int64_t, int64_t), void *state);

}  // namespace detail

// Several tensors, as a tuple: return {dx, dw, {}}; {} is a gradient that there is not.
class Tensors : public detail::Object {
  public:
    Tensors() = default;
    Tensors(const nb::object &o) : Object(o) {}
    template <class I> Tensors(const nb::detail::accessor<I> &a) : Object(nb::object(a)) {}
    Tensors(std::initializer_list<Tensor> items) : Object(detail::tuple_of(items.begin(), items.size())) {}
    size_t size() const { return nb::len(*this); }
    Tensor operator[](size_t i) const {
        return Tensor(nb::object(attr("__getitem__")(i)));
    }
};

// The ctx of a Function: what forward leaves on it, backward finds. attr("name") = ... is any attribute of your own,
// get<T>("name") reads it.
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
    template <class A> A get(const char *name) const { return nb::cast<A>(attr(name)); }
    bool needs_input_grad(int i) const { return nb::cast<bool>(attr("needs_input_grad")[i]); }
    Tensors saved_tensors() const { return Tensors(nb::object(attr("saved_tensors"))); }
    template <class A = Tensor> A saved(int i) const {
        const nb::object tensor = detail::saved(attr("saved_tensors"), i);
        if constexpr (std::is_base_of_v<Tensor, A>)
            return tensor;
        else
            return A(detail::import(tensor, A::wanted, nullptr, -2 - i));
    }
};

namespace detail {

// What Python calls the type of a parameter.
template <class A> struct Type {
    static std::string name() {
        if constexpr (std::is_same_v<A, bool>) return "bool";
        else if constexpr (std::is_integral_v<A>) return "int";
        else if constexpr (std::is_floating_point_v<A>) return "float";
        else if constexpr (std::is_base_of_v<Tensor, A>) return "Tensor";
        else if constexpr (nb::detail::is_base_caster_v<nb::detail::make_caster<A>>) return "";
        else return nb::detail::make_caster<A>::Name.text;
    }
};
template <class T, int N, bool C> struct Type<View<T, N, C>> : Type<Tensor> {};
template <class A> struct Type<std::optional<A>> {
    static std::string name() { return Type<A>::name() + " | None"; }
};

template <class A> struct Argument {
    static A get(const Arguments &a, int i) {
        expect_unrecorded(a, i);
        try {
            return nb::cast<A>(a[i]);
        } catch (const std::bad_cast &) {
            wrong_type(a, i, Type<A>::name().c_str());
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

template <class A> struct is_optional : std::false_type {};
template <class A> struct is_optional<std::optional<A>> : std::true_type {};

template <class R> nb::object result(R &&r) {
    using P = plain<R>;
    if constexpr (is_optional<P>::value)
        return r ? result(*std::forward<R>(r)) : nb::object(nb::none());
    else if constexpr (is_view<P>::value)
        return tensor_of(r.memory());
    else if constexpr (std::is_base_of_v<nb::object, P>)
        return or_none(std::forward<R>(r));
    else if constexpr (std::is_arithmetic_v<P>)
        return nb::cast(r);
    else
        try {
            return as_tensor(nb::cast(std::forward<R>(r)));
        } catch (const std::bad_cast &) {
            unbound();
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
    static nb::object types() { return nb::make_tuple(Type<plain<A>>::name().c_str()...); }
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
    static nb::object types();
    static nb::object call(const Arguments &);
};
template <auto F, class R, class... A> struct Method<F, R (*)(Context &, A...)> {
    static_assert((is_parameter<A> && ...), GRADWRIGHT_PARAMETERS);
    static constexpr int count = sizeof...(A);
    static constexpr bool raw = (is_view<plain<A>>::value || ...);
    static nb::object types() { return nb::make_tuple(Type<plain<A>>::name().c_str()...); }
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
    nb::object (*types)() = nullptr;  // of the arguments of call, without ctx
    int count = 0, gradients = 0;     // how many arguments call and backward have, without ctx
    bool raw = false;
    const char *doc = nullptr;  // of an elementwise operation its expressions
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
    d.types = Method<&F::forward>::types;
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
    d.types = Callable<F>::types;
    d.count = Callable<F>::count;
    d.doc = doc;
    return d;
}

nb::object applied(PyObject *made);

// An argument of a function of gradwright's: of an array, its tensor.
template <class A> const A &passed(const A &argument) { return argument; }
template <class T, int N, bool C> Tensor passed(const View<T, N, C> &array) { return array; }

}  // namespace detail

// gradwright's own function of this name on tensors and numbers, recorded: call("matmul", x, w), call("mul", g, 2.0),
// call("nn.functional.elu", x).
template <class... A> Tensor call(const char *function, const A &...arguments) {
    return Tensor(nb::object(detail::named(function)(detail::passed(arguments)...)));
}

// A Function that is registered here, applied, recorded: what a backward with a second derivative is made of.
template <class F, class... A> Tensor apply(const A &...arguments) {
    return Tensor(nb::object(detail::applied(detail::made<F>)(detail::passed(arguments)...)));
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
