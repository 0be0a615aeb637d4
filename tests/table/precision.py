"""Rows: mixed precision, double precision, quantised weights."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
import tensorflow as tf
from keras import layers

from .functional import numbers
from .row import Hand, Row, fitted, mse
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
    return model


def rows() -> list[Row]:
    """The rows of this file."""
    return [
        fitted(GROUP, "`mixed_bfloat16`", _with_policy("mixed_bfloat16"), numbers(), _forward, loss=_in_float32, tolerance=2e-2),
        fitted(GROUP, "`mixed_float16` with loss scaling: errors unscaled", _with_policy("mixed_float16"), numbers(), _forward,
               loss=_in_float32, compiled={"optimizer": _scaled("mixed_float16", 1024.0)}, tolerance=5e-3),
        fitted(GROUP, "float32 with loss scaling: errors unscaled", _with_policy("float32"), numbers(), _forward,
               compiled={"optimizer": _scaled("float32", 1024.0)}),
        fitted(GROUP, "float64", _double, _doubles, _forward),
    ]  # fmt: skip
