/* NumPy's inner loops called directly, past the machinery of its ufuncs, which takes longer than a small loop.

   The usual operands: arrays of float32 or of float64 that lie row by row, of one shape; beside them, or alone, scalars
   and arrays of no axes. The loop is the one that the ufunc would have chosen, so the bits are the same. Where it raises
   a floating-point flag and somebody asked NumPy for more than a warning, the twin computes, and does what was asked.

   Twins: of `loop` the formula that it is made of; of `whole_sum` gradwright.backends.numpy.sum. */

#include "core.h"

#include <fenv.h>
#ifdef __x86_64__
#include <xmmintrin.h>
#endif
#include <structmember.h>

#define MOST 2          /* operands */
#define SHARED_LOOP 100000   /* entries from which threads share a loop, */
#define PART (1 << 14)  /* so many each time */
#define LARGE (1 << 17) /* entries from which sums are made in another way: _LARGE of the twin */

/* ---- what NumPy is to do about floating-point errors ---- */

PyObject *setting, *users_setting;
static PyObject *usual, *silent; /* values of NumPy's that ask for no more than a warning */

static PyObject *
settings(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *variable, *first, *second, *users;
    if (!PyArg_ParseTuple(args, "O!OOO!:settings", &PyContextVar_Type, &variable, &first, &second, &PyContextVar_Type,
                          &users))
        return NULL;
    Py_XSETREF(setting, Py_NewRef(variable));
    Py_XSETREF(users_setting, Py_NewRef(users));
    Py_XSETREF(usual, Py_NewRef(first));
    Py_XSETREF(silent, Py_NewRef(second));
    Py_RETURN_NONE;
}

int
somebody_asked(int muted)
{
    if (muted == IN_PASS)
        return 0;
    PyObject *value = NULL;
    if (!setting || PyContextVar_Get(setting, NULL, &value) < 0) {
        PyErr_Clear();
        return 1;
    }
    Py_XDECREF(value); /* the context holds it */
    return value != silent && !(muted && value == usual);
}

/* ---- operands ---- */

PyArray_Descr *of_single, *of_double;

int
usual_operand(PyObject *operand, char **data, PyArrayObject **array)
{
    if (PyArray_CheckExact(operand)) {
        PyArrayObject *a = (PyArrayObject *)operand;
        int type = PyArray_DESCR(a) == of_double ? NPY_DOUBLE : PyArray_DESCR(a) == of_single ? NPY_FLOAT : -1;
        if (type < 0 || !PyArray_ISCARRAY_RO(a))
            return -1;
        *data = PyArray_BYTES(a);
        *array = PyArray_NDIM(a) ? a : NULL;
        return type;
    }
    *array = NULL;
    if (Py_IS_TYPE(operand, &PyDoubleArrType_Type)) {
        *data = (char *)&PyArrayScalar_VAL(operand, Double);
        return NPY_DOUBLE;
    }
    if (Py_IS_TYPE(operand, &PyFloatArrType_Type)) {
        *data = (char *)&PyArrayScalar_VAL(operand, Float);
        return NPY_FLOAT;
    }
    return -1;
}

PyObject *
scalar(int type, const void *data)
{
    if (type == NPY_BOOL)
        return Py_NewRef(*(const npy_bool *)data ? PyArrayScalar_True : PyArrayScalar_False);
    PyTypeObject *class = type == NPY_DOUBLE ? &PyDoubleArrType_Type : &PyFloatArrType_Type;
    PyObject *made = class->tp_alloc(class, 0);
    if (made && type == NPY_DOUBLE)
        PyArrayScalar_ASSIGN(made, Double, *(const double *)data);
    else if (made)
        PyArrayScalar_ASSIGN(made, Float, *(const float *)data);
    return made;
}

/* ---- one ufunc ---- */

#ifdef __x86_64__ /* the loops of floats raise them there alone; `fetestexcept` looks into the old unit, too */
#define RAISED() (_mm_getcsr() & FLAGS)
#define RAISE(flags) _mm_setcsr(_mm_getcsr() | (flags))
#else
#define RAISED() fetestexcept(FLAGS)
#define RAISE(flags) feraiseexcept(flags)
#endif

