"""Layer losses, held against ridge regression written out in numpy: every left-out sample by a fit of its own, no shared formula."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
from keras import layers

import tb_layerflow as layerflow
from tb_layerflow.analysis import readout
from tests import models, oracle

COUNT = 96


def solved(features: np.ndarray, targets: np.ndarray, ridge: float) -> Any:
    """(features → scores) of ridge regression with an intercept that is not punished."""
    mean, middle = features.mean(0), targets.mean(0)
    centred = features - mean
    weights = np.linalg.solve(centred.T @ centred + ridge * np.eye(features.shape[1]), centred.T @ (targets - middle))
    return lambda asked: (asked - mean) @ weights + middle


def by_hand(features: np.ndarray, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(held-out scores, the held-out samples) of the stated rule, each leave-one-out error by leaving one out."""
    fitted, held_out = readout.halves(len(features))
    spread = features[fitted].std(0)
    standard = features[:, spread > 1e-6] - features[fitted][:, spread > 1e-6].mean(0)
    standard = standard / spread[spread > 1e-6]
    x, y = standard[fitted], targets[fitted]
    errors = {}
    for strength in readout.STRENGTHS:
        left = [np.delete(np.arange(len(x)), one) for one in range(len(x))]
        said = [solved_without_centring(x[rest], y[rest], strength * len(x), x[one]) for one, rest in enumerate(left)]
        errors[strength] = np.square(np.array(said) - y).sum()
    best = min(errors, key=lambda strength: errors[strength])
    within = np.minimum(np.maximum(standard[held_out], x.min(0)), x.max(0))
    return solved(x, y, best * len(x))(within), held_out


def solved_without_centring(x: np.ndarray, y: np.ndarray, ridge: float, asked: np.ndarray) -> np.ndarray:
    """Ridge with an intercept as a column of its own that is not punished."""
    with_one = np.column_stack([x, np.ones(len(x))])
    penalty = ridge * np.eye(with_one.shape[1])
    penalty[-1, -1] = 0
    return np.append(asked, 1.0) @ np.linalg.solve(with_one.T @ with_one + penalty, with_one.T @ y)


def rows(stream: Any, path: str) -> dict[str, Any]:
    return {row.form: row for row in stream.losses() if row.path == path}


def classifier(loss: Any, width: int = 3, activation: str | None = None) -> keras.Model:
    keras.utils.set_random_seed(8)
    model = keras.Sequential([layers.Input((6, 6, 2)), layers.Conv2D(5, 3, activation="relu", name="conv"),
                              layers.Flatten(name="flat"), layers.Dense(width, activation=activation, name="head")])  # fmt: skip
    model.compile("sgd", loss)
    return model


def images(count: int = COUNT) -> tuple[np.ndarray, np.ndarray]:
    """Images whose class is how bright they are, with noise."""
    random = np.random.default_rng(2)
    kind = random.integers(0, 3, count)
    return (random.normal(size=(count, 6, 6, 2)) + 0.3 * kind[:, None, None, None]).astype("float32"), kind


def shares(scores: np.ndarray) -> np.ndarray:
    raised = np.maximum(scores, 0.01 / scores.shape[1])
    return raised / raised.sum(1, keepdims=True)


@pytest.mark.parametrize("one_hot", [False, True])
@pytest.mark.parametrize("from_logits", [False, True])
def test_the_readout_of_classes_is_ridge_regression_scored_with_the_models_loss(one_hot: bool, from_logits: bool) -> None:
    make = keras.losses.CategoricalCrossentropy if one_hot else keras.losses.SparseCategoricalCrossentropy
    model = classifier(make(from_logits=from_logits), activation=None if from_logits else "softmax")
    x, kind = images()
    stream = layerflow.record(model, None, x, np.eye(3, dtype="float32")[kind] if one_hot else kind)
    features = oracle.run(model, x).outputs["conv"].mean((1, 2))
    scores, held_out = by_hand(features, np.eye(3)[kind])
    found = rows(stream, "conv")["readout"]
    assert found.loss == pytest.approx(-np.log(shares(scores)[np.arange(len(scores)), kind[held_out]]).mean(), rel=1e-4)
    assert found.accuracy == (scores.argmax(1) == kind[held_out]).mean()
    assert found.task == "classification"


def test_the_loss_on_the_models_own_output_is_direct_and_the_models_loss(tmp_path: Path) -> None:
    model = classifier("sparse_categorical_crossentropy", activation="softmax")
    x, kind = images(150)  # three chunks, the last one smaller
    stream = layerflow.record(model, tmp_path, x, kind)
    probabilities = model.predict(x, verbose=0)
    found = rows(stream, "head")["direct"]
    assert found.loss == pytest.approx(-np.log(probabilities[np.arange(150), kind]).mean(), rel=1e-4)
    assert found.accuracy == pytest.approx((probabilities.argmax(1) == kind).mean(), abs=1e-6)
    assert found.loss == pytest.approx(stream.records.losses["loss"][0], rel=1e-6)
    assert "readout" not in rows(stream, "head")


