/* Functions of the face that make a view, asked with the usual arguments: those are read here, and the view is made.

   Twins: the functions of those names in gradwright.face.functions, which say what all other arguments mean. */

#include "core.h"

static PyObject *axes_name, *key_name, *shape_name, *axis_name;

/* What a view is to show: of an array its entries from `data` on. NULL: the array itself. */
typedef struct {
    int ndim;
    npy_intp dims[NPY_MAXDIMS], strides[NPY_MAXDIMS];
    char *data;
} Shown;

static PyObject *
array_of(const Shown *shown, PyArrayObject *array)
{
    if (!shown)
        return Py_NewRef(array);
    PyArray_Descr *dtype = PyArray_DESCR(array);
    Py_INCREF(dtype);
    PyObject *made = PyArray_NewFromDescr(&PyArray_Type, dtype, shown->ndim, shown->dims, shown->strides, shown->data,
                                          PyArray_FLAGS(array), NULL);
    if (made && PyArray_SetBaseObject((PyArrayObject *)made, Py_NewRef(array)) < 0)
        Py_CLEAR(made);
    return made;
}

/* The array of a tensor of which a view is asked; NULL if that is unusual. */
static PyArrayObject *
array_to_view(PyObject *x)
{
    if (!is_tensor(x) || !is_whole(x) || !version_of(x) || !plain_array(FIELD(x, t_array), 0))
        return NULL;
    return (PyArrayObject *)FIELD(x, t_array);
}

/* The view, given a static argument, which it takes over; NULL if that is for the twin. */
static PyObject *
viewed(Way *way, PyObject *x, const Shown *shown, PyObject *name, PyObject *value)
{
    PyObject *array = Py_NewRef(FIELD(x, t_array)); /* another thread may give the tensor another meanwhile */
    PyObject *fixed = value ? PyDict_New() : NULL, *out = NULL;
    Call call;
    if (fixed && PyDict_SetItem(fixed, name, value) == 0 && begin(way, &x, 0, &call))
        out = finish(way, &x, &call, array_of(shown, (PyArrayObject *)array), fixed, 1);
    Py_XDECREF(value), Py_XDECREF(fixed);
    Py_DECREF(array);
    return out;
}

/* ---- x[key]: ints and slices without steps ---- */

static int
part(PyObject *key, npy_intp length, npy_intp stride, Shown *shown)
{
    npy_intp at;
    if (is_int(key, &at)) {
        if (at < -length || at >= length)
            return 0;
        shown->data += (at < 0 ? at + length : at) * stride;
        return 1;
    }
    if (!PySlice_Check(key))
        return 0;
    PySliceObject *slice = (PySliceObject *)key;
    npy_intp start = 0, stop = length;
    if (slice->step != Py_None || (slice->start != Py_None && !is_int(slice->start, &start))
        || (slice->stop != Py_None && !is_int(slice->stop, &stop)))
        return 0;
    npy_intp count = PySlice_AdjustIndices(length, &start, &stop, 1);
    shown->data += count ? start * stride : 0;
    shown->dims[shown->ndim] = count;
    shown->strides[shown->ndim++] = stride;
    return 1;
}

static PyObject *
index_ask(Early *early, PyObject *const *args, Py_ssize_t count, PyObject *kwnames)
{
    Form *self = (Form *)early;
    PyArrayObject *a;
    if (count != 2 || kwnames || !(a = array_to_view(args[0])))
        return NULL;
    PyObject *key = args[1], *const *parts = &key;
    Py_ssize_t given = 1;
    if (PyTuple_CheckExact(key)) {
        given = PyTuple_GET_SIZE(key);
        parts = &PyTuple_GET_ITEM(key, 0);
    }
    if (!given || given > PyArray_NDIM(a))
        return NULL;
    Shown shown = {.ndim = 0, .data = PyArray_BYTES(a)};
    for (int i = 0; i < PyArray_NDIM(a); i++) {
        npy_intp length = PyArray_DIM(a, i), stride = PyArray_STRIDE(a, i);
        if (i >= given) {
            shown.dims[shown.ndim] = length;
            shown.strides[shown.ndim++] = stride;
        }
        else if (!part(parts[i], length, stride, &shown))
            return NULL;
    }
    PyObject *full = PyTuple_New(given + 1);
    for (Py_ssize_t i = 0; full && i < given; i++)
        PyTuple_SET_ITEM(full, i, Py_NewRef(parts[i]));
    if (full)
        PyTuple_SET_ITEM(full, given, Py_NewRef(Py_Ellipsis));
    return viewed(self->ways[PyLong_CheckExact(parts[0]) ? 0 : 1], args[0], &shown, key_name, full);
}

/* ---- axes in another order ---- */

