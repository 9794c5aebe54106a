/* What happens for an operation of one or two tensors: look at the operands, run the loop, make the tensor and its node.

   A quick callable of the engine, whose text is written in gradwright.engine.apply, asks `quick` first. It gives the
   result, or None for whatever is not usual, and then the callable goes on by itself, as if nothing had been asked.

   Twins: the lines of `TEXT` in gradwright.engine.apply after the one that asks; of `node_of` the function `record`
   that gradwright.engine.nodes_of_ops writes. */

#include "core.h"

#include <structmember.h>

#define MOST_CASES 8
#define OUT 2   /* the place of the result among what a node saves; 0 and 1 are those of the inputs */
#define SHAPE 4 /* added to that of an input: its shape alone */

static PyObject *plan_name;

/* ---- nodes ---- */

typedef struct {
    PyObject *record;    /* the function of which this is the plan; it makes the node where `class` is NULL */
    PyTypeObject *class; /* of the node */
    Py_ssize_t saved;    /* where it keeps what it saves */
    int targets, values;
    unsigned char target[2], value[8];
} Plan;

typedef struct {
    Early early;
    PyObject *op, *records, *loop;
    PyObject *numbers[2][4]; /* the tables of floats and of ints: by dtype of an array, by type of a scalar */
    int inputs, reflected, broadcasts; /* of two inputs the second may be a Python number */
    Plan plans[MOST_CASES];
} Quick;

/* Read what `record` says of itself: (class, slot, inputs that need a gradient, what is saved); None leaves it to it. */
static int
read_plan(Plan *plan, PyObject *record)
{
    PyObject *said = PyObject_GetAttr(record, plan_name), *class, *targets, *values;
    const char *slot;
    if (!said)
        return -1;
    Plan made = {.record = record};
    if (said != Py_None) {
        if (!PyArg_ParseTuple(said, "O!sO!O!", &PyType_Type, &class, &slot, &PyBytes_Type, &targets, &PyBytes_Type, &values)
            || (made.saved = offset_of(class, slot)) < 0) {
            Py_DECREF(said);
            return -1;
        }
        made.targets = (int)PyBytes_GET_SIZE(targets);
        made.values = (int)PyBytes_GET_SIZE(values);
        if (made.targets <= 2 && made.values <= 8) {
            memcpy(made.target, PyBytes_AS_STRING(targets), made.targets);
            memcpy(made.value, PyBytes_AS_STRING(values), made.values);
            made.class = (PyTypeObject *)Py_NewRef(class);
        }
    }
    Py_DECREF(said);
    Py_INCREF(record);
    Py_XDECREF(plan->record);
    Py_XDECREF(plan->class);
    *plan = made;
    return 0;
}

/* Whether a node can save what it is to. (Asked before the loop runs: the twin would run it again.) */
static int
can_save(const Plan *plan, PyObject *const *inputs)
{
    for (int i = 0; plan->class && i < plan->values; i++)
        if (plan->value[i] < OUT && !version_of(inputs[plan->value[i]]))
            return 0;
    return 1;
}

static PyObject *
shape_of(PyObject *t)
{
    PyObject *array = FIELD(t, t_array);
    if (!PyArray_Check(array))
        return PyTuple_New(0);
    return PyArray_IntTupleFromIntp(PyArray_NDIM((PyArrayObject *)array), PyArray_DIMS((PyArrayObject *)array));
}

