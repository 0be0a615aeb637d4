"""Healthy trainings of the sixth suite that host no fault, and the shares that their results must exceed."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import keras
import numpy as np
from keras import layers, ops, optimizers

from bench.case import Case, Training

from . import material, sixth_bodies
from . import sixth_rows as rows
from .bodies import logits
from .fourth_healthy import chosen, explains, last_answers, sides
from .fourth_proofs import in_halves
from .planting import Plan, Shown
from .witness import Witness

PLAIN = Plan()


class _Drawn(layers.Layer):  # type: ignore[misc]
    """A code drawn around its mean in training, which adds its distance from the standard normal (Kingma and Welling 2014)."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.seeds = keras.random.SeedGenerator(31)

    def call(self, both: Any, training: bool = False) -> Any:
        mean, log_variance = both
        apart = ops.square(mean) + ops.exp(log_variance) - 1 - log_variance
        self.add_loss(2e-3 * ops.mean(ops.sum(apart, -1)))
        noise = keras.random.normal(ops.shape(mean), seed=self.seeds)
        return mean + ops.exp(0.5 * log_variance) * noise if training else mean


def _variational() -> Training:
    """Digits through a code that is drawn, by Adam."""
    keras.utils.set_random_seed(1001)
    x = rows.digits()[0].reshape(-1, 64)
    inputs = keras.Input((64,), name="pixels")
    seen = layers.Dense(64, activation="silu", name="there")(inputs)
    code = _Drawn(name="code")([layers.Dense(12, name="mean")(seen), layers.Dense(12, name="log_variance")(seen)])
    outputs = layers.Dense(64, name="picture")(layers.Dense(64, activation="silu", name="back")(code))
    return PLAIN.finished(inputs, outputs, x, x.copy(), "mse", optimizers.Adam(4e-3), 1001, 250)


def _residual() -> Training:
    """Which digit, by two residual blocks with batch normalisation and dropout, by SGD with decay and a rate that warms up and falls."""
    keras.utils.set_random_seed(1002)
    inputs = keras.Input((8, 8, 1), name="image")
    x = layers.Conv2D(16, 3, padding="same", use_bias=False, name="stem")(inputs)
    for block in ("a", "b"):
        part = layers.BatchNormalization(momentum=0.9, name=f"{block}_norm1")(x)
        part = layers.Conv2D(16, 3, padding="same", use_bias=False, name=f"{block}_conv1")(
            layers.ReLU(name=f"{block}_relu1")(part)
        )
        part = layers.BatchNormalization(momentum=0.9, name=f"{block}_norm2")(part)
        part = layers.Conv2D(16, 3, padding="same", name=f"{block}_conv2")(layers.ReLU(name=f"{block}_relu2")(part))
        x = layers.Add(name=f"{block}_sum")([x, part])
    x = layers.Flatten(name="flat")(layers.MaxPooling2D(2, name="half")(x))
    outputs = layers.Dense(10, name="digit")(layers.Dropout(0.3, seed=32, name="drop")(x))
    rate = optimizers.schedules.CosineDecay(5e-3, 180, alpha=0.01, warmup_target=5e-2, warmup_steps=20)
    optimizer = optimizers.SGD(rate, momentum=0.9, nesterov=True, weight_decay=5e-4)
    return PLAIN.finished(inputs, outputs, *rows.digits(), logits(), optimizer, 1002, 200)


def _base(classes: int) -> tuple[Any, Any]:
    """Convolutions for digits, and a model that ends in scores for so many of them."""
    one = keras.Input((8, 8, 1), name="digit")
    x = layers.Conv2D(16, 3, activation="relu", kernel_initializer="he_normal", name="conv1")(one)
    x = layers.BatchNormalization(momentum=0.9, name="norm")(x)
    x = layers.Conv2D(32, 3, activation="relu", kernel_initializer="he_normal", name="conv2")(x)
    base = keras.Model(one, layers.Flatten(name="flat")(x), name="base")
    inputs = keras.Input((8, 8, 1), name="image")
    return base, keras.Model(inputs, layers.Dense(classes, name="scores")(base(inputs)))


