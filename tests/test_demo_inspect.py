"""One picture through MobileNet: with ImageNet's weights a photograph, else a digit, and the output says which."""

from __future__ import annotations

from pathlib import Path

import keras
import numpy as np
import pytest

import tb_layerflow as layerflow
from demo import inspect_image, mobilenet


def test_without_imagenet_a_digit_goes_through_the_demos_own_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inspect_image, "_with_imagenet_weights", lambda: None)
    model = mobilenet.build(steps=1)
    model.optimizer.build(model.trainable_variables)
    model.save(tmp_path / "mobilenet.keras")
    said = inspect_image.inspect(tmp_path / "one", tmp_path / "mobilenet.keras")
    assert "trained by the demo" in said
    stream = layerflow.open(str(tmp_path / "one"))
    x = stream.value("image", step=0)
    expected = keras.Model(model.inputs, model.get_layer("conv1").output)(x)
    np.testing.assert_allclose(stream.value("conv1"), expected, rtol=1e-5, atol=1e-6)


def test_without_any_weights_the_sentence_says_what_to_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inspect_image, "_with_imagenet_weights", lambda: None)
    with pytest.raises(SystemExit, match="python -m demo"):
        inspect_image.inspect(tmp_path / "one", tmp_path / "none.keras")


def test_the_photograph_is_the_middle_of_one_that_scikit_learn_ships() -> None:
    picture = inspect_image._photograph()
    assert (picture.shape, picture.dtype) == ((1, 224, 224, 3), np.uint8)
    assert picture.std() > 20
