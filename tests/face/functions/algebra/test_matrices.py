from typing import Any

import numpy as np
import pytest

import gradwright

MISTAKES: dict[str, Any] = {
    "vector": (lambda t: t.linalg.inv(t.ones(3)), r"linalg.inv: The input tensor A must have at least 2 dimensions"),
    "not square": (lambda t: t.linalg.inv(t.ones(2, 3)), r"linalg.inv: A must be batches of square .* 2 by 3 matrices"),
    "integers": (lambda t: t.linalg.inv(t.ones(3, 3, dtype=t.int64)), r"linalg.inv: Expected .* Got Long"),
    "half": (lambda t: t.linalg.inv(t.ones(3, 3, dtype=t.float16)), r"Low precision dtypes not supported. Got Half"),
    "dtypes": (
        lambda t: t.linalg.solve(t.eye(2), t.eye(2, dtype=t.float64)),
        r"Expected A and B to have the same dtype, but found A of type Float and B of type Double instead",
    ),
    "equation": (lambda t: t.linalg.solve(t.eye(2), t.ones(3, 1)), r"AX = B \(2x2 and 3x1\)"),
    "left": (lambda t: t.linalg.solve(t.eye(2), t.ones(2), left=False), r"Vector broadcasting of the left hand side"),
    "uplo": (lambda t: t.linalg.eigh(t.eye(2), "X"), r"Expected UPLO argument to be 'L' or 'U'"),
    "qr": (lambda t: t.linalg.qr(t.eye(2), "x"), r"qr received unrecognized mode 'x'"),
    "nan": (lambda t: t.linalg.eig(t.full((2, 2), float("nan"))), r"should not contain infs or NaNs"),
    "lu": (lambda t: t.linalg.lu_factor(t.zeros(2, 2)), r"U\[1,1\] is zero"),
    "pivot": (lambda t: t.linalg.lu(t.eye(2), pivot=False), r"not implemented on the CPU"),
    "driver": (lambda t: t.linalg.svd(t.eye(2), driver="gesvd"), r"only supported on CUDA"),
    "lstsq": (lambda t: t.linalg.lstsq(t.eye(2), t.eye(2), driver="x"), r"parameter `driver` should be one of"),
    "singular": (lambda t: t.linalg.inv(t.zeros(2, 2)), r"linalg.inv: The diagonal element 1 is zero"),
    "power": (lambda t: t.linalg.matrix_power(t.zeros(2, 2), -1), r"The diagonal element 1 is zero"),
    "solver": (
        lambda t: t.linalg.solve(t.zeros(2, 2), t.ones(2)),
        r"The solver failed because the input matrix is sing",
    ),
    "cholesky": (lambda t: t.linalg.cholesky(-t.eye(2)), r"the leading minor of order 1 is not positive-definite"),
    "norm": (lambda t: t.linalg.norm(t.ones(2, 2, 2), 2), r"the input must be 1D or 2D. Got 3D"),
    "norm of none": (lambda t: t.linalg.vector_norm(t.ones(0), -1), r"does not have an identity"),
    "narrowing": (lambda t: t.linalg.vector_norm(t.ones(2), dtype=t.complex64), r"without narrowing"),
    "cond": (lambda t: t.linalg.cond(t.eye(2), "x"), r"invalid norm type"),
    "cross": (lambda t: t.linalg.cross(t.ones(2, 3), t.ones(2, 2)), r"must have length 3"),
    "tensordot": (lambda t: t.tensordot(t.ones(2, 3), t.ones(2, 3)[:, :2], 1), r"contracted dimensions need to match"),
    "multi_dot": (lambda t: t.linalg.multi_dot([t.eye(2)]), r"expected at least 2 tensors but got 1"),
    "addmm": (lambda t: t.addmm(t.ones(3, 3), t.eye(2), t.eye(2)), r"addmm|expanded size"),
    "mm of two dtypes": (lambda t: t.eye(2) @ t.eye(2, dtype=t.float64), r"expected m1 and m2 to have the same dtype"),
    "einsum of two dtypes": (
        lambda t: t.einsum("ij,jk->ik", t.eye(2), t.eye(2, dtype=t.float64)),
        r"xpected m1 and m2 to have the same dtype",
    ),
    "ormqr": (lambda t: t.ormqr(t.ones(3, 2), t.ones(2), t.ones(2, 2)), r"must be equal to input.shape\[-2\]"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistake(name: str, torch: Any) -> None:
    f, message = MISTAKES[name]
    with pytest.raises((RuntimeError, IndexError, TypeError, ValueError)) as theirs:
        f(torch)
    with pytest.raises((RuntimeError, IndexError, TypeError, ValueError), match=message) as ours:
        f(gradwright)
    assert isinstance(ours.value, RuntimeError) == isinstance(theirs.value, RuntimeError)
    assert isinstance(ours.value, gradwright.linalg.LinAlgError) == isinstance(theirs.value, torch.linalg.LinAlgError)


def test_no_warning_leaks(recwarn: Any) -> None:
    gradwright.linalg.det(gradwright.tensor(np.full((2, 2), 1e300)))
    gradwright.linalg.slogdet(gradwright.zeros(2, 2))
    assert not recwarn


def test_messages_name_the_argument_and_the_mend():
    t = gradwright
    for call, message in (
        (lambda: t.linalg.svd(t.ones(2, 2, dtype=t.int64)), r"Got Long for argument 'A': convert it with \.float\(\)"),
        (lambda: t.roll(t.ones(2, 2), (1, 2), (0,)), r"shifts: 2, dims:1 \(roll\(\): give arguments 'shifts' and"),
        (lambda: t.tril(t.ones(2)), r"tril: input tensor must have at least 2 dimensions, but argument 'input' has 1"),
    ):
        with pytest.raises(RuntimeError, match=message):
            call()
