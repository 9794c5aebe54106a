/* A user's Function: its forward and what is recorded of it, its backward in a pass, and what ctx gives.

   The usual form: tensors and plain values go in, one new tensor comes out, arguments and the result alone are saved,
   nothing else is on ctx. Code of the user's runs once: where something is not usual after it, the twin goes on from
   there. So `applying` tells what it raises; before forward it leaves everything to the twin that it does not know.

   Twins: of `applying` the method `apply` of gradwright.function.function.Function and `recorded` in
   gradwright.function.outputs; of `function_results` the method `_run` of gradwright.function.ctx.BackwardNode and `own`
   in gradwright.function.watched.after_backward; of the others the methods of BackwardNode with their names. */

#include "core.h"

#include <structmember.h>

#define MOST_ARGUMENTS 16

static PyTypeObject *node_class, *listener_class;
static Py_ssize_t c_dirty, c_flat, c_given, c_materialize, c_metas, c_needs, c_outputs, c_ports, c_read, c_replay,
    c_to_save; /* of a ctx */
static Py_ssize_t i_function, i_args, i_nodes, i_start, i_known, i_left, i_found; /* of what listens inside forward */
static Py_ssize_t s_applied;
static PyObject *tensorless, *own_context, *usual_run, *recorded, *unrecorded, *routing;
static PyObject *nothing; /* () */
static unsigned long long usual_backwards, other_backwards;
static PyObject *forward_name, *setup_name, *outer_name, *node_class_name, *run_name, *function_name, *usual_name,
    *backward_name, *clears_name;

static PyObject *
functions(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *node, *listener, *plain_classes, *setup, *tail, *mode, *route;
    if (!PyArg_ParseTuple(args, "O!O!O!OOOO!:functions", &PyType_Type, &node, &PyType_Type, &listener, &PyFrozenSet_Type,
                          &plain_classes, &setup, &tail, &mode, &PyContextVar_Type, &route))
        return NULL;
    if (!slots) {
        PyErr_SetString(PyExc_RuntimeError, "functions(): engine() comes first");
        return NULL;
    }
    struct { Py_ssize_t *offset; PyObject *class; const char *name; Py_ssize_t found; } fields[] = {
        {&c_dirty, node, "_dirty", 0}, {&c_flat, node, "_flat", 0}, {&c_given, node, "_given", 0},
        {&c_materialize, node, "_materialize", 0}, {&c_metas, node, "_metas", 0}, {&c_needs, node, "_needs", 0},
        {&c_outputs, node, "_outputs", 0}, {&c_ports, node, "_ports", 0}, {&c_read, node, "_read", 0},
        {&c_replay, node, "_replay", 0}, {&c_to_save, node, "_to_save", 0}, {&i_function, listener, "function", 0},
        {&i_args, listener, "args", 0}, {&i_nodes, listener, "nodes", 0}, {&i_start, listener, "start", 0},
        {&i_known, listener, "known", 0}, {&i_left, listener, "left", 0}, {&i_found, listener, "found", 0},
        {&s_applied, (PyObject *)Py_TYPE(slots), "applied", 0},
    };
    size_t count = sizeof fields / sizeof *fields;
    for (size_t i = 0; i < count; i++)
        if ((fields[i].found = offset_of(fields[i].class, fields[i].name)) < 0)
            return NULL;
    for (size_t i = 0; i < count; i++)
        *fields[i].offset = fields[i].found;
    Py_XSETREF(node_class, (PyTypeObject *)Py_NewRef(node));
    Py_XSETREF(listener_class, (PyTypeObject *)Py_NewRef(listener));
    Py_XSETREF(usual_run, Py_XNewRef(_PyType_Lookup(node_class, run_name)));
    Py_XSETREF(tensorless, Py_NewRef(plain_classes));
    Py_XSETREF(own_context, Py_NewRef(setup));
    Py_XSETREF(recorded, Py_NewRef(tail));
    Py_XSETREF(unrecorded, Py_NewRef(mode));
    Py_XSETREF(routing, Py_NewRef(route));
    Py_RETURN_NONE;
}

static int
set_to(PyObject *variable, PyObject *value)
{
    PyObject *token = PyContextVar_Set(variable, value);
    Py_XDECREF(token);
    return token ? 0 : -1;
}

