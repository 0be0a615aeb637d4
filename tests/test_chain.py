"""The chains of ten kinds of layers of the installed Keras, against lists written by hand from Keras's source."""

from __future__ import annotations

from pathlib import Path

import keras
import numpy as np
import pytest
from keras import layers

import tb_layerflow as layerflow
from tb_layerflow.reader import Stream

pytestmark = pytest.mark.skipif(
    tuple(map(int, keras.__version__.split(".")[:2])) < (3, 10), reason="the lists are those of the newest Keras"
)

BIAS = ["keras.ops.add", "tf.nn.bias_add", "BiasAdd"]
CHAINS = {
    "dense": ["Dense.call", "keras.ops.matmul", "tf.matmul", "MatMul", *BIAS, "keras.activations.relu", "tf.nn.relu", "Relu"],
    "pool": ["MaxPooling2D.call", "keras.ops.max_pool", "tf.nn.max_pool", "MaxPool"],
    "flat": ["Flatten.call", "keras.ops.reshape", "tf.reshape", "Reshape"],
    "shaped": ["Reshape.call", "keras.ops.reshape", "tf.reshape", "Reshape"],
    "relu6": ["ReLU.call", "keras.activations.relu", "keras.backend.relu6", "tf.nn.relu6", "Relu6"],
    "softmax": ["Softmax.call", "keras.activations.softmax", "keras.ops.softmax", "tf.nn.softmax", "Softmax"],
    "summed": ["Add.call", "keras.ops.add", "tf.add", "AddV2"],
    "joined": ["Concatenate.call", "keras.ops.concatenate", "tf.concat", "ConcatV2"],
    "mean": ["GlobalAveragePooling2D.call", "keras.ops.mean", "tf.reduce_mean", "Mean"],
    "permuted": ["Permute.call", "keras.ops.transpose", "tf.transpose", "Transpose"],
    "activated": ["Activation.call", "keras.activations.tanh", "keras.ops.tanh", "tf.tanh", "Tanh"],
}


@pytest.fixture(scope="module")
def stream(tmp_path_factory: pytest.TempPathFactory) -> Stream:
    image = keras.Input((8, 8, 3), name="image")
    pooled = layers.MaxPooling2D(name="pool")(layers.ReLU(6.0, name="relu6")(image))
    flat = layers.Flatten(name="flat")(layers.Permute((2, 1, 3), name="permuted")(pooled))
    flat = layers.Dense(4, activation="relu", name="dense")(flat)
    both = layers.Concatenate(name="joined")([flat, layers.GlobalAveragePooling2D(name="mean")(pooled)])
    shaped = layers.Reshape((7, 1), name="shaped")(both)
    summed = layers.Add(name="summed")([shaped, layers.Activation("tanh", name="activated")(shaped)])
    model = keras.Model(image, layers.Softmax(name="softmax")(summed))
    return layerflow.record(model, tmp_path_factory.mktemp("log"), np.ones((2, 8, 8, 3), np.float32), strict=True)


@pytest.mark.parametrize("name", CHAINS)
def test_a_chain_is_what_the_layer_calls(name: str, stream: Stream) -> None:
    assert stream.chain(name) == CHAINS[name]


def test_a_convolution_goes_through_its_own_method_and_keras_ops(stream: Stream, tmp_path: Path) -> None:
    model = keras.Sequential([keras.Input((8, 8, 3)), layers.Conv2D(2, 3, name="conv")])
    chain = layerflow.record(model, tmp_path, np.ones((2, 8, 8, 3), np.float32)).chain("conv")
    assert chain[:5] == ["Conv2D.call", "Conv2D.convolution_op", "keras.ops.conv", "tf.nn.convolution", "Conv2D"]
    assert chain[-1] == "BiasAdd"
