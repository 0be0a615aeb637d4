"""The models of the sixth suite into which faults are planted: other kinds, data and optimizers than the fifth's; each takes a `Plan`."""

from __future__ import annotations

from typing import Any

import keras
from keras import layers, ops, optimizers

from bench.case import BATCH, Training

from . import sixth_rows as rows
from .bodies import logits
from .material import in_order, table
from .planting import STEPS, Plan, Shown

PLAIN = Plan()
CODES = keras.initializers.RandomNormal(stddev=0.5, seed=21)


def unet(plan: Plan = PLAIN, seed: int = 901, steps: int = STEPS) -> Training:
    """How steep a photograph is at each pixel: a small U-Net (Ronneberger et al. 2015), by Adam."""
    keras.utils.set_random_seed(seed)
    inputs = keras.Input((12, 12, 1), name="grey")
    x = plan.put(inputs, layers.Identity, name="even")
    whole = plan.put(x, layers.Conv2D, 12, 3, padding="same", activation="relu", kernel_initializer="he_normal", name="whole")
    x = plan.put(whole, layers.MaxPooling2D, 2, name="half")
    x = plan.put(x, layers.Conv2D, 16, 3, padding="same", activation="relu", kernel_initializer="he_normal", name="low1")
    x = plan.put(x, layers.Conv2D, 16, 3, padding="same", activation="elu", name="low2")
    x = plan.put(x, layers.Conv2DTranspose, 12, 2, strides=2, activation="elu", name="up")
    x = plan.put([whole, x], layers.Concatenate, name="skip")
    x = plan.put(x, layers.Conv2D, 12, 3, padding="same", activation="elu", name="joined")
    x = plan.put(x, layers.Conv2D, 1, 1, name="steep")
    return plan.finished(inputs, x, *rows.edges(), "mse", optimizers.Adam(3e-3), seed, steps)


def temporal(plan: Plan = PLAIN, seed: int = 902, steps: int = STEPS) -> Training:
    """Sine, square or saw? Gated dilated causal convolutions with residual sums (as WaveNet's), by RMSprop."""
    keras.utils.set_random_seed(seed)
    inputs = keras.Input((32, 1), name="wave")
    x = plan.put(inputs, layers.Conv1D, 16, 3, padding="causal", activation="relu", kernel_initializer="he_normal", name="stem")
    for wide in (1, 2, 4):
        options: dict[str, Any] = {"padding": "causal", "dilation_rate": wide}
        change = plan.put(x, layers.Conv1D, 16, 3, activation="tanh", name=f"change{wide}", **options)
        door = plan.put(x, layers.Conv1D, 16, 3, activation="sigmoid", name=f"door{wide}", **options)
        x = plan.put([x, layers.Multiply(name=f"let{wide}")([change, door])], layers.Add, name=f"sum{wide}")
    mean = plan.put(x, layers.GlobalAveragePooling1D, name="mean")
    most = plan.put(x, layers.GlobalMaxPooling1D, name="most")
    x = plan.put([mean, most], layers.Concatenate, name="pooled")
    x = plan.put(x, layers.Dense, 3, name="form")
    return plan.finished(inputs, x, *rows.waves(), logits(), optimizers.RMSprop(3e-3), seed, steps)