/* The same where an exception may be on its way. */
static int
set_back(PyObject *variable, PyObject *value)
{
    PyObject *type, *error, *trace;
    PyErr_Fetch(&type, &error, &trace);
    int failed = set_to(variable, value);
    if (!failed)
        PyErr_Restore(type, error, trace);
    else
        Py_XDECREF(type), Py_XDECREF(error), Py_XDECREF(trace);
    return failed;
}

/* ---- apply ---- */

/* One call: what its twin has in its frame. */
typedef struct {
    PyObject *cls, *node, *listener;
    PyObject *args, *nodes, *before, *versions, *metas; /* a tuple; lists, `before` of the nodes that are there */
} Applied;

static void
end_call(Applied *call)
{
    Py_XDECREF(call->node), Py_XDECREF(call->listener), Py_XDECREF(call->args), Py_XDECREF(call->nodes);
    Py_XDECREF(call->before), Py_XDECREF(call->versions), Py_XDECREF(call->metas);
}

/* The shape and dtype of a plain array or number; NULL, without an exception, of another. */
static PyObject *
meta_of(PyObject *array)
{
    PyObject *shape = NULL, *meta = NULL;
    PyArray_Descr *dtype = NULL;
    if (PyArray_CheckExact(array)) {
        dtype = PyArray_DESCR((PyArrayObject *)array);
        shape = PyArray_IntTupleFromIntp(PyArray_NDIM((PyArrayObject *)array), PyArray_DIMS((PyArrayObject *)array));
    }
    else if (Py_IS_TYPE(array, &PyFloatArrType_Type) || Py_IS_TYPE(array, &PyDoubleArrType_Type)) {
        dtype = Py_IS_TYPE(array, &PyFloatArrType_Type) ? of_single : of_double;
        shape = Py_NewRef(nothing);
    }
    if (shape)
        meta = PyTuple_Pack(2, shape, (PyObject *)dtype);
    Py_XDECREF(shape);
    return meta;
}

static int
has_no_tensor(PyObject *value)
{
    return PyFloat_CheckExact(value) || PyLong_CheckExact(value) || value == Py_None
        || PySet_Contains(tensorless, (PyObject *)Py_TYPE(value)) == 1;
}

/* Look at the arguments; 0, perhaps with an exception, if the call is for the twin. */
static int
read_arguments(Applied *call, PyObject *const *args, Py_ssize_t count)
{
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *a = args[i], *meta = Py_None, *version = Py_None, *node = Py_None;
        PyTuple_SET_ITEM(call->args, i, Py_NewRef(a));
        if (is_tensor(a)) {
            if (!is_whole(a) || stale(a) || !(version = version_of(a)) || !(meta = meta_of(FIELD(a, t_array))))
                return 0;
            node = FIELD(a, t_node);
            if (node != Py_None && PyList_Append(call->before, node) < 0)
                return 0;
        }
        else if (PyType_IsSubtype(Py_TYPE(a), tensor_base) || !has_no_tensor(a))
            return 0;
        else
            Py_INCREF(meta);
        PyList_SET_ITEM(call->metas, i, meta);
        PyList_SET_ITEM(call->versions, i, Py_NewRef(version));
        PyList_SET_ITEM(call->nodes, i, Py_NewRef(node));
    }
    return PyList_GET_SIZE(call->before) > 0;
}

/* The class's attribute, if its twin would find the same and nothing is to be run for it; borrowed. */
static PyObject *
of_class(PyObject *cls, PyObject *name)
{
    return _PyType_Lookup((PyTypeObject *)cls, name);
}

static int
make_node(Applied *call, PyObject *cls)
{
    PyObject *class = of_class(cls, node_class_name);
    Py_ssize_t count = PyList_GET_SIZE(call->nodes);
    PyObject *needs = PyTuple_New(count);
    if (!needs || !class || !PyType_Check(class) || !PyType_IsSubtype((PyTypeObject *)class, node_class)
        || !(call->node = new((PyTypeObject *)class))) {
        Py_XDECREF(needs);
        return 0;
    }
    for (Py_ssize_t i = 0; i < count; i++)
        PyTuple_SET_ITEM(needs, i, Py_NewRef(PyList_GET_ITEM(call->nodes, i) == Py_None ? Py_False : Py_True));
    FIELD(call->node, c_needs) = needs;
    FIELD(call->node, c_materialize) = Py_NewRef(Py_True);
    Py_ssize_t none[] = {n_hooks, c_ports, c_replay}, empty[] = {n_saved, c_to_save, c_dirty, c_flat};
    for (int i = 0; i < 3; i++)
        FIELD(call->node, none[i]) = Py_NewRef(Py_None);
    for (int i = 0; i < 4; i++)
        FIELD(call->node, empty[i]) = Py_NewRef(nothing);
    return 1;
}