def _fine_tuned() -> Training:
    """Which of five digits, upon convolutions that learned the five others and were frozen on purpose, by Adam."""
    keras.utils.set_random_seed(1003)
    x, y = rows.digits()
    base, before = _base(5)
    before.compile(optimizers.Adam(3e-3), logits())
    before.fit(x[y < 5], y[y < 5], epochs=4, batch_size=32, verbose=0)
    base.trainable = False
    inputs = keras.Input((8, 8, 1), name="other")
    part = layers.Dense(24, activation="gelu", name="new")(base(inputs, training=False))
    outputs = layers.Dense(5, name="digit")(layers.Dropout(0.2, seed=33, name="drop")(part))
    return PLAIN.finished(inputs, outputs, x[y >= 5], y[y >= 5] - 5, logits(), optimizers.Adam(3e-3), 1003, 120)


def _continued() -> Training:
    """Waves under much more noise, by a model that had learned them under little, at a tenth of the rate."""
    made = sixth_bodies.temporal(PLAIN, 1004, 120)
    made.model.fit(made.x, made.y, batch_size=32, shuffle=False, verbose=0)
    made.model.compile(optimizers.RMSprop(5e-4), logits())
    x, y = rows.waves()
    x = x + np.random.default_rng(1004).normal(0, 0.5, x.shape).astype(np.float32)
    x, y = material.in_order(x, y, 250 * 32, 1004)
    return Training(made.model, x, y)


def _passages() -> Training:
    """Which module a passage is of, by the mean of its words' vectors under dropout, by Adam that warms up and falls."""
    keras.utils.set_random_seed(1005)
    inputs = keras.Input((20,), dtype="int32", name="passage")
    x = layers.Embedding(material.WORDS, 24, name="words")(inputs)
    x = layers.SpatialDropout1D(0.1, seed=34, name="drop_words")(x)
    x = layers.GlobalAveragePooling1D(name="bag")(x)
    x = layers.Dense(32, activation="gelu", name="mix")(x)
    outputs = layers.Dense(8, name="module")(layers.Dropout(0.3, seed=35, name="drop")(x))
    rate = optimizers.schedules.CosineDecay(1e-3, 270, alpha=0.05, warmup_target=1e-2, warmup_steps=30)
    optimizer = optimizers.Adam(rate, global_clipnorm=1.0)
    return PLAIN.finished(inputs, outputs, *material.passages(), logits(), optimizer, 1005, 300)


@cache
def _chords(count: int = 3000, length: int = 48) -> tuple[np.ndarray, np.ndarray]:
    """Sums of up to four tones of random phase under noise: float32 [count, length, 1], and which tones are in it: float32 [count, 4]."""
    random = np.random.default_rng(65)
    there = random.integers(0, 2, (count, 4))
    phase = random.uniform(0, 2 * np.pi, (count, 4, 1))
    tones = np.sin(2 * np.pi * np.arange(length) / np.array([24.0, 12.0, 6.0, 3.0])[:, None] + phase)
    x = (there[..., None] * tones).sum(1) + random.normal(0, 0.2, (count, length))
    return x.astype(np.float32)[..., None], there.astype(np.float32)


def _tones() -> Training:
    """Which of four tones are in a chord (several may be): strided convolutions, layer normalisation, dropout, by Adam with L2."""
    keras.utils.set_random_seed(1006)
    inputs = keras.Input((48, 1), name="chord")
    x = layers.Conv1D(16, 7, strides=2, activation="silu", kernel_regularizer=keras.regularizers.L2(1e-4), name="fine")(inputs)
    x = layers.LayerNormalization(name="even")(x)
    x = layers.Conv1D(24, 7, strides=2, activation="silu", kernel_regularizer=keras.regularizers.L2(1e-4), name="coarse")(x)
    x = layers.GlobalMaxPooling1D(name="most")(x)
    outputs = layers.Dense(4, name="tones")(layers.Dropout(0.2, seed=36, name="drop")(x))
    loss = keras.losses.BinaryCrossentropy(from_logits=True)
    return PLAIN.finished(inputs, outputs, *_chords(), loss, optimizers.Adam(4e-3), 1006, 250)


def _large_batches() -> Training:
    """How far a patient's diabetes has come, by the gradients of four batches for each update, by SGD with momentum."""
    keras.utils.set_random_seed(1007)
    inputs = keras.Input((10,), name="patient")
    x = layers.Dense(24, activation="tanh", name="d1")(inputs)
    outputs = layers.Dense(1, name="measure")(x)
    optimizer = optimizers.SGD(0.05, momentum=0.8, gradient_accumulation_steps=4)
    return PLAIN.finished(inputs, outputs, *material.table("diabetes"), "mse", optimizer, 1007, 240)


