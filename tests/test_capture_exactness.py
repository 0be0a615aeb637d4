"""Every call has its own row, and its figures are those of a forward pass and a tape written by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from keras import layers

import tb_layerflow as layerflow
from tests import models, oracle

WIDTH = models.WIDTH


def recorded_fit(model: keras.Model, x: Any, y: Any, folder: Path, **options: Any) -> Any:
    """The stream "train" of one training step on all of (x, y)."""
    model.fit(x, y, batch_size=len(y), shuffle=False, verbose=0, callbacks=[layerflow.LayerFlow(folder, **options)])
    return layerflow.reader.LogDir(folder).run(".").stream("train")


def assert_as_by_hand(stream: Any, by_hand: oracle.Pass) -> None:
    paths = [call.path for call in stream.graph.calls if call.type != "Input"]
    assert paths == list(by_hand.outputs), "every call has its own row, in the order in which the calls began"
    assert len(set(stream.graph.paths)) == len(stream.graph.paths), "no path is ambiguous"
    oracle.check(stream, "output", by_hand.outputs)
    oracle.check(stream, "error", by_hand.errors)


@pytest.mark.parametrize("build", [models.siamese, models.three_deep])
def test_a_shared_layer_has_one_record_per_call_equal_to_the_hand_written_pass(build: Any, tmp_path: Path) -> None:
    model = build()
    x, y = models.samples(model)
    assert_as_by_hand(layerflow.record(model, tmp_path / "record", x, y), oracle.run(model, x, y))
    by_hand = oracle.run(model, x, y, training=True)
    stream = recorded_fit(model, x, y, tmp_path / "fit")
    assert_as_by_hand(stream, by_hand)
    assert stream.records.losses["loss"][0] == pytest.approx(by_hand.loss, rel=1e-5)


def test_the_inputs_of_a_call_are_the_outputs_that_flow_into_it(tmp_path: Path) -> None:
    model = models.siamese()
    x, y = models.samples(model)
    stream = layerflow.record(model, tmp_path, x, y)
    by_hand = oracle.run(model, x, y)
    oracle.check(stream, "output", {"left": x[0], "right": x[1]})
    inputs = {"encoder": x[0], "encoder#1": x[1], "encoder#1/second_dense": by_hand.outputs["encoder#1/first_dense"],
              "verdict": by_hand.outputs["distance"]}  # fmt: skip
    oracle.check(stream, "input", inputs)
    edges = {(edge.source, edge.target) for edge in stream.graph.edges}
    assert {(("left", 0), ("encoder", 0)), (("encoder#1", 0), ("distance", 1)), (("encoder", 0), ("distance", 0))} <= edges


def test_the_error_of_a_softmax_output_stands_at_its_logits(tmp_path: Path) -> None:
    model = models.softmax_classifier()
    x, y = models.samples(model)
    probabilities = np.asarray(model(x, training=False))
    stream = layerflow.record(model, tmp_path, x, y)
    head = stream.graph.call("head")
    assert [port.key for port in head.outputs] == ["", "logits"]
    assert head.outputs[0].error == "at the logits"
    error = ((probabilities - np.eye(3)[y]) / len(y)).astype(np.float32)
    table = stream.statistics("error")
    assert table.series("head", "l2", port=1)[1][0] == pytest.approx(np.linalg.norm(error), rel=1e-5)
    assert table.series("head", "min", port=1)[1][0] == pytest.approx(error.min(), rel=1e-5)
    assert table.series("head", "mean", port=1)[1][0] == pytest.approx(0, abs=1e-7)


class TwoHeads(layers.Layer):
    """Gives its numbers under the names that many people use, and their softmax."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.dense = layers.Dense(3, name="dense")

    def call(self, x: Any) -> Any:
        numbers = self.dense(x)
        return {"logits": numbers, "probabilities": tf.nn.softmax(numbers)}


