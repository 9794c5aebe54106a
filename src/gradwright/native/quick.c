/* What happens for an operation of one or two tensors: look at the operands, run the loop, make the tensor and its node.

   A quick callable of the engine, whose text is written in gradwright.engine.apply, asks `quick` first. It gives the
   result, or None for whatever is not usual, and then the callable goes on by itself, as if nothing had been asked.

   Tensors, nodes and views are Python classes. Their slots are written where the member descriptors say that they are.

   Twins: the lines of `TEXT` in gradwright.engine.apply after the one that asks; of `node_of` the function `record`
   that gradwright.engine.nodes_of_ops writes; of `stale` the beginning of `refresh` in gradwright.engine.view. */

#include "core.h"

#include <structmember.h>

#define FIELD(object, offset) (*(PyObject **)((char *)(object) + (offset)))
#define MOST_CASES 8
#define OUT 2   /* the place of the result among what a node saves; 0 and 1 are those of the inputs */
#define SHAPE 4 /* added to that of an input: its shape alone */

/* ---- the engine's classes and objects, told by `engine` ---- */

static PyTypeObject *tensor_base, *view_class;
static PyObject *array_member, *array_name, *plan_name;
static Py_ssize_t t_array, t_node, t_counter, t_view; /* of a tensor */
static Py_ssize_t n_seq, n_hooks, n_next;             /* of a node */
static Py_ssize_t v_base, v_version;                  /* of a view */
static PyObject *slots;                               /* gradwright.base.upward.slots */
static Py_ssize_t s_tensor;
static PyObject *mode_now, *plain, *ticket, *recorded_as;
static PyObject *nothing; /* () */
static PyObject *floats; /* Python numbers as tensors, by dtype and by type of scalar */

static PyObject *
new(PyTypeObject *type)
{
    return PyBaseObject_Type.tp_new(type, nothing, NULL);
}

/* Where instances of a class keep a slot; -1 and an exception if it is none. */
static Py_ssize_t
offset_of(PyObject *class, const char *name)
{
    PyObject *member = PyObject_GetAttrString(class, name);
    if (!member)
        return -1;
    Py_ssize_t offset = -1;
    if (Py_IS_TYPE(member, &PyMemberDescr_Type))
        offset = ((PyMemberDescrObject *)member)->d_member->offset;
    else
        PyErr_Format(PyExc_TypeError, "%R.%s is no slot", class, name);
    Py_DECREF(member);
    return offset;
}

static PyObject *
engine(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *tensor, *node, *view, *its_slots, *now, *its_plain, *next, *recorder, *tables;
    if (!PyArg_ParseTuple(args, "O!O!O!OOOOOO:engine", &PyType_Type, &tensor, &PyType_Type, &node, &PyType_Type, &view,
                          &its_slots, &now, &its_plain, &next, &recorder, &tables))
        return NULL;
    struct { Py_ssize_t *offset; PyObject *class; const char *name; Py_ssize_t found; } fields[] = {
        {&t_array, tensor, "array", 0}, {&t_node, tensor, "_node", 0}, {&t_counter, tensor, "_counter", 0},
        {&t_view, tensor, "_view", 0}, {&n_seq, node, "_seq", 0}, {&n_hooks, node, "_hooks", 0},
        {&n_next, node, "_next", 0}, {&v_base, view, "_base", 0}, {&v_version, view, "version", 0},
        {&s_tensor, (PyObject *)Py_TYPE(its_slots), "tensor", 0},
    };
    size_t count = sizeof fields / sizeof *fields;
    for (size_t i = 0; i < count; i++)
        if ((fields[i].found = offset_of(fields[i].class, fields[i].name)) < 0)
            return NULL;
    PyObject *variable = PyObject_GetAttrString(now, "__self__");
    PyObject *counter = variable ? PyObject_GetAttrString(next, "__self__") : NULL;
    PyObject *member = counter ? PyObject_GetAttrString(tensor, "array") : NULL;
    if (member && (!PyContextVar_CheckExact(variable) || !Py_TYPE(counter)->tp_iternext)) {
        PyErr_SetString(PyExc_TypeError, "engine(): no context variable, or no counter");
        Py_CLEAR(member);
    }
    if (!member) {
        Py_XDECREF(variable), Py_XDECREF(counter);
        return NULL;
    }
    for (size_t i = 0; i < count; i++)
        *fields[i].offset = fields[i].found;
    Py_XSETREF(mode_now, variable); /* gradwright may have been imported before */
    Py_XSETREF(ticket, counter);
    Py_XSETREF(array_member, member);
    Py_XSETREF(tensor_base, (PyTypeObject *)Py_NewRef(tensor));
    Py_XSETREF(view_class, (PyTypeObject *)Py_NewRef(view));
    Py_XSETREF(slots, Py_NewRef(its_slots));
    Py_XSETREF(plain, Py_NewRef(its_plain));
    Py_XSETREF(recorded_as, Py_NewRef(recorder));
    Py_XSETREF(floats, Py_NewRef(tables));
    Py_RETURN_NONE;
}

/* ---- operands ---- */

/* Whether something is a tensor whose slots are what they seem. */
static int
is_tensor(PyObject *x)
{
    PyTypeObject *type = Py_TYPE(x), *usual = (PyTypeObject *)FIELD(slots, s_tensor);
    if (type == usual)
        return 1;
    if (!PyType_IsSubtype(type, tensor_base) || type->tp_getattro != usual->tp_getattro)
        return 0;
    PyObject *member = PyObject_GetAttr((PyObject *)type, array_name);
    if (!member)
        PyErr_Clear();
    Py_XDECREF(member);
    return member == array_member;
}

