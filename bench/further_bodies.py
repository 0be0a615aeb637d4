"""Models of still other kinds on which thresholds are set; each takes a `Plan`, a seed and a number of steps."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
from keras import layers, ops, optimizers

from .case import Training
from .faults import digits
from .held_out import material
from .held_out.planting import Plan
from .more_bodies import PLAIN, images, logits


class Places(layers.Layer):  # type: ignore[misc]
    """Adds a learnt vector for each place."""

    def build(self, shape: Any) -> None:
        self.places = self.add_weight(shape=(1, *shape[1:]), name="places", initializer=keras.initializers.RandomNormal(0, 0.02))

    def call(self, x: Any) -> Any:
        return x + self.places


def letters(plan: Plan = PLAIN, seed: int = 401, steps: int = 60) -> Training:
    """The next letter by two blocks of a small GPT: learnt places, small kernels, a warm-up, SGD-free AdamW with clipping."""
    keras.utils.set_random_seed(seed)
    small: Any = {"kernel_initializer": keras.initializers.TruncatedNormal(stddev=0.02, seed=seed)}
    inputs = keras.Input((24,), dtype="int32", name="letters")
    x = plan.put(
        inputs,
        layers.Embedding,
        material.LETTERS,
        32,
        embeddings_initializer=keras.initializers.RandomNormal(0, 0.02),
        name="letter",
    )
    x = plan.put(x, Places, name="places")
    for block in ("a", "b"):
        y = plan.put(x, layers.LayerNormalization, name=f"{block}_norm1")
        x = x + layers.MultiHeadAttention(4, 8, name=f"{block}_attention", **small)(y, y, use_causal_mask=True)
        y = plan.put(x, layers.LayerNormalization, name=f"{block}_norm2")
        y = plan.put(y, layers.Dense, 64, activation="gelu", name=f"{block}_wide", **small)
        y = plan.put(y, layers.Dropout, 0.1, name=f"{block}_dropped")
        x = x + plan.put(y, layers.Dense, 32, name=f"{block}_thin", **small)
    x = plan.put(x, layers.LayerNormalization, name="norm")
    x = plan.put(x, layers.Dense, material.LETTERS, name="next", **small)
    rate = optimizers.schedules.CosineDecay(0.0, steps, warmup_target=8e-3, warmup_steps=steps // 10)
    optimizer = optimizers.AdamW(rate, weight_decay=0.01, global_clipnorm=1.0)
    return plan.finished(inputs, x, *material.letters(), logits(), optimizer, seed, steps)


class Skips(layers.Layer):  # type: ignore[misc]
    """Stochastic depth (Huang et al. 2016): a branch that is left out in every second step or so."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.seeds = keras.random.SeedGenerator(5)

    def call(self, x: Any, training: bool = False) -> Any:
        return x * ops.cast(keras.random.uniform((), seed=self.seeds) > 0.5, x.dtype) if training else 0.5 * x


def shallow(plan: Plan = PLAIN, seed: int = 402, steps: int = 60) -> Training:
    """Two residual branches that are left out at random; PReLU; a hinge loss by Adagrad."""
    x, y = digits()
    keras.utils.set_random_seed(seed)
    inputs = keras.Input((64,), name="pixels")
    part = plan.put(inputs, layers.Dense, 48, name="stem")
    for block in ("a", "b"):
        side = plan.put(part, layers.Dense, 48, name=f"{block}_dense")
        side = plan.put(side, layers.PReLU, name=f"{block}_bent")
        part = layers.Add(name=f"{block}_sum")([part, Skips(name=f"{block}_skips")(side)])
    part = plan.put(part, layers.Dense, 10, name="digit")
    y = np.eye(10, dtype=np.float32)[y]
    return plan.finished(inputs, part, x, y, "categorical_hinge", optimizers.Adagrad(0.05), seed, steps)


def irises(plan: Plan = PLAIN, seed: int = 403, steps: int = 60) -> Training:
    """A hundred and fifty rows, learnt by heart: the loss ends at almost nothing."""
    keras.utils.set_random_seed(seed)
    x, y = material.table("wine")
    inputs = keras.Input((13,), name="wine")
    part = plan.put(inputs, layers.Dense, 64, activation="relu", name="w1")
    part = plan.put(part, layers.Dense, 64, activation="tanh", name="w2")
    part = plan.put(part, layers.Dense, 3, name="kind")
    return plan.finished(inputs, part, x, y, logits(), optimizers.Adam(1e-2), seed, steps)


def by_heart(plan: Plan = PLAIN, seed: int = 404, steps: int = 60) -> Training:
    """The same by SGD, whose updates become as small as the errors."""
    keras.utils.set_random_seed(seed)
    x, y = material.table("wine")
    inputs = keras.Input((13,), name="wine")
    part = plan.put(inputs, layers.Dense, 32, activation="swish", name="w1")
    part = plan.put(part, layers.Dense, 3, name="kind")
    return plan.finished(inputs, part, x, y, logits(), optimizers.SGD(0.2, momentum=0.9), seed, steps)


def counts(plan: Plan = PLAIN, seed: int = 405, steps: int = 60) -> Training:
    """How much ink a row of a digit has, as counts: Poisson's loss, by Adam; values of 0 to 255."""
    x, _ = digits()
    keras.utils.set_random_seed(seed)
    pixels = (255 * x).astype(np.float32)
    inputs = keras.Input((64,), name="pixels")
    part = plan.put(inputs, layers.BatchNormalization, momentum=0.9, name="normal")
    part = plan.put(part, layers.Dense, 32, activation="leaky_relu", name="l1")
    part = plan.put(part, layers.Dense, 8, activation="softplus", name="ink")
    y = (16 * x).reshape(-1, 8, 8).sum(2)
    return plan.finished(inputs, part, pixels, y.astype(np.float32), "poisson", optimizers.Adam(2e-2), seed, steps)


