"""Rows: what stands at the end of a model, and what its loss reads: probabilities or the logits before them."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
import tensorflow as tf
from keras import layers

from .row import FUSED, Hand, Row, fitted, normal, whole

GROUP = "Heads and losses"
WIDTH = 3
SMALL = 1e-7
APART = "TensorFlow fuses the two in steps that are not recorded: equal to rounding"


class Activates(layers.Layer):
    """The user's own dense layer, whose `call` ends in TensorFlow's own operation."""

    def __init__(self, activation: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.activation = activation

    def build(self, shape: Any) -> None:
        self.kernel = self.add_weight(name="kernel", shape=(shape[-1], 3))
        self.bias = self.add_weight(name="bias", shape=(3,))

    def call(self, inputs: Any) -> Any:
        return getattr(tf.nn, self.activation)(tf.matmul(inputs, self.kernel) + self.bias)


def _head(activation: str) -> Any:
    return keras.Sequential([layers.Input((WIDTH,)), Activates(activation, name="head")])


def _cross_entropy(kind: str, from_logits: bool) -> Any:
    losses = {"categorical": keras.losses.CategoricalCrossentropy, "binary": keras.losses.BinaryCrossentropy}
    return losses[kind](from_logits=from_logits)


def _reads_logits(activation: str, kind: str) -> bool:
    """Keras's losses go back to the logits where the operation is the one that belongs to the loss."""
    return (activation, kind) in (("softmax", "categorical"), ("sigmoid", "binary"))


def _forward(activation: str, kind: str, from_logits: bool) -> Any:
    def forward(hand: Hand, model: Any, x: Any) -> Any:
        head = model.get_layer("head")
        dense = x @ tf.convert_to_tensor(head.kernel) + tf.convert_to_tensor(head.bias)
        if not _reads_logits(activation, kind):
            return hand(".", hand("head", getattr(tf.nn, activation)(dense)))
        top = hand(".", hand("head", dense, 1), 1)
        hand(".", hand("head", getattr(tf.nn, activation)(dense)))
        return top

    return forward


def _by_numbers(activation: str, kind: str, from_logits: bool) -> Any:
    """The loss written out, of the logits or of the probabilities, as Keras defines it."""
    of_logits = _reads_logits(activation, kind)

    def loss(y: Any, found: Any) -> Any:
        y = tf.cast(y, tf.float32)
        if kind == "categorical":
            if of_logits or from_logits:
                return tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(y, found))
            found = found / tf.reduce_sum(found, -1, keepdims=True)
            return -tf.reduce_mean(tf.reduce_sum(y * tf.math.log(tf.clip_by_value(found, SMALL, 1 - SMALL)), -1))
        if of_logits or from_logits:
            return tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(y, found))
        found = tf.clip_by_value(found, SMALL, 1 - SMALL)
        return -tf.reduce_mean(y * tf.math.log(found) + (1 - y) * tf.math.log(1 - found))

    return loss


def _tensorflow_heads() -> list[Row]:
    found = []
    for activation in ("softmax", "sigmoid"):
        for kind in ("categorical", "binary"):
            for from_logits in (False, True):
                logits_read = _reads_logits(activation, kind)
                ledger = [(path, "error", 0, "at the logits") for path in (".", "head") if logits_read]
                found.append(fitted(
                    GROUP, f"`tf.nn.{activation}`, {kind} cross-entropy, `from_logits={from_logits}`",
                    lambda activation=activation: _head(activation),
                    lambda: (normal(12, WIDTH), np.eye(3, dtype=np.float32)[whole(3, 12)]),
                    _forward(activation, kind, from_logits), loss=_by_numbers(activation, kind, from_logits),
                    compiled={"loss": _cross_entropy(kind, from_logits)}, ledger=ledger,
                    fused_by_2_16=activation == "sigmoid",
                ))  # fmt: skip
    return found


def _keras_head(activation: str, width: int) -> Any:
    return lambda: keras.Sequential([layers.Input((WIDTH,)), layers.Dense(width, activation=activation, name="head")])


def _keras_forward(hand: Hand, model: Any, x: Any) -> Any:
    head = model.layers[0]
    logits = hand("head", x @ tf.convert_to_tensor(head.kernel) + tf.convert_to_tensor(head.bias), 1)
    logits = hand(".", logits, 1)
    hand(".", hand("head", head.activation(logits)))
    return logits


