"""Real Keras layers as the microscope's oracle: runs a layer, describes it, and holds the explanation against its output."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

import keras
import numpy as np

from tb_layerflow.analysis.explain import explain
from tb_layerflow.analysis.explanation import Explanation
from tb_layerflow.analysis.layer_description import LayerDescription
from tb_layerflow.capture.layer_table import config_of

TOLERANCE = 1e-5
"""DESIGN 12.8: of the sum of the terms' magnitudes."""


@dataclass(frozen=True)
class Ran:
    """A layer as it ran: its description, its inputs and its output, numpy arrays."""

    layer: LayerDescription
    inputs: list[np.ndarray]
    output: np.ndarray


def described(layer: keras.Layer, **settings: object) -> LayerDescription:
    """What capture will store of a layer: the wanted settings, through JSON, and the weights by name."""
    config = json.loads(config_of(layer))
    weights = {variable.name: np.asarray(variable.value) for variable in layer.weights}
    return LayerDescription(type(layer).__name__, config, weights, dtype_policy=layer.dtype_policy.name, **settings)


def ran(layer: keras.Layer, *inputs: np.ndarray, training: bool = False, seed: int = 0) -> Ran:
    """Builds the layer, gives it random weights none of which is near zero, and runs it."""
    given = list(inputs) if len(inputs) > 1 else inputs[0]
    layer(given)
    random = np.random.default_rng(seed)
    for variable in layer.weights:
        if variable.dtype.startswith("float"):
            signs = 1 if "variance" in variable.name else random.choice([-1, 1], variable.shape)
            variable.assign(random.uniform(0.2, 1.5, variable.shape) * signs)
    described_ = described(layer, training=training, batch_size=inputs[0].shape[0])
    accepts = {"training": training} if training or hasattr(layer, "momentum") else {}
    output = keras.ops.convert_to_numpy(layer(given, **accepts))
    return Ran(described_, [np.asarray(x) for x in inputs], np.asarray(output))


def noise(*shape: int, seed: int = 1) -> np.ndarray:
    """Random float32 numbers of about unit size."""
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def channels_first(case: Ran) -> Ran:
    """The same run with channels first: TensorFlow has no such convolutions on CPU, but the numbers are the same."""

    def turned(array: np.ndarray) -> np.ndarray:
        return np.moveaxis(array, -1, 1)

    layer = replace(case.layer, config={**case.layer.config, "data_format": "channels_first"})
    output = turned(case.output) if case.output.ndim == case.inputs[0].ndim else case.output
    return Ran(layer, [turned(x) for x in case.inputs], output)


def places(shape: Sequence[int], count: int = 5, seed: int = 0) -> list[tuple[int, ...]]:
    """The first and the last place of an array, and some at random."""
    random = np.random.default_rng(seed)
    some = [tuple(int(random.integers(size)) for size in shape) for _ in range(count)]
    return [tuple(0 for _ in shape), tuple(size - 1 for size in shape), *some]


def look(case: Ran, index: Sequence[int]) -> Explanation:
    """The explanation of one number; fails with the reason where there is none."""
    made = explain(case.layer, case.inputs, index, recorded=float(case.output[tuple(index)]), output_shape=case.output.shape)
    assert isinstance(made, Explanation), made.reason
    return made


def assert_explained(case: Ran, indices: Sequence[Sequence[int]] | None = None) -> None:
    """The terms make the recorded number, at some places of the output."""
    for index in indices or places(case.output.shape):
        made = look(case, index)
        assert made.recorded == float(case.output[tuple(index)])
        assert made.difference is not None
        assert abs(made.difference) <= TOLERANCE * made.magnitude + 1e-12, (index, made.formula, made.recorded)
        assert_terms_are_the_inputs(case, made)
        if made.combine == "sum":
            listed = sum(term.product for term in made.terms) + made.omitted.sum + (made.bias or 0.0)
            assert abs(listed - made.pre_activation) <= 1e-9 * made.magnitude + 1e-12


def assert_terms_are_the_inputs(case: Ran, made: Explanation) -> None:
    """Every term's value is the number that lies at its index, inside of the window."""
    for term in made.terms:
        if term.port < 0:
            continue
        x = case.inputs[term.port]
        box = made.window[term.port].box
        assert box is not None
        assert all(part.start <= position < part.stop for part, position in zip(box, term.index, strict=True))
        if case.layer.type != "Dot":
            assert term.value == float(x[term.index])


def assert_window_is_what_matters(layer: keras.Layer, shape: Sequence[int], case: Ran, index: tuple[int, ...]) -> None:
    """The window of one output equals the input positions whose change changes it.

    Every position is changed in a sample of its own, by so much that a maximum notices, so that one run of the layer tells all.
    """
    moved = sorted(influential(layer, shape, index))
    window = look(case, index).window[0]
    if not moved:
        assert window.box is None
        return
    corners = np.array(moved)
    expected = tuple(slice(int(low), int(high) + 1) for low, high in zip(corners.min(0), corners.max(0), strict=True))
    assert window.box is not None
    assert window.box[1:] == expected
    assert window.box[0] == slice(index[0], index[0] + 1)


def influential(layer: keras.Layer, shape: Sequence[int], index: tuple[int, ...]) -> set[tuple[int, ...]]:
    """The positions of an input of this shape (without batch) that one output (its batch position is not used) depends on."""
    positions = list(itertools.product(*(range(size) for size in shape)))
    batch = np.zeros((len(positions) + 1, *shape), np.float32)
    for sample, position in enumerate(positions):
        batch[(sample, *position)] = 1e3
    output = keras.ops.convert_to_numpy(layer(batch))[(slice(None), *index[1:])]
    return {position for position, number in zip(positions, output[:-1], strict=True) if number != output[-1]}
