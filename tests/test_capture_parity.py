"""Training is the same to the last bit with and without the callback: weights, optimizer, metrics, History, random states."""

from __future__ import annotations

import functools
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras.src.backend.common import global_state

import tb_layerflow as layerflow
from tests import models

EPOCHS, BATCH = 2, 4
SAMPLES = 10 * BATCH
MODES = {"traced": {}, "eager": {"run_eagerly": True}, "compiled": {"jit_compile": True}}


def callbacks(kind: str, folder: Path, model: keras.Model) -> list[Any]:
    probe = models.samples(model, 8, seed=1)
    if kind == "none":
        return []
    if kind == "two callbacks":
        first = layerflow.LayerFlow(folder, probe=probe, every=3)
        return [first, layerflow.LayerFlow(folder, stream="other", every=2, what="outputs", layers=keras.layers.Dense)]
    return [layerflow.LayerFlow(folder, train=kind != "probe", probe=None if kind == "train" else probe, every=3)]


def trained(builder: str, mode: str, kind: str, folder: Path) -> dict[str, np.ndarray]:
    """Everything that 20 steps of training leave, by name."""
    model = models.BUILDERS[builder](**MODES[mode])
    x, y = models.samples(model, SAMPLES)
    global_state.set_global_attribute("global_seed_generator", None)  # which Keras 3.3 does not start anew
    keras.utils.set_random_seed(13)
    history = model.fit(x, y, epochs=EPOCHS, batch_size=BATCH, shuffle=False, verbose=0, callbacks=callbacks(kind, folder, model),
                        validation_data=models.samples(model, 8, seed=2))  # fmt: skip
    left = {f"weight {number}": variable.numpy() for number, variable in enumerate(model.variables)}
    left |= {f"optimizer {number}": variable.numpy() for number, variable in enumerate(model.optimizer.variables)}
    left |= {f"metric {number}": variable.numpy() for number, variable in enumerate(model.metrics_variables)}
    left |= {f"history {name}": np.array(values) for name, values in history.history.items()}
    left["next of Python"], left["next of NumPy"] = np.array(random.random()), np.random.random(3)
    left["next of TensorFlow"], left["next of Keras"] = tf.random.uniform([3]).numpy(), np.asarray(keras.random.uniform([3]))
    return left


@functools.cache
def plainly(builder: str, mode: str) -> dict[str, np.ndarray]:
    return trained(builder, mode, "none", Path())


@pytest.fixture(autouse=True, scope="module")
def _warm() -> None:
    """What a process imports when it first trains in a mode draws from Python's random numbers, with or without LayerFlow."""
    for mode in MODES:
        trained("softmax", mode, "none", Path())


def assert_same(found: dict[str, np.ndarray], expected: dict[str, np.ndarray], tolerance: float = 0.0) -> None:
    assert found.keys() == expected.keys()
    for name, values in expected.items():
        if tolerance and np.issubdtype(values.dtype, np.floating):
            np.testing.assert_allclose(found[name], values, rtol=tolerance, atol=tolerance, err_msg=name)
        else:
            np.testing.assert_array_equal(found[name], values, err_msg=name)


@pytest.mark.parametrize(
    ("builder", "kind"),
    [
        ("logits", "train"),
        ("softmax", "probe"),
        ("softmax", "train and probe"),
        ("softmax", "two callbacks"),
        ("two outputs", "train and probe"),
        ("two outputs", "two callbacks"),
    ],
)
def test_traced_training_is_bit_identical(builder: str, kind: str, tmp_path: Path) -> None:
    assert_same(trained(builder, "traced", kind, tmp_path), plainly(builder, "traced"))
    assert len(layerflow.reader.LogDir(tmp_path).run(".").streams) == {"train": 1, "probe": 1, "train and probe": 2}.get(kind, 3)


@pytest.mark.parametrize("builder", ["softmax", "two outputs"])
def test_eager_training_is_bit_identical(builder: str, tmp_path: Path) -> None:
    assert_same(trained(builder, "eager", "two callbacks", tmp_path), plainly(builder, "eager"))


@pytest.mark.parametrize("builder", ["logits", "two outputs"])
def test_compiled_training_is_bit_identical_with_a_probe_and_equal_to_rounding_when_recorded(
    builder: str, tmp_path: Path
) -> None:
    assert_same(trained(builder, "compiled", "probe", tmp_path / "probe"), plainly(builder, "compiled"))
    assert_same(trained(builder, "compiled", "train", tmp_path / "train"), plainly(builder, "compiled"), 1e-4)


@pytest.mark.parametrize("mode", sorted(MODES))
def test_each_training_step_has_one_forward_pass(mode: str, tmp_path: Path) -> None:
    model = models.counting(**MODES[mode])
    x, y = models.samples(model, SAMPLES)
    model.fit(x, y, epochs=1, batch_size=BATCH, verbose=0, callbacks=[layerflow.LayerFlow(tmp_path, probe=(x, y), every=2)])
    assert int(model.get_layer("counter").count.numpy()) == SAMPLES // BATCH


def two_tapes() -> keras.Model:
    """A step that the user wrote, with accumulation over two tapes and gradients clipped before they are applied."""

    class TwoTapes(keras.Model):
        def train_step(self, batch: Any) -> Any:
            x, y = batch
            halves = []
            for sign in (1.0, -1.0):
                with tf.GradientTape() as tape:
                    loss = self.compute_loss(x, y, self(sign * x, training=True))
                halves.append(tape.gradient(loss, self.trainable_variables))
            gradients = [tf.clip_by_norm(one + two, 1.0) for one, two in zip(*halves, strict=True)]
            self.optimizer.apply(gradients, self.trainable_variables)
            return {"loss": loss}

    keras.utils.set_random_seed(2)
    symbol = keras.Input((models.WIDTH,))
    model = TwoTapes(symbol, keras.layers.Dense(1, name="last")(keras.layers.Dropout(0.5, seed=4)(symbol)), name="two_tapes")
    model.compile("adam", "mse")
    return model


