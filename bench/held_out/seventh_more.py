"""The other models of the seventh suite into which faults are planted; each takes a `Plan`."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
from keras import layers, ops, optimizers

from bench.case import Training

from . import material
from . import seventh_rows as rows
from .bodies import logits
from .planting import STEPS, Plan, Shown
from .seventh_bodies import CODES, HE, PLAIN, Normed, Scale


def yes_or_no() -> Any:
    """The loss of yes and no from a score."""
    return keras.losses.BinaryCrossentropy(from_logits=True)


def denoiser(plan: Plan = PLAIN, seed: int = 1109, steps: int = STEPS) -> Training:
    """The noise upon a photograph, its level known: convolutions, group normalisation and a scale by the level, by AdamW."""
    keras.utils.set_random_seed(seed)
    image, level = keras.Input((8, 8, 3), name="image"), keras.Input((1,), name="level")
    code = plan.put(level, layers.Dense, 16, activation="silu", name="level_code")
    code = plan.put(code, layers.Dense, 24, name="level_scale")
    x = plan.put([image, level], Shown, lambda two: two[0], name="seen")
    x = plan.put(x, layers.Conv2D, 24, 3, padding="same", name="first")
    x = plan.put(x, layers.GroupNormalization, 4, name="even")
    x = plan.put([x, code], Shown, lambda two: two[0] * (1 + two[1][:, None, None]), name="scaled")
    x = plan.put(x, layers.Activation, "silu", name="bent")
    x = plan.put(x, layers.Conv2D, 24, 3, padding="same", activation="silu", name="middle")
    x = plan.put(x, layers.Conv2D, 3, 3, padding="same", name="noise")
    inputs = {"image": image, "level": level}
    return plan.finished(inputs, x, *rows.noisy(), "mse", optimizers.AdamW(4e-3, weight_decay=1e-3), seed, steps)


def glu(plan: Plan = PLAIN, seed: int = 1110, steps: int = STEPS) -> Training:
    """Which grower a wine is of: gated blocks with layer normalisation and LayerScale (Shazeer 2020), by AdamW."""
    keras.utils.set_random_seed(seed)
    inputs = keras.Input((13,), name="wine")
    x = plan.put(inputs, layers.Identity, name="measures")
    x = plan.put(x, layers.Dense, 24, name="lift")
    for n in (1, 2):
        part = plan.put(x, layers.LayerNormalization, name=f"even{n}")
        gate = plan.put(part, layers.Dense, 32, activation="silu", name=f"gate{n}")
        value = plan.put(part, layers.Dense, 32, name=f"value{n}")
        part = plan.put([gate, value], layers.Multiply, name=f"gated{n}")
        part = plan.put(part, layers.Dense, 24, name=f"thin{n}")
        part = plan.put(part, Scale, name=f"scale{n}")
        x = plan.put([x, part], layers.Add, name=f"sum{n}")
    x = plan.put(x, layers.Dense, 3, name="grower")
    return plan.finished(inputs, x, *material.table("wine"), logits(), optimizers.AdamW(4e-3, weight_decay=1e-2), seed, steps)


def _unit(x: Any) -> Any:
    return x / ops.sqrt(ops.sum(ops.square(x), -1, keepdims=True) + 1e-6)


def towers(plan: Plan = PLAIN, seed: int = 1111, steps: int = STEPS) -> Training:
    """Do an upper and a lower half show the same digit: two towers to unit vectors, and their cosine, by Nadam."""
    keras.utils.set_random_seed(seed)
    ends = []
    inputs = {name: keras.Input((32,), name=name) for name in ("upper", "lower")}
    for name, part in inputs.items():
        x = plan.put(part, layers.Dense, 64, activation="tanh", name=f"{name}1")
        x = plan.put(x, layers.Dense, 24, name=f"{name}2")
        ends.append(plan.put(x, Shown, _unit, name=f"{name}_unit"))
    x = plan.put(ends, layers.Dot, axes=1, name="cosine")
    x = plan.put(x, layers.Dense, 1, kernel_initializer=keras.initializers.Constant(4.0), name="same")
    return plan.finished(inputs, x, *rows.halves(), yes_or_no(), optimizers.Nadam(4e-3), seed, steps)


def sampled(image_and_place: Any) -> Any:
    """Squares of 8 pixels at a place (-1 … 1 along each axis), between pixels by their distance (Jaderberg et al. 2015)."""
    image, place = image_and_place
    along = 2 + 2 * place[..., None] + np.arange(8, dtype=np.float32)
    near = ops.relu(1 - ops.abs(along[..., None] - np.arange(12, dtype=np.float32)))
    return ops.einsum("bij,bjkc,blk->bilc", near[:, 0], image, near[:, 1])


def aligned(plan: Plan = PLAIN, seed: int = 1112, steps: int = STEPS) -> Training:
    """Which digit, somewhere on a square: a network that says where to look (a spatial transformer), by Adam."""
    keras.utils.set_random_seed(seed)
    inputs = keras.Input((12, 12, 1), name="square")
    place = plan.put(inputs, layers.Flatten, name="all_pixels")
    place = plan.put(place, layers.Dense, 32, activation="elu", name="seek1")
    place = plan.put(place, layers.Dense, 2, activation="tanh", name="seek2")
    x = plan.put([inputs, place], Shown, sampled, name="sampled")
    x = plan.put(x, layers.Conv2D, 12, 3, activation="relu", kernel_initializer=HE, name="conv")
    x = plan.put(x, layers.Flatten, name="flat")
    x = plan.put(x, layers.Dense, 32, activation="relu", kernel_initializer=HE, name="mix")
    x = plan.put(x, layers.Dense, 10, name="digit")
    return plan.finished(inputs, x, *rows.placed(), logits(), optimizers.Adam(4e-3, beta_1=0.8), seed, steps)


def levels(plan: Plan = PLAIN, seed: int = 1113, steps: int = STEPS) -> Training:
    """Beyond which levels a patient's diabetes goes (ordinal regression): weight-normalised layers, by SGD with momentum."""
    keras.utils.set_random_seed(seed)
    inputs = keras.Input((10,), name="patient")
    x = plan.put(inputs, Normed, 24, activation="tanh", name="d1")
    x = plan.put(x, layers.Dense, 24, activation="elu", name="d2")
    x = plan.put(x, Normed, 12, activation="tanh", name="d3")
    x = plan.put(x, layers.Dense, 4, name="beyond")
    return plan.finished(inputs, x, *rows.levels(), yes_or_no(), optimizers.SGD(0.05, momentum=0.8), seed, steps)


