/* What the files of the native core share. */

#ifndef GRADWRIGHT_CORE_H
#define GRADWRIGHT_CORE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#define NPY_TARGET_VERSION NPY_2_0_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL gradwright_array_api
#define PY_UFUNC_UNIQUE_SYMBOL gradwright_ufunc_api
#ifndef GRADWRIGHT_CORE_MODULE /* core.c loads NumPy's tables of functions, the other files use them */
#define NO_IMPORT_ARRAY
#define NO_IMPORT_UFUNC
#endif
#include <numpy/arrayobject.h>
#include <numpy/arrayscalars.h>
#include <numpy/ufuncobject.h>

/* loops.c */

typedef struct {
    PyUFuncGenericFunction run; /* NULL: the ufunc has none for this dtype */
    void *data;
    int result; /* the number of the result's dtype */
} Inner;

typedef struct {
    PyObject_HEAD
    vectorcallfunc call;
    PyObject *twin; /* the formula in Python: f(xp, *operands) */
    PyObject *ufunc;
    int nin;
    int muted; /* the twin gives no warnings */
    Inner single, twice; /* of float32 and of float64 */
    unsigned long long taken, left;
} Loop;

extern PyTypeObject Loop_Type;
extern PyArray_Descr *of_single, *of_double; /* float32 and float64, as nearly all arrays have them */

/* What the loop makes of so many operands as the ufunc takes; NULL, without an exception, if that is for the twin. */
PyObject *loop_result(Loop *self, PyObject *const *operands);

int add_loops(PyObject *module);

/* quick.c */

int add_quick(PyObject *module);

#endif
