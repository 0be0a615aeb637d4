"""The floating-point operations of layers inside a recorded model equal the closed formula, and where it counts them, TensorFlow's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import layers
from tensorflow.python.profiler.model_analyzer import profile
from tensorflow.python.profiler.option_builder import ProfileOptionBuilder

import tb_layerflow as layerflow
from tb_layerflow.reader import Stream

BATCH = 4

SCALED = 2 * 6 * 4 if keras.__version__.startswith("3.3.") else 72  # Keras 3.3 scales the queries, later ones the scores

Layer = tuple[Callable[[], Any], tuple[int, ...], int]
LAYERS: dict[str, Layer] = {  # the layer, the shape of a sample, and the operations of a sample: products count as two
    "dense": (lambda: layers.Dense(5), (7,), 5 * (2 * 7 + 1)),
    "conv1d": (lambda: layers.Conv1D(4, 3, strides=2), (9, 3), 4 * 4 * (2 * 3 * 3 + 1)),
    "conv2d": (lambda: layers.Conv2D(4, (3, 2), padding="same"), (8, 9, 3), 8 * 9 * 4 * (2 * 3 * 2 * 3 + 1)),
    "grouped": (lambda: layers.Conv2D(4, 3, groups=2), (8, 9, 4), 6 * 7 * 4 * (2 * 3 * 3 * 2 + 1)),
    "conv3d": (lambda: layers.Conv3D(3, 2), (5, 6, 7, 2), 4 * 5 * 6 * 3 * (2 * 2 * 2 * 2 * 2 + 1)),
    "depthwise": (lambda: layers.DepthwiseConv2D(3, depth_multiplier=2), (8, 8, 3), 6 * 6 * 6 * (2 * 3 * 3 + 1)),
    "separable": (lambda: layers.SeparableConv2D(5, 3), (8, 8, 3), 6 * 6 * (3 * 2 * 9 + 5 * (2 * 3 + 1))),
    "transposed": (lambda: layers.Conv2DTranspose(4, 3, strides=2), (6, 6, 3), 6 * 6 * 3 * 2 * 9 * 4 + 13 * 13 * 4),
    "largest": (lambda: layers.MaxPooling2D(2), (8, 8, 3), 4 * 4 * 3 * 4),
    "average": (lambda: layers.AveragePooling2D((3, 2), strides=1), (8, 8, 3), 6 * 7 * 3 * 6),
    "everywhere": (lambda: layers.GlobalAveragePooling2D(), (8, 8, 3), 8 * 8 * 3),
    "einsum": (lambda: layers.EinsumDense("abc,cd->abd", (6, 5), bias_axes="d"), (6, 8), 6 * 5 * (2 * 8 + 1)),
    "embedding": (lambda: layers.Embedding(10, 3), (5,), 0),
    "lstm": (lambda: layers.LSTM(4), (5, 3), 5 * (2 * 3 * 16 + 2 * 4 * 16 + 2 * 16 + 9 * 4)),
    "gru": (lambda: layers.GRU(4), (5, 3), 5 * (2 * 3 * 12 + 2 * 4 * 12 + 2 * 12 + 11 * 4)),
    "attention": (lambda: layers.MultiHeadAttention(2, 4), (6, 8), 4 * 2 * 6 * 8 * 8 + 4 * 6 * 8 + 2 * 2 * (2 * 6 * 6 * 4) + 5 * 72 + SCALED),
}  # fmt: skip
COUNTED_BY_TENSORFLOW = (
    "dense",
    "conv1d",
    "conv2d",
    "conv3d",
    "depthwise",
    "separable",
    "largest",
    "average",
    "everywhere",
    "einsum",
)
NORMAL = 5 * 6 * 6 * 4 * BATCH + 11 * 4
"""Per element the mean, difference, square, scale and shift; per channel the scale, the shift and the two moving averages."""


def called(layer: Any, tensor: Any) -> Any:
    return layer(tensor, tensor) if isinstance(layer, layers.MultiHeadAttention) else layer(tensor)


def of_a_sample(name: str) -> tf.TensorSpec:
    return tf.TensorSpec((BATCH, *LAYERS[name][1]), tf.int32 if name == "embedding" else tf.float32)


@pytest.fixture(scope="module")
def stream(tmp_path_factory: pytest.TempPathFactory) -> Stream:
    """One step of a model that has all of them side by side."""
    inputs, outputs = [], []
    for name, (make, shape, _) in LAYERS.items():
        layer = make()
        layer.name = name
        inputs.append(keras.Input(shape, name=f"to_{name}", dtype=of_a_sample(name).dtype.name))
        outputs.append(layers.Flatten(name=f"flat_{name}")(called(layer, inputs[-1])))
    image = keras.Input((6, 6, 4), name="to_normal")
    outputs.append(layers.Flatten()(layers.BatchNormalization(name="normal")(image)))
    model = keras.Model([*inputs, image], layers.Dense(1, name="head")(layers.Concatenate()(outputs)))
    model.compile("sgd", "mse")
    x = [np.ones(of_a_sample(name).shape, of_a_sample(name).dtype.as_numpy_dtype) for name in LAYERS]
    folder = tmp_path_factory.mktemp("flops")
    callback = layerflow.LayerFlow(folder, every={0}, values="none", what=("outputs", "lineage"), strict=True)
    x.append(np.ones((BATCH, 6, 6, 4), np.float32))
    model.fit(x, np.ones((BATCH, 1), np.float32), batch_size=BATCH, verbose=0, callbacks=[callback])
    return layerflow.open(str(folder))


@pytest.mark.parametrize("name", LAYERS)
def test_a_layer_in_a_recorded_model_has_the_operations_of_the_closed_formula(name: str, stream: Stream) -> None:
    assert stream.graph.call(name).outputs[0].shape[0] == BATCH
    assert stream.graph.call(name).flops == BATCH * LAYERS[name][2]


def test_a_normalisation_in_training_has_those_of_its_moments_too(stream: Stream) -> None:
    assert stream.graph.call("normal").flops == NORMAL


@pytest.mark.parametrize("name", COUNTED_BY_TENSORFLOW)
def test_tensorflows_own_profiler_counts_the_same(name: str, stream: Stream) -> None:
    layer = LAYERS[name][0]()
    graph = tf.function(layer, autograph=False).get_concrete_function(of_a_sample(name)).graph
    options = ProfileOptionBuilder(ProfileOptionBuilder.float_operation()).with_empty_output().build()
    assert stream.graph.call(name).flops == profile(graph, options=options).total_float_ops


def test_a_model_has_those_of_all_its_layers(stream: Stream) -> None:
    leaves = [call for call in stream.graph.calls if call.parent == "."]
    assert stream.graph.call(".").flops == sum(call.flops for call in leaves)


def test_an_eager_step_counts_the_same(tmp_path: Path) -> None:
    make, shape, flops = LAYERS["conv2d"]
    model = keras.Sequential([keras.Input(shape), make(), layers.Flatten(), layers.Dense(1)])
    model.compile("sgd", "mse", run_eagerly=True)
    callback = layerflow.LayerFlow(tmp_path, every={0}, values="none", what=("outputs", "lineage"), strict=True)
    model.fit(np.ones((BATCH, *shape)), np.ones((BATCH, 1)), batch_size=BATCH, verbose=0, callbacks=[callback])
    (conv,) = [call for call in layerflow.open(str(tmp_path)).graph.calls if call.type == "Conv2D"]
    assert conv.flops == BATCH * flops
