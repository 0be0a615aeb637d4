"""The flight recorder: what is kept of the last steps, and when it is written."""

from __future__ import annotations

from pathlib import Path

import keras
import numpy as np
import pytest
import tensorflow as tf

import tb_layerflow as layerflow
from tb_layerflow.log.errors import LogError

BATCH = 4
BAD_STEP = 17


class LogOfLarge(keras.layers.Layer):
    """Not a number as soon as one input is larger than 1000."""

    def call(self, inputs: tf.Tensor) -> tf.Tensor:
        return tf.where(tf.reduce_any(inputs > 1e3), tf.math.log(-tf.abs(inputs) - 1.0), inputs)


def model() -> keras.Model:
    keras.utils.set_random_seed(7)
    layers = [keras.Input((3,)), LogOfLarge(name="log"), keras.layers.Dense(4, name="a"), keras.layers.Dense(2, name="b")]
    built = keras.Sequential(layers)
    built.compile("adam", "mse")
    return built


def batches(bad_step: int | None = BAD_STEP) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    x, y = random.random((30 * BATCH, 3), np.float32), random.random((30 * BATCH, 2), np.float32)
    if bad_step is not None:
        x[bad_step * BATCH, 0] = 1e4
    return x, y


def fit(log_dir: Path, x: np.ndarray, y: np.ndarray, *others: keras.callbacks.Callback, **options: object) -> keras.Model:
    fitted = model()
    callback = layerflow.LayerFlow(str(log_dir), values="none", keep_last=3, **options)
    fitted.fit(x, y, batch_size=BATCH, shuffle=False, verbose=0, callbacks=[callback, *others])
    return fitted


def test_a_fault_between_two_records_is_found_at_its_step_and_call(tmp_path: Path) -> None:
    fit(tmp_path, *batches(), every=10)
    stream = layerflow.open(str(tmp_path))
    assert BAD_STEP in stream.steps
    assert BAD_STEP - 1 not in stream.steps
    first = stream.findings()[0]
    assert (first.rule, first.path, first.step) == ("non_finite", "log", BAD_STEP)


def test_the_kept_batch_is_the_one_that_ran_and_the_weights_are_those_before_its_update(tmp_path: Path) -> None:
    x, y = batches()
    fit(tmp_path, x, y, every=10)
    kept = layerflow.open(str(tmp_path)).kept()
    twin = model()
    twin.fit(x[: BAD_STEP * BATCH], y[: BAD_STEP * BATCH], batch_size=BATCH, shuffle=False, verbose=0)
    np.testing.assert_array_equal(kept.batch["x"], x[BAD_STEP * BATCH : (BAD_STEP + 1) * BATCH])
    np.testing.assert_array_equal(kept.batch["y"], y[BAD_STEP * BATCH : (BAD_STEP + 1) * BATCH])
    for (_, array), variable in zip(kept.weights, twin.variables, strict=True):
        np.testing.assert_array_equal(array, np.asarray(variable))


def test_nothing_is_written_where_nothing_goes_wrong(tmp_path: Path) -> None:
    fit(tmp_path, *batches(bad_step=None), every=10)
    stream = layerflow.open(str(tmp_path))
    assert list(stream.steps) == [0, 10, 20]
    with pytest.raises(KeyError, match="No step was kept"):
        stream.kept()


def test_training_is_the_same_with_the_flight_recorder(tmp_path: Path) -> None:
    x, y = batches(bad_step=None)
    plain = model()
    plain.fit(x, y, batch_size=BATCH, shuffle=False, verbose=0)
    for mine, theirs in zip(fit(tmp_path, x, y, every=10).get_weights(), plain.get_weights(), strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_an_interrupted_fit_leaves_its_last_steps_once_the_next_begins(tmp_path: Path) -> None:
    class Interrupt(keras.callbacks.Callback):
        def on_train_batch_end(self, batch: int, logs: dict | None = None) -> None:
            if batch == 12:
                raise KeyboardInterrupt

    fitted = model()
    x, y = batches(bad_step=None)
    callback = layerflow.LayerFlow(str(tmp_path), values="none", keep_last=3, every=10)
    with pytest.raises(KeyboardInterrupt):
        fitted.fit(x, y, batch_size=BATCH, shuffle=False, verbose=0, callbacks=[callback, Interrupt()])
    fitted.fit(x, y, batch_size=BATCH, shuffle=False, verbose=0, epochs=1, callbacks=[callback])
    assert {11, 12} <= set(layerflow.open(str(tmp_path)).steps)
    assert layerflow.open(str(tmp_path)).kept().step == 12


def test_a_damaged_kept_file_is_a_sentence(tmp_path: Path) -> None:
    fit(tmp_path, *batches(), every=10)
    file = next((tmp_path / "plugins" / "layerflow").glob("*.kept.npz"))
    file.write_bytes(file.read_bytes()[:200])
    with pytest.raises(LogError, match="cannot be read"):
        layerflow.open(str(tmp_path)).kept()


def test_keep_last_must_be_a_number_of_steps(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"Received: -1\."):
        layerflow.LayerFlow(str(tmp_path), keep_last=-1)
