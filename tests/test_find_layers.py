"""`find_layers`: every match in nested models, each with Python text that reaches it, which is run here."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
import pytest
from keras import layers

import tb_layerflow as layerflow
from tests import models


class Holds(layers.Layer):
    """Holds layers in an attribute, a list, a dictionary, and behind a plain object."""

    def __init__(self) -> None:
        super().__init__(name="holds")
        self.own = layers.Dense(2, name="wanted")
        self.listed = [layers.Dense(2, name="other"), layers.Dense(2, name="wanted")]
        self.named = {"a key": layers.Dense(2, name="wanted")}
        object.__setattr__(self, "plain", Plain())

    def call(self, inputs: Any) -> Any:
        return self.own(inputs)


class Plain:
    def __init__(self) -> None:
        self.layer = layers.Dense(2, name="wanted")


def nested() -> keras.Model:
    symbol = keras.Input((3,))
    encoder = models.siamese().get_layer("encoder")
    wrapped = layers.TimeDistributed(layers.Dense(2, name="inside"), name="times")
    over = layers.Flatten(name="flat")(wrapped(layers.Reshape((3, 1), name="shape")(symbol)))
    return keras.Model(symbol, [encoder(layers.Dense(4, name="wide")(symbol)), Holds()(over)], name="outer")


def reached(model: keras.Model, pattern: str) -> list[Any]:
    """The found layers, each of which its text reaches."""
    found = layerflow.find_layers(model, pattern)
    for one in found:
        assert eval(one.access, {"model": model}) is one.layer, one.access  # noqa: S307 (that it runs is what is tested)
    return found


def test_a_name_finds_every_match_at_any_depth() -> None:
    found = reached(nested(), "wanted")
    assert {one.access for one in found} == {
        "model.get_layer('holds').own", "model.get_layer('holds').listed[1]", "model.get_layer('holds').named['a key']",
        "model.get_layer('holds').plain.layer",
    }  # fmt: skip
    assert {one.path for one in found} == {"holds/wanted"}


@pytest.mark.parametrize(
    ("pattern", "paths"),
    [
        ("first_dense", ["encoder/first_dense"]),
        ("encoder/first_dense", ["encoder/first_dense"]),
        ("encoder/*", ["encoder/first_dense", "encoder/second_dense"]),
        ("**/*_dense", ["encoder/first_dense", "encoder/second_dense"]),
        ("inside", ["times/inside"]),
        ("wide", ["wide"]),
    ],
)
def test_names_paths_and_globs_find_layers_of_nested_models(pattern: str, paths: list[str]) -> None:
    assert [one.path for one in reached(nested(), pattern) if not one.path.endswith("numbers")] == paths


def test_two_layers_of_one_name_are_reached_by_their_places() -> None:
    class Two(keras.Model):
        def __init__(self) -> None:
            super().__init__()
            self.one, self.two = layers.Dense(1, name="same"), layers.Dense(1, name="same")

        def call(self, inputs: Any) -> Any:
            return self.two(self.one(inputs))

    model = Two()
    model(np.zeros((1, 2), np.float32))
    assert [one.layer for one in reached(model, "same")] == [model.one, model.two]


def test_no_match_is_an_error_that_names_the_nearest() -> None:
    with pytest.raises(LookupError, match=r"Received: 'frist_dense'\. Nearest: encoder/first_dense"):
        layerflow.find_layers(nested(), "frist_dense")


def test_what_is_found_gives_the_very_layer_that_runs() -> None:
    model = models.siamese()
    (found,) = layerflow.find_layers(model, "first_dense")
    assert found.layer is model.get_layer("encoder").get_layer("first_dense")
