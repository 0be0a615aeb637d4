"""The models of the fifth suite into which faults are planted: other kinds, data and optimizers than the fourth's; each takes a `Plan`."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Mapping
from functools import cache

import keras
import numpy as np
from keras import layers, ops, optimizers

from bench.case import Training

from . import material
from .bodies import logits
from .planting import STEPS, Plan, Shown

PLAIN = Plan()
MODULES = ("smtplib", "zipfile", "fractions", "inspect", "http.cookiejar", "gettext")
LETTERS, PLACES = keras.initializers.RandomNormal(stddev=0.4, seed=11), keras.initializers.RandomNormal(stddev=0.5, seed=12)
SIZE, HOLE = 10, slice(3, 7)
BOTH_LOSSES: Mapping[str, str | None] = {"digit": "sparse_categorical_crossentropy", "odd": "binary_crossentropy"}


@cache
def holes() -> tuple[np.ndarray, np.ndarray]:
    """Squares of two photographs with a black hole: float32 [squares, 10, 10, 3] in 0 … 1, and the hole's mean colour, doubled, around 0."""
    squares = material.patches(SIZE)[0].copy()
    colour = squares[:, HOLE, HOLE].mean((1, 2))
    squares[:, HOLE, HOLE] = 0
    return squares, 2 * (colour - colour.mean(0))


@cache
def snippets(length: int = 40) -> tuple[np.ndarray, np.ndarray]:
    """Letters of six modules of Python: int32 [pieces, length] in 0 … 63, and which module each piece is of."""
    rows, which = [], []
    for index, name in enumerate(MODULES):
        text = " ".join(inspect.getsource(importlib.import_module(name)).lower().split())[:20000]
        codes = np.frombuffer(text.encode("ascii", "replace"), np.uint8).astype(np.int32)
        codes = np.where(codes >= 96, codes - 64, np.maximum(codes - 32, 0)) % material.LETTERS
        starts = np.arange(0, len(codes) - length, 13)
        rows.append(codes[starts[:, None] + np.arange(length)])
        which.append(np.full(len(starts), index, np.int32))
    return np.concatenate(rows), np.concatenate(which)


@cache
def grey() -> tuple[np.ndarray, np.ndarray]:
    """Handwritten digits as rows of 64 numbers around 0 (float32 [1797, 64], of deviation 1 over all), and their classes."""
    flat, classes = material.digit_rows()
    flat = flat.reshape(-1, 64)
    return (flat - flat.mean()) / flat.std(), classes


def rim(plan: Plan = PLAIN, seed: int = 801, steps: int = STEPS) -> Training:
    """The colour of a hole in a square, from what is around it: group normalisation, Huber's loss, by RMSprop with momentum."""
    keras.utils.set_random_seed(seed)
    inputs = keras.Input((SIZE, SIZE, 3), name="square")
    x = plan.put(inputs, layers.Rescaling, 2.0, offset=-1.0, name="centred")
    x = plan.put(x, layers.Conv2D, 16, 3, name="conv1")
    x = plan.put(x, layers.GroupNormalization, 4, name="norm")
    x = plan.put(x, layers.Activation, activation="relu", name="bent")
    x = plan.put(x, layers.Conv2D, 24, 3, strides=2, activation="elu", name="conv2")
    x = plan.put(x, layers.Flatten, name="flat")
    x = plan.put(x, layers.Dense, 32, activation="elu", name="mix")
    x = plan.put(x, layers.Dense, 3, name="colour")
    return plan.finished(inputs, x, *holes(), "huber", optimizers.RMSprop(1e-3, momentum=0.5), seed, steps)


