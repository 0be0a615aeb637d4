"""Healthy trainings of the seventh suite that host no fault, and the shares that their results must exceed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras
import numpy as np
from keras import layers, ops, optimizers

from bench.case import BATCH, Case, Training

from . import material, seventh_bodies, seventh_more
from . import seventh_rows as rows
from .bodies import logits
from .fourth_healthy import chosen, explains, last_answers, sides
from .fourth_proofs import in_halves
from .planting import Plan
from .seventh_bodies import HE, PLAIN
from .witness import Witness


def _digits() -> tuple[np.ndarray, np.ndarray]:
    images, classes = material.digit_rows()
    return 2 * images[..., None] - 1, classes


def _bottlenecks() -> Training:
    """Which digit: bottlenecks with shortcuts (He et al. 2016), dropout, by SGD with decay, a warm-up, a cosine and clipped gradients."""
    keras.utils.set_random_seed(1301)
    inputs = keras.Input((8, 8, 1), name="image")
    x = layers.Conv2D(32, 3, padding="same", use_bias=False, name="stem")(inputs)
    x = layers.ReLU(name="stem_relu")(layers.BatchNormalization(momentum=0.9, name="stem_norm")(x))
    for block in ("a", "b"):
        part = x
        for number, (width, size) in enumerate(((8, 1), (8, 3), (32, 1)), 1):
            part = layers.Conv2D(width, size, padding="same", use_bias=False, name=f"{block}_conv{number}")(part)
            part = layers.BatchNormalization(
                momentum=0.9, gamma_initializer="zeros" if number == 3 else "ones", name=f"{block}_norm{number}"
            )(part)
            part = layers.ReLU(name=f"{block}_relu{number}")(part) if number < 3 else part
        x = layers.ReLU(name=f"{block}_out")(layers.Add(name=f"{block}_sum")([x, part]))
    x = layers.Flatten(name="flat")(layers.AveragePooling2D(2, name="half")(x))
    outputs = layers.Dense(10, name="digit")(layers.Dropout(0.25, seed=51, name="drop")(x))
    rate = optimizers.schedules.CosineDecay(2e-3, 180, alpha=0.02, warmup_target=4e-2, warmup_steps=20)
    optimizer = optimizers.SGD(rate, momentum=0.9, weight_decay=1e-3, global_clipnorm=2.0)
    return PLAIN.finished(inputs, outputs, *_digits(), logits(), optimizer, 1301, 200)


def _dense_net() -> Training:
    """Which digit: each convolution sees all before it (Huang et al. 2017), with dropout, by AdamW."""
    keras.utils.set_random_seed(1302)
    inputs = keras.Input((8, 8, 1), name="image")
    x = layers.Conv2D(12, 3, padding="same", name="stem")(inputs)
    for number in range(3):
        part = layers.ReLU(name=f"relu{number}")(layers.BatchNormalization(momentum=0.9, name=f"norm{number}")(x))
        part = layers.Conv2D(8, 3, padding="same", kernel_initializer=HE, name=f"grow{number}")(part)
        x = layers.Concatenate(name=f"with{number}")(
            [x, layers.SpatialDropout2D(0.1, seed=52 + number, name=f"drop{number}")(part)]
        )
    x = layers.Conv2D(16, 1, activation="relu", kernel_initializer=HE, name="change")(x)
    x = layers.Flatten(name="flat")(layers.AveragePooling2D(2, name="half")(x))
    outputs = layers.Dense(10, name="digit")(x)
    return PLAIN.finished(inputs, outputs, *_digits(), logits(), optimizers.AdamW(4e-3, weight_decay=0.05), 1302, 200)


def _moving() -> Training:
    """Which way a digit moves: a recurrent layer of convolutions, by Adam whose rate falls by halves."""
    keras.utils.set_random_seed(1303)
    inputs = keras.Input((6, 8, 8, 1), name="film")
    x = layers.ConvLSTM2D(8, 3, padding="same", name="memory")(inputs)
    x = layers.Flatten(name="flat")(layers.MaxPooling2D(2, name="half")(x))
    outputs = layers.Dense(4, name="goes")(layers.Dense(32, activation="relu", kernel_initializer=HE, name="mix")(x))
    rate = optimizers.schedules.ExponentialDecay(8e-3, 60, 0.5)
    return PLAIN.finished(inputs, outputs, *rows.films(), logits(), optimizers.Adam(rate), 1303, 200)


def _likely(y: Any, both: Any) -> Any:
    """Minus the logarithm of a normal density, of which the mean and the logarithm of the deviation are given."""
    mean, log = both[:, :1], both[:, 1:]
    return ops.mean(0.5 * ops.square((y - mean) * ops.exp(-log)) + log, -1)


def _with_doubt() -> Training:
    """How far a patient's diabetes has come, and how sure that is: the likelihood of a normal density, by Adam with dropout and L2."""
    keras.utils.set_random_seed(1304)
    inputs = keras.Input((10,), name="patient")
    x = layers.Dense(32, activation="mish", kernel_regularizer=keras.regularizers.L2(1e-3), name="d1")(inputs)
    x = layers.Dropout(0.1, seed=56, name="drop")(x)
    outputs = layers.Dense(2, name="mean_and_log")(layers.Dense(16, activation="mish", name="d2")(x))
    return PLAIN.finished(inputs, outputs, *material.table("diabetes"), _likely, optimizers.Adam(3e-3), 1304, 250)


