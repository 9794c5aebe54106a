/* The engine's classes and objects, as `engine` was told of them, and what is asked of its tensors everywhere.

   Tensors, nodes and views are Python classes. Their slots are written where the member descriptors say that they are.

   Twins: of `stale` the beginning of `refresh` in gradwright.engine.view; of `packed` the function `pack` in
   gradwright.engine.nodes_of_ops; of `wrapped` the function `wrap` in gradwright.engine.base. */

#include "core.h"

#include <structmember.h>

PyTypeObject *tensor_base, *view_class, *fixed_class;
Py_ssize_t t_array, t_node, t_counter, t_view, t_grad, n_seq, n_hooks, n_next, n_saved;
PyObject *slots, *mode_now, *plain, *recorded_as, *floats;
Py_ssize_t s_tensor, f_saved;

Py_ssize_t v_base, v_version, v_seen, v_steps, v_origin, v_itself; /* of a view */
static PyObject *array_member, *array_name, *ticket;

PyObject *
new(PyTypeObject *type)
{
    return type->tp_alloc(type, 0);
}

PyObject *
next_number(void)
{
    return Py_TYPE(ticket)->tp_iternext(ticket);
}

Py_ssize_t
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
    PyObject *tensor, *node, *view, *its_slots, *now, *its_plain, *next, *recorder, *tables, *fixed;
    if (!PyArg_ParseTuple(args, "O!O!O!OOOOOOO!:engine", &PyType_Type, &tensor, &PyType_Type, &node, &PyType_Type, &view,
                          &its_slots, &now, &its_plain, &next, &recorder, &tables, &PyType_Type, &fixed))
        return NULL;
    struct { Py_ssize_t *offset; PyObject *class; const char *name; Py_ssize_t found; } fields[] = {
        {&t_array, tensor, "array", 0}, {&t_node, tensor, "_node", 0}, {&t_counter, tensor, "_counter", 0},
        {&t_view, tensor, "_view", 0}, {&t_grad, tensor, "_grad", 0}, {&n_seq, node, "_seq", 0},
        {&n_hooks, node, "_hooks", 0}, {&n_next, node, "_next", 0}, {&n_saved, node, "_saved", 0},
        {&v_base, view, "_base", 0}, {&v_version, view, "version", 0}, {&v_seen, view, "seen", 0},
        {&v_steps, view, "steps", 0}, {&v_origin, view, "origin", 0}, {&v_itself, view, "itself", 0},
        {&s_tensor, (PyObject *)Py_TYPE(its_slots), "tensor", 0}, {&f_saved, fixed, "saved", 0},
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
    Py_XSETREF(fixed_class, (PyTypeObject *)Py_NewRef(fixed));
    Py_RETURN_NONE;
}

/* ---- tensors ---- */

int
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

int
is_whole(PyObject *x)
{
    PyObject *counter = FIELD(x, t_counter);
    return FIELD(x, t_array) && FIELD(x, t_node) && FIELD(x, t_view) && counter && PyList_Check(counter)
        && PyList_GET_SIZE(counter);
}

int
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

PyObject *
version_of(PyObject *t)
{
    PyObject *version = PyList_GET_ITEM(FIELD(t, t_counter), 0);
    return PyLong_CheckExact(version) ? version : NULL;
}

PyObject *
packed(PyObject *t)
{
    PyObject *counter = FIELD(t, t_counter), *version = version_of(t);
    if (!version) /* since the loop began */
        return NULL;
    return PyTuple_Pack(4, FIELD(t, t_array), counter, version, FIELD(t, t_node));
}

PyObject *
wrapped_beside(PyObject *array, PyObject *counter)
{
    PyObject *out = new((PyTypeObject *)FIELD(slots, s_tensor));
    if (counter)
        Py_INCREF(counter);
    else if ((counter = PyList_New(1)))
        PyList_SET_ITEM(counter, 0, PyLong_FromLong(0));
    if (!out || !counter) {
        Py_DECREF(array), Py_XDECREF(out), Py_XDECREF(counter);
        return NULL;
    }
    FIELD(out, t_array) = array;
    FIELD(out, t_counter) = counter;
    FIELD(out, t_view) = Py_NewRef(Py_None);
    FIELD(out, t_node) = Py_NewRef(Py_None);
    return out;
}

PyObject *
wrapped(PyObject *array)
{
    return wrapped_beside(array, NULL);
}

static PyMethodDef functions[] = {
    {"engine", engine, METH_VARARGS,
     "engine(TensorBase, Node, View, slots, now, PLAIN, ticket, recorded_as, floats, Fixed): what the engine consists of."},
    {0},
};

int
add_engine(PyObject *module)
{
    array_name = PyUnicode_InternFromString("array");
    return !array_name ? -1 : PyModule_AddFunctions(module, functions);
}