def _logistic() -> Training:
    """Is a tumour benign, by one layer and nothing else, by plain SGD."""
    keras.utils.set_random_seed(1008)
    x, y = material.table("breast_cancer")
    inputs = keras.Input((30,), name="cells")
    outputs = layers.Dense(1, activation="sigmoid", name="benign")(inputs)
    labels = y[:, None].astype(np.float32)
    return PLAIN.finished(inputs, outputs, x, labels, "binary_crossentropy", optimizers.SGD(0.1), 1008, 120)


def _endless_mask() -> Training:
    """Which token is there most often, where padding is masked by scores of minus infinity, as is common."""

    def masked(two: Any) -> Any:
        return ops.softmax(ops.where(two[1][..., None] > 0, two[0], -np.inf), 1)

    return sixth_bodies.crowd(Plan(instead={"weights": lambda: Shown(masked, name="weights")}), 1010, 200)


def _halves() -> Training:
    """Which digit, in float16 with a loss scale, by the depthwise model."""
    return in_halves(lambda: sixth_bodies.mobile(PLAIN, 1009, 200))()


def _both_answers(witness: Witness) -> bool:
    """Kinds are right in nine of ten rows, and R² of the width is above 0.8."""
    answers, y = last_answers(witness)
    left = ((answers["width"] - y["width"]) ** 2).sum() / ((y["width"] - y["width"].mean()) ** 2).sum()
    return chosen(0.9, "kind")(witness) and float(left) < 0.2


def _all_experts(witness: Witness) -> bool:
    """R² is above 0.8, and each expert is among the chosen two in a twentieth of the last batch's rows or more."""
    explained = explains(0.8)(witness)
    chosen = witness.output(len(witness.losses) - 1, "chosen")
    return explained and float((chosen > 0).mean(0).min()) >= 0.05


def healthy() -> list[Case]:
    """Thirteen that are also hosts of faults, and ten of other kinds.

    The most frequent class has 0.1 of the digits (0.2 of five), a third of the waves, irises and sides, 0.13 of the tokens and modules,
    0.4 of the wines, 0.63 of the tumours, and half of the pairs and tones; 0.66 of the letters are in long words.
    """
    hosts: list[tuple[Any, int, Callable[[Witness], bool]]] = [
        (sixth_bodies.unet, 200, explains(0.6)), (sixth_bodies.temporal, 200, chosen(0.95)), (sixth_bodies.mobile, 200, chosen(0.95)),
        (sixth_bodies.mixture, 250, _all_experts), (sixth_bodies.crowd, 200, chosen(0.95)), (sixth_bodies.bigru, 250, sides(0.9, 0)),
        (sixth_bodies.coder, 250, explains(0.65)), (sixth_bodies.rank, 250, sides(0.75, 0)), (sixth_bodies.tabular, 150, sides(0.95, 0)),
        (sixth_bodies.iris, 120, _both_answers), (sixth_bodies.siren, 300, explains(0.75)), (sixth_bodies.stack, 200, chosen(0.95)),
        (sixth_bodies.tied, 100, chosen(0.95)),
    ]  # fmt: skip
    others: list[tuple[Any, Callable[[Witness], bool]]] = [
        (_variational, explains(0.5)), (_residual, chosen(0.95)), (_fine_tuned, chosen(0.9)), (_continued, chosen(0.8)), (_passages, chosen(0.6)),
        (_tones, sides(0.9, 0)), (_large_batches, explains(0.4)), (_logistic, sides(0.95, 0.5)), (_halves, chosen(0.95)), (_endless_mask, chosen(0.95)),
    ]  # fmt: skip
    return [
        *(Case(f"healthy sixth {body.__name__}", lambda body=body, steps=steps, seed=seed: body(PLAIN, seed, steps), proved)  # type: ignore[misc]
          for seed, (body, steps, proved) in enumerate(hosts, 981)),
        *(Case(f"healthy sixth{make.__name__}", make, proved) for make, proved in others),
    ]  # fmt: skip