/* The node of a result; NULL, perhaps without an exception, if that is for the twin. */
static PyObject *
node_of(const Plan *plan, PyObject *const *inputs, int count, PyObject *out)
{
    if (!plan->class) {
        PyObject *given[3] = {inputs[0], inputs[1], out};
        given[count] = out;
        return PyObject_Vectorcall(plan->record, given, count + 1, NULL);
    }
    PyObject *saved = PyTuple_New(plan->values);
    if (!saved)
        return NULL;
    for (int i = 0; i < plan->values; i++) {
        int which = plan->value[i];
        PyObject *value = which >= SHAPE ? shape_of(inputs[which - SHAPE]) : packed(which == OUT ? out : inputs[which]);
        if (!value) {
            Py_DECREF(saved);
            return NULL;
        }
        PyTuple_SET_ITEM(saved, i, value);
    }
    PyObject *targets = PyTuple_New(plan->targets), *seq = next_number();
    PyObject *node = targets && seq ? new(plan->class) : NULL;
    if (!node) {
        Py_XDECREF(targets), Py_XDECREF(seq), Py_DECREF(saved);
        return NULL;
    }
    for (int i = 0; i < plan->targets; i++)
        PyTuple_SET_ITEM(targets, i, Py_NewRef(FIELD(inputs[plan->target[i]], t_node)));
    FIELD(node, n_seq) = seq;
    FIELD(node, n_hooks) = Py_NewRef(Py_None);
    FIELD(node, n_next) = targets;
    FIELD(node, plan->saved) = saved;
    return node;
}

/* ---- a call ---- */

/* A Python number as a tensor beside an array; it is held in `made`. */
static PyObject *
number_beside(Quick *self, PyObject *array, PyObject *number, PyObject **made)
{
    PyObject **tables = self->numbers[PyLong_CheckExact(number)], *table = NULL;
    if (PyArray_CheckExact(array)) {
        PyArray_Descr *dtype = PyArray_DESCR((PyArrayObject *)array);
        table = dtype == of_single ? tables[0] : dtype == of_double ? tables[1] : NULL;
    }
    else if (Py_IS_TYPE(array, &PyFloatArrType_Type))
        table = tables[2];
    else if (Py_IS_TYPE(array, &PyDoubleArrType_Type))
        table = tables[3];
    if (!table)
        return NULL;
    *made = Py_XNewRef(PyDict_GetItemWithError(table, number));
    if (!*made && !PyErr_Occurred())
        *made = PyObject_GetItem(table, number); /* it makes what it has not */
    return *made;
}

/* Whether a result is to be recorded; -1 if that is for the twin. */
static int
recorded(int needed)
{
    PyObject *mode = NULL;
    if (PyContextVar_Get(mode_now, NULL, &mode) < 0)
        return -1;
    int found = needed;
    if (mode != plain) { /* a tuple: its fields 0, 2 and 5 are records, listener and quick */
        if (PyTuple_GET_ITEM(mode, 5) != Py_True)
            found = -1;
        else if (needed && PyTuple_GET_ITEM(mode, 0) != Py_True)
            found = PyTuple_GET_ITEM(mode, 2) == Py_None ? 0 : -1;
    }
    Py_DECREF(mode);
    return found;
}

/* The plan of a case: which inputs need a gradient, and whether they broadcast; NULL and an exception if that fails. */
static Plan *
plan_of(Quick *self, int which)
{
    PyObject *record = PyList_GET_ITEM(self->records, which);
    Plan *plan = &self->plans[which];
    if (record == Py_None) {
        record = PyObject_CallFunction(recorded_as, "OOii", self->op, self->records, which, self->inputs);
        Py_XDECREF(record); /* the list holds it */
    }
    return record && (record == plan->record || read_plan(plan, record) == 0) ? plan : NULL;
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
    int which = 0;
    for (int i = 0; i < self->inputs; i++) {
        if (stale(inputs[i]))
            return NULL;
        which |= (FIELD(inputs[i], t_node) != Py_None) << i;
    }
    int records = recorded(which && PyList_GET_SIZE(self->records));
    if (records < 0)
        return NULL;
    Plan *plan = NULL;
    if (records) {
        if (self->broadcasts && !number) /* of other shapes than equal ones and () the loop makes nothing */
            which |= (axes_of(x) != axes_of(y)) << self->inputs;
        plan = plan_of(self, which);
        if (!plan || !can_save(plan, inputs))
            return NULL;
    }
    PyObject *arrays[2] = {FIELD(inputs[0], t_array), inputs[1] ? FIELD(inputs[1], t_array) : NULL};
    Py_INCREF(arrays[0]), Py_XINCREF(arrays[1]); /* another thread may give the tensor other ones meanwhile */
    PyObject *array = loop_result((Loop *)self->loop, arrays);
    Py_DECREF(arrays[0]), Py_XDECREF(arrays[1]);
    if (!array)
        return NULL;
    PyObject *out = wrapped(array);
    if (!out || !plan)
        return out;
    PyObject *node = node_of(plan, inputs, self->inputs, out);
    if (!node) {
        Py_DECREF(out);
        return NULL;
    }
    Py_SETREF(FIELD(out, t_node), node);
    return out;
}

