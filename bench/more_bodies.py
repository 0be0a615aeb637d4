"""Models of further kinds on which thresholds are set; each takes a `Plan`, a seed and a number of steps."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
from keras import layers, ops, optimizers

from .case import Training
from .faults import digits, table
from .held_out import material
from .held_out.planting import Plan, Shown

PLAIN = Plan()


def logits() -> Any:
    """The loss of classes from scores."""
    return keras.losses.SparseCategoricalCrossentropy(from_logits=True)


def images() -> tuple[np.ndarray, np.ndarray]:
    """Handwritten digits as pictures, and their classes."""
    x, y = digits()
    return x.reshape(-1, 8, 8, 1), y


def _warm(peak: float, steps: int) -> Any:
    return optimizers.schedules.CosineDecay(0.0, steps - 20, warmup_target=peak, warmup_steps=20)


def resnet(plan: Plan = PLAIN, seed: int = 81, steps: int = 60) -> Training:
    """Two residual blocks with batch normalisation, smoothed labels, decayed weights, a warm-up from nothing and a cosine."""
    x, y = images()
    keras.utils.set_random_seed(seed)
    inputs = keras.Input((8, 8, 1), name="pixels")
    part = plan.put(inputs, layers.Conv2D, 16, 3, padding="same", use_bias=False, name="stem")
    for block in ("a", "b"):
        side = plan.put(part, layers.BatchNormalization, momentum=0.9, name=f"{block}_norm1")
        side = plan.put(side, layers.ReLU, name=f"{block}_relu1")
        side = plan.put(side, layers.Conv2D, 16, 3, padding="same", use_bias=False, name=f"{block}_conv1")
        side = plan.put(side, layers.BatchNormalization, momentum=0.9, name=f"{block}_norm2")
        side = plan.put(side, layers.ReLU, name=f"{block}_relu2")
        side = plan.put(
            side, layers.Conv2D, 16, 3, padding="same", use_bias=False, kernel_initializer="zeros", name=f"{block}_conv2"
        )
        part = layers.Add(name=f"{block}_sum")([part, side])
    part = plan.put(part, layers.GlobalAveragePooling2D, name="pool")
    part = plan.put(part, layers.Dense, 10, name="digit")
    loss = keras.losses.CategoricalCrossentropy(from_logits=True, label_smoothing=0.1)
    optimizer = optimizers.AdamW(_warm(1e-2, steps), weight_decay=0.05)
    return plan.finished(inputs, part, x, np.eye(10, dtype=np.float32)[y], loss, optimizer, seed, steps)


def large_targets(plan: Plan = PLAIN, seed: int = 82, steps: int = 60) -> Training:
    """Progress of a disease in its own unit (25 to 346), two rectified layers and Adam."""
    from sklearn import datasets

    x, y = table(datasets.load_diabetes)
    keras.utils.set_random_seed(seed)
    inputs = keras.Input((10,), name="patient")
    part = plan.put(inputs, layers.Dense, 32, activation="relu", name="r1")
    part = plan.put(part, layers.Dense, 16, activation="relu", name="r2")
    part = plan.put(part, layers.Dense, 1, name="progress")
    return plan.finished(inputs, part, x, y.astype(np.float32)[:, None], "mse", optimizers.Adam(2e-2), seed, steps)


def gru_attention(plan: Plan = PLAIN, seed: int = 83, steps: int = 60) -> Training:
    """Passages by a GRU whose states attention pools; words that are missing are masked."""
    keras.utils.set_random_seed(seed)
    x, y = material.passages(16)
    x = x.copy()
    x[::3, 10:] = 0
    inputs = keras.Input((16,), dtype="int32", name="passage")
    words = plan.put(inputs, layers.Embedding, 2000, 24, mask_zero=True, name="words")
    states = plan.put(words, layers.GRU, 32, return_sequences=True, name="states")
    weight = plan.put(states, layers.Dense, 1, activation="tanh", name="weight")
    weight = plan.put(weight, Shown, lambda x: ops.softmax(x, 1), name="share")
    part = layers.Dot(axes=(1, 1), name="pooled")([states, weight])
    part = plan.put(part, layers.Flatten, name="flat")
    part = plan.put(part, layers.Dense, 8, name="modules")
    return plan.finished(inputs, part, x, y, logits(), optimizers.Adam(1e-2, clipnorm=1.0), seed, steps)


def _margin(y: Any, apart: Any) -> Any:
    return ops.mean(y * ops.square(apart) + (1 - y) * ops.square(ops.relu(1 - apart)))


def far_or_near(plan: Plan = PLAIN, seed: int = 84, steps: int = 60) -> Training:
    """Contrastive loss with a margin (Hadsell et al. 2006) on the distance of two codes by one encoder."""
    keras.utils.set_random_seed(seed)
    one = keras.Input((64,))
    part = plan.put(one, layers.Dense, 48, activation="relu", name="wide")
    part = plan.put(part, layers.Dropout, 0.1, name="dropped")
    encoder = keras.Model(one, plan.put(part, layers.Dense, 12, activation="tanh", name="code"), name="encoder")
    left, right = keras.Input((64,), name="left"), keras.Input((64,), name="right")
    apart = layers.Subtract(name="difference")([encoder(left), encoder(right)])
    apart = plan.put(apart, Shown, lambda x: ops.sqrt(ops.sum(x * x, -1, keepdims=True) + 1e-6), name="distance")
    x, y = material.pairs(seed)
    return plan.finished({"left": left, "right": right}, apart, x, y, _margin, optimizers.RMSprop(2e-3), seed, steps)


def rare(plan: Plan = PLAIN, seed: int = 85, steps: int = 60) -> Training:
    """Is it a seven? One in ten is; heavy dropout, many zeros, SGD with momentum."""
    x, y = digits()
    keras.utils.set_random_seed(seed)
    inputs = keras.Input((64,), name="pixels")
    part = plan.put(
        inputs, layers.Dense, 96, activation="relu", bias_initializer=keras.initializers.Constant(-0.3), name="sparse"
    )
    part = plan.put(part, layers.Dropout, 0.6, name="dropped")
    part = plan.put(part, layers.Dense, 24, activation="softplus", name="mix")
    part = plan.put(part, layers.Dense, 1, activation="sigmoid", name="seven")
    y = (y == 7).astype(np.float32)[:, None]
    return plan.finished(inputs, part, x, y, "binary_crossentropy", optimizers.SGD(0.05, momentum=0.9), seed, steps)


def picture(plan: Plan = PLAIN, seed: int = 86, steps: int = 60) -> Training:
    """Digits through a narrow code by convolutions and back, the mean absolute error of each pixel."""
    x, _ = images()
    keras.utils.set_random_seed(seed)
    inputs = keras.Input((8, 8, 1), name="digit")
    part = plan.put(inputs, layers.Conv2D, 12, 3, strides=2, padding="same", activation="elu", name="down")
    part = plan.put(part, layers.Flatten, name="flat")
    part = plan.put(part, layers.Dense, 16, name="code")
    part = plan.put(part, layers.Dense, 192, activation="elu", name="up")
    part = plan.put(part, layers.Reshape, (4, 4, 12), name="map")
    part = plan.put(part, layers.Conv2DTranspose, 1, 4, strides=2, padding="same", activation="sigmoid", name="drawn")
    return plan.finished(inputs, part, x, x, "mae", optimizers.Adamax(1e-2), seed, steps)


def several(plan: Plan = PLAIN, seed: int = 87, steps: int = 60) -> Training:
    """Which of five things are so of a digit? Several labels at once, in half precision."""
    x, y = digits()
    keras.utils.set_random_seed(seed)
    labels = np.stack([y % 2 == 0, y > 4, y % 3 == 0, np.isin(y, (0, 6, 8, 9)), np.isin(y, (1, 4, 7))], 1).astype(np.float32)
    keras.mixed_precision.set_global_policy("mixed_float16")
    try:
        inputs = keras.Input((64,), name="pixels")
        part = plan.put(inputs, layers.Dense, 64, activation="mish", name="m1")
        part = plan.put(part, layers.BatchNormalization, momentum=0.9, name="norm")
        part = plan.put(part, layers.Dense, 32, activation="mish", name="m2")
        part = plan.put(part, layers.Dense, 5, activation="sigmoid", dtype="float32", name="so")
        optimizer = optimizers.LossScaleOptimizer(optimizers.Lion(1e-3))
        return plan.finished(inputs, part, x, labels, "binary_crossentropy", optimizer, seed, steps)
    finally:
        keras.mixed_precision.set_global_policy("float32")


def brightness(plan: Plan = PLAIN, seed: int = 88, steps: int = 60) -> Training:
    """The next numbers of a series from one number at a time, by an LSTM of many units; four steps make an update."""
    from .held_out.third_bodies import series

    keras.utils.set_random_seed(seed)
    inputs = keras.Input((24, 1), name="series")
    part = plan.put(inputs, layers.LSTM, 96, name="memory")
    part = plan.put(part, layers.Dense, 4, name="next")
    optimizer = optimizers.Adam(1e-2, gradient_accumulation_steps=4)
    return plan.finished(inputs, part, *series(), keras.losses.LogCosh(), optimizer, seed, steps)


def routed(plan: Plan = PLAIN, seed: int = 89, steps: int = 60) -> Training:
    """Four experts weighed by a softmax, a head that starts at nothing, SGD."""
    x, y = digits()
    keras.utils.set_random_seed(seed)
    inputs = keras.Input((64,), name="pixels")
    gate = plan.put(inputs, layers.Dense, 4, activation="softmax", name="gate")
    experts = [plan.put(inputs, layers.Dense, 32, activation="gelu", name=f"expert{number}") for number in range(4)]
    stacked = layers.Lambda(lambda parts: ops.stack(parts, 1), name="experts")(experts)
    part = layers.Dot(axes=(1, 1), name="weighed")([stacked, gate])
    part = plan.put(part, layers.Dense, 10, kernel_initializer="zeros", name="digit")
    return plan.finished(inputs, part, x, y, logits(), optimizers.SGD(0.2, nesterov=True, momentum=0.9), seed, steps)


class Written(keras.Model):  # type: ignore[misc]
    """A model by hand: plain operations between layers, attention whose scores are minus infinity ahead of each place."""

    def __init__(self, plan: Plan) -> None:
        super().__init__()
        self.into = layers.Dense(24, name="into")
        self.query, self.key, self.value = (layers.Dense(24, name=name) for name in ("query", "key", "value"))
        self.masked = Shown(lambda x: ops.where(ops.tril(ops.ones((8, 8))) > 0, x, -np.inf), name="masked")
        self.share = layers.Softmax(name="share")
        self.wide = plan.instead["wide"]() if "wide" in plan.instead else layers.Dense(48, activation="relu", name="wide")
        self.behind = plan.behind["wide"]() if "wide" in plan.behind else layers.Identity(name="as_it_is")
        self.norm = layers.LayerNormalization(name="norm")
        self.digit = layers.Dense(10, name="digit")

    def call(self, x: Any) -> Any:
        x = self.into(x)
        scores = self.masked(ops.matmul(self.query(x), ops.transpose(self.key(x), (0, 2, 1))) / 5.0)
        x = x + ops.matmul(self.share(scores), self.value(x))
        x = self.behind(self.wide(self.norm(x)))
        return self.digit(ops.mean(x, 1))


def written(plan: Plan = PLAIN, seed: int = 90, steps: int = 60) -> Training:
    """Handwritten digits, row by row, by a model that is no graph of layers."""
    x, y = digits()
    keras.utils.set_random_seed(seed)
    x, y = material.in_order(x.reshape(-1, 8, 8), y, steps * 32, seed)
    model = Written(plan)
    model.compile(plan.optimizer() if plan.optimizer else optimizers.Adam(4e-3), logits(), **plan.options)
    return Training(model, x, y, tuple(plan.callbacks()))


def deep(plan: Plan = PLAIN, seed: int = 91, steps: int = 60) -> Training:
    """Fourteen rectified layers without normalisation, He's initialisation, Adam; a cosine distance as the loss (below zero)."""
    x, y = digits()
    keras.utils.set_random_seed(seed)
    inputs = keras.Input((64,), name="pixels")
    part = inputs
    for number in range(14):
        part = plan.put(part, layers.Dense, 32, activation="relu", kernel_initializer="he_normal", name=f"r{number}")
    part = plan.put(part, layers.Dense, 10, name="direction")
    y = np.eye(10, dtype=np.float32)[y]
    return plan.finished(inputs, part, x, y, keras.losses.CosineSimilarity(), optimizers.Adam(1e-3), seed, steps)


def transferred(plan: Plan = PLAIN, seed: int = 92, steps: int = 60) -> Training:
    """A convolution that stays as it is, with batch normalisation, under a head that learns."""
    x, y = images()
    keras.utils.set_random_seed(seed)
    pixels = keras.Input((8, 8, 1))
    part = layers.Conv2D(32, 3, activation="relu", name="features")(pixels)
    part = layers.Conv2D(32, 3, activation="relu", name="more")(layers.BatchNormalization(name="norm")(part))
    backbone = keras.Model(pixels, part, name="backbone")
    backbone.trainable = False
    inputs = keras.Input((8, 8, 1), name="pixels")
    part = plan.put(backbone(inputs, training=False), layers.Flatten, name="flat")
    part = plan.put(part, layers.Dense, 32, activation="relu", kernel_regularizer="l2", name="mix")
    part = plan.put(part, layers.Dense, 10, name="digit")
    return plan.finished(inputs, part, x, y, logits(), optimizers.Adam(3e-3), seed, steps)
