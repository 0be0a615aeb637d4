"""How a number of a pooling layer comes about: the largest or the mean of a window of one channel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tb_layerflow.analysis.explanation import Array, Explanation, Products, columns, grouped, number
from tb_layerflow.analysis.formulas_conv import patch_of
from tb_layerflow.analysis.geometry import Indices, layout_of
from tb_layerflow.analysis.layer_description import LayerDescription, numbers
from tb_layerflow.analysis.weighted_sum import weighted_sum

Arrays = Sequence[NDArray[np.generic]]


def pooling(layer: LayerDescription, inputs: Arrays, index: tuple[int, ...]) -> Explanation:
    """MaxPooling and AveragePooling; an average is over the positions inside the map only, as TensorFlow takes it."""
    x = inputs[0]
    patch = patch_of(layer, x.shape, index)
    channel = np.array([index[patch.layout.channel]])
    shape, positions, _, along = patch.grid(channel)
    return reduced(layer, x, columns(shape, *patch.layout.place(np.array(patch.batch), positions, along)), int(channel[0]))


def global_pooling(layer: LayerDescription, inputs: Arrays, index: tuple[int, ...]) -> Explanation:
    """GlobalMaxPooling and GlobalAveragePooling: the whole map of one channel."""
    x = inputs[0]
    layout = layout_of(layer.type, layer.config)
    channel = index[layout.channel] if len(index) == x.ndim else index[1]
    shape = tuple(x.shape[axis] for axis in layout.spatial)
    positions = list(np.ix_(*(np.arange(size) for size in shape)))
    place = columns(shape, *layout.place(np.array(index[0]), positions, np.array(channel)))
    return reduced(layer, x, place, channel)


def reduced(layer: LayerDescription, x: NDArray[np.generic], place: Indices, channel: int) -> Explanation:
    """The largest or the mean of the numbers at these places."""
    value = numbers(x[tuple(place.T)])
    channels = np.full(len(value), channel)
    if "Max" in layer.type:
        return extreme(layer.type, [Products(0, place, value, chosen(value, "maximum"), channels)], "maximum")
    weight = np.full(len(value), 1.0 / len(value))
    made = weighted_sum(layer.type, [Products(0, place, value, value * weight, channels, "", None, weight)])
    text = f"Σ of {len(value)} numbers / {len(value)} = {number(float(value.sum()))} / {len(value)} = {number(made.total)}"
    return replace(made, formula=text)


def chosen(value: Array, which: str) -> Array:
    """The first largest (smallest) number at its place, 0 at the others: what each contributed."""
    made = np.zeros_like(value)
    if len(value):
        best = int(value.argmax() if which == "maximum" else value.argmin())
        made[best] = value[best]
    return made


def extreme(title: str, parts: Sequence[Products], which: str) -> Explanation:
    """The largest (smallest) of all values; only the winner has a product."""
    value = np.concatenate([part.value for part in parts])
    total = float(value.max() if which == "maximum" else value.min())
    groups, omitted = grouped(parts)
    return Explanation(
        type=title,
        formula=f"{which} of {len(value)} numbers = {number(total)}",
        groups=groups,
        term_count=len(value),
        omitted=omitted,
        bias=None,
        pre_activation=total,
        activation="linear",
        total=total,
        magnitude=abs(total),
        combine=which,
    )
