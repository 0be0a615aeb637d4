"""Healthy trainings of this suite: models of different kinds on real data, each trained until its result is good."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras
import numpy as np
from keras import layers, ops, optimizers

from bench.case import Case, Training

from . import bodies, material
from .planting import Plan
from .witness import Witness

PLAIN = Plan()


def _photos_depthwise() -> Training:
    """Depthwise-separable convolutions with batch normalisation and ReLU6, as MobileNet has them, by SGD with Nesterov momentum."""
    keras.utils.set_random_seed(401)
    inputs = keras.Input((16, 16, 3), name="square")
    x = layers.Conv2D(16, 3, strides=2, use_bias=False, name="stem")(inputs)
    for block in range(2):
        x = layers.ReLU(6.0)(layers.BatchNormalization(momentum=0.9)(x))
        x = layers.DepthwiseConv2D(3, padding="same", use_bias=False, name=f"depthwise{block}")(x)
        x = layers.ReLU(6.0)(layers.BatchNormalization(momentum=0.9)(x))
        x = layers.Conv2D(24, 1, use_bias=False, name=f"pointwise{block}")(x)
    x = layers.Dropout(0.2)(layers.GlobalAveragePooling2D()(layers.ReLU(6.0)(layers.BatchNormalization(momentum=0.9)(x))))
    outputs = layers.Dense(2, activation="softmax", name="photo")(x)
    rate = optimizers.schedules.CosineDecay(0.1, 200)
    optimizer = optimizers.SGD(rate, momentum=0.9, nesterov=True)
    return PLAIN.finished(inputs, outputs, *material.patches(16), "sparse_categorical_crossentropy", optimizer, 401, 200)


def _colours() -> Training:
    """The colours of a grey square, by a small U-Net with a skip connection."""
    keras.utils.set_random_seed(402)
    squares = material.patches(16)[0]
    inputs = keras.Input((16, 16, 1), name="grey")
    fine = layers.Conv2D(12, 3, padding="same", activation="gelu", name="fine")(inputs)
    coarse = layers.Conv2D(24, 3, strides=2, padding="same", activation="gelu", name="coarse")(fine)
    up = layers.Conv2DTranspose(12, 2, strides=2, activation="gelu", name="up")(coarse)
    outputs = layers.Conv2D(3, 3, padding="same", activation="sigmoid", name="colour")(layers.Concatenate()([fine, up]))
    return PLAIN.finished(inputs, outputs, squares.mean(-1, keepdims=True), squares, "mse", optimizers.Adam(5e-3), 402, 200)


class _Sampled(layers.Layer):  # type: ignore[misc]
    """A draw from the code's normal distribution, whose divergence from the standard one is a loss of its own."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.seeds = keras.random.SeedGenerator(9)

    def call(self, mean: Any, log_var: Any) -> Any:
        self.add_loss(-0.0005 * ops.mean(1 + log_var - mean**2 - ops.exp(log_var)))
        return mean + ops.exp(0.5 * log_var) * keras.random.normal(ops.shape(mean), seed=self.seeds)


def _variational() -> Training:
    """A variational autoencoder of handwritten digits."""
    keras.utils.set_random_seed(403)
    flat = material.digit_rows()[0].reshape(-1, 64)
    inputs = keras.Input((64,), name="digit")
    x = layers.Dense(64, activation="silu", name="enc")(inputs)
    x = _Sampled(name="sampled")(layers.Dense(12, name="mean")(x), layers.Dense(12, name="log_var")(x))
    x = layers.Dense(64, activation="silu", name="dec")(x)
    outputs = layers.Dense(64, activation="sigmoid", name="picture")(x)
    return PLAIN.finished(inputs, outputs, flat, flat, "mse", optimizers.Adam(5e-3), 403, 250)


def _contrastive(y: Any, scores: Any) -> Any:
    return ops.sparse_categorical_crossentropy(ops.arange(ops.shape(scores)[0]), scores, from_logits=True)


