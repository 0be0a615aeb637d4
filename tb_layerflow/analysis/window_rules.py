"""Which part of a layer's inputs a part of its output depends on, for every kind of layer. Knows shapes, never values.

A shape has -1 where a size is not known.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import numpy as np

from tb_layerflow.analysis.activation_functions import OVER_VECTOR, activation_named
from tb_layerflow.analysis.explanation import CannotExplain
from tb_layerflow.analysis.formulas_dense import dot_axes
from tb_layerflow.analysis.formulas_elementwise import OPERATION_ACTIVATIONS
from tb_layerflow.analysis.formulas_norm import group_channels
from tb_layerflow.analysis.formulas_shape import bilinear_pair, flat_order, listed, output_tail, shift_of
from tb_layerflow.analysis.geometry import Indices, Shape, TooLarge, inside, layout_of, per_axis, positions, slides_of
from tb_layerflow.analysis.layer_description import LayerDescription
from tb_layerflow.analysis.regions import Region, everything, of_axes

FLAT_LIMIT = 1 << 20
"""A region of more numbers than this passes a reshape as the whole map."""


def input_regions(layer: LayerDescription, shapes: Sequence[Shape], region: Region) -> list[Region]:
    """The part of each input that a part of the output depends on; the whole input, marked, where the layer is not known.

    `shapes` are those of the layer's inputs, batch axis first; its settings are read from `layer.config`, no weight is needed.
    """
    try:
        layer.check_class()
        made = _regions(layer, list(shapes), _before_activation(layer, shapes, region))
        if len(made) != len(shapes):
            raise CannotExplain(f"This {layer.type} got {len(shapes)} inputs; which part of each it used is not known.")
    except (CannotExplain, IndexError, ValueError, KeyError, TypeError, ArithmeticError) as problem:
        reason = (
            str(problem)
            if isinstance(problem, (CannotExplain, TooLarge))
            else f"The settings of this {layer.type} were not recorded."
        )
        return [everything(shape, region.axes[:1], reason) for shape in shapes]
    return [Region(part.axes, part.reach, part.reason or region.reason) for part in made]


def _before_activation(layer: LayerDescription, shapes: Sequence[Shape], region: Region) -> Region:
    """A softmax inside of the layer makes an output depend on all of the last axis; an unknown activation on who knows what."""
    name = layer.config.get("activation")
    if not (isinstance(name, str) and name in OVER_VECTOR):
        activation_named(name, layer.family)
        return region
    if layer.type == "Activation":
        return region
    key = "units" if layer.type == "Dense" else "filters"
    outputs = layer.number(key, shapes[0][-1] * layer.number("depth_multiplier", 1))
    return region.with_axis(len(region.axes) - 1, positions(int(outputs)))


def _regions(layer: LayerDescription, shapes: list[Shape], region: Region) -> list[Region]:
    kind, shape = layer.type, shapes[0] if shapes else ()
    if re.search(r"Global.*Pooling", kind):
        return [_global_pool(layer, shape, region)]
    if re.search(r"Conv[123]D|Pooling[123]D", kind) and "LSTM" not in kind and "Adaptive" not in kind:
        return [_slide(layer, shape, region)]
    if kind in ("Dense", "Masking"):
        return [region.with_axis(len(shape) - 1, _whole(shape, len(shape) - 1))]
    if re.match(r"(ZeroPadding|Cropping|UpSampling)[123]D", kind):
        return [_resize(layer, shape, region)]
    if kind in ("Flatten", "Reshape"):
        return [_reshape(layer, shape, region)]
    if kind in MERGES:
        if len(shapes) == 1 and layer.kind == "layer":
            raise CannotExplain(f"Only one input of this {kind} was recorded.")
        return [_broadcast(shape, region, layer.kind == "layer") for shape in shapes]
    if kind == "Concatenate":
        return _concatenate(layer, shapes, region)
    if kind == "Dot":
        return _dot(layer, shapes, region)
    if kind == "Permute":
        dims = listed(layer, "dims")
        order = [0, *(dims.index(axis) + 1 for axis in range(1, len(shape)))]
        return [of_axes([region.axes[axis] for axis in order], [region.reach[axis] for axis in order])]
    if kind == "RepeatVector":
        return [of_axes([region.axes[0], *region.axes[2:]], [region.reach[0], *region.reach[2:]])]
    if kind == "Embedding":
        return [of_axes(region.axes[:-1], region.reach[:-1])]
    return [_along_axes(layer, shape, region)]


MERGES = ("Add", "Subtract", "Multiply", "Average", "Maximum", "Minimum", "Divide", "TrueDivide")
POINTWISE = re.compile(
    r"Activation|ReLU|LeakyReLU|ELU|ThresholdedReLU|PReLU|Identity|InputLayer|Input|ActivityRegularization|Rescaling|Normalization|"
    r"(Spatial|Gaussian|Alpha)?Dropout([123]D)?|GaussianNoise"
)
ALONG_AXES = ("Softmax", "LogSoftmax", "LayerNormalization", "RMSNormalization", "UnitNormalization")


def _along_axes(layer: LayerDescription, shape: Shape, region: Region) -> Region:
    """Layers whose output has the input's shape: pointwise, or over whole axes."""
    kind = layer.type
    over_vector = kind == "Activation" and layer.config.get("activation") in OVER_VECTOR
    if kind in ALONG_AXES or over_vector:
        for axis in layer.axes(len(shape)):
            region = region.with_axis(axis, _whole(shape, axis))
        return region
    if kind == "GroupNormalization":
        (channel,) = layer.axes(len(shape))
        members = np.unique(np.concatenate([group_channels(layer, shape[channel], int(c)) for c in region.axes[channel]]))
        for axis in range(1, len(shape)):
            region = region.with_axis(axis, members if axis == channel else _whole(shape, axis))
        return region
    if kind == "BatchNormalization":
        if not (layer.training and layer.trainable):
            return region
        samples = layer.batch_size if layer.batch_size is not None else shape[0]
        if samples < 0:
            raise CannotExplain("In training, it depends on the whole batch, whose size is not known.")
        (channel,) = layer.axes(len(shape))
        for axis in range(len(shape)):
            if axis != channel:
                region = region.with_axis(axis, positions(samples) if axis == 0 else _whole(shape, axis))
        return region
    if POINTWISE.fullmatch(kind) or (kind in OPERATION_ACTIVATIONS) or (kind.startswith("Random") and not layer.training):
        return region
    raise CannotExplain(f"{kind} is not one of the layers whose window is known.")


