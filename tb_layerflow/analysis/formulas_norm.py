"""How a number of a normalisation comes about: value × scale − mean × scale + offset, with the statistics that it used."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tb_layerflow.analysis.explanation import Array, CannotExplain, Explanation, number, single
from tb_layerflow.analysis.layer_description import LayerDescription, numbers
from tb_layerflow.analysis.weighted_sum import weighted_sum

Arrays = Sequence[NDArray[np.generic]]
EPSILON = 1e-7
"""Keras's default, where a layer names none."""


def affine(layer: LayerDescription, x: NDArray[np.generic], index: tuple[int, ...], mean: float, variance: float,
           gamma: float | None, beta: float | None, epsilon: float, note: str = "") -> Explanation:  # fmt: skip
    """γ·(x − μ)/√(σ² + ε) + β."""
    value, inverse = float(x[index]), 1.0 / math.sqrt(variance + epsilon)
    scale = inverse if gamma is None else gamma * inverse
    parts = [single(0, index, value, scale, name="γ/√(σ² + ε)"), single(-2, (), mean, -scale, name="−γ/√(σ² + ε)")]
    made = weighted_sum(layer.type, parts, beta)
    text = f"(x − μ)/√(σ² + ε) = ({number(value)} − {number(mean)})/√({number(variance)} + {number(epsilon)})"
    if gamma is not None:
        text = text.replace("(x", "γ·(x").replace("= (", f"= {number(gamma)}·(")
    if beta is not None:
        text = text.replace(" = ", " + β = ") + f" + {number(beta)}"
    quantities = [("mean", mean), ("variance", variance), ("epsilon", epsilon)]
    quantities += [(name, number_) for name, number_ in (("gamma", gamma), ("beta", beta)) if number_ is not None]
    return replace(made, formula=f"{text} = {number(made.total)}", quantities=tuple(quantities), note=note)


def over(layer: LayerDescription, x: NDArray[np.generic], index: tuple[int, ...], values: Array, gamma: float | None,
         beta: float | None, epsilon: float) -> Explanation:  # fmt: skip
    """Normalised by the mean and variance of these values."""
    note = f"Over {values.size} numbers."
    return affine(layer, x, index, float(values.mean()), float(values.var()), gamma, beta, epsilon, note)


def at(weight: NDArray[np.generic] | None, place: int | tuple[int, ...]) -> float | None:
    """One number of a weight that the layer may not have."""
    return None if weight is None else float(weight[place])


def batch_normalization(layer: LayerDescription, inputs: Arrays, index: tuple[int, ...]) -> Explanation:
    """BatchNormalization by the moving averages, or in training by the batch, where all of it was recorded."""
    x = inputs[0]
    (axis,) = layer.axes(x.ndim)
    channel, epsilon = index[axis], layer.number("epsilon", 1e-3)
    gamma, beta = at(layer.weight("gamma"), channel), at(layer.weight("beta"), channel)
    if not (layer.training and layer.trainable):
        mean, variance = float(layer.needed("moving_mean")[channel]), float(layer.needed("moving_variance")[channel])
        return affine(layer, x, index, mean, variance, gamma, beta, epsilon, "Inference: by the moving averages.")
    if layer.config.get("renorm"):
        raise CannotExplain("Batch renormalisation in training is not one of the formulas that the microscope knows.")
    if layer.batch_size != x.shape[0]:
        batch = "whole batch" if layer.batch_size is None else f"whole batch of {layer.batch_size} samples"
        raise CannotExplain(
            f"In training, this number depends on the mean and variance of the {batch}, of which {x.shape[0]} were kept; "
            'record with values="all" to see them.'
        )
    channel_values = numbers(np.take(x, channel, axis=axis))
    mean, variance = float(channel_values.mean()), float(channel_values.var())
    note = f"Training: by the {channel_values.size} numbers of this channel in the batch."
    return affine(layer, x, index, mean, variance, gamma, beta, epsilon, note)