def highway(plan: Plan = PLAIN, seed: int = 802, steps: int = STEPS) -> Training:
    """Is a tumour benign? Two highway layers (Srivastava et al. 2015), by SGD with momentum."""
    keras.utils.set_random_seed(seed)
    x, y = material.table("breast_cancer")
    inputs = keras.Input((30,), name="cells")
    part = plan.put(inputs, layers.Dense, 24, activation="tanh", name="stem")
    for block in ("a", "b"):
        much = plan.put(part, layers.Dense, 24, activation="sigmoid", name=f"gate_{block}")
        change = plan.put(part, layers.Dense, 24, activation="elu", name=f"change_{block}")
        part = plan.put(
            [part, much, change], Shown, lambda three: three[0] + three[1] * (three[2] - three[0]), name=f"road_{block}"
        )
    part = plan.put(part, layers.Dense, 1, name="benign")
    loss = keras.losses.BinaryCrossentropy(from_logits=True)
    optimizer = optimizers.SGD(0.05, momentum=0.9)
    return plan.finished(inputs, part, x, y[:, None].astype(np.float32), loss, optimizer, seed, steps)


def author(plan: Plan = PLAIN, seed: int = 803, steps: int = STEPS) -> Training:
    """Which module are forty letters of? Two convolutions and the strongest match of each filter, by Adam with clipped gradients."""
    keras.utils.set_random_seed(seed)
    inputs = keras.Input((40,), dtype="int32", name="letters")
    x = plan.put(inputs, layers.Embedding, material.LETTERS, 16, embeddings_initializer=LETTERS, name="chars")
    x = plan.put(x, layers.Conv1D, 32, 5, activation="relu", name="grams")
    x = plan.put(x, layers.MaxPooling1D, 2, name="half")
    x = plan.put(x, layers.Conv1D, 32, 3, activation="relu", name="phrases")
    x = plan.put(x, layers.GlobalMaxPooling1D, name="best")
    x = plan.put(x, layers.Dense, len(MODULES), activation="softmax", name="module")
    optimizer = optimizers.Adam(4e-3, clipnorm=1.0)
    return plan.finished(inputs, x, *snippets(), "sparse_categorical_crossentropy", optimizer, seed, steps)


def wide_and_deep(plan: Plan = PLAIN, seed: int = 804, steps: int = STEPS) -> Training:
    """Which grower is a wine of? A deep part beside the table's own columns, by Adamax."""
    keras.utils.set_random_seed(seed)
    x, y = material.table("wine")
    inputs = keras.Input((13,), name="wine")
    part = plan.put(inputs, layers.Dense, 32, activation="softplus", name="deep1")
    part = plan.put(part, layers.Dense, 16, activation="elu", name="deep2")
    part = layers.Concatenate(name="beside")([inputs, part])
    part = plan.put(part, layers.Dense, 3, activation="softmax", name="grower")
    one_hot = np.eye(3, dtype=np.float32)[y]
    return plan.finished(inputs, part, x, one_hot, "categorical_crossentropy", optimizers.Adamax(6e-3), seed, steps)


def two_heads(
    plan: Plan = PLAIN, seed: int = 805, steps: int = STEPS, losses: Mapping[str, str | None] = BOTH_LOSSES
) -> Training:
    """Which digit, and is it odd? Two convolutions for both questions, by Adam."""
    keras.utils.set_random_seed(seed)
    x, y = material.digit_rows()
    inputs = keras.Input((8, 8, 1), name="image")
    part = plan.put(inputs, layers.Conv2D, 16, 3, activation="relu", kernel_initializer="he_normal", name="edges")
    part = plan.put(part, layers.Conv2D, 24, 3, strides=2, activation="relu", kernel_initializer="he_normal", name="parts")
    part = plan.put(part, layers.Flatten, name="flat")
    part = plan.put(part, layers.Dense, 32, activation="relu", kernel_initializer="he_normal", name="shared")
    digit = plan.put(part, layers.Dense, 10, activation="softmax", name="digit")
    odd = plan.put(part, layers.Dense, 12, activation="elu", name="odd_mix")
    odd = plan.put(odd, layers.Dense, 1, activation="sigmoid", name="odd")
    labels = {"digit": y, "odd": (y % 2)[:, None].astype(np.float32)}
    outputs = {"digit": digit, "odd": odd}
    return plan.finished(inputs, outputs, x[..., None], labels, dict(losses), optimizers.Adam(3e-3), seed, steps)


