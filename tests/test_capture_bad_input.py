"""Bad input gives a sentence that says what was received, before anything runs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

import tb_layerflow as layerflow
from tests import models


@pytest.mark.parametrize(
    ("options", "error", "sentence"),
    [
        ({"every": 0}, ValueError, 'every must be a positive integer or "epoch". Received: 0.'),
        ({"every": -3}, ValueError, 'every must be a positive integer or "epoch". Received: -3.'),
        ({"every": "day"}, ValueError, 'every must be a positive integer, "auto" or "epoch". Received: \'day\'.'),
        ({"every": True}, TypeError, "Received: True."),
        ({"every": 2.5}, TypeError, "Received: 2.5 (of type float)."),
        ({"every": {1, -1}}, ValueError, "integers from 0 on. Received: {"),
        ({"what": ["outputs", "eros"]}, ValueError, "Received: 'eros'."),
        ({"statistics": "some"}, ValueError, 'statistics must be "auto" or "exact". Received: \'some\'.'),
        ({"layers": [3]}, TypeError, "Received: 3 (of type int)."),
        ({"stream": "Über"}, ValueError, "Received: 'Über'."),
        ({"stream": "a" * 33}, ValueError, "Received: "),
        ({"train": False}, ValueError, "Received: probe=None."),
        ({"probe": 7}, TypeError, "Received: int."),
        ({"probe": (np.zeros((3, 2)), np.zeros(4))}, ValueError, "Received: [3, 4]."),
        ({"probe": (np.zeros((0, 2)), np.zeros(0))}, ValueError, "Received: none."),
    ],
)
def test_a_bad_argument_is_a_sentence(options: dict[str, Any], error: type[Exception], sentence: str, tmp_path: Path) -> None:
    with pytest.raises(error, match=re.escape(sentence)):
        layerflow.LayerFlow(tmp_path, **options)


@pytest.mark.parametrize("folder", [None, 3, ""])
def test_a_log_dir_that_is_no_path_is_a_sentence(folder: Any) -> None:
    with pytest.raises(TypeError, match=re.escape(f"log_dir must be a path. Received: {folder!r}")):
        layerflow.LayerFlow(folder)


@pytest.mark.parametrize("model", [None, "a name", tf.Module()])
def test_a_model_that_is_not_keras_is_a_sentence(model: Any, tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=r"LayerFlow records Keras models .* Received: "):
        layerflow.record(model, tmp_path, np.zeros((2, 3)))
    assert not list(tmp_path.iterdir())


def test_record_says_what_is_wrong_with_its_own_arguments(tmp_path: Path) -> None:
    model = models.plain()
    x, y = models.samples(model)
    for options, error, sentence in [
        ({}, TypeError, "Received: x=None."),
        ({"x": x, "y": y[:3]}, ValueError, "Received: [3, 16]."),
        ({"x": x, "step": -1}, ValueError, "Received: -1."),
        ({"x": x, "step": "1"}, ValueError, "Received: '1'."),
        ({"x": x, "what": "all"}, ValueError, "Received: 'all'."),
        ({"x": np.float32(3)}, ValueError, "Received: a scalar."),
    ]:
        with pytest.raises(error, match=re.escape(sentence)):
            layerflow.record(model, tmp_path, **options)


def test_a_model_that_was_never_compiled_gives_outputs_only_and_with_labels_a_sentence(tmp_path: Path) -> None:
    symbol = keras.Input((models.WIDTH,), name="numbers")
    model = keras.Model(symbol, keras.layers.Dense(1, name="only")(symbol))
    x, y = np.ones((4, models.WIDTH), np.float32), np.ones((4, 1), np.float32)
    stream = layerflow.record(model, tmp_path / "outputs", x)
    assert ("only", 0) in stream.statistics("output").ports
    assert stream.statistics("error").ports == []
    with pytest.raises(ValueError, match=r"loss.*Received: "):
        layerflow.record(model, tmp_path / "labels", x, y)
    errors = layerflow.record(model, tmp_path / "loss", x, y, loss="mse").statistics("error")
    difference = 2 * (np.asarray(model(x)) - y) / 4
    assert errors.series("only", "l2")[1][0] == pytest.approx(np.linalg.norm(difference), rel=1e-5)


def test_record_into_a_folder_that_cannot_be_written_is_an_os_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in its place")
    model = models.plain()
    with pytest.warns(UserWarning, match="cannot be written"), pytest.raises(OSError, match="could not be written"):
        layerflow.record(model, tmp_path / "file" / "log", models.samples(model)[0])


def test_a_stream_that_is_being_written_cannot_be_written_by_another(tmp_path: Path) -> None:
    model = models.plain()
    x, y = models.samples(model)
    with pytest.raises(ValueError, match=r"Another recorder is writing stream 'train'.*Received: stream=\"train\""):
        model.fit(x, y, verbose=0, callbacks=[layerflow.LayerFlow(tmp_path), layerflow.LayerFlow(tmp_path)])
