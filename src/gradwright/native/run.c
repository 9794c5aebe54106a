/* The loop of a backward pass that is not recorded and that nobody looks at: take the node that was made last, run its
   rules, add what they give to what waits for the nodes before it.

   `steps` begins and ends between two nodes, with the same heap and the same waiting cotangents as its twin has there.
   It ends where a node is not usual; the twin runs that one and asks again. A node of an operation is run here, its
   rules called with what it has saved; any other by its own `_run`. `leaves` writes the gradients at the end, one leaf
   after another, up to one that is not usual.

   Nothing of Python runs in a pass through nodes whose rules are loops or programs, so that needs no mode and no error setting of
   its own: `steps` asked with `alone` goes as far as there are only such nodes.

   Twins: of `steps` and `leaves` the loop, `_sum`, `_complete` and `_accumulate` of gradwright.engine.backward; of
   `rules_results` the functions `_run` that gradwright.engine.nodes_of_ops writes; of `leaf_written` the method `_run`
   of gradwright.engine.node.AccumulateGrad. */

#include "core.h"

#include <structmember.h>

#define MOST_RULES 3
#define MOST_GIVEN 6  /* values that a rule is given besides the cotangent */
#define LARGE 16384   /* entries from which on a sum takes the memory of what it adds to: _LARGE of the twin */
#define PATIENCE 1000 /* nodes between two looks for an interrupt */

PyTypeObject *leaf_class;
Py_ssize_t l_leaf, l_array;
PyObject *space;

static PyObject *add, *sum_to, *lock;
static PyObject *rules_name, *run_name, *acquire_name, *release_name;
static unsigned long long written, unwritten; /* leaves, and those that are for the twin */

static PyObject *
passes(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *leaf, *xp, *loop, *summed, *held;
    if (!PyArg_ParseTuple(args, "O!OO!OO:passes", &PyType_Type, &leaf, &xp, &Loop_Type, &loop, &summed, &held))
        return NULL;
    Py_ssize_t its_leaf = offset_of(leaf, "_leaf"), its_array = offset_of(leaf, "_array");
    if (its_leaf < 0 || its_array < 0)
        return NULL;
    l_leaf = its_leaf, l_array = its_array;
    Py_XSETREF(leaf_class, (PyTypeObject *)Py_NewRef(leaf));
    Py_XSETREF(space, Py_NewRef(xp));
    Py_XSETREF(add, Py_NewRef(loop));
    Py_XSETREF(sum_to, Py_NewRef(summed));
    Py_XSETREF(lock, Py_NewRef(held));
    Py_RETURN_NONE;
}

/* ---- the rules of an operation's node ---- */

typedef struct {
    PyObject *fn;   /* NULL: the cotangent is handed on */
    int given;      /* how many saved values it is given */
    int shape;      /* the place among them of a shape to sum down to; -1 of none */
    unsigned char place[MOST_GIVEN];
} Rule;

typedef struct {
    PyObject_HEAD
    PyTypeObject *class; /* that has them, and so lives */
    Py_ssize_t saved;    /* where it keeps what it saves */
    int packed, values;  /* of the values the first ones are tensors */
    int rules, alone;    /* whether they are loops and programs alone */
    Rule rule[MOST_RULES];
    unsigned long long taken, left;
} Rules;

static PyTypeObject Rules_Type;

static Rules *
rules_of(PyObject *node)
{
    PyObject *found = _PyType_Lookup(Py_TYPE(node), rules_name);
    return found && Py_IS_TYPE(found, &Rules_Type) && ((Rules *)found)->class == Py_TYPE(node) ? (Rules *)found : NULL;
}

int
is_plain(PyObject *g)
{
    return PyArray_CheckExact(g) || Py_IS_TYPE(g, &PyFloatArrType_Type) || Py_IS_TYPE(g, &PyDoubleArrType_Type);
}

int
unchanged(PyObject *counter, PyObject *version)
{
    if (!PyList_Check(counter) || !PyList_GET_SIZE(counter))
        return 0;
    PyObject *at = PyList_GET_ITEM(counter, 0);
    return at == version
        || (PyLong_CheckExact(at) && PyLong_CheckExact(version) && PyObject_RichCompareBool(at, version, Py_EQ) == 1);
}

