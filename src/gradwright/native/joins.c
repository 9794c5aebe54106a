/* Tensors of one shape joined, asked with a list or tuple of them: arrays that lie row by row are copied piece by piece.

   Twins: `cat` and `stack` of gradwright.face.functions.join, `joining` in gradwright.engine.apply, and the formulas
   `concat` and `stack` in gradwright.ops.shape. */

#include "core.h"

#define MOST 64 /* tensors */

typedef struct {
    Way way;
    PyObject *made; /* what records, by a tuple of which inputs need a gradient */
} Joining;

static PyObject *axis_name, *ends_name, *dim_name;

typedef struct { /* the tensors, which are usual and of one shape and dtype, and their arrays; held */
    Py_ssize_t many;
    PyObject *tensors[MOST];
    PyArrayObject *arrays[MOST];
} Pieces;

static void
let_go(Pieces *pieces)
{
    for (Py_ssize_t i = 0; i < pieces->many; i++) {
        Py_DECREF(pieces->tensors[i]);
        Py_DECREF(pieces->arrays[i]);
    }
}

static int
pieces_of(PyObject *list, Pieces *pieces)
{
    if ((!PyList_CheckExact(list) && !PyTuple_CheckExact(list)) || !PySequence_Fast_GET_SIZE(list)
        || PySequence_Fast_GET_SIZE(list) > MOST)
        return 0;
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(list); i++) {
        PyObject *x = PySequence_Fast_GET_ITEM(list, i);
        if (!is_tensor(x) || !is_whole(x) || stale(x) || !PyArray_CheckExact(FIELD(x, t_array)))
            return 0;
        PyArrayObject *a = (PyArrayObject *)FIELD(x, t_array), *first = i ? pieces->arrays[0] : a;
        if (PyArray_DESCR(a) != PyArray_DESCR(first) || !PyArray_ISCARRAY_RO(a) || !PyArray_SAMESHAPE(a, first))
            return 0;
        pieces->tensors[i] = Py_NewRef(x);
        pieces->arrays[i] = (PyArrayObject *)Py_NewRef(a);
        pieces->many++;
    }
    PyArrayObject *first = pieces->arrays[0];
    int usual = PyArray_DESCR(first) == of_single || PyArray_DESCR(first) == of_double;
    return usual && PyArray_NDIM(first) && PyArray_SIZE(first);
}

/* One array of pieces of so many bytes, in turn of each tensor. */
static PyObject *
joined(const Pieces *pieces, int ndim, npy_intp *dims, npy_intp piece)
{
    PyArrayObject *out = (PyArrayObject *)PyArray_SimpleNew(ndim, dims, PyArray_TYPE(pieces->arrays[0]));
    char *to = out ? PyArray_BYTES(out) : NULL;
    npy_intp all = PyArray_NBYTES(pieces->arrays[0]);
    for (npy_intp at = 0; out && at < all; at += piece)
        for (Py_ssize_t i = 0; i < pieces->many; i++, to += piece)
            memcpy(to, PyArray_BYTES(pieces->arrays[i]) + at, piece);
    return (PyObject *)out;
}

/* The plan of the node for these tensors; NULL if that is for the twin. */
static Plan *
plan_for(Joining *self, const Pieces *pieces)
{
    PyObject *mask = PyTuple_New(pieces->many), *record = NULL;
    for (Py_ssize_t i = 0; mask && i < pieces->many; i++)
        PyTuple_SET_ITEM(mask, i, Py_NewRef(FIELD(pieces->tensors[i], t_node) == Py_None ? Py_False : Py_True));
    if (mask && !(record = PyDict_GetItemWithError(self->made, mask)) && !PyErr_Occurred()) {
        record = PyObject_CallFunctionObjArgs(self->way.records, self->way.op, mask, NULL);
        if (record && PyDict_SetItem(self->made, mask, record) < 0)
            Py_CLEAR(record);
        Py_XDECREF(record); /* the dictionary holds it */
    }
    Py_XDECREF(mask);
    Plan *plan = &self->way.plans[pieces->many % MOST_CASES];
    return record && (record == plan->record || read_plan(plan, record) == 0) && plan->class ? plan : NULL;
}

/* The tensor; the array and the static arguments, which it takes over, may be NULL. */
static PyObject *
finished(Joining *self, const Pieces *pieces, PyObject *array, PyObject *fixed)
{
    int needed = 0, off;
    for (Py_ssize_t i = 0; i < pieces->many; i++)
        needed = needed || FIELD(pieces->tensors[i], t_node) != Py_None;
    needed = array && fixed ? is_recorded(needed, pieces->tensors, (int)pieces->many, &off) : -1;
    Call call = {.plan = needed > 0 ? plan_for(self, pieces) : NULL, .many = (int)pieces->many};
    if (needed < 0 || (needed && !call.plan))
        Py_CLEAR(array);
    PyObject *out = finish(&self->way, pieces->tensors, &call, array, fixed, 0);
    Py_XDECREF(fixed);
    return out;
}

