"""`Recorder`: what its functions are called and traced like, what it says where it cannot record, and that memory stays flat."""

from __future__ import annotations

import gc
import os
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

import tb_layerflow as layerflow
from tests import models

RESIDENT_GROWTH = 20 << 20


def step_of(model: keras.Model, traces: list[str]) -> Any:
    """One SGD step; `traces` gets an entry whenever Python runs it."""

    def step(x: Any, y: Any) -> Any:
        traces.append("")
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(y - model(x)))
        for variable, gradient in zip(model.trainable_variables, tape.gradient(loss, model.trainable_variables), strict=True):
            variable.assign(variable - 0.01 * gradient)
        return loss

    return step


def test_a_recorded_function_is_traced_once_plainly_and_once_for_recording(tmp_path: Path) -> None:
    model, traces = models.plain(), []
    x, y = (tf.constant(array) for array in models.samples(model))
    with layerflow.Recorder(tmp_path, every=2, what="outputs", values="none") as recorder:
        step = recorder.function(step_of(model, traces))
        for _ in range(7):
            step(x, y)
        assert step.experimental_get_tracing_count() == 1
        assert step.get_concrete_function(x, y).structured_input_signature
    assert len(traces) == 2
    assert layerflow.open(tmp_path).steps.tolist() == [0, 2, 4, 6]


def test_a_second_fit_adds_no_trace(tmp_path: Path) -> None:
    traces: list[str] = []

    class Counts(keras.Model):
        def train_step(self, *args: Any) -> Any:
            traces.append("")
            return super().train_step(*args)

    symbol = keras.Input((models.WIDTH,))
    model = Counts(symbol, keras.layers.Dense(1)(symbol))
    model.compile("sgd", "mse")
    x, y = np.zeros((16, models.WIDTH), np.float32), np.zeros((16, 1), np.float32)
    callback = layerflow.LayerFlow(tmp_path, every=2)
    model.fit(x, y, batch_size=4, epochs=2, verbose=0, callbacks=[callback])
    once = len(traces)
    model.fit(x, y, batch_size=4, epochs=2, verbose=0, callbacks=[callback])
    assert len(traces) == once, "a plain fit adds none, so a recorded one adds none either"
    assert once <= 3, "the plain step, the recording one, and the one that keeps exact values"


def test_inside_another_function_it_runs_plainly_and_says_what_to_wrap(tmp_path: Path) -> None:
    model = models.plain()
    x, y = (tf.constant(array) for array in models.samples(model))
    with layerflow.Recorder(tmp_path, every=1) as recorder:
        step = recorder.function(step_of(model, []))
        outer = tf.function(lambda: step(x, y))
        with pytest.warns(UserWarning, match="Wrap the outer function with recorder.function instead"):
            outer()
        outer()
    assert not layerflow.reader.LogDir(tmp_path).runs


def test_a_step_that_raises_is_the_users_own_error(tmp_path: Path) -> None:
    with layerflow.Recorder(tmp_path, every=1) as recorder:

        @recorder.function
        def step(x: Any) -> Any:
            raise ValueError("in the user's step")

        with pytest.raises(ValueError, match="in the user's step"):
            step(tf.ones(2))
        with pytest.raises(ZeroDivisionError), recorder.step():
            1 / 0  # noqa: B018


def resident() -> int:
    """This process's resident memory in bytes."""
    gc.collect()
    with open("/proc/self/statm", encoding="ascii") as numbers:
        return int(numbers.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="needs Linux's /proc")
@pytest.mark.parametrize("how", ["fit", "function"])
def test_resident_memory_stays_flat_from_the_hundredth_to_the_thousandth_record(how: str, tmp_path: Path) -> None:
    model = models.plain()
    x, y = models.samples(model, 4)
    sizes: dict[int, int] = {}

    def note(step: int) -> None:
        if step in (100, 999):
            sizes[step] = resident()

    if how == "fit":

        class Notes(keras.callbacks.Callback):
            def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
                note(batch)

        dataset = tf.data.Dataset.from_tensors((x, y)).repeat(1000)
        model.fit(dataset, verbose=0, callbacks=[layerflow.LayerFlow(tmp_path, every=1, values="none"), Notes()])
    else:
        with layerflow.Recorder(tmp_path, every=1, values="none") as recorder:
            step = recorder.function(step_of(model, []))
            for number in range(1000):
                step(tf.constant(x), tf.constant(y))
                note(number)
    assert len(layerflow.open(tmp_path).steps) == 1000
    assert sizes[999] - sizes[100] < RESIDENT_GROWTH
