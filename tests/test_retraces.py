"""A function that is traced anew: the log and `layerflow doctor` name the argument that caused it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

import tb_layerflow as layerflow
from tb_layerflow import cli
from tb_layerflow.capture.signatures import Signatures
from tb_layerflow.plugin import routes
from tests import models

FLOATS = tf.ones((4, 3))
OBJECTS = [object(), object()]
CASES: dict[str, tuple[tuple[Any, Any], tuple[Any, Any], str]] = {
    "number": ((FLOATS, 3), (FLOATS, 4), "argument `n` changed from the Python int 3 to the Python int 4. Every Python value"),
    "flag": ((FLOATS, None), (FLOATS, True), "argument `n` changed from the Python NoneType None to the Python bool True."),
    "shape": ((FLOATS, 3), (tf.ones((2, 3)), 3), "argument `x` changed from float32 [4, 3] to float32 [2, 3]. Every shape"),
    "dtype": ((FLOATS, 3), (tf.cast(FLOATS, tf.float64), 3), "argument `x` changed from float32 [4, 3] to float64 [4, 3]. Every dtype"),
    "nest": (({"a": FLOATS}, 3), ({"a": FLOATS, "b": FLOATS}, 3), "argument `x[b]` changed from absent to float32 [4, 3]."),
    "object": ((FLOATS, OBJECTS[0]), (FLOATS, OBJECTS[1]), "argument `n` is another object. Every object"),
}  # fmt: skip


def reasons(folder: Path) -> list[str]:
    return layerflow.open(str(folder)).execution().retraces


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("at", [1, 2], ids=["in a step that is not recorded", "in a recorded step"])
def test_the_argument_that_caused_a_planted_retrace_is_named(
    case: str, at: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second, expected = CASES[case]
    with layerflow.Recorder(tmp_path, every=2, what="outputs", values="none") as recorder:

        @recorder.function
        def train_step(x: Any, n: Any) -> Any:
            return tf.add_n([tf.cast(layerflow.summary.tap("x", part), tf.float32) for part in tf.nest.flatten(x)])

        for step in range(6):
            train_step(*(second if step == at else first))
    (reason,) = reasons(tmp_path)
    assert reason.startswith(f"step {at}: train_step was traced anew (trace 2): {expected}")
    assert layerflow.open(str(tmp_path)).execution().traces == 2
    assert cli.main(["doctor", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert f"retraced: step {at}: train_step was traced anew" in said and expected in said


def test_a_function_that_is_traced_once_has_no_retrace(tmp_path: Path) -> None:
    with layerflow.Recorder(tmp_path, every=2, what="outputs") as recorder:

        @recorder.function
        def train_step(x: Any, n: Any = 1) -> Any:
            return layerflow.summary.tap("x", x) * n

        for number in range(8):
            train_step(tf.fill((4, 3), float(number)))
    assert reasons(tmp_path) == []
    assert layerflow.open(str(tmp_path)).execution().traces == 1


@pytest.mark.parametrize("loop", ["fit", "function"])
def test_what_is_said_of_a_trace_names_its_variant(loop: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if loop == "fit":
        model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)], name="small")
        model.compile("sgd", "mse")
        callback = layerflow.LayerFlow(tmp_path, every=1, what="outputs")
        model.fit(np.ones((8, 3)), np.ones((8, 1)), batch_size=2, verbose=0, callbacks=[callback])
    else:
        with layerflow.Recorder(tmp_path, every=1, what="outputs") as recorder:
            train_step = recorder.function(lambda x: layerflow.summary.tap("x", x))
            for _ in range(3):
                train_step(FLOATS)
    said = [line for line in capsys.readouterr().err.splitlines() if line.startswith("LayerFlow: traced ")]
    assert ["with exact values" in line for line in said] == [True, False]
    assert "with statistics" in said[1]
    assert all(line.endswith("every variant is traced when it is first needed") for line in said)


def test_a_fit_on_data_of_another_shape_names_the_part_of_the_batch(tmp_path: Path) -> None:
    symbol = keras.Input((None, models.WIDTH))
    model = keras.Model(symbol, keras.layers.Dense(1)(symbol))
    model.compile("sgd", "mse")
    callback = layerflow.LayerFlow(tmp_path, every=1, values="none", what="outputs")
    for length in (2, 2, 3):
        x, y = np.zeros((8, length, models.WIDTH), np.float32), np.zeros((8, length, 1), np.float32)
        model.fit(x, y, batch_size=4, epochs=1, verbose=0, callbacks=[callback])
    (reason,) = reasons(tmp_path)
    assert reason.startswith("step 4: train_step was traced anew (trace 2): argument `x` changed from float32 [4, 2, 4] to ")
    assert "argument `y` changed from float32 [4, 2, 1] to float32 [4, 3, 1]. Every shape" in reason
    answer = routes.graph(layerflow.reader.LogDir(str(tmp_path)), ".", "train")
    assert answer.content["execution"]["retraces"] == [reason] and answer.content["execution"]["traces"] == 2


def test_the_nearest_earlier_trace_is_compared_with() -> None:
    signatures = Signatures("step")
    for x, n in ((FLOATS, 1), (tf.ones((2, 3)), 2)):
        signatures.traced({"x": x, "n": n})
    assert "argument `n` changed from the Python int 2 to the Python int 3" in signatures.traced({"x": tf.ones((2, 3)), "n": 3})
    assert signatures.traced({"x": FLOATS, "n": 1}) == "" and signatures.count == 3