int
is_of_shape(PyObject *array, PyObject *shape)
{
    int axes = PyArray_CheckExact(array) ? PyArray_NDIM((PyArrayObject *)array) : 0;
    if (!PyTuple_CheckExact(shape) || PyTuple_GET_SIZE(shape) != axes)
        return 0;
    for (int i = 0; i < axes; i++)
        if (PyLong_AsSsize_t(PyTuple_GET_ITEM(shape, i)) != PyArray_DIM((PyArrayObject *)array, i))
            return 0;
    return 1;
}

static PyObject *
rule_result(const Rule *rule, PyObject *g, PyObject *const *values, int alone)
{
    PyObject *given[MOST_GIVEN + 2] = {space, g}, *result = NULL;
    for (int i = 0; i < rule->given; i++)
        given[i + 2] = values[rule->place[i]];
    if (!rule->fn)
        result = Py_NewRef(g);
    else if (Py_IS_TYPE(rule->fn, &Loop_Type) && ((Loop *)rule->fn)->nin == rule->given + 1)
        result = loop_in_pass((Loop *)rule->fn, given + 1);
    else
        result = formula_in_pass(rule->fn, given + 1, rule->given + 1, alone);
    if (!result && !alone && !PyErr_Occurred())
        result = PyObject_Vectorcall(rule->fn, given, rule->given + 2, NULL);
    if (result && rule->shape >= 0 && !is_of_shape(result, values[rule->shape])) {
        PyObject *summed[3] = {space, result, values[rule->shape]};
        Py_SETREF(result, alone ? NULL : PyObject_Vectorcall(sum_to, summed, 3, NULL));
    }
    return result;
}

static void
drop(PyObject **objects, int count)
{
    for (int i = 0; i < count; i++)
        Py_XDECREF(objects[i]);
}

/* How many cotangents a node has given; 0, perhaps with an exception, if that is for the twin. */
static int
rules_results(Rules *self, PyObject *node, PyObject *g, PyObject **results, int alone)
{
    PyObject *saved = FIELD(node, self->saved), *values[256];
    int k = 0;
    if (!is_plain(g) || !saved || !PyTuple_CheckExact(saved) || PyTuple_GET_SIZE(saved) != self->values)
        return 0;
    for (; k < self->values; k++) {
        values[k] = PyTuple_GET_ITEM(saved, k);
        if (k >= self->packed)
            continue;
        PyObject *packed = values[k];
        if (!PyTuple_CheckExact(packed) || PyTuple_GET_SIZE(packed) != 4
            || !unchanged(PyTuple_GET_ITEM(packed, 1), PyTuple_GET_ITEM(packed, 2)))
            return 0;
        values[k] = PyTuple_GET_ITEM(packed, 0);
    }
    Py_INCREF(saved); /* another thread may free the graph meanwhile */
    for (k = 0; k < self->rules; k++)
        if (!(results[k] = rule_result(&self->rule[k], g, values, alone)))
            break;
    Py_DECREF(saved);
    if (k == self->rules)
        return k;
    drop(results, k);
    return 0;
}

