"""An input that plain operations computed from other calls' outputs has derived edges from them, and from nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import tb_layerflow as layerflow


class Joins(keras.Model):
    """`last` reads a product of `one` and `two`; `unread` has no part in it; `two` reads a slice of the model's input."""

    def __init__(self) -> None:
        super().__init__(name="joins")
        self.one, self.two, self.unread, self.last = (layers.Dense(2, name=name) for name in ("one", "two", "unread", "last"))

    def call(self, inputs: Any) -> Any:
        product = tf.tanh(self.one(inputs)) * self.two(inputs[:, :2])
        return self.last(product) + self.unread(inputs)


def edges(stream: Any, derived: bool) -> set[tuple[str, str]]:
    return {(edge.source.path, edge.target.path) for edge in stream.graph.edges if edge.derived == derived}


def test_what_plain_operations_computed_has_derived_edges(tmp_path: Path) -> None:
    stream = layerflow.record(Joins(), tmp_path, np.ones((4, 3), np.float32), what="outputs")
    assert edges(stream, True) == {("one", "last"), ("two", "last"), ("input", "two")}
    assert ("input", "one") in edges(stream, False)


def test_eager_steps_have_none(tmp_path: Path) -> None:
    model = Joins()
    with layerflow.Recorder(tmp_path, every=1, what="outputs") as recorder, recorder.step():
        model(tf.ones((4, 3)))
    assert edges(layerflow.open(tmp_path), True) == set()


def test_the_edges_of_a_second_function_of_a_step_are_its_own(tmp_path: Path) -> None:
    first, second = Joins(), Joins()
    with layerflow.Recorder(tmp_path, every=1, what="outputs") as recorder:
        one, two = (recorder.function(lambda x, model=model: model(x)) for model in (first, second))
        one(tf.ones((4, 3)))
        two(tf.ones((4, 3)))
    found = edges(layerflow.open(tmp_path), True)
    assert {("joins/one", "joins/last"), ("joins~1/one", "joins~1/last")} <= found
    assert all(source.split("/")[0] == target.split("/")[0] for source, target in found)