static int
make_listener(Applied *call, PyObject *cls)
{
    Py_ssize_t count = PyList_GET_SIZE(call->nodes);
    PyObject *known = PyTuple_New(count + 1), *start = known ? next_number() : NULL;
    if (!start || !(call->listener = new(listener_class))) {
        Py_XDECREF(known), Py_XDECREF(start);
        return 0;
    }
    for (Py_ssize_t i = 0; i < count; i++)
        PyTuple_SET_ITEM(known, i, Py_NewRef(PyList_GET_ITEM(call->nodes, i)));
    PyTuple_SET_ITEM(known, count, Py_NewRef(Py_None));
    FIELD(call->listener, i_known) = known;
    FIELD(call->listener, i_start) = start;
    FIELD(call->listener, i_function) = Py_NewRef(cls);
    FIELD(call->listener, i_args) = Py_NewRef(call->args);
    FIELD(call->listener, i_nodes) = Py_NewRef(call->nodes);
    FIELD(call->listener, i_left) = Py_NewRef(Py_False);
    FIELD(call->listener, i_found) = Py_NewRef(Py_None);
    return 1;
}

/* The mode in which forward runs: as the usual one, but for the fields `records` and `listener`. */
static PyObject *
listening(PyObject *listener)
{
    PyTypeObject *type = Py_TYPE(plain);
    PyObject *mode = type->tp_alloc(type, PyTuple_GET_SIZE(plain));
    for (Py_ssize_t i = 0; mode && i < PyTuple_GET_SIZE(plain); i++)
        PyTuple_SET_ITEM(mode, i, Py_NewRef(i == 0 ? Py_False : i == 2 ? listener : PyTuple_GET_ITEM(plain, i)));
    return mode;
}

static PyObject *
run_forward(Applied *call, PyObject *cls, PyObject *const *args, Py_ssize_t count)
{
    PyObject *given[MOST_ARGUMENTS + 1] = {call->node}, *result = NULL;
    PyObject *forward = PyObject_GetAttr(cls, forward_name), *mode = forward ? listening(call->listener) : NULL;
    memcpy(given + 1, args, count * sizeof *args);
    if (mode && set_to(mode_now, mode) == 0) {
        result = PyObject_Vectorcall(forward, given, count + 1, NULL);
        if (set_back(mode_now, plain) < 0)
            Py_CLEAR(result);
    }
    Py_XDECREF(mode);
    Py_XDECREF(forward);
    return result;
}

/* What a node saves of a tensor, and in `given` how to find that again; NULL, perhaps with an exception: not usual. */
static PyObject *
saved_as(Applied *call, PyObject *t, PyObject *result, PyObject *given, Py_ssize_t place)
{
    if (t == Py_None)
        return Py_NewRef(t);
    if (!is_tensor(t) || !is_whole(t) || !version_of(t))
        return NULL;
    PyObject *made = FIELD(t, t_node);
    if (t == result) {
        PyObject *number = PyLong_FromLong(0), *pack = NULL;
        if (number)
            pack = PyTuple_Pack(4, FIELD(t, t_array), FIELD(t, t_counter), version_of(t), number);
        Py_XDECREF(number);
        return pack;
    }
    if (made == Py_None
        || PyLong_AsLongLong(FIELD(made, n_seq)) >= PyLong_AsLongLong(FIELD(call->listener, i_start)))
        return NULL;
    if (!Py_IS_TYPE(made, leaf_class)) {
        PyObject *key = PyLong_FromSsize_t(place), *ref = key ? PyWeakref_NewRef(t, NULL) : NULL;
        int failed = !ref || PyDict_SetItem(given, key, ref) < 0;
        Py_XDECREF(key), Py_XDECREF(ref);
        if (failed)
            return NULL;
    }
    return packed(t);
}

