/* What the text of kernels, which is written when the package is built, tells the core. */

#ifndef GRADWRIGHT_KERNELS_H
#define GRADWRIGHT_KERNELS_H

typedef struct {
    const char *name;  /* of the function that it is made of; NULL after the last kernel */
    unsigned built_from;
    const char *takes; /* a letter for each argument: see gradwright.compilation.by_c.kernels */
    const char *gives;
    long (*run[2])(char **arrays, const long *sizes, const double *numbers, char *own); /* of float32, of float64 */
    long (*own[2])(const long *sizes); /* how many bytes of its own it needs */
} Kernel;

#endif
