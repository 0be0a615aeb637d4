"""A step in which the user's model raises: the calls until then are kept, the failing one marked, the exception is the user's own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

import tb_layerflow as layerflow
from tests.table.row import normal

WIDTH = 3
BAD = 7.0
"""A batch that begins with this number is refused by the model."""


class RefusedError(ValueError):
    """The user's own."""


class Refuses(keras.layers.Layer):
    """Passes its input on; raises by `how`: eagerly or when the graph runs for a batch that is bad, or whenever it is traced."""

    def __init__(self, how: str, **options: Any) -> None:
        super().__init__(**options)
        self.how = how

    def call(self, inputs: Any) -> Any:
        if self.how == "traced" or (self.how == "eager" and float(inputs[0, 0]) == BAD):
            raise RefusedError("the layer refuses")
        if self.how == "running":
            tf.debugging.assert_less(tf.reduce_max(inputs), BAD, "the graph refuses")
            return tf.gather(inputs, tf.where(inputs[:, 0] >= BAD, 9, tf.range(tf.shape(inputs)[0])), name="refused")
        return inputs


class Model(keras.Model):
    """`first`, then `block/refuses` inside a group, then `last`."""

    def __init__(self, how: str) -> None:
        super().__init__()
        self.first = keras.layers.Dense(WIDTH, kernel_initializer="identity", name="first")
        self.block = Block(how, name="block")
        self.last = keras.layers.Dense(1, kernel_initializer="ones", name="last")

    def call(self, inputs: Any) -> Any:
        return self.last(self.block(self.first(inputs)))


class Block(keras.layers.Layer):
    """A group of one layer."""

    def __init__(self, how: str, **options: Any) -> None:
        super().__init__(**options)
        self.refuses = Refuses(how, name="refuses")

    def call(self, inputs: Any) -> Any:
        return self.refuses(inputs)


def batches() -> tuple[np.ndarray, np.ndarray]:
    """Three batches of four, the second of them bad."""
    x = np.clip(normal(12, WIDTH), -2, 2)
    x[4, 0] = BAD
    return x, normal(12, 1, seed=1)


def fitted(how: str, *callbacks: Any) -> None:
    keras.utils.set_random_seed(2)
    model = Model(how)
    model.compile(keras.optimizers.SGD(0.0), "mse", run_eagerly=how == "eager")
    model.fit(*batches(), batch_size=4, shuffle=False, verbose=0, callbacks=list(callbacks))


def exception_of(run: Callable[[], Any]) -> BaseException:
    with pytest.raises(Exception) as raised:
        run()
    return raised.value


def described(error: BaseException | None) -> list[tuple[str, str]]:
    """An exception, and those in whose handling it was raised, as their traceback would show them."""
    return [] if error is None else [(type(error).__name__, str(error)), *described(error.__context__)]


def failed(stream: Any, step: int) -> list[str]:
    return [call.path for call in stream.graph_at(step).record.calls if call.failed]


def said(stream: Any) -> list[tuple[str, str]]:
    return [(entry.path, entry.reason) for entry in stream.ledger() if "raised" in entry.reason]


def test_what_ran_eagerly_before_a_layer_raised_is_kept_with_its_numbers(tmp_path: Path) -> None:
    found = exception_of(lambda: fitted("eager", layerflow.LayerFlow(tmp_path, every=1, values="none")))
    alone = exception_of(lambda: fitted("eager"))
    assert described(found) == described(alone)
    stream = layerflow.open(tmp_path)
    assert stream.steps.tolist() == [0, 1]
    assert failed(stream, 0) == []
    assert failed(stream, 1) == [".", "block", "block/refuses"]
    assert [call.path for call in stream.graph_at(1).record.calls] == [".", "input", "first", "block", "block/refuses"]
    steps, means = stream.statistics("output").series("first", "mean")
    bad = batches()[0][4:8]
    assert means[list(steps).index(1)] == pytest.approx(bad.mean(), rel=1e-6)
    [(path, reason)] = said(stream)
    assert path == "block/refuses"
    assert reason.startswith("raised RefusedError: ") and "the layer refuses" in reason


