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
PyObject *loop_in_pass(Loop *self, PyObject *const *operands); /* the same in a backward pass, where nothing is told */

/* Put the result of an array and something of the same dtype and shape in the place of the first; whether it did. */
int loop_into(Loop *self, PyObject *first, PyObject *second);

/* The number of the dtype of an operand that loops take, and the array if it has axes; -1 of any other. */
int loop_operand(PyObject *operand, PyArrayObject **array);

int add_loops(PyObject *module);

/* engine.c: of the engine's classes where their slots are, and what is asked of its tensors */

#define FIELD(object, offset) (*(PyObject **)((char *)(object) + (offset)))

extern PyTypeObject *tensor_base, *view_class;
extern Py_ssize_t t_array, t_node, t_counter, t_view, t_grad; /* of a tensor */
extern Py_ssize_t n_seq, n_hooks, n_next, n_saved;            /* of a node */
extern PyObject *slots;                                       /* gradwright.base.upward.slots */
extern Py_ssize_t s_tensor;
extern PyObject *mode_now, *plain; /* the context variable of the mode, and its usual value */
extern PyObject *recorded_as;
extern PyObject *floats; /* Python numbers as tensors, by dtype and by type of scalar */

PyObject *new(PyTypeObject *type);
PyObject *next_number(void); /* for a node */
Py_ssize_t offset_of(PyObject *class, const char *name); /* of a slot; -1 and an exception if it is none */

int is_tensor(PyObject *x); /* whether something is a tensor whose slots are what they seem */
int is_whole(PyObject *x);  /* whether its slots hold what those of a finished tensor do */
int stale(PyObject *x);     /* whether it may have to read its history, or its memory, anew */

/* The version of a tensor, borrowed; NULL, without an exception, of memory that is also looked at. */
PyObject *version_of(PyObject *t);

/* A tensor as a node saves it: array, counter, version, node; the result has none yet. */
PyObject *packed(PyObject *t);

PyObject *wrapped(PyObject *array); /* a new tensor over an array, which it takes over */

int add_engine(PyObject *module);

/* front.c: Python functions that C is asked before */

typedef struct Early {
    PyObject_HEAD
    /* What C makes of a call; NULL, perhaps with an exception, if that is for the function. */
    PyObject *(*ask)(struct Early *self, PyObject *const *args, Py_ssize_t count, PyObject *kwnames);
    PyObject *code; /* that the function has, or had before it asked the classes of its arguments */
    unsigned long long taken, left;
} Early;

extern PyTypeObject Early_Type;

int add_front(PyObject *module);

/* quick.c */

int add_quick(PyObject *module);

/* run.c */

int add_run(PyObject *module);

#endif