def layer_normalization(layer: LayerDescription, inputs: Arrays, index: tuple[int, ...]) -> Explanation:
    """LayerNormalization over one or several axes of one sample."""
    x = inputs[0]
    axes = layer.axes(x.ndim)
    values = numbers(x[own_slice(x.ndim, axes, index)])
    place = tuple(index[axis] for axis in axes)
    gamma, beta, epsilon = at(layer.weight("gamma"), place), at(layer.weight("beta"), place), layer.number("epsilon", 1e-3)
    if layer.config.get("rms_scaling"):
        variance = float(values.var())
        return scaled(layer, x, index, 1.0 / math.sqrt(variance + epsilon), gamma, "γ·x/√(σ² + ε)", {"variance": variance})
    return over(layer, x, index, values, gamma, beta, epsilon)


def group_normalization(layer: LayerDescription, inputs: Arrays, index: tuple[int, ...]) -> Explanation:
    """GroupNormalization: over all positions of the channels of one group."""
    x = inputs[0]
    (axis,) = layer.axes(x.ndim)
    values = numbers(x[index[0]].take(group_channels(layer, x.shape[axis], index[axis]), axis=axis - 1))
    gamma, beta = at(layer.weight("gamma"), index[axis]), at(layer.weight("beta"), index[axis])
    epsilon = layer.number("epsilon", 1e-3)
    return over(layer, x, index, values, gamma, beta, epsilon)


def group_channels(layer: LayerDescription, channels: int, channel: int) -> NDArray[np.int64]:
    """The channels that are normalised together with this one."""
    groups = int(layer.number("groups", 32))
    width = channels // (channels if groups == -1 else groups)
    return np.arange(channel // width * width, (channel // width + 1) * width)


def rms_normalization(layer: LayerDescription, inputs: Arrays, index: tuple[int, ...]) -> Explanation:
    """RMSNormalization: divided by the root of the mean square along its axes, times a learned scale."""
    x = inputs[0]
    axes = layer.axes(x.ndim)
    square = float((numbers(x[own_slice(x.ndim, axes, index)]) ** 2).mean())
    scale = layer.weight("scale")
    place = tuple(index[axis] for axis in axes)[-scale.ndim :] if scale is not None else ()
    inverse = 1.0 / math.sqrt(square + layer.number("epsilon", 1e-6))
    return scaled(layer, x, index, inverse, at(scale, place), "scale·x/√(mean x² + ε)", {"mean square": square})


def unit_normalization(layer: LayerDescription, inputs: Arrays, index: tuple[int, ...]) -> Explanation:
    """UnitNormalization: divided by the length of the vector along its axes."""
    x = inputs[0]
    square = float((numbers(x[own_slice(x.ndim, layer.axes(x.ndim), index)]) ** 2).sum())
    inverse = 1.0 / math.sqrt(square) if square > 1e-24 else 1e12
    return scaled(layer, x, index, inverse, None, "x/√(Σ x²)", {"sum of squares": square})


def scaled(layer: LayerDescription, x: NDArray[np.generic], index: tuple[int, ...], inverse: float, factor: float | None,
           text: str, quantities: dict[str, float]) -> Explanation:  # fmt: skip
    """The value times one number."""
    scale = inverse if factor is None else inverse * factor
    made = weighted_sum(layer.type, [single(0, index, float(x[index]), scale, name="scale")])
    formula = f"{text} = {number(float(x[index]))} × {number(scale)} = {number(made.total)}"
    return replace(made, formula=formula, quantities=tuple(quantities.items()))


def own_slice(rank: int, axes: tuple[int, ...], index: tuple[int, ...]) -> tuple[int | slice, ...]:
    """The index with these axes taken whole."""
    return tuple(slice(None) if axis in axes else index[axis] for axis in range(rank))


def fixed_normalization(layer: LayerDescription, inputs: Arrays, index: tuple[int, ...]) -> Explanation:
    """Normalization (the preprocessing layer): by the mean and variance that it was adapted to."""
    x = inputs[0]
    if layer.config.get("invert"):
        raise CannotExplain("An inverted Normalization is not one of the formulas that the microscope knows.")
    place = tuple(index[axis] for axis in layer.axes(x.ndim)) if layer.config.get("axis", -1) is not None else ()
    mean, variance = float(layer.needed("mean")[place]), float(layer.needed("variance")[place])
    return affine(layer, x, index, mean, max(variance, EPSILON**2), None, None, 0.0)
