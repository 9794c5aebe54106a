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

#endif
