"""What the microscope says where it cannot explain a number, and what it makes of operations."""

from __future__ import annotations

from dataclasses import replace

import keras
import numpy as np
import pytest

from tb_layerflow.analysis.explain import explain
from tb_layerflow.analysis.explanation import Explanation, Unexplained
from tb_layerflow.analysis.layer_description import CONFIG_BYTES, LayerDescription, rounded, wanted_config
from tests.microscope import described, noise, ran

X = noise(2, 4, 3)


def refused(layer: LayerDescription, *inputs: np.ndarray, index: tuple[int, ...] = (0, 0, 0)) -> Unexplained:
    made = explain(layer, inputs, index, recorded=0.5)
    assert isinstance(made, Unexplained)
    assert made.recorded == 0.5
    assert made.reason.endswith(".")
    return made


def test_an_unknown_layer_says_so_and_its_window_is_the_whole_input_marked():
    made = refused(LayerDescription("LSTM"), X)
    assert made.reason == "LSTM is not one of the layers whose formula the microscope knows."
    assert made.window[0].box == (slice(0, 1), slice(0, 4), slice(0, 3))
    assert made.window[0].reason == "LSTM is not one of the layers whose window is known."


def test_batch_statistics_of_a_batch_that_was_not_kept_are_not_guessed():
    layer = replace(ran(keras.layers.BatchNormalization(), X).layer, training=True, batch_size=32)
    assert "the whole batch of 32 samples, of which 2 were kept" in refused(layer, X).reason


def test_frozen_batch_normalization_is_inference_even_in_training():
    layer = keras.layers.BatchNormalization()
    layer.trainable = False
    case = ran(layer, X)
    trained = described(layer, training=True, trainable=False, batch_size=32)
    made = explain(trained, [X], (0, 1, 2), recorded=float(case.output[0, 1, 2]))
    assert isinstance(made, Explanation)
    assert made.total == pytest.approx(float(case.output[0, 1, 2]), rel=1e-5)


@pytest.mark.parametrize(
    ("layer", "part"),
    [
        (LayerDescription("Dense"), "The weight 'kernel' of this Dense was not recorded."),
        (LayerDescription("Dense", weights={"kernel": np.zeros((3, 2), np.int8)}), "quantised to int8"),
        (LayerDescription("Dense", weights={"kernel": np.ones((3, 2)), "lora_kernel_a": np.ones(3)}), "LoRA"),
        (LayerDescription("Dense", {"activation": "mine"}, {"kernel": np.ones((3, 2))}), "The activation 'mine'"),
        (LayerDescription("Dense", weights={"kernel": np.ones((9, 2))}), "do not fit together"),
        (LayerDescription("GaussianNoise", training=True), "random numbers that were not recorded"),
        (LayerDescription("Multiply", kind="operation"), "has another operand, a constant"),
        (LayerDescription("Einsum", kind="operation"), "The operation Einsum is not one of"),
        (LayerDescription("Permute"), "The setting dims of this Permute was not recorded."),
    ],
)
def test_what_was_not_recorded_or_is_not_known_is_one_sentence(layer, part):
    assert part in refused(layer, X).reason


def test_a_dropped_out_number_needs_the_output():
    made = explain(LayerDescription("Dropout", {"rate": 0.5}, training=True), [X], (0, 0, 0))
    assert isinstance(made, Unexplained)
    assert "drops numbers at random" in made.reason


def test_a_call_without_recorded_input_says_so():
    assert refused(LayerDescription("ReLU")).reason == "The input of this ReLU was not recorded."


def test_an_index_outside_of_the_output_is_an_error_that_names_the_shape():
    with pytest.raises(IndexError, match=r"output of shape \[2, 4, 3\], batch axis first. Received: \[0, 4, 0\]"):
        explain(LayerDescription("ReLU"), [X], (0, 4, 0), output_shape=X.shape)


def test_negative_positions_count_from_the_end():
    made = explain(LayerDescription("Identity"), [X], (-1, -1, -1), output_shape=X.shape)
    assert isinstance(made, Explanation)
    assert made.terms[0].index == (1, 3, 2)


def test_numbers_that_are_not_finite_are_carried_through():
    x = X.copy()
    x[0, 0, 0], x[0, 0, 1] = np.nan, np.inf
    made = explain(LayerDescription("Dense", weights={"kernel": np.ones((3, 2), np.float32)}), [x], (0, 0, 0), recorded=np.nan)
    assert isinstance(made, Explanation)
    assert np.isnan(made.total)
    assert np.isnan(made.terms[0].value)


@pytest.mark.parametrize(
    ("name", "expected"),
    [("Add", 2.5), ("Subtract", -1.5), ("Multiply", 1.0), ("TrueDivide", 0.25), ("Maximum", 2.0), ("Minimum", 0.5)],
)
def test_operations_of_two_tensors_are_explained(name, expected):
    inputs = [np.full((1, 3), 0.5, np.float32), np.full((3,), 2.0, np.float32)]
    made = explain(LayerDescription(name, kind="operation"), inputs, (0, 1))
    assert isinstance(made, Explanation)
    assert made.total == expected
    assert [term.index for term in sorted(made.terms, key=lambda term: term.port)] == [(0, 1), (1,)]


@pytest.mark.parametrize(("name", "expected"), [("Relu", 0.0), ("Sigmoid", 0.2689414213699951), ("Silu", -0.2689414213699951)])
def test_operations_that_are_activations_are_explained(name, expected):
    made = explain(LayerDescription(name, kind="operation"), [np.array([[-1.0]], np.float32)], (0, 0))
    assert isinstance(made, Explanation)
    assert made.total == pytest.approx(expected, abs=1e-15)


def test_tf_keras_has_a_hard_sigmoid_of_its_own():
    layer = LayerDescription("Activation", {"activation": "hard_sigmoid"}, family="tf_keras")
    made = explain(layer, [np.array([[1.0]], np.float32)], (0, 0))
    assert isinstance(made, Explanation)
    assert made.total == pytest.approx(0.7)


def test_the_wanted_config_is_small_json_of_the_settings_that_matter():
    text = wanted_config(
        keras.layers.Conv2D(8, 3, strides=2, padding="same", activation=keras.layers.ReLU(max_value=6)).get_config()
    )
    assert len(text) < 500
    assert '"strides": [2, 2]' in text
    assert '"class_name": "ReLU"' in text
    assert "initializer" not in text
    assert wanted_config({"axis": list(range(10_000)), "rate": float("nan"), "units": 3}) == '{"units": 3}'
    assert (
        len(wanted_config({"axis": [1] * 300, "axes": [2] * 300, "dims": [3] * 300, "size": [4] * 300, "scale": [5] * 300}))
        <= CONFIG_BYTES
    )


def test_rounding_to_bfloat16_is_that_of_tensorflow():
    tensorflow = pytest.importorskip("tensorflow")
    x = noise(1000) * np.float32(10) ** np.arange(-20, 20, 0.04, dtype=np.float32)
    expected = tensorflow.cast(tensorflow.cast(x, "bfloat16"), "float32").numpy()
    np.testing.assert_array_equal(rounded(x, "bfloat16"), expected)
