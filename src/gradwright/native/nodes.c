/* How an operation is recorded: the nodes of its results, and, of views, what they are views of.

   Twins: of `node_of` the function `record` that gradwright.engine.nodes_of_ops writes; of `begin` and `finish` the lines
   of `TEXT` in gradwright.engine.apply before the formula and after it; of `looks_at` `mark_view` in
   gradwright.engine.view. */

#include "core.h"

#include <structmember.h>

#define OUT 3    /* the place of the result among what a node saves; 0 to 2 are those of the inputs */
#define SHAPE 4  /* added to that of an input: its shape alone */
#define STATIC 8 /* added to that of a static argument */

static PyObject *plan_name, *no_grad, *nothing;

int
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
        if (made.targets <= 3 && made.values <= 8) {
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

static PyObject *
fixed_value(const Way *way, PyObject *fixed, int which)
{
    return Py_XNewRef(fixed ? PyDict_GetItem(fixed, PyTuple_GET_ITEM(way->names, which)) : NULL);
}

/* What a node saves. */
static PyObject *
values_of(const Way *way, const Plan *plan, PyObject *const *inputs, PyObject *out, PyObject *fixed)
{
    /* of a number alone it is the same for all nodes, and made once if the number lives: its table holds it, too */
    PyObject *number = plan->values == 1 && plan->value[0] < OUT ? inputs[plan->value[0]] : NULL;
    PyObject *counter = number && Py_REFCNT(number) > 1 ? FIELD(number, t_counter) : NULL;
    if (counter && !Py_IS_TYPE(counter, fixed_class))
        counter = NULL;
    if (counter && FIELD(counter, f_saved))
        return Py_NewRef(FIELD(counter, f_saved));
    PyObject *saved = PyTuple_New(plan->values);
    if (!saved)
        return NULL;
    for (int i = 0; i < plan->values; i++) {
        int which = plan->value[i];
        PyObject *value = which >= STATIC ? fixed_value(way, fixed, which - STATIC)
            : which >= SHAPE ? shape_of(inputs[which - SHAPE]) : packed(which == OUT ? out : inputs[which]);
        if (!value) {
            Py_DECREF(saved);
            return NULL;
        }
        PyTuple_SET_ITEM(saved, i, value);
    }
    if (counter)
        Py_XSETREF(FIELD(counter, f_saved), Py_NewRef(saved));
    return saved;
}

/* The node of a result; NULL, perhaps without an exception, if that is for the twin. */
static PyObject *
node_of(const Way *way, const Call *call, PyObject *const *inputs, PyObject *out, PyObject *fixed)
{
    const Plan *plan = call->plan;
    if (!plan->class) {
        PyObject *given[MOST_INPUTS + 2];
        memcpy(given, inputs, way->inputs * sizeof *given);
        given[way->inputs] = out;
        given[way->inputs + 1] = fixed;
        return PyObject_Vectorcall(plan->record, given, way->inputs + 1 + (fixed != NULL), NULL);
    }
    PyObject *saved = values_of(way, plan, inputs, out, fixed);
    if (!saved)
        return NULL;
    int reached = 0;
    for (int i = 0; i < call->many; i++)
        reached += FIELD(inputs[i], t_node) != Py_None;
    PyObject *targets = PyTuple_New(call->many ? reached : plan->targets), *seq = next_number();
    PyObject *node = targets && seq ? new(plan->class) : NULL;
    if (!node) {
        Py_XDECREF(targets), Py_XDECREF(seq), Py_DECREF(saved);
        return NULL;
    }
    for (int i = 0, k = 0; k < PyTuple_GET_SIZE(targets); i++)
        if (!call->many || FIELD(inputs[i], t_node) != Py_None)
            PyTuple_SET_ITEM(targets, k++, Py_NewRef(FIELD(inputs[call->many ? i : plan->target[i]], t_node)));
    FIELD(node, n_seq) = seq;
    FIELD(node, n_hooks) = Py_NewRef(Py_None);
    FIELD(node, n_next) = targets;
    FIELD(node, plan->saved) = saved;
    return node;
}

/* Whether nobody, or only a Function's forward of which these are known, hears that operands are not recorded. */
static int
all_known(PyObject *listener, PyObject *const *inputs, int count)
{
    for (int i = 0; listener != Py_None && i < count; i++)
        if (!is_known(listener, FIELD(inputs[i], t_node)))
            return 0;
    return 1;
}

int
is_recorded(int needed, PyObject *const *inputs, int count, int *off)
{
    PyObject *mode = NULL;
    if (PyContextVar_Get(mode_now, NULL, &mode) < 0)
        return -1;
    int found = needed;
    *off = 0;
    if (mode != plain) { /* a tuple: its fields 0, 2 and 5 are records, listener and quick */
        if (PyTuple_GET_ITEM(mode, 5) != Py_True)
            found = -1;
        else if (PyTuple_GET_ITEM(mode, 0) != Py_True) {
            *off = 1;
            found = needed && !all_known(PyTuple_GET_ITEM(mode, 2), inputs, count) ? -1 : 0;
        }
    }
    Py_DECREF(mode);
    return found;
}

/* The plan of a case: which inputs need a gradient, and whether they broadcast; NULL and an exception if that fails. */
static Plan *
plan_of(Way *self, int which)
{
    PyObject *record = PyList_GET_ITEM(self->records, which);
    Plan *plan = &self->plans[which];
    if (record == Py_None) {
        record = PyObject_CallFunction(recorded_as, "OOii", self->op, self->records, which, self->inputs);
        Py_XDECREF(record); /* the list holds it */
    }
    return record && (record == plan->record || read_plan(plan, record) == 0) ? plan : NULL;
}

int
begin(Way *way, PyObject *const *inputs, int broadcast, Call *call)
{
    int which = 0;
    for (int i = 0; i < way->inputs; i++) {
        if (stale(inputs[i]))
            return 0;
        which |= (FIELD(inputs[i], t_node) != Py_None) << i;
    }
    int records = is_recorded(which && PyList_GET_SIZE(way->records), inputs, way->inputs, &call->off);
    call->plan = NULL;
    call->many = 0;
    if (records <= 0)
        return !records;
    call->plan = plan_of(way, which | broadcast << way->inputs);
    return call->plan && can_save(call->plan, inputs);
}

/* Note that `out` is a view of `x`. */
static int
looks_at(Way *way, PyObject *out, PyObject *x, PyObject *fixed, int off)
{
    PyObject *view = FIELD(x, t_view), *base = x, *steps = nothing, *origin = off ? no_grad : Py_None;
    if (view != Py_None) {
        steps = FIELD(view, v_steps);
        if (!off)
            origin = FIELD(view, v_origin);
        for (base = FIELD(view, v_base); base && FIELD(base, t_view) != Py_None; base = FIELD(FIELD(base, t_view), v_base))
            if (!FIELD(base, t_view) || !Py_IS_TYPE(FIELD(base, t_view), view_class))
                return -1;
    }
    if (!base || !is_whole(base) || !steps || !origin)
        return -1;
    PyObject *step = PyTuple_Pack(2, way->op, fixed), *both = step ? PyTuple_Pack(2, steps, step) : NULL;
    PyObject *made = both ? new(view_class) : NULL;
    Py_XDECREF(step);
    if (!made) {
        Py_XDECREF(both);
        return -1;
    }
    PyObject *version = PyList_GET_ITEM(FIELD(base, t_counter), 0);
    FIELD(made, v_base) = Py_NewRef(base);
    FIELD(made, v_steps) = both;
    FIELD(made, v_seen) = Py_NewRef(version);
    FIELD(made, v_version) = Py_NewRef(version);
    FIELD(made, v_origin) = Py_NewRef(origin);
    FIELD(made, v_itself) = Py_NewRef(Py_False);
    Py_SETREF(FIELD(out, t_view), made);
    return 0;
}

PyObject *
finish(Way *way, PyObject *const *inputs, const Call *call, PyObject *array, PyObject *fixed, int views)
{
    PyObject *out = array ? wrapped_beside(array, views ? FIELD(inputs[0], t_counter) : NULL) : NULL;
    if (!out)
        return NULL;
    if (views && looks_at(way, out, inputs[0], fixed, call->off) < 0)
        goto failed;
    if (call->plan) {
        PyObject *node = node_of(way, call, inputs, out, fixed);
        if (!node)
            goto failed;
        Py_SETREF(FIELD(out, t_node), node);
    }
    return out;
failed:
    Py_DECREF(out);
    return NULL;
}

/* ---- ways: what is known of an operation ---- */

int
way_visit(Way *self, visitproc visit, void *arg)
{
    Py_VISIT(self->op);
    Py_VISIT(self->records);
    for (int k = 0; k < MOST_CASES; k++) {
        Py_VISIT(self->plans[k].record);
        Py_VISIT(self->plans[k].class);
    }
    return 0;
}

int
way_clear(Way *self)
{
    Py_CLEAR(self->early.code);
    Py_CLEAR(self->op);
    Py_CLEAR(self->records);
    Py_CLEAR(self->names);
    for (int k = 0; k < MOST_CASES; k++) {
        Py_CLEAR(self->plans[k].record);
        Py_CLEAR(self->plans[k].class);
    }
    return 0;
}

static void
way_dealloc(Way *self)
{
    PyObject_GC_UnTrack(self);
    Py_TYPE(self)->tp_clear((PyObject *)self);
    Py_TYPE(self)->tp_free(self);
}

static PyMemberDef way_members[] = {
    {"op", T_OBJECT, offsetof(Way, op), READONLY, "the operation"},
    {0},
};

PyTypeObject Way_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "gradwright.native._core.way",
    .tp_doc = "What is known of an operation.",
    .tp_basicsize = sizeof(Way),
    .tp_base = &Early_Type,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_dealloc = (destructor)way_dealloc,
    .tp_traverse = (traverseproc)way_visit,
    .tp_clear = (inquiry)way_clear,
    .tp_members = way_members,
};

int
add_nodes(PyObject *module)
{
    plan_name = PyUnicode_InternFromString("plan");
    no_grad = PyUnicode_InternFromString("no_grad");
    nothing = PyTuple_New(0);
    (void)module;
    return !plan_name || !no_grad || !nothing ? -1 : PyType_Ready(&Way_Type);
}
