"""Healthy trainings of the fourth suite that host no fault, and the proofs that a training's result is good."""

from __future__ import annotations

import pydoc_data.topics
from collections.abc import Callable
from functools import cache
from typing import Any

import keras
import numpy as np
from keras import layers, ops, optimizers

from bench.case import BATCH, Case, Training

from . import fourth_bodies, material
from .planting import Plan
from .witness import Witness

PLAIN = Plan()
SYMBOLS = 32


@cache
def _prose(length: int = 16) -> tuple[np.ndarray, np.ndarray]:
    """Letters of Python's own help: int32 [pieces, length] in 0 … 31 (0 what is no small letter), and each piece's next letters."""
    text = "".join(pydoc_data.topics.topics[name] for name in ("assignment", "function", "class", "strings", "import"))
    codes = np.frombuffer(" ".join(text.lower().split()).encode("ascii", "replace"), np.uint8).astype(np.int32) - 96
    codes = np.where((codes < 0) | (codes >= SYMBOLS), 0, codes)
    starts = np.arange(0, len(codes) - length - 1, 9)[:, None] + np.arange(length)
    return codes[starts], codes[starts + 1]


def _story() -> Training:
    """The next letter of Python's help: causal attention, by Adam that warms up."""
    keras.utils.set_random_seed(771)
    inputs = keras.Input((16,), dtype="int32", name="letters")
    x = layers.Embedding(SYMBOLS, 32, name="letter")(inputs)
    places = layers.Embedding(16, 32, name="place")(ops.arange(16))
    x = x + places
    for block in ("a",):
        y = layers.LayerNormalization(name=f"{block}_norm1")(x)
        x = x + layers.MultiHeadAttention(2, 16, name=f"{block}_attention")(y, y, use_causal_mask=True)
        y = layers.Dense(64, activation="gelu", name=f"{block}_wide")(layers.LayerNormalization(name=f"{block}_norm2")(x))
        x = x + layers.Dense(32, name=f"{block}_thin")(y)
    outputs = layers.Dense(SYMBOLS, name="next")(layers.LayerNormalization(name="last_norm")(x))
    rate = optimizers.schedules.CosineDecay(1e-3, 280, alpha=0.1, warmup_target=8e-3, warmup_steps=20)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    return PLAIN.finished(inputs, outputs, *_prose(), loss, optimizers.Adam(rate, global_clipnorm=1.0), 771, 300)


def _dark_pixels() -> Training:
    """How many pixels of a square's right half are dark, from its left half: Poisson regression."""
    keras.utils.set_random_seed(772)
    squares = material.patches(11)[0]
    counts = (squares[:, :, 6:].mean(-1) < 0.4).sum((1, 2)).astype(np.float32)[:, None]
    inputs = keras.Input((11, 6, 3), name="left")
    x = layers.Conv2D(12, 3, activation="softplus", name="conv")(inputs)
    x = layers.AveragePooling2D(2, name="smaller")(x)
    x = layers.Dense(24, activation="softplus", name="wide")(layers.Flatten(name="flat")(x))
    outputs = layers.Dense(1, activation="exponential", bias_initializer=keras.initializers.Constant(3.0), name="expected")(x)
    return PLAIN.finished(inputs, outputs, squares[:, :, :6], counts, "poisson", optimizers.Adam(3e-3), 772, 200)


def _denoised() -> Training:
    """Squares without the noise that was laid over them, by convolutions in bfloat16."""
    keras.utils.set_random_seed(773)
    squares = material.patches(12)[0]
    noisy = squares + np.random.default_rng(773).normal(0, 0.15, squares.shape).astype(np.float32)
    policy = keras.DTypePolicy("mixed_bfloat16")
    inputs = keras.Input((12, 12, 3), name="noisy")
    x = layers.Conv2D(16, 3, strides=2, padding="same", activation="mish", dtype=policy, name="down")(inputs)
    x = layers.Conv2D(16, 3, padding="same", activation="mish", dtype=policy, name="across")(x)
    x = layers.UpSampling2D(2, interpolation="bilinear", dtype=policy, name="up")(x)
    x = layers.Concatenate(dtype=policy, name="beside")([x, inputs])
    outputs = layers.Conv2D(3, 3, padding="same", dtype="float32", name="clean")(x)
    return PLAIN.finished(inputs, outputs, noisy, squares, "mse", optimizers.Adam(5e-3), 773, 200)


def _random_features() -> Training:
    """Which digit, by a layer that learns upon two that were frozen on purpose, and squared hinges, by SGD with momentum."""
    keras.utils.set_random_seed(774)
    x, y = fourth_bodies.pixels()
    inputs = keras.Input((64,), name="pixels")
    part = layers.Dense(128, activation="elu", trainable=False, name="first")(inputs)
    part = layers.Dense(96, activation="elu", trainable=False, name="second")(part)
    outputs = layers.Dense(10, name="digit")(part)
    one_hot = 2 * np.eye(10, dtype=np.float32)[y] - 1
    return PLAIN.finished(inputs, outputs, x, one_hot, "squared_hinge", optimizers.SGD(0.05, momentum=0.9), 774, 150)


