"""Planted: numbers that are none, skipped updates, and errors that explode, vanish or never arrive."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
from keras import layers, ops, optimizers

from bench.case import BATCH, Case

from . import bodies, material
from .planting import STEPS, Gate, Plan, Shown, Turns, from_step
from .witness import Witness


def _row(step: int, change: Any) -> Any:
    """Change one row of a step's batch."""
    return lambda x, y: change(x, y, step * BATCH + 5)


def _gap(x: Any, y: Any, row: int) -> None:
    x[row, 3] = np.nan


def _plain(x: Any, y: Any, row: int) -> None:
    x[row] = 0.5


def _twin(x: Any, y: Any, row: int) -> None:
    x["right"][row] = x["left"][row]


def _wrong_unit(x: Any, y: Any, row: int) -> None:
    y[row - 5 : row + 27] *= 1e6


def _standard(x: Any) -> Any:
    return (x - ops.mean(x, (1, 2, 3), keepdims=True)) / ops.std(x, (1, 2, 3), keepdims=True)


def _euclid(x: Any) -> Any:
    return ops.sqrt(ops.sum(x * x, -1, keepdims=True))


def _first_bad(witness: Witness, name: str, step: int, error: bool = False) -> bool:
    """A layer's output (or its error) is not finite at this step, and was at each step before."""
    finite = []
    for at in range(step + 1):
        _, output, back = witness.flow(at, name)[0]
        finite.append(bool(np.isfinite(back if error else output).all()))
    return all(finite[:-1]) and not finite[-1]


def _twins_break(witness: Witness) -> bool:
    _, output, _ = witness.flow(11, "distance")[0]
    x, _ = witness.batch(11)
    once = (x["left"] == x["right"]).all(1).sum() == 1
    return bool(np.isfinite(output).all() and once and np.isfinite(witness.losses[11]) and np.isnan(witness.losses[12]))


def _skipped(witness: Witness, first: int, share: float) -> bool:
    """No trainable weight changes in this share of the steps, for the first time at step `first`."""
    numbers = [index for index, variable in enumerate(witness.model.variables) if variable.trainable]
    still = [
        all(np.array_equal(old[i], new[i]) for i in numbers) for old, new in zip(witness.before, witness.before[1:], strict=False)
    ]
    return still.index(True) == first and np.mean(still) >= share


def _half_precision(plan: Plan, body: Any) -> Any:
    def make() -> Any:
        keras.mixed_precision.set_global_policy("mixed_float16")
        try:
            return body(plan)
        finally:
            keras.mixed_precision.set_global_policy("float32")

    return make


def _grows(witness: Witness, name: str, times: float, step: int = 0) -> bool:
    put_in, put_out = witness.into(step, name)
    return put_in > times * put_out > 0


def _fades(witness: Witness, name: str, times: float, step: int = 0) -> bool:
    put_in, put_out = witness.into(step, name)
    return put_in < times * put_out


def _scaler(**kwargs: Any) -> Any:
    return lambda: optimizers.LossScaleOptimizer(optimizers.Adam(4e-3), **kwargs)


def non_finite() -> list[Case]:
    plan = Plan(rows=_row(9, _gap))
    spoilt = Case(
        "NaN in a table", lambda: bodies.diabetes(plan, 201), lambda w: _first_bad(w, "d1", 9), "non_finite", ("patient",), 9
    )
    standard = Plan(rows=_row(6, _plain), instead={"centred": lambda: Shown(_standard, name="centred")})
    flat = Case(
        "plain square",
        lambda: bodies.photo_cnn(standard, 202),
        lambda w: _first_bad(w, "centred", 6),
        "non_finite",
        ("centred",),
        6,
    )
    twin = Plan(
        rows=_row(11, _twin),
        instead={"distance": lambda: Shown(_euclid, name="distance")},
        optimizer=lambda: optimizers.SGD(0.01),
    )
    root = Case(
        "root of no distance", lambda: bodies.siamese(twin, 203), _twins_break, "non_finite",
        ("subtract", "encoder", "encoder#1", "encoder/code", "encoder#1/code"), 11,
    )  # fmt: skip
    logged = Plan(behind={"mix": lambda: Shown(lambda x: ops.log(ops.relu(x)), name="logged")})
    log = Case(
        "log of zero", lambda: bodies.text_lstm(logged, 204), lambda w: _first_bad(w, "logged", 0), "non_finite", ("logged",), 0
    )
    return [spoilt, flat, root, log]


def loss_scaler_skips() -> list[Case]:
    infinite = {"non_finite": ("*",)}
    stuck = {**infinite, "loss_does_not_fall": (".",), "update_too_small": ("*",)}
    often, third = Plan(optimizer=_scaler(dynamic_growth_steps=1)), Plan(optimizer=_scaler(dynamic_growth_steps=2))
    never = Plan(optimizer=_scaler(initial_scale=float("inf")))
    return [
        Case("scale grows each step", _half_precision(often, bodies.photo_cnn), lambda w: _first_skip(w, 0.3),
                "loss_scaler_skips", (".",), None, infinite),
        Case("scale grows each second step", _half_precision(third, bodies.text_lstm), lambda w: _first_skip(w, 0.2),
                "loss_scaler_skips", (".",), None, infinite),
        Case("endless scale", lambda: bodies.residual(never, 207), lambda w: _skipped(w, 0, 0.99), "loss_scaler_skips", (".",), 0, stuck),
    ]  # fmt: skip


def _first_skip(witness: Witness, share: float) -> bool:
    return any(_skipped(witness, first, share) for first in range(STEPS))


