"""The healthy trainings on which thresholds are set: models of different kinds on scikit-learn's real data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras
import numpy as np
from keras import layers
from sklearn import datasets

from .case import Case
from .faults import ARCHITECTURES, Fault, arranged, digits, table


def _sequence(parts: list[Any], data: Any, loss: Any, optimizer: Any, seed: int) -> tuple[keras.Model, Any, Any]:
    keras.utils.set_random_seed(seed)
    model = keras.Sequential([part() for part in parts])
    model.compile(optimizer, loss)
    return model, *data


def _rows() -> tuple[np.ndarray, np.ndarray]:
    x, y = digits()
    return x.reshape(-1, 8, 8), y


def _images() -> tuple[np.ndarray, np.ndarray]:
    x, y = digits()
    return x.reshape(-1, 8, 8, 1), y


def _words() -> tuple[np.ndarray, np.ndarray]:
    x, y = datasets.load_digits(return_X_y=True)
    return x.astype("int32"), y


def _prices() -> tuple[np.ndarray, np.ndarray]:
    x, y = table(datasets.load_diabetes)
    return x, ((y - y.mean()) / y.std()).astype("float32")[:, None]


def _yes_or_no() -> tuple[np.ndarray, np.ndarray]:
    x, y = table(datasets.load_breast_cancer)
    return x, y[:, None]


def _transformer() -> tuple[keras.Model, Any, Any]:
    keras.utils.set_random_seed(31)
    inputs = keras.Input((8, 8))
    x = layers.Dense(16, name="embed")(inputs)
    for block in (1, 2):
        x = layers.LayerNormalization()(x + layers.MultiHeadAttention(2, 8, name=f"attention{block}")(x, x))
        x = layers.LayerNormalization()(x + layers.Dense(16)(layers.Dense(32, activation="gelu")(x)))
    model = keras.Model(inputs, layers.Dense(10, activation="softmax")(layers.GlobalAveragePooling1D()(x)))
    model.compile(keras.optimizers.Adam(2e-3), "sparse_categorical_crossentropy")
    return model, *_rows()


def _two_heads() -> tuple[keras.Model, Any, Any]:
    keras.utils.set_random_seed(32)
    x, y = digits()
    inputs = keras.Input((64,))
    trunk = layers.Dense(32, activation="relu", name="trunk")(inputs)
    outputs = {"digit": layers.Dense(10, activation="softmax", name="digit")(trunk), "ink": layers.Dense(1, name="ink")(trunk)}
    model = keras.Model(inputs, outputs)
    model.compile("adam", {"digit": "sparse_categorical_crossentropy", "ink": "mse"})
    return model, x, {"digit": y, "ink": x.mean(1, keepdims=True)}


def _shared() -> tuple[keras.Model, Any, Any]:
    """One encoder for the upper and the lower half of a digit; which digit it is, and whether it is odd."""
    keras.utils.set_random_seed(33)
    x, y = digits()
    inputs = keras.Input((64,))
    encoder = keras.Sequential([layers.Input((32,)), layers.Dense(24, "relu"), layers.Dense(16, "relu")], name="encoder")
    both = layers.Concatenate()([encoder(inputs[:, :32]), encoder(inputs[:, 32:])])
    outputs = {"digit": layers.Dense(10, activation="softmax", name="digit")(both),
               "odd": layers.Dense(1, activation="sigmoid", name="odd")(both)}  # fmt: skip
    model = keras.Model(inputs, outputs)
    model.compile(keras.optimizers.Adam(3e-3), {"digit": "sparse_categorical_crossentropy", "odd": "binary_crossentropy"})
    return model, x, {"digit": y, "odd": (y % 2).astype("float32")[:, None]}


SPARSE = "sparse_categorical_crossentropy"


def healthy() -> list[Case]:
    """Models of different kinds."""
    dense, conv = layers.Dense, layers.Conv2D

    def case(name: str, parts: list[Any], data: Any, loss: Any, optimizer: Callable[[], Any]) -> Case:
        return Case(name, lambda: arranged(*_sequence(parts, data(), loss, optimizer(), len(name))))

    adam, fast = (lambda: keras.optimizers.Adam(2e-3)), (lambda: keras.optimizers.Adam(5e-3))
    sgd = lambda: keras.optimizers.SGD(0.1)  # noqa: E731
    return [
        case("relu mlp", [lambda: dense(64, "relu"), lambda: dense(32, "relu"), lambda: dense(10, "softmax")], digits, SPARSE,
             adam),
        case("tanh mlp", [lambda: dense(32, "tanh"), lambda: dense(2, "softmax")],
             lambda: table(datasets.load_breast_cancer), SPARSE, sgd),
        case("plain conv", [lambda: conv(8, 3, activation="relu"), layers.MaxPooling2D, lambda: conv(16, 2, activation="relu"),
                            layers.Flatten, lambda: dense(10, "softmax")], _images, SPARSE, adam),
        case("regression", [lambda: dense(24, "relu"), lambda: dense(12, "relu"), lambda: dense(1)], _prices, "mse",
             lambda: keras.optimizers.Adam(5e-3)),
        case("linear softmax", [lambda: dense(3, "softmax")], lambda: table(datasets.load_wine), SPARSE, sgd),
        case("dropout mlp", [lambda: dense(64, "relu"), lambda: layers.Dropout(0.5), lambda: dense(10, "softmax")],
             digits, SPARSE, lambda: keras.optimizers.RMSprop(2e-3)),
        case("recurrent", [lambda: layers.GRU(24), lambda: dense(10, "softmax")], _rows, SPARSE, fast),
        case("words", [lambda: layers.Embedding(17, 6), layers.Flatten, lambda: dense(10, "softmax")], _words, SPARSE, adam),
        Case("two heads", lambda: arranged(*_two_heads())),
        case("autoencoder", [lambda: dense(32, "relu"), lambda: dense(8), lambda: dense(32, "relu"),
                             lambda: dense(64, "sigmoid")], lambda: (digits()[0], digits()[0]), "binary_crossentropy", adam),
        case("two layers of memory", [lambda: layers.LSTM(16, return_sequences=True), lambda: layers.LSTM(16),
                                      lambda: dense(10, "softmax")], _rows, SPARSE, fast),
        case("normalised conv", [lambda: conv(8, 3, use_bias=False), layers.BatchNormalization, layers.ReLU,
                                 lambda: conv(16, 3, use_bias=False), layers.BatchNormalization, layers.ReLU,
                                 layers.GlobalAveragePooling2D, lambda: dense(10, "softmax")], _images, SPARSE, adam),
        case("separable conv", [lambda: layers.SeparableConv2D(16, 3, activation="swish"), lambda: layers.SpatialDropout2D(0.2),
                                layers.Flatten, lambda: dense(10)], _images,
             keras.losses.SparseCategoricalCrossentropy(from_logits=True), lambda: keras.optimizers.Nadam(2e-3)),
        case("binary", [lambda: dense(16, "elu"), lambda: dense(1, "sigmoid")],
             _yes_or_no, "binary_crossentropy", sgd),
        case("deep selu", [lambda: dense(24, "selu", kernel_initializer="lecun_normal")] * 8 + [lambda: dense(3, "softmax")],
             lambda: table(datasets.load_wine), SPARSE, lambda: keras.optimizers.SGD(0.03, momentum=0.9)),
        case("both directions", [lambda: layers.Bidirectional(layers.GRU(12)), layers.LayerNormalization,
                                 lambda: dense(10, "softmax")], _rows, SPARSE, fast),
        case("words in a row", [lambda: layers.Embedding(17, 8), lambda: layers.Conv1D(16, 5, strides=3, activation="relu"),
                                layers.GlobalMaxPooling1D, lambda: dense(10, "softmax")], _words, SPARSE,
             lambda: keras.optimizers.Adam(3e-2)),
        Case("transformer", lambda: arranged(*_transformer())),
        Case("shared encoder", lambda: arranged(*_shared())),
        *(Case(f"healthy {name}", lambda build=build: arranged(*build(Fault()))) for name, build in ARCHITECTURES.items()),
    ]  # fmt: skip
