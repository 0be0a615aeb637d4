"""Channels of a convolution that are zero everywhere, as NumPy finds them in what the model puts out, and as findings name them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
from keras import layers

import tb_layerflow.summary as layerflow
from tb_layerflow import reader
from tb_layerflow.summary import Values

X = np.random.default_rng(0).normal(size=(24, 6, 6, 2)).astype(np.float32)
Y = X.mean((1, 2))


def convolution(dead: int, apart: bool) -> keras.Model:
    """A rectified convolution of eight channels, so many of them far below nought for good; with `apart` the rectifier is a layer."""
    keras.utils.set_random_seed(1)
    bias = np.zeros(8, np.float32)
    bias[[6, 1, 4, 0, 7, 2, 5, 3][:dead]] = -1e3
    inputs = keras.Input((6, 6, 2))
    x = layers.Conv2D(8, 3, activation=None if apart else "relu", bias_initializer=lambda *_, **__: bias, name="conv")(inputs)
    x = layers.ReLU(name="cut")(x) if apart else x
    model = keras.Model(inputs, layers.Dense(2, name="head")(layers.GlobalAveragePooling2D(name="pool")(x)))
    model.compile(keras.optimizers.SGD(1e-3), "mse")
    return model


@pytest.mark.parametrize(("dead", "apart"), [(3, False), (3, True), (1, False), (0, False)])
def test_channels_that_are_zero_in_all_records_are_named(tmp_path: Path, dead: int, apart: bool) -> None:
    model = convolution(dead, apart)
    name = "cut" if apart else "conv"
    inside = keras.Model(model.input, model.get_layer(name).output)
    alive = np.zeros(8, np.bool_)

    class Oracle(keras.callbacks.Callback):  # type: ignore[misc]
        def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
            alive[:] |= (inside.predict(X[6 * batch : 6 * batch + 6], verbose=0) != 0).any((0, 1, 2))

    callbacks = [Oracle(), layerflow.LayerFlow(tmp_path, every=1, values=Values(samples=2, every=1))]
    model.fit(X, Y, batch_size=6, shuffle=False, verbose=0, callbacks=callbacks)
    expected = np.flatnonzero(~alive).tolist()
    assert len(expected) == dead
    found = [one for one in reader.open(tmp_path).findings() if one.rule == "dead_units"]
    if dead < 2:
        assert found == [], "a few dead channels are usual"
    else:
        (only,) = found
        assert (only.path, only.step, only.evidence["channels"]) == (name, 0, expected)


def test_a_layer_without_a_living_channel_is_named_once(tmp_path: Path) -> None:
    model = convolution(8, apart=False)
    callback = layerflow.LayerFlow(tmp_path, every=1, values=Values(samples=2, every=1))
    model.fit(X, Y, batch_size=6, shuffle=False, verbose=0, callbacks=[callback])
    (only,) = [one for one in reader.open(tmp_path).findings() if one.rule in ("dead_units", "constant")]
    assert (only.rule, only.path) == ("dead_units", "conv") and "channels" not in only.evidence