def branches(plan: Plan = PLAIN, seed: int = 1114, steps: int = STEPS) -> Training:
    """Which of two photographs: convolutions of several widths, a head half way and one at the end (Szegedy et al. 2015), by RMSprop."""
    keras.utils.set_random_seed(seed)
    inputs = keras.Input((12, 12, 3), name="square")
    options: dict[str, Any] = {"padding": "same", "activation": "relu", "kernel_initializer": HE}
    one = plan.put(inputs, layers.Conv2D, 12, 1, name="one", **options)
    three = plan.put(inputs, layers.Conv2D, 8, 1, name="three_in", **options)
    three = plan.put(three, layers.Conv2D, 12, 3, name="three", **options)
    five = plan.put(inputs, layers.Conv2D, 8, 1, name="five_in", **options)
    five = plan.put(five, layers.Conv2D, 12, 5, name="five", **options)
    x = plan.put([one, three, five], layers.Concatenate, name="beside")
    early = plan.put(x, layers.GlobalAveragePooling2D, name="early_pool")
    early = plan.put(early, layers.Dense, 2, name="early")
    x = plan.put(x, layers.MaxPooling2D, 2, name="half")
    x = plan.put(x, layers.Conv2D, 24, 3, name="later", **options)
    x = plan.put(x, layers.GlobalAveragePooling2D, name="late_pool")
    x = plan.put(x, layers.Dense, 2, name="late")
    losses = {"early": logits(), "late": logits()}
    return plan.finished(
        inputs, {"early": early, "late": x}, *rows.photos(), losses, optimizers.RMSprop(2e-3, momentum=0.5), seed, steps
    )


def _places(x: Any) -> Any:
    """x, and sines and cosines of each place (Vaswani et al. 2017)."""
    angle = np.arange(x.shape[1])[:, None] / 30 ** (np.arange(x.shape[2] // 2) / (x.shape[2] // 2))
    return x + ops.cast(np.concatenate([np.sin(angle), np.cos(angle)], 1), x.dtype)


def translator(plan: Plan = PLAIN, seed: int = 1115, steps: int = STEPS) -> Training:
    """Words' translations one after the other: an encoder, a decoder and attention from one to the other, by Adam."""
    keras.utils.set_random_seed(seed)
    source, before = (keras.Input((rows.LENGTH,), dtype="int32", name=name) for name in ("source", "before"))
    x = plan.put(source, layers.Embedding, rows.WORDS, 24, embeddings_initializer=CODES, name="source_code")
    x = plan.put(x, Shown, _places, name="source_place")
    x = plan.put(x, layers.LayerNormalization, name="source_even")
    wide = plan.put(x, layers.Dense, 48, activation="relu", kernel_initializer=HE, name="source_wide")
    x = plan.put([x, plan.put(wide, layers.Dense, 24, name="source_thin")], layers.Add, name="read")
    y = plan.put(before, layers.Embedding, rows.WORDS, 24, embeddings_initializer=CODES, name="before_code")
    y = plan.put(y, Shown, _places, name="before_place")
    y = y + layers.MultiHeadAttention(2, 12, name="recall")(y, y, use_causal_mask=True)
    y = plan.put(y, layers.LayerNormalization, name="before_even")
    y = y + layers.MultiHeadAttention(2, 12, name="cross")(y, x)
    y = plan.put(y, layers.LayerNormalization, name="cross_even")
    wide = plan.put(y, layers.Dense, 48, activation="relu", kernel_initializer=HE, name="wide")
    y = plan.put([y, plan.put(wide, layers.Dense, 24, name="thin")], layers.Add, name="told")
    y = plan.put(y, layers.Dense, rows.WORDS, name="word")
    inputs = {"source": source, "before": before}
    return plan.finished(inputs, y, *rows.sentences(), logits(), optimizers.Adam(5e-3, beta_2=0.98), seed, steps)