/* Whether a result is new, and nobody else's. */
static int
is_own(Applied *call, PyObject *out)
{
    if (!Py_IS_TYPE(out, (PyTypeObject *)FIELD(slots, s_tensor)) || !is_whole(out) || FIELD(out, t_view) != Py_None)
        return 0;
    PyObject *array = FIELD(out, t_array), *version = version_of(out);
    if (!version || PyObject_IsTrue(version) || Py_REFCNT(array) != 1)
        return 0;
    if (PyArray_CheckExact(array)) {
        PyArray_Descr *dtype = PyArray_DESCR((PyArrayObject *)array);
        if (PyArray_BASE((PyArrayObject *)array) || (dtype != of_single && dtype != of_double))
            return 0;
    }
    else if (!Py_IS_TYPE(array, &PyFloatArrType_Type) && !Py_IS_TYPE(array, &PyDoubleArrType_Type))
        return 0;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(call->args); i++)
        if (PyTuple_GET_ITEM(call->args, i) == out)
            return 0;
    return 1;
}

/* Whether forward has left everything as the usual one does. */
static int
is_usual(Applied *call, PyObject *out)
{
    PyObject *node = call->node, **dict = _PyObject_GetDictPtr(node), *listener = call->listener;
    if (dict && *dict && PyDict_GET_SIZE(*dict))
        return 0;
    if (FIELD(node, c_dirty) != nothing || FIELD(node, c_flat) != nothing || FIELD(node, c_ports) != Py_None
        || FIELD(listener, i_left) != Py_False || FIELD(listener, i_found) != Py_None
        || !PyTuple_CheckExact(FIELD(node, c_to_save)))
        return 0;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(call->args); i++) {
        PyObject *a = PyTuple_GET_ITEM(call->args, i), *version = PyList_GET_ITEM(call->versions, i);
        if (version != Py_None && (!is_whole(a) || !unchanged(FIELD(a, t_counter), version)))
            return 0;
    }
    return is_own(call, out);
}

/* Record a usual call; 0, perhaps with an exception: it is not one, and nothing has been done. */
static int
record(Applied *call, PyObject *out)
{
    PyObject *node = call->node, *saved = FIELD(node, c_to_save), *meta = meta_of(FIELD(out, t_array));
    Py_ssize_t count = PyTuple_GET_SIZE(saved);
    PyObject *packs = PyList_New(count), *given = PyDict_New(), *metas = PyList_New(1);
    int done = packs && given && metas && meta;
    for (Py_ssize_t i = 0; done && i < count; i++) {
        PyObject *pack = saved_as(call, PyTuple_GET_ITEM(saved, i), out, given, i);
        if ((done = pack != NULL))
            PyList_SET_ITEM(packs, i, pack);
    }
    if (!done) {
        Py_XDECREF(packs), Py_XDECREF(given), Py_XDECREF(metas), Py_XDECREF(meta);
        return 0;
    }
    PyList_SET_ITEM(metas, 0, meta);
    Py_XSETREF(FIELD(node, c_outputs), metas);
    Py_XSETREF(FIELD(node, c_given), given);
    Py_XSETREF(FIELD(node, n_saved), packs);
    Py_XSETREF(FIELD(node, c_to_save), Py_NewRef(nothing));
    Py_XSETREF(FIELD(out, t_node), Py_NewRef(node));
    return 1;
}

static PyObject *
recorded_call(Applied *call, PyObject *out)
{
    PyObject *node = call->node, *seq = next_number(), *next = seq ? PyList_AsTuple(call->before) : NULL;
    if (!next) {
        Py_XDECREF(seq), Py_DECREF(out);
        return NULL;
    }
    Py_XSETREF(FIELD(node, n_seq), seq);
    Py_XSETREF(FIELD(node, n_next), next);
    Py_XSETREF(FIELD(node, c_metas), Py_NewRef(call->metas));
    if (is_usual(call, out) && record(call, out))
        return out;
    if (!PyErr_Occurred()) {
        PyObject *given[4] = {node, call->listener, call->versions, out};
        Py_SETREF(out, PyObject_Vectorcall(recorded, given, 4, NULL));
    }
    else
        Py_CLEAR(out);
    return out;
}