void
clear_flags(void)
{
    if (RAISED()) /* to clear them takes longer than to look */
        feclearexcept(FLAGS);
}

int
flags_are_fine(int muted)
{
    return !RAISED() || !somebody_asked(muted);
}

/* A loop whose entries threads share. */
typedef struct {
    const Inner *inner;
    char **data;
    npy_intp count;
    const npy_intp *steps;
    int operands, raised; /* with the result; the flags that came up */
} Shared;

static void
run_part(char **given, long part)
{
    Shared *of = (Shared *)given;
    npy_intp first = part * PART, count = of->count - first < PART ? of->count - first : PART;
    char *data[MOST + 1];
    for (int i = 0; i < of->operands; i++)
        data[i] = of->data[i] + first * of->steps[i];
    clear_flags();
    of->inner->run(data, &count, of->steps, of->inner->data);
    int raised = fetestexcept(FLAGS);
    if (raised)
        __atomic_fetch_or(&of->raised, raised, __ATOMIC_RELAXED);
}

/* Run a loop; whether what it gave is what was asked for: not where it raised a flag that interests somebody. */
static int
ran(Loop *self, const Inner *inner, char **data, npy_intp count, const npy_intp *steps, int muted)
{
    self->taken++;
    clear_flags();
    if (count > LONG) {
        Shared shared = {inner, data, count, steps, self->nin + 1, 0};
        Py_BEGIN_ALLOW_THREADS
        if (count >= SHARED_LOOP && steps[self->nin]) { /* no sum */
            gradwright_parallel(run_part, (char **)&shared, (count + PART - 1) / PART);
            RAISE(shared.raised);
        }
        else
            inner->run(data, &count, steps, inner->data);
        Py_END_ALLOW_THREADS
    }
    else if (count)
        inner->run(data, &count, steps, inner->data);
    return flags_are_fine(muted);
}

int
loop_ran(Loop *self, int type, char **data, npy_intp count, const npy_intp *steps)
{
    const Inner *inner = type == NPY_DOUBLE ? &self->twice : &self->single;
    return inner->run && ran(self, inner, data, count, steps, self->muted);
}

static PyObject *
result_of(Loop *self, PyObject *const *operands, int muted)
{
    char *data[MOST + 1];
    npy_intp steps[MOST + 1];
    PyArrayObject *shaped = NULL;
    int type = -1;
    for (int i = 0; i < self->nin; i++) {
        PyArrayObject *array;
        int found = usual_operand(operands[i], &data[i], &array);
        if (found < 0 || (i && found != type))
            return NULL;
        type = found;
        steps[i] = 0;
        if (!array)
            continue;
        steps[i] = PyArray_ITEMSIZE(array);
        if (!shaped)
            shaped = array;
        else if (!PyArray_SAMESHAPE(shaped, array))
            return NULL;
    }
    const Inner *inner = type == NPY_DOUBLE ? &self->twice : &self->single;
    if (!inner->run)
        return NULL;
    if (!shaped) {
        union { double number; npy_bool truth; } entry;
        data[self->nin] = (char *)&entry;
        steps[self->nin] = 0;
        return ran(self, inner, data, 1, steps, muted) ? scalar(inner->result, &entry) : NULL;
    }
    PyArrayObject *out = (PyArrayObject *)PyArray_SimpleNew(PyArray_NDIM(shaped), PyArray_DIMS(shaped), inner->result);
    if (!out) { /* the twin says so, too */
        PyErr_Clear();
        return NULL;
    }
    data[self->nin] = PyArray_BYTES(out);
    steps[self->nin] = PyArray_ITEMSIZE(out);
    if (!ran(self, inner, data, PyArray_SIZE(out), steps, muted))
        Py_CLEAR(out);
    return (PyObject *)out;
}

PyObject *
loop_result(Loop *self, PyObject *const *operands)
{
    return result_of(self, operands, self->muted);
}

PyObject *
loop_in_pass(Loop *self, PyObject *const *operands)
{
    return result_of(self, operands, IN_PASS);
}

int
loop_operand(PyObject *operand, PyArrayObject **array)
{
    char *data;
    return usual_operand(operand, &data, array);
}

