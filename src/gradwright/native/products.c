/* Products of matrices, asked with two matrices of one dtype of floats, each of which lies by rows or by columns.

   Twins: `matmul`, `mm` and `linear` of gradwright.face.functions.algebra.linalg, and the formulas in
   gradwright.ops.linalg; of the product itself `matmul` of gradwright.backends.numpy. */

#include "core.h"

static Inner single, twice; /* of NumPy's matmul, of float32 and of float64 */

/* The product of two matrices that fit; NULL if that is for the twin. */
static PyObject *
product_of(PyArrayObject *a, PyArrayObject *b)
{
    const Inner *inner = PyArray_DESCR(a) == of_double ? &twice : &single;
    npy_intp dims[2] = {PyArray_DIM(a, 0), PyArray_DIM(b, 1)};
    PyArrayObject *out = inner->run ? (PyArrayObject *)PyArray_SimpleNew(2, dims, PyArray_TYPE(a)) : NULL;
    if (!out)
        return NULL;
    npy_intp sizes[4] = {1, dims[0], PyArray_DIM(a, 1), dims[1]};
    npy_intp steps[9] = {0, 0, 0, PyArray_STRIDE(a, 0), PyArray_STRIDE(a, 1), PyArray_STRIDE(b, 0), PyArray_STRIDE(b, 1),
                         PyArray_STRIDE(out, 0), PyArray_STRIDE(out, 1)};
    char *data[3] = {PyArray_BYTES(a), PyArray_BYTES(b), PyArray_BYTES(out)};
    clear_flags();
    if (sizes[1] * sizes[2] * sizes[3] > 4096) {
        Py_BEGIN_ALLOW_THREADS
        inner->run(data, sizes, steps, inner->data);
        Py_END_ALLOW_THREADS
    }
    else
        inner->run(data, sizes, steps, inner->data);
    if (!flags_are_fine(1))
        Py_CLEAR(out);
    return (PyObject *)out;
}

/* The matrix of a tensor; NULL if it is none of the usual ones. */
static PyArrayObject *
matrix_of(PyObject *x)
{
    if (!is_tensor(x) || !is_whole(x) || !PyArray_CheckExact(FIELD(x, t_array)))
        return NULL;
    PyArrayObject *a = (PyArrayObject *)FIELD(x, t_array);
    int usual = PyArray_DESCR(a) == of_single || PyArray_DESCR(a) == of_double;
    return usual && PyArray_NDIM(a) == 2 && PyArray_ISONESEGMENT(a) && PyArray_DIM(a, 0) > 1 && PyArray_DIM(a, 1) > 1
        ? a : NULL;
}

/* ways: by a matrix that lies by rows, by columns */
static PyObject *
matmul_ask(Early *early, PyObject *const *args, Py_ssize_t count, PyObject *kwnames)
{
    PyArrayObject *a, *b;
    if (count != 2 || kwnames || !(a = matrix_of(args[0])) || !(b = matrix_of(args[1])))
        return NULL;
    if (PyArray_DESCR(a) != PyArray_DESCR(b) || PyArray_DIM(a, 1) != PyArray_DIM(b, 0))
        return NULL;
    Way *way = ((Form *)early)->ways[!PyArray_IS_C_CONTIGUOUS(b)];
    Call call;
    Py_INCREF(a), Py_INCREF(b); /* another thread may give the tensors others meanwhile */
    PyObject *product = begin(way, args, 0, &call) ? product_of(a, b) : NULL;
    Py_DECREF(a), Py_DECREF(b);
    return finish(way, args, &call, product, NULL, 0);
}

static PyObject *
linear_ask(Early *early, PyObject *const *args, Py_ssize_t count, PyObject *kwnames)
{
    PyArrayObject *a, *w, *b;
    if (count != 3 || kwnames || !(a = matrix_of(args[0])) || !(w = matrix_of(args[1])))
        return NULL;
    PyObject *inputs[3] = {args[2], args[0], args[1]};
    if (!is_tensor(args[2]) || !is_whole(args[2]) || !PyArray_CheckExact(FIELD(args[2], t_array)))
        return NULL;
    b = (PyArrayObject *)FIELD(args[2], t_array);
    if (PyArray_DESCR(a) != PyArray_DESCR(w) || PyArray_DESCR(a) != PyArray_DESCR(b) || PyArray_DIM(a, 1) != PyArray_DIM(w, 1)
        || PyArray_NDIM(b) != 1 || PyArray_DIM(b, 0) != PyArray_DIM(w, 0) || !PyArray_ISCARRAY_RO(b) || !all_sums)
        return NULL;
    Way *way = ((Form *)early)->ways[0];
    Call call;
    Py_INCREF(a), Py_INCREF(w), Py_INCREF(b);
    PyObject *turned = begin(way, inputs, 0, &call) ? PyArray_Transpose(w, NULL) : NULL;
    PyObject *product = turned ? product_of(a, (PyArrayObject *)turned) : NULL;
    Py_XDECREF(turned);
    if (product) {
        npy_intp rows = PyArray_DIM(a, 0), columns = PyArray_DIM(b, 0), item = PyArray_ITEMSIZE(b);
        char *sums = PyArray_BYTES((PyArrayObject *)product);
        for (npy_intp i = 0; product && i < rows; i++, sums += columns * item) {
            char *data[3] = {sums, PyArray_BYTES(b), sums};
            if (!loop_ran(all_sums, PyArray_TYPE(b), data, columns, (npy_intp[]){item, item, item}))
                Py_CLEAR(product);
        }
    }
    Py_DECREF(a), Py_DECREF(w), Py_DECREF(b);
    return finish(way, inputs, &call, product, NULL, 0);
}

static const Asked asked[] = {{"matmul", matmul_ask}, {"linear", linear_ask}, {NULL, NULL}};

int
add_products(PyObject *Py_UNUSED(module))
{
    PyObject *numpy = PyImport_ImportModule("numpy"), *matmul = numpy ? PyObject_GetAttrString(numpy, "matmul") : NULL;
    Py_XDECREF(numpy);
    if (!matmul)
        return -1;
    if (PyObject_TypeCheck(matmul, &PyUFunc_Type)) {
        single = inner_of((PyUFuncObject *)matmul, NPY_FLOAT);
        twice = inner_of((PyUFuncObject *)matmul, NPY_DOUBLE);
    }
    Py_DECREF(matmul);
    has_forms(asked);
    return 0;
}