static PyObject *
in_order(Way *way, PyObject *x, PyArrayObject *a, const npy_intp *order)
{
    Shown shown = {.ndim = PyArray_NDIM(a), .data = PyArray_BYTES(a)};
    PyObject *axes = PyTuple_New(shown.ndim);
    for (int i = 0; axes && i < shown.ndim; i++) {
        shown.dims[i] = PyArray_DIM(a, order[i]);
        shown.strides[i] = PyArray_STRIDE(a, order[i]);
        PyTuple_SET_ITEM(axes, i, PyLong_FromLong((long)order[i])); /* a small one, which is there already */
    }
    return viewed(way, x, &shown, axes_name, axes);
}

static PyObject *
t_ask(Early *early, PyObject *const *args, Py_ssize_t count, PyObject *kwnames)
{
    PyArrayObject *a;
    if (count != 1 || kwnames || !(a = array_to_view(args[0])) || PyArray_NDIM(a) != 2)
        return NULL;
    return in_order(((Form *)early)->ways[0], args[0], a, (npy_intp[]){1, 0});
}

static PyObject *
transpose_ask(Early *early, PyObject *const *args, Py_ssize_t count, PyObject *kwnames)
{
    PyArrayObject *a;
    npy_intp first, second, order[NPY_MAXDIMS];
    if (count != 3 || kwnames || !(a = array_to_view(args[0])))
        return NULL;
    int ndim = PyArray_NDIM(a);
    if (!is_axis(args[1], ndim, &first) || !is_axis(args[2], ndim, &second))
        return NULL;
    for (int i = 0; i < ndim; i++)
        order[i] = i == first ? second : i == second ? first : i;
    return in_order(((Form *)early)->ways[0], args[0], a, order);
}

/* Several ints, one after the other or in a tuple or list; how many, -1 if that is unusual. */
static int
ints_of(PyObject *const *given, Py_ssize_t count, npy_intp *found)
{
    if (count == 1 && (PyTuple_Check(given[0]) || PyList_Check(given[0]))) {
        count = PySequence_Fast_GET_SIZE(given[0]);
        given = PySequence_Fast_ITEMS(given[0]);
    }
    if (count > NPY_MAXDIMS)
        return -1;
    for (Py_ssize_t i = 0; i < count; i++)
        if (!is_int(given[i], &found[i]))
            return -1;
    return (int)count;
}

static PyObject *
permute_ask(Early *early, PyObject *const *args, Py_ssize_t count, PyObject *kwnames)
{
    PyArrayObject *a;
    npy_intp order[NPY_MAXDIMS];
    if (count < 2 || kwnames || !(a = array_to_view(args[0])))
        return NULL;
    int ndim = PyArray_NDIM(a), seen = 0;
    if (ndim > 16 || ints_of(args + 1, count - 1, order) != ndim)
        return NULL;
    for (int i = 0; i < ndim; i++) {
        order[i] += order[i] < 0 ? ndim : 0;
        if (order[i] < 0 || order[i] >= ndim || seen & 1 << order[i])
            return NULL;
        seen |= 1 << order[i];
    }
    return in_order(((Form *)early)->ways[0], args[0], a, order);
}

/* ---- other shapes, of what lies row by row ---- */

/* The view of that shape: what there is of strides where that is the shape already, else those of rows. */
static PyObject *
in_shape(Way *way, PyObject *x, PyArrayObject *a, Shown *shown, PyObject *name, PyObject *value)
{
    int same = shown->ndim == PyArray_NDIM(a) && PyArray_CompareLists(shown->dims, PyArray_DIMS(a), shown->ndim);
    npy_intp step = PyArray_ITEMSIZE(a);
    for (int i = shown->ndim - 1; i >= 0; i--) {
        shown->strides[i] = same ? PyArray_STRIDE(a, i) : step;
        step *= shown->dims[i] ? shown->dims[i] : 1;
    }
    return viewed(way, x, shown, name, value);
}

static PyObject *
reshape_ask(Early *early, PyObject *const *args, Py_ssize_t count, PyObject *kwnames)
{
    PyArrayObject *a;
    if (count < 2 || kwnames || !(a = array_to_view(args[0])) || !PyArray_IS_C_CONTIGUOUS(a))
        return NULL;
    Shown shown = {.data = PyArray_BYTES(a)};
    npy_intp size = PyArray_SIZE(a), rest = 1;
    int at = -1;
    shown.ndim = ints_of(args + 1, count - 1, shown.dims);
    for (int i = 0; i < shown.ndim; i++) {
        if (shown.dims[i] == -1 && at < 0)
            at = i;
        else if (shown.dims[i] < 0 || (shown.dims[i] && rest > size / shown.dims[i] + 1))
            return NULL;
        else
            rest *= shown.dims[i];
    }
    if (shown.ndim < 0 || (at < 0 ? rest != size : !rest || size % rest))
        return NULL;
    if (at >= 0)
        shown.dims[at] = size / rest;
    return in_shape(((Form *)early)->ways[0], args[0], a, &shown, shape_name,
                    PyArray_IntTupleFromIntp(shown.ndim, shown.dims));
}