def mobile(plan: Plan = PLAIN, seed: int = 903, steps: int = STEPS) -> Training:
    """Which digit: depthwise and pointwise convolutions, batch normalisation, channels weighed by their means, by SGD."""
    keras.utils.set_random_seed(seed)
    inputs = keras.Input((8, 8, 1), name="image")
    x = plan.put(inputs, layers.Conv2D, 16, 3, padding="same", activation="relu", kernel_initializer="he_normal", name="stem")
    x = plan.put(x, layers.DepthwiseConv2D, 3, strides=2, padding="same", use_bias=False, name="depth")
    x = plan.put(x, layers.Conv2D, 24, 1, use_bias=False, name="point")
    x = plan.put(x, layers.BatchNormalization, momentum=0.9, name="norm")
    x = plan.put(x, layers.ReLU, 6.0, name="bent")
    weigh = plan.put(x, layers.GlobalAveragePooling2D, keepdims=True, name="pool")
    weigh = plan.put(weigh, layers.Dense, 8, activation="silu", name="squeeze")
    weigh = plan.put(weigh, layers.Dense, 24, activation="sigmoid", name="excite")
    x = plan.put([x, weigh], layers.Multiply, name="weighed")
    x = plan.put(x, layers.Flatten, name="flat")
    x = plan.put(x, layers.Dense, 10, name="digit")
    return plan.finished(inputs, x, *rows.digits(), logits(), optimizers.SGD(0.1, momentum=0.8, nesterov=True), seed, steps)


def mixture(plan: Plan = PLAIN, seed: int = 904, steps: int = STEPS) -> Training:
    """A number that is made in four ways, by the two of four experts that a gate finds best (Shazeer et al. 2017), by Adam."""
    keras.utils.set_random_seed(seed)
    inputs = keras.Input((6,), name="numbers")
    x = plan.put(inputs, layers.Dense, 24, activation="tanh", name="shared")
    gate = plan.put(x, layers.Dense, 4, name="gate")
    gate = plan.put(gate, Shown, lambda g: ops.softmax(ops.where(g >= ops.top_k(g, 2)[0][:, 1:], g, -1e9)), name="chosen")
    parts = []
    for number in range(4):
        wide = plan.put(x, layers.Dense, 24, activation="relu", kernel_initializer="he_normal", name=f"wide{number}")
        parts.append(plan.put(wide, layers.Dense, 8, activation="elu", name=f"thin{number}"))
    x = plan.put([gate, *parts], Shown, lambda p: sum(p[0][:, i : i + 1] * p[1 + i] for i in range(4)), name="mixed")
    x = plan.put(x, layers.Dense, 1, name="value")
    return plan.finished(inputs, x, *rows.regimes(), "mse", optimizers.Adam(8e-3), seed, steps)


def _shares(scores_and_tokens: Any) -> Any:
    """A softmax over time, of what is no padding."""
    scores, tokens = scores_and_tokens
    shares = ops.exp(scores - ops.max(scores, 1, keepdims=True)) * ops.cast(tokens > 0, scores.dtype)[..., None]
    return shares / ops.sum(shares, 1, keepdims=True)


def crowd(plan: Plan = PLAIN, seed: int = 905, steps: int = STEPS) -> Training:
    """Which token is there most often: a transformer's block with RMS normalisation and a gated layer, masked pooling, by AdamW."""
    keras.utils.set_random_seed(seed)
    inputs = keras.Input((rows.LENGTH,), dtype="int32", name="tokens")
    x = plan.put(inputs, layers.Embedding, rows.TOKENS, 24, embeddings_initializer=CODES, name="codes")
    seen = plan.put(x, layers.RMSNormalization, name="norm1")
    x = x + layers.MultiHeadAttention(2, 12, name="attention")(seen, seen)
    seen = plan.put(x, layers.RMSNormalization, name="norm2")
    gate, much = (
        plan.put(seen, layers.Dense, 32, activation=kind, name=name) for kind, name in (("silu", "gate"), (None, "much"))
    )
    x = x + plan.put(layers.Multiply(name="gated")([gate, much]), layers.Dense, 24, name="thin")
    x = plan.put(x, layers.RMSNormalization, name="norm3")
    scores = plan.put(x, layers.Dense, 1, use_bias=False, name="scores")
    weights = plan.put([scores, inputs], Shown, _shares, name="weights")
    x = plan.put([x, weights], Shown, lambda two: ops.sum(two[0] * two[1], 1), name="pooled")
    x = plan.put(x, layers.Dense, rows.TOKENS - 1, name="most")
    return plan.finished(inputs, x, *rows.crowds(), logits(), optimizers.AdamW(5e-3, weight_decay=1e-2), seed, steps)


