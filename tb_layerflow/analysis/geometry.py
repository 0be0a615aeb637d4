"""Which input positions meet which kernel positions along an axis of a sliding window. Knows integers only.

Paddings and output sizes are TensorFlow's, with its uneven split (the odd element goes after), as Keras uses them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T")
Indices = NDArray[np.int64]
Shape = tuple[int, ...]

MOST_POSITIONS = 1 << 22
"""How many positions of one axis, or pairs of an output's and a kernel's, are ever listed: sizes come from logs."""


class TooLarge(ValueError):
    """A size that no map has."""


def positions(count: int) -> Indices:
    """0 to count - 1. TooLarge where those are more than any map has."""
    _bound(count)
    return np.arange(count)


def _bound(size: int) -> None:
    if size > MOST_POSITIONS:
        raise TooLarge(f"A size of {size:,} is larger than the {MOST_POSITIONS:,} positions of an axis that are looked at.")


def _met(outputs: Indices, slide: Slide | TransposedSlide) -> Indices:
    """The kernel's positions, where pairing them with the outputs is possible."""
    for size in (slide.window * max(len(outputs), 1), slide.stride, slide.dilation, abs(slide.before)):
        _bound(size)
    return positions(slide.window)


@dataclass(frozen=True)
class Slide:
    """One axis of a convolution or a pooling: output o meets input o·stride − before + k·dilation for each k of the window."""

    size: int
    window: int
    stride: int = 1
    dilation: int = 1
    before: int = 0

    def pairs(self, outputs: Indices) -> tuple[Indices, Indices]:
        """Input positions and kernel positions that the outputs meet, two arrays [pairs]; inputs may lie in the padding."""
        kernel = _met(outputs, self)
        inputs = outputs[:, None] * self.stride - self.before + kernel * self.dilation
        return inputs.ravel(), np.broadcast_to(kernel, inputs.shape).ravel()


@dataclass(frozen=True)
class TransposedSlide:
    """One axis of a transposed convolution: input i and kernel position k add to output i·stride − before + k·dilation."""

    size: int
    window: int
    stride: int = 1
    dilation: int = 1
    before: int = 0

    def pairs(self, outputs: Indices) -> tuple[Indices, Indices]:
        """Input positions and kernel positions that the outputs meet, two arrays [pairs]; inputs may lie outside of the map."""
        kernel = _met(outputs, self)
        scaled = outputs[:, None] + self.before - kernel * self.dilation
        meets = scaled % self.stride == 0
        return (scaled // self.stride)[meets], np.broadcast_to(kernel, scaled.shape)[meets]


def outside(index: Sequence[int], shape: Sequence[int]) -> str:
    """The sentence for an index that names no number of a map of this shape."""
    if len(index) != len(shape):
        needed = f"index must have {len(shape)} positions, one per axis of the output's shape {list(shape)}, batch axis first"
        return f"{needed}. Received {len(index)}: {list(index)}."
    return f"index must name one number of an output of shape {list(shape)}, batch axis first. Received: {list(index)}."


def inside(inputs: Indices, size: int) -> NDArray[np.bool_]:
    """Which positions lie in a map of `size` positions; -1 means an unknown size, where none is too large."""
    return (inputs >= 0) & ((inputs < size) | (size < 0))


def before(padding: str, size: int, window: int, stride: int, dilation: int) -> int:
    """How many positions of padding a sliding window has before the map."""
    reach = (window - 1) * dilation + 1
    if padding == "causal":
        return reach - 1
    if padding == "same":
        outputs = math.ceil(size / stride)
        return max((outputs - 1) * stride + reach - size, 0) // 2
    return 0


def transposed_size(padding: str, size: int, window: int, stride: int, dilation: int, extra: int | None) -> int:
    """Length of a transposed convolution's output; `extra` is Keras's `output_padding`, None its default."""
    reach = (window - 1) * dilation + 1
    if padding == "same":
        return size * stride if extra is None else (size - 1) * stride + reach % 2 + extra
    return (size - 1) * stride + reach + (max(reach, stride) - reach if extra is None else extra)


def transposed_before(padding: str, size: int, window: int, stride: int, dilation: int, extra: int | None) -> int:
    """How many positions of a transposed convolution's full result are cut off before the output begins."""
    if padding != "same":
        return 0
    length = transposed_size(padding, size, window, stride, dilation, extra)
    return max((size - 1) * stride + (window - 1) * dilation + 1 - length, 0) // 2


@dataclass(frozen=True)
class Layout:
    """Where the channels and the spatial axes of a map are; the batch axis is 0."""

    channel: int
    spatial: tuple[int, ...]

    def place(self, batch: T, spatial: Sequence[T], channel: T) -> tuple[T, ...]:
        """One thing per axis of the map, in the map's order."""
        return (batch, channel, *spatial) if self.channel < self.spatial[0] else (batch, *spatial, channel)


def dimensions(layer_type: str) -> int:
    """How many spatial axes a layer of this type slides over: the digit in its name."""
    found = re.search(r"([123])D", layer_type)
    return int(found.group(1)) if found else 0


def layout_of(layer_type: str, config: Mapping[str, object]) -> Layout:
    """The axes of the maps of a convolution, pooling, padding, cropping or upsampling."""
    count = dimensions(layer_type)
    if config.get("data_format") == "channels_first":
        return Layout(1, tuple(range(2, count + 2)))
    return Layout(count + 1, tuple(range(1, count + 1)))


def per_axis(config: Mapping[str, object], key: str, count: int, default: int) -> tuple[int, ...]:
    """A setting that Keras takes as one number or as one per spatial axis."""
    value = config.get(key)
    if value is None:
        return (default,) * count
    if isinstance(value, (list, tuple)):
        return tuple(int(number) for number in value)
    return (int(str(value)),) * count


def slides_of(layer_type: str, config: Mapping[str, object], shape: Shape) -> list[Slide | TransposedSlide]:
    """One slide per spatial axis of a convolution, transposed convolution or pooling whose input has this shape."""
    layout, count = layout_of(layer_type, config), dimensions(layer_type)
    pooling = "Pool" in layer_type
    windows = per_axis(config, "pool_size" if pooling else "kernel_size", count, 2 if pooling else 1)
    strides = per_axis(config, "strides", count, 1)
    if pooling and config.get("strides") is None:
        strides = windows
    dilations = per_axis(config, "dilation_rate", count, 1)
    padding = str(config.get("padding", "valid")).lower()
    extra = None if config.get("output_padding") is None else per_axis(config, "output_padding", count, 0)
    slides: list[Slide | TransposedSlide] = []
    for place, axis in enumerate(layout.spatial):
        sizes = shape[axis], windows[place], strides[place], dilations[place]
        if "Transpose" in layer_type:
            cut = transposed_before(padding, *sizes, None if extra is None else extra[place])
            slides.append(TransposedSlide(*sizes, before=cut))
        else:
            slides.append(Slide(*sizes, before=before(padding, *sizes)))
    return slides
