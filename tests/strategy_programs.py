"""Programs that `test_strategies` runs in processes of their own: `python -m tests.strategy_programs NAME FOLDER`."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np

WIDTH, BATCH, STEPS = 3, 8, 2


def batches() -> tuple[np.ndarray, np.ndarray]:
    """x and y of all batches."""
    random = np.random.default_rng(0)
    return random.normal(size=(BATCH * STEPS, WIDTH)).astype(np.float32), random.normal(size=(BATCH * STEPS, 1)).astype(
        np.float32
    )


def two_devices() -> Any:
    """A MirroredStrategy on two logical CPU devices."""
    import tensorflow as tf

    tf.config.set_logical_device_configuration(
        tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 2
    )
    return tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])


def build(normal: bool = False) -> Any:
    """Two dense layers, `first` and `last`; with a synchronised BatchNormalization between them."""
    import keras

    keras.utils.set_random_seed(3)
    between = [keras.layers.BatchNormalization(synchronized=True, name="normal")] if normal else []
    return keras.Sequential([keras.layers.Input((WIDTH,), name="numbers"), keras.layers.Dense(4, name="first"), *between,
                             keras.layers.Dense(1, name="last")])  # fmt: skip


def mirrored_fit(folder: str, recorded: bool = True, normal: bool = True) -> list[np.ndarray]:
    """`fit` under the strategy; what it leaves."""
    import keras
    import tensorflow as tf

    import tb_layerflow as layerflow

    with two_devices().scope():
        model = build(normal)
        model.compile(keras.optimizers.SGD(0.1), "mse")
    callbacks = [layerflow.LayerFlow(folder, every=1, statistics="exact", strict=True)] if recorded else []
    history = model.fit(tf.data.Dataset.from_tensor_slices(batches()).batch(BATCH), verbose=0, callbacks=callbacks)
    return [np.asarray(variable) for variable in model.variables] + [np.asarray(values) for values in history.history.values()]


def mirrored_loop(folder: str, recorded: bool = True, wrapped: str = "function") -> list[np.ndarray]:
    """A custom loop whose function calls `strategy.run`."""
    import tensorflow as tf

    import tb_layerflow as layerflow

    strategy = two_devices()
    with strategy.scope():
        model = build()
    recorder = layerflow.Recorder(folder, every=1, statistics="exact", strict=True) if recorded else None

    def replica(x: Any, y: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(y - model(x))) / BATCH
        gradients = tape.gradient(loss, model.trainable_variables)
        context = tf.distribute.get_replica_context()
        gradients = context.all_reduce(tf.distribute.ReduceOp.SUM, gradients)
        for variable, gradient in zip(model.trainable_variables, gradients, strict=True):
            variable.value.assign_sub(0.1 * gradient) if hasattr(variable, "value") else variable.assign_sub(0.1 * gradient)
        return loss

    def step(x: Any, y: Any) -> Any:
        return strategy.reduce(tf.distribute.ReduceOp.SUM, strategy.run(replica, args=(x, y)), axis=None)

    function = recorder.function(step) if recorder is not None else tf.function(step)
    dataset = strategy.experimental_distribute_dataset(tf.data.Dataset.from_tensor_slices(batches()).batch(BATCH))
    losses = [function(x, y) for x, y in dataset]
    if recorder is not None:
        recorder.close()
    return [np.asarray(variable) for variable in model.variables] + [np.asarray(loss) for loss in losses]


def worker(folder: str) -> list[np.ndarray]:
    """One of two workers: a custom loop under MultiWorkerMirroredStrategy, each writing its own run."""
    import tensorflow as tf

    import tb_layerflow as layerflow

    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    with strategy.scope():
        weight = tf.Variable(np.ones((WIDTH, 1), np.float32))
    x, y = batches()
    number = json.loads(os.environ["TF_CONFIG"])["task"]["index"]
    half = slice(number * BATCH // 2, (number + 1) * BATCH // 2)
    with layerflow.Recorder(folder, every=1, statistics="exact", strict=True) as recorder:

        def replica(x: Any, y: Any) -> Any:
            with tf.GradientTape() as tape:
                output = layerflow.summary.tap("output", x @ weight)
                loss = tf.reduce_sum(tf.square(y - output)) / BATCH
            gradient = tf.distribute.get_replica_context().all_reduce(tf.distribute.ReduceOp.SUM, tape.gradient(loss, weight))
            weight.assign_sub(0.1 * gradient)
            return loss

        @recorder.function
        def step(x: Any, y: Any) -> Any:
            return strategy.run(replica, args=(x, y))

        for _ in range(STEPS):
            step(tf.constant(x[half]), tf.constant(y[half]))
    return [weight.numpy()]


def worker_fit(folder: str, recorded: bool) -> list[np.ndarray]:
    """One of two workers: `fit` of a `tf_keras` model under MultiWorkerMirroredStrategy, each writing its own run."""
    import tensorflow as tf
    import tf_keras

    import tb_layerflow as layerflow

    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    layers = tf_keras.layers
    with strategy.scope():
        model = tf_keras.Sequential([layers.InputLayer((WIDTH,), name="numbers"),
                                     layers.Dense(WIDTH, kernel_initializer="identity", name="first"),
                                     layers.Dense(1, kernel_initializer="ones", name="last")])  # fmt: skip
        model.compile(tf_keras.optimizers.SGD(0.1), "mse")
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.DATA
    dataset = tf.data.Dataset.from_tensor_slices(batches()).batch(BATCH).with_options(options)
    callbacks = [layerflow.LayerFlow(folder, every=1, statistics="exact", strict=True)] if recorded else []
    history = model.fit(dataset, verbose=0, callbacks=callbacks)
    return [np.asarray(variable) for variable in model.variables] + [np.asarray(values) for values in history.history.values()]


def main(name: str, folder: str) -> None:
    """Run a program, and keep what it leaves in `<folder>/left.npz`."""
    os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="-1")
    if name.startswith("worker"):
        log = str(Path(folder) / "log")
        left = worker(log) if name == "worker" else worker_fit(log, name != "worker_fit:plain")
        folder = str(Path(folder) / f"left_{json.loads(os.environ['TF_CONFIG'])['task']['index']}")
        Path(folder).mkdir()
    else:
        program, _, how = name.partition(":")
        left = {"fit": mirrored_fit, "loop": mirrored_loop}[program](str(Path(folder) / "log"), how != "plain")
    np.savez(Path(folder) / "left.npz", *left)


if __name__ == "__main__":
    main(*sys.argv[1:])