def exploding() -> list[Case]:
    tiny = Plan(
        arguments={"code": {"kernel_initializer": keras.initializers.RandomNormal(stddev=1e-6, seed=3)}},
        behind={"code": lambda: layers.UnitNormalization(name="unit")},
    )
    turned = Plan(behind={"norm2": lambda: Turns(1e5, name="turned")})
    unit = Plan(rows=_row(20, _wrong_unit), optimizer=lambda: optimizers.Adam(3e-3))
    cold = Plan(behind={"mix": lambda: layers.Rescaling(1e5, name="cold")})
    tiny_too = {"poor_initialisation": ("code",), "update_too_large": ("code",)}
    upwards = {"loss_does_not_fall": (".",)}
    return [
        Case("unit length of almost nothing", lambda: bodies.photo_code(tiny, 208), lambda w: _grows(w, "unit", 1e4),
                "exploding_errors", ("unit",), 0, tiny_too),
        Case("reversal too strong", lambda: bodies.text_attention(turned, 209), lambda w: _grows(w, "turned", 1e4),
                "exploding_errors", ("turned",), 0, upwards),
        Case("target in another unit", lambda: bodies.diabetes(unit, 210), _outlier, "exploding_errors", ("target", "."), 20, upwards),
        Case("temperature too low", lambda: bodies.rows(cold, 211), lambda w: _grows(w, "cold", 1e4), "exploding_errors", ("cold",), 0),
    ]  # fmt: skip


def _outlier(witness: Witness) -> bool:
    sizes = [np.linalg.norm(witness.flow(step, "target")[0][2]) for step in (18, 19, 20, 21)]
    return bool(sizes[2] > 1e4 * max(sizes[0], sizes[1]) and sizes[3] < 1e-3 * sizes[2])


def vanishing() -> list[Case]:
    faint = Plan(behind={"wide": lambda: Gate(backward=1e-8, name="faint")})
    small = {"loss_does_not_fall": (".",), "update_too_small": ("words", "norm1", "attention", "attention/*", "norm2", "wide")}
    shut = np.zeros(4 * 32, np.float32)
    shut[:32] = -25
    closed = Plan(arguments={"memory": {"bias_initializer": lambda shape, dtype=None: shut, "unit_forget_bias": False}})
    gate = Plan(
        behind={"conv2": lambda: Gate(name="gate")},
        callbacks=from_step(15, lambda model: model.get_layer("gate").backward.assign(1e-9)),
    )
    first = tuple(f"s{depth}" for depth in range(9))
    deep = {"loss_does_not_fall": (".",), "constant": tuple(f"s{depth}" for depth in range(12)), "update_too_small": first}
    lstm = {
        "constant": ("memory", "mix", "modules"),
        "poor_initialisation": ("memory",),
        "loss_does_not_fall": (".",),
        "worse_readout": ("memory",),
    }
    photo = {"update_too_small": ("conv1", "conv2")}
    return [
        Case("twelve sigmoids", bodies.deep_sigmoid, _deep, "vanishing_errors", first, 0, deep),
        Case("faint way back", lambda: bodies.text_attention(faint, 213), lambda w: _fades(w, "faint", 1e-7), "vanishing_errors",
                ("faint",), 0, small),
        Case("closed gate", lambda: bodies.text_lstm(closed, 214), lambda w: _fades(w, "memory", 1e-6), "vanishing_errors", ("memory",), 0, lstm),
        Case("way back cut late", lambda: bodies.photo_cnn(gate, 215),
                lambda w: _fades(w, "gate", 1e-8, 15) and not _fades(w, "gate", 0.5, 14), "vanishing_errors", ("gate",), 15, photo),
    ]  # fmt: skip


def _deep(witness: Witness) -> bool:
    flow = witness.flow(0, "s0", "s11")
    return bool(np.linalg.norm(flow[0][2]) < 1e-5 * np.linalg.norm(flow[1][2]))


def disconnected() -> list[Case]:
    rounded = Plan(behind={"conv2": lambda: Shown(lambda x: ops.round(16 * x) / 16, name="rounded")})
    steps = Plan(behind={"code": lambda: Shown(lambda x: ops.cast(ops.cast(x * 32, "int32"), "float32") / 32, name="whole")})
    still = {"unchanged_weights": ("conv1", "conv2"), "vanishing_errors": ("conv1", "conv2", "rounded")}
    still_code = {"unchanged_weights": ("enc", "code"), "vanishing_errors": ("enc", "code", "whole")}
    return [
        Case("rounded", lambda: bodies.photo_cnn(rounded, 216), lambda w: _cut(w, "conv1", "conv2"), "disconnected",
                ("conv1", "conv2"), 0, still),
        Case("whole numbers", lambda: bodies.photo_code(steps, 217), lambda w: _cut(w, "enc", "code"), "disconnected",
                ("enc", "code"), 0, still_code),
        Case("head without a loss", two_heads, _no_loss, "disconnected", ("topic",), 0, {"unchanged_weights": ("topic",)}),
    ]  # fmt: skip


def _cut(witness: Witness, *names: str) -> bool:
    return all(error is None for _, _, error in witness.flow(0, *names)) and not any(witness.moved(name, 3) for name in names)


def two_heads() -> Any:
    """Digits by their rows; beside the classes a second head, for which nobody wrote a loss."""
    keras.utils.set_random_seed(218)
    inputs = keras.Input((8, 8), name="digit")
    x = layers.Bidirectional(layers.LSTM(16), name="both")(inputs)
    outputs = {"classes": layers.Dense(10, name="classes")(x), "topic": layers.Dense(4, name="topic")(x)}
    x, y = material.digit_rows()
    return Plan().finished(inputs, outputs, x, {"classes": y}, {"classes": bodies.logits()}, optimizers.Adam(5e-3), 218)


def _no_loss(witness: Witness) -> bool:
    return not any(witness.moved("topic", step) for step in range(10)) and witness.moved("classes", 3)