static PyObject *
apply_ask(Early *Py_UNUSED(early), PyObject *const *args, Py_ssize_t count, PyObject *kwnames)
{
    PyObject *mode = NULL, *cls = count ? args[0] : NULL, *out = NULL;
    if (kwnames || count < 2 || count > MOST_ARGUMENTS || !PyType_Check(cls) || FIELD(slots, s_applied) != Py_None
        || of_class(cls, setup_name) != own_context || of_class(cls, outer_name) != Py_None
        || PyContextVar_Get(mode_now, NULL, &mode) < 0)
        return NULL;
    Py_DECREF(mode); /* the context holds it */
    if (mode != plain)
        return NULL;
    count--, args++;
    Applied call = {.args = PyTuple_New(count), .nodes = PyList_New(count), .before = PyList_New(0),
                 .versions = PyList_New(count), .metas = PyList_New(count)};
    if (call.args && call.nodes && call.before && call.versions && call.metas && read_arguments(&call, args, count)
        && make_node(&call, cls) && make_listener(&call, cls)) {
        out = run_forward(&call, cls, args, count);
        if (out)
            out = recorded_call(&call, out);
    }
    end_call(&call);
    return out;
}

int
is_known(PyObject *listener, PyObject *node)
{
    PyObject *known = listener_class && Py_IS_TYPE(listener, listener_class) ? FIELD(listener, i_known) : NULL;
    for (Py_ssize_t i = 0; known && i < PyTuple_GET_SIZE(known); i++)
        if (PyTuple_GET_ITEM(known, i) == node)
            return 1;
    return 0;
}

/* ---- backward ---- */

/* What the user's backward returns under the user's own setting of NumPy's errors. */
static PyObject *
run_backward(PyObject *backward, PyObject *node, PyObject *t)
{
    PyObject *given[2] = {node, t}, *before = NULL, *own = NULL, *result = NULL;
    if (PyContextVar_Get(setting, NULL, &before) == 0 && PyContextVar_Get(users_setting, NULL, &own) == 0
        && set_to(setting, own == Py_None ? before : own) == 0) {
        result = PyObject_Vectorcall(backward, given, 2, NULL);
        if (set_back(setting, before) < 0)
            Py_CLEAR(result);
    }
    Py_XDECREF(before), Py_XDECREF(own);
    return result;
}

/* The array of a gradient that fits its input and is nobody else's, or is the cotangent itself; borrowed, or NULL. */
static PyObject *
fitting(PyObject *r, PyObject *meta, PyObject *g)
{
    if (!Py_IS_TYPE(r, (PyTypeObject *)FIELD(slots, s_tensor)) || !is_whole(r))
        return NULL;
    PyObject *array = FIELD(r, t_array), *dtype = PyTuple_GET_ITEM(meta, 1);
    if (!is_of_shape(array, PyTuple_GET_ITEM(meta, 0)))
        return NULL;
    if (PyArray_CheckExact(array)) {
        int own = Py_REFCNT(r) == 1 && Py_REFCNT(array) == 1 && !PyArray_BASE((PyArrayObject *)array);
        return (own || array == g) && (PyObject *)PyArray_DESCR((PyArrayObject *)array) == dtype ? array : NULL;
    }
    if (Py_IS_TYPE(array, &PyFloatArrType_Type))
        return dtype == (PyObject *)of_single ? array : NULL;
    return Py_IS_TYPE(array, &PyDoubleArrType_Type) && dtype == (PyObject *)of_double ? array : NULL;
}

static int
all_unchanged(PyObject *saved)
{
    for (Py_ssize_t i = 0; PyList_CheckExact(saved) && i < PyList_GET_SIZE(saved); i++) {
        PyObject *pack = PyList_GET_ITEM(saved, i);
        if (pack != Py_None && !unchanged(PyTuple_GET_ITEM(pack, 1), PyTuple_GET_ITEM(pack, 2)))
            return 0;
    }
    return 1;
}

/* How many arrays of what backward has returned are usual gradients; -1 if something is not usual. */
static int
gradients(PyObject *node, PyObject *t, PyObject *g, PyObject *result, PyObject **results)
{
    PyObject *metas = FIELD(node, c_metas), *needs = FIELD(node, c_needs), *saved = FIELD(node, n_saved);
    int several = PyTuple_CheckExact(result), found = 0;
    PyObject **items = several ? &PyTuple_GET_ITEM(result, 0) : &result;
    Py_ssize_t count = several ? PyTuple_GET_SIZE(result) : 1;
    if (count != PyList_GET_SIZE(metas) || (several && Py_REFCNT(result) != 1) || FIELD(t, t_array) != g
        || PyObject_IsTrue(PyList_GET_ITEM(FIELD(t, t_counter), 0)) || !saved
        || (FIELD(node, c_read) == Py_True && !all_unchanged(saved)))
        return -1;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *meta = PyList_GET_ITEM(metas, i), *array = NULL;
        if (meta == Py_None ? items[i] != Py_None : PyTuple_GET_ITEM(needs, i) == Py_True) {
            array = meta == Py_None || found == MOST_RESULTS ? NULL : fitting(items[i], meta, g);
            if (!array)
                return -1;
            results[found++] = array;
        }
    }
    for (int i = 0; i < found; i++)
        Py_INCREF(results[i]);
    return found;
}