def accumulating() -> keras.Model:
    return models.plain(optimizer=keras.optimizers.Adam(gradient_accumulation_steps=2))


def recurrent() -> keras.Model:
    """An LSTM over masked words."""
    keras.utils.set_random_seed(2)
    model = keras.Sequential([keras.layers.Input((models.WIDTH,)), keras.layers.Embedding(9, 3, mask_zero=True, name="words"),
                              keras.layers.LSTM(4, dropout=0.2, seed=3, name="memory"), keras.layers.Dense(1, name="last")],
                             name="recurrent")  # fmt: skip
    model.compile("adam", "mse")
    return model


@pytest.mark.parametrize("build", [two_tapes, accumulating, recurrent])
def test_steps_of_other_kinds_are_bit_identical_too(build: Callable[[], keras.Model], tmp_path: Path) -> None:
    def weights(*listeners: Any) -> list[np.ndarray]:
        model = build()
        x, y = models.samples(model, SAMPLES)
        model.fit(np.abs(np.round(3 * x)).clip(0, 8), y, batch_size=BATCH, verbose=0, callbacks=list(listeners))
        return [variable.numpy() for variable in [*model.variables, *model.optimizer.variables]]

    for found, expected in zip(weights(layerflow.LayerFlow(tmp_path, every=2)), weights(), strict=True):
        np.testing.assert_array_equal(found, expected)
    assert list(layerflow.open(tmp_path).steps) == [0, 2, 4, 6, 8]


def _trained(model: keras.Model, x: np.ndarray, y: np.ndarray, *listeners: Any) -> list[np.ndarray]:
    model.fit(x, y, batch_size=16, verbose=0, callbacks=list(listeners))
    return [variable.numpy() for variable in [*model.variables, *model.optimizer.variables]]


def _activated(activation: str, layer: str, policy: str) -> keras.Model:
    """Layers that TensorFlow fuses with their bias and activation, wide enough that it would make a difference."""
    keras.utils.set_random_seed(3)
    keras.mixed_precision.set_global_policy(policy)
    try:
        dense = [keras.layers.Dense(64, activation), keras.layers.Dense(64, activation)]
        conv = [keras.layers.Reshape((4, 4, 4)), keras.layers.Conv2D(32, 3, activation=activation), keras.layers.Flatten()]
        inner = dense if layer == "dense" else conv
        model = keras.Sequential([keras.layers.Input((64,)), *inner, keras.layers.Dense(3, dtype="float32")])
    finally:
        keras.mixed_precision.set_global_policy("float32")
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    return model


@pytest.mark.parametrize(
    ("activation", "layer", "policy"),
    [
        *((activation, "dense", "float32") for activation in ("relu", "tanh", "sigmoid", "elu", "gelu")),
        ("elu", "conv", "float32"),
        ("relu", "dense", "mixed_bfloat16"),
    ],
)
@pytest.mark.parametrize("values", ["none", "auto"])
def test_what_tensorflow_fuses_in_a_layer_it_fuses_in_a_recorded_step_too(
    activation: str, layer: str, policy: str, values: str, tmp_path: Path
) -> None:
    random = np.random.default_rng(0)
    x, y = random.normal(size=(96, 64)).astype(np.float32), random.integers(0, 3, 96)
    plain = _trained(_activated(activation, layer, policy), x, y)
    callback = layerflow.LayerFlow(tmp_path, every=1, values=values)
    for found, expected in zip(_trained(_activated(activation, layer, policy), x, y, callback), plain, strict=True):
        np.testing.assert_array_equal(found, expected)
    assert len(layerflow.open(tmp_path).steps) == 6


@pytest.mark.parametrize("eager", [False, True])
def test_a_loss_that_is_computed_inside_a_function_stops_no_training(eager: bool, tmp_path: Path) -> None:
    class Inside(keras.Model):
        @tf.function
        def train_step(self, batch: Any) -> Any:
            return super().train_step(batch)

    def model() -> keras.Model:
        keras.utils.set_random_seed(2)
        symbol = keras.Input((models.WIDTH,))
        made = Inside(symbol, keras.layers.Dense(1)(symbol))
        made.compile("adam", "mse", run_eagerly=eager)
        return made

    x, y = models.samples(model(), SAMPLES)
    plain = _trained(model(), x, y)
    found = _trained(model(), x, y, layerflow.LayerFlow(tmp_path, every=1, strict=True))
    for one, other in zip(found, plain, strict=True):
        np.testing.assert_array_equal(one, other)
    assert len(layerflow.open(tmp_path).steps) == 3


def test_an_optimizer_that_counts_how_often_it_scales_is_asked_once_a_step(tmp_path: Path) -> None:
    class Counting(keras.mixed_precision.LossScaleOptimizer):
        def scale_loss(self, loss: Any) -> Any:
            counted.assign_add(1)
            return super().scale_loss(loss)

    counted = tf.Variable(0)
    model = models.plain(optimizer=Counting(keras.optimizers.SGD(0.01)))
    x, y = models.samples(model, SAMPLES)
    model.fit(x, y, batch_size=BATCH, verbose=0, callbacks=[layerflow.LayerFlow(tmp_path, every=1)])
    assert int(counted) == SAMPLES // BATCH