/* A call with the tensors and an axis, of which there may be one more than the tensors have. */
static PyObject *
asked_with(Early *early, PyObject *const *args, Py_ssize_t count, PyObject *kwnames, int new)
{
    Joining *self = (Joining *)((Form *)early)->ways[0];
    Py_ssize_t named = kwnames ? PyTuple_GET_SIZE(kwnames) : 0;
    if (count < 1 || count + named > 2 || (named && PyTuple_GET_ITEM(kwnames, 0) != dim_name))
        return NULL;
    Pieces pieces = {.many = 0};
    npy_intp axis = 0, dims[NPY_MAXDIMS];
    PyObject *out = NULL;
    int usual = pieces_of(args[0], &pieces), ndim = usual ? PyArray_NDIM(pieces.arrays[0]) + new : 0;
    if (usual && ndim <= NPY_MAXDIMS && (count + named == 1 || is_axis(args[1], ndim, &axis))) {
        const npy_intp *old = PyArray_DIMS(pieces.arrays[0]);
        npy_intp piece = PyArray_ITEMSIZE(pieces.arrays[0]), each = new ? 1 : old[axis];
        for (int i = 0; i < ndim; i++) {
            dims[i] = i == axis ? each : old[i - (new && i > axis)];
            piece *= i < axis ? 1 : dims[i];
        }
        PyObject *fixed = PyDict_New(), *at = PyLong_FromSsize_t(axis), *ends = new ? NULL : PyTuple_New(pieces.many);
        for (Py_ssize_t i = 0; ends && i < pieces.many; i++)
            PyTuple_SET_ITEM(ends, i, PyLong_FromSsize_t(each * (i + 1)));
        if (!fixed || !at || PyDict_SetItem(fixed, axis_name, at) < 0
            || (!new && (!ends || PyDict_SetItem(fixed, ends_name, ends) < 0)))
            Py_CLEAR(fixed);
        Py_XDECREF(at), Py_XDECREF(ends);
        dims[axis] *= pieces.many;
        out = finished(self, &pieces, joined(&pieces, ndim, dims, piece), fixed);
    }
    let_go(&pieces);
    return out;
}

static PyObject *
cat_ask(Early *early, PyObject *const *args, Py_ssize_t count, PyObject *kwnames)
{
    return asked_with(early, args, count, kwnames, 0);
}

static PyObject *
stack_ask(Early *early, PyObject *const *args, Py_ssize_t count, PyObject *kwnames)
{
    return asked_with(early, args, count, kwnames, 1);
}

static const Asked asked[] = {{"cat", cat_ask}, {"stack", stack_ask}, {NULL, NULL}};

/* ---- what is known of an operation that joins ---- */

static PyObject *
joining_new(PyTypeObject *type, PyObject *args, PyObject *Py_UNUSED(kwargs))
{
    PyObject *op, *names, *recorder, *made;
    if (!PyArg_ParseTuple(args, "OO!OO!:joining", &op, &PyTuple_Type, &names, &recorder, &PyDict_Type, &made))
        return NULL;
    Joining *self = (Joining *)type->tp_alloc(type, 0);
    if (self) {
        self->way.op = Py_NewRef(op);
        self->way.names = Py_NewRef(names);
        self->way.records = Py_NewRef(recorder);
        self->made = Py_NewRef(made);
    }
    return (PyObject *)self;
}

static int
joining_traverse(Joining *self, visitproc visit, void *arg)
{
    Py_VISIT(self->made);
    return way_visit(&self->way, visit, arg);
}

static int
joining_clear(Joining *self)
{
    Py_CLEAR(self->made);
    return way_clear(&self->way);
}

static PyTypeObject Joining_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "gradwright.native._core.joining",
    .tp_doc = "joining(op, names, recorder, made): an operation of any number of tensors, and what records it, by mask.",
    .tp_basicsize = sizeof(Joining),
    .tp_base = &Way_Type,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_new = joining_new,
    .tp_traverse = (traverseproc)joining_traverse,
    .tp_clear = (inquiry)joining_clear,
};

int
add_joins(PyObject *module)
{
    axis_name = PyUnicode_InternFromString("axis");
    ends_name = PyUnicode_InternFromString("ends");
    dim_name = PyUnicode_InternFromString("dim");
    if (!axis_name || !ends_name || !dim_name || PyType_Ready(&Joining_Type) < 0)
        return -1;
    has_forms(asked);
    return PyModule_AddObjectRef(module, "joining", (PyObject *)&Joining_Type);
}