int
function_results(PyObject *node, PyObject *g, PyObject **results, PyObject **sequence)
{
    PyTypeObject *type = Py_TYPE(node);
    PyObject *mode = NULL, *function, *backward;
    if (!node_class || !PyType_IsSubtype(type, node_class) || _PyType_Lookup(type, run_name) != usual_run
        || FIELD(node, c_ports) != Py_None || PyList_GET_SIZE(FIELD(node, c_outputs)) != 1
        || !setting || !is_plain(g) || PyContextVar_Get(mode_now, NULL, &mode) < 0)
        return 0;
    Py_DECREF(mode); /* the context holds it */
    function = _PyType_Lookup(type, function_name);
    if (mode != unrecorded || !function || !PyType_Check(function) || of_class(function, usual_name) != Py_True
        || !(backward = PyObject_GetAttr(function, backward_name)))
        return 0;
    int found = -1;
    PyObject *t = wrapped(Py_NewRef(g));
    Py_XSETREF(FIELD(node, c_read), Py_NewRef(Py_False));
    PyObject *result = t ? run_backward(backward, node, t) : NULL;
    Py_DECREF(backward);
    if (result && (found = gradients(node, t, g, result, results)) > 0)
        usual_backwards++;
    else if (result) {
        other_backwards++;
        PyObject *ran = Py_BuildValue("[[N]N]", t, result);
        PyObject *given[4] = {node, space, g, ran};
        t = result = NULL;
        *sequence = ran ? PyObject_Vectorcall(usual_run, given, 4, NULL) : NULL;
        found = *sequence ? 1 : -1;
        Py_XDECREF(ran);
    }
    Py_XDECREF(t);
    Py_XDECREF(result);
    return found;
}

/* ---- ctx ---- */

static PyObject *
saved_tensor(PyObject *node, PyObject *pack, Py_ssize_t place)
{
    if (pack == Py_None)
        return Py_NewRef(pack);
    PyObject *array = PyTuple_GET_ITEM(pack, 0), *counter = PyTuple_GET_ITEM(pack, 1), *made = PyTuple_GET_ITEM(pack, 3);
    if (!is_plain(array) || !unchanged(counter, PyTuple_GET_ITEM(pack, 2)))
        return NULL;
    if (PyLong_CheckExact(made)) {
        if (FIELD(node, c_ports) != Py_None)
            return NULL;
        made = node;
    }
    else if (Py_IS_TYPE(made, leaf_class) && FIELD(made, l_array) == array)
        return living(FIELD(made, l_leaf));
    else if (FIELD(node, c_given)) {
        PyObject *key = PyLong_FromSsize_t(place), *t = key ? PyDict_GetItem(FIELD(node, c_given), key) : NULL;
        Py_XDECREF(key);
        t = t ? living(t) : NULL;
        if (t && FIELD(t, t_array) == array && FIELD(t, t_counter) == counter && FIELD(t, t_node) == made)
            return t;
        Py_XDECREF(t);
    }
    PyObject *out = wrapped(Py_NewRef(array));
    if (out) {
        Py_SETREF(FIELD(out, t_counter), Py_NewRef(counter));
        Py_SETREF(FIELD(out, t_node), Py_NewRef(made));
    }
    return out;
}

