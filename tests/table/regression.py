"""The small regression that the rows about loops train: two dense layers, batches of four, and their pass by hand."""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf
from keras import layers

from .functional import WIDTH, numbers
from .row import Hand, mse, seeded
from .subclassed import dense


def two_layers() -> Any:
    return keras.Sequential([layers.Input((WIDTH,), name="numbers"), dense(4, "first", activation="tanh"), dense()])


def forward(hand: Hand, model: Any, x: Any, root: str = ".") -> Any:
    below = "" if root == "." else f"{root}/"
    first, last = model.layers[-2:]
    return hand(root, hand(f"{below}last", last(hand(f"{below}first", first(x)))))


def compiled(**options: Any) -> Any:
    model = seeded(two_layers)
    model.compile(**{"optimizer": keras.optimizers.Adam(0.01), "loss": "mse", **options})
    return model


def batch(number: int = 0) -> Any:
    return tuple(tf.constant(array[4 * number : 4 * number + 4]) for array in numbers()())


def first_batch_by_hand(hand: Hand) -> dict[str, Any]:
    x, y = batch()
    return {"error": mse(y, forward(hand, compiled(), x))}
