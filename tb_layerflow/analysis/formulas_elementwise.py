"""How a number of an elementwise layer comes about: activations, merges, dropout, rescaling, and layers that change nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tb_layerflow.analysis.activation_functions import Activation, activation_layer, activation_named
from tb_layerflow.analysis.explanation import CannotExplain, Explanation, Products, columns, grouped, number, single
from tb_layerflow.analysis.formulas_norm import own_slice
from tb_layerflow.analysis.formulas_pool import extreme
from tb_layerflow.analysis.geometry import Shape
from tb_layerflow.analysis.layer_description import LayerDescription, numbers
from tb_layerflow.analysis.weighted_sum import weighted_sum

Arrays = Sequence[NDArray[np.generic]]


def activation(layer: LayerDescription, inputs: Arrays, index: tuple[int, ...]) -> Explanation:
    """Activation, ReLU, LeakyReLU, ELU, Softmax, … and the operations of these names."""
    x, function = inputs[0], activation_of(layer)
    if not function.over_vector:
        made = weighted_sum(layer.type, [single(0, index, float(x[index]))], None, function)
        return replace(made, formula=f"{function.name}({number(made.pre_activation)}) = {number(made.total)}")
    axes = layer.axes(x.ndim)
    return _over_vector(layer, x, index, axes, function)


def activation_of(layer: LayerDescription) -> Activation:
    """The function of an activation layer or of an operation such as `Relu`."""
    if layer.kind == "operation" or layer.type in OPERATION_ACTIVATIONS:
        return activation_named(OPERATION_ACTIVATIONS.get(layer.type, layer.type), layer.family)
    return activation_layer(layer.type, layer.config, layer.family)


OPERATION_ACTIVATIONS = {
    "Relu": "relu", "Relu6": "relu6", "Sigmoid": "sigmoid", "Softplus": "softplus", "Softsign": "softsign", "Silu": "silu",
    "LogSigmoid": "log_sigmoid", "LeakyRelu": "leaky_relu", "HardSigmoid": "hard_sigmoid", "HardSilu": "hard_silu", "Elu": "elu",
    "Selu": "selu", "Gelu": "gelu", "Softmax": "softmax", "LogSoftmax": "log_softmax", "Tanh": "tanh", "Exp": "exponential",
    "HardTanh": "hard_tanh", "TanhShrink": "tanh_shrink", "Mish": "mish",
}  # fmt: skip


def _over_vector(layer: LayerDescription, x: NDArray[np.generic], index: tuple[int, ...], axes: tuple[int, ...],
                 function: Activation) -> Explanation:  # fmt: skip
    """Softmax and its kin: every number along the axes takes part; for softmax the terms are eˣ over the largest eˣ."""
    grid = tuple(x.shape[axis] for axis in axes)
    coordinates: list[NDArray[np.int64] | int] = list(index)
    for axis, along in zip(axes, np.ix_(*(np.arange(size) for size in grid)), strict=True):
        coordinates[axis] = along
    place = columns(grid, *coordinates)
    value = numbers(x[own_slice(x.ndim, axes, index)]).ravel()
    own = int(np.flatnonzero((place == np.array(index)).all(axis=1))[0])
    total = float(function.apply(value)[own])
    powers = np.exp(value - value.max())
    channel = place[:, axes[-1]]
    groups, omitted = grouped([Products(0, place, value, powers, channel)])
    sum_ = float(powers.sum())
    share = f"{number(float(powers[own]))} / {number(sum_)}"
    share = f"log({share})" if function.name == "log_softmax" else share
    return Explanation(
        type=layer.type,
        formula=f"{function.name} over {len(value)} numbers: eˣ / Σ eˣ = {share} = {number(total)} (each x minus the largest)",
        groups=groups,
        term_count=len(value),
        omitted=omitted,
        bias=None,
        pre_activation=float(value[own]),
        activation=function.name,
        total=total,
        magnitude=abs(total) if function.name == "softmax" else abs(float(value[own] - value.max())) + abs(float(np.log(sum_))),
        combine="share",
        quantities=(("sum", sum_), ("max", float(value.max()))),
    )


def prelu(layer: LayerDescription, inputs: Arrays, index: tuple[int, ...]) -> Explanation:
    """PReLU: x above zero, a learned slope × x below; shared axes of the slope have length 1."""
    value, alpha = float(inputs[0][index]), layer.needed("alpha")
    place = tuple(0 if size == 1 else position for size, position in zip(alpha.shape, index[1:], strict=True))
    slope = 1.0 if value > 0 else float(alpha[place])
    name = "" if value > 0 else "alpha"
    made = weighted_sum(layer.type, [single(0, index, value, slope, name=name, weight_index=place if name else None)])
    return replace(made, formula=f"{number(value)} × {number(slope)} = {number(made.total)}")


def broadcast_index(shape: Shape, index: tuple[int, ...], batch_first: bool) -> tuple[int, ...]:
    """The place of an input that broadcasts to the output. Merge layers put missing axes after the batch, operations in front."""
    missing = len(index) - len(shape)
    kept = (index[0], *index[1 + missing :]) if batch_first and missing and shape else index[missing:]
    return tuple(0 if size == 1 else position for size, position in zip(shape, kept, strict=True))


def merge(layer: LayerDescription, inputs: Arrays, index: tuple[int, ...]) -> Explanation:
    """Add, Subtract, Multiply, Average, Maximum, Minimum and Divide, of two or more inputs that broadcast."""
    if len(inputs) < 2:
        raise CannotExplain(f"This {layer.type} has another operand, a constant, that was not recorded.")
    places = [broadcast_index(x.shape, index, layer.kind == "layer") for x in inputs]
    values = [float(x[place]) for x, place in zip(inputs, places, strict=True)]
    name = layer.type
    if name in ("Maximum", "Minimum"):
        which = name.lower()
        best = values.index(max(values) if name == "Maximum" else min(values))
        parts = [single(port, place, value, product=value if port == best else 0.0)
                 for port, (place, value) in enumerate(zip(places, values, strict=True))]  # fmt: skip
        return extreme(name, parts, which)
    if name in ("Multiply", "Divide", "TrueDivide"):
        return _product(name, places, values)
    count = len(values)
    signs = [1.0 / count] * count if name == "Average" else [1.0, *[-1.0 if name == "Subtract" else 1.0] * (count - 1)]
    made = weighted_sum(name, [single(port, place, value, None if sign == 1 else sign)
                               for port, (place, value, sign) in enumerate(zip(places, values, signs, strict=True))])  # fmt: skip
    written = (" − " if name == "Subtract" else " + ").join(f"({number(v)})" if v < 0 else number(v) for v in values)
    if name == "Average":
        written = f"({written}) / {count}"
    return replace(made, formula=f"{written} = {number(made.total)}")


def _product(name: str, places: list[tuple[int, ...]], values: list[float]) -> Explanation:
    """All inputs multiplied (or the first divided by the others); each term is a factor, and the product is the number."""
    total = values[0]
    for value in values[1:]:
        total = total * value if name == "Multiply" else float(np.float64(total) / np.float64(value))
    sign = " × " if name == "Multiply" else " / "
    factors = [single(port, place, value) for port, (place, value) in enumerate(zip(places, values, strict=True))]
    groups, omitted = grouped(factors)
    return Explanation(
        type=name,
        formula=f"{sign.join(number(value) for value in values)} = {number(total)}",
        groups=groups,
        term_count=len(values),
        omitted=omitted,
        bias=None,
        pre_activation=total,
        activation="linear",
        total=total,
        magnitude=abs(total),
        combine="product" if name == "Multiply" else "quotient",
    )


def unchanged(layer: LayerDescription, inputs: Arrays, index: tuple[int, ...]) -> Explanation:
    """Identity, InputLayer, ActivityRegularization: the number itself."""
    made = weighted_sum(layer.type, [single(0, index, float(inputs[0][index]))])
    return replace(made, formula=f"unchanged = {number(made.total)}")


def noise(layer: LayerDescription, inputs: Arrays, index: tuple[int, ...]) -> Explanation:
    """GaussianNoise, GaussianDropout, AlphaDropout and random pictures: unchanged in inference, unknowable in training."""
    if layer.training:
        raise CannotExplain(f"In training, {layer.type} draws random numbers that were not recorded.")
    return replace(unchanged(layer, inputs, index), note=f"Inference: {layer.type} changes nothing.")


def dropout(layer: LayerDescription, inputs: Arrays, index: tuple[int, ...], recorded: float | None) -> Explanation:
    """Dropout and SpatialDropout: unchanged in inference; in training the recorded number says whether this one was kept."""
    rate = layer.number("rate", 0.5)
    if not layer.training or rate == 0:
        return replace(unchanged(layer, inputs, index), note=f"Inference: {layer.type} changes nothing.")
    value = float(inputs[0][index])
    if recorded is None:
        raise CannotExplain(f"In training, {layer.type} drops numbers at random, and the output, which would tell, was not kept.")
    if value == 0:
        return replace(unchanged(layer, inputs, index), note="Kept or dropped: the input is zero, so that nobody can tell.")
    factor = 0.0 if recorded == 0 else 1.0 / (1.0 - rate)
    made = weighted_sum(layer.type, [single(0, index, value, factor, name="mask / (1 − rate)")])
    word = "dropped" if recorded == 0 else f"kept, × 1/(1 − {number(rate)})"
    note = "The mask was read off the recorded output."
    return replace(made, formula=f"{number(value)} {word} = {number(made.total)}", note=note)


def rescaling(layer: LayerDescription, inputs: Arrays, index: tuple[int, ...]) -> Explanation:
    """Rescaling: x·scale + offset; scale and offset may be a number per channel (last axis)."""

    def setting(key: str, default: float) -> float:
        value = layer.config.get(key)
        if isinstance(value, (list, tuple)):
            return float(value[index[-1] if len(value) > 1 else 0])
        return layer.number(key, default)

    scale, offset, value = setting("scale", 1.0), setting("offset", 0.0), float(inputs[0][index])
    made = weighted_sum(layer.type, [single(0, index, value, scale, name="scale")], offset)
    return replace(made, formula=f"{number(value)} × {number(scale)} + {number(offset)} = {number(made.total)}")


def masking(layer: LayerDescription, inputs: Arrays, index: tuple[int, ...]) -> Explanation:
    """Masking: zero where the whole last axis equals the mask value, else unchanged."""
    masked = bool((inputs[0][index[:-1]] == layer.number("mask_value", 0.0)).all())
    made = weighted_sum(layer.type, [single(0, index, float(inputs[0][index]), 0.0 if masked else 1.0)])
    return replace(made, note="Masked: every feature here equals the mask value." if masked else "Not masked.")