def bigru(plan: Plan = PLAIN, seed: int = 906, steps: int = STEPS) -> Training:
    """Is each letter in a long word: a recurrent layer in both directions, by Adam with clipped gradients."""
    keras.utils.set_random_seed(seed)
    inputs = keras.Input((20,), dtype="int32", name="letters")
    x = plan.put(inputs, layers.Embedding, rows.LETTERS, 12, embeddings_initializer=CODES, name="chars")
    x = plan.put(x, layers.Bidirectional, layers.GRU(12, return_sequences=True, name="memory"), name="both")
    x = plan.put(x, layers.Dense, 16, activation="gelu", name="mix")
    x = plan.put(x, layers.Dense, 1, name="long")
    loss = keras.losses.BinaryCrossentropy(from_logits=True)
    return plan.finished(inputs, x, *rows.long_words(), loss, optimizers.Adam(1e-2, global_clipnorm=1.0), seed, steps)


def coder(plan: Plan = PLAIN, seed: int = 907, steps: int = STEPS) -> Training:
    """Digits through a code of sixteen numbers and back: convolutions there and back, by Nadam."""
    keras.utils.set_random_seed(seed)
    x, _ = rows.digits()
    inputs = keras.Input((8, 8, 1), name="image")
    part = plan.put(inputs, layers.Identity, name="scaled")
    part = plan.put(part, layers.Conv2D, 12, 3, strides=2, padding="same", activation="tanh", name="shrink")
    part = plan.put(part, layers.Flatten, name="flat")
    part = plan.put(part, layers.Dense, 16, name="code")
    part = plan.put(part, layers.Dense, 192, activation="relu", kernel_initializer="he_normal", name="grow")
    part = plan.put(part, layers.Reshape, (4, 4, 12), name="square")
    part = plan.put(part, layers.Conv2DTranspose, 1, 4, strides=2, padding="same", name="picture")
    return plan.finished(inputs, part, x, x.copy(), "mse", optimizers.Nadam(4e-3), seed, steps)


def rank(plan: Plan = PLAIN, seed: int = 908, steps: int = STEPS) -> Training:
    """Whose diabetes went further: one tower gives both patients a score (RankNet, Burges et al. 2005), by Adamax."""
    keras.utils.set_random_seed(seed)
    one = keras.Input((10,), name="patient")
    x = plan.put(one, layers.Dense, 32, activation="relu", kernel_initializer="he_normal", name="wide")
    x = plan.put(x, layers.Dense, 16, activation="tanh", name="thin")
    tower = keras.Model(one, plan.put(x, layers.Dense, 1, use_bias=False, name="score"), name="tower")
    left, right = keras.Input((10,), name="left"), keras.Input((10,), name="right")
    x = plan.put([tower(left), tower(right)], layers.Subtract, name="further")
    loss = keras.losses.BinaryCrossentropy(from_logits=True)
    return plan.finished({"left": left, "right": right}, x, *rows.couples(), loss, optimizers.Adamax(8e-3), seed, steps)


def tabular(plan: Plan = PLAIN, seed: int = 909, steps: int = STEPS) -> Training:
    """Is a tumour benign: two embedded columns beside 28 numbers, by AdamW."""
    keras.utils.set_random_seed(seed)
    radius, texture = (keras.Input((), dtype="int32", name=name) for name in ("radius", "texture"))
    others = keras.Input((28,), name="others")
    codes = [
        plan.put(column, layers.Embedding, 10, 6, embeddings_initializer=CODES, name=f"{column.name}_code")
        for column in (radius, texture)
    ]
    numbers = plan.put(others, layers.Dense, 20, activation="softplus", name="numbers")
    x = plan.put([*codes, numbers], layers.Concatenate, name="beside")
    x = plan.put(x, layers.Dense, 32, activation="relu", kernel_initializer="he_normal", name="mix")
    x = plan.put(x, layers.Dense, 1, name="benign")
    inputs = {"radius": radius, "texture": texture, "others": others}
    loss = keras.losses.BinaryCrossentropy(from_logits=True)
    return plan.finished(inputs, x, *rows.tumours(), loss, optimizers.AdamW(4e-3), seed, steps)