static PyObject *
rules_new(PyTypeObject *type, PyObject *args, PyObject *Py_UNUSED(kwargs))
{
    PyObject *class, *rules;
    const char *slot;
    int packed, values;
    if (!PyArg_ParseTuple(args, "O!siiO!:rules", &PyType_Type, &class, &slot, &packed, &values, &PyTuple_Type, &rules))
        return NULL;
    Py_ssize_t saved = offset_of(class, slot), count = PyTuple_GET_SIZE(rules);
    if (saved < 0)
        return NULL;
    if (count > MOST_RULES || values > 255 || packed > values)
        return PyErr_Format(PyExc_ValueError, "rules() takes %d rules at most", MOST_RULES);
    Rules *self = (Rules *)type->tp_alloc(type, 0);
    if (!self)
        return NULL;
    self->class = (PyTypeObject *)class;
    self->saved = saved;
    self->packed = packed;
    self->values = values;
    self->alone = 1;
    for (Py_ssize_t i = 0; i < count; i++) {
        Rule *rule = &self->rule[self->rules++];
        PyObject *fn, *places;
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(rules, i), "OO!i", &fn, &PyBytes_Type, &places, &rule->shape)
            || PyBytes_GET_SIZE(places) > MOST_GIVEN) {
            if (!PyErr_Occurred())
                PyErr_Format(PyExc_ValueError, "rules() takes rules of %d values at most", MOST_GIVEN);
            Py_DECREF(self);
            return NULL;
        }
        rule->given = (int)PyBytes_GET_SIZE(places);
        memcpy(rule->place, PyBytes_AS_STRING(places), rule->given);
        rule->fn = fn == Py_None ? NULL : Py_NewRef(fn);
        self->alone &= !rule->fn || Py_IS_TYPE(fn, &Loop_Type) || Py_IS_TYPE(fn, &Formula_Type);
    }
    return (PyObject *)self;
}

static int
rules_traverse(Rules *self, visitproc visit, void *arg)
{
    for (int i = 0; i < self->rules; i++)
        Py_VISIT(self->rule[i].fn);
    return 0;
}

static int
rules_clear(Rules *self)
{
    for (int i = 0; i < self->rules; i++)
        Py_CLEAR(self->rule[i].fn);
    return 0;
}

static void
rules_dealloc(Rules *self)
{
    PyObject_GC_UnTrack(self);
    rules_clear(self);
    Py_TYPE(self)->tp_free(self);
}

static PyMemberDef rules_members[] = {
    {"taken", T_ULONGLONG, offsetof(Rules, taken), READONLY, "how often they ran here"},
    {"left", T_ULONGLONG, offsetof(Rules, left), READONLY, "how often the node's own `_run` did"},
    {0},
};

static PyTypeObject Rules_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "gradwright.native._core.rules",
    .tp_doc = "rules(class, slot, packed, values, rules): what nodes of a class compute, of what they keep in a slot.",
    .tp_basicsize = sizeof(Rules),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_new = rules_new,
    .tp_dealloc = (destructor)rules_dealloc,
    .tp_traverse = (traverseproc)rules_traverse,
    .tp_clear = (inquiry)rules_clear,
    .tp_members = rules_members,
};

/* ---- the heap: the node that was made last is first ---- */

typedef struct {
    long long seq;
    PyObject *node; /* held among what waits */
} Entry;

typedef struct {
    Entry *entries;
    Py_ssize_t count, room;
} Heap;

static int
push(Heap *heap, PyObject *node)
{
    if (heap->count == heap->room) {
        Py_ssize_t room = heap->room ? 2 * heap->room : 32;
        Entry *more = PyMem_Realloc(heap->entries, room * sizeof(Entry));
        if (!more) {
            PyErr_NoMemory();
            return -1;
        }
        heap->entries = more;
        heap->room = room;
    }
    Entry entry = {PyLong_AsLongLong(FIELD(node, n_seq)), node};
    Py_ssize_t at = heap->count++;
    for (; at && heap->entries[(at - 1) / 2].seq < entry.seq; at = (at - 1) / 2)
        heap->entries[at] = heap->entries[(at - 1) / 2];
    heap->entries[at] = entry;
    return 0;
}

static PyObject *
pop(Heap *heap)
{
    PyObject *first = heap->entries[0].node;
    Entry entry = heap->entries[--heap->count];
    Py_ssize_t at = 0;
    for (Py_ssize_t next = 1; next < heap->count; next = 2 * at + 1) {
        if (next + 1 < heap->count && heap->entries[next + 1].seq > heap->entries[next].seq)
            next++;
        if (heap->entries[next].seq <= entry.seq)
            break;
        heap->entries[at] = heap->entries[next];
        at = next;
    }
    heap->entries[at] = entry;
    return first;
}

static int
read_heap(Heap *heap, PyObject *list)
{
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); i++)
        if (push(heap, PyTuple_GET_ITEM(PyList_GET_ITEM(list, i), 1)) < 0)
            return -1;
    return 0;
}

