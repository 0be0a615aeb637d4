"""How a number of a convolution comes about: plain, grouped, depthwise, separable and transposed, in one to three dimensions.

Kernels are laid out as Keras lays them out: [window…, input channels / groups, filters]; depthwise [window…, channels,
multiplier]; transposed [window…, filters, input channels]. The sum is TensorFlow's: a correlation, the kernel not flipped.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tb_layerflow.analysis.explanation import Array, Explanation, Products, columns
from tb_layerflow.analysis.geometry import Indices, Layout, inside, layout_of, slides_of
from tb_layerflow.analysis.layer_description import LayerDescription, check_plain_kernel, numbers
from tb_layerflow.analysis.weighted_sum import filtered_sum, weighted_sum

Arrays = Sequence[NDArray[np.generic]]
Tail = Callable[[Indices], "tuple[Indices | int, Indices | int]"]
STEPS = 16
"""A separable convolution shows the depthwise step of at most so many channels, those that contribute most."""


@dataclass(frozen=True)
class Patch:
    """The part of the input under the window: one entry per spatial axis of input positions and kernel positions that meet."""

    layout: Layout
    batch: int
    inputs: tuple[Indices, ...]
    kernel: tuple[Indices, ...]

    def grid(self, channels: Indices) -> tuple[tuple[int, ...], list[Indices], list[Indices], Indices]:
        """Shape of the grid window × channels, and its input, kernel and channel coordinates, each ready to broadcast."""
        shape = (*(len(axis) for axis in self.inputs), len(channels))

        def along(axis: int, positions: Indices) -> Indices:
            return positions.reshape([-1 if place == axis else 1 for place in range(len(shape))])

        inputs = [along(axis, positions) for axis, positions in enumerate(self.inputs)]
        kernel = [along(axis, positions) for axis, positions in enumerate(self.kernel)]
        return shape, inputs, kernel, along(len(shape) - 1, channels)


def patch_of(layer: LayerDescription, shape: tuple[int, ...], index: tuple[int, ...]) -> Patch:
    """What one output position meets inside the map."""
    layout = layout_of(layer.type, layer.config)
    inputs, kernel = [], []
    for axis, slide in zip(layout.spatial, slides_of(layer.type, layer.config, shape), strict=True):
        met, positions = slide.pairs(np.array([index[axis]]))
        kept = inside(met, slide.size)
        inputs.append(met[kept])
        kernel.append(positions[kept])
    return Patch(layout, index[0], tuple(inputs), tuple(kernel))


def products_of(patch: Patch, x: NDArray[np.generic], kernel: NDArray[np.generic], channels: Indices, tail: Tail,
                name: str = "kernel") -> Products:  # fmt: skip
    """Input × kernel over the patch and these channels; `tail` makes the kernel's two last coordinates of the channel's."""
    shape, inputs, positions, channel = patch.grid(channels)
    batch = np.array(patch.batch)
    place = columns(shape, *patch.layout.place(batch, inputs, channel))
    weight_place = columns(shape, *positions, *tail(channel))
    value, weight = numbers(x[tuple(place.T)]), numbers(kernel[tuple(weight_place.T)])
    return Products(0, place, value, value * weight, np.broadcast_to(channel, shape).ravel(), name, weight_place, weight)


def convolution(layer: LayerDescription, inputs: Arrays, index: tuple[int, ...]) -> Explanation:
    """Conv1D, Conv2D and Conv3D, with groups."""
    check_plain_kernel(layer)
    x, kernel = inputs[0], layer.needed("kernel")
    patch = patch_of(layer, x.shape, index)
    per_group, filters = kernel.shape[-2:]
    groups = x.shape[patch.layout.channel] // per_group

    def products(filter_: int) -> list[Products]:
        first = filter_ // (filters // groups) * per_group
        return [products_of(patch, x, kernel, np.arange(first, first + per_group), lambda channel: (channel - first, filter_))]

    return _finished(layer, products, index, patch.layout, filters)


def transposed(layer: LayerDescription, inputs: Arrays, index: tuple[int, ...]) -> Explanation:
    """Conv1DTranspose, Conv2DTranspose and Conv3DTranspose."""
    check_plain_kernel(layer)
    x, kernel = inputs[0], layer.needed("kernel")
    patch = patch_of(layer, x.shape, index)
    channels = np.arange(x.shape[patch.layout.channel])

    def products(filter_: int) -> list[Products]:
        return [products_of(patch, x, kernel, channels, lambda channel: (filter_, channel))]

    return _finished(layer, products, index, patch.layout, kernel.shape[-2])


def depthwise(layer: LayerDescription, inputs: Arrays, index: tuple[int, ...]) -> Explanation:
    """DepthwiseConv1D and DepthwiseConv2D: output channel c·multiplier + m sees input channel c only."""
    check_plain_kernel(layer)
    x, kernel = inputs[0], layer.needed("kernel", "depthwise_kernel")
    patch = patch_of(layer, x.shape, index)
    channels, multiplier = kernel.shape[-2:]

    def products(filter_: int) -> list[Products]:
        seen, m = divmod(filter_, multiplier)
        return [products_of(patch, x, kernel, np.array([seen]), lambda channel: (channel, m))]

    return _finished(layer, products, index, patch.layout, channels * multiplier)


def separable(layer: LayerDescription, inputs: Arrays, index: tuple[int, ...]) -> Explanation:
    """SeparableConv1D and SeparableConv2D: a depthwise convolution, then a pointwise one, with nothing between them.

    A term is an input number × its depthwise weight × the pointwise weight of that depthwise result.
    """
    check_plain_kernel(layer)
    x, kernel = inputs[0], layer.needed("depthwise_kernel")
    pointwise = numbers(layer.needed("pointwise_kernel"))
    mixing = pointwise.reshape(-1, pointwise.shape[-1])
    patch = patch_of(layer, x.shape, index)
    parts = [
        products_of(patch, x, kernel, np.array([seen]), lambda channel, m=m: (channel, m), "depthwise_kernel")  # type: ignore[misc]
        for seen in range(kernel.shape[-2])
        for m in range(kernel.shape[-1])
    ]

    def products(filter_: int) -> list[Products]:
        return [_through(part, float(mixing[place, filter_])) for place, part in enumerate(parts)]

    whole = _finished(layer, products, index, patch.layout, mixing.shape[1])
    return replace(whole, steps=_separable_steps(whole, parts, mixing, index, patch.layout))


def _through(part: Products, factor: float) -> Products:
    """A depthwise result's products, each times the pointwise weight that the result is multiplied with."""
    assert part.weight is not None
    weight = part.weight * factor
    return replace(part, product=part.value * weight, weight=weight, weight_name="depthwise_kernel × pointwise_kernel")


