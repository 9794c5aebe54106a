/* Programs: lists of NumPy's inner loops, run over a piece of the arrays at a time, so that what lies between them stays in
   the nearest cache. They are written in gradwright.backends.programs.

   The usual operands are those of loops.c, and booleans beside them. The loops are those that NumPy would have run, one
   after another, over the same entries; each writes elsewhere than where it reads, but where a result replaces an input. So
   the bits are the same, in several threads, too. Where somebody asked NumPy for more than a warning, and a flag is up, the twin computes.

   Twins: of `program_result` the formula that the program was made of; of `update` the calls of gradwright.backends.in_place; of `choose`
   gradwright.backends.select.where. */

#include "core.h"

#include <fenv.h>
#include <stdint.h>
#include <structmember.h>

#define MOST 3        /* operands of a loop */
#define MOST_STEPS 64
#define REGISTERS 64  /* inputs, constants, what lies between, and a result */
#define PIECE 1024    /* entries */
#define SHARE (1 << 14) /* entries that a thread takes at a time */
#define SCRATCH 8     /* pieces of float64 that lie between at a time; of more they are shorter */

typedef struct {
    PyUFuncGenericFunction run;
    void *data;
    unsigned char operands, at[MOST + 1], size[MOST + 1]; /* registers, the result's last, and the sizes of their entries */
} Step;

typedef struct {
    PyObject_HEAD
    int inputs, constants, own, steps; /* the registers: those of the inputs, of constants, its own, of the new result */
    char types[MOST_ARGUMENTS], result;   /* numbers of dtypes; result: -1 if it replaces inputs */
    int boxed;                         /* of arrays of no axes it makes an array, not a number */
    unsigned depends;                  /* on which inputs the new result does */
    unsigned char size[REGISTERS];
    union { double twice; float single; npy_bool truth; } constant[REGISTERS];
    Step step[MOST_STEPS];
} Program;

static PyTypeObject Program_Type;

/* ---- choosing ---- */

/* Whichever the condition says, by its bits and with no branch: those of a NaN are kept. */
#define CHOOSE(name, bits)                                                                                            \
    static void name(char **args, npy_intp const *dims, npy_intp const *steps, void *Py_UNUSED(data))                 \
    {                                                                                                                 \
        npy_intp n = dims[0], truths = steps[0], xs = steps[1] / (npy_intp)sizeof(bits),                              \
                 ys = steps[2] / (npy_intp)sizeof(bits);                                                              \
        const npy_bool *condition = (npy_bool *)args[0];                                                              \
        const bits *x = (bits *)args[1], *y = (bits *)args[2];                                                        \
        bits *out = (bits *)args[3];                                                                                  \
        if (truths && xs && ys)                                                                                       \
            for (npy_intp i = 0; i < n; i++)                                                                          \
                out[i] = ((x[i] ^ y[i]) & (bits)-(bits)condition[i]) ^ y[i];                                          \
        else                                                                                                          \
            for (npy_intp i = 0; i < n; i++) {                                                                        \
                bits other = y[i * ys];                                                                               \
                out[i] = ((x[i * xs] ^ other) & (bits)-(bits)condition[i * truths]) ^ other;                          \
            }                                                                                                         \
    }
CHOOSE(choose_1, uint8_t)
CHOOSE(choose_4, uint32_t)
CHOOSE(choose_8, uint64_t)

/* ---- running ---- */

/* Run a program over so many entries. `at` has the places of its inputs and, last, of its result; `rows` says of each
   register whether it has an entry for each, or one for all. 0 if a flag is up, if that is looked for. */
static int
run(const Program *self, char **at, char *rows, npy_intp count, int watched)
{
    _Alignas(64) double scratch[SCRATCH * PIECE];
    npy_intp stride[MOST_STEPS][MOST + 1], entries[MOST_STEPS], piece = PIECE;
    int first = self->inputs + self->constants, last = first + self->own;
    if (self->own > SCRATCH)
        piece = SCRATCH * PIECE / self->own / 8 * 8;
    npy_intp apart = count < piece ? (count + 7) / 8 * 8 : piece;
    for (int i = 0; i < self->constants; i++) {
        at[self->inputs + i] = (char *)&self->constant[i];
        rows[self->inputs + i] = 0;
    }
    for (int i = 0; i < self->own; i++)
        at[first + i] = (char *)(scratch + i * apart);
    for (int s = 0; s < self->steps; s++) {
        const Step *step = &self->step[s];
        int row = 0, n = step->operands;
        for (int k = 0; k < n; k++) {
            row |= rows[step->at[k]];
            stride[s][k] = rows[step->at[k]] ? step->size[k] : 0;
        }
        rows[step->at[n]] = row;
        stride[s][n] = row ? step->size[n] : 0;
        entries[s] = row;
    }
    for (npy_intp done = 0; done < count; done += piece) {
        npy_intp here = count - done < piece ? count - done : piece;
        for (int s = 0; s < self->steps; s++) {
            const Step *step = &self->step[s];
            char *args[MOST + 1];
            npy_intp dims = entries[s] ? here : 1;
            for (int k = 0; k <= step->operands; k++)
                args[k] = at[step->at[k]];
            step->run(args, &dims, stride[s], step->data);
            if (watched && fetestexcept(FLAGS)) /* some loops clear them */
                return 0;
        }
        for (int i = 0; i < self->inputs; i++)
            at[i] += rows[i] ? here * self->size[i] : 0;
        at[last] += rows[last] ? here * self->size[last] : 0;
    }
    return 1;
}