def iris(plan: Plan = PLAIN, seed: int = 910, steps: int = STEPS) -> Training:
    """Of which kind an iris is and how wide its petals are, from three other measures, by SGD with momentum."""
    keras.utils.set_random_seed(seed)
    inputs = keras.Input((3,), name="flower")
    x = plan.put(inputs, layers.Dense, 24, activation="tanh", name="trunk")
    kind = plan.put(x, layers.Dense, 16, activation="silu", name="kind_mix")
    kind = plan.put(kind, layers.Dense, 3, activation="softmax", name="kind")
    width = plan.put(x, layers.Dense, 16, activation="silu", name="width_mix")
    width = plan.put(width, layers.Dense, 1, name="width")
    losses = {"kind": "sparse_categorical_crossentropy", "width": "mse"}
    optimizer = optimizers.SGD(0.05, momentum=0.9)
    return plan.finished(inputs, {"kind": kind, "width": width}, *rows.irises(), losses, optimizer, seed, steps)


def siren(plan: Plan = PLAIN, seed: int = 911, steps: int = STEPS) -> Training:
    """The colour at a place of a photograph, by sines of sines (Sitzmann et al. 2020), by Adam."""
    keras.utils.set_random_seed(seed)
    inputs = keras.Input((2,), name="place")
    first, later = (keras.initializers.RandomUniform(-width, width, seed=22) for width in (4.0, 0.3))
    x = plan.put(inputs, layers.Dense, 48, kernel_initializer=first, name="first")
    x = plan.put(x, Shown, ops.sin, name="sine1")
    x = plan.put(x, layers.Dense, 48, kernel_initializer=later, name="second")
    x = plan.put(x, Shown, ops.sin, name="sine2")
    x = plan.put(x, layers.Dense, 3, name="colour")
    return plan.finished(inputs, x, *rows.temple(), "mse", optimizers.Adam(3e-3), seed, steps)


def stack(plan: Plan = PLAIN, seed: int = 912, steps: int = STEPS, depth: int = 4, activation: str = "tanh") -> Training:
    """Sine, square or saw, through equal convolutions one after the other, by Adam."""
    keras.utils.set_random_seed(seed)
    inputs = keras.Input((32, 1), name="wave")
    x = inputs
    for number in range(depth):
        x = plan.put(x, layers.Conv1D, 12, 5, padding="same", activation=activation, name=f"s{number}")
    x = plan.put(x, layers.GlobalMaxPooling1D, name="most")
    x = plan.put(x, layers.Dense, 3, name="form")
    return plan.finished(inputs, x, *rows.waves(), logits(), optimizers.Adam(3e-3), seed, steps)


class _Tied(keras.Model):  # type: ignore[misc]
    """A model of its own class, of which one layer is called three times."""

    def __init__(self, plan: Plan) -> None:
        super().__init__(name="tied")
        self.lift = layers.Dense(24, name="lift")
        self.turn = layers.Dense(24, **{"activation": "tanh", "name": "turn", **plan.arguments.get("turn", {})})
        self.grower = layers.Dense(3, name="grower")

    def call(self, x: Any) -> Any:
        x = self.lift(x)
        for _ in range(3):
            x = x + self.turn(x)
        return self.grower(x)


def tied(plan: Plan = PLAIN, seed: int = 913, steps: int = STEPS) -> Training:
    """Which grower a wine is of: one layer that is called three times, in a model of its own class, by RMSprop with momentum."""
    keras.utils.set_random_seed(seed)
    x, y = in_order(*table("wine"), steps * BATCH, seed)
    model = _Tied(plan)
    model(x[:2])
    model.compile(plan.optimizer() if plan.optimizer else optimizers.RMSprop(2e-3, momentum=0.5), logits(), **plan.options)
    return Training(model, x, y, tuple(plan.callbacks()))
