"""How a number of a Dense, an Embedding or a Dot layer comes about: sums of products along one axis."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tb_layerflow.analysis.explanation import CannotExplain, Explanation, Products, columns, single
from tb_layerflow.analysis.layer_description import LayerDescription, check_plain_kernel, numbers
from tb_layerflow.analysis.weighted_sum import filtered_sum, weighted_sum

Arrays = Sequence[NDArray[np.generic]]


def dense(layer: LayerDescription, inputs: Arrays, index: tuple[int, ...]) -> Explanation:
    """Dense on any rank: the last axis of the input times one column of the kernel [features, units]."""
    check_plain_kernel(layer)
    x, kernel = inputs[0], layer.needed("kernel")
    features, units = kernel.shape
    value, places = numbers(x[index[:-1]]), np.arange(features)

    def products(unit: int) -> list[Products]:
        weight = numbers(kernel[:, unit])
        place, weight_place = columns((features,), *index[:-1], places), columns((features,), places, unit)
        return [Products(0, place, value, value * weight, places, "kernel", weight_place, weight)]

    return filtered_sum(layer, products, index[-1], units)


def embedding(layer: LayerDescription, inputs: Arrays, index: tuple[int, ...]) -> Explanation:
    """Embedding: the row of the table that the input names."""
    table, token = layer.needed("embeddings"), int(inputs[0][index[:-1]])
    if not 0 <= token < table.shape[0]:
        raise CannotExplain(f"The input {token} is not a row of this Embedding, which has {table.shape[0]}.")
    weight = float(table[token, index[-1]])
    made = single(0, index[:-1], token, weight, name="embeddings", weight_index=(token, index[-1]), product=weight)
    return weighted_sum(layer.type, [made])


def dot(layer: LayerDescription, inputs: Arrays, index: tuple[int, ...]) -> Explanation:
    """Dot: the sum over one axis of each of two inputs, sample by sample; with `normalize`, of vectors of length 1.

    A term's value is of input 0, its weight of input 1 (both after normalising, where the layer does).
    """
    first, second = dot_places(layer, [array.shape for array in inputs], index)
    left, right = (numbers(array[tuple(place.T)]) for array, place in zip(inputs, (first, second), strict=True))
    if layer.config.get("normalize"):
        left, right = (vector / np.sqrt(max(float((vector**2).sum()), 1e-12)) for vector in (left, right))
    made = Products(0, first, left, left * right, np.arange(len(left)), "input 1", second, right)
    return weighted_sum(layer.type, [made])


def dot_axes(layer: LayerDescription, ranks: Sequence[int]) -> tuple[int, int]:
    """The axis of each of the two inputs that is summed over."""
    axes = layer.config.get("axes", -1)
    left, right = axes if isinstance(axes, (list, tuple)) else (axes, axes)
    return int(left) % ranks[0], int(right) % ranks[1]


def dot_places(layer: LayerDescription, shapes: Sequence[tuple[int, ...]], index: tuple[int, ...]) -> tuple[
    NDArray[np.int64], NDArray[np.int64]
]:  # fmt: skip
    """The places of both inputs that one output sums over, each int64 [terms, rank].

    The output's axes are the batch, the first input's others, the second's others; a last axis of 1 where none is left.
    """
    ranks = [len(shape) for shape in shapes]
    axes = dot_axes(layer, ranks)
    length = shapes[0][axes[0]]
    rest = list(index[1:])
    made = []
    for axis, rank in zip(axes, ranks, strict=True):
        own, rest = rest[: rank - 2], rest[rank - 2 :]
        coordinates: list[NDArray[np.int64] | int] = [index[0], *own]
        coordinates.insert(axis, np.arange(length))
        made.append(columns((length,), *coordinates))
    return made[0], made[1]
