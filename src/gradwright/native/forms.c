/* Functions of the face that C is asked before, by name: what reads their usual arguments stands in other files.

   Twins: the functions of those names in gradwright.face.functions, which say what all other arguments mean. */

#include "core.h"

#define MOST_FILES 8

static const Asked *forms[MOST_FILES];
static int files;

void
has_forms(const Asked *asked)
{
    if (files < MOST_FILES)
        forms[files++] = asked;
}

int
is_int(PyObject *given, npy_intp *found)
{
    if (!PyLong_CheckExact(given))
        return 0;
    *found = PyLong_AsSsize_t(given);
    if (*found == -1 && PyErr_Occurred()) {
        PyErr_Clear();
        return 0;
    }
    return 1;
}

int
is_axis(PyObject *given, int ndim, npy_intp *found)
{
    if (!is_int(given, found) || *found < -ndim || *found >= ndim)
        return 0;
    *found += *found < 0 ? ndim : 0;
    return 1;
}

static PyObject *
form_new(PyTypeObject *type, PyObject *args, PyObject *Py_UNUSED(kwargs))
{
    const char *name;
    PyObject *ways[MOST_WAYS] = {NULL};
    if (!PyArg_ParseTuple(args, "s|O!O!:form", &name, &Way_Type, &ways[0], &Way_Type, &ways[1]))
        return NULL;
    const Asked *asked = NULL;
    for (int i = 0; !asked && i < files; i++)
        for (const Asked *one = forms[i]; !asked && one->name; one++)
            asked = strcmp(name, one->name) ? NULL : one;
    if (!asked)
        return PyErr_Format(PyExc_ValueError, "form(): there is none of the name %s", name);
    Form *self = (Form *)type->tp_alloc(type, 0);
    if (!self)
        return NULL;
    self->early.ask = asked->ask;
    for (int k = 0; k < MOST_WAYS; k++)
        self->ways[k] = (Way *)Py_XNewRef(ways[k]);
    return (PyObject *)self;
}

static int
form_traverse(Form *self, visitproc visit, void *arg)
{
    for (int k = 0; k < MOST_WAYS; k++)
        Py_VISIT(self->ways[k]);
    return 0;
}

static int
form_clear(Form *self)
{
    Py_CLEAR(self->early.code);
    for (int k = 0; k < MOST_WAYS; k++)
        Py_CLEAR(self->ways[k]);
    return 0;
}

static void
form_dealloc(Form *self)
{
    PyObject_GC_UnTrack(self);
    form_clear(self);
    Py_TYPE(self)->tp_free(self);
}

static PyTypeObject Form_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "gradwright.native._core.form",
    .tp_doc = "form(name, *ways): what is asked before a function of the face, of the operations that it is.",
    .tp_basicsize = sizeof(Form),
    .tp_base = &Early_Type,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_new = form_new,
    .tp_dealloc = (destructor)form_dealloc,
    .tp_traverse = (traverseproc)form_traverse,
    .tp_clear = (inquiry)form_clear,
};

int
add_forms(PyObject *module)
{
    return PyType_Ready(&Form_Type) < 0 ? -1 : PyModule_AddObjectRef(module, "form", (PyObject *)&Form_Type);
}
