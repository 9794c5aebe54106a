/* Formulas and derivatives as programs: which one it is for the dtypes of the arrays and the static arguments, and whether the
   operands are usual. A program is made when such a call comes first, by Python.

   The usual operands are those of loops.c, booleans beside them, and one entry that is spread over an array, as the gradient
   of a sum is.

   Twins: the formulas themselves. */

#include "core.h"

#include <structmember.h>

#define ENTRIES 8 /* programs of a formula: other dtypes, other static arguments */

typedef struct {
    PyObject_HEAD
    vectorcallfunc call;
    PyObject *twin;  /* the formula in Python */
    PyObject *names; /* of the static arguments that come by name */
    PyObject *noted; /* (dtypes, static arguments) -> program or None */
    int muted, arguments, arrays;
    char is_array[MOST_ARGUMENTS]; /* of the positional arguments, behind xp */
    int entries;
    struct { unsigned types; PyObject *values, *program; } entry[ENTRIES];
    unsigned long long taken, left;
} Formula;

/* Whether two static arguments are the same, -0.0 and 0.0, 1 and True apart; -1: such a one is never. */
static int
same(PyObject *a, PyObject *b)
{
    if (a == b)
        return 1;
    if (PyFloat_CheckExact(a) && PyFloat_CheckExact(b))
        return memcmp(&((PyFloatObject *)a)->ob_fval, &((PyFloatObject *)b)->ob_fval, sizeof(double)) == 0;
    return PyLong_CheckExact(a) && PyLong_CheckExact(b) ? PyObject_RichCompareBool(a, b, Py_EQ) : 0;
}

static int
plain_value(PyObject *x)
{
    return PyFloat_CheckExact(x) || PyLong_CheckExact(x) || PyBool_Check(x) || x == Py_None;
}

/* The program for these dtypes, two bits each, and static arguments; NULL, perhaps with an exception, if there is none. */
static PyObject *
program_for(Formula *self, unsigned types, PyObject *const *values, int count, int alone)
{
    for (int i = 0; i < self->entries; i++) {
        int fits = self->entry[i].types == types;
        for (int k = 0; fits && k < count; k++)
            fits = same(values[k], PyTuple_GET_ITEM(self->entry[i].values, k));
        if (fits) {
            PyObject *found = self->entry[i].program;
            return found == Py_None ? NULL : found;
        }
    }
    if (alone || self->entries == ENTRIES)
        return NULL;
    char kinds[MOST_ARGUMENTS + 1] = {0};
    for (int i = 0; i < self->arrays; i++)
        kinds[i] = "?fd"[types >> 2 * i & 3];
    PyObject *held = PyTuple_New(count);
    for (int k = 0; held && k < count; k++) {
        if (!plain_value(values[k]))
            Py_CLEAR(held);
        else
            PyTuple_SET_ITEM(held, k, Py_NewRef(values[k]));
    }
    PyObject *made = held ? PyObject_CallFunction(self->noted, "sO", kinds, held) : NULL;
    if (!made || self->entries == ENTRIES) { /* other threads may have made some meanwhile */
        Py_XDECREF(held), Py_XDECREF(made);
        return NULL;
    }
    self->entry[self->entries].types = types;
    self->entry[self->entries].values = held;
    self->entry[self->entries++].program = made;
    return made == Py_None ? NULL : made;
}

