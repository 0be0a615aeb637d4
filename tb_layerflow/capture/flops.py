"""How many floating-point operations one operation takes, from the shapes of its tensors. Pure; knows no TensorFlow.

A multiplication and the addition that follows it count as two. What moves, casts or compares numbers counts as nothing, and so
do resizing of images, Fourier transforms, linear algebra beyond products (`Cholesky`, `Svd`), sorting, random numbers and sparse
products. A dimension that is not known when the step is traced (mostly the batch) counts as one, so that the figure is then that
of one sample.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

Shape = Sequence[int | None] | None

_ONE_EACH = frozenset(
    [
        "Abs",
        "Add",
        "AddV2",
        "Sub",
        "Mul",
        "Div",
        "RealDiv",
        "DivNoNan",
        "Maximum",
        "Minimum",
        "Pow",
        "SquaredDifference",
        "Square",
        "Sqrt",
        "Rsqrt",
        "Exp",
        "Expm1",
        "Log",
        "Log1p",
        "Neg",
        "Reciprocal",
        "Inv",
        "Sign",
        "Sin",
        "Cos",
        "Tan",
        "Tanh",
        "Sigmoid",
        "Softplus",
        "Softsign",
        "Elu",
        "Selu",
        "Relu",
        "Relu6",
        "LeakyRelu",
        "Erf",
        "Erfc",
        "BiasAdd",
        "FloorMod",
        "Xdivy",
        "Xlogy",
        "MulNoNan",
        "ReluGrad",
        "Relu6Grad",
        "LeakyReluGrad",
        "EluGrad",
        "SeluGrad",
        "SigmoidGrad",
        "TanhGrad",
        "Cumsum",
        "Cumprod",
        "SoftplusGrad",
        "SqrtGrad",
        "RsqrtGrad",
        "ReciprocalGrad",
    ]
)
"""One per element of the output."""
_REDUCTIONS = frozenset({"Sum", "Mean", "Max", "Min", "Prod", "BiasAddGrad", "L2Loss", "EuclideanNorm"})
"""One per element of the input."""
_SEVERAL_EACH = {"Softmax": 5, "LogSoftmax": 5}
"""Per element: subtract the maximum, exponentiate, sum, divide, and find the maximum."""
_CONVOLUTIONS = frozenset({"Conv2D", "Conv3D", "DepthwiseConv2dNative"})
_CONVOLUTION_GRADIENTS = frozenset(
    f"{name}Backprop{of}{version}"
    for name, version in (("Conv2D", ""), ("Conv3D", "V2"), ("DepthwiseConv2dNative", ""))
    for of in ("Input", "Filter")
)
_NORMALISATIONS = frozenset({"FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"})
_POOLS = frozenset({"MaxPool", "AvgPool", "MaxPool3D", "AvgPool3D"})


def of(type_: str, inputs: Sequence[Shape], outputs: Sequence[Shape], attributes: Any) -> float:
    """The floating-point operations of one operation.

    Args:
        type_: its type, `MatMul`.
        inputs, outputs: the shapes of its tensors; None where the rank is unknown.
        attributes: a callable that gives an attribute by name; asked for `equation`, `ksize` and `is_training` alone.
    """
    out = outputs[0] if outputs else None
    if type_ in _ONE_EACH:
        return float(size(out))
    if type_ in _REDUCTIONS:
        return float(size(inputs[0]))
    if type_ in _SEVERAL_EACH:
        return float(_SEVERAL_EACH[type_] * size(out))
    if type_ in ("MatMul", "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3"):
        return _product(inputs[0], out)
    if type_ in _CONVOLUTIONS:
        return 2.0 * size(out) * _taps(type_, inputs[1])
    if type_ in _CONVOLUTION_GRADIENTS:
        filters = out if "BackpropFilter" in type_ else inputs[1]
        return 2.0 * size(inputs[2]) * _taps(type_, filters)
    if type_ in _POOLS:
        return float(size(out) * math.prod(attributes("ksize")))
    if type_ in _NORMALISATIONS:
        return float((5 if attributes("is_training") else 2) * size(out))  # mean, difference, square; scale, shift
    if type_ == "AddN":
        return float((len(inputs) - 1) * size(out))
    if type_ == "Einsum":
        return _einsum(attributes("equation"), inputs)
    return 0.0


def size(shape: Shape) -> int:
    """The elements of a shape, unknown dimensions counted as one."""
    return math.prod(1 if dim is None or dim < 0 else dim for dim in shape or ())


def _product(left: Shape, out: Shape) -> float:
    """[…, m, k] times […, k, n]: 2·m·n·k, whichever of the two is transposed."""
    if left is None or out is None or len(left) < 2 or len(out) < 2:
        return 0.0
    inner = size(left[-2:]) / max(1, size(out[-2:-1]))
    return 2.0 * size(out) * inner


def _taps(type_: str, filters: Shape) -> float:
    """The products behind one output: of a filter [kh, kw, in, out] kh·kw·in, of a depthwise one kh·kw."""
    if filters is None:
        return 0.0
    return float(size(filters[:2] if type_.startswith("Depthwise") else filters[:-1]))


def _einsum(equation: Any, inputs: Sequence[Shape]) -> float:
    """Twice the product of all labels' dimensions; as often as there are labels where nothing is summed or multiplied."""
    text = equation.decode() if isinstance(equation, bytes) else str(equation)
    terms = text.partition("->")[0].replace(" ", "").split(",")
    if "." in text or any(shape is None for shape in inputs):
        return 0.0
    dims: dict[str, int | None] = {}
    for term, shape in zip(terms, inputs, strict=False):
        dims.update(zip(term, shape or (), strict=False))
    return (2.0 if len(terms) > 1 else 1.0) * size(list(dims.values()))
