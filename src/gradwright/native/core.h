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
#include "kernels.h"

#include <numpy/arrayobject.h>
#include <numpy/arrayscalars.h>
#include <numpy/ufuncobject.h>

#if defined(__GNUC__) && !defined(_WIN32) /* nobody else is to find these names, so calls of them go straight */
#pragma GCC visibility push(hidden)
#endif

/* loops.c */

#define FLAGS (FE_DIVBYZERO | FE_OVERFLOW | FE_UNDERFLOW | FE_INVALID)
#define LONG 500  /* entries from which NumPy lets other threads run */
#define IN_PASS 2 /* besides whether a formula is muted: a backward pass runs, where all are */

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

extern PyObject *setting, *users_setting; /* context variables: NumPy's on errors (or NULL), the user's own in a pass */
extern PyTypeObject Loop_Type;
extern PyArray_Descr *of_single, *of_double; /* float32 and float64, as nearly all arrays have them */

/* What the loop makes of so many operands as the ufunc takes; NULL, without an exception, if that is for the twin. */
PyObject *loop_result(Loop *self, PyObject *const *operands);
PyObject *loop_in_pass(Loop *self, PyObject *const *operands); /* the same in a backward pass, where nothing is told */

/* Put the result of an array and something of the same dtype and shape in the place of the first; whether it did. */
int loop_into(Loop *self, PyObject *first, PyObject *second);

/* The number of the dtype of an operand that loops take, and the array if it has axes; -1 of any other. */
int loop_operand(PyObject *operand, PyArrayObject **array);

/* The number of the dtype of an operand that loops take, and where its entries are; -1 of any other. */
int usual_operand(PyObject *operand, char **data, PyArrayObject **array);

PyObject *scalar(int type, const void *data);

/* Whether a flag that is up interests anybody; of a formula that is muted, no warning does; in a pass, nothing. */
int somebody_asked(int muted);

extern Loop *all_sums;      /* the sum of all entries; NULL before it is made */
extern double zero_of_sums; /* what NumPy begins with: 0.0, or in later releases -0.0 */
PyObject *whole_sum_result(Loop *self, PyObject *x);
Inner inner_of(PyUFuncObject *ufunc, char type); /* of operands of that dtype */
void clear_flags(void);
int flags_are_fine(int muted); /* whether nobody asked after the floating-point flags that are up */

/* Run the loop of a dtype; whether nobody asked after the flags that it raised. */
int loop_ran(Loop *self, int type, char **data, npy_intp count, const npy_intp *steps);

int add_loops(PyObject *module);

/* engine.c: of the engine's classes where their slots are, and what is asked of its tensors */

#define FIELD(object, offset) (*(PyObject **)((char *)(object) + (offset)))

extern PyTypeObject *tensor_base, *view_class, *fixed_class;
extern Py_ssize_t t_array, t_node, t_counter, t_view, t_grad; /* of a tensor */
extern Py_ssize_t v_base, v_version, v_seen, v_steps, v_origin, v_itself; /* of a view */
extern Py_ssize_t n_seq, n_hooks, n_next, n_saved;            /* of a node */
extern PyObject *slots;                                       /* gradwright.base.upward.slots */
extern Py_ssize_t s_tensor;
extern Py_ssize_t f_saved; /* of the counter of a number that stands beside tensors */
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
PyObject *wrapped_beside(PyObject *array, PyObject *counter); /* the same, with the counter of another tensor */

int add_engine(PyObject *module);

/* front.c: Python functions that C is asked before */

typedef struct Early Early;

/* What C makes of a call; NULL, perhaps with an exception, if that is for the function. */
typedef PyObject *(*Asking)(Early *self, PyObject *const *args, Py_ssize_t count, PyObject *kwnames);

struct Early {
    PyObject_HEAD
    Asking ask;
    int tells; /* an exception is the user's, and not for the function to say again */
    PyObject *code; /* that the function has, or had before it asked the classes of its arguments */
    unsigned long long taken, left;
};

extern PyTypeObject Early_Type;

int add_front(PyObject *module);
/* programs.c */

#define MOST_ARGUMENTS 16 /* inputs of a program */

/* What a program makes of its inputs, a new array or number; NULL, without an exception, if that is for the twin. Inputs are
   told by where their entries lie, the array if it has axes, and whether that is spread over one entry. */
PyObject *program_result(PyObject *program, char **given, PyArrayObject *const *arrays, const char *spread, int watched);

int add_programs(PyObject *module);

/* formulas.c */

extern PyTypeObject Formula_Type;

/* What a formula, a `loop` or a `formula`, makes of arguments; NULL, perhaps with an exception, if that is for the twin. */
PyObject *formula_result(PyObject *formula, PyObject *const *given, PyObject *const *named);