static PyObject *
quick_ask(Early *early, PyObject *const *args, Py_ssize_t count, PyObject *kwnames)
{
    Quick *self = (Quick *)early;
    if (count != self->inputs || kwnames)
        return NULL;
    PyObject *made = NULL;
    PyObject *out = result_of(self, args[0], self->inputs > 1 ? args[1] : NULL, &made);
    Py_XDECREF(made);
    return out;
}

static PyObject *
quick_new(PyTypeObject *type, PyObject *args, PyObject *Py_UNUSED(kwargs))
{
    PyObject *op, *loop, *records, *beside;
    int reflected, broadcasts;
    if (!PyArg_ParseTuple(args, "OO!O!Opp:quick", &op, &Loop_Type, &loop, &PyList_Type, &records, &beside, &reflected,
                          &broadcasts))
        return NULL;
    Quick *self = (Quick *)type->tp_alloc(type, 0);
    if (!self)
        return NULL;
    self->early.ask = quick_ask;
    self->op = Py_NewRef(op);
    self->loop = Py_NewRef(loop);
    self->records = Py_NewRef(records);
    self->inputs = ((Loop *)loop)->nin;
    self->reflected = reflected;
    self->broadcasts = broadcasts;
    PyObject *keys[4] = {(PyObject *)of_single, (PyObject *)of_double, (PyObject *)&PyFloatArrType_Type,
                         (PyObject *)&PyDoubleArrType_Type};
    for (int k = 0; self->inputs > 1 && k < 8; k++) {
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
    Py_VISIT(self->op);
    Py_VISIT(self->loop);
    Py_VISIT(self->records);
    for (int k = 0; k < 8; k++)
        Py_VISIT(self->numbers[k / 4][k % 4]);
    for (int k = 0; k < MOST_CASES; k++) {
        Py_VISIT(self->plans[k].record);
        Py_VISIT(self->plans[k].class);
    }
    return 0;
}

static int
quick_clear(Quick *self)
{
    Py_CLEAR(self->early.code);
    Py_CLEAR(self->op);
    Py_CLEAR(self->loop);
    Py_CLEAR(self->records);
    for (int k = 0; k < 8; k++)
        Py_CLEAR(self->numbers[k / 4][k % 4]);
    for (int k = 0; k < MOST_CASES; k++) {
        Py_CLEAR(self->plans[k].record);
        Py_CLEAR(self->plans[k].class);
    }
    return 0;
}

static void
quick_dealloc(Quick *self)
{
    PyObject_GC_UnTrack(self);
    quick_clear(self);
    Py_TYPE(self)->tp_free(self);
}

static PyMemberDef quick_members[] = {
    {"op", T_OBJECT, offsetof(Quick, op), READONLY, "the operation"},
    {0},
};

static PyTypeObject Quick_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "gradwright.native._core.quick",
    .tp_doc = "quick(op, loop, records, beside, reflected, broadcasts): what is asked before an operation.",
    .tp_basicsize = sizeof(Quick),
    .tp_base = &Early_Type,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_new = quick_new,
    .tp_dealloc = (destructor)quick_dealloc,
    .tp_traverse = (traverseproc)quick_traverse,
    .tp_clear = (inquiry)quick_clear,
    .tp_members = quick_members,
};

int
add_quick(PyObject *module)
{
    plan_name = PyUnicode_InternFromString("plan");
    if (!plan_name || PyType_Ready(&Quick_Type) < 0)
        return -1;
    return PyModule_AddObjectRef(module, "quick", (PyObject *)&Quick_Type);
}