static PyObject *
unsqueeze_ask(Early *early, PyObject *const *args, Py_ssize_t count, PyObject *kwnames)
{
    PyArrayObject *a;
    npy_intp axis;
    if (count != 2 || kwnames || !(a = array_to_view(args[0])) || !PyArray_IS_C_CONTIGUOUS(a))
        return NULL;
    Shown shown = {.ndim = PyArray_NDIM(a) + 1, .data = PyArray_BYTES(a)};
    if (shown.ndim > NPY_MAXDIMS || !is_axis(args[1], shown.ndim, &axis))
        return NULL;
    for (int i = 0; i < shown.ndim; i++)
        shown.dims[i] = i < axis ? PyArray_DIM(a, i) : i == axis ? 1 : PyArray_DIM(a, i - 1);
    return in_shape(((Form *)early)->ways[0], args[0], a, &shown, axis_name, PyLong_FromSsize_t(axis));
}

/* ways: without a dim, with one */
static PyObject *
squeeze_ask(Early *early, PyObject *const *args, Py_ssize_t count, PyObject *kwnames)
{
    PyArrayObject *a;
    npy_intp axis = -1;
    if (count < 1 || count > 2 || kwnames || !(a = array_to_view(args[0])) || !PyArray_NDIM(a))
        return NULL;
    if (count == 2 && !is_axis(args[1], PyArray_NDIM(a), &axis))
        return NULL;
    Shown shown = {.ndim = 0, .data = PyArray_BYTES(a)};
    npy_intp gone[NPY_MAXDIMS];
    int many = 0;
    for (int i = 0; i < PyArray_NDIM(a); i++) {
        if (PyArray_DIM(a, i) == 1 && (count == 1 || i == axis))
            gone[many++] = i;
        else {
            shown.dims[shown.ndim] = PyArray_DIM(a, i);
            shown.strides[shown.ndim++] = PyArray_STRIDE(a, i);
        }
    }
    return viewed(((Form *)early)->ways[count - 1], args[0], many ? &shown : NULL, axis_name,
                  PyArray_IntTupleFromIntp(many, gone));
}

static PyObject *
expand_ask(Early *early, PyObject *const *args, Py_ssize_t count, PyObject *kwnames)
{
    PyArrayObject *a;
    if (count < 2 || kwnames || !(a = array_to_view(args[0])) || !PyArray_IS_C_CONTIGUOUS(a))
        return NULL;
    Shown shown = {.data = PyArray_BYTES(a)};
    shown.ndim = ints_of(args + 1, count - 1, shown.dims);
    int lead = shown.ndim - PyArray_NDIM(a);
    if (lead < 0)
        return NULL;
    for (int i = 0; i < shown.ndim; i++) {
        npy_intp old = i < lead ? 1 : PyArray_DIM(a, i - lead), new = shown.dims[i];
        if (new < 0 && (i < lead || new < -1))
            return NULL;
        shown.dims[i] = new == -1 ? old : new;
        if (old != 1 && old != shown.dims[i])
            return NULL;
        shown.strides[i] = old == 1 ? 0 : PyArray_STRIDE(a, i - lead);
    }
    return viewed(((Form *)early)->ways[0], args[0], &shown, shape_name,
                  PyArray_IntTupleFromIntp(shown.ndim, shown.dims));
}

/* The same array without a history, where nobody has to hear of that. */
static PyObject *
detach_ask(Early *Py_UNUSED(early), PyObject *const *args, Py_ssize_t count, PyObject *kwnames)
{
    PyArrayObject *a;
    PyObject *mode = NULL;
    if (count != 1 || kwnames || !(a = array_to_view(args[0])) || stale(args[0])
        || PyContextVar_Get(mode_now, NULL, &mode) < 0)
        return NULL;
    Py_XDECREF(mode); /* the context holds it */
    return mode == plain ? wrapped_beside(Py_NewRef(a), FIELD(args[0], t_counter)) : NULL;
}

static const Asked asked[] = {
    {"index", index_ask}, {"t", t_ask}, {"transpose", transpose_ask}, {"permute", permute_ask}, {"reshape", reshape_ask},
    {"unsqueeze", unsqueeze_ask}, {"squeeze", squeeze_ask}, {"expand", expand_ask}, {"detach", detach_ask},
    {NULL, NULL},
};

int
add_views(PyObject *Py_UNUSED(module))
{
    axes_name = PyUnicode_InternFromString("axes");
    key_name = PyUnicode_InternFromString("key");
    shape_name = PyUnicode_InternFromString("shape");
    axis_name = PyUnicode_InternFromString("axis");
    has_forms(asked);
    return axes_name && key_name && shape_name && axis_name ? 0 : -1;
}
