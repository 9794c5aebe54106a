/* Kernels: formulas and derivatives that the compiler's emitter has made C text of when the package was built.

   A kernel takes arrays that lie row by row, of one dtype, float32 or float64, and the axes that it is made for. It is
   run on a few rows at a time, whose values stay in the cache; threads share these pieces. Whatever else is given is for
   the twin, the formula itself; so is all where `use_kernels` has said so.

   Twin of `kernel`: the function that it is made of. */

#include "core.h"

#include <structmember.h>

#define ARGUMENTS 12
#define ARRAYS 12
#define PIECE (1 << 15) /* bytes of one array that a piece has */

#ifdef GRADWRIGHT_KERNELS
extern const Kernel gradwright_kernels_avx2[], gradwright_kernels_avx512[];
#endif

static const Kernel *kernels; /* those that this processor runs; the last has no name */
static int in_use = 1;

typedef struct {
    PyObject_HEAD
    vectorcallfunc call;
    PyObject *twin, *names; /* of the parameters, in order */
    const Kernel *kernel;
    unsigned long long taken, left;
} Bound;

/* What a call has given, and where the results go. */
typedef struct {
    const Kernel *kernel;
    int type, reduced; /* the dtype's number; how many axes are reduced, the last ones */
    PyArrayObject *first;
    long sizes[2];
    double numbers[4];
    int arrays, numbered;
    char *parts; /* of a result that is a sum: what each piece gives, the last of the arrays */
    char *data[ARRAYS];
    npy_intp step[ARRAYS]; /* bytes from one row to the next */
    long rows, pieces;     /* rows of a piece */
    int stopped;
} Given;

static int
usual_array(const Given *call, PyObject *given)
{
    if (!PyArray_CheckExact(given))
        return 0;
    PyArrayObject *a = (PyArrayObject *)given;
    return PyArray_TYPE(a) == call->type && PyArray_ISCARRAY_RO(a);
}

/* The axes: the last one, or a tuple of the last ones, of the first array. */
static int
read_axes(Given *call, PyObject *axis)
{
    int axes = PyArray_NDIM(call->first), first = axes;
    if (PyLong_CheckExact(axis)) {
        long at = PyLong_AsLong(axis);
        first = at < 0 ? (int)at + axes : (int)at;
        if (first != axes - 1)
            return PyErr_Clear(), 0;
    }
    else {
        first = axes - (int)PyTuple_GET_SIZE(axis);
        for (int i = 0; i < PyTuple_GET_SIZE(axis); i++) {
            PyObject *one = PyTuple_GET_ITEM(axis, i);
            if (first < 0 || !PyLong_CheckExact(one) || PyLong_AsLong(one) != first + i)
                return PyErr_Clear(), 0;
        }
    }
    if (first >= axes)
        return 0;
    call->reduced = axes - first;
    call->sizes[0] = call->sizes[1] = 1;
    for (int i = 0; i < axes; i++)
        call->sizes[i >= first] *= PyArray_DIM(call->first, i);
    return call->sizes[0] > 0 && call->sizes[1] > 0;
}

/* Whether an array has the first one's axes but for those that are reduced, which have length 1 or are not there. */
static int
of_rows(const Given *call, PyArrayObject *a, int gone)
{
    int axes = PyArray_NDIM(call->first), kept = axes - call->reduced;
    if (PyArray_NDIM(a) != (gone ? kept : axes))
        return 0;
    for (int i = 0; i < PyArray_NDIM(a); i++)
        if (PyArray_DIM(a, i) != (i < kept ? PyArray_DIM(call->first, i) : 1))
            return 0;
    return 1;
}

static int
add(Given *call, char *data, npy_intp step)
{
    if (call->arrays == ARRAYS)
        return 0;
    call->data[call->arrays] = data;
    call->step[call->arrays++] = step;
    return 1;
}

