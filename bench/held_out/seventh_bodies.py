"""The models of the seventh suite into which faults are planted: other kinds, data and optimizers than before; each takes a `Plan`."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
from keras import layers, ops, optimizers

from bench.case import Training

from . import seventh_rows as rows
from .bodies import logits
from .planting import STEPS, Plan, Shown

PLAIN = Plan()
CODES = keras.initializers.RandomNormal(stddev=0.5, seed=41)
HE = "he_normal"


class Scale(layers.Layer):  # type: ignore[misc]
    """LayerScale (Touvron et al. 2021): each channel times a number that is learnt."""

    def build(self, shape: Any) -> None:
        self.gain = self.add_weight(shape=(shape[-1],), name="gain", initializer=keras.initializers.Constant(0.3))

    def call(self, x: Any) -> Any:
        return x * self.gain


class Normed(layers.Layer):  # type: ignore[misc]
    """A dense layer, each of its kernel's columns a direction times a length (Salimans and Kingma 2016)."""

    def __init__(self, units: int, activation: Any = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.units, self.activation = units, keras.activations.get(activation)

    def build(self, shape: Any) -> None:
        self.direction = self.add_weight(shape=(shape[-1], self.units), name="direction", initializer="glorot_normal")
        self.length = self.add_weight(shape=(self.units,), name="length", initializer="ones")
        self.bias = self.add_weight(shape=(self.units,), name="bias", initializer="zeros")

    def call(self, x: Any) -> Any:
        kernel = self.length * self.direction / ops.norm(self.direction, axis=0)
        return self.activation(ops.matmul(x, kernel) + self.bias)


def inverted(plan: Plan = PLAIN, seed: int = 1101, steps: int = STEPS) -> Training:
    """Which digit: two inverted residual blocks (MobileNetV2, Sandler et al. 2018), by RMSprop."""
    keras.utils.set_random_seed(seed)
    inputs = keras.Input((8, 8, 1), name="image")
    x = plan.put(inputs, layers.Conv2D, 16, 3, padding="same", use_bias=False, name="stem")
    x = plan.put(x, layers.BatchNormalization, momentum=0.9, name="norm_stem")
    x = plan.put(x, layers.ReLU, 6.0, name="bent_stem")
    for n, (width, stride) in enumerate(((16, 1), (24, 2)), 1):
        part = plan.put(x, layers.Conv2D, 32, 1, use_bias=False, name=f"widen{n}")
        part = plan.put(part, layers.BatchNormalization, momentum=0.9, name=f"norm_wide{n}")
        part = plan.put(part, layers.ReLU, 6.0, name=f"bent_wide{n}")
        part = plan.put(part, layers.DepthwiseConv2D, 3, strides=stride, padding="same", use_bias=False, name=f"depth{n}")
        part = plan.put(part, layers.BatchNormalization, momentum=0.9, name=f"norm_depth{n}")
        part = plan.put(part, layers.ReLU, 6.0, name=f"bent_depth{n}")
        part = plan.put(part, layers.Conv2D, width, 1, use_bias=False, name=f"thin{n}")
        part = plan.put(part, layers.BatchNormalization, momentum=0.9, name=f"norm_thin{n}")
        x = plan.put([x, part], layers.Add, name=f"sum{n}") if stride == 1 else part
    x = plan.put(x, layers.GlobalAveragePooling2D, name="pool")
    x = plan.put(x, layers.Dense, 10, name="digit")
    return plan.finished(inputs, x, *_digits(), logits(), optimizers.RMSprop(3e-3), seed, steps)


def _digits() -> Any:
    x, y = rows.nodes()
    return x[:, :, 0].reshape(-1, 8, 8, 1), y


def film(plan: Plan = PLAIN, seed: int = 1102, steps: int = STEPS) -> Training:
    """Which way a digit moves: a convolution of each frame, and two recurrent layers one upon the other, by Adam."""
    keras.utils.set_random_seed(seed)
    inputs = keras.Input((6, 8, 8, 1), name="film")
    x = plan.put(inputs, layers.TimeDistributed, layers.Conv2D(8, 3, strides=2, activation="relu", name="eye"), name="look")
    x = plan.put(x, layers.Reshape, (6, 72), name="flat")
    x = plan.put(x, layers.LSTM, 24, return_sequences=True, name="lower")
    x = plan.put(x, layers.LSTM, 24, return_sequences=True, name="upper")
    x = plan.put(x, layers.GlobalAveragePooling1D, name="pool")
    x = plan.put(x, layers.Dense, 16, activation="tanh", name="mix")
    x = plan.put(x, layers.Dense, 4, name="goes")
    return plan.finished(inputs, x, *rows.films(), logits(), optimizers.Adam(5e-3), seed, steps)


def volume(plan: Plan = PLAIN, seed: int = 1103, steps: int = STEPS) -> Training:
    """Which way a digit moves: convolutions over time and place at once, by SGD with momentum."""
    keras.utils.set_random_seed(seed)
    inputs = keras.Input((6, 8, 8, 1), name="film")
    x = plan.put(inputs, Shown, lambda x: 2 * x - 1, name="centred")
    x = plan.put(x, layers.Conv3D, 12, 3, activation="relu", kernel_initializer=HE, name="solid1")
    x = plan.put(x, layers.Conv3D, 16, 3, activation="relu", kernel_initializer=HE, name="solid2")
    x = plan.put(x, layers.GlobalAveragePooling3D, name="pool")
    x = plan.put(x, layers.Dense, 4, name="goes")
    return plan.finished(inputs, x, *rows.films(), logits(), optimizers.SGD(0.05, momentum=0.9), seed, steps)


def memory(plan: Plan = PLAIN, seed: int = 1104, steps: int = STEPS) -> Training:
    """The next number of an oscillation, by two recurrent layers one upon the other, by Adam with clipped gradients."""
    keras.utils.set_random_seed(seed)
    inputs = keras.Input((20, 1), name="past")
    x = plan.put(inputs, layers.LSTM, 16, return_sequences=True, name="lower")
    x = plan.put(x, layers.LSTM, 16, name="upper")
    x = plan.put(x, layers.Dense, 16, activation="tanh", name="mix")
    x = plan.put(x, layers.Dense, 1, name="next")
    return plan.finished(inputs, x, *rows.oscillations(), "mse", optimizers.Adam(6e-3, clipnorm=1.0), seed, steps)


def sets(plan: Plan = PLAIN, seed: int = 1105, steps: int = STEPS, depth: int = 2, activation: str = "relu") -> Training:
    """How far points scatter: one network for each point, their mean, another network (Zaheer et al. 2017), by Adamax."""
    keras.utils.set_random_seed(seed)
    inputs = keras.Input((12, 2), name="points")
    x = inputs
    for n in range(1, depth + 1):
        x = plan.put(x, layers.Dense, 24, activation=activation, name=f"each{n}")
    x = plan.put(x, Shown, lambda x: ops.mean(x, 1), name="pool")
    x = plan.put(x, layers.Dense, 24, activation="silu", name="all1")
    x = plan.put(x, layers.Dense, 2, name="scatter")
    return plan.finished(inputs, x, *rows.clouds(), "mse", optimizers.Adamax(1e-2), seed, steps)


def hyper(plan: Plan = PLAIN, seed: int = 1106, steps: int = STEPS) -> Training:
    """A sum with factors that a context gives: a network makes another's kernel (Ha et al. 2017), by SGD with momentum."""
    keras.utils.set_random_seed(seed)
    context, numbers = keras.Input((3,), name="context"), keras.Input((4,), name="numbers")
    code = plan.put(context, layers.Dense, 24, activation="tanh", name="code")
    made = plan.put(code, layers.Dense, 32, name="maker")
    made = plan.put(made, layers.Reshape, (4, 8), name="kernel")
    x = plan.put([numbers, made], Shown, lambda two: ops.einsum("bi,bij->bj", *two), name="applied")
    x = plan.put(x, layers.Dense, 16, activation="gelu", name="mix")
    x = plan.put(x, layers.Dense, 1, name="value")
    inputs = {"context": context, "numbers": numbers}
    return plan.finished(inputs, x, *rows.contexts(), "mse", optimizers.SGD(0.03, momentum=0.9), seed, steps)


def taste(plan: Plan = PLAIN, seed: int = 1107, steps: int = STEPS) -> Training:
    """How somebody rates something: products of codes beside a network on codes (He et al. 2017), by Adam."""
    keras.utils.set_random_seed(seed)
    user, item = (keras.Input((), dtype="int32", name=name) for name in ("user", "item"))
    codes = {
        name: plan.put(who, layers.Embedding, count, 12, embeddings_initializer=CODES, name=name)
        for name, who, count in (
            ("user_code", user, rows.USERS), ("item_code", item, rows.ITEMS), ("user_deep", user, rows.USERS), ("item_deep", item, rows.ITEMS)
        )
    }  # fmt: skip
    both = plan.put([codes["user_code"], codes["item_code"]], layers.Multiply, name="product")
    deep = plan.put([codes["user_deep"], codes["item_deep"]], layers.Concatenate, name="beside")
    deep = plan.put(deep, layers.Dense, 24, activation="relu", kernel_initializer=HE, name="deep1")
    deep = plan.put(deep, layers.Dense, 12, activation="relu", kernel_initializer=HE, name="deep2")
    x = plan.put([both, deep], layers.Concatenate, name="joined")
    x = plan.put(x, layers.Dense, 1, name="rating")
    return plan.finished({"user": user, "item": item}, x, *rows.ratings(), "mse", optimizers.Adam(1e-2), seed, steps)


def _grid() -> np.ndarray:
    """Who is next to whom among 8 x 8 pixels (himself too), normalised on both sides (Kipf and Welling 2017): float32 [64, 64]."""
    line = np.abs(np.subtract.outer(np.arange(8), np.arange(8)))
    near = (np.add.outer(line, line).transpose(0, 2, 1, 3).reshape(64, 64) <= 1).astype(np.float32)
    return near / np.sqrt(np.outer(near.sum(0), near.sum(0)))


def graph(plan: Plan = PLAIN, seed: int = 1108, steps: int = STEPS, depth: int = 3) -> Training:
    """Which digit: convolutions on the graph of its pixels, by Adam."""
    keras.utils.set_random_seed(seed)
    inputs = keras.Input((64, 3), name="nodes")
    near = _grid()
    x = inputs
    for n in range(1, depth + 1):
        x = plan.put(x, layers.Dense, 32, name=f"turn{n}")
        x = plan.put(x, Shown, lambda x: ops.matmul(ops.cast(near, x.dtype), x), name=f"spread{n}")
        x = plan.put(x, layers.Activation, "tanh", name=f"bent{n}")
    x = plan.put(x, layers.GlobalMaxPooling1D, name="most")
    x = plan.put(x, layers.Dense, 10, name="digit")
    return plan.finished(inputs, x, *rows.nodes(), logits(), optimizers.Adam(8e-3), seed, steps)