def test_a_fit_after_the_exception_records_the_step_anew(tmp_path: Path) -> None:
    model = Model("eager")
    model.compile(keras.optimizers.SGD(0.0), "mse", run_eagerly=True)
    callback = layerflow.LayerFlow(tmp_path, every=1)
    x, y = batches()
    with pytest.raises(RefusedError):
        model.fit(x, y, batch_size=4, shuffle=False, verbose=0, callbacks=[callback])
    model.fit(x[:4], y[:4], verbose=0, callbacks=[callback])
    stream = layerflow.open(tmp_path)
    assert stream.steps.tolist() == [0, 1]
    assert failed(stream, 1) == []


def test_what_was_traced_before_a_layer_raised_is_kept_without_numbers(tmp_path: Path) -> None:
    found = exception_of(lambda: fitted("traced", layerflow.LayerFlow(tmp_path, every=1)))
    alone = exception_of(lambda: fitted("traced"))
    assert described(found) == described(alone)
    stream = layerflow.open(tmp_path)
    assert stream.steps.tolist() == [0]
    assert failed(stream, 0) == [".", "block", "block/refuses"]
    assert stream.statistics("output").ports == []
    [(path, reason)] = said(stream)
    assert path == "block/refuses"
    assert "the layer refuses" in reason and "while it was traced" in reason


def test_of_a_graph_that_raises_when_it_runs_the_call_that_the_error_names_is_marked(tmp_path: Path) -> None:
    found = exception_of(lambda: fitted("running", layerflow.LayerFlow(tmp_path, every=1, values="none")))
    assert isinstance(found, tf.errors.InvalidArgumentError)
    stream = layerflow.open(tmp_path)
    assert stream.steps.tolist() == [0, 1]
    assert failed(stream, 0) == []
    assert failed(stream, 1) == [".", "block", "block/refuses"]
    assert np.isnan(stream.statistics("output").series("first", "mean")[1][1])
    [(path, reason)] = said(stream)
    assert path == "block/refuses" and "while it ran" in reason


def looped(how: str, wrap: str, one: Any) -> None:
    keras.utils.set_random_seed(2)
    model = Model(how)

    def step(x: Any) -> Any:
        return tf.reduce_mean(model(x))

    run = one.function(step) if wrap == "function" else step
    for batch in np.split(batches()[0], 3):
        with one.step():
            run(tf.constant(batch))


@pytest.mark.parametrize(
    ("how", "wrap", "steps"), [("eager", "step", [0, 1]), ("traced", "function", [0]), ("running", "function", [0, 1])]
)
def test_a_custom_loop_keeps_the_calls_of_the_step_that_raised(how: str, wrap: str, steps: list[int], tmp_path: Path) -> None:
    with layerflow.Recorder(tmp_path, every=1, values="none") as recorder:
        found = exception_of(lambda: looped(how, wrap, recorder))
    assert "refuse" in str(found)
    stream = layerflow.open(tmp_path)
    assert stream.steps.tolist() == steps
    assert failed(stream, steps[-1]) == [".", "block", "block/refuses"]
    if how == "eager":
        assert stream.statistics("output").series("first", "mean")[1][1] == pytest.approx(batches()[0][4:8].mean(), rel=1e-6)


def test_a_watched_model_keeps_the_calls_of_the_batch_that_raised(tmp_path: Path) -> None:
    model = Model("eager")
    model.compile(keras.optimizers.SGD(0.0), "mse", run_eagerly=True)
    x, y = batches()
    with layerflow.Recorder(tmp_path, every=1) as recorder:
        recorder.watch(model)
        model.train_on_batch(x[:4], y[:4])
        with pytest.raises(RefusedError):
            model.train_on_batch(x[4:8], y[4:8])
        model.train_on_batch(x[8:], y[8:])
    stream = layerflow.open(tmp_path)
    assert stream.steps.tolist() == [0, 1, 2]
    assert [bool(failed(stream, step)) for step in range(3)] == [False, True, False]