def test_an_output_that_its_user_calls_logits_is_an_output_like_any_other(tmp_path: Path) -> None:
    keras.utils.set_random_seed(5)
    x = np.random.default_rng(5).normal(size=(4, models.WIDTH)).astype("float32")
    y = np.array([0, 1, 2, 0])
    given = keras.Input((models.WIDTH,), name="x")
    heads = TwoHeads(name="heads")
    model = keras.Model(given, heads(given)["probabilities"])
    model.compile("sgd", "sparse_categorical_crossentropy")
    numbers = heads.dense(x).numpy()
    stream = layerflow.record(model, tmp_path, x, y)
    outputs = stream.graph.call("heads").outputs
    assert [(port.key, port.kind) for port in outputs] == [
        ("logits", ""), ("probabilities", ""), ("probabilities/logits", "logits"),
    ]  # fmt: skip
    assert [port.error for port in outputs] == ["not connected", "at the logits", ""]
    np.testing.assert_array_equal(stream.value("heads", port=0), numbers)
    probabilities = np.asarray(keras.ops.softmax(numbers))
    np.testing.assert_array_equal(stream.value("heads", port=1), probabilities)
    error = (probabilities - np.eye(3)[y]) / len(y)
    np.testing.assert_allclose(stream.value("heads", "error", port=2), error, atol=1e-7)


@pytest.mark.parametrize("run_eagerly", [False, True])
@pytest.mark.parametrize("how", ["record", "fit", "fit, one frozen"])
def test_each_of_two_softmax_outputs_has_logits_of_its_own(how: str, run_eagerly: bool, tmp_path: Path) -> None:
    """No layer lies before them, and where one is frozen nothing that is trained."""
    keras.utils.set_random_seed(6)
    x = np.random.default_rng(6).normal(size=(4, models.WIDTH)).astype("float32")
    y = {"one": np.array([0, 1, 2, 0]), "other": np.array([1, 1, 0, 0])}
    given = keras.Input((models.WIDTH,), name="x")
    heads = {"one": layers.Dense(3, "softmax", name="one"), "other": layers.Dense(2, "softmax", name="other")}
    model = keras.Model(given, {name: head(given) for name, head in heads.items()})
    losses = dict.fromkeys(heads, "sparse_categorical_crossentropy")
    predictions = {name: head(x).numpy() for name, head in heads.items()}
    heads["one"].trainable = how != "fit, one frozen"
    model.compile("sgd", losses, loss_weights={"one": 1.0, "other": 3.0}, run_eagerly=run_eagerly)
    if how == "record":
        stream = layerflow.record(model, tmp_path, x, y)
    else:
        callback = layerflow.LayerFlow(tmp_path, every=1, values=layerflow.summary.Values(samples=4))
        model.fit(x, y, batch_size=4, shuffle=False, verbose=0, callbacks=[callback])
        stream = layerflow.open(tmp_path)
    root = stream.graph.call(".")
    assert [port.key for port in root.outputs] == ["one", "other", "one/logits", "other/logits"]
    for port, (name, weight) in enumerate([("one", 1.0), ("other", 3.0)], 2):
        error = weight * (predictions[name] - np.eye(heads[name].units)[y[name]]) / 4
        np.testing.assert_allclose(stream.value(".", "error", port=port), error, atol=1e-7)


def test_an_error_is_that_of_the_unscaled_loss(tmp_path: Path) -> None:
    model = models.plain()
    x, y = models.samples(model)
    by_hand = oracle.run(model, x, y)
    model.compile(keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD(), initial_scale=1024.0), "mse")
    oracle.check(recorded_fit(model, x, y, tmp_path), "error", by_hand.errors)


def test_a_large_tensor_is_measured_on_the_stated_part_and_wholly_where_that_is_exact(tmp_path: Path) -> None:
    random = np.random.default_rng(5)
    for name, shape in [("whole samples", (5, 100, 90)), ("every k-th position", (2, 120, 100, 7))]:
        x = (random.normal(3, 10, shape) * (random.random(shape) > 0.25)).astype(np.float32)
        symbol = keras.Input(shape[1:], name="numbers")
        model = keras.Model(symbol, layers.Activation("linear", name="same")(symbol))
        stated = layerflow.record(model, tmp_path / name / "auto", x)
        oracle.check(stated, "output", {"same": x, "numbers": x})
        assert stated.histogram("same").sampled_from.part < x.size
        exact = layerflow.record(model, tmp_path / name / "exact", x, statistics="exact")
        oracle.check(exact, "output", {"same": x, "numbers": x}, part=lambda array: array)


