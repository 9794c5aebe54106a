/* Sums and means of all entries or along one axis, asked with the usual arguments, in the order in which NumPy adds.

   Twins: `sum` and `mean` of gradwright.face.functions.reduce, and the formulas of those names in gradwright.ops.reduce. */

#include "core.h"

#define MOST 1024   /* entries: of more the formula adds in other ways along an axis: _ROW of gradwright.backends.numpy */
#define LINE 256    /* entries along the axis: _LONG */
#define FEW 8       /* axes whose static arguments are kept */

static PyObject *axis_name, *keepdims_name, *dim_name, *keepdim_name, *whole;
static PyObject *along[FEW][2]; /* by axis and keepdims */

static PyObject *
fixed_of(PyObject *axis, PyObject *keepdims)
{
    PyObject *made = axis ? PyDict_New() : NULL;
    if (made && (PyDict_SetItem(made, axis_name, axis) < 0 || PyDict_SetItem(made, keepdims_name, keepdims) < 0))
        Py_CLEAR(made);
    Py_XDECREF(axis);
    return made;
}

/* The static arguments of a reduction along one axis; borrowed. */
static PyObject *
fixed_along(int axis, int keep)
{
    if (!along[axis][keep])
        along[axis][keep] = fixed_of(Py_BuildValue("(i)", axis), keep ? Py_True : Py_False);
    return along[axis][keep];
}

/* Read what is given besides the tensor: a dim, -1 if none, and whether it is kept; whether that is usual. */
static int
dim_of(PyObject *const *args, Py_ssize_t count, PyObject *kwnames, int ndim, npy_intp *axis, int *keep)
{
    Py_ssize_t named = kwnames ? PyTuple_GET_SIZE(kwnames) : 0;
    PyObject *dim = count > 1 ? args[1] : NULL, *kept = count > 2 ? args[2] : NULL;
    if (count > 3)
        return 0;
    for (Py_ssize_t i = 0; i < named; i++) {
        PyObject *name = PyTuple_GET_ITEM(kwnames, i), **place = name == dim_name ? &dim : name == keepdim_name ? &kept : NULL;
        if (!place || *place)
            return 0;
        *place = args[count + i];
    }
    *axis = -1;
    *keep = kept == Py_True;
    return dim ? is_axis(dim, ndim, axis) && (!kept || PyBool_Check(kept)) : !kept;
}

/* Sums along an axis of what lies row by row; NULL if that is for the twin. */
static PyObject *
sums_along(Loop *add, PyArrayObject *a, int axis, int keep)
{
    npy_intp outer = 1, inner = 1, count = PyArray_DIM(a, axis), dims[NPY_MAXDIMS], size = PyArray_SIZE(a);
    int ndim = 0;
    for (int i = 0; i < PyArray_NDIM(a); i++) {
        if (i != axis)
            *(i < axis ? &outer : &inner) *= PyArray_DIM(a, i);
        if (i != axis || keep)
            dims[ndim++] = i == axis ? 1 : PyArray_DIM(a, i);
    }
    if (!size || size >= MOST || count >= LINE)
        return NULL;
    int type = PyArray_TYPE(a);
    PyArrayObject *out = (PyArrayObject *)PyArray_SimpleNew(ndim, dims, type);
    if (!out)
        return NULL;
    npy_intp item = PyArray_ITEMSIZE(a), step = inner > 1 ? item : 0, steps[3] = {step, item, step};
    char *entries = PyArray_BYTES(a), *sums = PyArray_BYTES(out);
    for (npy_intp i = 0; i < outer * inner; i++) {
        if (type == NPY_DOUBLE)
            ((double *)sums)[i] = zero_of_sums;
        else
            ((float *)sums)[i] = (float)zero_of_sums;
    }
    int fine = 1;
    for (npy_intp o = 0; fine && o < outer; o++, sums += inner * item)
        for (npy_intp j = 0; fine && j < (inner > 1 ? count : 1); j++) {
            char *data[3] = {sums, entries, sums};
            fine = loop_ran(add, type, data, inner > 1 ? inner : count, steps);
            entries += (inner > 1 ? inner : count) * item;
        }
    if (!fine)
        Py_CLEAR(out);
    return out ? PyArray_Return(out) : NULL;
}

