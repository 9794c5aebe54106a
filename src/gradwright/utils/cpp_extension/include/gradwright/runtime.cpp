// What every extension is linked with: the module itself, arguments and errors, threads. Compiled once.
#define GRADWRIGHT_EXTENSION_NAME gradwright_extension_runtime
#include <gradwright/extension.h>
#include <gradwright/threads.h>

#if !defined(GRADWRIGHT_VERSION)
#  define GRADWRIGHT_VERSION "another version"
#endif

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

namespace gradwright {
namespace detail {

// What has been registered, in order, and the last of it.
static Definition *first = nullptr, *last = nullptr;

Register::Register(Definition &definition) {
    (last ? last->next : first) = &definition;
    last = &definition;
}

// What is used of Python.
struct Python {
    nb::object gradwright = nb::module_::import_("gradwright"), tensor = gradwright.attr("Tensor"),
               bind = nb::module_::import_("gradwright.utils.cpp_extension.bind"), agree = bind.attr("agree"),
               allocate = bind.attr("allocate"), array_of = bind.attr("array_of"), as_tensor = bind.attr("as_tensor"),
               define = bind.attr("define"), expect_unrecorded = bind.attr("expect_unrecorded"),
               fitted = bind.attr("fitted"), is_double = bind.attr("is_double"), misshapen = bind.attr("misshapen"),
               no_float = bind.attr("no_float"),
               ordered = bind.attr("ordered"), refused = bind.attr("refused"), shown = bind.attr("shown"),
               wrong_type = bind.attr("wrong_type");
};

// It is never freed, since extensions stay until the process ends. Nor is it a static variable of this function, for
// which threads would wait with Python's lock in hand.
static const Python *known = nullptr;

static const Python &python() {
    if (!PyGILState_Check())
        throw std::runtime_error("C++ code that runs without Python's lock, inside of gw::parallel or after a "
                                 "gil_scoped_release, cannot make tensors and arrays, nor call functions of gradwright: "
                                 "do that before or after, and use data() or entries inside");
    if (!known) known = new Python;
    return *known;
}

static bool is_tensor(nb::handle value) {
    return PyObject_TypeCheck(value.ptr(), reinterpret_cast<PyTypeObject *>(python().tensor.ptr()));
}

static nb::object tuple_of(int n, const int64_t *items) {
    nb::object tuple = nb::steal(PyTuple_New(n));
    for (int i = 0; i < n; ++i) PyTuple_SET_ITEM(tuple.ptr(), i, PyLong_FromLongLong(items[i]));
    return tuple;
}

nb::object tuple_of(const Tensor *items, size_t n) {
    python();  // it must be there
    nb::object tuple = nb::steal(PyTuple_New((Py_ssize_t) n));
    for (size_t i = 0; i < n; ++i)
        PyTuple_SET_ITEM(tuple.ptr(), i, or_none(items[i]).release().ptr());
    return tuple;
}

// ------------------------------------------------------------------------------------------------------ arguments

// The call that runs: what Array<T>(tensor) inside a function names in its errors.
static thread_local const Arguments *running = nullptr;

struct Running {
    const Arguments *before = running;
    explicit Running(const Arguments *now) { running = now; }
    ~Running() { running = before; }
};

static nb::object call(Entry entry, const Arguments &arguments) {
    Running now(&arguments);
    try {
        return entry(arguments);
    } catch (const std::exception &) {
        throw;
    } catch (const char *text) {
        throw std::runtime_error(text);
    } catch (...) {
        throw std::runtime_error(std::string(arguments.of.name) + "() has thrown what is no std::exception");
    }
}

// Whose argument a value is, for Python to say so: the name of the function, its method, and of the argument.
static nb::tuple whose(const Arguments *a, int index, nb::handle value) {
    if (!a) a = running;
    if (!a) return nb::make_tuple("", "", "", -1);
    for (size_t k = *a->method ? 1 : 0; index == -1 && k < a->values.size(); ++k)
        if (a->values[k].is(value)) index = (int) k;
    if (index == -1 && !std::strcmp(a->method, "backward") && nb::hasattr(a->values[0], "saved_tensors")) {
        const nb::object tensors = a->values[0].attr("saved_tensors");
        for (int k = (int) nb::len(tensors); --k >= 0;)
            if (nb::object(tensors[k]).is(value)) index = -2 - k;
    }
    return nb::make_tuple(a->of.name, a->method, a->of.arguments, index);
}

static char kind_of(const char *format) {
    while (*format && std::strchr("@=<>!^", *format)) ++format;
    if (*format == 'Z') return 'c';
    if (std::strchr("efdg", *format)) return 'f';
    if (std::strchr("bhilqn", *format)) return 'i';
    if (std::strchr("BHILQN", *format)) return 'u';
    return *format == '?' ? 'b' : 'V';
}

enum Fit { wrong, strided, fits };  // strided: only the order in memory is not what is wanted

// Reads where the entries of an array are, if it has those that are wanted.
static Fit read(nb::handle array, Wanted wanted, Memory &m) {
    Py_buffer view;
    if (PyObject_GetBuffer(array.ptr(), &view, wanted.writable ? PyBUF_RECORDS : PyBUF_RECORDS_RO) != 0) {
        PyErr_Clear();
        return wrong;
    }
    bool native = view.format && *view.format != '>' && *view.format != '!';
    int alignment = wanted.kind == 'c' ? wanted.itemsize / 2 : wanted.itemsize;
    bool aligned = view.len == 0 || reinterpret_cast<uintptr_t>(view.buf) % (uintptr_t) alignment == 0;
    bool right = native && aligned && kind_of(view.format) == wanted.kind && view.itemsize == wanted.itemsize &&
                 (wanted.ndim < 0 ? view.ndim <= max_ndim : view.ndim == wanted.ndim);
    Fit fit = !right ? wrong : wanted.contiguous && !PyBuffer_IsContiguous(&view, 'C') ? strided : fits;
    if (fit == fits) {
        m.array = nb::borrow(array);
        m.data = view.buf;
        m.ndim = view.ndim;
        m.size = view.itemsize ? view.len / view.itemsize : 0;
        for (int k = 0; k < view.ndim; ++k) {
            m.shape[k] = view.shape[k];
            m.strides[k] = view.strides[k] / view.itemsize;
            if (view.strides[k] % view.itemsize) fit = wrong;
        }
    }
    PyBuffer_Release(&view);
    return fit;
}

Memory import(nb::handle value, Wanted wanted, const Arguments *arguments, int index) {
    const nb::object none = nb::none();
    if (!value.is_valid()) value = none;
    Memory m;
    m.index = index;
    if (is_tensor(value)) m.tensor = nb::borrow(value);
    nb::object array = python().array_of(value, wanted.writable);
    if (array.is_none()) array = python().refused(value, wanted.writable, whose(arguments, index, value));
    Fit fit = read(array, wanted, m);
    if (fit == strided && !wanted.writable && running && *running->method) {
        array = array.attr("copy")();
        fit = read(array, wanted, m);
    }
    if (fit == fits) return m;
    const char kind[] = {wanted.kind, 0};
    array = python().fitted(array, nb::make_tuple(kind, wanted.itemsize, wanted.ndim, wanted.contiguous, wanted.writable),
                   whose(arguments, index, value));
    if (read(array, wanted, m) != fits) throw std::runtime_error("an array that cannot be read");
    return m;
}

void wrong_type(const Arguments &arguments, int index, const char *wanted) {
    python().wrong_type(arguments[(size_t) index], wanted, whose(&arguments, index, {}));
    throw nb::type_error(wanted);
}

nb::object tensor_of(const Memory &m) {
    return m.tensor.is_valid() ? nb::object(m.tensor) : as_tensor(or_none(m.array));
}

void expect(const Memory &m, int ndim, const int64_t *shape) {
    bool same = m.ndim == ndim;
    for (int k = 0; same && k < ndim; ++k) same = shape[k] == -1 || m.shape[k] == shape[k];
    if (!same)
        python().misshapen(tuple_of(m.ndim, m.shape), tuple_of(ndim, shape),
                           whose(nullptr, m.index, m.tensor.is_valid() ? m.tensor : m.array));
}

void expect_unrecorded(const Arguments &a, int index) {
    if (is_tensor(a[(size_t) index])) python().expect_unrecorded(a[(size_t) index], whose(&a, index, {}));
}

Tensor Argument<Tensor>::get(const Arguments &a, int i) {
    if (a[(size_t) i].is_none() && !std::strcmp(a.method, "backward")) return Tensor();
    if (!is_tensor(a[(size_t) i])) wrong_type(a, i, "Tensor");
    return Tensor(nb::borrow(a[(size_t) i]));
}

Memory allocate(Wanted wanted, const int64_t *shape, bool zero) {
    const char kind[] = {wanted.kind, 0};
    Memory m;
    m.tensor = python().allocate(kind, wanted.itemsize, tuple_of(wanted.ndim, shape), zero);
    read(m.tensor.attr("array"), wanted, m);
    return m;
}

nb::object as_tensor(nb::object result) { return python().as_tensor(result); }

nb::object named(const char *function) {
    nb::object found = python().gradwright;
    for (const char *dot; (dot = std::strchr(function, '.')); function = dot + 1)
        found = found.attr(nb::str(function, (size_t) (dot - function)));
    try {
        return found.attr(function);
    } catch (const nb::python_error &) {
        if (!nb::hasattr(python().tensor, function)) throw;
        const std::string name(function);
        throw nb::attribute_error(("call(\"" + name + "\", ...): that is a method of tensors, and no function: write "
                                   "x.attr(\"" + name + "\")(...)").c_str());
    }
}

nb::object saved(const nb::object &tensors, int i) {
    const size_t n = nb::len(tensors);
    if (i >= 0 && (size_t) i < n) return tensors[i];
    const std::string who = running ? std::string(running->of.name) + "." + running->method + ": " : "";
    throw std::out_of_range(who + "saved(" + std::to_string(i) + "), but save_for_backward was given " +
                            std::to_string(n) + " tensor" + (n == 1 ? "" : "s"));
}

void unbound() {
    const std::string who = running ? std::string(running->of.name) + "() returns" : "C++ returns";
    throw nb::type_error((who + " what is of no class that is bound (for std::string, std::vector and their kind: "
                          "#include <nanobind/stl/string.h>, <nanobind/stl/vector.h> ...)").c_str());
}

nb::object applied(PyObject *made) {
    if (!made) throw std::runtime_error("apply<F>: F is not registered: add GRADWRIGHT_FUNCTION(F, ...)");
    return nb::borrow(made).attr("apply");
}

// ---------------------------------------------------------------------------------------------------- elementwise

constexpr int64_t block = 1024;

// Copies entries begin ... end, in order, of an array of any strides.
template <class Bits> static void gather(const Memory &m, int64_t begin, int64_t end, Bits *to) {
    int64_t index[max_ndim], at = 0, rest = begin;
    for (int k = m.ndim - 1; k >= 0; --k) {
        index[k] = rest % m.shape[k];
        rest /= m.shape[k];
        at += index[k] * m.strides[k];
    }
    const Bits *from = static_cast<const Bits *>(m.data);
    for (int64_t i = begin; i < end; ++i) {
        *to++ = from[at];
        for (int k = m.ndim - 1; k >= 0; --k) {
            at += m.strides[k];
            if (++index[k] < m.shape[k]) break;
            at -= index[k] * m.strides[k];
            index[k] = 0;
        }
    }
}

static bool is_contiguous(const Memory &m) {
    int64_t step = 1;
    for (int k = m.ndim - 1; k >= 0; step *= m.shape[k--])
        if (m.shape[k] != 1 && m.strides[k] != step) return false;
    return true;
}

// Runs one loop of an operation: on inputs of one shape and any strides, into a contiguous array.
static void run(Loop loop, int itemsize, const std::vector<Memory> &inputs, const Memory &out) {
    std::vector<char> whole;
    for (auto &m : inputs) whole.push_back(is_contiguous(m));
    const bool all = std::find(whole.begin(), whole.end(), 0) == whole.end();
    auto body = [&](int64_t begin, int64_t end) {
        alignas(64) char buffers[3][block * sizeof(double)];
        for (int64_t next; begin < end; begin = next) {
            next = all ? end : std::min(end, begin + block);
            const void *from[3];
            for (size_t k = 0; k < inputs.size(); ++k) {
                from[k] = static_cast<char *>(inputs[k].data) + begin * itemsize;
                if (whole[k]) continue;
                if (itemsize == 4)
                    gather(inputs[k], begin, next, reinterpret_cast<uint32_t *>(buffers[k]));
                else
                    gather(inputs[k], begin, next, reinterpret_cast<uint64_t *>(buffers[k]));
                from[k] = buffers[k];
            }
            loop(from, static_cast<char *>(out.data) + begin * itemsize, next - begin);
        }
    };
    gradwright::parallel(out.size, body);
}

static nb::object elementwise(const Term &term, nb::args arrays) {
    Wanted wanted{'f', 8, -1, false, false};
    nb::object target = arrays[arrays.size() - 1];
    wanted.itemsize = nb::cast<int>(target.attr("itemsize"));
    std::vector<Memory> inputs(arrays.size() - 1);
    Memory out;
    for (size_t k = 0; k < inputs.size(); ++k)
        if (read(arrays[k], wanted, inputs[k]) != fits)  // it has too many dims, or is not aligned
            if (read(arrays[k].attr("copy")().attr("reshape")(-1), wanted, inputs[k]) != fits)
                throw std::runtime_error("an array that cannot be read");
    wanted.contiguous = wanted.writable = true;
    if (read(target, wanted, out) != fits && read(target.attr("reshape")(-1), wanted, out) != fits)
        throw std::runtime_error("an array that cannot be written");
    run(term.loops[wanted.itemsize == 8], wanted.itemsize, inputs, out);
    return nb::none();
}

// --------------------------------------------------------------------------------------------------------- module

// The arguments in order, of those that came by position and by name.
static nb::args ordered(const Definition &d, nb::args values, nb::kwargs named) {
    if (named.size() == 0 && (int) values.size() == d.count) return values;
    return nb::borrow<nb::args>(python().ordered(values, named, d.name, d.arguments, d.count));
}

static nb::object method(Entry entry, const Definition &d, const char *name, int count) {
    auto run = [entry, &d, name, count](nb::args values) {
        if ((int) values.size() != count + 1)
            nb::raise_type_error("%s.%s takes %d argument%s after ctx, but got %d%s", d.name, name, count,
                                 count == 1 ? "" : "s", (int) values.size() - 1,
                                 entry == d.backward ? ", a gradient for each output of forward" : "");
        return call(entry, {d, name, values});
    };
    return nb::cpp_function(run, nb::name(name));
}

static nb::list entries(const Definition &d) {
    nb::list made;
    if (d.kind == Definition::function) {
        const std::string name(d.name);
        const std::string signature = "def " + name.substr(name.rfind(':') + 1) +
                                      nb::str(python().shown(d.arguments, d.count, d.types())).c_str();
        made.append(nb::cpp_function(
            [&d](nb::args values, nb::kwargs named) { return call(d.call, {d, "", ordered(d, values, named)}); },
            nb::name(d.name), nb::sig(signature.c_str()), d.doc ? d.doc : ""));
    }
    if (d.kind == Definition::autograd) {
        made.append(method(d.call, d, "forward", d.count));
        made.append(method(d.backward, d, "backward", d.gradients));
    }
    for (int k = 0; k < d.terms_count; ++k) {
        const Term &term = d.terms[k];
        made.append(nb::make_tuple(term.orders[0], term.orders[1],
                                   nb::cpp_function([&term](nb::args arrays) { return elementwise(term, arrays); })));
    }
    return made;
}

static void populate(nb::module_ &m) {
    nb::set_leak_warnings(false);  // modules are kept until the process ends
    static const char *const kinds[] = {"function", "autograd", "elementwise"};
    python().agree(m, GRADWRIGHT_PROTOCOL, GRADWRIGHT_VERSION);
    for (Definition *d = first; d; d = d->next) {
        if (d->kind == Definition::module) {
            d->bind(m);
            continue;
        }
        nb::object made =
            python().define(m, kinds[d->kind], d->name, d->arguments, d->types ? d->types() : nb::object(nb::str(d->doc)),
                            d->count, entries(*d), d->raw, d->file, d->line);
        if (d->made) *d->made = made.release().ptr();
    }
}

}  // namespace detail

bool Tensor::check_(nb::handle h) { return h.is_none() || detail::is_tensor(h); }

bool is_double(const Tensor &x) {
    const nb::object is = detail::python().is_double(x);
    if (is.is_none()) detail::python().no_float(x, detail::whose(nullptr, -1, x));
    return is.is(Py_True);
}

}  // namespace gradwright

// Each extension has its own: those of one domain share classes by name, whatever these are.
static const char *domain() {
    static char name[40];
    std::snprintf(name, sizeof name, "gradwright %p", static_cast<void *>(name));
    return name;
}
#undef NB_DOMAIN_STR
#define NB_DOMAIN_STR domain()

NB_MODULE(gradwright_extension, m) {
    try {
        gradwright::detail::populate(m);
    } catch (nanobind::python_error &e) {  // nanobind would put words of its own in front
        if (!e.matches(PyExc_ImportError)) throw;
        throw std::runtime_error(nanobind::str(e.value()).c_str());
    }
}
