"""How well operations are attributed, over models of many kinds: `python -m bench.lineage`.

Prints for each model the operations of one recorded step, the share of backward ones that name their forward operation, the share
outside every call and bucket (`other`), and how long tracing took with lineage and without, beside the plain step.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from typing import Any

import keras
import numpy as np
from keras import layers

import tb_layerflow as layerflow

Case = tuple[keras.Model, Any, Any]


def dense() -> Case:
    """Two dense layers and a dropout."""
    model = keras.Sequential([keras.Input((6,)), layers.Dense(8, activation="relu"), layers.Dropout(0.2), layers.Dense(1)])
    return model, np.ones((4, 6), np.float32), np.ones((4, 1), np.float32)


def convolutions() -> Case:
    """Plain, separable and transposed convolutions."""
    image = keras.Input((16, 16, 3))
    x = layers.SeparableConv2D(8, 3)(layers.BatchNormalization()(layers.Conv2D(8, 3, activation="relu")(image)))
    x = layers.Conv2DTranspose(4, 3)(layers.UpSampling2D()(layers.AveragePooling2D(2)(x)))
    model = keras.Model(image, layers.Dense(1)(layers.GlobalMaxPooling2D()(x)))
    return model, np.ones((4, 16, 16, 3), np.float32), np.ones((4, 1), np.float32)


def operators() -> Case:
    """A shared layer and Keras operations."""
    left, right = keras.Input((4,)), keras.Input((4,))
    shared = layers.Dense(4, activation="gelu")
    x = keras.ops.abs(shared(left) - shared(right)) * 2.0
    return keras.Model([left, right], layers.Dense(1)(x)), [np.ones((4, 4), np.float32)] * 2, np.ones((4, 1), np.float32)


def attention() -> Case:
    """An embedding with its mask, attention, a residual."""
    words = keras.Input((6,), dtype="int32")
    x = layers.Embedding(20, 8, mask_zero=True)(words)
    x = layers.LayerNormalization()(x + layers.MultiHeadAttention(2, 4)(x, x))
    model = keras.Model(words, layers.Dense(1)(layers.GlobalAveragePooling1D()(x)))
    return model, np.ones((4, 6), np.int32), np.ones((4, 1), np.float32)


def recurrent() -> Case:
    """Loops: a bidirectional LSTM and a GRU."""
    both = layers.Bidirectional(layers.LSTM(4, return_sequences=True))
    model = keras.Sequential([keras.Input((6, 3)), both, layers.GRU(4), layers.Dense(1)])
    return model, np.ones((4, 6, 3), np.float32), np.ones((4, 1), np.float32)


def distributed_in_time() -> Case:
    """A wrapper that skips `__call__`."""
    each = layers.TimeDistributed(layers.Dense(4))
    model = keras.Sequential([keras.Input((5, 3)), each, layers.Conv1D(3, 2), layers.Flatten(), layers.Dense(1)])
    return model, np.ones((4, 5, 3), np.float32), np.ones((4, 1), np.float32)


def own_step() -> Case:
    """A `train_step` of its own with two tapes."""
    class Penalised(keras.Model):
        """A penalty on the gradient: two tapes, one inside the other."""

        def train_step(self, batch: Any) -> dict[str, Any]:
            import tensorflow as tf

            x, y = batch
            with tf.GradientTape() as outer:
                with tf.GradientTape() as inner:
                    inner.watch(x)
                    out = self(x, training=True)
                slope = inner.gradient(out, x)
                loss = tf.reduce_mean(tf.square(out - y)) + tf.reduce_mean(tf.square(slope))
            weights = self.trainable_variables
            self.optimizer.apply_gradients(zip(outer.gradient(loss, weights), weights, strict=True))
            return {"loss": loss}

    numbers = keras.Input((4,))
    model = Penalised(numbers, layers.Dense(1)(layers.Dense(4, activation="tanh")(numbers)))
    return model, np.ones((4, 4), np.float32), np.ones((4, 1), np.float32)


CASES: dict[str, Callable[[], Case]] = {
    "dense": dense, "convolutions": convolutions, "operators": operators, "attention": attention, "recurrent": recurrent,
    "time distributed": distributed_in_time, "own step, two tapes": own_step,
}  # fmt: skip


def traced(make: Callable[[], Case], what: tuple[str, ...]) -> tuple[float, Any]:
    """Seconds of the first step, and the stream where one was recorded."""
    model, x, y = make()
    model.compile("adam", "mse", metrics=["mae"])
    folder = tempfile.mkdtemp()
    callbacks = [layerflow.LayerFlow(folder, every={0}, what=what, values="none")] if what else []
    started = time.perf_counter()
    model.fit(x, y, batch_size=4, verbose=0, callbacks=callbacks)
    return time.perf_counter() - started, layerflow.reader.LogDir(folder).run(".").stream("train") if what else None


def main() -> None:
    """Print a line per model."""
    traced(dense, ())
    print(f"{'model':22}{'ops':>7}{'tied':>8}{'other':>8}{'plain s':>9}{'without':>9}{'with':>7}")
    for name, make in CASES.items():
        plain, _ = traced(make, ())
        without, _ = traced(make, ("outputs", "errors"))
        seconds, stream = traced(make, ("outputs", "errors", "lineage"))
        ops = stream.ops()
        backward = [op for op in ops if op.direction == "backward"]
        tied = sum(op.forward_op is not None for op in backward) / max(1, len(backward))
        other = len(stream.ops(bucket="other")) / len(ops)
        print(f"{name:22}{len(ops):7}{tied:8.1%}{other:8.1%}{plain:9.1f}{without:9.1f}{seconds:7.1f}", flush=True)


if __name__ == "__main__":
    main()