/* As the twin has it: pairs of a number, negative, and a node. */
static int
write_heap(Heap *heap, PyObject *list)
{
    if (PyList_SetSlice(list, 0, PyList_GET_SIZE(list), NULL) < 0)
        return -1;
    for (Py_ssize_t i = 0; i < heap->count; i++) {
        PyObject *pair = Py_BuildValue("LO", -heap->entries[i].seq, heap->entries[i].node);
        int failed = !pair || PyList_Append(list, pair) < 0;
        Py_XDECREF(pair);
        if (failed)
            return -1;
    }
    return 0;
}

/* ---- the loop ---- */

typedef struct {
    PyObject *pending, *route, *wanted, *found; /* wanted is NULL if the pass goes everywhere */
    int keep, alone;
    Heap heap;
    PyObject *following, *cotangent; /* a node made after all that wait, which need not, or NULL; and its cotangent */
} Pass;

/* What waits under a node, which it does no more; NULL, perhaps with an exception, if nothing does. */
static PyObject *
taken_from(PyObject *pending, PyObject *node)
{
    PyObject *g = Py_XNewRef(PyDict_GetItemWithError(pending, node));
    if (g && PyDict_DelItem(pending, node) < 0)
        Py_CLEAR(g);
    return g;
}

/* The sum of two cotangents, in the memory of the first if nobody else holds that; it is taken over. */
static PyObject *
sum_of(PyObject *old, PyObject *new)
{
    PyArrayObject *a = (PyArrayObject *)old, *b = (PyArrayObject *)new;
    if (PyArray_CheckExact(old) && PyArray_SIZE(a) >= LARGE && Py_REFCNT(old) == 1 && !PyArray_BASE(a)
        && PyArray_ISCARRAY(a) && PyArray_CheckExact(new) && PyArray_DESCR(b) == PyArray_DESCR(a)
        && PyArray_SAMESHAPE(a, b)) {
        PyObject *sum = loop_into((Loop *)add, old, new) ? Py_NewRef(old) : PyNumber_InPlaceAdd(old, new);
        Py_DECREF(old);
        return sum;
    }
    PyObject *both[2] = {old, new}, *sum = loop_in_pass((Loop *)add, both);
    if (!sum)
        sum = PyNumber_Add(old, new);
    Py_DECREF(old);
    return sum;
}

/* Hand a cotangent, which is taken over, to a node; the only one that gets any from the one that has run? */
static int
deliver(Pass *pass, PyObject *target, PyObject *g, int only)
{
    PyObject *old = PyDict_GET_SIZE(pass->pending) ? taken_from(pass->pending, target) : NULL;
    int inner = PyTuple_GET_SIZE(FIELD(target, n_next)) > 0, first = !old;
    if (old)
        Py_SETREF(g, sum_of(old, g));
    else if (PyErr_Occurred())
        Py_CLEAR(g);
    else if (only && inner
             && (!pass->heap.count || pass->heap.entries[0].seq < PyLong_AsLongLong(FIELD(target, n_seq)))) {
        pass->following = Py_NewRef(target);
        pass->cotangent = g;
        return 0;
    }
    int done = g ? PyDict_SetItem(pass->pending, target, g) : -1;
    Py_XDECREF(g);
    if (done < 0)
        return -1;
    return first && inner ? push(&pass->heap, target) : 0;
}

/* Whether a node can be run here. */
static int
is_usual(const Pass *pass, PyObject *node)
{
    PyObject *next = FIELD(node, n_next), *seq = FIELD(node, n_seq);
    if (FIELD(node, n_hooks) != Py_None || !next || !PyTuple_CheckExact(next) || !seq)
        return 0;
    if (!pass->alone)
        return 1;
    Rules *rules = rules_of(node);
    return rules && rules->alone;
}

static int
is_asked_for(const Pass *pass, PyObject *node)
{
    int found = pass->wanted ? PySet_Contains(pass->route, node) : 1;
    return found ? found : PySet_Contains(pass->wanted, node);
}

