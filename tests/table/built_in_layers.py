"""Rows: Keras's own layers, one kind after another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from keras import layers

from .functional import WIDTH, chain, numbers, sum_of_mse
from .row import LOOP, USED_INSIDE, Hand, Row, callback, fitted, left_by, mse, normal, seeded, whole

GROUP = "Keras's own layers"
MISSING = (
    "Keras 3.3 cannot run TimeDistributed over a number of times that it does not know"
    if keras.__version__.startswith("3.3.")
    else ""
)


def _trained_chain(hand: Hand, model: Any, x: Any) -> Any:
    return chain(hand, model, x, training=True)


def _convolutions() -> Any:
    return keras.Sequential([
        layers.Input((8, 8, 2)), layers.ZeroPadding2D(name="pad"), layers.Conv2D(3, 3, strides=2, name="conv"),
        layers.BatchNormalization(name="normal"), layers.ReLU(6.0, name="relu"), layers.DepthwiseConv2D(2, name="depthwise"),
        layers.SeparableConv2D(4, 2, padding="same", name="separable"), layers.MaxPooling2D(name="pool"),
        layers.Conv2DTranspose(2, 2, name="transposed"), layers.GlobalAveragePooling2D(name="mean"),
        layers.LayerNormalization(name="layer_normal"), layers.Dense(1, name="last"),
    ])  # fmt: skip


def _dropout() -> Any:
    return keras.Sequential([layers.Input((WIDTH,)), layers.Dense(8, name="first"), layers.Dropout(0.5, seed=3, name="dropout"),
                             layers.GaussianNoise(0.3, seed=5, name="noise"), layers.Dense(1, name="last")])  # fmt: skip


def _time_distributed() -> Any:
    return keras.Sequential([layers.Input((2, WIDTH)), layers.TimeDistributed(layers.Dense(2, activation="tanh", name="wrapped"), name="times"),
                             layers.Flatten(name="flat"), layers.Dense(1, name="last")])  # fmt: skip


def _time_distributed_by_hand(hand: Hand, model: Any, x: Any) -> Any:
    wrapped = model.layers[0].layer
    steps = [hand("times/wrapped" + (f"#{time}" if time else ""), wrapped(x[:, time])) for time in range(2)]
    times = hand("times", tf.stack(steps, 1))
    return hand(".", hand("last", model.layers[2](hand("flat", tf.reshape(times, (-1, 4))))))


def _unknown_times() -> Row:
    """Sequences of a length that the trace does not know: Keras maps the wrapped layer over the times.

    They are four, as the samples are: Keras 3.15 takes the one number for the other.
    """

    def build() -> Any:
        model = keras.Sequential([layers.Input((None, WIDTH)), layers.TimeDistributed(layers.Dense(2, activation="tanh", name="wrapped"), name="times"),
                                  layers.GlobalAveragePooling1D(name="mean"), layers.Dense(1, name="last")])  # fmt: skip
        model.compile(keras.optimizers.SGD(0.05), "mse")
        return model

    def batches() -> Any:
        return [(normal(4, 4, WIDTH, seed=number), normal(4, 1, seed=1)) for number in range(3)]

    def run(folder: Path | None) -> list[Any]:
        model = seeded(build)
        signature = (tf.TensorSpec((None, None, WIDTH)), tf.TensorSpec((None, 1)))
        dataset = tf.data.Dataset.from_generator(batches, output_signature=signature)
        return left_by(model, *model.fit(dataset, verbose=0, callbacks=callback(folder)).history.values())

    def by_hand(hand: Hand) -> dict[str, Any]:
        times, _, last = seeded(build).layers
        x, y = batches()[0]
        outputs = hand("times", tf.stack([times.layer(x[:, time]) for time in range(x.shape[1])], 1))
        return {"error": mse(y, hand(".", hand("last", last(hand("mean", tf.reduce_mean(outputs, 1))))))}

    return Row(GROUP, "TimeDistributed, the number of times unknown", run, by_hand, structural={"times/wrapped": LOOP},
               ledger=[("times/wrapped", "", -1, "inside a loop")], missing=MISSING)  # fmt: skip


def _embedding() -> Any:
    return keras.Sequential([layers.Input((5,), dtype="int32"), layers.Embedding(7, 3, mask_zero=True, name="words"),
                             layers.GlobalAveragePooling1D(name="mean"), layers.Dense(1, name="last")])  # fmt: skip


def _embedding_by_hand(hand: Hand, model: Any, x: Any) -> Any:
    words, _, last = model.layers
    embedded = hand("words", tf.gather(tf.convert_to_tensor(words.embeddings), x))
    mask = tf.cast(tf.not_equal(x, 0), tf.float32)[:, :, None]
    mean = hand("mean", tf.reduce_sum(embedded * mask, 1) / tf.reduce_sum(mask, 1))
    return hand(".", hand("last", last(mean)))


def _lambda() -> Any:
    return keras.Sequential(
        [layers.Input((WIDTH,)), layers.Lambda(lambda x: x**2 + 1.0, name="squared"), layers.Dense(1, name="last")]
    )


def _attention() -> Any:
    symbol = keras.Input((4, WIDTH), name="words")
    attended, scores = layers.MultiHeadAttention(2, 2, name="attention")(symbol, symbol, return_attention_scores=True)
    pooled = layers.Flatten(name="flat")(attended)
    return keras.Model(symbol, [layers.Dense(1, name="last")(pooled), layers.Flatten(name="flat_scores")(scores)])


def _attention_by_hand(hand: Hand, model: Any, x: Any) -> Any:
    layer = model.get_layer("attention")
    project = {
        name: tf.convert_to_tensor(getattr(layer, f"_{name}_dense").kernel) for name in ("query", "key", "value", "output")
    }
    bias = {name: tf.convert_to_tensor(getattr(layer, f"_{name}_dense").bias) for name in project}
    parts = {}
    for name in ("query", "key", "value"):
        parts[name] = hand(f"attention/{name}", tf.einsum("bti,ihd->bthd", x, project[name]) + bias[name])
    logits = tf.einsum("bshd,bthd->bhts", parts["key"], parts["query"]) / np.sqrt(2.0).astype(np.float32)
    scores = hand("attention/softmax", tf.nn.softmax(logits))
    mixed = tf.einsum("bhts,bshd->bthd", scores, parts["value"])
    output = hand("attention/attention_output", tf.einsum("bthd,hdo->bto", mixed, project["output"]) + bias["output"])
    output, scores = hand("attention", output, 0), hand("attention", scores, 1)
    last = hand("last", model.get_layer("last")(hand("flat", tf.reshape(output, (-1, 4 * WIDTH)))))
    return [hand(".", last, 0), hand(".", hand("flat_scores", tf.reshape(scores, (-1, 32))), 1)]


def _row(what: str, build: Any, data: Any, forward: Any, **options: Any) -> Row:
    return fitted(GROUP, what, build, data, forward, **options)


def rows() -> list[Row]:
    """The rows of this file."""
    return [
        _row("convolutions, pooling, normalisation", _convolutions, lambda: (normal(12, 8, 8, 2), normal(12, 1)), _trained_chain),
        _row("Dropout and noise, as in training", _dropout, numbers(), _trained_chain),
        _row(
            "TimeDistributed, the number of times known",
            _time_distributed,
            lambda: (normal(12, 2, WIDTH), normal(12, 1)),
            _time_distributed_by_hand,
        ),
        _unknown_times(),
        _row(
            "Embedding with a mask",
            _embedding,
            lambda: (whole(6, 12, 5) + (np.arange(5) == 0).astype(np.int32), normal(12, 1)),
            _embedding_by_hand,
        ),
        _row("Lambda", _lambda, numbers(), chain),
        _row(
            "MultiHeadAttention with its scores",
            _attention,
            lambda: (normal(12, 4, WIDTH), (normal(12, 1), normal(12, 32))),
            _attention_by_hand,
            loss=sum_of_mse,
            compiled={"loss": ["mse", "mse"]},
            ledger=[
                ("attention", "error", 1, USED_INSIDE),
                ("attention/dropout", "", -1, "never called in this step"),
            ],
        ),
    ]