typedef struct {
    const Program *self;
    char **at, *rows;
    npy_intp count;
} Shared;

static void
run_share(char **given, long k)
{
    const Shared *all = (const Shared *)given;
    const Program *self = all->self;
    char *at[REGISTERS], rows[REGISTERS];
    npy_intp start = k * SHARE, rest = all->count - start;
    memcpy(at, all->at, sizeof at);
    memcpy(rows, all->rows, sizeof rows);
    for (int i = 0; i < self->inputs; i++)
        at[i] += rows[i] ? start * self->size[i] : 0;
    if (self->result >= 0)
        at[self->inputs + self->constants + self->own] += start * self->size[self->inputs + self->constants + self->own];
    run(self, at, rows, rest < SHARE ? rest : SHARE, 0);
}

/* `run`, in several threads if that is worth it: the bits are the same. Flags are each thread's own. */
static int
run_all(const Program *self, char **at, char *rows, npy_intp count, int watched)
{
    if (count < SHARED || watched)
        return run(self, at, rows, count, watched);
    Shared all = {self, at, rows, count};
    gradwright_parallel(run_share, (char **)&all, (long)((count + SHARE - 1) / SHARE));
    return 1;
}

/* ---- a program ---- */

static int
number_of(char kind)
{
    return kind == 'd' ? NPY_DOUBLE : kind == 'f' ? NPY_FLOAT : kind == '?' ? NPY_BOOL : -1;
}

static int
size_of(int type)
{
    return type == NPY_DOUBLE ? 8 : type == NPY_FLOAT ? 4 : 1;
}

/* The loop of a ufunc for these dtypes, the result's last; or choosing, for no ufunc. */
static int
find_loop(Step *step, PyObject *ufunc, const char *kinds)
{
    if (ufunc == Py_None) {
        int size = size_of(number_of(kinds[3]));
        step->run = (PyUFuncGenericFunction)(size == 8 ? choose_8 : size == 4 ? choose_4 : choose_1);
        return step->operands == 3 ? 0 : -1;
    }
    PyUFuncObject *given = (PyUFuncObject *)ufunc;
    if (!PyObject_TypeCheck(ufunc, &PyUFunc_Type) || given->nin != step->operands || given->nout != 1)
        return -1;
    for (int i = 0; given->functions && i < given->ntypes; i++) {
        int fits = given->functions[i] != NULL;
        for (int k = 0; k <= given->nin; k++)
            fits = fits && given->types[i * given->nargs + k] == number_of(kinds[k]);
        if (fits) {
            step->run = given->functions[i];
            step->data = given->data ? (void *)given->data[i] : NULL;
            return 0;
        }
    }
    return -1;
}