int
loop_into(Loop *self, PyObject *first, PyObject *second)
{
    char *data[3];
    PyArrayObject *a, *b;
    int type = usual_operand(first, &data[0], &a);
    const Inner *inner = type == NPY_DOUBLE ? &self->twice : &self->single;
    if (type < 0 || type != usual_operand(second, &data[1], &b) || !a != !b || !inner->run
        || !PyArray_ISWRITEABLE((PyArrayObject *)first))
        return 0;
    data[2] = data[0];
    npy_intp step = PyArray_ITEMSIZE((PyArrayObject *)first), steps[3] = {step, step, step};
    return ran(self, inner, data, PyArray_SIZE((PyArrayObject *)first), steps, IN_PASS);
}

static PyObject *
loop_call(PyObject *callable, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
    Loop *self = (Loop *)callable;
    if (PyVectorcall_NARGS(nargsf) == self->nin + 1 && !kwnames) { /* the first is xp */
        PyObject *found = loop_result(self, args + 1);
        if (found)
            return found;
    }
    self->left++;
    return PyObject_Vectorcall(self->twin, args, nargsf, kwnames);
}

Inner
inner_of(PyUFuncObject *ufunc, char type)
{
    for (int i = 0; ufunc->functions && i < ufunc->ntypes; i++) {
        const char *types = ufunc->types + i * ufunc->nargs;
        int fits = ufunc->functions[i] != NULL;
        for (int k = 0; k < ufunc->nin; k++)
            fits = fits && types[k] == type;
        char result = types[ufunc->nin];
        if (fits)
            return (result == type || result == NPY_BOOL)
                ? (Inner){ufunc->functions[i], ufunc->data ? (void *)ufunc->data[i] : NULL, result}
                : (Inner){NULL, NULL, 0};
    }
    return (Inner){NULL, NULL, 0};
}

static PyObject *
loop_new(PyTypeObject *type, PyObject *args, PyObject *Py_UNUSED(kwargs))
{
    PyObject *twin, *given;
    int muted;
    if (!PyArg_ParseTuple(args, "OO!p:loop", &twin, &PyUFunc_Type, &given, &muted))
        return NULL;
    PyUFuncObject *ufunc = (PyUFuncObject *)given;
    if (ufunc->nin > MOST)
        return PyErr_Format(PyExc_ValueError, "loop() takes ufuncs of %d operands at most, but got %R", MOST, given);
    Loop *self = (Loop *)type->tp_alloc(type, 0);
    if (!self)
        return NULL;
    self->call = loop_call;
    self->twin = Py_NewRef(twin);
    self->ufunc = Py_NewRef(given);
    self->nin = ufunc->nin;
    self->muted = muted;
    if (ufunc->nout == 1 && !ufunc->core_enabled) {
        self->single = inner_of(ufunc, NPY_FLOAT);
        self->twice = inner_of(ufunc, NPY_DOUBLE);
    }
    return (PyObject *)self;
}

static int
loop_traverse(Loop *self, visitproc visit, void *arg)
{
    Py_VISIT(self->twin);
    Py_VISIT(self->ufunc);
    return 0;
}

static int
loop_clear(Loop *self)
{
    Py_CLEAR(self->twin);
    Py_CLEAR(self->ufunc);
    return 0;
}

static void
loop_dealloc(Loop *self)
{
    PyObject_GC_UnTrack(self);
    loop_clear(self);
    Py_TYPE(self)->tp_free(self);
}

static PyObject *
loop_found(Loop *self, void *Py_UNUSED(closure))
{
    return PyLong_FromLong((self->single.run != NULL) + (self->twice.run != NULL));
}

static PyMemberDef loop_members[] = {
    {"twin", T_OBJECT, offsetof(Loop, twin), READONLY, "the formula in Python"},
    {"taken", T_ULONGLONG, offsetof(Loop, taken), READONLY, "how often the loop ran"},
    {"left", T_ULONGLONG, offsetof(Loop, left), READONLY, "how often the twin did"},
    {0},
};

static PyGetSetDef loop_getset[] = {
    {"found", (getter)loop_found, NULL, "how many inner loops NumPy has for it: of float32 and of float64", NULL},
    {0},
};