/* Run a node: hand on what it gives. 0: it is for the twin, and nothing has been done. -1: it has failed. */
static int
run_node(Pass *pass, PyObject *node, PyObject **g)
{
    PyObject *several[MOST_RESULTS], **results = several, *sequence = NULL, *next = FIELD(node, n_next);
    Rules *rules = rules_of(node);
    Py_ssize_t count = rules ? rules_results(rules, node, *g, several, pass->alone) : 0;
    if (rules)
        count ? rules->taken++ : rules->left++;
    if (!count && PyErr_Occurred())
        return -1;
    if (!count && pass->alone)
        return 0;
    if (!count && !rules)
        count = function_results(node, *g, several, &sequence);
    if (!count) {
        PyObject *given[3] = {node, space, *g};
        sequence = PyObject_VectorcallMethod(run_name, given, 3, NULL);
        count = sequence ? 1 : -1;
    }
    if (count < 0)
        return -1;
    if (sequence) {
        Py_SETREF(sequence, PySequence_Fast(sequence, "a node's results are no sequence"));
        if (!sequence)
            return -1;
        results = PySequence_Fast_ITEMS(sequence);
        count = PySequence_Fast_GET_SIZE(sequence);
    }
    if (!pass->keep)
        Py_XSETREF(FIELD(node, n_saved), Py_NewRef(Py_None));
    Py_CLEAR(*g);
    Py_INCREF(next);
    int done = 1;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *result = sequence ? Py_NewRef(results[i]) : results[i];
        PyObject *target = i < PyTuple_GET_SIZE(next) ? PyTuple_GET_ITEM(next, i) : NULL;
        int asked = done < 0 || !target || result == Py_None ? 0 : is_asked_for(pass, target);
        if (sequence && i == count - 1)
            Py_CLEAR(sequence); /* nobody else may seem to hold the last */
        if (asked <= 0)
            Py_DECREF(result);
        if (asked < 0 || (asked && deliver(pass, target, result, PyTuple_GET_SIZE(next) == 1) < 0))
            done = -1;
    }
    Py_XDECREF(sequence);
    Py_DECREF(next);
    return done;
}

/* Take the node whose turn it is, and its cotangent, away from what waits. */
static int
take(Pass *pass, PyObject **node, PyObject **g)
{
    if (pass->following) {
        *node = pass->following, *g = pass->cotangent;
        pass->following = pass->cotangent = NULL;
        return 0;
    }
    *node = Py_NewRef(pass->heap.entries[0].node);
    pop(&pass->heap);
    *g = taken_from(pass->pending, *node);
    if (!*g && !PyErr_Occurred())
        PyErr_SetObject(PyExc_KeyError, *node);
    return *g ? 0 : -1;
}

static int
run_all(Pass *pass)
{
    int done = 1;
    for (Py_ssize_t ran = 1; done > 0 && (pass->following || pass->heap.count); ran++) {
        if (ran % PATIENCE == 0 && PyErr_CheckSignals() < 0)
            return -1;
        PyObject *node, *g;
        done = take(pass, &node, &g) < 0 ? -1 : 1;
        int runs = done > 0 && PyTuple_GET_SIZE(FIELD(node, n_next));
        if (done > 0 && !runs) /* a leaf: more may come for it */
            done = PyDict_SetItem(pass->pending, node, g) < 0 ? -1 : 1;
        else if (done > 0 && (done = is_usual(pass, node)) && pass->wanted) {
            int wanted = PySet_Contains(pass->wanted, node);
            runs = PySet_Contains(pass->route, node);
            if (wanted < 0 || runs < 0 || (wanted && PyDict_SetItem(pass->found, node, g) < 0))
                done = -1;
        }
        if (done > 0 && runs)
            done = run_node(pass, node, &g);
        if (!done && (PyDict_SetItem(pass->pending, node, g) < 0 || push(&pass->heap, node) < 0))
            done = -1;
        Py_XDECREF(g);
        Py_DECREF(node);
    }
    return done < 0 ? -1 : 0;
}