/* The same of a `formula` in a backward pass, where nothing is told; `alone`: no Python is to run. */
PyObject *formula_in_pass(PyObject *formula, PyObject *const *given, int count, int alone);

/* How many arrays and nothing else it takes; -1 if it takes other arguments, too. */
int arrays_alone(PyObject *formula);

int add_formulas(PyObject *module);

/* nodes.c: how an operation is recorded */

#define MOST_INPUTS 3
#define MOST_CASES 16 /* which inputs need a gradient, and whether they broadcast */

typedef struct {
    PyObject *record;    /* the function of which this is the plan; it makes the node where `class` is NULL */
    PyTypeObject *class; /* of the node */
    Py_ssize_t saved;    /* where it keeps what it saves */
    int targets, values;
    unsigned char target[MOST_INPUTS], value[8];
} Plan;

typedef struct { /* what is known of an operation */
    Early early;
    PyObject *op, *records; /* those that have been made, by case */
    PyObject *names;        /* of its static arguments; NULL if it has none */
    int inputs;
    Plan plans[MOST_CASES];
} Way;

typedef struct {
    Plan *plan; /* NULL: it is not recorded */
    int off;    /* nothing is */
    int many;   /* of any number of inputs how many there are; else 0 */
} Call;

extern PyTypeObject Way_Type;

/* Read what `record` says of itself: (class, slot, inputs that need a gradient, what is saved); None leaves it to it. */
int read_plan(Plan *plan, PyObject *record);

/* Whether a result is to be recorded; -1 if that is for the twin. `off`: whether nothing is. */
int is_recorded(int needed, PyObject *const *inputs, int count, int *off);

/* Look at the inputs, which are whole tensors, before anything is computed; 0, perhaps with an exception, if the rest is
   for the twin. */
int begin(Way *way, PyObject *const *inputs, int broadcast, Call *call);

/* The tensor over an array, which it takes over, and its node. It may be a view of the first input; `fixed` is a
   dictionary of the static arguments. NULL, perhaps with an exception, if that is for the twin, or the array NULL. */
PyObject *finish(Way *way, PyObject *const *inputs, const Call *call, PyObject *array, PyObject *fixed, int views);

int way_visit(Way *self, visitproc visit, void *arg);
int way_clear(Way *self);
int add_nodes(PyObject *module);

/* direct.c */

int plain_array(PyObject *array, int scalars); /* whether operations take it as it is: an array, or a scalar of floats */
int add_direct(PyObject *module);

/* forms.c: functions of the face, whose usual arguments are read by other files */

#define MOST_WAYS 2

typedef struct {
    Early early;
    Way *ways[MOST_WAYS]; /* of the operations that the function is */
} Form;

typedef struct {
    const char *name;
    PyObject *(*ask)(Early *, PyObject *const *, Py_ssize_t, PyObject *);
} Asked;

void has_forms(const Asked *asked); /* a file has these, up to one without a name */

int is_int(PyObject *given, npy_intp *found); /* whether it is an int, and no larger than those of arrays are */
int is_axis(PyObject *given, int ndim, npy_intp *found); /* or one that counts axes, of which there are so many */

int add_forms(PyObject *module);
int add_views(PyObject *module);
int add_reductions(PyObject *module);
int add_products(PyObject *module);
int add_joins(PyObject *module);

/* quick.c */

int add_quick(PyObject *module);

/* run.c */

extern PyTypeObject *leaf_class;
extern Py_ssize_t l_leaf, l_array; /* of a leaf's node */
extern PyObject *space;            /* NumPy's namespace */

int is_plain(PyObject *g);                              /* whether it is an array, or a number of float32 or float64 */
int unchanged(PyObject *counter, PyObject *version);    /* whether a tensor is at the version at which it was saved */
int is_of_shape(PyObject *array, PyObject *shape);
PyObject *living(PyObject *ref); /* what a weak reference leads to, or NULL */

int add_run(PyObject *module);

/* functions.c */

#define MOST_RESULTS 8

/* What a user's backward makes of a cotangent: its results, or a sequence of them. 0: it has not been run; -1: it failed. */
int function_results(PyObject *node, PyObject *g, PyObject **results, PyObject **sequence);

/* Whether a Function's forward, in which this listens, has a node for that of an argument, or None. */
int is_known(PyObject *listener, PyObject *node);

int add_functions(PyObject *module);

/* threads.c */

/* f(P, k) for all k below n, whoever is free taking the next. */
#define SHARED (1 << 16) /* entries from which on they do */

/* Compiled steps find it in the core, too. */
__attribute__((visibility("default"))) void gradwright_parallel(void (*f)(char **, long), char **P, long n);

/* kernels.c */

int add_kernels(PyObject *module);

#if defined(__GNUC__) && !defined(_WIN32)
#pragma GCC visibility pop
#endif

#endif