static PyObject *
saved_tensors_ask(Early *Py_UNUSED(early), PyObject *const *args, Py_ssize_t count, PyObject *kwnames)
{
    PyObject *node = args[0];
    if (kwnames || count != 1 || !PyType_IsSubtype(Py_TYPE(node), node_class))
        return NULL;
    PyObject *saved = FIELD(node, n_saved), *function = _PyType_Lookup(Py_TYPE(node), function_name);
    if (!saved || !PyList_CheckExact(saved) || FIELD(node, c_to_save) != nothing || FIELD(node, c_replay) != Py_None
        || !function || of_class(function, clears_name) != Py_False)
        return NULL;
    Py_INCREF(saved); /* another thread may free the graph meanwhile */
    PyObject *found = PyTuple_New(PyList_GET_SIZE(saved));
    for (Py_ssize_t i = 0; found && i < PyTuple_GET_SIZE(found); i++) {
        PyObject *t = saved_tensor(node, PyList_GET_ITEM(saved, i), i);
        if (t)
            PyTuple_SET_ITEM(found, i, t);
        else
            Py_CLEAR(found);
    }
    Py_DECREF(saved);
    if (found)
        Py_XSETREF(FIELD(node, c_read), Py_NewRef(Py_True));
    return found;
}

static PyObject *
save_for_backward_ask(Early *Py_UNUSED(early), PyObject *const *args, Py_ssize_t count, PyObject *kwnames)
{
    if (kwnames || !count || !PyType_IsSubtype(Py_TYPE(args[0]), node_class))
        return NULL;
    for (Py_ssize_t i = 1; i < count; i++)
        if (args[i] != Py_None && !PyType_IsSubtype(Py_TYPE(args[i]), tensor_base))
            return NULL;
    PyObject *tensors = PyTuple_New(count - 1);
    if (!tensors)
        return NULL;
    for (Py_ssize_t i = 1; i < count; i++)
        PyTuple_SET_ITEM(tensors, i - 1, Py_NewRef(args[i]));
    Py_XSETREF(FIELD(args[0], c_to_save), tensors);
    Py_RETURN_NONE;
}

static PyObject *
needs_input_grad_ask(Early *Py_UNUSED(early), PyObject *const *args, Py_ssize_t count, PyObject *kwnames)
{
    PyObject *aim = NULL;
    if (kwnames || count != 1 || !PyType_IsSubtype(Py_TYPE(args[0]), node_class)
        || PyContextVar_Get(routing, NULL, &aim) < 0)
        return NULL;
    Py_DECREF(aim);
    return aim == Py_None ? Py_XNewRef(FIELD(args[0], c_needs)) : NULL;
}

/* ---- */

static PyObject *
early(PyObject *Py_UNUSED(module), PyObject *args)
{
    const char *name;
    static const struct { const char *name; Asking ask; int tells; } forms[] = {
        {"apply", apply_ask, 1}, {"saved_tensors", saved_tensors_ask, 0},
        {"save_for_backward", save_for_backward_ask, 0}, {"needs_input_grad", needs_input_grad_ask, 0},
    };
    if (!PyArg_ParseTuple(args, "s:of_functions", &name))
        return NULL;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (!strcmp(name, forms[i].name)) {
            Early *made = (Early *)Early_Type.tp_alloc(&Early_Type, 0);
            if (made)
                made->ask = forms[i].ask, made->tells = forms[i].tells;
            return (PyObject *)made;
        }
    return PyErr_Format(PyExc_ValueError, "of_functions(): there is no form of %s", name);
}

static PyObject *
function_counts(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(none))
{
    return Py_BuildValue("KK", usual_backwards, other_backwards);
}

static PyMethodDef methods[] = {
    {"function_counts", function_counts, METH_NOARGS,
     "function_counts(): how many backwards of users were usual, and how many the twin went on from."},
    {"functions", functions, METH_VARARGS,
     "functions(BackwardNode, Inside, TENSORLESS, setup_context, recorded, UNRECORDED, routing)."},
    {"of_functions", early, METH_VARARGS, "of_functions(name): what the function or method of this name asks first."},
    {0},
};

int
add_functions(PyObject *module)
{
    struct { PyObject **name; const char *text; } names[] = {
        {&forward_name, "forward"}, {&setup_name, "setup_context"}, {&outer_name, "_outer"},
        {&node_class_name, "_node_class"}, {&run_name, "_run"}, {&function_name, "_function"}, {&usual_name, "_usual"},
        {&backward_name, "backward"}, {&clears_name, "clear_saved_tensors_on_access"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!(*names[i].name = PyUnicode_InternFromString(names[i].text)))
            return -1;
    nothing = PyTuple_New(0);
    return !nothing ? -1 : PyModule_AddFunctions(module, methods);
}
