"""The microscope on whole models: every layer of a MobileNet, and the layers of `tf_keras` where it is installed."""

from __future__ import annotations

import json

import keras
import numpy as np
import pytest

from tb_layerflow.analysis.layer_description import LayerDescription, wanted_config
from tests.microscope import Ran, assert_explained, described, noise, places


def test_every_layer_of_mobilenet_is_explained():
    model = keras.applications.MobileNet(input_shape=(64, 64, 3), alpha=0.25, weights=None, classes=10)
    every = keras.Model(model.inputs, [layer.output for layer in model.layers])
    outputs = [np.asarray(output) for output in every(noise(2, 64, 64, 3))]
    produced = {id(layer.output): output for layer, output in zip(model.layers, outputs, strict=True)}
    assert len(model.layers) > 80
    for layer, output in zip(model.layers, outputs, strict=True):
        if not isinstance(layer, keras.layers.InputLayer):
            assert_explained(Ran(described(layer), [produced[id(layer.input)]], output), places(output.shape, 1))


TF_KERAS = [
    ("Conv2D", (4, 3), {"strides": 2, "padding": "same", "activation": "relu"}),
    ("DepthwiseConv2D", (3,), {"depth_multiplier": 2}),
    ("SeparableConv2D", (3, 3), {}),
    ("Conv2DTranspose", (3, 3), {"strides": 2, "padding": "same"}),
    ("Dense", (3,), {"activation": "softmax"}),
    ("BatchNormalization", (), {}),
    ("LayerNormalization", (), {}),
    ("GroupNormalization", (2,), {}),
    ("UnitNormalization", (), {}),
    ("ReLU", (6.0,), {}),
    ("ReLU", (0.5,), {"negative_slope": 0.1}),
    ("LeakyReLU", (), {}),
    ("ThresholdedReLU", (0.5,), {}),
    ("ELU", (), {}),
    ("PReLU", (), {}),
    ("Softmax", (), {}),
    ("Activation", ("hard_sigmoid",), {}),
    ("Activation", ("gelu",), {}),
    ("AveragePooling2D", (3, 2, "same"), {}),
    ("GlobalAveragePooling2D", (), {}),
    ("ZeroPadding2D", ((1, 2),), {}),
    ("UpSampling2D", (2,), {"interpolation": "bilinear"}),
    ("Flatten", (), {}),
    ("Reshape", ((-1, 2),), {}),
    ("Permute", ((2, 3, 1),), {}),
    ("Rescaling", (1 / 255, -1), {}),
]


@pytest.mark.parametrize(
    ("name", "arguments", "options"), TF_KERAS, ids=[f"{name}{arguments}" for name, arguments, _ in TF_KERAS]
)
def test_layers_of_tf_keras_are_explained(name, arguments, options):
    tf_keras = pytest.importorskip("tf_keras")
    x = noise(3, 6, 6, 4)
    layer = getattr(tf_keras.layers, name)(*arguments, **options)
    layer(x)
    for seed, variable in enumerate(layer.weights):
        variable.assign(np.random.default_rng(seed).uniform(0.2, 1.5, variable.shape))
    config = json.loads(wanted_config(layer.get_config()))
    weights = {variable.name: variable.numpy() for variable in layer.weights}
    output = np.asarray(layer(x))
    assert_explained(Ran(LayerDescription(name, config, weights, family="tf_keras"), [x], output))