def _separable_steps(whole: Explanation, parts: list[Products], mixing: Array, index: tuple[int, ...],
                     layout: Layout) -> tuple[Explanation, ...]:  # fmt: skip
    """The depthwise sums that contribute most, then the pointwise sum over all of them, before bias and activation."""
    results = np.array([part.product.sum() for part in parts])
    filter_, places, grid = index[layout.channel], np.arange(len(results)), (len(results),)
    between = columns(grid, *layout.place(np.array(index[0]), [np.array(index[axis]) for axis in layout.spatial], places))
    weight, weight_place = mixing[:, filter_], columns(grid, *[0] * len(layout.spatial), places, filter_)
    pointwise = Products(-1, between, results, results * weight, places, "pointwise_kernel", weight_place, weight)
    largest = np.argsort(-np.abs(np.nan_to_num(pointwise.product, nan=np.inf)), kind="stable")[:STEPS]
    shown = tuple(weighted_sum(f"depthwise, result {place}", [parts[place]]) for place in largest.tolist())
    return (*shown, weighted_sum("pointwise", [pointwise], whole.bias))


def _finished(layer: LayerDescription, products: Callable[[int], list[Products]], index: tuple[int, ...], layout: Layout,
              filters: int) -> Explanation:  # fmt: skip
    filters_last = layout.channel > layout.spatial[0]
    return filtered_sum(layer, products, index[layout.channel], filters, filters_last)