def _softmax_layer() -> Any:
    return keras.Sequential([layers.Input((WIDTH,)), layers.Dense(3, name="dense"), layers.Softmax(name="probabilities")])


def _softmax_layer_forward(hand: Hand, model: Any, x: Any) -> Any:
    dense = hand("dense", model.layers[0](x))
    logits = hand(".", hand("probabilities", dense, 1), 1)
    hand(".", hand("probabilities", tf.nn.softmax(logits)))
    return logits


def _sparse(y: Any, logits: Any) -> Any:
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits))


def _apart() -> Any:
    return keras.Sequential([layers.Input((WIDTH,)), layers.Dense(3, name="dense"), layers.Activation("sigmoid", name="squash"),
                             layers.Dense(1, name="last")])  # fmt: skip


def _apart_forward(hand: Hand, model: Any, x: Any) -> Any:
    dense, _, last = model.layers
    logits = hand("dense", dense(x))
    return hand(".", hand("last", last(hand("squash", tf.nn.sigmoid(logits)))))


AT_LOGITS = [(path, "error", 0, "at the logits") for path in (".", "head")]


class AddsLoss(layers.Layer):
    """Passes its input on, and adds the mean of its squares to the loss."""

    def call(self, inputs: Any) -> Any:
        self.add_loss(0.1 * tf.reduce_mean(tf.square(inputs)))
        return inputs * 1.0


def _regularised() -> Any:
    return keras.Sequential([layers.Input((WIDTH,)), layers.Dense(4, kernel_regularizer="l2", name="first"), AddsLoss(name="adds"),
                             layers.Dense(1, name="last")])  # fmt: skip


def _regularised_forward(hand: Hand, model: Any, x: Any) -> Any:
    first, _, last = model.layers
    hidden = hand("first", first(x))
    output = hand(".", hand("last", last(hand("adds", hidden * 1.0))))
    return output, 0.1 * tf.reduce_mean(tf.square(hidden))


def _plain_forward(hand: Hand, model: Any, x: Any) -> Any:
    return hand(".", hand("last", model.layers[0](x)))


def _weighted_loss(y: Any, y_pred: Any) -> Any:
    weights = np.linspace(0.5, 2, 12, dtype=np.float32)[:4]
    return tf.reduce_mean(weights * tf.reduce_mean(tf.square(y - y_pred), -1))


def rows() -> list[Row]:
    """The rows of this file."""

    def one() -> Any:
        return keras.Sequential([layers.Input((WIDTH,)), layers.Dense(1, name="last")])

    labels = (normal(12, WIDTH), whole(3, 12))
    return [
        *_tensorflow_heads(),
        fitted(
            GROUP,
            "Dense with softmax, sparse categorical cross-entropy",
            _keras_head("softmax", 3),
            lambda: labels,
            _keras_forward,
            loss=_sparse,
            compiled={"loss": "sparse_categorical_crossentropy"},
            ledger=AT_LOGITS,
        ),
        fitted(
            GROUP,
            "Dense with sigmoid, binary cross-entropy",
            _keras_head("sigmoid", 1),
            lambda: (normal(12, WIDTH), whole(2, 12, 1).astype(np.float32)),
            _keras_forward,
            loss=lambda y, logits: tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(y, logits)),
            compiled={"loss": "binary_crossentropy"},
            ledger=AT_LOGITS,
        ),
        fitted(
            GROUP,
            "Dense and its sigmoid as two layers",
            _apart,
            lambda: (normal(12, WIDTH), normal(12, 1)),
            _apart_forward,
            ledger=[("dense", "output", -1, FUSED)],
            left_within=1e-6,
            limits=APART,
        ),
        fitted(
            GROUP,
            "a Softmax layer",
            _softmax_layer,
            lambda: labels,
            _softmax_layer_forward,
            loss=_sparse,
            compiled={"loss": "sparse_categorical_crossentropy"},
            ledger=[(path, "error", 0, "at the logits") for path in (".", "probabilities")],
        ),
        fitted(
            GROUP,
            "added losses and regularisers",
            _regularised,
            lambda: (normal(12, WIDTH), normal(12, 1)),
            _regularised_forward,
            loss=lambda y, found: tf.reduce_mean(tf.square(y - found[0])) + found[1],
        ),
        fitted(
            GROUP,
            "sample weights",
            one,
            lambda: (normal(12, WIDTH), normal(12, 1), np.linspace(0.5, 2, 12, dtype=np.float32)),
            _plain_forward,
            loss=_weighted_loss,
        ),
    ]