def test_the_readout_of_numbers_has_a_loss_and_no_accuracy() -> None:
    model = classifier("mse", width=2)
    x, _ = images()
    y = np.stack([x.mean((1, 2, 3)), x[:, 0, 0, 0]], 1).astype("float32")
    found = rows(layerflow.record(model, None, x, y), "conv")["readout"]
    scores, held_out = by_hand(oracle.run(model, x).outputs["conv"].mean((1, 2)), y.astype(np.float64))
    assert found.loss == pytest.approx(np.square(scores - y[held_out]).mean(), rel=1e-4)
    assert np.isnan(found.accuracy) and found.task == "regression"


def test_the_readout_of_several_labels_counts_each_yes_and_no() -> None:
    model = classifier("binary_crossentropy", width=2, activation="sigmoid")
    x, kind = images()
    y = np.stack([kind > 0, kind > 1], 1).astype("float32")
    found = rows(layerflow.record(model, None, x, y), "conv")["readout"]
    scores, held_out = by_hand(oracle.run(model, x).outputs["conv"].mean((1, 2)), y.astype(np.float64))
    said = np.clip(scores, 0.01, 0.99)
    loss = -np.where(y[held_out] > 0, np.log(said), np.log(1 - said)).mean()
    assert found.loss == pytest.approx(loss, rel=1e-4) and found.task == "multi-label"
    assert found.accuracy == ((scores > 0.5) == (y[held_out] > 0)).mean()


def test_what_knows_nothing_says_the_mean_of_the_fitted_labels() -> None:
    model = classifier("mse", width=1)
    x, kind = images()
    y = kind[:, None].astype("float32")
    found = rows(layerflow.record(model, None, x, y), "conv")
    fitted, held_out = readout.halves(COUNT)
    assert found["readout"].baseline == pytest.approx(np.square(y[held_out] - y[fitted].mean()).mean(), rel=1e-5)


def test_a_unit_that_one_fitted_sample_woke_a_little_says_nothing_wild_of_others() -> None:
    random = np.random.default_rng(1)
    features, targets = random.normal(size=(64, 3)), random.normal(size=(64, 1))
    features[:, 2] = 0
    features[5, 2] = 1e-3
    fitted = readout.fit(features, targets)
    awake = np.array([[0.0, 0.0, 1.0]])
    assert np.abs(fitted.scores(awake)).max() <= np.abs(targets).max()
    assert fitted.scores(awake) == pytest.approx(fitted.scores(np.array([[0.0, 0.0, 1e-3]])))


def test_each_output_is_read_against_its_own_labels() -> None:
    model = models.two_outputs()
    x, y = models.samples(model, COUNT)
    stream = layerflow.record(model, None, x, y)
    found = {(row.path, row.form, row.output): row for row in stream.losses()}
    trunk = oracle_trunk(model, x)
    scores, held_out = by_hand(trunk, y["size"].astype(np.float64))
    assert found["trunk", "readout", "size"].loss == pytest.approx(np.square(scores - y["size"][held_out]).mean(), rel=1e-4)
    assert found["trunk", "readout", "kind"].task == "classification"
    assert ("kind", "direct", "kind") in found and ("size", "direct", "size") in found
    total = found["kind", "direct", "kind"].loss + found["size", "direct", "size"].loss
    assert total == pytest.approx(stream.records.losses["loss"][0], rel=1e-5)
    assert not [entry for entry in stream.ledger() if "is not the sum" in entry.reason]


def oracle_trunk(model: keras.Model, x: np.ndarray) -> np.ndarray:
    kernel, bias = model.get_layer("trunk").get_weights()
    return np.maximum(x.astype(np.float64) @ kernel + bias, 0)


def test_added_losses_are_the_layers_own_and_make_up_the_total_with_the_outputs() -> None:
    keras.utils.set_random_seed(3)
    model = keras.Sequential([
        layers.Input((models.WIDTH,)),
        layers.Dense(5, name="first", kernel_regularizer=keras.regularizers.L2(0.1)),
        layers.ActivityRegularization(l2=0.01, name="activity"), layers.Dense(1, name="last"),
    ])  # fmt: skip
    model.compile("sgd", "mse")
    x, y = models.samples(model, COUNT)
    stream = layerflow.record(model, None, x, y)
    kernel, bias = model.get_layer("first").get_weights()
    assert rows(stream, "first")["added"].loss == pytest.approx(0.1 * np.square(kernel).sum(), rel=1e-5)
    assert rows(stream, "activity")["added"].loss > 0
    parts = [row.loss for row in stream.losses() if row.form == "added" or (row.form, row.path) == ("direct", "last")]
    assert sum(parts) == pytest.approx(stream.records.losses["loss"][0], rel=1e-5)


