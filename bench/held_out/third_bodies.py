"""The models of the third suite: other kinds, seeds and data than the first two; each takes a `Plan` and a seed."""

from __future__ import annotations

import importlib
import inspect
import re
from collections import Counter
from functools import cache

import keras
import numpy as np
from keras import layers, optimizers

from bench.case import Training

from . import material
from .bodies import logits
from .planting import STEPS, Plan

PLAIN = Plan()
MODULES = ("optparse", "pdb", "zipfile", "doctest", "random", "textwrap")


@cache
def quarters(size: int = 10) -> tuple[np.ndarray, np.ndarray]:
    """Squares of two photographs, and which photograph's upper or lower half each is of: int32 in 0 … 3."""
    squares, which = material.patches(size)
    count = np.bincount(which)
    is_low = np.concatenate([np.arange(each) >= each // 2 for each in count])
    return squares, (2 * which + is_low).astype(np.int32)


@cache
def series(length: int = 24, ahead: int = 4) -> tuple[np.ndarray, np.ndarray]:
    """Brightness along rows of a photograph: float32 [pieces, length, 1], and the next `ahead` numbers; of mean 0, deviation 1."""
    from sklearn.datasets import load_sample_image

    rows = load_sample_image("china.jpg").astype(np.float32).mean(-1)[::9]
    rows = (rows - rows.mean()) / rows.std()
    pieces = np.lib.stride_tricks.sliding_window_view(rows, length + ahead, axis=1)[:, ::11].reshape(-1, length + ahead)
    return pieces[:, :length, None].copy(), pieces[:, length:].copy()


@cache
def bags(length: int = 30, words: int = 200) -> tuple[np.ndarray, np.ndarray]:
    """How often each of the most common words stands in passages of six modules: float32 [passages, words], and the module."""
    texts = [re.findall(r"[a-z]+", inspect.getsource(importlib.import_module(name)).lower()) for name in MODULES]
    common = [word for word, _ in Counter(word for text in texts for word in text).most_common(words)]
    number = {word: index for index, word in enumerate(common)}
    rows, which = [], []
    for index, text in enumerate(texts):
        for start in range(0, min(len(text), 5000) - length, length // 2):
            known = [number[word] for word in text[start : start + length] if word in number]
            rows.append(np.bincount(known, minlength=words))
            which.append(index)
    return np.array(rows, np.float32), np.array(which, np.int32)


def quarter(plan: Plan = PLAIN, seed: int = 601, steps: int = STEPS) -> Training:
    """Two convolutions with group normalisation between them, by Adam."""
    keras.utils.set_random_seed(seed)
    inputs = keras.Input((10, 10, 3), name="square")
    x = plan.put(inputs, layers.Conv2D, 16, 3, activation="relu", name="conv1")
    x = plan.put(x, layers.GroupNormalization, 4, name="grouped")
    x = plan.put(x, layers.Conv2D, 24, 3, strides=2, activation="relu", name="conv2")
    x = plan.put(x, layers.Flatten, name="flat")
    x = plan.put(x, layers.Dense, 32, activation="relu", name="mix")
    x = plan.put(x, layers.Dense, 4, name="scores")
    return plan.finished(inputs, x, *quarters(), logits(), optimizers.Adam(3e-3), seed, steps)


def ahead(plan: Plan = PLAIN, seed: int = 602, steps: int = STEPS) -> Training:
    """What comes next in a series, by convolutions over it and a tanh layer: a regression, by Adam."""
    keras.utils.set_random_seed(seed)
    inputs = keras.Input((24, 1), name="series")
    x = plan.put(inputs, layers.Conv1D, 16, 5, activation="relu", name="near")
    x = plan.put(x, layers.Conv1D, 16, 3, activation="relu", name="far")
    x = plan.put(x, layers.Flatten, name="flat")
    x = plan.put(x, layers.Dense, 32, activation="tanh", name="mix")
    x = plan.put(x, layers.Dense, 4, name="next")
    return plan.finished(inputs, x, *series(), "mse", optimizers.Adam(3e-3), seed, steps)


def bag(plan: Plan = PLAIN, seed: int = 603, steps: int = STEPS) -> Training:
    """Passages as counts of words, through two rectified layers with dropout, by Adam."""
    keras.utils.set_random_seed(seed)
    inputs = keras.Input((200,), name="counts")
    x = plan.put(inputs, layers.Rescaling, scale=0.5, name="scaled")
    x = plan.put(x, layers.Dense, 48, activation="relu", kernel_initializer="he_normal", name="h1")
    x = plan.put(x, layers.Dropout, 0.2, name="dropped")
    x = plan.put(x, layers.Dense, 32, activation="relu", kernel_initializer="he_normal", name="h2")
    x = plan.put(x, layers.Dense, 6, name="modules")
    return plan.finished(inputs, x, *bags(), logits(), optimizers.Adam(3e-3), seed, steps)


def tokens(plan: Plan = PLAIN, seed: int = 604, steps: int = STEPS) -> Training:
    """Digits as sixteen tokens of four pixels, one attention over them, by Nadam."""
    keras.utils.set_random_seed(seed)
    x, y = material.digit_rows()
    pieces = x.reshape(-1, 4, 2, 4, 2).transpose(0, 1, 3, 2, 4).reshape(-1, 16, 4)
    inputs = keras.Input((16, 4), name="pieces")
    part = plan.put(inputs, layers.Dense, 20, name="embed")
    part = part + layers.MultiHeadAttention(2, 10, name="attention")(part, part)
    part = plan.put(part, layers.LayerNormalization, name="even")
    part = plan.put(part, layers.Flatten, name="flat")
    part = plan.put(part, layers.Dense, 32, activation="elu", name="wide")
    part = plan.put(part, layers.Dense, 10, name="digit")
    return plan.finished(inputs, part, pieces, y, logits(), optimizers.Nadam(3e-3), seed, steps)


def code(plan: Plan = PLAIN, seed: int = 605, steps: int = STEPS) -> Training:
    """Digits through a tanh code of twelve numbers and back, by Adam and the cross entropy of each pixel."""
    keras.utils.set_random_seed(seed)
    flat = material.digit_rows()[0].reshape(-1, 64)
    inputs = keras.Input((64,), name="digit")
    x = plan.put(inputs, layers.Dense, 40, activation="relu", name="enc")
    x = plan.put(x, layers.Dense, 12, activation="tanh", name="code")
    x = plan.put(x, layers.Dense, 40, activation="relu", name="dec")
    x = plan.put(x, layers.Dense, 64, activation="sigmoid", name="picture")
    return plan.finished(inputs, x, flat, flat, "binary_crossentropy", optimizers.Adam(5e-3), seed, steps)


def selu(plan: Plan = PLAIN, seed: int = 606, steps: int = STEPS) -> Training:
    """Tumours through five SELU layers, by SGD."""
    keras.utils.set_random_seed(seed)
    inputs = keras.Input((30,), name="cells")
    x = inputs
    for number in range(1, 6):
        x = plan.put(x, layers.Dense, 20, activation="selu", kernel_initializer="lecun_normal", name=f"d{number}")
    x = plan.put(x, layers.Dense, 2, name="scores")
    return plan.finished(inputs, x, *material.table("breast_cancer"), logits(), optimizers.SGD(0.05), seed, steps)


def sigmoids(plan: Plan = PLAIN, seed: int = 607, steps: int = STEPS) -> Training:
    """Digits through ten sigmoid layers, by Adam."""
    keras.utils.set_random_seed(seed)
    x, y = material.digit_rows()
    inputs = keras.Input((64,), name="pixels")
    part = inputs
    for number in range(10):
        part = plan.put(part, layers.Dense, 24, activation="sigmoid", name=f"s{number}")
    part = plan.put(part, layers.Dense, 10, name="digit")
    return plan.finished(inputs, part, x.reshape(-1, 64), y, logits(), optimizers.Adam(1e-3), seed, steps)


def grown(plan: Plan = PLAIN, seed: int = 608, steps: int = STEPS) -> Training:
    """Which digit, row by row, by a recurrent layer over rows in both directions: healthy only."""
    keras.utils.set_random_seed(seed)
    inputs = keras.Input((8, 8), name="rows")
    x = layers.Bidirectional(layers.SimpleRNN(24), name="both")(inputs)
    outputs = layers.Dense(10, name="digit")(layers.BatchNormalization(name="normal")(x))
    return plan.finished(inputs, outputs, *material.digit_rows(), logits(), optimizers.RMSprop(3e-3), seed, steps)


def next_quarter(plan: Plan = PLAIN, seed: int = 609, steps: int = STEPS) -> Training:
    """The mean colour of a square from its outline alone, by a dense network with Huber's loss: healthy only."""
    keras.utils.set_random_seed(seed)
    squares, _ = quarters()
    inputs = keras.Input((10, 3), name="top")
    x = layers.Dense(32, activation="gelu", name="g1")(layers.Flatten(name="flat")(inputs))
    outputs = layers.Dense(3, name="colour")(layers.Dense(16, activation="gelu", name="g2")(x))
    y = squares[:, 1:].mean((1, 2))
    y = (y - y.mean(0)) / y.std(0)
    return plan.finished(inputs, outputs, squares[:, 0], y, keras.losses.Huber(), optimizers.AdamW(4e-3), seed, steps)
