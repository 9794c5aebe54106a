"""The named results of annotations have the fields of what the functions return."""

import pytest

import gradwright as gw
from gradwright.face.typing import results

A = gw.tensor([[4.0, 1.0], [1.0, 3.0]])
LU, PIVOTS = gw.linalg.lu_factor(A)
RETURNED = {
    "ATau": gw.geqrf(A), "CholeskyInfo": gw.linalg.cholesky_ex(A), "Eigen": gw.linalg.eigh(A),
    "Histogram": gw.histogram(A, 2), "HistogramDD": gw.histogramdd(A, [2, 2]), "InverseInfo": gw.linalg.inv_ex(A),
    "LDLFactor": gw.linalg.ldl_factor(A), "LDLFactorInfo": gw.linalg.ldl_factor_ex(A),
    "LUFactor": gw.linalg.lu_factor(A), "LUFactorInfo": gw.linalg.lu_factor_ex(A),
    "LeastSquares": gw.linalg.lstsq(A, A), "MantissaExponent": gw.frexp(A), "MinMax": gw.aminmax(A),
    "PLU": gw.linalg.lu(A), "QR": gw.linalg.qr(A), "ResultInfo": gw.linalg.solve_ex(A, A),
    "SignLogDet": gw.slogdet(A), "Triangular": gw.triangular_solve(A, A), "USV": gw.svd(A),
    "USVh": gw.linalg.svd(A), "ValuesIndices": gw.sort(A),
}  # fmt: skip


@pytest.mark.parametrize("name", [name for name, kind in vars(results).items() if hasattr(kind, "_fields")])
def test_fields_are_those_of_what_is_returned(name):
    assert getattr(results, name)._fields == RETURNED[name]._fields