/* Read what a program consists of; None if it is too long, or NumPy has not the loops. */
static PyObject *
program(PyObject *Py_UNUSED(module), PyObject *args)
{
    const char *types, *result;
    PyObject *constants, *steps;
    int own, boxed;
    if (!PyArg_ParseTuple(args, "sO!O!isp:program", &types, &PyTuple_Type, &constants, &PyList_Type, &steps, &own, &result,
                          &boxed))
        return NULL;
    Py_ssize_t inputs = strlen(types), fixed = PyTuple_GET_SIZE(constants), count = PyList_GET_SIZE(steps);
    if (inputs > MOST_ARGUMENTS || inputs + fixed + own >= REGISTERS || count > MOST_STEPS)
        Py_RETURN_NONE;
    Program *self = (Program *)Program_Type.tp_alloc(&Program_Type, 0);
    if (!self)
        return NULL;
    self->inputs = (int)inputs, self->constants = (int)fixed, self->own = own, self->steps = (int)count;
    self->result = *result ? number_of(*result) : -1;
    self->boxed = boxed;
    unsigned depends[REGISTERS] = {0};
    for (int i = 0; i < inputs; i++) {
        self->types[i] = number_of(types[i]);
        self->size[i] = size_of(self->types[i]);
        depends[i] = 1u << i;
    }
    for (int i = 0; i < fixed; i++)
        PyArray_ScalarAsCtype(PyTuple_GET_ITEM(constants, i), &self->constant[i]);
    int last = self->inputs + self->constants + own;
    for (int s = 0; s < count; s++) {
        Step *step = &self->step[s];
        PyObject *ufunc, *at;
        const char *kinds;
        if (!PyArg_ParseTuple(PyList_GET_ITEM(steps, s), "OsO!", &ufunc, &kinds, &PyBytes_Type, &at))
            goto failed;
        Py_ssize_t operands = PyBytes_GET_SIZE(at) - 1;
        step->operands = (unsigned char)operands;
        if (operands < 1 || operands > MOST || (Py_ssize_t)strlen(kinds) != operands + 1 || find_loop(step, ufunc, kinds) < 0) {
            Py_DECREF(self);
            Py_RETURN_NONE;
        }
        unsigned on = 0;
        for (int k = 0; k <= operands; k++) {
            int place = (unsigned char)PyBytes_AS_STRING(at)[k];
            if (place > last) {
                PyErr_SetString(PyExc_ValueError, "program(): a register that there is not");
                goto failed;
            }
            step->at[k] = place;
            step->size[k] = size_of(number_of(kinds[k]));
            on |= k < operands ? depends[place] : 0;
        }
        depends[step->at[operands]] = on;
    }
    self->depends = depends[last];
    if (self->result >= 0)
        self->size[last] = size_of(self->result);
    return (PyObject *)self;
failed:
    Py_DECREF(self);
    return NULL;
}

PyObject *
program_result(PyObject *program, char **given, PyArrayObject *const *arrays, const char *spread, int watched)
{
    const Program *self = (Program *)program;
    char *at[REGISTERS] = {0}, rows[REGISTERS] = {0};
    PyArrayObject *shaped = NULL;
    unsigned which = 0;
    for (int i = 0; i < self->inputs; i++) {
        at[i] = given[i];
        if (!arrays[i])
            continue;
        if (!shaped)
            shaped = arrays[i];
        else if (!PyArray_SAMESHAPE(shaped, arrays[i]))
            return NULL;
        which |= (unsigned)!spread[i] << i;
    }
    if (shaped && !(which & self->depends))
        return NULL;
    npy_intp count = shaped ? PyArray_SIZE(shaped) : 1;
    for (int i = 0; i < self->inputs && count > 1; i++)
        rows[i] = which >> i & 1;
    union { double number; npy_bool truth; } entry;
    PyArrayObject *out = NULL;
    char **place = &at[self->inputs + self->constants + self->own];
    if (shaped || self->boxed) {
        out = (PyArrayObject *)PyArray_SimpleNew(shaped ? PyArray_NDIM(shaped) : 0, shaped ? PyArray_DIMS(shaped) : NULL,
                                                 self->result);
        if (!out) { /* the twin says so, too */
            PyErr_Clear();
            return NULL;
        }
        *place = PyArray_BYTES(out);
    }
    else
        *place = (char *)&entry;
    if (watched && fetestexcept(FLAGS))
        feclearexcept(FLAGS);
    int done = 1;
    if (count > LONG) {
        Py_BEGIN_ALLOW_THREADS
        done = run_all(self, at, rows, count, watched);
        Py_END_ALLOW_THREADS
    }
    else if (count)
        done = run(self, at, rows, count, watched);
    if (done)
        return out ? (PyObject *)out : scalar(self->result, &entry);
    Py_XDECREF(out);
    return NULL;
}

/* Whether two arrays share memory without being the same entries. */
static int
shifted(PyArrayObject *a, PyArrayObject *b)
{
    char *p = PyArray_BYTES(a), *q = PyArray_BYTES(b);
    return p != q && p < q + PyArray_NBYTES(b) && q < p + PyArray_NBYTES(a);
}

/* The entries of a gradient, row by row, in an array of its own if they do not lie so; NULL and an exception if it does not
   fit the array `p`. */
static PyArrayObject *
in_line(PyObject *grad, PyArrayObject *p)
{
    int wanted = NPY_ARRAY_CARRAY_RO | NPY_ARRAY_NOTSWAPPED;
    PyArrayObject *found = (PyArrayObject *)PyArray_FromAny(grad, NULL, 0, 0, wanted, NULL);
    if (found && (PyArray_TYPE(found) != PyArray_TYPE(p) || PyArray_SIZE(found) != PyArray_SIZE(p))) {
        PyErr_SetString(PyExc_ValueError, "update(): a gradient of another size or dtype than its parameter");
        Py_CLEAR(found);
    }
    if (found && shifted(found, p))
        Py_SETREF(found, (PyArrayObject *)PyArray_NewCopy(found, NPY_CORDER));
    return found;
}