/* Read arguments as their letters say, from the one of `kinds` on; whether all are usual. */
static int
read_arguments(Given *call, const char **kinds, PyObject *const *given, Py_ssize_t count)
{
    npy_intp size = call->type == NPY_FLOAT ? 4 : 8;
    for (Py_ssize_t i = 0; i < count; i++, ++*kinds) {
        PyObject *one = given[i];
        PyArrayObject *a = (PyArrayObject *)one;
        switch (**kinds) {
        case 'X': case 'Y':
            if (!usual_array(call, one) || !PyArray_SAMESHAPE(a, call->first)
                || !add(call, PyArray_BYTES(a), call->sizes[1] * size))
                return 0;
            break;
        case 'R':
            if (!usual_array(call, one) || !of_rows(call, a, 0) || !add(call, PyArray_BYTES(a), size))
                return 0;
            break;
        case 'I':
            if (!PyArray_CheckExact(one) || PyArray_TYPE(a) != NPY_INT64 || !PyArray_ISCARRAY_RO(a)
                || !of_rows(call, a, 1) || !add(call, PyArray_BYTES(a), 8))
                return 0;
            break;
        case 'E':
            if (!PyFloat_CheckExact(one))
                return 0;
            call->numbers[call->numbered++] = PyFloat_AS_DOUBLE(one);
            break;
        case 'M':
            if (!PyUnicode_CheckExact(one) || PyUnicode_CompareWithASCIIString(one, "mean"))
                return 0;
            break;
        case 'A': case 'T': /* read before */
            break;
        case '(': {
            const char *end = strchr(*kinds, ')');
            if (!(PyList_CheckExact(one) || PyTuple_CheckExact(one)) || PySequence_Fast_GET_SIZE(one) != end - *kinds - 1)
                return 0;
            ++*kinds;
            if (!read_arguments(call, kinds, PySequence_Fast_ITEMS(one), end - *kinds))
                return 0;
            break;
        }
        default:
            return 0;
        }
    }
    return 1;
}

/* The first array among the arguments, and the axes. */
static int
read_sizes(Given *call, PyObject *const *given, Py_ssize_t count)
{
    PyObject *axis = NULL;
    const char *kind = call->kernel->takes;
    for (Py_ssize_t i = 0; i < count; i++, kind++) {
        PyObject *one = given[i];
        if (*kind == '(') {
            const char *end = strchr(kind, ')');
            if (!(PyList_CheckExact(one) || PyTuple_CheckExact(one)) || !PySequence_Fast_GET_SIZE(one))
                return 0;
            one = kind[1] == 'X' ? PySequence_Fast_GET_ITEM(one, 0) : NULL;
            if (one)
                call->first = (PyArrayObject *)one;
            kind = end;
        }
        else if (*kind == 'X')
            call->first = (PyArrayObject *)one;
        else if (*kind == 'A' ? PyLong_CheckExact(one) : *kind == 'T' && PyTuple_CheckExact(one))
            axis = one;
    }
    if (!call->first || !axis || !PyArray_CheckExact(call->first))
        return 0;
    call->type = PyArray_TYPE(call->first);
    return (call->type == NPY_FLOAT || call->type == NPY_DOUBLE) && read_axes(call, axis);
}

/* One result as its letter says. */
static PyObject *
result(Given *call, char kind)
{
    int axes = PyArray_NDIM(call->first);
    npy_intp shape[64], size = call->type == NPY_FLOAT ? 4 : 8;
    for (int i = 0; i < axes; i++)
        shape[i] = kind == 'R' && i >= axes - call->reduced ? 1 : PyArray_DIM(call->first, i);
    PyObject *made = PyArray_SimpleNew(axes, shape, call->type);
    if (made && !add(call, PyArray_BYTES((PyArrayObject *)made), kind == 'R' ? size : call->sizes[1] * size))
        Py_CLEAR(made);
    return made;
}

