"""The models of the fourth suite into which faults are planted: other kinds, data and optimizers than the third's; each takes a `Plan`."""

from __future__ import annotations

import importlib
import inspect
import io
import keyword
import tokenize
from collections import Counter
from functools import cache
from typing import Any

import keras
import numpy as np
from keras import layers, ops, optimizers

from bench.case import Training

from . import material
from .planting import STEPS, Plan, Shown

PLAIN = Plan()
MODULES = ("heapq", "csv", "shutil", "copy", "json.decoder", "queue", "string", "calendar")
SIGNS = ("(", ")", ",", ".", "=", ":", "[", "]")
KINDS, VOCABULARY = len(SIGNS) + 6, 300


@cache
def described(size: int = 14) -> tuple[np.ndarray, np.ndarray]:
    """Squares of two photographs, and three questions about each, float32 0 or 1: of the second? brighter than most? warmer than most?"""
    squares, which = material.patches(size)
    bright, warm = squares.mean((1, 2, 3)), squares[..., 0].mean((1, 2)) - squares[..., 2].mean((1, 2))
    return squares, np.stack([which == 1, bright > np.median(bright), warm > np.median(warm)], 1).astype(np.float32)


@cache
def swells(length: int = 20, ahead: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Redness along columns of the other photograph: float32 [pieces, length, 1], and the next `ahead` numbers; of mean 0, deviation 1."""
    from sklearn.datasets import load_sample_image

    columns = load_sample_image("flower.jpg").astype(np.float32)[..., 0].T[::7]
    columns = (columns - columns.mean()) / columns.std()
    pieces = np.lib.stride_tricks.sliding_window_view(columns, length + ahead, axis=1)[:, ::13].reshape(-1, length + ahead)
    return pieces[:, :length, None].copy(), pieces[:, length:].copy()


def _kind(token: tokenize.TokenInfo) -> int:
    if token.string in SIGNS:
        return SIGNS.index(token.string)
    named = {tokenize.NUMBER: 1, tokenize.STRING: 2, tokenize.NEWLINE: 3, tokenize.OP: 4, tokenize.NAME: 5}
    return len(SIGNS) + (0 if keyword.iskeyword(token.string) else named[token.type])


@cache
def programs(length: int = 12) -> tuple[np.ndarray, np.ndarray]:
    """Tokens of eight modules of Python: int32 [pieces, length] (0 an uncommon one), and of what kind the next token is: 0 … KINDS - 1."""
    kept = (tokenize.NUMBER, tokenize.STRING, tokenize.NEWLINE, tokenize.OP, tokenize.NAME)
    texts = [inspect.getsource(importlib.import_module(name)) for name in MODULES]
    found = [token for text in texts for token in tokenize.generate_tokens(io.StringIO(text).readline) if token.type in kept]
    words = [token.string if token.type in (tokenize.NAME, tokenize.OP) else str(token.type) for token in found]
    number = {word: index + 1 for index, (word, _) in enumerate(Counter(words).most_common(VOCABULARY - 1))}
    ids, kinds = (
        np.array([number.get(word, 0) for word in words], np.int32),
        np.array([_kind(token) for token in found], np.int32),
    )
    starts = np.arange(0, len(ids) - length - 1, 3)
    return ids[starts[:, None] + np.arange(length)], kinds[starts + length]


@cache
def twins(count: int = 4000) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Pairs of squares (`left`, `right`: float32 [count, 243] of mean 0), never a square with itself, and whether both are of one photograph."""
    squares, which = material.patches(9)
    flat, random = squares.reshape(len(squares), -1) - squares.mean(), np.random.default_rng(71)
    left = random.integers(0, len(flat), count)
    right = (left + random.integers(1, len(flat), count)) % len(flat)
    return {"left": flat[left], "right": flat[right]}, (which[left] == which[right]).astype(np.float32)[:, None]


@cache
def pixels() -> tuple[np.ndarray, np.ndarray]:
    """Handwritten digits as columns of a table: float32 [1797, 64], each of mean 0 and deviation 1 (0 where it never changes)."""
    flat, classes = material.digit_rows()
    flat = flat.reshape(-1, 64)
    return (flat - flat.mean(0)) / (flat.std(0) + 0.1), classes


def questions(plan: Plan = PLAIN, seed: int = 701, steps: int = STEPS) -> Training:
    """Three questions about a square: a separable convolution, batch normalisation, channels weighed by sigmoids, by Lion."""
    keras.utils.set_random_seed(seed)
    inputs = keras.Input((14, 14, 3), name="square")
    x = plan.put(inputs, layers.Rescaling, 2.0, offset=-1.0, name="centred")
    x = plan.put(x, layers.Conv2D, 16, 3, strides=2, activation="relu", kernel_initializer="he_normal", name="conv1")
    x = plan.put(x, layers.SeparableConv2D, 24, 3, name="sep")
    x = plan.put(x, layers.BatchNormalization, momentum=0.9, name="normal")
    x = plan.put(x, layers.Activation, "swish", name="swish")
    pooled = plan.put(x, layers.GlobalAveragePooling2D, name="pool")
    weigh = plan.put(pooled, layers.Dense, 12, activation="elu", name="squeeze")
    weigh = plan.put(weigh, layers.Dense, 24, activation="sigmoid", name="excite")
    x = plan.put([pooled, weigh], layers.Multiply, name="weighed")
    x = plan.put(x, layers.Dense, 3, name="answers")
    loss = keras.losses.BinaryCrossentropy(from_logits=True)
    return plan.finished(inputs, x, *described(), loss, optimizers.Lion(1e-3), seed, steps)


def lower_half(plan: Plan = PLAIN, seed: int = 702, steps: int = STEPS) -> Training:
    """The lower half of a digit from its upper half, by a convolution and a wide layer, log-cosh and Adamax."""
    keras.utils.set_random_seed(seed)
    images = material.digit_rows()[0]
    inputs = keras.Input((4, 8, 1), name="upper")
    x = plan.put(inputs, layers.Conv2D, 16, 3, padding="same", activation="gelu", name="seen")
    x = plan.put(x, layers.Flatten, name="flat")
    x = plan.put(x, layers.Dense, units=48, activation="elu", name="mix")
    x = plan.put(x, layers.Dense, 32, name="lower")
    upper, lower = images[:, :4, :, None], 4 * images[:, 4:].reshape(-1, 32)
    return plan.finished(inputs, x, upper, lower - lower.mean(0), "log_cosh", optimizers.Adamax(8e-3), seed, steps)


def wines(plan: Plan = PLAIN, seed: int = 703, steps: int = STEPS) -> Training:
    """Which of three growers is a wine from? Leaky and parametric rectifiers, softened labels, by Adagrad."""
    keras.utils.set_random_seed(seed)
    x, y = material.table("wine")
    inputs = keras.Input((13,), name="wine")
    part = plan.put(inputs, layers.Dense, 24, name="w1")
    part = plan.put(part, layers.LeakyReLU, negative_slope=0.2, name="leaky")
    part = plan.put(part, layers.Dense, 16, name="w2")
    part = plan.put(part, layers.PReLU, alpha_initializer=keras.initializers.Constant(0.25), name="parametric")
    part = plan.put(part, layers.Dense, 3, activation="softmax", name="grower")
    loss = keras.losses.CategoricalCrossentropy(label_smoothing=0.05)
    return plan.finished(inputs, part, x, np.eye(3, dtype=np.float32)[y], loss, optimizers.Adagrad(0.05), seed, steps)


def scan(plan: Plan = PLAIN, seed: int = 704, steps: int = STEPS) -> Training:
    """Which digit, four pixels at a time, by a recurrent layer over sixteen of them, by RMSprop with clipped gradients."""
    keras.utils.set_random_seed(seed)
    x, y = material.digit_rows()
    inputs = keras.Input((16, 4), name="pixels")
    part = plan.put(inputs, layers.Rescaling, scale=2.0, offset=-1.0, name="scaled")
    part = plan.put(part, layers.Dense, 16, name="lift")
    part = plan.put(part, layers.SimpleRNN, 40, activation="tanh", name="memory")
    part = plan.put(part, layers.Dense, 10, name="digit")
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    return plan.finished(inputs, part, x.reshape(-1, 16, 4), y, loss, optimizers.RMSprop(2e-3, clipnorm=1.0), seed, steps)


def next_token(plan: Plan = PLAIN, seed: int = 705, steps: int = STEPS) -> Training:
    """What kind of token comes next in a program: a causal convolution over embedded tokens, by AMSGrad."""
    keras.utils.set_random_seed(seed)
    inputs = keras.Input((12,), dtype="int32", name="tokens")
    x = plan.put(inputs, layers.Embedding, VOCABULARY, 24, name="words")
    x = plan.put(x, layers.Conv1D, 32, 3, padding="causal", activation="relu", name="phrases")
    x = plan.put(x, layers.Flatten, name="flat")
    x = plan.put(x, layers.Dense, 32, activation="softsign", name="mix")
    x = plan.put(x, layers.Dense, KINDS, activation="softmax", name="kind")
    return plan.finished(
        inputs, x, *programs(), "sparse_categorical_crossentropy", optimizers.Adam(4e-3, amsgrad=True), seed, steps
    )


def experts(plan: Plan = PLAIN, seed: int = 706, steps: int = STEPS) -> Training:
    """Which digit, by three tanh experts that a softmax weighs, by SGD with Nesterov's momentum."""
    keras.utils.set_random_seed(seed)
    inputs = keras.Input((64,), name="pixels")
    gate = plan.put(inputs, layers.Dense, 3, activation="softmax", name="gate")
    known = [plan.put(inputs, layers.Dense, 24, activation="tanh", name=f"e{number}") for number in range(3)]
    x = plan.put([gate, *known], Shown, lambda parts: sum(parts[0][:, i : i + 1] * parts[1 + i] for i in range(3)), name="mixed")
    x = plan.put(x, layers.Dense, 10, name="digit")
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    return plan.finished(inputs, x, *pixels(), loss, optimizers.SGD(0.1, momentum=0.9, nesterov=True), seed, steps)


def grown_denser(plan: Plan = PLAIN, seed: int = 707, steps: int = STEPS) -> Training:
    """Is a tumour benign? Layers that each see all before them (as DenseNet's do), focal loss, by SGD."""
    keras.utils.set_random_seed(seed)
    x, y = material.table("breast_cancer")
    inputs = keras.Input((30,), name="cells")
    part: Any = inputs
    for number in range(1, 4):
        part = layers.Concatenate(name=f"all{number}")(
            [part, plan.put(part, layers.Dense, units=16, activation="elu", name=f"d{number}")]
        )
    part = plan.put(part, layers.Dense, 1, activation="sigmoid", name="benign")
    loss = keras.losses.BinaryFocalCrossentropy(gamma=1.0)
    return plan.finished(inputs, part, x, y[:, None].astype(np.float32), loss, optimizers.SGD(0.08), seed, steps)


def together(plan: Plan = PLAIN, seed: int = 708, steps: int = STEPS) -> Training:
    """Are two squares of one photograph? One encoder for both, the length of their codes' difference, by AdamW."""
    keras.utils.set_random_seed(seed)
    one = keras.Input((243,))
    x = plan.put(one, layers.Dense, 48, activation="silu", name="wide")
    encoder = keras.Model(one, plan.put(x, layers.Dense, 12, name="code"), name="encoder")
    left, right = keras.Input((243,), name="left"), keras.Input((243,), name="right")
    codes = [encoder(left), encoder(right)]
    x = plan.put(codes, Shown, lambda two: ops.sqrt(ops.sum(ops.square(two[0] - two[1]), -1, keepdims=True)), name="distance")
    x = plan.put(x, layers.Dense, 1, activation="sigmoid", kernel_initializer=keras.initializers.Constant(-0.5), name="same")
    inputs = {"left": left, "right": right}
    return plan.finished(inputs, x, *twins(), "binary_crossentropy", optimizers.AdamW(3e-3), seed, steps)


def swell(plan: Plan = PLAIN, seed: int = 709, steps: int = STEPS) -> Training:
    """What comes next along a photograph's columns, by an LSTM, by Adam and the mean squared error."""
    keras.utils.set_random_seed(seed)
    inputs = keras.Input((20, 1), name="column")
    x = plan.put(inputs, layers.LSTM, 24, name="memory")
    x = plan.put(x, layers.Dense, 16, activation="elu", name="thin")
    x = plan.put(x, layers.Dense, 3, name="next")
    return plan.finished(inputs, x, *swells(), "mse", optimizers.Adam(5e-3), seed, steps)


def ladder(plan: Plan = PLAIN, seed: int = 710, steps: int = STEPS) -> Training:
    """Which digit, through two layers of SiLU, by Nadam."""
    keras.utils.set_random_seed(seed)
    inputs = keras.Input((64,), name="pixels")
    x = plan.put(inputs, layers.Dense, units=40, activation="silu", name="h1")
    x = plan.put(x, layers.Dense, units=24, activation="silu", name="h2")
    x = plan.put(x, layers.Dense, 10, name="digit")
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    return plan.finished(inputs, x, *pixels(), loss, optimizers.Nadam(3e-3), seed, steps)


def tower(
    plan: Plan = PLAIN, seed: int = 711, steps: int = STEPS, activation: str = "relu", start: Any = "he_normal"
) -> Training:
    """Which grower, through twelve equal layers, by SGD."""
    keras.utils.set_random_seed(seed)
    inputs = keras.Input((13,), name="wine")
    x = inputs
    for number in range(12):
        x = plan.put(x, layers.Dense, 24, activation=activation, kernel_initializer=start, name=f"t{number}")
    x = plan.put(x, layers.Dense, 3, name="grower")
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    return plan.finished(inputs, x, *material.table("wine"), loss, optimizers.SGD(0.02), seed, steps)


def sigmoid_convolutions(plan: Plan = PLAIN, seed: int = 712, steps: int = STEPS) -> Training:
    """Which digit, through ten convolutions with sigmoids, by Adam."""
    keras.utils.set_random_seed(seed)
    x, y = material.digit_rows()
    inputs = keras.Input((8, 8, 1), name="digit")
    part = inputs
    for number in range(10):
        part = plan.put(part, layers.Conv2D, 8, 3, padding="same", activation="sigmoid", name=f"c{number}")
    part = plan.put(part, layers.GlobalAveragePooling2D, name="pool")
    part = plan.put(part, layers.Dense, 10, name="scores")
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    return plan.finished(inputs, part, x[..., None], y, loss, optimizers.Adam(1e-3), seed, steps)