def _accumulated() -> Training:
    """Which digit, by convolutions, skip connections and the gradients of two batches for each update, with averaged weights kept."""
    keras.utils.set_random_seed(775)
    x, y = material.digit_rows()
    inputs = keras.Input((8, 8, 1), name="digit")
    part = layers.Conv2D(16, 3, padding="same", activation="leaky_relu", name="stem")(inputs)
    part = layers.Add(name="sum")([part, layers.Conv2D(16, 3, padding="same", activation="leaky_relu", name="branch")(part)])
    part = layers.Flatten(name="flat")(layers.MaxPooling2D(2, name="half")(part))
    outputs = layers.Dense(10, name="scores")(part)
    optimizer = optimizers.Adam(5e-3, gradient_accumulation_steps=2, use_ema=True)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    return PLAIN.finished(inputs, outputs, x[..., None], y, loss, optimizer, 775, 200)


def _pinball(y: Any, low_and_high: Any) -> Any:
    missed = y - low_and_high
    return ops.mean(ops.maximum(missed * np.array([0.2, 0.8], np.float32), missed * np.array([-0.8, -0.2], np.float32)), -1)


def _quantiles() -> Training:
    """Between which bounds a patient's measure lies (its fifth and four fifths), with layer normalisation and L2, by Adafactor."""
    keras.utils.set_random_seed(776)
    inputs = keras.Input((10,), name="patient")
    x = layers.Dense(32, activation="swish", kernel_regularizer="l2", name="d1")(inputs)
    x = layers.Dense(24, activation="swish", kernel_regularizer="l2", name="d2")(layers.LayerNormalization(name="even")(x))
    outputs = layers.Dense(2, name="bounds")(x)
    return PLAIN.finished(inputs, outputs, *material.table("diabetes"), _pinball, optimizers.Adafactor(1e-2), 776, 200)


def last_answers(witness: Witness) -> tuple[Any, Any]:
    """What the trained model answers for the rows of its last 25 batches, and their labels."""
    last = len(witness.losses)
    witness.at(last)
    rows = np.arange((last - 25) * BATCH, last * BATCH)
    return witness.model.predict(material.taken(witness.x, rows), verbose=0), material.taken(witness.y, rows)


def chosen(share: float, part: str = "") -> Callable[[Witness], bool]:
    """Of classes, numbered or one-hot, the right one has the largest score in more than this share of rows."""

    def proved(witness: Witness) -> bool:
        scores, y = last_answers(witness)
        scores, y = (scores[part], y[part]) if part else (scores, y)
        return float(np.mean(scores.argmax(-1) == (y.argmax(-1) if y.shape == scores.shape else y))) > share

    return proved


def sides(share: float, middle: float) -> Callable[[Witness], bool]:
    """Questions of yes and no have the answer on the right side of `middle` in more than this share."""

    def proved(witness: Witness) -> bool:
        scores, y = last_answers(witness)
        return float(np.mean((scores > middle) == (y > 0.5))) > share

    return proved


def explains(share: float) -> Callable[[Witness], bool]:
    """R² (of always answering the mean: 0) above this."""

    def proved(witness: Witness) -> bool:
        answers, y = last_answers(witness)
        return 1 - float(((answers - y) ** 2).sum() / ((y - y.mean(0)) ** 2).sum()) > share

    return proved


def _bounds_hold(witness: Witness) -> bool:
    """The bounds cost a fifth less than the quantiles of all rows do, and stand apart."""
    answers, y = last_answers(witness)
    fixed = np.broadcast_to(np.quantile(y, [0.2, 0.8]).astype(np.float32), answers.shape)
    costs = [float(np.mean(ops.convert_to_numpy(_pinball(y, each)))) for each in (answers, fixed)]
    return costs[0] < 0.8 * costs[1] and bool(np.mean(answers[:, 1] > answers[:, 0]) > 0.95)


def healthy() -> list[Case]:
    """Ten that are also hosts of faults, and six of other kinds.

    The most frequent class has 0.31 of the tokens, 0.26 of the letters (what most often follows a letter: 0.33), 0.4 of the wines.
    """
    hosts: list[tuple[Any, int, Callable[[Witness], bool]]] = [
        (fourth_bodies.questions, 200, sides(0.9, 0)), (fourth_bodies.lower_half, 300, explains(0.365)), (fourth_bodies.wines, 120, chosen(0.95)),
        (fourth_bodies.scan, 250, chosen(0.9)), (fourth_bodies.next_token, 250, chosen(0.55)), (fourth_bodies.experts, 100, chosen(0.95)),
        (fourth_bodies.grown_denser, 150, sides(0.95, 0.5)), (fourth_bodies.together, 250, sides(0.75, 0.5)),
        (fourth_bodies.swell, 200, explains(0.9)), (fourth_bodies.ladder, 150, chosen(0.95)),
    ]  # fmt: skip
    others: list[tuple[Any, Callable[[Witness], bool]]] = [
        (_story, chosen(0.345)), (_dark_pixels, explains(0.6)), (_denoised, explains(0.85)), (_random_features, chosen(0.9)),
        (_accumulated, chosen(0.95)), (_quantiles, _bounds_hold),
    ]  # fmt: skip
    return [
        *(Case(f"healthy fourth {body.__name__}", lambda body=body, steps=steps, seed=seed: body(PLAIN, seed, steps), proved)  # type: ignore[misc]
          for seed, (body, steps, proved) in enumerate(hosts, 761)),
        *(Case(f"healthy fourth{make.__name__}", make, proved) for make, proved in others),
    ]  # fmt: skip