/* Whether its slots hold what those of a finished tensor do. */
static int
is_whole(PyObject *x)
{
    PyObject *counter = FIELD(x, t_counter);
    return FIELD(x, t_array) && FIELD(x, t_node) && FIELD(x, t_view) && counter && PyList_Check(counter)
        && PyList_GET_SIZE(counter);
}

/* Whether a tensor may have to read its history, or its memory, anew. */
static int
stale(PyObject *x)
{
    PyObject *view = FIELD(x, t_view);
    if (view == Py_None)
        return 0;
    if (!Py_IS_TYPE(view, view_class))
        return 1;
    PyObject *seen = FIELD(view, v_version), *base = FIELD(view, v_base), *counter = FIELD(x, t_counter);
    if (!seen || !base || PyList_GET_ITEM(counter, 0) != seen)
        return 1;
    return FIELD(x, t_node) == Py_None && FIELD(base, t_node) != Py_None;
}

/* ---- nodes ---- */

typedef struct {
    PyObject *record;    /* the function of which this is the plan; it makes the node where `class` is NULL */
    PyTypeObject *class; /* of the node */
    Py_ssize_t saved;    /* where it keeps what it saves */
    int targets, values;
    unsigned char target[2], value[8];
} Plan;

typedef struct {
    PyObject_HEAD
    vectorcallfunc call;
    PyObject *op, *records, *loop;
    PyObject *numbers[2][4]; /* the tables of floats and of ints: by dtype of an array, by type of a scalar */
    int inputs, reflected, broadcasts; /* of two inputs the second may be a Python number */
    Plan plans[MOST_CASES];
    unsigned long long taken, left;
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

/* The version of a tensor, borrowed; NULL, without an exception, of memory that is also looked at. */
static PyObject *
version_of(PyObject *t)
{
    PyObject *version = PyList_GET_ITEM(FIELD(t, t_counter), 0);
    return PyLong_CheckExact(version) ? version : NULL;
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

/* A tensor as a node saves it: array, counter, version, node; the result has none yet. */
static PyObject *
packed(PyObject *t)
{
    PyObject *counter = FIELD(t, t_counter), *version = version_of(t);
    if (!version) /* since the loop began */
        return NULL;
    return PyTuple_Pack(4, FIELD(t, t_array), counter, version, FIELD(t, t_node));
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
    PyObject *targets = PyTuple_New(plan->targets), *seq = Py_TYPE(ticket)->tp_iternext(ticket);
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
    PyTypeObject *type = (PyTypeObject *)FIELD(slots, s_tensor);
    PyObject *out = new(type), *counter = PyList_New(1);
    if (!out || !counter) {
        Py_DECREF(array), Py_XDECREF(out), Py_XDECREF(counter);
        return NULL;
    }
    PyList_SET_ITEM(counter, 0, PyLong_FromLong(0));
    FIELD(out, t_array) = array;
    FIELD(out, t_counter) = counter;
    FIELD(out, t_view) = Py_NewRef(Py_None);
    FIELD(out, t_node) = Py_NewRef(Py_None);
    if (!plan)
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
quick_call(PyObject *callable, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
    Quick *self = (Quick *)callable;
    if (PyVectorcall_NARGS(nargsf) != self->inputs || kwnames) {
        PyErr_Format(PyExc_TypeError, "%R takes %d arguments", callable, self->inputs);
        return NULL;
    }
    PyObject *made = NULL;
    PyObject *out = result_of(self, args[0], self->inputs > 1 ? args[1] : NULL, &made);
    Py_XDECREF(made);
    if (out) {
        self->taken++;
        return out;
    }
    self->left++;
    if (PyErr_Occurred()) {
        if (!PyErr_ExceptionMatches(PyExc_Exception)) /* an interrupt */
            return NULL;
        PyErr_Clear(); /* the twin says so, too */
    }
    Py_RETURN_NONE;
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
    self->call = quick_call;
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
    {"taken", T_ULONGLONG, offsetof(Quick, taken), READONLY, "how often it gave a result"},
    {"left", T_ULONGLONG, offsetof(Quick, left), READONLY, "how often it left that to its twin"},
    {"op", T_OBJECT, offsetof(Quick, op), READONLY, "the operation"},
    {0},
};

static PyTypeObject Quick_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "gradwright.native._core.quick",
    .tp_doc = "quick(op, loop, records, beside, reflected, broadcasts): an operation's usual call, or None.",
    .tp_basicsize = sizeof(Quick),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_vectorcall_offset = offsetof(Quick, call),
    .tp_call = PyVectorcall_Call,
    .tp_new = quick_new,
    .tp_dealloc = (destructor)quick_dealloc,
    .tp_traverse = (traverseproc)quick_traverse,
    .tp_clear = (inquiry)quick_clear,
    .tp_members = quick_members,
};

static PyMethodDef functions[] = {
    {"engine", engine, METH_VARARGS,
     "engine(TensorBase, Node, View, slots, now, PLAIN, ticket, recorded_as, floats): what the engine consists of."},
    {0},
};

int
add_quick(PyObject *module)
{
    nothing = PyTuple_New(0);
    array_name = PyUnicode_InternFromString("array");
    plan_name = PyUnicode_InternFromString("plan");
    if (!nothing || !array_name || !plan_name || PyType_Ready(&Quick_Type) < 0)
        return -1;
    if (PyModule_AddObjectRef(module, "quick", (PyObject *)&Quick_Type) < 0)
        return -1;
    return PyModule_AddFunctions(module, functions);
}
