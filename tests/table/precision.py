"""Rows: mixed precision, double precision, quantised weights."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import tb_layerflow as layerflow

from .custom_loops import recorder
from .functional import numbers
from .regression import batch
from .row import Hand, Row, fitted, left_by, mse, seeded
from .subclassed import dense

GROUP = "Precision"
WIDTH = 3


def _with_policy(policy: str) -> Any:
    def build() -> Any:
        return keras.Sequential([layers.Input((WIDTH,), name="numbers"), dense(4, "first", activation="tanh", dtype=policy),
                                 dense(1, "last", dtype=policy)])  # fmt: skip

    return build


def _forward(hand: Hand, model: Any, x: Any) -> Any:
    first, last = model.layers
    return hand(".", hand("last", last(hand("first", first(x)))))


def _in_float32(y: Any, y_pred: Any) -> Any:
    return mse(y, tf.cast(y_pred, tf.float32))


def _scaled(policy: str, scale: float) -> Any:
    return lambda: keras.optimizers.LossScaleOptimizer(keras.optimizers.Adam(0.01), initial_scale=scale)


def _double() -> Any:
    return keras.Sequential([layers.Input((WIDTH,), dtype="float64"), dense(4, "first", activation="tanh", dtype="float64"),
                             dense(1, "last", dtype="float64")])  # fmt: skip


def _doubles() -> Any:
    x, y = numbers()()
    return x.astype(np.float64), y.astype(np.float64)


def _quantised() -> Any:
    model = keras.Sequential([layers.Input((WIDTH,), name="numbers"), dense(8, "first"), dense(1, "last")])
    model.quantize("int8")
    model.compile("sgd", "mse")
    return model


def _recorded_in_int8() -> Row:
    def run(folder: Path | None) -> list[Any]:
        model = seeded(_quantised)
        if folder is not None:
            layerflow.record(model, folder, *batch(), what=("outputs", "errors"), statistics="exact")
        return left_by(model)

    def by_hand(hand: Hand) -> dict[str, Any]:
        x, y = batch()
        return {"error": mse(y, _forward(hand, seeded(_quantised), x))}

    return Row(GROUP, "`record` of a model quantised to int8", run, by_hand, stream="record", limits="nothing is changed")


def _one_batch_too_large() -> Any:
    x, y = numbers()()
    y[0] = 6e4  # times the scale, the gradient is beyond float16: the scaler skips the step and halves the scale
    return x, y


def _after_the_skipped(hand: Hand) -> dict[str, Any]:
    """The step after the one that is skipped: nothing has changed but the batch."""
    x, y = batch(1)
    return {"error": _in_float32(y, _forward(hand, seeded(_with_policy("mixed_float16")), x))}


SKIPPED: dict[str, Any] = {"by_hand": _after_the_skipped, "step": 1, "skipped": (0,)}


def _loop(what: str, data: Any, **row: Any) -> Row:
    """A custom loop in half precision that scales its loss itself."""

    def run(folder: Path | None) -> list[Any]:
        model = seeded(_with_policy("mixed_float16"))
        optimizer = _scaled("mixed_float16", 1024.0)()
        optimizer.build(model.trainable_variables)
        x, y = data()
        with recorder(folder) as one:

            @one.function
            def step(x: Any, y: Any) -> Any:
                with tf.GradientTape() as tape:
                    loss = _in_float32(y, model(x, training=True))
                    scaled = optimizer.scale_loss(loss)
                gradients = tape.gradient(scaled, model.trainable_variables)
                optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
                return loss

            losses = [step(tf.constant(x[place : place + 4]), tf.constant(y[place : place + 4])) for place in (0, 4, 8)]
        return left_by(model, *(np.asarray(variable) for variable in optimizer.variables), *losses)

    def by_hand(hand: Hand) -> dict[str, Any]:
        x, y = batch()
        return {"error": _in_float32(y, _forward(hand, seeded(_with_policy("mixed_float16")), x))}

    return Row(GROUP, what, run, **{"by_hand": by_hand, "tolerance": 5e-3, **row})


def rows() -> list[Row]:
    """The rows of this file."""
    return [
        fitted(GROUP, "`mixed_bfloat16`", _with_policy("mixed_bfloat16"), numbers(), _forward, loss=_in_float32, tolerance=2e-2),
        fitted(GROUP, "`mixed_float16` with loss scaling: errors unscaled", _with_policy("mixed_float16"), numbers(), _forward,
               loss=_in_float32, compiled={"optimizer": _scaled("mixed_float16", 1024.0)}, tolerance=5e-3),
        fitted(GROUP, "float32 with loss scaling: errors unscaled", _with_policy("float32"), numbers(), _forward,
               compiled={"optimizer": _scaled("float32", 1024.0)}),
        replace(fitted(GROUP, "`mixed_float16`, a step that the loss scaler skips: marked", _with_policy("mixed_float16"), _one_batch_too_large,
                       _forward, compiled={"optimizer": _scaled("mixed_float16", 1024.0)}, tolerance=5e-3), **SKIPPED),
        _loop("`mixed_float16` in a custom loop with `LossScaleOptimizer`", numbers()),
        _loop("`mixed_float16` in a custom loop, a step that the loss scaler skips: marked", _one_batch_too_large, **SKIPPED),
        _recorded_in_int8(),
        fitted(GROUP, "float64", _double, _doubles, _forward),
    ]  # fmt: skip
