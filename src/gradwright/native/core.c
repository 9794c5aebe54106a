/* The extension module gradwright.native._core: what the other files hold, put together. */

#define GRADWRIGHT_CORE_MODULE
#include "core.h"

static int
fill(PyObject *module)
{
    if (_import_array() < 0 || _import_umath() < 0) /* not by NumPy's macros, which print the exception */
        return -1;
    PyObject *built_from = PyLong_FromUnsignedLong(GRADWRIGHT_BUILT_FROM);
    if (!built_from || PyModule_AddObjectRef(module, "built_from", built_from) < 0) {
        Py_XDECREF(built_from);
        return -1;
    }
    Py_DECREF(built_from);
    int (*parts[])(PyObject *) = {
        add_loops,
        add_engine,
        add_front,
        add_programs,
        add_formulas,
        add_nodes,
        add_direct,
        add_forms,
        add_views,
        add_reductions,
        add_products,
        add_joins,
        add_quick,
        add_run,
        add_functions,
        add_kernels,
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i](module) < 0)
            return -1;
    return 0;
}

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, .m_name = "gradwright.native._core", .m_size = -1,
};

PyMODINIT_FUNC
PyInit__core(void)
{
    PyObject *module = PyModule_Create(&definition);
    if (module && fill(module) < 0)
        Py_CLEAR(module);
    return module;
}
