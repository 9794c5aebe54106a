/* Python functions that C is asked before. The function stays what it is; how it is called (its vectorcall) is ours: the
   call gives what C makes of the arguments, or runs the function. What is asked lies in the function's __dict__.

   Once the function has other code, because it asks the classes of its arguments now, C is asked of known ones alone.

   Before Python 3.12 the interpreter runs whatever is exactly of the class of functions, however it is to be called.
   There the function gets a class derived from that, which differs in nothing else.

   Twins: the functions themselves. */

#include "core.h"

#include <structmember.h>

static vectorcallfunc as_made; /* how functions are called */
static PyObject *key, *known;  /* of the __dict__; the classes that are not asked */

static int
all_known(PyObject *const *args, Py_ssize_t count)
{
    for (Py_ssize_t i = 0; i < count; i++)
        if (!known || PySet_Contains(known, (PyObject *)Py_TYPE(args[i])) != 1)
            return 0;
    return 1;
}

static PyObject *
front_call(PyObject *function, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
    PyFunctionObject *f = (PyFunctionObject *)function;
    Early *early = (Early *)(f->func_dict ? PyDict_GetItem(f->func_dict, key) : NULL);
    PyThreadState *thread = PyThreadState_Get();
    if (!early || thread->c_tracefunc || thread->c_profilefunc) /* who follows the program sees frames of its functions */
        return as_made(function, args, nargsf, kwnames);
    Py_ssize_t count = PyVectorcall_NARGS(nargsf);
    if (f->func_code == early->code || (!kwnames && all_known(args, count))) {
        Py_INCREF(early);
        PyObject *out = early->ask(early, args, count, kwnames);
        int tells = early->tells;
        early->taken += out != NULL;
        early->left += !out;
        Py_DECREF(early);
        if (out)
            return out;
        if (PyErr_Occurred()) {
            if (tells || !PyErr_ExceptionMatches(PyExc_Exception)) /* the user's, or an interrupt */
                return NULL;
            PyErr_Clear(); /* the function says so, too */
        }
    }
    return as_made(function, args, nargsf, kwnames);
}

#if PY_VERSION_HEX < 0x030C0000

static PyObject *
reduced(PyObject *function, PyObject *Py_UNUSED(args))
{
    return Py_NewRef(((PyFunctionObject *)function)->func_qualname); /* it is pickled by its name */
}

static PyMethodDef methods[] = {{"__reduce__", reduced, METH_NOARGS, NULL}, {0}};

static PyTypeObject Front_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "function",
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR,
    .tp_methods = methods,
};

static int
made_ready(void)
{
    Front_Type.tp_base = &PyFunction_Type;
    Front_Type.tp_basicsize = PyFunction_Type.tp_basicsize;
    Front_Type.tp_dealloc = PyFunction_Type.tp_dealloc;
    Front_Type.tp_traverse = PyFunction_Type.tp_traverse;
    Front_Type.tp_clear = PyFunction_Type.tp_clear;
    if (PyType_Ready(&Front_Type) < 0 || PyDict_DelItemString(Front_Type.tp_dict, "__doc__") < 0)
        return -1; /* that is each function's own */
    PyType_Modified(&Front_Type);
    return 0;
}

static void
take_over(PyObject *function)
{
    ((PyFunctionObject *)function)->vectorcall = front_call;
    Py_SET_TYPE(function, &Front_Type);
}

#else

static int
made_ready(void)
{
    return 0;
}

static void
take_over(PyObject *function)
{
    PyFunction_SetVectorcall((PyFunctionObject *)function, front_call);
}

#endif

static PyObject *
front(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *function, *asked;
    if (!PyArg_ParseTuple(args, "OO!:front", &function, &Early_Type, &asked))
        return NULL;
    PyFunctionObject *f = (PyFunctionObject *)function;
    if (PyFunction_Check(function) && (!as_made || f->vectorcall == as_made)) {
        as_made = f->vectorcall;
        if (PyObject_SetAttr(function, key, asked) < 0)
            return NULL;
        Py_XSETREF(((Early *)asked)->code, Py_NewRef(f->func_code));
        take_over(function);
    }
    return Py_NewRef(function);
}

static PyObject *
known_classes(PyObject *Py_UNUSED(module), PyObject *classes)
{
    Py_XSETREF(known, Py_NewRef(classes));
    Py_RETURN_NONE;
}

static PyMemberDef members[] = {
    {"taken", T_ULONGLONG, offsetof(Early, taken), READONLY, "how often it gave a result"},
    {"left", T_ULONGLONG, offsetof(Early, left), READONLY, "how often it left that to its twin"},
    {0},
};

PyTypeObject Early_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "gradwright.native._core.early",
    .tp_doc = "What a function asks before it runs.",
    .tp_basicsize = sizeof(Early),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_members = members,
};

static PyMethodDef functions[] = {
    {"front", front, METH_VARARGS, "front(function, early): the function, before which that is asked from now on."},
    {"known_classes", known_classes, METH_O,
     "known_classes(classes): the set of those that are not asked by functions that have got other code."},
    {0},
};

int
add_front(PyObject *module)
{
    key = PyUnicode_InternFromString("_core");
    if (!key || made_ready() < 0 || PyType_Ready(&Early_Type) < 0)
        return -1;
    return PyModule_AddFunctions(module, functions);
}
