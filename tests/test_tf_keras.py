"""`tf_keras`: the same callback, and the results of a tape written by hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import tb_layerflow as layerflow
from tests.table.compare import check
from tests.table.row import Hand, Row, mse, normal

tf_keras = pytest.importorskip("tf_keras")
layers = tf_keras.layers
WIDTH = 3


def sequential() -> Any:
    return tf_keras.Sequential([layers.InputLayer((WIDTH,), name="numbers"), layers.Dense(4, activation="tanh", name="first"),
                                layers.Dense(1, name="last")])  # fmt: skip


def through_all(hand: Hand, model: Any, x: Any) -> Any:
    for layer in model.layers:
        if type(layer).__name__ != "InputLayer":
            x = hand(layer.name, layer(x))
    return hand(".", x)


def siamese() -> Any:
    encoder = tf_keras.Sequential([layers.InputLayer((WIDTH,)), layers.Dense(2, name="dense")], name="encoder")
    left, right = tf_keras.Input((WIDTH,), name="left"), tf_keras.Input((WIDTH,), name="right")
    distance = layers.Subtract(name="distance")([encoder(left), encoder(right)])
    return tf_keras.Model([left, right], layers.Dense(1, name="verdict")(distance))


def siamese_by_hand(hand: Hand, model: Any, x: Any) -> Any:
    dense = model.get_layer("encoder").layers[-1]
    codes = []
    for number, side in enumerate(x):
        encoder = "encoder" + (f"#{number}" if number else "")
        codes.append(hand(encoder, hand(f"{encoder}/dense", dense(side))))
    return hand(".", hand("verdict", model.get_layer("verdict")(hand("distance", codes[0] - codes[1]))))


class Subclassed(tf_keras.Model):
    """Layers in a list, and a branch that AutoGraph makes a conditional of."""

    def __init__(self) -> None:
        super().__init__()
        self.blocks = [layers.Dense(WIDTH, name="blocks/0/attn"), layers.Dense(1, name="last")]

    def call(self, inputs: Any) -> Any:
        if tf.reduce_sum(inputs) > 1e9:
            inputs = inputs * 0.0
        return self.blocks[1](self.blocks[0](inputs))


def subclassed_by_hand(hand: Hand, model: Any, x: Any) -> Any:
    return hand(".", hand("last", model.blocks[1](hand("blocks%2F0%2Fattn", model.blocks[0](x)))))


def one() -> tuple[Any, Any]:
    return normal(12, WIDTH), normal(12, 1)


def two() -> tuple[Any, Any]:
    return (normal(12, WIDTH), normal(12, WIDTH, seed=2)), normal(12, 1)


KINDS: dict[str, tuple[Callable[[], Any], Callable[[], Any], Any, dict[str, Any]]] = {
    "Sequential": (sequential, one, through_all, {}),
    "Sequential, eager": (sequential, one, through_all, {"run_eagerly": True}),
    "Sequential, two steps per execution": (sequential, one, through_all, {"steps_per_execution": 1}),
    "shared encoder": (siamese, two, siamese_by_hand, {}),
    "subclassed, with AutoGraph": (Subclassed, one, subclassed_by_hand, {}),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_model_of_tf_keras_is_recorded_as_by_hand_and_trains_as_without(kind: str, tmp_path: Path) -> None:
    build, data, forward, options = KINDS[kind]
    dataset = tf.data.Dataset.from_tensor_slices(data()).batch(4)

    def made() -> Any:
        tf_keras.utils.set_random_seed(3)
        model = build()
        model.compile(tf_keras.optimizers.Adam(0.01), "mse", **options)
        return model

    def run(folder: Path | None) -> list[np.ndarray]:
        model = made()
        what = {"every": 1, "what": ("outputs", "errors"), "values": "all", "statistics": "exact"}
        listeners = [] if folder is None else [layerflow.LayerFlow(folder, **what)]
        history = model.fit(dataset, verbose=0, callbacks=listeners).history
        return [variable.numpy() for variable in model.variables] + [np.array(values) for values in history.values()]

    left = run(tmp_path)
    model = made()
    x, y = next(iter(dataset))
    if not model.built:
        model(x)
    with Hand() as hand:
        loss = mse(y, forward(hand, model, x))
    hand.differentiate({"error": loss})
    stream = layerflow.open(tmp_path)
    check(Row("tf_keras", kind, run, lambda hand: {}), stream, hand)
    assert stream.graph.record.execution.family == "tf_keras"
    for found, expected in zip(left, run(None), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_a_compiled_model_of_tf_keras_has_errors_in_probes_and_in_record(tmp_path: Path) -> None:
    tf_keras.utils.set_random_seed(2)
    model = sequential()
    model.compile("sgd", "mse")
    x, y = normal(6, WIDTH), normal(6, 1)
    error = 2 * (model(x).numpy() - y) / 6
    stream = layerflow.record(model, tmp_path / "once", x, y, values=layerflow.summary.Values(samples=6))
    np.testing.assert_allclose(stream.value("last", "error"), error, rtol=1e-5, atol=1e-7)
    callback = layerflow.LayerFlow(tmp_path / "fit", probe=(x, y), train=False, every=1, strict=True)
    model.fit(x, y, batch_size=6, verbose=0, callbacks=[callback])
    found = layerflow.open(tmp_path / "fit").statistics("error").series("last", "l2")[1]
    assert found[0] == pytest.approx(np.linalg.norm(error), rel=1e-5)
