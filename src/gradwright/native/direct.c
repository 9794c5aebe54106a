/* An operation with static arguments, of one to three tensors: what `direct` in gradwright.engine.apply gives. Its formula
   is Python's; all around it is done here. (forms.c does without the formula, too.)

   Twins: the lines of `TEXT` in gradwright.engine.apply that apply to such a call. */

#include "core.h"

typedef struct {
    Way way;
    PyObject *formula, *numpy; /* f(xp, *arrays, **static), and xp */
    int views, broadcasts, rows;
} Direct;

int
plain_array(PyObject *array, int scalars)
{
    if (!PyArray_CheckExact(array))
        return scalars && (Py_IS_TYPE(array, &PyFloatArrType_Type) || Py_IS_TYPE(array, &PyDoubleArrType_Type));
    PyArray_Descr *dtype = PyArray_DESCR((PyArrayObject *)array);
    if (dtype == of_single || dtype == of_double)
        return 1;
    int type = PyArray_ISNOTSWAPPED((PyArrayObject *)array) ? dtype->type_num : NPY_VOID;
    return type == NPY_BOOL || type == NPY_INT8 || type == NPY_UINT8 || type == NPY_INT16 || type == NPY_INT32
        || type == NPY_INT64;
}

/* Whether a view shows the memory of an array. */
static int
shares(PyObject *view, PyObject *array)
{
    PyObject *base = PyArray_BASE((PyArrayObject *)view);
    return view == array || (base && (base == array || base == PyArray_BASE((PyArrayObject *)array)));
}

static int
same_shape(PyObject *a, PyObject *b)
{
    int both = PyArray_Check(a) + PyArray_Check(b);
    if (both == 2)
        return PyArray_SAMESHAPE((PyArrayObject *)a, (PyArrayObject *)b);
    return !both || !PyArray_NDIM((PyArrayObject *)(PyArray_Check(a) ? a : b));
}

static PyObject *
computed(Direct *self, PyObject *const *inputs, PyObject *fixed)
{
    int inputs_and_xp = self->way.inputs + 1;
    Py_ssize_t named = PyTuple_GET_SIZE(self->way.names);
    PyObject *given[1 + MOST_INPUTS + 8] = {self->numpy};
    for (int i = 1; i < inputs_and_xp; i++)
        given[i] = Py_NewRef(FIELD(inputs[i - 1], t_array)); /* another thread may give the tensor another meanwhile */
    PyObject *found = NULL;
    Py_ssize_t k = 0;
    while (k < named && (given[inputs_and_xp + k] = PyDict_GetItemWithError(fixed, PyTuple_GET_ITEM(self->way.names, k))))
        k++;
    if (k == named)
        found = PyObject_Vectorcall(self->formula, given, inputs_and_xp, named ? self->way.names : NULL);
    for (int i = 1; i < inputs_and_xp; i++)
        Py_DECREF(given[i]);
    return found;
}

static PyObject *
direct_ask(Early *early, PyObject *const *args, Py_ssize_t count, PyObject *kwnames)
{
    Direct *self = (Direct *)early;
    int inputs = self->way.inputs, differ = 0;
    if (count != inputs + 1 || kwnames)
        return NULL;
    PyObject *fixed = args[inputs];
    if (!PyDict_CheckExact(fixed) || PyDict_GET_SIZE(fixed) != PyTuple_GET_SIZE(self->way.names))
        return NULL;
    for (int i = 0; i < inputs; i++) {
        if (!is_tensor(args[i]) || !is_whole(args[i]) || !plain_array(FIELD(args[i], t_array), !self->views))
            return NULL;
        differ = differ || !same_shape(FIELD(args[0], t_array), FIELD(args[i], t_array));
    }
    Call call;
    if ((self->views && !version_of(args[0])) || !begin(&self->way, args, self->broadcasts && differ, &call))
        return NULL;
    PyObject *array = computed(self, args, fixed);
    if (!array)
        return NULL;
    int shaped = PyArray_CheckExact(array);
    if (self->views ? !shaped : is_tensor(array)) {
        Py_DECREF(array);
        return NULL;
    }
    if (self->rows && shaped && !PyArray_IS_C_CONTIGUOUS((PyArrayObject *)array))
        Py_SETREF(array, PyArray_NewCopy((PyArrayObject *)array, NPY_CORDER));
    return finish(&self->way, args, &call, array, fixed, self->views && shares(array, FIELD(args[0], t_array)));
}

static PyObject *
direct_new(PyTypeObject *type, PyObject *args, PyObject *Py_UNUSED(kwargs))
{
    PyObject *op, *formula, *numpy, *records, *names;
    int inputs, views, broadcasts, rows;
    if (!PyArg_ParseTuple(args, "OOOO!O!ippp:direct", &op, &formula, &numpy, &PyList_Type, &records, &PyTuple_Type, &names,
                          &inputs, &views, &broadcasts, &rows))
        return NULL;
    if (inputs > MOST_INPUTS || PyTuple_GET_SIZE(names) > 8)
        return PyErr_Format(PyExc_ValueError, "direct() takes %d inputs and 8 names at most", MOST_INPUTS);
    Direct *self = (Direct *)type->tp_alloc(type, 0);
    if (!self)
        return NULL;
    self->way.early.ask = direct_ask;
    self->way.op = Py_NewRef(op);
    self->way.records = Py_NewRef(records);
    self->way.names = Py_NewRef(names);
    self->way.inputs = inputs;
    self->formula = Py_NewRef(formula);
    self->numpy = Py_NewRef(numpy);
    self->views = views, self->broadcasts = broadcasts, self->rows = rows;
    return (PyObject *)self;
}

static int
direct_traverse(Direct *self, visitproc visit, void *arg)
{
    Py_VISIT(self->formula);
    Py_VISIT(self->numpy);
    return way_visit(&self->way, visit, arg);
}

static int
direct_clear(Direct *self)
{
    Py_CLEAR(self->formula);
    Py_CLEAR(self->numpy);
    return way_clear(&self->way);
}

static PyTypeObject Direct_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "gradwright.native._core.direct",
    .tp_doc = "direct(op, formula, xp, records, names, inputs, views, broadcasts, rows): what is asked before an operation.",
    .tp_basicsize = sizeof(Direct),
    .tp_base = &Way_Type,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_new = direct_new,
    .tp_traverse = (traverseproc)direct_traverse,
    .tp_clear = (inquiry)direct_clear,
};

int
add_direct(PyObject *module)
{
    return PyType_Ready(&Direct_Type) < 0 ? -1 : PyModule_AddObjectRef(module, "direct", (PyObject *)&Direct_Type);
}