/* Divide the entries of a result, which nobody else has; whether nobody minds how that went. */
static int
divided(PyObject *sums, npy_intp by)
{
    npy_intp size = 1;
    char *entries;
    int type = NPY_FLOAT;
    if (PyArray_CheckExact(sums)) {
        size = PyArray_SIZE((PyArrayObject *)sums);
        entries = PyArray_BYTES((PyArrayObject *)sums);
        type = PyArray_TYPE((PyArrayObject *)sums);
    }
    else if (Py_IS_TYPE(sums, &PyDoubleArrType_Type)) {
        entries = (char *)&PyArrayScalar_VAL(sums, Double);
        type = NPY_DOUBLE;
    }
    else
        entries = (char *)&PyArrayScalar_VAL(sums, Float);
    for (npy_intp i = 0; i < size; i++) {
        if (type == NPY_DOUBLE)
            ((double *)entries)[i] /= (double)by;
        else
            ((float *)entries)[i] /= (float)by;
    }
    return flags_are_fine(1);
}

/* ways: of all entries, along an axis */
static PyObject *
reduced(Form *self, PyObject *const *args, Py_ssize_t count, PyObject *kwnames, int mean)
{
    PyObject *x = args[0];
    if (count < 1 || !all_sums || !is_tensor(x) || !is_whole(x) || !PyArray_CheckExact(FIELD(x, t_array)))
        return NULL;
    PyArrayObject *a = (PyArrayObject *)FIELD(x, t_array);
    int keep, usual = PyArray_DESCR(a) == of_single || PyArray_DESCR(a) == of_double;
    npy_intp axis;
    if (!usual || !PyArray_ISCARRAY_RO(a) || !dim_of(args, count, kwnames, PyArray_NDIM(a), &axis, &keep) || axis >= FEW)
        return NULL;
    PyObject *fixed = axis < 0 ? whole : fixed_along((int)axis, keep), *sums;
    Way *way = self->ways[axis >= 0];
    Call call;
    Py_INCREF(a); /* another thread may give the tensor another meanwhile */
    if (!fixed || !begin(way, &x, 0, &call))
        sums = NULL;
    else if (axis < 0 || (PyArray_NDIM(a) == 1 && !keep && PyArray_SIZE(a) < LINE))
        sums = whole_sum_result(all_sums, (PyObject *)a);
    else
        sums = sums_along(all_sums, a, (int)axis, keep);
    if (sums && mean && !divided(sums, axis < 0 ? PyArray_SIZE(a) : PyArray_DIM(a, axis)))
        Py_CLEAR(sums);
    Py_DECREF(a);
    return finish(way, &x, &call, sums, fixed, 0);
}

static PyObject *
sum_ask(Early *early, PyObject *const *args, Py_ssize_t count, PyObject *kwnames)
{
    return reduced((Form *)early, args, count, kwnames, 0);
}

static PyObject *
mean_ask(Early *early, PyObject *const *args, Py_ssize_t count, PyObject *kwnames)
{
    return reduced((Form *)early, args, count, kwnames, 1);
}

static const Asked asked[] = {{"sum", sum_ask}, {"mean", mean_ask}, {NULL, NULL}};

int
add_reductions(PyObject *Py_UNUSED(module))
{
    axis_name = PyUnicode_InternFromString("axis");
    keepdims_name = PyUnicode_InternFromString("keepdims");
    dim_name = PyUnicode_InternFromString("dim");
    keepdim_name = PyUnicode_InternFromString("keepdim");
    if (!axis_name || !keepdims_name || !dim_name || !keepdim_name)
        return -1;
    whole = fixed_of(Py_NewRef(Py_None), Py_False);
    has_forms(asked);
    return whole ? 0 : -1;
}
