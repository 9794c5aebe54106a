"""The comparison with PyTorch's databases: does gradwright do what PyTorch does, operation by operation?

PyTorch tests itself with a database of its operations, each with sample inputs and inputs that must be refused. This
package runs the samples of every differentiable operation through PyTorch and through gradwright, and compares value,
dtype, structure, gradient and second gradient. It does the same with PyTorch's tables of modules (what they print and
their state, too) and of optimisers (ten steps, and their state)::

    python -m oracle                               everything: 8 samples each, float64
    python -m oracle --op 'linalg.*' --samples 4   what one works on, in seconds; --op may be repeated
    python -m oracle --group nn.functional         one group
    python -m oracle --samples all --dtypes --forms --errors --jobs 2     what `make oracle` runs
    python -m oracle --missing                     the names of the operations that gradwright lacks
    python -m oracle --docs                        write docs/operators.md and docs/differences.md anew

``--dtypes`` adds float32 (value), complex128 (as float64), int64 and bool (value); ``--forms`` adds the method, the
operator and the in-place form; ``--errors`` adds the inputs that must be refused. The exit status is 1 if anything
disagrees, except what `oracle.known` lists.

The files: `entries` (the database), `resolve` (gradwright's function for an entry), `convert` (PyTorch's values as
gradwright's), `compare` (are two results the same?), `check` (one operation, from samples to record), `forms`,
`refusals` (inputs that must raise), `chance` (random operations), `modules`, `optimizers`, `records` and `report` (what
comes out).
"""