/* As `usual_operand`, of booleans, too, and of one entry that is spread over an array: then `spread` is set. */
static int
operand(PyObject *given, char **data, PyArrayObject **array, char *spread)
{
    *spread = 0;
    int type = usual_operand(given, data, array);
    if (type >= 0)
        return type;
    if (PyArray_CheckExact(given)) {
        PyArrayObject *a = (PyArrayObject *)given;
        type = PyArray_DESCR(a) == of_double ? NPY_DOUBLE : PyArray_DESCR(a) == of_single ? NPY_FLOAT : NPY_BOOL;
        if ((type == NPY_BOOL && PyArray_TYPE(a) != NPY_BOOL) || !PyArray_ISALIGNED(a))
            return -1;
        *spread = !PyArray_IS_C_CONTIGUOUS(a);
        for (int i = 0; *spread && i < PyArray_NDIM(a); i++)
            if (PyArray_DIM(a, i) != 1 && PyArray_STRIDE(a, i))
                return -1;
        *data = PyArray_BYTES(a);
        *array = PyArray_NDIM(a) ? a : NULL;
        return type;
    }
    *array = NULL;
    *data = Py_IS_TYPE(given, &PyBoolArrType_Type) ? (char *)&PyArrayScalar_VAL(given, Bool) : NULL;
    return *data ? NPY_BOOL : -1;
}

int
arrays_alone(PyObject *formula)
{
    if (Py_IS_TYPE(formula, &Loop_Type))
        return ((Loop *)formula)->nin;
    Formula *self = (Formula *)formula;
    if (!Py_IS_TYPE(formula, &Formula_Type) || self->arrays != self->arguments || PyTuple_GET_SIZE(self->names))
        return -1;
    return self->arrays;
}

static PyObject *
result_of(Formula *self, PyObject *const *given, PyObject *const *named, int muted, int alone)
{
    char *data[MOST_ARGUMENTS];
    char spread[MOST_ARGUMENTS];
    PyArrayObject *arrays[MOST_ARGUMENTS];
    PyObject *values[2 * MOST_ARGUMENTS];
    unsigned types = 0;
    int n = 0, count = 0;
    for (int i = 0; i < self->arguments; i++) {
        if (!self->is_array[i]) {
            values[count++] = given[i];
            continue;
        }
        int type = operand(given[i], &data[n], &arrays[n], &spread[n]);
        if (type < 0)
            return NULL;
        types |= (type == NPY_DOUBLE ? 2u : type == NPY_FLOAT ? 1u : 0u) << 2 * n++;
    }
    for (int i = 0; i < PyTuple_GET_SIZE(self->names); i++)
        values[count++] = named[i];
    if (!types) /* booleans alone: what takes them, and as what, the twin says */
        return NULL;
    PyObject *program = program_for(self, types, values, count, alone);
    PyObject *found = program ? program_result(program, data, arrays, spread, somebody_asked(muted)) : NULL;
    self->taken += found != NULL;
    return found;
}

PyObject *
formula_result(PyObject *formula, PyObject *const *given, PyObject *const *named)
{
    if (Py_IS_TYPE(formula, &Loop_Type))
        return loop_result((Loop *)formula, given);
    return result_of((Formula *)formula, given, named, ((Formula *)formula)->muted, 0);
}

PyObject *
formula_in_pass(PyObject *formula, PyObject *const *given, int count, int alone)
{
    Formula *self = (Formula *)formula;
    if (!Py_IS_TYPE(formula, &Formula_Type) || self->arguments != count || PyTuple_GET_SIZE(self->names))
        return NULL;
    return result_of(self, given, NULL, IN_PASS, alone);
}

/* Whether the static arguments come by name, all and in order. */
static int
as_named(Formula *self, PyObject *kwnames)
{
    Py_ssize_t count = PyTuple_GET_SIZE(self->names);
    if ((kwnames ? PyTuple_GET_SIZE(kwnames) : 0) != count)
        return 0;
    for (Py_ssize_t i = 0; i < count; i++)
        if (PyTuple_GET_ITEM(kwnames, i) != PyTuple_GET_ITEM(self->names, i)) /* both are interned */
            return 0;
    return 1;
}

static PyObject *
formula_call(PyObject *callable, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
    Formula *self = (Formula *)callable;
    if (PyVectorcall_NARGS(nargsf) == self->arguments + 1 && as_named(self, kwnames)) { /* the first is xp */
        PyObject *found = formula_result(callable, args + 1, args + 1 + self->arguments);
        if (found || PyErr_Occurred())
            return found;
    }
    self->left++;
    return PyObject_Vectorcall(self->twin, args, nargsf, kwnames);
}