static PyObject *
steps(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    if (count != 7 || !PyDict_CheckExact(args[0]) || !PyList_CheckExact(args[1])) {
        PyErr_SetString(PyExc_TypeError, "steps(pending, heap, route, wanted, found, keep_graph, alone)");
        return NULL;
    }
    Pass pass = {.pending = args[0], .route = args[2], .found = args[4]};
    pass.wanted = PySet_GET_SIZE(args[3]) ? args[3] : NULL;
    pass.keep = PyObject_IsTrue(args[5]);
    pass.alone = args[6] == Py_True;
    int failed = pass.keep < 0 || read_heap(&pass.heap, args[1]) < 0 || run_all(&pass) < 0 || write_heap(&pass.heap, args[1]) < 0;
    PyMem_Free(pass.heap.entries);
    Py_XDECREF(pass.following), Py_XDECREF(pass.cotangent); /* of a pass that has failed */
    if (failed)
        return NULL;
    Py_RETURN_NONE;
}

/* ---- leaves ---- */

PyObject *
living(PyObject *ref)
{
    PyObject *found = NULL;
    if (ref && PyWeakref_CheckRef(ref)) {
#if PY_VERSION_HEX >= 0x030d0000
        PyWeakref_GetRef(ref, &found);
#else
        found = Py_NewRef(PyWeakref_GET_OBJECT(ref));
        if (found == Py_None)
            Py_CLEAR(found);
#endif
    }
    return found;
}

/* Whether two are plain, of one dtype and shape. */
static int
alike(PyObject *x, PyObject *y)
{
    PyArrayObject *a, *b;
    int type = loop_operand(x, &a);
    return type >= 0 && type == loop_operand(y, &b) && !a == !b && (!a || PyArray_SAMESHAPE(a, b));
}

/* Add to the gradient that a leaf has, in its memory; whether that was done. */
static int
added_to(PyObject *old, PyObject *g, PyObject *array)
{
    if (!Py_IS_TYPE(old, (PyTypeObject *)FIELD(slots, s_tensor)) || Py_REFCNT(old) != 1 || !is_whole(old))
        return 0;
    PyObject *its = FIELD(old, t_array), *counter = FIELD(old, t_counter), *version = version_of(old);
    if (its == array || Py_REFCNT(counter) != 1 || !version || !alike(g, its))
        return 0;
    PyObject *more = PyLong_FromLongLong(PyLong_AsLongLong(version) + 1);
    if (!more || PyErr_Occurred()) {
        PyErr_Clear();
        Py_XDECREF(more);
        return 0;
    }
    int done = 0;
    Py_INCREF(old), Py_INCREF(counter); /* while a loop runs another thread may take the gradient from the leaf */
    if (PyArray_CheckExact(its)) {
        Py_INCREF(its);
        done = !PyArray_BASE((PyArrayObject *)its) && loop_into((Loop *)add, its, g);
        Py_DECREF(its);
    }
    else {
        PyObject *both[2] = {its, g}, *sum = loop_in_pass((Loop *)add, both);
        if ((done = sum != NULL))
            Py_SETREF(FIELD(old, t_array), sum);
    }
    if (done)
        PyList_SetItem(counter, 0, more);
    else
        Py_DECREF(more);
    Py_DECREF(old), Py_DECREF(counter);
    return done;
}

/* Whether a first gradient may lie as it does, 1, or in row-major order, 2, as the leaf lies; 0: that is for the twin. */
static int
lies(PyObject *g, PyObject *array)
{
    if (!PyArray_CheckExact(g))
        return Py_REFCNT(g) == 1 ? 1 : 2;
    PyArrayObject *a = (PyArrayObject *)g, *b = (PyArrayObject *)array;
    int axes = PyArray_NDIM(a), rows = axes < 2 || PyArray_IS_C_CONTIGUOUS(b);
    if (Py_REFCNT(g) != 1 || PyArray_BASE(a))
        return rows ? 2 : 0;
    return axes < 2 || (rows && PyArray_IS_C_CONTIGUOUS(a))
        || !memcmp(PyArray_STRIDES(a), PyArray_STRIDES(b), axes * sizeof(npy_intp));
}