def _matched() -> Training:
    """The upper half of a square finds its lower half in the batch (InfoNCE), by codes of unit length."""
    keras.utils.set_random_seed(404)
    squares, which = material.patches(16)
    upper, lower = keras.Input((8, 16, 3), name="upper"), keras.Input((8, 16, 3), name="lower")
    half = keras.Sequential(
        [layers.Flatten(name="flat"), layers.Dense(64, activation="relu", name="wide"), layers.Dense(32, name="code")],
        name="half",
    )
    unit = layers.UnitNormalization(name="unit")
    scores = layers.Lambda(lambda pair: 10 * ops.matmul(pair[0], ops.transpose(pair[1])), name="scores")(
        [unit(half(upper)), unit(half(lower))]
    )
    x = {"upper": squares[:, :8], "lower": squares[:, 8:]}
    return PLAIN.finished({"upper": upper, "lower": lower}, scores, x, which, _contrastive, optimizers.Adam(2e-3), 404, 200)


def _squeezed() -> Training:
    """A convolution whose channels a sigmoid weighs (squeeze and excitation), by AdamW, with a residual connection."""
    keras.utils.set_random_seed(405)
    inputs = keras.Input((16, 16, 3), name="square")
    x = layers.Conv2D(24, 5, strides=2, padding="same", activation="leaky_relu", name="conv")(inputs)
    weight = layers.Dense(6, activation="relu", name="squeeze")(layers.GlobalAveragePooling2D()(x))
    weight = layers.Reshape((1, 1, 24))(layers.Dense(24, activation="sigmoid", name="excite")(weight))
    x = layers.Add()([x, layers.Conv2D(24, 3, padding="same", name="branch")(layers.Multiply()([x, weight]))])
    outputs = layers.Dense(2, name="photo")(layers.GlobalMaxPooling2D()(x))
    return PLAIN.finished(inputs, outputs, *material.patches(16), bodies.logits(), optimizers.AdamW(3e-3), 405, 150)


def _mixer() -> Training:
    """Handwritten digits through an MLP-Mixer over their rows."""
    keras.utils.set_random_seed(406)
    inputs = keras.Input((8, 8), name="digit")
    x = layers.Dense(24, name="rows")(inputs)
    for block in range(2):
        y = layers.Permute((2, 1))(layers.LayerNormalization()(x))
        x = layers.Add()([x, layers.Permute((2, 1))(layers.Dense(8, activation="gelu", name=f"between{block}")(y))])
        x = layers.Add()([x, layers.Dense(24, activation="gelu", name=f"within{block}")(layers.LayerNormalization()(x))])
    outputs = layers.Dense(10, name="classes")(layers.Flatten()(x))
    return PLAIN.finished(inputs, outputs, *material.digit_rows(), bodies.logits(), optimizers.Adam(4e-3), 406, 200)


def _class_and_colour() -> Training:
    """Two tasks from one square: which photograph, and its mean colour."""
    keras.utils.set_random_seed(407)
    squares, which = material.patches(12)
    inputs = keras.Input((12, 12, 3), name="square")
    x = layers.MaxPooling2D()(layers.Conv2D(16, 3, activation="elu", name="conv")(inputs))
    x = layers.Dense(32, activation="elu", name="shared")(layers.Flatten()(x))
    outputs = {"photo": layers.Dense(1, activation="sigmoid", name="photo")(x), "colour": layers.Dense(3, name="colour")(x)}
    y = {"photo": which[:, None].astype(np.float32), "colour": squares.mean((1, 2))}
    losses = {"photo": "binary_crossentropy", "colour": keras.losses.Huber()}
    return PLAIN.finished(inputs, outputs, squares, y, losses, optimizers.Adamax(5e-3), 407, 200)


