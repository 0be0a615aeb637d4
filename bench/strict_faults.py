"""More trainings on which thresholds are set: kinds that rules once missed or named too much of, judged as strictly as the held-out."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
from keras import layers, ops, optimizers

from .case import BATCH, Case, Training
from .faults import digits, table
from .held_out.planting import Gate, Plan, Pulled, Shown, from_step

PLAIN = Plan()
STUCK = {"loss_does_not_fall": (".",)}


def _loss() -> Any:
    return keras.losses.SparseCategoricalCrossentropy(from_logits=True)


def _tanh_mlp(plan: Plan = PLAIN, seed: int = 61, steps: int = 50) -> Training:
    """Wines through two tanh layers and layer normalisation, by SGD."""
    from sklearn import datasets

    keras.utils.set_random_seed(seed)
    inputs = keras.Input((13,), name="wine")
    x = plan.put(inputs, layers.Dense, 20, activation="tanh", name="t1")
    x = plan.put(x, layers.Dense, 28, activation="tanh", name="t2")
    x = plan.put(x, layers.LayerNormalization, name="even")
    x = plan.put(x, layers.Dense, 3, name="head")
    return plan.finished(inputs, x, *table(datasets.load_wine), _loss(), optimizers.SGD(0.1), seed, steps)


def _conv(plan: Plan = PLAIN, seed: int = 62, steps: int = 50) -> Training:
    """Digits through two rectified convolutions, by RMSprop."""
    x, y = digits()
    keras.utils.set_random_seed(seed)
    inputs = keras.Input((8, 8, 1), name="pixels")
    part = plan.put(inputs, layers.Conv2D, 12, 3, activation="relu", name="c1")
    part = plan.put(part, layers.Conv2D, 12, 3, activation="relu", name="c2")
    part = plan.put(part, layers.Flatten, name="flat")
    part = plan.put(part, layers.Dense, 20, activation="relu", name="mix")
    part = plan.put(part, layers.Dense, 10, name="head")
    return plan.finished(inputs, part, x.reshape(-1, 8, 8, 1), y, _loss(), optimizers.RMSprop(2e-3), seed, steps)


def _memory(plan: Plan = PLAIN, seed: int = 63, steps: int = 50) -> Training:
    """Digits row by row through an LSTM, behind a dense layer, by Adam."""
    x, y = digits()
    keras.utils.set_random_seed(seed)
    inputs = keras.Input((8, 8), name="rows")
    part = plan.put(inputs, layers.Dense, 12, name="into")
    part = plan.put(part, layers.LSTM, 20, name="memory")
    part = plan.put(part, layers.Dense, 10, name="head")
    return plan.finished(inputs, part, x.reshape(-1, 8, 8), y, _loss(), optimizers.Adam(5e-3), seed, steps)


def _prices(plan: Plan = PLAIN, seed: int = 64, steps: int = 50) -> Training:
    """A regression by two swish layers and Adam."""
    from sklearn import datasets

    keras.utils.set_random_seed(seed)
    x, y = table(datasets.load_diabetes)
    y = ((y - y.mean()) / y.std()).astype(np.float32)[:, None]
    inputs = keras.Input((10,), name="measures")
    part = plan.put(inputs, layers.Dense, 24, activation="swish", name="p1")
    part = plan.put(part, layers.Dense, 24, activation="swish", name="p2")
    part = plan.put(part, layers.Dense, 1, name="head")
    return plan.finished(inputs, part, x, y, "mse", optimizers.Adam(5e-3), seed, steps)


def _halves(seed: int = 65, steps: int = 50) -> Training:
    """The difference of two codes by one encoder: the bias of its last layer cancels, which is no fault."""
    x, y = digits()
    keras.utils.set_random_seed(seed)
    inputs = keras.Input((64,), name="pixels")
    encoder = keras.Sequential(
        [layers.Input((32,)), layers.Dense(32, "relu", name="e1"), layers.Dense(16, name="e2")], name="encoder"
    )
    apart = layers.Subtract(name="apart")([encoder(inputs[:, :32]), encoder(inputs[:, 32:])])
    outputs = layers.Dense(10, name="head")(layers.Activation("tanh", name="bent")(apart))
    return PLAIN.finished(inputs, outputs, x, y, _loss(), optimizers.SGD(0.1, momentum=0.9), seed, steps)


def _looked_up(seed: int = 69, steps: int = 80) -> Training:
    """Digits as 64 words of 17 kinds, whose embeddings start small and move fast at first."""
    x, y = digits()
    keras.utils.set_random_seed(seed)
    inputs = keras.Input((64,), dtype="int32", name="words")
    part = layers.Conv1D(16, 8, strides=8, activation="relu", name="rows")(layers.Embedding(17, 8, name="word")(inputs))
    outputs = layers.Dense(10, name="head")(layers.Flatten(name="flat")(part))
    return PLAIN.finished(inputs, outputs, (16 * x).astype(np.int32), y, _loss(), optimizers.Adam(1e-2), seed, steps)


def _two_heads(seed: int = 66, steps: int = 50) -> Training:
    x, y = digits()
    keras.utils.set_random_seed(seed)
    inputs = keras.Input((64,), name="pixels")
    trunk = layers.Dense(32, activation="tanh", name="trunk")(inputs)
    outputs = {"digit": layers.Dense(10, name="digit")(trunk), "spare": layers.Dense(5, name="spare")(trunk)}
    return PLAIN.finished(inputs, outputs, x, {"digit": y}, {"digit": _loss()}, optimizers.SGD(0.1), seed, steps)


def _tiny(stddev: float) -> Any:
    return {"kernel_initializer": keras.initializers.RandomNormal(stddev=stddev, seed=7)}


def _other_unit(x: Any, y: Any) -> None:
    y[18 * BATCH : 19 * BATCH] *= 1e5


def _rate(rate: float) -> Any:
    return lambda model: setattr(model.optimizer, "learning_rate", rate)


def _dies(model: Any) -> None:
    model.get_layer("c2").bias.assign(np.full(12, -300.0))


def strict() -> list[Case]:
    """Fourteen faults and four healthy trainings."""
    shut = np.zeros(80, np.float32)
    shut[:20] = -25
    closed = Plan(arguments={"memory": {"bias_initializer": lambda shape, dtype=None: shut, "unit_forget_bias": False}})
    sharp = Plan(arguments={"t2": _tiny(1e-7), "even": {"epsilon": 1e-16}}, optimizer=lambda: optimizers.Adam(2e-3))
    dies, nothing = Plan(callbacks=from_step(14, _dies)), Plan(behind={"c1": lambda: Gate(name="gate")},
                    callbacks=from_step(13, lambda model: model.get_layer("gate").forward.assign(0)))  # fmt: skip
    pulled = Plan(instead={"t2": lambda: Pulled(28, 1.0, name="t2")}, callbacks=from_step(12, _pull(1e5)))
    gentle = Plan(instead={"p2": lambda: Pulled(24, 3e-5, activation="swish", name="p2")}, optimizer=lambda: optimizers.SGD(0.05))
    stalls = Plan(callbacks=from_step(14, _rate(2e-8)), optimizer=lambda: optimizers.Adam(3e-3))
    schedule = Plan(optimizer=lambda: optimizers.Adam(optimizers.schedules.CosineDecay(5e-3, 80)))
    negative = keras.initializers.RandomUniform(-1, -0.5, seed=8)
    below = Plan(arguments={"c1": {"activation": "sigmoid"}, "c2": {"kernel_initializer": negative}})
    one = Plan(behind={"head": lambda: layers.LayerNormalization(name="normed")})
    first = Plan(behind={"into": lambda: Shown(lambda x: ops.roll(x, 1, 0), name="rolled")})
    kept = np.zeros((2, 60), np.float32)
    kept[:, :20] = 25
    stays = Plan(instead={"memory": lambda: layers.GRU(20, bias_initializer=lambda shape, dtype=None: kept, name="memory")})
    every = ("p1", "p2", "head")
    fed = {**STUCK, "poor_initialisation": ("memory", "memory/*"), "constant": ("memory", "head"), "worse_readout": ("memory",)}
    return [
        Case("closed LSTM", lambda: _memory(closed), None, "vanishing_errors", ("memory",), 0, fed),
        Case("head nobody asked for", _two_heads, None, "disconnected", ("spare",), 0),
        Case("prices in another unit", lambda: _prices(Plan(rows=_other_unit)), None, "exploding_errors", ("head",), 18, STUCK),
        Case("almost nothing normalised", lambda: _tanh_mlp(sharp), None, "exploding_errors", ("even",), 0,
             {"poor_initialisation": ("t2",), "update_too_large": ("t2",)}),
        Case("convolution dead late", lambda: _conv(dies), None, "dead_units", ("c2",), 14, {**STUCK, "worse_readout": ("c2",)}),
        Case("convolution dead at once", lambda: _conv(below), None, "dead_units", ("c2",), 0,
             {**STUCK, "worse_readout": ("c2",), "poor_initialisation": ("c2",)}),
        Case("shut from a step on", lambda: _conv(nothing), None, "constant", ("gate",), 13, {**STUCK, "worse_readout": ("gate",)}),
        Case("one number normalised", lambda: _prices(one), None, "constant", ("normed",), 0, STUCK),
        Case("one layer flies", lambda: _tanh_mlp(pulled), None, "update_too_large", ("t2",), 12, {**STUCK, "saturated": ("t2",)}),
        Case("rate stalls", lambda: _prices(stalls), None, "update_too_small", every, 14, STUCK),
        Case("one layer creeps", lambda: _prices(gentle), None, "update_too_small", ("p2",), 0),
        Case("tiny kernel before a tanh", lambda: _tanh_mlp(Plan(arguments={"t1": _tiny(1e-5)})), None, "poor_initialisation", ("t1",), 0,
             {"vanishing_errors": ("t1", "t2"), "update_too_large": ("t1",)}),
        Case("rows of the batch rolled before an LSTM", lambda: _memory(first, 70, 80), None, "worse_readout", ("rolled",), None, {**STUCK, "unchanged_weights": ("memory/*",)}),
        Case("GRU that stays", lambda: _memory(stays), None, "constant", ("memory",), 0, {**STUCK, "worse_readout": ("memory",)}),
        Case("codes apart", _halves),
        Case("rate by cosine", lambda: _prices(schedule, 67, 80)),
        Case("small embeddings", _looked_up),
        Case("plain memory", lambda: _memory(PLAIN, 68, 80)),
    ]  # fmt: skip


def _pull(strength: float) -> Any:
    return lambda model: model.get_layer("t2").pull.assign(strength)
