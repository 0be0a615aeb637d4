"""Planted faults: the operation that is found is the planted one, and the model is as it was."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import layers

import tb_layerflow as layerflow

X, Y = np.ones((5, 4), np.float32), np.ones((5, 2), np.float32)


@tf.custom_gradient
def badly_differentiated(x: Any) -> Any:
    return tf.identity(x), lambda gradient: gradient * tf.math.log(0.0 * tf.reduce_sum(x))


FAULTS: dict[str, tuple[Callable[[Any], Any], str, str]] = {
    "log of zero": (lambda x: tf.math.log(0.0 * x), "Log", "forward"),
    "division by zero": (lambda x: x / (0.0 * tf.reduce_sum(x)), "RealDiv", "forward"),
    "overflow": (lambda x: tf.cast(tf.cast(0.0 * x + 300.0, tf.float16) * 300.0, tf.float32), "Mul", "forward"),
    "custom gradient": (badly_differentiated, "Log", "backward"),
    "root of zero": (lambda x: tf.sqrt(tf.abs(0.0 * x)), "SqrtGrad", "backward"),
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