static PyObject *
update(PyObject *callable, PyObject *args)
{
    Program *self = (Program *)callable;
    PyObject *rows, *grads, *numbers, *result = NULL;
    if (!PyArg_ParseTuple(args, "O!O!O!:update", &PyList_Type, &rows, &PyList_Type, &grads, &PyTuple_Type, &numbers))
        return NULL;
    Py_ssize_t count = PyList_GET_SIZE(rows), fixed = PyTuple_GET_SIZE(numbers);
    union { double twice; float single; } number[MOST_ARGUMENTS];
    int arrays = self->inputs - (int)fixed;
    if (arrays < 2 || PyList_GET_SIZE(grads) != count) {
        PyErr_SetString(PyExc_ValueError, "update(): as many gradients as parameters, and the numbers of the rule");
        return NULL;
    }
    for (int i = 0; i < fixed; i++)
        PyArray_ScalarAsCtype(PyTuple_GET_ITEM(numbers, i), &number[i]);
    PyArrayObject **found = PyMem_Calloc(count ? count : 1, sizeof *found); /* nothing is written before all are there */
    if (!found)
        return PyErr_NoMemory();
    for (Py_ssize_t j = 0; j < count; j++) {
        PyObject *row = PyList_GET_ITEM(rows, j);
        if (!PyTuple_Check(row) || PyTuple_GET_SIZE(row) != arrays - 1) {
            PyErr_SetString(PyExc_ValueError, "update(): a parameter and the arrays of its state");
            goto end;
        }
        for (int k = 0; k < arrays - 1; k++) {
            PyArrayObject *one = (PyArrayObject *)PyTuple_GET_ITEM(row, k);
            if (!PyArray_Check(one) || PyArray_TYPE(one) != self->types[0] || !PyArray_ISCARRAY(one)
                || PyArray_SIZE(one) != PyArray_SIZE((PyArrayObject *)PyTuple_GET_ITEM(row, 0))) {
                PyErr_SetString(PyExc_ValueError, "update(): arrays of one size and dtype, row by row");
                goto end;
            }
        }
        found[j] = in_line(PyList_GET_ITEM(grads, j), (PyArrayObject *)PyTuple_GET_ITEM(row, 0));
        if (!found[j])
            goto end;
    }
    for (Py_ssize_t j = 0; j < count; j++) {
        PyObject *row = PyList_GET_ITEM(rows, j);
        char *at[REGISTERS] = {0}, lengthy[REGISTERS] = {0};
        npy_intp size = PyArray_SIZE(found[j]);
        for (int k = 0; k < self->inputs; k++) {
            at[k] = k == 1          ? PyArray_BYTES(found[j])
                    : k < arrays    ? PyArray_BYTES((PyArrayObject *)PyTuple_GET_ITEM(row, k ? k - 1 : 0))
                                    : (char *)&number[k - arrays];
            lengthy[k] = k < arrays && size > 1;
        }
        Py_BEGIN_ALLOW_THREADS
        if (size)
            run_all(self, at, lengthy, size, 0);
        Py_END_ALLOW_THREADS
    }
    result = Py_NewRef(Py_None);
end:
    for (Py_ssize_t j = 0; j < count; j++)
        Py_XDECREF(found[j]);
    PyMem_Free(found);
    return result;
}

static PyMethodDef program_methods[] = {
    {"update", update, METH_VARARGS,
     "update(rows, grads, numbers): overwrite, in each row, a parameter and its state, by its gradient and these numbers."},
    {0},
};

static PyMemberDef program_members[] = {
    {"steps", T_INT, offsetof(Program, steps), READONLY, "how many loops it runs"},
    {"own", T_INT, offsetof(Program, own), READONLY, "how many arrays of a piece's length it needs"},
    {0},
};

static PyTypeObject Program_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "gradwright.native._core.program",
    .tp_doc = "A list of inner loops, written in gradwright.backends.programs.",
    .tp_basicsize = sizeof(Program),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_methods = program_methods,
    .tp_members = program_members,
};

static PyMethodDef functions[] = {
    {"program", program, METH_VARARGS, "program(types, constants, steps, own, result, boxed): a program, or None."},
    {0},
};

int
add_programs(PyObject *module)
{
    return PyType_Ready(&Program_Type) < 0 ? -1 : PyModule_AddFunctions(module, functions);
}