def test_a_total_that_is_more_than_its_parts_is_noted() -> None:
    class Doubles(keras.Model):
        def compute_loss(self, *args: Any, **kwargs: Any) -> Any:
            return 2.0 * super().compute_loss(*args, **kwargs)

    inner = models.plain()
    model = Doubles(inner.inputs, inner.outputs)
    model.compile("sgd", "mse")
    stream = layerflow.record(model, None, *models.samples(inner, COUNT))
    assert [entry for entry in stream.ledger() if "is not the sum" in entry.reason]


def test_a_layer_that_separates_the_classes_reaches_all_and_noise_reaches_chance() -> None:
    random = np.random.default_rng(6)
    kind = random.integers(0, 4, 800)
    separable = np.eye(4)[kind] @ random.normal(size=(4, 20)) + 0.01 * random.normal(size=(800, 20))
    noise = random.normal(size=(800, 20))
    keras.utils.set_random_seed(1)
    one, two = keras.Input((20,), name="separable"), keras.Input((20,), name="noise")
    model = keras.Model([one, two], layers.Dense(4, activation="softmax")(layers.Concatenate()([one, two])))
    model.compile("sgd", "sparse_categorical_crossentropy")
    stream = layerflow.record(model, None, [separable.astype("float32"), noise.astype("float32")], kind)
    assert rows(stream, "separable")["readout"].accuracy == 1.0
    assert rows(stream, "separable")["readout"].loss < 0.03
    assert abs(rows(stream, "noise")["readout"].accuracy - 0.25) < 3 * np.sqrt(0.25 * 0.75 / 400)
    assert rows(stream, "noise")["readout"].loss == pytest.approx(np.log(4), abs=0.03)


def test_many_features_are_projected_and_still_separate() -> None:
    random = np.random.default_rng(7)
    kind = random.integers(0, 3, 256)
    wide = (np.eye(3)[kind] @ random.normal(size=(3, 2000)) + random.normal(size=(256, 2000))).astype("float32")
    model = keras.Sequential([layers.Input((2000,)), layers.Dense(3, activation="softmax")])
    model.compile("sgd", "sparse_categorical_crossentropy")
    stream = layerflow.record(model, None, wide, kind)
    path = next(call.path for call in stream.graph.calls if call.kind == "input")
    assert rows(stream, path)["readout"].accuracy > 0.95


def test_labels_within_a_sample_have_direct_losses_and_the_ledger_says_why_no_readout() -> None:
    model = keras.Sequential([layers.Input((8, 8, 1)), layers.Conv2D(4, 3, padding="same", name="conv"),
                              layers.Conv2D(3, 1, activation="softmax", name="head")])  # fmt: skip
    model.compile("sgd", "sparse_categorical_crossentropy")
    random = np.random.default_rng(0)
    x, y = random.normal(size=(70, 8, 8, 1)).astype("float32"), random.integers(0, 3, (70, 8, 8))
    stream = layerflow.record(model, None, x, y)
    assert rows(stream, "head")["direct"].loss == pytest.approx(stream.records.losses["loss"][0], rel=1e-5)
    assert 0.2 < rows(stream, "head")["direct"].accuracy < 0.5
    assert any("vary within a sample" in entry.reason for entry in stream.ledger())


def test_few_samples_have_no_layer_losses_unless_they_are_asked_for() -> None:
    model = models.plain()
    x, y = models.samples(model, 20)
    assert layerflow.record(model, None, x, y).losses() == []
    assert layerflow.record(model, None, x, y, what=("losses",)).losses()


def test_training_is_bit_identical_with_and_without_layer_losses(tmp_path: Path) -> None:
    def trained(callbacks: list[Any]) -> list[np.ndarray]:
        model = models.softmax_classifier()
        x, y = models.samples(model, COUNT)
        history = model.fit(x, y, epochs=2, batch_size=16, verbose=0, callbacks=callbacks)
        return [*model.get_weights(), *(np.array(values) for values in history.history.values())]

    model = models.softmax_classifier()
    callback = layerflow.LayerFlow(tmp_path, probe=models.samples(model, COUNT), every=2, strict=True)
    for one, two in zip(trained([callback]), trained([]), strict=True):
        np.testing.assert_array_equal(one, two)
    assert layerflow.reader.LogDir(tmp_path).run(".").stream("probe").losses()
