"""How products, a bias and an activation make one number: the part that convolutions and dense layers share."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tb_layerflow.analysis.activation_functions import Activation, activation_named
from tb_layerflow.analysis.explanation import (
    Array,
    CannotExplain,
    Explanation,
    Products,
    grouped,
    magnitude_of,
    number,
    total_of,
)
from tb_layerflow.analysis.layer_description import LayerDescription, numbers

LINEAR = activation_named(None)


def weighted_sum(title: str, parts: Sequence[Products], bias: float | None = None, activation: Activation = LINEAR,
                 vector: Array | None = None, position: int = 0) -> Explanation:  # fmt: skip
    """The sum of all products, plus bias, through the activation.

    An activation over a vector (softmax) needs `vector`, all numbers before the activation, and this one's `position` in it.
    """
    summed = total_of(parts)
    before = summed + (bias or 0.0)
    if activation.over_vector and vector is not None:
        total = float(activation.apply(vector)[position])
    else:
        total = float(activation.apply(np.array([before]))[0])
    count = sum(len(part.product) for part in parts)
    text = f"Σ of {count} products" if count != 1 else "1 product"
    written = number(summed)
    if bias is not None:
        text, written = f"{text} + bias", f"{written} + {number(bias)}"
    if not activation.linear:
        text, written = f"{activation.name}({text})", f"{activation.name}({written})"
    groups, omitted = grouped(parts)
    return Explanation(
        type=title,
        formula=f"{text} = {written} = {number(total)}",
        groups=groups,
        term_count=count,
        omitted=omitted,
        bias=bias,
        pre_activation=before,
        activation=activation.name,
        total=total,
        magnitude=magnitude_of(parts) + abs(bias or 0.0),
        note=f"{activation.name} is over all {len(vector)} outputs at this place." if vector is not None else "",
    )


def filtered_sum(layer: LayerDescription, products: Callable[[int], list[Products]], filter_: int, filters: int,
                 filters_last: bool = True) -> Explanation:  # fmt: skip
    """One filter's (unit's) weighted sum with the layer's own bias and activation; `products` gives any filter's products."""
    activation = activation_named(layer.config.get("activation"), layer.family)
    bias_weight = layer.weight("bias")
    biases = None if bias_weight is None else numbers(bias_weight)
    vector = None
    if activation.over_vector:
        if not filters_last:
            raise CannotExplain(f"{activation.name} runs along the last axis, which is not that of the channels here.")
        vector = np.array([total_of(products(place)) for place in range(filters)])
        vector = vector if biases is None else vector + biases
    bias = None if biases is None else float(biases[filter_])
    return weighted_sum(layer.type, products(filter_), bias, activation, vector, filter_)
