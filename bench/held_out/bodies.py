"""The models into which this suite plants faults, and trains without any. Each takes a `Plan` and a seed; none stands in `faults.py`."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
from keras import layers, ops, optimizers

from bench.case import Training

from . import material
from .planting import STEPS, Plan, Shown

NOTHING = Plan()


def logits() -> Any:
    return keras.losses.SparseCategoricalCrossentropy(from_logits=True)


def photo_cnn(plan: Plan = NOTHING, seed: int = 101, steps: int = STEPS) -> Training:
    """Which photograph is a square of 16 pixels of? Two convolutions, without normalisation, and Adam."""
    keras.utils.set_random_seed(seed)
    inputs = keras.Input((16, 16, 3), name="square")
    x = plan.put(inputs, layers.Rescaling, 2.0, offset=-1.0, name="centred")
    x = plan.put(x, layers.Conv2D, 12, 3, strides=2, activation="relu", kernel_initializer="he_uniform", name="conv1")
    x = plan.put(x, layers.Conv2D, 20, 3, activation="relu", kernel_initializer="he_uniform", name="conv2")
    x = plan.put(x, layers.GlobalAveragePooling2D, name="pool")
    x = plan.put(x, layers.Dense, 16, activation="relu", name="mix")
    x = plan.put(x, layers.Dense, 2, name="scores")
    loss = logits() if x.shape[-1] == 2 else "binary_crossentropy"
    return plan.finished(inputs, x, *material.patches(16), loss, optimizers.Adam(4e-3), seed, steps)


def photo_code(plan: Plan = NOTHING, seed: int = 102, steps: int = STEPS) -> Training:
    """Squares of 8 pixels through a code of 24 numbers and back, by RMSprop."""
    keras.utils.set_random_seed(seed)
    squares = material.patches(8)[0].reshape(-1, 192)
    squares = squares - squares.mean()
    inputs = keras.Input((192,), name="square")
    x = plan.put(inputs, layers.Dense, 64, activation="elu", name="enc")
    x = plan.put(x, layers.Dense, 24, name="code")
    x = plan.put(x, layers.Dense, 64, activation="elu", name="dec")
    x = plan.put(x, layers.Dense, 192, name="picture")
    return plan.finished(inputs, x, squares, squares, "mse", optimizers.RMSprop(2e-3), seed, steps)


def text_lstm(plan: Plan = NOTHING, seed: int = 103, steps: int = STEPS) -> Training:
    """Which module of Python is a passage of? An embedding, an LSTM and a tanh layer, by Adam."""
    keras.utils.set_random_seed(seed)
    inputs = keras.Input((20,), dtype="int32", name="passage")
    x = plan.put(inputs, layers.Embedding, material.WORDS, 24, name="words")
    x = plan.put(x, layers.LSTM, 32, name="memory")
    x = plan.put(x, layers.Dense, 24, activation="tanh", name="mix")
    x = plan.put(x, layers.Dense, 8, name="modules")
    return plan.finished(inputs, x, *material.passages(), logits(), optimizers.Adam(8e-3), seed, steps)


def text_attention(plan: Plan = NOTHING, seed: int = 104, steps: int = STEPS) -> Training:
    """The same question, with one attention over the words, layer normalisation and GELU, by AdamW."""
    keras.utils.set_random_seed(seed)
    inputs = keras.Input((20,), dtype="int32", name="passage")
    x = plan.put(inputs, layers.Embedding, material.WORDS, 24, name="words")
    x = plan.put(x, layers.LayerNormalization, name="norm1")
    x = x + layers.MultiHeadAttention(2, 12, name="attention")(x, x)
    x = plan.put(x, layers.LayerNormalization, name="norm2")
    x = plan.put(x, layers.Dense, 32, activation="gelu", name="wide")
    x = plan.put(x, layers.Dense, 24, name="thin")
    x = plan.put(x, layers.GlobalAveragePooling1D, name="pool")
    x = plan.put(x, layers.Dense, 8, name="modules")
    return plan.finished(inputs, x, *material.passages(), logits(), optimizers.AdamW(5e-3), seed, steps)


def siamese(plan: Plan = NOTHING, seed: int = 105, steps: int = STEPS) -> Training:
    """Are two handwritten digits the same? One encoder for both, the distance of their codes, and SGD with momentum."""
    keras.utils.set_random_seed(seed)
    one = keras.Input((64,))
    x = plan.put(one, layers.Dense, 48, activation="relu", kernel_initializer="he_normal", name="wide")
    encoder = keras.Model(one, plan.put(x, layers.Dense, 16, name="code"), name="encoder")
    left, right = keras.Input((64,), name="left"), keras.Input((64,), name="right")
    apart = encoder(left) - encoder(right)
    x = plan.put(apart, Shown, ops.abs, name="distance")
    x = plan.put(x, layers.Dense, 1, name="same")
    loss = keras.losses.BinaryCrossentropy(from_logits=True)
    inputs = {"left": left, "right": right}
    return plan.finished(inputs, x, *material.pairs(seed), loss, optimizers.SGD(0.05, momentum=0.8), seed, steps)


def diabetes(plan: Plan = NOTHING, seed: int = 106, steps: int = STEPS) -> Training:
    """A regression on a table by three tanh layers and SGD."""
    keras.utils.set_random_seed(seed)
    inputs = keras.Input((10,), name="patient")
    x = inputs
    for name, units in (("d1", 32), ("d2", 32), ("d3", 16)):
        x = plan.put(x, layers.Dense, units, activation="tanh", name=name)
    x = plan.put(x, layers.Dense, 1, name="target")
    return plan.finished(inputs, x, *material.table("diabetes"), "mse", optimizers.SGD(0.05), seed, steps)


def residual(plan: Plan = NOTHING, seed: int = 107, steps: int = STEPS) -> Training:
    """Is a tumour benign? Two residual blocks with layer normalisation, by Nadam."""
    keras.utils.set_random_seed(seed)
    inputs = keras.Input((30,), name="cells")
    x = plan.put(inputs, layers.Dense, 24, name="stem")
    for block in ("a", "b"):
        y = plan.put(x, layers.LayerNormalization, name=f"{block}_norm")
        y = plan.put(y, layers.Dense, 24, activation="relu", name=f"{block}_wide")
        x = x + plan.put(y, layers.Dense, 24, name=f"{block}_thin")
    x = plan.put(x, layers.LayerNormalization, name="last_norm")
    x = plan.put(x, layers.Dense, 2, name="scores")
    return plan.finished(inputs, x, *material.table("breast_cancer"), logits(), optimizers.Nadam(2e-3), seed, steps)


def next_letter(plan: Plan = NOTHING, seed: int = 108, steps: int = STEPS) -> Training:
    """The next letter of a text, at each place: a GRU that returns its sequence, by Adam."""
    keras.utils.set_random_seed(seed)
    inputs = keras.Input((24,), dtype="int32", name="letters")
    x = plan.put(inputs, layers.Embedding, material.LETTERS, 16, name="letter")
    x = plan.put(x, layers.GRU, 48, return_sequences=True, name="gru")
    x = plan.put(x, layers.Dense, material.LETTERS, name="next")
    return plan.finished(inputs, x, *material.letters(), logits(), optimizers.Adam(1e-2), seed, steps)


def rows(plan: Plan = NOTHING, seed: int = 109, steps: int = STEPS) -> Training:
    """Which digit is it, row by row: two dilated convolutions over the rows, swish, by Adam."""
    keras.utils.set_random_seed(seed)
    inputs = keras.Input((8, 8), name="digit")
    x = plan.put(inputs, layers.Conv1D, 32, 3, padding="same", activation="swish", name="near")
    x = plan.put(x, layers.Conv1D, 32, 3, padding="same", dilation_rate=2, activation="swish", name="far")
    x = plan.put(x, layers.Flatten, name="flat")
    x = plan.put(x, layers.Dense, 24, activation="swish", name="mix")
    x = plan.put(x, layers.Dense, 10, name="classes")
    return plan.finished(inputs, x, *material.digit_rows(), logits(), optimizers.Adam(4e-3), seed, steps)


def deep_sigmoid(plan: Plan = NOTHING, seed: int = 110, steps: int = STEPS) -> Training:
    """Irises through twelve sigmoid layers, by Adam: the textbook's vanishing gradient."""
    keras.utils.set_random_seed(seed)
    inputs = keras.Input((4,), name="flower")
    x = inputs
    for depth in range(12):
        x = plan.put(x, layers.Dense, 16, activation="sigmoid", name=f"s{depth}")
    x = plan.put(x, layers.Dense, 3, name="kinds")
    return plan.finished(inputs, x, *material.table("iris"), logits(), optimizers.Adam(1e-3), seed, steps)


def wild_table(plan: Plan = NOTHING, seed: int = 111, steps: int = STEPS) -> Training:
    """Tumours in the table's own units (up to 4,254) through two tanh layers, by Adam."""
    keras.utils.set_random_seed(seed)
    inputs = keras.Input((30,), name="cells")
    x = plan.put(inputs, layers.Dense, 24, activation="tanh", name="first")
    x = plan.put(x, layers.Dense, 12, activation="tanh", name="second")
    x = plan.put(x, layers.Dense, 2, name="scores")
    return plan.finished(inputs, x, *material.table("breast_cancer", raw=True), logits(), optimizers.Adam(3e-3), seed, steps)


def accuracy(training_or_model: Any, x: Any, y: np.ndarray) -> float:
    """The share of rows whose largest score (of one score: whose sign) is right."""
    scores = training_or_model.predict(x, verbose=0)
    right = scores.argmax(-1) == y if scores.shape[-1] > 1 else (scores > 0) == (y > 0.5)
    return float(np.mean(right))