def film(plan: Plan = PLAIN, seed: int = 406, steps: int = 60) -> Training:
    """Digits as a film of eight rows: convolutions over time of each row, two LSTMs both ways, dropout within."""
    x, y = digits()
    keras.utils.set_random_seed(seed)
    inputs = keras.Input((8, 8), name="rows")
    part = layers.TimeDistributed(layers.Dense(16, activation="relu", name="each"), name="rows_each")(inputs)
    part = layers.Bidirectional(layers.LSTM(12, return_sequences=True, dropout=0.1), name="both")(part)
    part = plan.put(part, layers.SimpleRNN, 24, activation="relu", name="last")
    part = plan.put(part, layers.Dense, 10, activation="softmax", name="digit")
    optimizer = optimizers.RMSprop(3e-3, momentum=0.5)
    return plan.finished(inputs, part, x.reshape(-1, 8, 8), y, "sparse_categorical_crossentropy", optimizer, seed, steps)


def wide_and_deep(plan: Plan = PLAIN, seed: int = 407, steps: int = 60) -> Training:
    """Two inputs in their own units: measures as they are, normalised by a layer that saw them, and classes of one, one-hot."""
    from sklearn import datasets

    x, y = datasets.load_breast_cancer(return_X_y=True)
    keras.utils.set_random_seed(seed)
    normal = layers.Normalization(name="normal")
    normal.adapt(x[:, 1:].astype(np.float32))
    measures, size = keras.Input((29,), name="measures"), keras.Input((1,), dtype="int32", name="size")
    part = plan.put(normal(measures), layers.Dense, 24, activation="selu", name="deep1")
    part = plan.put(part, layers.AlphaDropout, 0.1, name="dropped")
    part = plan.put(part, layers.Dense, 12, activation="selu", name="deep2")
    kind = layers.CategoryEncoding(8, name="kind")(size)
    part = layers.Concatenate(name="both")([part, kind])
    part = plan.put(part, layers.Dense, 1, name="benign")
    given = {"measures": x[:, 1:].astype(np.float32), "size": np.clip(x[:, :1] / 4, 0, 7).astype(np.int32)}
    loss = keras.losses.BinaryFocalCrossentropy(from_logits=True)
    return plan.finished([measures, size], part, given, y.astype(np.float32)[:, None], loss, optimizers.Ftrl(0.1), seed, steps)


def quantiles(plan: Plan = PLAIN, seed: int = 408, steps: int = 60) -> Training:
    """Three quantiles of a disease's progress by the pinball loss; a spectral norm; rate by steps; momentum of 0.99."""
    keras.utils.set_random_seed(seed)
    x, y = material.table("diabetes")
    levels = np.array([0.1, 0.5, 0.9], np.float32)

    def pinball(truth: Any, told: Any) -> Any:
        return ops.mean(ops.maximum(levels * (truth - told), (levels - 1) * (truth - told)))

    inputs = keras.Input((10,), name="patient")
    part = layers.SpectralNormalization(layers.Dense(32, activation="tanh"), name="bounded")(inputs)
    part = plan.put(part, layers.Dense, 24, activation="softsign", name="soft")
    part = plan.put(part, layers.Dense, 3, name="levels")
    rate = optimizers.schedules.PiecewiseConstantDecay([steps // 2], [0.02, 0.002])
    return plan.finished(inputs, part, x, y, pinball, optimizers.SGD(rate, momentum=0.95), seed, steps)


def channels(plan: Plan = PLAIN, seed: int = 409, steps: int = 60) -> Training:
    """Squares of two photographs by convolutions of several widths side by side, as Inception has them, by Adafactor."""
    keras.utils.set_random_seed(seed)
    inputs = keras.Input((12, 12, 3), name="square")
    parts = [
        plan.put(inputs, layers.Conv2D, 8, width, padding="same", activation="relu", name=f"wide{width}") for width in (1, 3, 5)
    ]
    part = layers.Concatenate(name="side")([*parts, layers.MaxPooling2D(3, 1, padding="same", name="largest")(inputs)])
    part = plan.put(part, layers.LayerNormalization, name="norm")
    part = plan.put(part, layers.Conv2D, 16, 3, activation="relu6", name="mix")
    part = plan.put(part, layers.GlobalMaxPooling2D, name="pool")
    part = plan.put(part, layers.Dense, 2, name="photo")
    return plan.finished(inputs, part, *material.patches(12), logits(), optimizers.Adafactor(0.01), seed, steps)


def gated(plan: Plan = PLAIN, seed: int = 410, steps: int = 60) -> Training:
    """Highway layers (a gate that starts almost shut), by Nadam; the mean of two heads."""
    x, y = images()
    keras.utils.set_random_seed(seed)
    inputs = keras.Input((8, 8, 1), name="pixels")
    part = layers.Dense(32, name="into")(layers.Flatten(name="flat")(inputs))
    for block in ("a", "b", "c"):
        gate = plan.put(
            part, layers.Dense, 32, activation="sigmoid", bias_initializer=keras.initializers.Constant(-2), name=f"{block}_gate"
        )
        new = plan.put(part, layers.Dense, 32, activation="relu", name=f"{block}_new")
        part = part * (1 - gate) + new * gate
    heads = [plan.put(part, layers.Dense, 10, name=name) for name in ("one", "two")]
    return plan.finished(inputs, layers.Average(name="mean")(heads), x, y, logits(), optimizers.Nadam(3e-3), seed, steps)
