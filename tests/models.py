"""Small Keras models for all tests of the capture. Every one is built anew by its function, with the weights of its seed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras
import numpy as np
from keras import layers

SAMPLES = 16
WIDTH = 4


def siamese() -> keras.Model:
    """A shared `encoder`, with a `first_dense` inside, called on two inputs; the distance of the two codes."""
    encoder = keras.Sequential([layers.Input((WIDTH,), name="numbers"), layers.Dense(5, activation="relu", name="first_dense"),
                                layers.Dense(3, name="second_dense")], name="encoder")  # fmt: skip
    left, right = keras.Input((WIDTH,), name="left"), keras.Input((WIDTH,), name="right")
    distance = layers.Subtract(name="distance")([encoder(left), encoder(right)])
    return _compiled(keras.Model([left, right], layers.Dense(1, name="verdict")(distance), name="siamese"))


def three_deep() -> keras.Model:
    """A model in a model in a model; the innermost is called three times by the middle one, which is called twice."""
    inner_input = keras.Input((WIDTH,))
    inner = keras.Model(inner_input, layers.Dense(WIDTH, activation="tanh", name="dense")(inner_input), name="inner")
    middle_input = keras.Input((WIDTH,))
    middle = keras.Model(middle_input, inner(inner(inner(middle_input))) + middle_input, name="middle")
    outer_input = keras.Input((WIDTH,), name="numbers")
    hidden = middle(middle(outer_input) * 0.5)
    return _compiled(keras.Model(outer_input, layers.Dense(2, name="head")(hidden), name="outer"))


def softmax_classifier(**compiled: Any) -> keras.Model:
    """BatchNormalization, Dropout and a softmax layer at the end; the loss is on probabilities."""
    return _classifier(layers.Dense(3, activation="softmax", name="head"), from_logits=False, **compiled)


def logits_classifier(**compiled: Any) -> keras.Model:
    """The same with the loss on logits."""
    return _classifier(layers.Dense(3, name="head"), from_logits=True, **compiled)


def two_outputs(**compiled: Any) -> keras.Model:
    """A trunk with two heads, each with a loss and a metric of its own."""
    keras.utils.set_random_seed(3)
    numbers = keras.Input((WIDTH,), name="numbers")
    hidden = layers.Dropout(0.3, seed=5)(layers.Dense(6, activation="relu", name="trunk")(numbers))
    heads = {"kind": layers.Dense(3, activation="softmax", name="kind")(hidden), "size": layers.Dense(1, name="size")(hidden)}
    model = keras.Model(numbers, heads, name="two_outputs")
    losses = {"kind": "sparse_categorical_crossentropy", "size": "mse"}
    _initialised(model)
    model.compile("adam", losses, metrics={"kind": ["accuracy"], "size": ["mae"]}, **compiled)
    return model


class CountsCalls(layers.Layer):
    """Passes on what it gets, and counts in a variable how often it really ran."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.count = self.add_weight(name="count", shape=(), dtype="int32", initializer="zeros", trainable=False)

    def call(self, numbers: Any) -> Any:
        self.count.assign_add(1)
        return keras.ops.multiply(numbers, 1.0)


def counting(**compiled: Any) -> keras.Model:
    """A regression whose layer `counter` counts the forward passes."""
    keras.utils.set_random_seed(11)
    model = keras.Sequential([layers.Input((WIDTH,), name="numbers"), layers.Dense(4, name="first"), CountsCalls(name="counter"),
                              layers.Dense(1, name="last")], name="counting")  # fmt: skip
    _initialised(model)
    model.compile("adam", "mse", **compiled)
    return model


def plain(**compiled: Any) -> keras.Model:
    """Two dense layers, for tests that need any model."""
    keras.utils.set_random_seed(11)
    model = keras.Sequential([layers.Input((WIDTH,), name="numbers"), layers.Dense(3, activation="relu", name="first"),
                              layers.Dense(1, name="last")], name="plain")  # fmt: skip
    _initialised(model)
    model.compile(**{"optimizer": "sgd", "loss": "mse", **compiled})
    return model


def samples(model: keras.Model, count: int = SAMPLES, seed: int = 0) -> tuple[Any, Any]:
    """(x, y) for any model of this file: x normal, y normal, or class numbers where the model's loss wants them."""
    random = np.random.default_rng(seed)
    x = [random.normal(size=(count, *tensor.shape[1:])).astype(np.float32) for tensor in model.inputs]
    if model.name == "two_outputs":
        return x[0], {"kind": random.integers(0, 3, count), "size": random.normal(size=(count, 1)).astype(np.float32)}
    if model.name == "classifier":
        return x[0], random.integers(0, 3, count)
    y = random.normal(size=(count, *model.outputs[0].shape[1:])).astype(np.float32)
    return x if len(x) > 1 else x[0], y


BUILDERS: dict[str, Callable[..., keras.Model]] = {
    "softmax": softmax_classifier,
    "logits": logits_classifier,
    "two outputs": two_outputs,
}


def _classifier(head: layers.Layer, *, from_logits: bool, **compiled: Any) -> keras.Model:
    keras.utils.set_random_seed(7)
    model = keras.Sequential([
        layers.Input((WIDTH,), name="numbers"), layers.Dense(6, name="first"), layers.BatchNormalization(name="normal"),
        layers.Activation("relu", name="relu"), layers.Dropout(0.25, seed=9, name="dropout"), head,
    ], name="classifier")  # fmt: skip
    _initialised(model)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=from_logits)
    model.compile("adam", loss, metrics=["accuracy"], **compiled)
    return model


def _initialised(model: keras.Model) -> None:
    """Weights from numpy: Keras's own depend, even with its seed set, on what the process imported before."""
    random = np.random.default_rng(17)
    for variable in model.trainable_variables:
        variable.assign(random.normal(0, 0.5, variable.shape))


def _compiled(model: keras.Model) -> keras.Model:
    model.compile("sgd", "mse")
    return model