static PyObject *
formula_new(PyTypeObject *type, PyObject *args, PyObject *Py_UNUSED(kwargs))
{
    PyObject *twin, *is_array, *names, *noted;
    int muted;
    if (!PyArg_ParseTuple(args, "OpO!O!O:formula", &twin, &muted, &PyBytes_Type, &is_array, &PyTuple_Type, &names, &noted))
        return NULL;
    Py_ssize_t arguments = PyBytes_GET_SIZE(is_array);
    if (arguments > MOST_ARGUMENTS || PyTuple_GET_SIZE(names) > MOST_ARGUMENTS)
        return PyErr_Format(PyExc_ValueError, "formula() takes %d arguments at most", MOST_ARGUMENTS);
    Formula *self = (Formula *)type->tp_alloc(type, 0);
    if (!self)
        return NULL;
    self->call = formula_call;
    self->twin = Py_NewRef(twin);
    self->names = Py_NewRef(names);
    self->noted = Py_NewRef(noted);
    self->muted = muted;
    self->arguments = (int)arguments;
    memcpy(self->is_array, PyBytes_AS_STRING(is_array), arguments);
    for (int i = 0; i < arguments; i++)
        self->arrays += self->is_array[i];
    return (PyObject *)self;
}

static int
formula_traverse(Formula *self, visitproc visit, void *arg)
{
    Py_VISIT(self->twin);
    Py_VISIT(self->names);
    Py_VISIT(self->noted);
    for (int i = 0; i < self->entries; i++) {
        Py_VISIT(self->entry[i].values);
        Py_VISIT(self->entry[i].program);
    }
    return 0;
}

static int
formula_clear(Formula *self)
{
    Py_CLEAR(self->twin);
    Py_CLEAR(self->names);
    Py_CLEAR(self->noted);
    while (self->entries) {
        self->entries--;
        Py_CLEAR(self->entry[self->entries].values);
        Py_CLEAR(self->entry[self->entries].program);
    }
    return 0;
}

static void
formula_dealloc(Formula *self)
{
    PyObject_GC_UnTrack(self);
    formula_clear(self);
    Py_TYPE(self)->tp_free(self);
}

static PyObject *
formula_programs(Formula *self, void *Py_UNUSED(closure))
{
    PyObject *found = PyList_New(0);
    for (int i = 0; found && i < self->entries; i++)
        if (PyList_Append(found, self->entry[i].program) < 0)
            Py_CLEAR(found);
    return found;
}

static PyMemberDef formula_members[] = {
    {"twin", T_OBJECT, offsetof(Formula, twin), READONLY, "the formula in Python"},
    {"taken", T_ULONGLONG, offsetof(Formula, taken), READONLY, "how often a program ran"},
    {"left", T_ULONGLONG, offsetof(Formula, left), READONLY, "how often the twin did"},
    {0},
};

static PyGetSetDef formula_getset[] = {
    {"programs", (getter)formula_programs, NULL, "the programs made until now; None where it cannot be one", NULL},
    {0},
};

PyTypeObject Formula_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "gradwright.native._core.formula",
    .tp_doc = "formula(twin, muted, arrays, names, noted): the formula ``twin(xp, *given, **static)`` as programs.",
    .tp_basicsize = sizeof(Formula),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_vectorcall_offset = offsetof(Formula, call),
    .tp_call = PyVectorcall_Call,
    .tp_new = formula_new,
    .tp_dealloc = (destructor)formula_dealloc,
    .tp_traverse = (traverseproc)formula_traverse,
    .tp_clear = (inquiry)formula_clear,
    .tp_members = formula_members,
    .tp_getset = formula_getset,
};

int
add_formulas(PyObject *module)
{
    return PyType_Ready(&Formula_Type) < 0 ? -1 : PyModule_AddObjectRef(module, "formula", (PyObject *)&Formula_Type);
}