def _whole(shape: Shape, axis: int) -> Indices:
    if shape[axis] < 0:
        raise CannotExplain("The size of its input is not known.")
    return positions(shape[axis])


def _slide(layer: LayerDescription, shape: Shape, region: Region) -> Region:
    layout = layout_of(layer.type, layer.config)
    for axis, slide in zip(layout.spatial, slides_of(layer.type, layer.config, shape), strict=True):
        if slide.size < 0 and layer.config.get("padding") == "same":
            raise CannotExplain("The size of its input is not known, and its padding depends on it.")
        met = np.unique(slide.pairs(region.axes[axis])[0])
        region = region.with_axis(axis, met[inside(met, slide.size)], np.unique(slide.pairs(region.reach[axis])[0]))
    return region.with_axis(layout.channel, _channels(layer, shape, layout.channel, region.axes[layout.channel]))


def _channels(layer: LayerDescription, shape: Shape, axis: int, outputs: Indices) -> Indices:
    """The input channels that these output channels see."""
    if "Pooling" in layer.type:
        return outputs
    if layer.type.startswith("Depthwise"):
        return np.unique(outputs // int(layer.number("depth_multiplier", 1)))
    groups = int(layer.number("groups", 1))
    every = _whole(shape, axis)
    if groups == 1 or "Transpose" in layer.type:
        return every
    width = int(layer.number("filters", 0)) // groups
    return every[np.isin(every // (len(every) // groups), outputs // width)]


def _global_pool(layer: LayerDescription, shape: Shape, region: Region) -> Region:
    layout = layout_of(layer.type, layer.config)
    channel = region.axes[layout.channel if len(region.axes) == len(shape) else 1]
    return of_axes(layout.place(region.axes[0], [_whole(shape, axis) for axis in layout.spatial], channel))


def _resize(layer: LayerDescription, shape: Shape, region: Region) -> Region:
    """Padding, cropping and upsampling."""
    layout = layout_of(layer.type, layer.config)
    if layer.type.startswith("UpSampling"):
        method = layer.config.get("interpolation", "nearest")
        if method not in ("nearest", "bilinear"):
            raise CannotExplain(f"The window of upsampling by {method} interpolation is not known.")
        for axis, factor in zip(layout.spatial, per_axis(layer.config, "size", len(layout.spatial), 2), strict=True):
            if method == "nearest":
                region = region.with_axis(axis, np.unique(region.axes[axis] // factor), np.unique(region.reach[axis] // factor))
            else:
                size = len(_whole(shape, axis))
                pairs = [bilinear_pair(int(position), factor, size)[0] for position in region.axes[axis]]
                region = region.with_axis(axis, np.unique(np.concatenate(pairs)).astype(np.int64))
        return region
    for axis, shift in zip(layout.spatial, shift_of(layer), strict=True):
        moved = region.axes[axis] + shift
        region = region.with_axis(axis, moved[inside(moved, shape[axis])], region.reach[axis] + shift)
    return region


def _reshape(layer: LayerDescription, shape: Shape, region: Region) -> Region:
    """Through row-major order: exact for one number, for more the smallest region around them."""
    order = flat_order(layer, len(shape))
    for axis in order:
        _whole(shape, axis)
    tail = output_tail(layer, shape)
    if region.empty:
        return of_axes([region.axes[0], *(np.arange(0) for _ in order)])
    if math.prod(len(axis) for axis in region.axes[1:]) > FLAT_LIMIT:
        return of_axes([region.axes[0], *(positions(size) for size in shape[1:])])
    flat: Indices = np.zeros(1, np.int64)
    for chosen, size in zip(region.axes[1:], tail, strict=True):
        flat = (flat[:, None] * size + chosen).ravel()
    places = np.unravel_index(flat, tuple(shape[axis] for axis in order))
    found = {axis: np.unique(place) for axis, place in zip(order, places, strict=True)}
    return of_axes([region.axes[0], *(found[axis] for axis in range(1, len(shape)))])


def _broadcast(shape: Shape, region: Region, batch_first: bool) -> Region:
    missing = len(region.axes) - len(shape)
    keep = [0, *range(1 + missing, len(region.axes))] if batch_first and shape else list(range(missing, len(region.axes)))
    zero = np.zeros(1, np.int64)
    axes, reach = (
        [zero if size == 1 else source[axis] for size, axis in zip(shape, keep, strict=True)]
        for source in (region.axes, region.reach)
    )
    return of_axes(axes, reach)


def _concatenate(layer: LayerDescription, shapes: list[Shape], region: Region) -> list[Region]:
    (axis,) = layer.axes(len(region.axes))
    made, start = [], 0
    for shape in shapes:
        chosen = region.axes[axis] - start
        chosen = chosen[inside(chosen, len(_whole(shape, axis)))]
        part = region.with_axis(axis, chosen)
        made.append(part if len(chosen) else of_axes([np.arange(0)] * len(shape)))
        start += shape[axis]
    return made


def _dot(layer: LayerDescription, shapes: list[Shape], region: Region) -> list[Region]:
    ranks = [len(shape) for shape in shapes]
    rest, made = list(region.axes[1:]), []
    for axis, shape in zip(dot_axes(layer, ranks), shapes, strict=True):
        own, rest = rest[: len(shape) - 2], rest[len(shape) - 2 :]
        axes = [region.axes[0], *own]
        axes.insert(axis, _whole(shape, axis))
        made.append(of_axes(axes))
    return made