def test_bad_numbers_are_counted_apart_and_spread_into_the_exact_figures(tmp_path: Path) -> None:
    x = np.array([[np.nan, np.inf, 0, -1], [np.inf, -np.inf, 0, 2], [1, 0, 1e-3, 4]], np.float32)
    symbol = keras.Input((4,), name="numbers")
    stream = layerflow.record(keras.Model(symbol, layers.Activation("linear", name="same")(symbol)), tmp_path, x)
    row = {name: stream.statistics("output").series("same", name)[1][0] for name in stream.statistics("output").columns}
    counted = {"count": 12, "finite": 0, "zero": 3, "nan": 1, "pos_inf": 2, "neg_inf": 1}
    assert {name: row[name] for name in counted} == counted
    assert all(np.isnan(row[name]) for name in ("mean", "l2", "min", "max", "std"))
    histogram = stream.histogram("same")
    assert (histogram.zero, histogram.nan, histogram.pos_inf, histogram.neg_inf, int(histogram.counts.sum())) == (3, 1, 2, 1, 5)


# ------------------------------------------------------------------------------------------------------ random models

JOINS = ("+", "*", "concatenate", "keras.ops", "none")


@st.composite
def plans(draw: Any, depth: int, calls: int) -> list[Any]:
    """What a model is made of: layers, sub-models of less depth and how often they are called, and how results are joined."""
    plan: list[Any] = [("layer", draw(st.sampled_from(("tanh", "relu", "linear"))), draw(st.sampled_from(JOINS)))]
    for _ in range(draw(st.integers(0, 1)) if depth == 1 else 1):
        if depth > 1:
            times = draw(st.integers(1, min(4, calls)))
            plan.insert(draw(st.integers(0, 1)), (draw(plans(depth - 1, calls // times)), times, draw(st.sampled_from(JOINS))))
        else:
            plan.append(("layer", "sigmoid", draw(st.sampled_from(JOINS))))
    return plan


def built(plan: list[Any], name: str | None, same_names: bool) -> keras.Model:
    """The model of a plan. With `same_names` the layers of all sub-models are called `first`, `second`, …"""
    symbol = keras.Input((WIDTH,), name="numbers" if name == "root" else None)
    hidden = symbol
    for position, (what, how, join) in enumerate(plan):
        own = ("first", "second", "third")[position] if same_names else None
        if what == "layer":
            hidden = _joined(layers.Dense(WIDTH, activation=how, name=own)(hidden), hidden, join, own)
            continue
        below = built(what, own, same_names)
        for _ in range(how):
            hidden = _joined(below(hidden), hidden, join, None)
    return keras.Model(symbol, hidden, name=name)


def _joined(new: Any, old: Any, join: str, own: str | None) -> Any:
    if join == "+":
        return (new + old) * 0.5  # halved: a tanh that saturates would make rounding visible
    if join == "*":
        return new * keras.ops.sigmoid(old)
    if join == "concatenate":
        together = layers.Concatenate(name=own and f"{own}_both")([new, old])
        return layers.Dense(WIDTH, activation="tanh", name=own and f"{own}_less")(together)
    return keras.ops.tanh(new * 0.5) if join == "keras.ops" else new


@settings(max_examples=50, phases=[Phase.explicit, Phase.generate])
@given(
    depth=st.sampled_from((1, 1, 2, 2, 3, 4)),
    seed=st.integers(0, 99),
    same_names=st.booleans(),
    with_fit=st.booleans(),
    options=st.data(),
)
def test_any_functional_model_is_recorded_as_by_hand(
    tmp_path_factory: Any, depth: int, seed: int, same_names: bool, with_fit: bool, options: Any
) -> None:
    keras.utils.set_random_seed(seed)
    model = built(options.draw(plans(depth, 4)), "root", same_names)
    model.compile("sgd", "mse")
    x, y = models.samples(model, seed=seed)
    by_hand = oracle.run(model, x, y, training=with_fit)
    folder = tmp_path_factory.mktemp("any")
    assert_as_by_hand(recorded_fit(model, x, y, folder) if with_fit else layerflow.record(model, folder, x, y), by_hand)