/* Write the gradient of a leaf, and take it away from what waits; 0: it is for the twin, and nothing has been done. */
static int
leaf_written(PyObject *node, PyObject *pending)
{
    PyObject *g = PyDict_GetItemWithError(pending, node), *array = FIELD(node, l_array);
    PyObject *leaf = g && array && alike(g, array) ? living(FIELD(node, l_leaf)) : NULL;
    if (!leaf)
        return 0;
    PyObject *old = FIELD(leaf, t_grad);
    int done = 0, how;
    if (FIELD(leaf, t_node) == node && old == Py_None && (how = lies(g, array))) {
        Py_INCREF(g);
        done = PyDict_DelItem(pending, node) < 0 ? -1 : 1;
        if (how == 2)
            Py_SETREF(g, PyArray_CheckExact(g) ? PyArray_NewCopy((PyArrayObject *)g, NPY_CORDER)
                                               : PyArray_FromScalar(g, NULL));
        PyObject *made = g ? wrapped(g) : NULL;
        if (made)
            Py_SETREF(FIELD(leaf, t_grad), made);
        else
            done = -1;
    }
    else if (FIELD(leaf, t_node) == node && old && old != Py_None && added_to(old, g, array))
        done = PyDict_DelItem(pending, node) < 0 ? -1 : 1;
    Py_DECREF(leaf);
    return done;
}

static PyObject *
leaves(PyObject *Py_UNUSED(module), PyObject *pending)
{
    PyObject *node, *g, *nodes;
    for (Py_ssize_t at = 0; PyDict_Next(pending, &at, &node, &g);)
        if (!Py_IS_TYPE(node, leaf_class) || FIELD(node, n_hooks) != Py_None)
            Py_RETURN_NONE;
    PyObject *given[2] = {lock, Py_False}, *held = PyObject_VectorcallMethod(acquire_name, given, 2, NULL);
    if (held != Py_True) { /* by another thread, for which the twin waits */
        Py_XDECREF(held);
        return held ? Py_NewRef(Py_None) : NULL;
    }
    Py_DECREF(held);
    nodes = PyDict_Keys(pending);
    int done = nodes ? 1 : -1;
    for (Py_ssize_t i = 0; done > 0 && i < PyList_GET_SIZE(nodes); i++)
        (done = leaf_written(PyList_GET_ITEM(nodes, i), pending)) > 0 ? written++ : unwritten++;
    Py_XDECREF(nodes);
    PyObject *type, *error, *trace;
    PyErr_Fetch(&type, &error, &trace);
    PyObject *released = PyObject_CallMethodNoArgs(lock, release_name);
    Py_XDECREF(released);
    if (released)
        PyErr_Restore(type, error, trace);
    if (done < 0 || !released)
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *
counts(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(none))
{
    return Py_BuildValue("KK", written, unwritten);
}

static PyMethodDef functions[] = {
    {"passes", passes, METH_VARARGS, "passes(AccumulateGrad, xp, add, sum_to, lock): what a pass consists of."},
    {"steps", (PyCFunction)(void (*)(void))steps, METH_FASTCALL,
     "steps(pending, heap, route, wanted, found, keep_graph, alone): run nodes, up to one that is not usual."},
    {"counts", counts, METH_NOARGS, "counts(): how many leaves were written, and how often one was left to the twin."},
    {"leaves", leaves, METH_O, "leaves(pending): write the gradients of leaves, up to one that is not usual."},
    {0},
};

int
add_run(PyObject *module)
{
    rules_name = PyUnicode_InternFromString("_rules");
    run_name = PyUnicode_InternFromString("_run");
    acquire_name = PyUnicode_InternFromString("acquire");
    release_name = PyUnicode_InternFromString("release");
    if (!rules_name || !run_name || !acquire_name || !release_name || PyType_Ready(&Rules_Type) < 0)
        return -1;
    if (PyModule_AddObjectRef(module, "rules", (PyObject *)&Rules_Type) < 0)
        return -1;
    return PyModule_AddFunctions(module, functions);
}