def _ink() -> Training:
    """How many dark pixels a digit's lower half has, from its upper half and class: Poisson regression, by Nadam."""
    keras.utils.set_random_seed(1305)
    images, classes = material.digit_rows()
    y = (images[:, 4:] > 0.5).sum((1, 2)).astype(np.float32)[:, None]
    x = {"upper": (2 * images[:, :4] - 1).reshape(-1, 32), "digit": classes}
    upper, digit = keras.Input((32,), name="upper"), keras.Input((), dtype="int32", name="digit")
    part = layers.Concatenate(name="beside")(
        [layers.Dense(32, activation="gelu", name="seen")(upper), layers.Embedding(10, 8, name="code")(digit)]
    )
    part = layers.Dense(24, activation="gelu", name="mix")(part)
    outputs = layers.Dense(1, activation="exponential", name="count")(part)
    return PLAIN.finished({"upper": upper, "digit": digit}, outputs, x, y, "poisson", optimizers.Nadam(3e-3), 1305, 300)


def _upper_frozen() -> Training:
    """Which digit: a pretrained trunk, its lower convolutions frozen on purpose, the others fine-tuned at a small rate, by Adam."""
    made = seventh_bodies.inverted(PLAIN, 1306, 100)
    made.model.fit(made.x, made.y, batch_size=BATCH, shuffle=False, verbose=0)
    for layer in made.model.layers[:10]:
        layer.trainable = False
    trunk = made.model.get_layer("pool").output
    part = layers.Dropout(0.1, seed=57, name="drop")(trunk)
    outputs = layers.Dense(2, name="odd")(layers.Dense(16, activation="silu", name="new")(part))
    x, y = _digits()
    return PLAIN.finished(made.model.input, outputs, x, y % 2, logits(), optimizers.Adam(1e-3), 1306, 200)


def _continued() -> Training:
    """Translations, by a model that has learned most of them already, under another optimizer and a tenth of the rate."""
    made = seventh_more.translator(PLAIN, 1307, 60)
    made.model.fit(made.x, made.y, batch_size=BATCH, shuffle=False, verbose=0)
    made.model.compile(optimizers.AdamW(5e-4, weight_decay=1e-2), logits())
    x, y = material.in_order(*rows.sentences(), 250 * BATCH, 1307)
    return Training(made.model, x, y)


def _halves() -> Training:
    """Noise upon photographs, in float16 with a loss scale."""
    return in_halves(lambda: seventh_more.denoiser(PLAIN, 1308, 200))()