def _causal() -> Training:
    """The next letter by gated causal convolutions, as WaveNet has them."""
    keras.utils.set_random_seed(408)
    inputs = keras.Input((24,), dtype="int32", name="letters")
    x = layers.Embedding(material.LETTERS, 24, name="letter")(inputs)
    for rate in (1, 2, 4):
        gate = layers.Conv1D(24, 2, dilation_rate=rate, padding="causal", activation="sigmoid", name=f"gate{rate}")(x)
        value = layers.Conv1D(24, 2, dilation_rate=rate, padding="causal", activation="tanh", name=f"value{rate}")(x)
        x = x + layers.Dense(24, name=f"out{rate}")(gate * value)
    outputs = layers.Dense(material.LETTERS, name="next")(x)
    return PLAIN.finished(inputs, outputs, *material.letters(), bodies.logits(), optimizers.Adam(1e-2), 408, 250)


def _bag() -> Training:
    """Passages as bags of words, both directions of a GRU beside the mean of the embeddings, by Adagrad's successor RMSprop."""
    keras.utils.set_random_seed(409)
    inputs = keras.Input((20,), dtype="int32", name="passage")
    words = layers.Embedding(material.WORDS, 24, name="words")(inputs)
    both = layers.Bidirectional(layers.GRU(16), name="both")(words)
    x = layers.Dropout(0.2)(layers.Concatenate()([both, layers.GlobalAveragePooling1D()(words)]))
    outputs = layers.Dense(8, activation="softmax", name="modules")(x)
    return PLAIN.finished(
        inputs, outputs, *material.passages(), "sparse_categorical_crossentropy", optimizers.RMSprop(5e-3), 409, 250
    )


def _scores(witness: Witness) -> tuple[Any, Any]:
    """What the trained model answers for its last 25 batches' rows, and their labels."""
    last = len(witness.losses)
    witness.at(last)
    rows = np.arange((last - 25) * 32, last * 32)
    return witness.model.predict(material.taken(witness.x, rows), verbose=0), material.taken(witness.y, rows)


def right(share: float) -> Callable[[Witness], bool]:
    def proved(witness: Witness) -> bool:
        scores, y = _scores(witness)
        hits = scores.argmax(-1) == y if scores.shape[-1] > 1 else (scores > 0) == (y > 0.5)
        return float(np.mean(hits)) > share

    return proved


def explains(share: float, part: str = "") -> Callable[[Witness], bool]:
    """R² of the answers."""

    def proved(witness: Witness) -> bool:
        answers, y = _scores(witness)
        answers, y = (answers[part], y[part]) if part else (answers, y)
        return 1 - float(((answers - y) ** 2).sum() / ((y - y.mean(0)) ** 2).sum()) > share

    return proved


def _finds(witness: Witness) -> bool:
    return bool(np.mean(witness.losses[-20:]) < 0.5 * np.log(32))


def healthy() -> list[Case]:
    """Nine that are also hosts of faults, and nine of other kinds."""
    plain: list[tuple[Any, int, Callable[[Witness], bool]]] = [
        (bodies.photo_cnn, 250, right(0.9)), (bodies.photo_code, 250, explains(0.85)), (bodies.text_lstm, 250, right(0.8)),
        (bodies.text_attention, 200, right(0.8)), (bodies.siamese, 400, right(0.85)), (bodies.diabetes, 200, explains(0.45)),
        (bodies.residual, 120, right(0.95)), (bodies.next_letter, 250, right(0.45)), (bodies.rows, 200, right(0.95)),
    ]  # fmt: skip
    others: list[tuple[Any, Callable[[Witness], bool]]] = [
        (_photos_depthwise, right(0.9)), (_colours, explains(0.85)), (_variational, explains(0.6)), (_matched, _finds), (_squeezed, right(0.9)),
        (_mixer, right(0.95)), (_class_and_colour, explains(0.8, "colour")), (_causal, right(0.45)), (_bag, right(0.8)),
    ]  # fmt: skip
    return [
        *(Case(f"healthy {body.__name__}", lambda body=body, steps=steps, seed=seed: body(PLAIN, seed, steps), proved)  # type: ignore[misc]
          for seed, (body, steps, proved) in enumerate(plain, 411)),
        *(Case(f"healthy {make.__name__[1:]}", make, proved) for make, proved in others),
    ]  # fmt: skip