static PyObject *
results(Given *call)
{
    const char *kinds = call->kernel->gives;
    if (*kinds == 'S') {
        call->parts = call->arrays < ARRAYS ? malloc(call->pieces * sizeof(double)) : NULL;
        return call->parts ? Py_NewRef(Py_None) : PyErr_NoMemory();
    }
    if (!kinds[1])
        return result(call, *kinds);
    PyObject *made = PyList_New((Py_ssize_t)strlen(kinds));
    for (Py_ssize_t i = 0; made && kinds[i]; i++) {
        PyObject *one = result(call, kinds[i]);
        if (one)
            PyList_SET_ITEM(made, i, one);
        else
            Py_CLEAR(made);
    }
    return made;
}

/* The sum of what the pieces have given, in their order. */
static PyObject *
joined(Given *call)
{
    int twice = call->type == NPY_DOUBLE;
    double sum = 0;
    for (long i = 0; i < call->pieces; i++)
        sum += twice ? ((double *)call->parts)[i] : ((float *)call->parts)[i];
    float single = (float)sum;
    return scalar(call->type, twice ? (void *)&sum : (void *)&single);
}

/* A piece: as many rows, or those that are left. */
static void
run_piece(char **given, long piece)
{
    Given *call = (Given *)given;
    int twice = call->type == NPY_DOUBLE;
    long first = piece * call->rows, rows = call->sizes[0] - first;
    long sizes[3] = {rows < call->rows ? rows : call->rows, call->sizes[1], call->sizes[0]};
    char *data[ARRAYS];
    for (int i = 0; i < call->arrays; i++)
        data[i] = call->data[i] + first * call->step[i];
    if (call->parts)
        data[call->arrays] = call->parts + piece * (twice ? 8 : 4);
    char *own = malloc(call->kernel->own[twice](sizes) + 64);
    if (!own || call->kernel->run[twice](data, sizes, call->numbers, own + 63 - ((uintptr_t)own + 63) % 64))
        call->stopped = 1; /* no thread takes that back */
    free(own);
}

/* What the kernel makes of arguments; NULL, without an exception, if that is for the twin. */
static PyObject *
bound_result(Bound *self, PyObject *const *given, Py_ssize_t count)
{
    Given call = {.kernel = self->kernel};
    const char *kinds = self->kernel->takes;
    if (!in_use || !read_sizes(&call, given, count) || !read_arguments(&call, &kinds, given, count))
        return NULL;
    long row = call.sizes[1] * (call.type == NPY_FLOAT ? 4 : 8), most = row < PIECE ? PIECE / row : 1;
    call.rows = most > call.sizes[0] ? call.sizes[0] : most;
    call.pieces = (call.sizes[0] + call.rows - 1) / call.rows;
    PyObject *made = results(&call);
    if (!made) { /* the twin says so, too */
        PyErr_Clear();
        return NULL;
    }
    long entries = call.sizes[0] * call.sizes[1];
    PyThreadState *state = entries > LONG ? PyEval_SaveThread() : NULL;
    if (entries >= SHARED && call.pieces > 1)
        gradwright_parallel(run_piece, (char **)&call, call.pieces);
    else
        for (long i = 0; i < call.pieces; i++)
            run_piece((char **)&call, i);
    if (state)
        PyEval_RestoreThread(state);
    if (call.parts && !call.stopped)
        Py_SETREF(made, joined(&call));
    free(call.parts);
    if (call.stopped)
        Py_CLEAR(made);
    return made;
}

static PyObject *
bound_call(PyObject *callable, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
    Bound *self = (Bound *)callable;
    Py_ssize_t count = PyVectorcall_NARGS(nargsf), named = kwnames ? PyTuple_GET_SIZE(kwnames) : 0;
    Py_ssize_t all = PyTuple_GET_SIZE(self->names);
    PyObject *given[ARGUMENTS] = {0}, *made = NULL;
    if (count >= 1 && count - 1 + named == all) { /* the first is xp */
        Py_ssize_t found = count - 1;
        memcpy(given, args + 1, found * sizeof *given);
        for (Py_ssize_t i = 0; i < named; i++)
            for (Py_ssize_t k = count - 1; k < all; k++)
                if (PyTuple_GET_ITEM(self->names, k) == PyTuple_GET_ITEM(kwnames, i) && !given[k]) {
                    given[k] = args[count + i];
                    found++;
                    break;
                }
        made = found == all ? bound_result(self, given, all) : NULL;
    }
    if (made) {
        self->taken++;
        return made;
    }
    self->left++;
    return PyObject_Vectorcall(self->twin, args, nargsf, kwnames);
}

