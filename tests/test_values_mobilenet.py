"""MobileNet on one image of 224×224: with what `record` keeps nothing is cut, and every bit is what the layer saw."""

from __future__ import annotations

from pathlib import Path

import keras
import numpy as np
import pytest

import tb_layerflow as layerflow
from tests.test_values import assert_as_seen, watched


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_nothing_of_mobilenet_is_cut_and_every_call_has_the_bits_that_its_layer_saw(dtype: str, tmp_path: Path) -> None:
    keras.utils.set_random_seed(2)
    keras.mixed_precision.set_global_policy(dtype)
    try:
        model = keras.applications.MobileNet(weights=None)
    finally:
        keras.mixed_precision.set_global_policy("float32")
    seen = watched(model)
    image = np.random.default_rng(0).uniform(-1, 1, (1, 224, 224, 3)).astype(np.float32)
    stream = layerflow.record(model, tmp_path, image)
    assert len(seen) == len(model.layers) - 1
    assert_as_seen(stream, seen, 0, kept=1)
    assert stream.values.manifest().cut == []
    assert len(stream.value("conv_pw_13", "weight").shape) == 4