PyTypeObject Loop_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "gradwright.native._core.loop",
    .tp_doc = "loop(twin, ufunc, muted): the formula ``twin(xp, *operands)``, which is this ufunc; without warnings if muted.",
    .tp_basicsize = sizeof(Loop),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_vectorcall_offset = offsetof(Loop, call),
    .tp_call = PyVectorcall_Call,
    .tp_new = loop_new,
    .tp_dealloc = (destructor)loop_dealloc,
    .tp_traverse = (traverseproc)loop_traverse,
    .tp_clear = (inquiry)loop_clear,
    .tp_members = loop_members,
    .tp_getset = loop_getset,
};

/* ---- the sum of all entries ---- */

static PyObject *axis_name, *keepdims_name;
double zero_of_sums;
Loop *all_sums;

PyObject *
whole_sum_result(Loop *self, PyObject *x)
{
    char *entries;
    PyArrayObject *a;
    int type = usual_operand(x, &entries, &a);
    npy_intp count = type < 0 || !a ? 0 : PyArray_SIZE(a);
    if (!count || count >= LARGE)
        return NULL;
    const Inner *inner = type == NPY_DOUBLE ? &self->twice : &self->single;
    if (!inner->run)
        return NULL;
    union { double twice; float single; } sum;
    if (type == NPY_DOUBLE)
        sum.twice = zero_of_sums;
    else
        sum.single = (float)zero_of_sums;
    char *data[3] = {(char *)&sum, entries, (char *)&sum};
    npy_intp steps[3] = {0, PyArray_ITEMSIZE(a), 0};
    return ran(self, inner, data, count, steps, self->muted) ? scalar(type, &sum) : NULL;
}

static PyObject *
whole_sum_call(PyObject *callable, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
    Loop *self = (Loop *)callable;
    Py_ssize_t given = PyVectorcall_NARGS(nargsf), named = kwnames ? PyTuple_GET_SIZE(kwnames) : 0;
    int whole = given == 1;
    for (Py_ssize_t i = 0; whole && i < named; i++) {
        PyObject *name = PyTuple_GET_ITEM(kwnames, i), *value = args[given + i];
        whole = (name == axis_name && value == Py_None) || (name == keepdims_name && value == Py_False);
    }
    PyObject *found = whole ? whole_sum_result(self, args[0]) : NULL;
    if (found)
        return found;
    self->left++;
    return PyObject_Vectorcall(self->twin, args, nargsf, kwnames);
}

static PyObject *
whole_sum(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *twin, *add, *zero;
    if (!PyArg_ParseTuple(args, "OO!O!:whole_sum", &twin, &PyUFunc_Type, &add, &PyFloat_Type, &zero))
        return NULL;
    zero_of_sums = PyFloat_AS_DOUBLE(zero);
    PyObject *made = PyObject_CallFunctionObjArgs((PyObject *)&Loop_Type, twin, add, Py_True, NULL);
    if (made) {
        ((Loop *)made)->call = whole_sum_call;
        Py_XSETREF(all_sums, (Loop *)Py_NewRef(made));
    }
    return made;
}

static PyMethodDef functions[] = {
    {"settings", settings, METH_VARARGS,
     "settings(variable, usual, silent, users): where NumPy keeps what to do about floating-point errors, two values of "
     "it, and where the user's own is kept meanwhile."},
    {"whole_sum", whole_sum, METH_VARARGS,
     "whole_sum(twin, add, zero): ``twin(x, axis=None, keepdims=False)`` by the loop of ``add``, begun with ``zero``."},
    {0},
};

int
add_loops(PyObject *module)
{
    axis_name = PyUnicode_InternFromString("axis");
    keepdims_name = PyUnicode_InternFromString("keepdims");
    of_single = PyArray_DescrFromType(NPY_FLOAT);
    of_double = PyArray_DescrFromType(NPY_DOUBLE);
    if (!axis_name || !keepdims_name || PyType_Ready(&Loop_Type) < 0)
        return -1;
    if (PyModule_AddObjectRef(module, "loop", (PyObject *)&Loop_Type) < 0)
        return -1;
    return PyModule_AddFunctions(module, functions);
}
