"""Planted faults: the operation that is found is the planted one, and the model is as it was."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import layers

import tb_layerflow as layerflow
from tb_layerflow.capture.kept_step import batch_of
from tb_layerflow.log.kept_files import KeptStep

X, Y = np.ones((5, 4), np.float32), np.ones((5, 2), np.float32)


@tf.custom_gradient
def badly_differentiated(x: Any) -> Any:
    return tf.identity(x), lambda gradient: gradient * tf.math.log(0.0 * tf.reduce_sum(x))


def nothing_of(x: Any) -> Any:
    """Zero, of which the graph optimiser does not know: TensorFlow 2.16 folds the gradient of what is multiplied by a constant 0."""
    return tf.reduce_max(tf.nn.relu(-tf.abs(x)))


FAULTS: dict[str, tuple[Callable[[Any], Any], str, str]] = {
    "log of zero": (lambda x: tf.math.log(0.0 * x), "Log", "forward"),
    "division by zero": (lambda x: x / (0.0 * tf.reduce_sum(x)), "RealDiv", "forward"),
    "overflow": (lambda x: tf.cast(tf.cast(0.0 * x + 300.0, tf.float16) * 300.0, tf.float32), "Mul", "forward"),
    "custom gradient": (badly_differentiated, "Log", "backward"),
    "root of zero": (lambda x: tf.sqrt(tf.abs(tf.stop_gradient(nothing_of(x)) * x)), "SqrtGrad", "backward"),
}


class Faulty(layers.Layer):
    """Runs a function."""

    def __init__(self, fault: Callable[[Any], Any]) -> None:
        super().__init__(name="faulty")
        self.fault = fault

    def call(self, x: Any) -> Any:
        return self.fault(x)


def model_with(layer: layers.Layer, **compiled: Any) -> keras.Model:
    before, after = layers.Dense(3, name="before"), layers.Dense(2, name="after")
    model = keras.Sequential([keras.Input((4,)), before, layer, layers.Dropout(0.1), after])
    model.compile("adam", "mse", metrics=["mae"], **compiled)
    return model


def everything(model: keras.Model) -> dict[int, np.ndarray]:
    variables = [*model.variables, *model.optimizer.variables, *model.metrics_variables]
    return {id(variable): np.array(variable.numpy()) for variable in variables}


@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize("fault", FAULTS)
def test_the_planted_operation_is_found(fault: str, jit: bool) -> None:
    function, type_, direction = FAULTS[fault]
    model = model_with(Faulty(function), jit_compile=jit)
    before = everything(model)
    found = layerflow.summary.locate_non_finite(model, X, Y)
    assert found is not None and (found.type, found.path, found.direction) == (type_, "faulty", direction)
    assert all(numbers.finite for numbers in found.inputs) and not all(numbers.finite for numbers in found.outputs)
    assert found.user_frame is not None and found.user_frame.file == "test_locate_non_finite.py"
    after = everything(model)
    assert all(np.array_equal(value, after[variable]) for variable, value in before.items())
    assert all(np.isfinite(value).all() for value in after.values())


def test_a_backward_operation_names_the_forward_one() -> None:
    found = layerflow.summary.locate_non_finite(model_with(Faulty(FAULTS["root of zero"][0])), X, Y)
    assert found is not None and found.forward_op.startswith("Sqrt") and found.inputs[0].zero == 15


def test_a_sound_step_has_none_and_a_minus_infinity_that_was_written_down_is_none() -> None:
    masked = Faulty(lambda x: x + tf.nn.softmax(tf.where(x > 0, x, tf.constant(-np.inf))) * 0.0)
    assert layerflow.summary.locate_non_finite(model_with(layers.ReLU()), X, Y) is None
    positive = keras.Sequential([keras.Input((4,)), masked, layers.Dense(2)])
    positive.compile("sgd", "mse")
    assert layerflow.summary.locate_non_finite(positive, X, Y) is None


def test_bad_data_and_bad_weights_are_told_as_such() -> None:
    model = model_with(layers.ReLU())
    bad = X.copy()
    bad[0, 0] = np.nan
    found = layerflow.summary.locate_non_finite(model, bad, Y)
    assert found is not None and found.type == "Input" and found.outputs[0].nan == 1
    kernel = np.ones((4, 3), np.float32)
    kernel[0, 0] = np.inf
    model.get_layer("before").kernel.assign(kernel)
    found = layerflow.summary.locate_non_finite(model, X, Y)
    assert found is not None and (found.path, found.variable) == ("before", "before/kernel")


THRESHOLD = 100.0


def after(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Runs the function on batches with a large number alone: the fault is in one step, whatever the weights are."""

    def guarded(x: Any) -> Any:
        return tf.cond(tf.reduce_max(tf.abs(x)) > THRESHOLD, lambda: function(x), lambda: tf.identity(x))

    return guarded


@pytest.mark.parametrize("fault", FAULTS)
def test_in_the_step_that_the_flight_recorder_kept_the_planted_operation_is_found(fault: str, tmp_path: Path) -> None:
    function, type_, direction = FAULTS[fault]
    random = np.random.default_rng(0)
    x, y = random.random((60, 4), np.float32), random.random((60, 2), np.float32)
    x[35, 0] = 1e6
    model = model_with(Faulty(after(function)))
    model.get_layer("before").kernel.assign(np.ones((4, 3), np.float32))
    callback = layerflow.LayerFlow(str(tmp_path), values="none", every=100, keep_last=2)
    model.fit(x, y, batch_size=5, shuffle=False, verbose=0, callbacks=[callback])
    kept = layerflow.open(str(tmp_path)).kept()
    assert kept.step == 7 and not np.isfinite(model.get_layer("before").kernel.numpy()).all()
    before = everything(model)
    for tried in (model, model_with(Faulty(after(function)))):
        found = layerflow.summary.locate_non_finite(tried, kept)
        assert found is not None and (found.type, found.path, found.direction) == (type_, "faulty", direction)
    now = everything(model)
    assert all(np.array_equal(value, now[variable], equal_nan=True) for variable, value in before.items())


def test_a_model_of_other_variables_than_the_kept_step_is_refused() -> None:
    kept = KeptStep(3, {"x": X, "y": Y}, [("dense/kernel", np.ones((7, 2), np.float32))])
    with pytest.raises(ValueError, match="variables of the kept step 3"):
        layerflow.summary.locate_non_finite(model_with(layers.ReLU()), kept)


def test_a_kept_batch_is_the_nest_that_the_model_was_given() -> None:
    one, two, three = (np.full(2, number) for number in range(3))
    kept = KeptStep(0, {"x/left": one, "x/right/0": two, "x/right/1": three, "y": one, "sample_weight": two})
    x, y, weight = batch_of(kept)
    assert x["left"] is one and x["right"][1] is three and y is one and weight is two