def strips(plan: Plan = PLAIN, seed: int = 806, steps: int = STEPS) -> Training:
    """Which digit, by an LSTM in both directions over its columns, pooled with learnt weights, by Adam."""
    keras.utils.set_random_seed(seed)
    x, y = material.digit_rows()
    inputs = keras.Input((8, 8), name="columns")
    part = plan.put(inputs, layers.Rescaling, 2.0, offset=-0.6, name="centred")
    part = layers.Bidirectional(layers.LSTM(20, return_sequences=True), name="both")(part)
    scores = plan.put(part, layers.Dense, 1, name="scores")
    weights = plan.put(scores, layers.Softmax, axis=1, name="weights")
    part = plan.put([part, weights], Shown, lambda two: ops.sum(two[0] * two[1], 1), name="pooled")
    part = plan.put(part, layers.Dense, 10, name="digit")
    return plan.finished(inputs, part, x.transpose(0, 2, 1).copy(), y, logits(), optimizers.Adam(8e-3), seed, steps)


def tokens(plan: Plan = PLAIN, seed: int = 807, steps: int = STEPS) -> Training:
    """Which digit, by attention among sixteen tokens of four pixels that know their place (as ViT's do), by AdamW."""
    keras.utils.set_random_seed(seed)
    x, y = grey()
    x = x.reshape(-1, 4, 2, 4, 2).transpose(0, 1, 3, 2, 4).reshape(-1, 16, 4).copy()
    inputs = keras.Input((16, 4), name="tokens")
    part = plan.put(inputs, layers.Dense, 32, name="lift")
    part = part + layers.Embedding(16, 32, embeddings_initializer=PLACES, name="place")(ops.arange(16))
    seen = plan.put(part, layers.LayerNormalization, name="norm1")
    part = part + layers.MultiHeadAttention(4, 8, name="attention")(seen, seen)
    seen = plan.put(part, layers.LayerNormalization, name="norm2")
    seen = plan.put(seen, layers.Dense, 64, activation="gelu", name="wide")
    part = part + plan.put(seen, layers.Dense, 32, name="thin")
    part = plan.put(part, layers.LayerNormalization, name="norm3")
    part = plan.put(part, layers.GlobalAveragePooling1D, name="pool")
    part = plan.put(part, layers.Dense, 10, name="digit")
    return plan.finished(inputs, part, x, y, logits(), optimizers.AdamW(8e-3), seed, steps)


def patient(plan: Plan = PLAIN, seed: int = 808, steps: int = STEPS) -> Training:
    """How far has a patient's diabetes come? Batch normalisation, Huber's loss, by SGD with Nesterov's momentum."""
    keras.utils.set_random_seed(seed)
    inputs = keras.Input((10,), name="patient")
    x = plan.put(inputs, layers.Dense, 32, use_bias=False, name="d1")
    x = plan.put(x, layers.BatchNormalization, momentum=0.9, name="norm")
    x = plan.put(x, layers.Activation, "silu", name="bent")
    x = plan.put(x, layers.Dense, 16, activation="silu", name="d2")
    x = plan.put(x, layers.Dense, 1, name="measure")
    optimizer = optimizers.SGD(0.02, momentum=0.9, nesterov=True)
    return plan.finished(inputs, x, *material.table("diabetes"), "huber", optimizer, seed, steps)


def deep(plan: Plan = PLAIN, seed: int = 809, steps: int = STEPS, depth: int = 3, activation: str = "tanh") -> Training:
    """Which digit, through equal layers with orthogonal kernels, by Adam."""
    keras.utils.set_random_seed(seed)
    inputs = keras.Input((64,), name="pixels")
    x = inputs
    for number in range(depth):
        x = plan.put(x, layers.Dense, 40, activation=activation, kernel_initializer="orthogonal", name=f"l{number}")
    x = plan.put(x, layers.Dense, 10, name="digit")
    return plan.finished(inputs, x, *grey(), logits(), optimizers.Adam(2e-3), seed, steps)
