// gradwright/array.h: tensors, and their entries: what C++ code takes, makes and returns. Part of extension.h.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>
#include <stdexcept>
#include <string>

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
    static constexpr auto Name = nb::detail::const_name("Tensor");
    static bool check_(nb::handle h);
    Tensor() : Object(nb::none()) {}
    Tensor(nb::handle h, nb::detail::borrow_t) : Object(nb::borrow(h)) {}
    Tensor(nb::handle h, nb::detail::steal_t) : Object(nb::steal(h)) {}
    Tensor(const nb::object &o) : Object(o) {}
    Tensor(nb::object &&o) : Object(std::move(o)) {}
    template <class I> Tensor(const nb::detail::accessor<I> &a) : Object(nb::object(a)) {}
    bool defined() const { return is_valid() && !is_none(); }
    int64_t size(int dim) const { return nb::cast<int64_t>(attr("shape")[dim]); }
};

// x * y, 1 - x, -x: as in Python, recorded. One side is a Tensor, the other one, too, or an object of Python's or a number.
namespace detail {
template <class A> constexpr bool is_object = std::is_base_of_v<nb::detail::api_tag, A>;
template <class A> nb::object operand(const A &a) {
    if constexpr (is_object<A>)
        return nb::borrow(a);
    else
        return nb::cast(a);
}
template <class A, class B>
using if_operands = std::enable_if_t<(std::is_base_of_v<Tensor, A> || std::is_base_of_v<Tensor, B>) &&
                                     (is_object<A> || std::is_arithmetic_v<A>) &&
                                     (is_object<B> || std::is_arithmetic_v<B>)>;
}  // namespace detail
#define GRADWRIGHT_OPERATOR(op, name)                                                                                  \
    template <class A, class B, class = detail::if_operands<A, B>> Tensor operator op(const A &a, const B &b) {        \
        PyObject *result = PyNumber_##name(detail::operand(a).ptr(), detail::operand(b).ptr());                        \
        if (!result) nb::raise_python_error();                                                                         \
        return Tensor(nb::steal(result));                                                                              \
    }
GRADWRIGHT_OPERATOR(+, Add)
GRADWRIGHT_OPERATOR(-, Subtract)
GRADWRIGHT_OPERATOR(*, Multiply)
GRADWRIGHT_OPERATOR(/, TrueDivide)
#undef GRADWRIGHT_OPERATOR
inline Tensor operator-(const Tensor &x) { return Tensor(static_cast<const nb::object &>(x).operator-()); }

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

struct Arguments;  // of one call from Python

// index: which of the arguments the value is; -1 if that is not known, -2 - i for saved tensor i.
Memory import(nb::handle value, Wanted wanted, const Arguments *arguments, int index);
nb::object tensor_of(const Memory &memory);
void expect(const Memory &memory, int ndim, const int64_t *shape);
Memory allocate(Wanted wanted, const int64_t *shape, bool zero);
nb::object as_tensor(nb::object result);
nb::object tuple_of(const Tensor *items, size_t n);
inline nb::object or_none(nb::object o) { return o.is_valid() ? o : nb::object(nb::none()); }

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

}  // namespace gradwright
