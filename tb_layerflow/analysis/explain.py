"""The microscope's front door: from a layer, its inputs and the place of one output to the terms that made it.

Pure functions over arrays; knows Keras's layers by their names, and neither files nor the graph.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tb_layerflow.analysis import formulas_conv as conv
from tb_layerflow.analysis import formulas_dense as dense
from tb_layerflow.analysis import formulas_elementwise as elementwise
from tb_layerflow.analysis import formulas_norm as norm
from tb_layerflow.analysis import formulas_pool as pool
from tb_layerflow.analysis import formulas_shape as shapes
from tb_layerflow.analysis.explanation import CannotExplain, Explanation, PortWindow, Unexplained
from tb_layerflow.analysis.geometry import outside
from tb_layerflow.analysis.layer_description import LayerDescription, rounded
from tb_layerflow.analysis.regions import one
from tb_layerflow.analysis.window_rules import input_regions

Arrays = Sequence[NDArray[np.generic]]
Formula = Callable[[LayerDescription, Arrays, "tuple[int, ...]"], Explanation]

RANKED: dict[str, Formula] = {
    "Conv": conv.convolution,
    "ConvTranspose": conv.transposed,
    "DepthwiseConv": conv.depthwise,
    "SeparableConv": conv.separable,
    "MaxPooling": pool.pooling,
    "AveragePooling": pool.pooling,
    "GlobalMaxPooling": pool.global_pooling,
    "GlobalAveragePooling": pool.global_pooling,
    "ZeroPadding": shapes.moved,
    "Cropping": shapes.moved,
    "UpSampling": shapes.upsampling,
}
"""By type without its digit: `Conv2DTranspose` is `ConvTranspose`."""

FORMULAS: dict[str, Formula] = {
    "Dense": dense.dense,
    "Embedding": dense.embedding,
    "Dot": dense.dot,
    "BatchNormalization": norm.batch_normalization,
    "LayerNormalization": norm.layer_normalization,
    "GroupNormalization": norm.group_normalization,
    "RMSNormalization": norm.rms_normalization,
    "UnitNormalization": norm.unit_normalization,
    "Normalization": norm.fixed_normalization,
    "PReLU": elementwise.prelu,
    "Rescaling": elementwise.rescaling,
    "Masking": elementwise.masking,
    **dict.fromkeys(("Activation", "ReLU", "LeakyReLU", "ELU", "ThresholdedReLU", "Softmax"), elementwise.activation),
    **dict.fromkeys(("Add", "Subtract", "Multiply", "Average", "Maximum", "Minimum"), elementwise.merge),
    **dict.fromkeys(("Identity", "InputLayer", "Input", "ActivityRegularization"), elementwise.unchanged),
    **dict.fromkeys(("GaussianNoise", "GaussianDropout", "AlphaDropout"), elementwise.noise),
    **dict.fromkeys(("Concatenate", "Flatten", "Reshape", "Permute", "RepeatVector"), shapes.moved),
}

OPERATIONS: dict[str, Formula] = {
    **dict.fromkeys(("Add", "Subtract", "Multiply", "Divide", "TrueDivide", "Maximum", "Minimum"), elementwise.merge),
    **dict.fromkeys(elementwise.OPERATION_ACTIVATIONS, elementwise.activation),
    "Concatenate": shapes.moved,
    "Identity": elementwise.unchanged,
}

COMPUTES_IN_HALF = re.compile(r"Conv|Dense|Embedding|PReLU")
"""Layers whose weights are rounded to the compute dtype; normalisations work in float32 whatever the policy."""


def formula_of(layer: LayerDescription) -> Formula:
    """The formula for this type of layer; a sentence where there is none."""
    if layer.kind == "operation":
        if layer.type in OPERATIONS:
            return OPERATIONS[layer.type]
        raise CannotExplain(f"The operation {layer.type} is not one of the formulas that the microscope knows.")
    found = FORMULAS.get(layer.type) or RANKED.get(re.sub(r"[123]D", "", layer.type))
    if found is None:
        raise CannotExplain(f"{layer.type} is not one of the layers whose formula the microscope knows.")
    return found


def explain(layer: LayerDescription, inputs: Arrays, index: Sequence[int], *, recorded: float | None = None,
            output_shape: Sequence[int] | None = None) -> Explanation | Unexplained:  # fmt: skip
    """How one number of a layer's output came about.

    `inputs` are the call's input arrays, batch axis first, in the order of its ports (the kept samples are enough, but for batch
    statistics). `index` is the place in the output, batch axis first, negative positions counting from the end where
    `output_shape` is given. `recorded` is the number that was recorded there. All arithmetic is in float64. A layer or a setting
    that has no formula here gives an `Unexplained` with the reason; only an index outside of the output raises (IndexError).
    """
    place = checked_index(index, output_shape)
    inputs = [np.asarray(x) for x in inputs]
    given = None if recorded is None else float(recorded)
    try:
        windows = window_of(layer, inputs, place)
    except (CannotExplain, IndexError, ValueError, ArithmeticError, KeyError, TypeError):
        windows = ()
    try:
        with np.errstate(all="ignore"):
            made = _explained(layer, inputs, place, given)
    except CannotExplain as reason:
        return Unexplained(layer.type, str(reason), given, windows)
    except (IndexError, ValueError, ArithmeticError, KeyError, TypeError, AssertionError) as problem:
        shapes_ = ", ".join(str(list(x.shape)) for x in inputs)
        sentence = f"The recorded settings, weights and inputs ({shapes_}) of this {layer.type} do not fit together ({problem})."
        return Unexplained(layer.type, sentence, given, windows)
    return replace(made, recorded=given, window=windows)


def _explained(layer: LayerDescription, inputs: Arrays, index: tuple[int, ...], recorded: float | None) -> Explanation:
    layer.check_class()
    if re.fullmatch(r"(Spatial)?Dropout([123]D)?", layer.type) and layer.kind == "layer":
        _refuse_missing(layer, inputs)
        return elementwise.dropout(layer, inputs, index, recorded)
    if layer.type.startswith("Random") and layer.kind == "layer" and not layer.training:
        _refuse_missing(layer, inputs)
        return elementwise.noise(layer, inputs, index)
    formula = formula_of(layer)
    _refuse_missing(layer, inputs)
    if layer.half and COMPUTES_IN_HALF.search(layer.type):
        weights = {name: rounded(array, layer.half) for name, array in layer.weights.items()}
        inputs = [rounded(x, layer.half) for x in inputs]
        made = formula(replace(layer, weights=weights), inputs, index)
        note = f"Inputs and weights were rounded to {layer.half} first, as the layer does; it also adds in less than float64."
        return replace(made, note=f"{made.note} {note}".strip())
    return formula(layer, inputs, index)


def _refuse_missing(layer: LayerDescription, inputs: Arrays) -> None:
    if not inputs:
        raise CannotExplain(f"The input of this {layer.type} was not recorded.")


def checked_index(index: Sequence[int], shape: Sequence[int] | None) -> tuple[int, ...]:
    """The index as a tuple of positions from the front; IndexError where it is outside of the output."""
    place = tuple(int(position) for position in index)
    if shape is None:
        return place
    if len(place) != len(shape) or not all(-size <= position < size for position, size in zip(place, shape, strict=True)):
        raise IndexError(outside(place, shape))
    return tuple(position % size for position, size in zip(place, shape, strict=True))


def window_of(layer: LayerDescription, inputs: Arrays, index: tuple[int, ...]) -> tuple[PortWindow, ...]:
    """The part of each input that one output depends on."""
    regions = input_regions(layer, [x.shape for x in inputs], one(index))
    return tuple(PortWindow(port, region.box, region.unclipped, region.reason) for port, region in enumerate(regions))
