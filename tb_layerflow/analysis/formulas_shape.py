"""Where a number of a layer that only moves numbers comes from: padding, cropping, upsampling, reshaping, joining."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tb_layerflow.analysis.explanation import CannotExplain, Explanation, Products, columns, number, single
from tb_layerflow.analysis.geometry import Shape, layout_of, per_axis
from tb_layerflow.analysis.layer_description import LayerDescription, numbers
from tb_layerflow.analysis.weighted_sum import weighted_sum

Arrays = Sequence[NDArray[np.generic]]


def edges_of(layer: LayerDescription, key: str) -> list[tuple[int, int]]:
    """A padding or a cropping as (before, after) per spatial axis."""
    count = len(layout_of(layer.type, layer.config).spatial)
    value = layer.config.get(key, 1)
    if not isinstance(value, (list, tuple)):
        return [(int(str(value)), int(str(value)))] * count
    if count == 1 and not isinstance(value[0], (list, tuple)):
        return [(int(value[0]), int(value[-1]))]
    return [(int(edge[0]), int(edge[1])) if isinstance(edge, (list, tuple)) else (int(edge), int(edge)) for edge in value]


def shift_of(layer: LayerDescription) -> list[int]:
    """How much is to be added to an output position to get the input's, per spatial axis."""
    if layer.type.startswith("Cropping"):
        return [first for first, _ in edges_of(layer, "cropping")]
    return [-first for first, _ in edges_of(layer, "padding")]


def moved(layer: LayerDescription, inputs: Arrays, index: tuple[int, ...]) -> Explanation:
    """One number of one input, unchanged; or the zero of a padding."""
    shapes = [x.shape for x in inputs]
    port, place = source_place(layer, shapes, index)
    if place is None:
        made = weighted_sum(layer.type, [])
        return replace(made, formula="a zero of the padding = 0", note="This place lies in the padding: it depends on no input.")
    made = weighted_sum(layer.type, [single(port, place, float(inputs[port][place]))])
    return replace(made, formula=f"input {port} at {list(place)} = {number(made.total)}")


def source_place(layer: LayerDescription, shapes: Sequence[Shape], index: tuple[int, ...]) -> tuple[int, tuple[int, ...] | None]:
    """Input port and place that one output is a copy of; the place is None in a padding."""
    kind = layer.type
    if kind == "Concatenate":
        return _joined(layer, shapes, index)
    shape = shapes[0]
    if kind in ("Flatten", "Reshape"):
        order = flat_order(layer, len(shape))
        ordered = tuple(shape[axis] for axis in order)
        flat = flat_place(index[1:], output_tail(layer, shape))
        place = np.unravel_index(flat, ordered) if ordered else ()
        back = dict(zip(order, (int(position) for position in place), strict=True))
        return 0, (index[0], *(back[axis] for axis in range(1, len(shape))))
    if kind == "Permute":
        dims = listed(layer, "dims")
        back = dict(zip(dims, index[1:], strict=True))
        return 0, (index[0], *(back[axis] for axis in range(1, len(shape))))
    if kind == "RepeatVector":
        return 0, (index[0], *index[2:])
    layout = layout_of(kind, layer.config)
    place_ = list(index)
    if kind.startswith("UpSampling"):
        factors = per_axis(layer.config, "size", len(layout.spatial), 2)
        for axis, factor in zip(layout.spatial, factors, strict=True):
            place_[axis] //= factor
    else:
        for axis, shift in zip(layout.spatial, shift_of(layer), strict=True):
            place_[axis] += shift
            if not 0 <= place_[axis] < shape[axis]:
                return 0, None
    return 0, tuple(place_)


def listed(layer: LayerDescription, key: str) -> list[int]:
    """A setting that is several integers."""
    value = layer.config.get(key)
    if not isinstance(value, (list, tuple)):
        raise CannotExplain(f"The setting {key} of this {layer.type} was not recorded.")
    return [int(part) for part in value]


def _joined(layer: LayerDescription, shapes: Sequence[Shape], index: tuple[int, ...]) -> tuple[int, tuple[int, ...]]:
    (axis,) = layer.axes(len(index))
    position = index[axis]
    for port, shape in enumerate(shapes):
        if position < shape[axis]:
            return port, (*index[:axis], position, *index[axis + 1 :])
        position -= shape[axis]
    raise CannotExplain(f"Position {index[axis]} lies beyond the inputs of this Concatenate that were recorded.")


def flat_order(layer: LayerDescription, rank: int) -> tuple[int, ...]:
    """The input's axes, batch aside, in the order in which they are flattened: Flatten moves channels from first to last."""
    if layer.type == "Flatten" and layer.config.get("data_format") == "channels_first" and rank > 1:
        return (*range(2, rank), 1)
    return tuple(range(1, rank))


def output_tail(layer: LayerDescription, shape: Shape) -> Shape:
    """Shape of a Flatten's or Reshape's output without its batch axis."""
    count = math.prod(shape[1:])
    if layer.type == "Flatten":
        return (count,)
    target = listed(layer, "target_shape")
    known = math.prod(size for size in target if size != -1)
    return tuple(count // known if size == -1 else size for size in target)


def flat_place(place: Sequence[int], shape: Shape) -> int:
    """Row-major number of a place."""
    flat = 0
    for position, size in zip(place, shape, strict=True):
        flat = flat * size + position
    return flat


def upsampling(layer: LayerDescription, inputs: Arrays, index: tuple[int, ...]) -> Explanation:
    """UpSampling1D, 2D and 3D: the nearest number, or the bilinear mean of up to four."""
    method = str(layer.config.get("interpolation", "nearest"))
    if method == "nearest":
        return moved(layer, inputs, index)
    if method != "bilinear":
        raise CannotExplain(f"Upsampling by {method} interpolation is not one of the formulas that the microscope knows.")
    x, layout = inputs[0], layout_of(layer.type, layer.config)
    factors = per_axis(layer.config, "size", 2, 2)
    (rows, down), (lines, across) = (
        bilinear_pair(index[axis], factor, x.shape[axis]) for axis, factor in zip(layout.spatial, factors, strict=True)
    )
    weight = np.outer(down, across)
    grid = weight.shape
    places = [np.array(rows)[:, None], np.array(lines)[None, :]]
    channel = index[layout.channel]
    place = columns(grid, *layout.place(np.array(index[0]), places, np.array(channel)))
    value = numbers(x[tuple(place.T)])
    factor = weight.ravel()
    made = Products(0, place, value, value * factor, np.full(len(value), channel), "bilinear", None, factor)
    return weighted_sum(layer.type, [made])


def bilinear_pair(position: int, factor: int, size: int) -> tuple[list[int], list[float]]:
    """The input positions that one output position lies between, with their weights (pixel centres at half integers)."""
    centre = (position + 0.5) / factor - 0.5
    lower = math.floor(centre)
    share = centre - lower
    first, second = max(lower, 0), min(math.ceil(centre), size - 1)
    return ([first], [1.0]) if first == second or share == 0 else ([first, second], [1.0 - share, share])
