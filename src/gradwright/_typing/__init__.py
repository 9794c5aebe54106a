"""Names for annotations. Nothing imports this when a program runs: modules do so under ``TYPE_CHECKING`` alone."""

from gradwright._typing.functions import (
    Binary,
    ByInput,
    ByWeight,
    Cell,
    Forwards,
    Frequencies,
    Listed,
    LSTMCell,
    MaskedReduction,
    MaskedScan,
    Polynomial,
    Property,
    Question,
    Shift,
    Sized,
    Stacking,
    Transform,
    Transforms,
    TriangleIndices,
    Unary,
    Window,
)
from gradwright._typing.names import (
    DeviceLike,
    Dims,
    DType,
    Index,
    Ints,
    MemoryFormat,
    Number,
    Operand,
    Roots,
    TensorLike,
    Value,
)
from gradwright._typing.pooling import (
    AdaptiveAvgPool,
    AdaptiveMaxPool,
    AvgPool,
    FractionalMaxPool,
    LPPool,
    MaxPool,
    MaxPoolWithIndices,
    MaxUnpool,
)
from gradwright._typing.results import (
    PLU,
    QR,
    USV,
    ATau,
    CholeskyInfo,
    Eigen,
    Histogram,
    HistogramDD,
    InverseInfo,
    LDLFactor,
    LDLFactorInfo,
    LeastSquares,
    LUFactor,
    LUFactorInfo,
    MantissaExponent,
    MinMax,
    ResultInfo,
    SignLogDet,
    Triangular,
    USVh,
    ValuesIndices,
)
from gradwright.dtypes import Size
from gradwright.face.memory_options import Memory
from gradwright.random import Generator
from gradwright.tensor import Tensor

__all__ = [
    "ATau", "AdaptiveAvgPool", "AdaptiveMaxPool", "AvgPool", "Binary", "ByInput", "ByWeight", "Cell",
    "CholeskyInfo", "DType", "DeviceLike",
    "Dims", "Eigen", "Forwards", "FractionalMaxPool", "Frequencies", "Generator", "Histogram", "HistogramDD",
    "Index", "Ints", "InverseInfo", "LDLFactor", "LDLFactorInfo", "LPPool", "LSTMCell", "LUFactor", "LUFactorInfo",
    "LeastSquares", "Listed", "MantissaExponent", "MaskedReduction", "MaskedScan", "MaxPool",
    "MaxPoolWithIndices", "MaxUnpool", "Memory", "MemoryFormat", "MinMax", "Number", "Operand", "PLU", "Polynomial",
    "Property", "QR", "Question", "ResultInfo", "Roots", "Shift", "SignLogDet", "Size", "Sized", "Stacking", "Tensor",
    "TensorLike", "Transform", "Transforms", "TriangleIndices", "Triangular", "USV", "USVh", "Unary", "Value",
    "ValuesIndices", "Window",
]  # fmt: skip