def _brain() -> Training:
    """Wines, in bfloat16, by Lion."""
    before = keras.config.dtype_policy()
    keras.config.set_dtype_policy("mixed_bfloat16")
    try:
        return seventh_more.glu(Plan(optimizer=lambda: optimizers.Lion(1e-3)), 1309, 120)
    finally:
        keras.config.set_dtype_policy(before)


def _large_batches() -> Training:
    """Towers, by the gradients of eight batches for each update and averaged weights, by SGD with momentum."""
    optimizer = lambda: optimizers.SGD(0.3, momentum=0.9, gradient_accumulation_steps=8, use_ema=True)  # noqa: E731
    return seventh_more.towers(Plan(optimizer=optimizer), 1310, 480)


def _irises() -> Training:
    """Which iris: two layers with batch normalisation, smoothed labels, by Adagrad."""
    keras.utils.set_random_seed(1311)
    x, y = material.table("iris")
    inputs = keras.Input((4,), name="flower")
    part = layers.Dense(16, use_bias=False, name="d1")(inputs)
    part = layers.ReLU(negative_slope=0.1, name="bent")(layers.BatchNormalization(momentum=0.9, name="norm")(part))
    outputs = layers.Dense(3, activation="softmax", name="kind")(part)
    loss = keras.losses.CategoricalCrossentropy(label_smoothing=0.1)
    return PLAIN.finished(inputs, outputs, x, np.eye(3, dtype=np.float32)[y], loss, optimizers.Adagrad(0.1), 1311, 120)


def _mean_explains(share: float) -> Callable[[Witness], bool]:
    """R² of the given mean is above this, and the deviation lies between a fifth and one and a half."""

    def proved(witness: Witness) -> bool:
        answers, y = last_answers(witness)
        explained = 1 - float(((answers[:, :1] - y) ** 2).sum() / ((y - y.mean(0)) ** 2).sum())
        return explained > share and 0.2 < float(np.median(np.exp(answers[:, 1]))) < 1.5

    return proved


def healthy() -> list[Case]:
    """Fifteen that are also hosts of faults, and eleven of other kinds.

    The most frequent class has 0.1 of the digits, a quarter of the ways, 0.13 of the words, a third of the irises, 0.4 of the wines, half
    of the pairs, photographs and odd digits; always answering a level's more frequent side is right in 0.7.
    """
    a, b = seventh_bodies, seventh_more
    hosts: list[tuple[Any, int, Callable[[Witness], bool]]] = [
        (a.inverted, 200, chosen(0.9)), (a.film, 200, chosen(0.9)), (a.volume, 150, chosen(0.95)), (a.memory, 250, explains(0.9)), (a.sets, 250, explains(0.85)),
        (a.hyper, 300, explains(0.85)), (a.taste, 300, explains(0.75)), (a.graph, 400, chosen(0.65)), (b.denoiser, 200, explains(0.8)), (b.glu, 100, chosen(0.95)),
        (b.towers, 300, sides(0.8, 0)), (b.aligned, 250, chosen(0.85)), (b.levels, 200, sides(0.8, 0)), (b.branches, 200, chosen(0.9, "late")),
        (b.translator, 200, chosen(0.95)),
    ]  # fmt: skip
    others: list[tuple[Any, Callable[[Witness], bool]]] = [
        (_bottlenecks, chosen(0.95)), (_dense_net, chosen(0.95)), (_moving, chosen(0.9)), (_with_doubt, _mean_explains(0.45)), (_ink, explains(0.5)),
        (_upper_frozen, chosen(0.95)), (_continued, chosen(0.95)), (_halves, explains(0.8)), (_brain, chosen(0.95)), (_large_batches, sides(0.75, 0)),
        (_irises, chosen(0.9)),
    ]  # fmt: skip
    return [
        *(Case(f"healthy seventh {body.__name__}", lambda body=body, steps=steps, seed=seed: body(PLAIN, seed, steps), proved)  # type: ignore[misc]
          for seed, (body, steps, proved) in enumerate(hosts, 1281)),
        *(Case(f"healthy seventh{make.__name__}", make, proved) for make, proved in others),
    ]  # fmt: skip
