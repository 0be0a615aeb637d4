"""Every call has its own row, and its figures are those of a forward pass and a tape written by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
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
