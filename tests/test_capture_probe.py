"""A probe leaves no trace on the model, and one that runs in chunks equals one big batch."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import layers

import tb_layerflow as layerflow
from tests import models, oracle


@pytest.mark.parametrize("eagerly", [False, True])
def test_more_than_64_samples_equal_one_big_batch(eagerly: bool, tmp_path: Path) -> None:
    model = models.siamese()
    model.compile("sgd", "mse", run_eagerly=eagerly)
    x, y = models.samples(model, 150)
    by_hand = oracle.run(model, x, y)
    stream = layerflow.record(model, tmp_path, x, y)
    oracle.check(stream, "output", by_hand.outputs)
    oracle.check(stream, "error", by_hand.errors)
    assert stream.records.batch_size.tolist() == [150]
    assert stream.records.losses["loss"][0] == pytest.approx(by_hand.loss, rel=1e-5)


def test_the_part_of_many_chunks_is_the_part_of_the_whole(tmp_path: Path) -> None:
    x = np.random.default_rng(0).normal(5, 2, (150, 20, 25)).astype(np.float32)
    symbol = keras.Input((20, 25), name="numbers")
    model = keras.Model(symbol, layers.Activation("linear", name="same")(symbol))
    stream = layerflow.record(model, tmp_path, x)
    oracle.check(stream, "output", {"same": x})
    assert stream.histogram("same").sampled_from[:2] == (65 * 500, 150 * 500)


def test_weighted_samples_have_weighted_errors(tmp_path: Path) -> None:
    model = models.plain()
    x, y = models.samples(model, 100)
    weights = np.linspace(0, 2, 100).astype(np.float32)
    prediction = np.asarray(model(x))
    error = 2 * (prediction - y) * weights[:, None] / 100
    model.fit(x[:4], y[:4], verbose=0, callbacks=[layerflow.LayerFlow(tmp_path, train=False, probe=(x, y, weights))])
    stream = layerflow.open(tmp_path)
    assert stream.statistics("error").series("last", "l2")[1][0] == pytest.approx(np.linalg.norm(error), rel=1e-5)


def state(model: keras.Model) -> list[np.ndarray]:
    """Every variable: weights, moving averages, seeds, the optimizer's, the metrics'."""
    return [variable.numpy() for variable in [*model.variables, *model.optimizer.variables, *model.metrics_variables]]


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("build", [models.softmax_classifier, models.two_outputs, models.counting])
def test_record_leaves_every_variable_as_it_was(build: Any, training: bool, tmp_path: Path) -> None:
    model = build()
    x, y = models.samples(model, 20)
    model.fit(x, y, verbose=0)
    model.evaluate(x, y, verbose=0)
    before, metrics = state(model), model.get_metrics_result()
    layerflow.record(model, tmp_path, x, y, training=training)
    for found, expected in zip(state(model), before, strict=True):
        np.testing.assert_array_equal(found, expected)
    assert model.get_metrics_result() == metrics


def test_a_probe_is_taken_before_its_step_and_by_epoch_after_the_last(tmp_path: Path) -> None:
    model = models.plain()
    x, y = models.samples(model)
    before = oracle.run(model, x, y)
    model.fit(x, y, batch_size=4, verbose=0, shuffle=False,
              callbacks=[layerflow.LayerFlow(tmp_path / "step", train=False, probe=(x, y), every={0})])  # fmt: skip
    oracle.check(layerflow.open(tmp_path / "step"), "output", before.outputs)
    model.fit(x, y, batch_size=4, verbose=0, shuffle=False,
              callbacks=[layerflow.LayerFlow(tmp_path / "epoch", train=False, probe=(x, y), every="epoch")])  # fmt: skip
    after = oracle.run(model, x, y)
    oracle.check(layerflow.open(tmp_path / "epoch"), "output", after.outputs)
    oracle.check(layerflow.open(tmp_path / "epoch"), "error", after.errors)


def test_a_probe_may_be_a_dataset_x_alone_or_a_nest(tmp_path: Path) -> None:
    model = models.siamese()
    x, y = models.samples(model, 10)
    by_hand = oracle.run(model, x, y)
    batches = tf.data.Dataset.from_tensor_slices(({"left": x[0], "right": x[1]}, y)).batch(4)
    once = functools.partial(layerflow.LayerFlow, train=False, every={0})
    callbacks = [once(tmp_path / "dataset", probe=batches), once(tmp_path / "list", probe=(x,)), once(tmp_path / "dict", probe=(
        {"left": x[0], "right": x[1]}, y))]  # fmt: skip
    model.fit(x, y, verbose=0, callbacks=callbacks)
    for name in ("dataset", "list", "dict"):
        oracle.check(layerflow.open(tmp_path / name), "output", by_hand.outputs)
    oracle.check(layerflow.open(tmp_path / "dataset"), "error", by_hand.errors)
    assert layerflow.open(tmp_path / "list").statistics("error").ports == []


@pytest.mark.parametrize("how", ["compiled", "given", "one of two"])
def test_the_loss_of_many_chunks_is_that_of_the_whole_where_it_is_a_sum(how: str, tmp_path: Path) -> None:
    keras.utils.set_random_seed(4)
    random = np.random.default_rng(4)
    x, y = random.normal(size=(70, 3)).astype("float32"), random.normal(size=(70, 2)).astype("float32")
    given = keras.Input((3,), name="x")
    kernel = keras.regularizers.L2(0.1)
    outputs = {name: keras.layers.Dense(2, name=name, kernel_regularizer=kernel)(given) for name in ("sum", "mean")}
    model = keras.Model(given, outputs if how == "one of two" else outputs["sum"])
    by_sum, values = keras.losses.MeanSquaredError(reduction="sum"), layerflow.summary.Values(samples=70)
    used = ("sum", "mean") if how == "one of two" else ("sum",)
    apart = {name: model.get_layer(name)(x).numpy() - y for name in used}
    added = sum(0.1 * float(np.square(model.get_layer(name).kernel).sum()) for name in used)
    errors = {"sum": apart["sum"]}
    loss = np.square(apart["sum"]).mean(1).sum()
    if how == "one of two":
        model.compile("sgd", {"sum": by_sum, "mean": "mse"}, loss_weights={"sum": 1.0, "mean": 3.0})
        stream = layerflow.record(model, tmp_path, x, {"sum": y, "mean": y}, values=values)
        errors["mean"] = 3 * apart["mean"] / 70
        loss += 3 * np.square(apart["mean"]).mean() + added
    elif how == "compiled":
        model.compile("sgd", by_sum)
        stream = layerflow.record(model, tmp_path, x, y, values=values)
        loss += added
    else:
        stream = layerflow.record(model, tmp_path, x, y, loss=by_sum, values=values)
    for name, error in errors.items():
        np.testing.assert_allclose(stream.value(name, "error"), error, rtol=1e-4, atol=1e-6)
    assert stream.records.losses["loss"][0] == pytest.approx(loss, rel=1e-5)
