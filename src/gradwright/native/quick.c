/* What happens for an operation of one or two tensors: look at the operands, run the loop, make the tensor and its node.

   Twins: the lines of `TEXT` in gradwright.engine.apply that apply to such a call. */

#include "core.h"

typedef struct {
    Way way;
    PyObject *loop;
    PyObject *numbers[2][4]; /* the tables of floats and of ints: by dtype of an array, by type of a scalar */
    PyObject *zeros[4];      /* the number 0, beside each */
    int reflected, broadcasts; /* of two inputs the second may be a Python number */
} Quick;

/* A Python number as a tensor beside an array; it is held in `made`. */
static PyObject *
number_beside(Quick *self, PyObject *array, PyObject *number, PyObject **made)
{
    PyObject **tables = self->numbers[PyLong_CheckExact(number)], *table = NULL;
    int k = -1;
    if (PyArray_CheckExact(array)) {
        PyArray_Descr *dtype = PyArray_DESCR((PyArrayObject *)array);
        k = dtype == of_single ? 0 : dtype == of_double ? 1 : -1;
    }
    else if (Py_IS_TYPE(array, &PyFloatArrType_Type))
        k = 2;
    else if (Py_IS_TYPE(array, &PyDoubleArrType_Type))
        k = 3;
    if (k < 0)
        return NULL;
    table = tables[k];
    int zero = PyLong_CheckExact(number) && !PyObject_IsTrue(number); /* tables have none, as -0.0 equals it */
    if (zero && self->zeros[k])
        return *made = Py_NewRef(self->zeros[k]);
    *made = Py_XNewRef(PyDict_GetItemWithError(table, number));
    if (!*made && !PyErr_Occurred())
        *made = PyObject_GetItem(table, number); /* it makes what it has not */
    if (zero && *made)
        Py_XSETREF(self->zeros[k], Py_NewRef(*made));
    return *made;
}

static int
axes_of(PyObject *t)
{
    PyObject *array = FIELD(t, t_array);
    return PyArray_Check(array) ? PyArray_NDIM((PyArrayObject *)array) : 0;
}

static PyObject *
result_of(Quick *self, PyObject *x, PyObject *y, PyObject **made)
{
    if (!is_tensor(x) || !is_whole(x))
        return NULL;
    int number = y && (PyFloat_CheckExact(y) || PyLong_CheckExact(y));
    if (number && !(y = number_beside(self, FIELD(x, t_array), y, made)))
        return NULL;
    if (y && ((!number && !is_tensor(y)) || !is_whole(y)))
        return NULL;
    PyObject *inputs[2] = {self->reflected ? y : x, self->reflected ? x : y};
    /* of other shapes than equal ones and () the loop makes nothing */
    Call call;
    if (!begin(&self->way, inputs, self->broadcasts && !number && y && axes_of(x) != axes_of(y), &call))
        return NULL;
    PyObject *arrays[2] = {FIELD(inputs[0], t_array), inputs[1] ? FIELD(inputs[1], t_array) : NULL};
    Py_INCREF(arrays[0]), Py_XINCREF(arrays[1]); /* another thread may give the tensor other ones meanwhile */
    PyObject *array = formula_result(self->loop, arrays, NULL);
    Py_DECREF(arrays[0]), Py_XDECREF(arrays[1]);
    return finish(&self->way, inputs, &call, array, NULL, 0);
}

static PyObject *
quick_ask(Early *early, PyObject *const *args, Py_ssize_t count, PyObject *kwnames)
{
    Quick *self = (Quick *)early;
    if (count != self->way.inputs || kwnames)
        return NULL;
    PyObject *made = NULL;
    PyObject *out = result_of(self, args[0], self->way.inputs > 1 ? args[1] : NULL, &made);
    Py_XDECREF(made);
    return out;
}

static PyObject *
quick_new(PyTypeObject *type, PyObject *args, PyObject *Py_UNUSED(kwargs))
{
    PyObject *op, *loop, *records, *beside;
    int reflected, broadcasts;
    if (!PyArg_ParseTuple(args, "OOO!Opp:quick", &op, &loop, &PyList_Type, &records, &beside, &reflected, &broadcasts))
        return NULL;
    int inputs = arrays_alone(loop);
    if (inputs < 1 || inputs > 2)
        return PyErr_Format(PyExc_TypeError, "quick() takes a loop, or a formula of one or two arrays, but got %R", loop);
    Quick *self = (Quick *)type->tp_alloc(type, 0);
    if (!self)
        return NULL;
    self->way.early.ask = quick_ask;
    self->way.op = Py_NewRef(op);
    self->loop = Py_NewRef(loop);
    self->way.records = Py_NewRef(records);
    self->way.inputs = inputs;
    self->reflected = reflected;
    self->broadcasts = broadcasts;
    PyObject *keys[4] = {(PyObject *)of_single, (PyObject *)of_double, (PyObject *)&PyFloatArrType_Type,
                         (PyObject *)&PyDoubleArrType_Type};
    for (int k = 0; self->way.inputs > 1 && k < 8; k++) {
        PyObject *table = PyObject_GetItem(k < 4 ? floats : beside, keys[k % 4]);
        if (!table || !PyDict_Check(table)) {
            Py_XDECREF(table);
            Py_DECREF(self);
            return NULL;
        }
        self->numbers[k / 4][k % 4] = table;
    }
    return (PyObject *)self;
}

static int
quick_traverse(Quick *self, visitproc visit, void *arg)
{
    Py_VISIT(self->loop);
    for (int k = 0; k < 8; k++)
        Py_VISIT(self->numbers[k / 4][k % 4]);
    for (int k = 0; k < 4; k++)
        Py_VISIT(self->zeros[k]);
    return way_visit(&self->way, visit, arg);
}

static int
quick_clear(Quick *self)
{
    Py_CLEAR(self->loop);
    for (int k = 0; k < 8; k++)
        Py_CLEAR(self->numbers[k / 4][k % 4]);
    for (int k = 0; k < 4; k++)
        Py_CLEAR(self->zeros[k]);
    return way_clear(&self->way);
}

static PyTypeObject Quick_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "gradwright.native._core.quick",
    .tp_doc = "quick(op, loop, records, beside, reflected, broadcasts): what is asked before an operation.",
    .tp_basicsize = sizeof(Quick),
    .tp_base = &Way_Type,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_new = quick_new,
    .tp_traverse = (traverseproc)quick_traverse,
    .tp_clear = (inquiry)quick_clear,
};

int
add_quick(PyObject *module)
{
    return PyType_Ready(&Quick_Type) < 0 ? -1 : PyModule_AddObjectRef(module, "quick", (PyObject *)&Quick_Type);
}