static PyObject *
bound_new(PyTypeObject *type, PyObject *args, PyObject *Py_UNUSED(kwargs))
{
    PyObject *twin, *names;
    const char *name;
    if (!PyArg_ParseTuple(args, "OsO!:kernel", &twin, &name, &PyTuple_Type, &names))
        return NULL;
    const Kernel *kernel = kernels;
    while (kernel && kernel->name && strcmp(kernel->name, name))
        kernel++;
    if (!kernel || !kernel->name || PyTuple_GET_SIZE(names) > ARGUMENTS)
        return PyErr_Format(PyExc_LookupError, "there is no kernel %s", name);
    Bound *self = (Bound *)type->tp_alloc(type, 0);
    if (!self)
        return NULL;
    self->call = bound_call;
    self->twin = Py_NewRef(twin);
    self->names = Py_NewRef(names);
    self->kernel = kernel;
    return (PyObject *)self;
}

static int
bound_traverse(Bound *self, visitproc visit, void *arg)
{
    Py_VISIT(self->twin);
    return 0;
}

static int
bound_clear(Bound *self)
{
    Py_CLEAR(self->twin);
    Py_CLEAR(self->names);
    return 0;
}

static void
bound_dealloc(Bound *self)
{
    PyObject_GC_UnTrack(self);
    bound_clear(self);
    Py_TYPE(self)->tp_free(self);
}

static PyMemberDef bound_members[] = {
    {"twin", T_OBJECT, offsetof(Bound, twin), READONLY, "the formula in Python"},
    {"taken", T_ULONGLONG, offsetof(Bound, taken), READONLY, "how often the kernel ran"},
    {"left", T_ULONGLONG, offsetof(Bound, left), READONLY, "how often the twin did"},
    {0},
};

static PyTypeObject Bound_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "gradwright.native._core.kernel",
    .tp_doc = "kernel(twin, name, names): the formula ``twin(xp, ...)`` of parameters with these names, by a kernel.",
    .tp_basicsize = sizeof(Bound),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_vectorcall_offset = offsetof(Bound, call),
    .tp_call = PyVectorcall_Call,
    .tp_new = bound_new,
    .tp_dealloc = (destructor)bound_dealloc,
    .tp_traverse = (traverseproc)bound_traverse,
    .tp_clear = (inquiry)bound_clear,
    .tp_members = bound_members,
};

static PyObject *
use_kernels(PyObject *Py_UNUSED(module), PyObject *flag)
{
    int before = in_use, asked = PyObject_IsTrue(flag);
    if (asked < 0)
        return NULL;
    in_use = asked;
    return PyBool_FromLong(before);
}

static PyMethodDef functions[] = {
    {"use_kernels", use_kernels, METH_O, "use_kernels(flag): whether kernels run; it gives what was said before."},
    {0},
};

int
add_kernels(PyObject *module)
{
#ifdef GRADWRIGHT_KERNELS
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd")
        && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        kernels = gradwright_kernels_avx512;
    else if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2"))
        kernels = gradwright_kernels_avx2;
#endif
    PyObject *names = PyDict_New();
    for (const Kernel *k = kernels; names && k && k->name; k++) {
        PyObject *of = PyLong_FromUnsignedLong(k->built_from);
        if (!of || PyDict_SetItemString(names, k->name, of) < 0)
            Py_CLEAR(names);
        Py_XDECREF(of);
    }
    int failed = !names || PyModule_AddObjectRef(module, "kernels", names) < 0;
    Py_XDECREF(names);
    if (failed || PyType_Ready(&Bound_Type) < 0 || PyModule_AddObjectRef(module, "kernel", (PyObject *)&Bound_Type) < 0)
        return -1;
    return PyModule_AddFunctions(module, functions);
}
