"""Weights, their gradients and their updates, held against a step written by hand with one tape on a model of the same seed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import layers

import tb_layerflow as layerflow
from tests import models, oracle

RATE = 0.05
OPTIMIZERS: dict[str, Callable[[], Any]] = {
    "sgd": lambda: keras.optimizers.SGD(RATE, momentum=0.9),
    "adam with weight decay": lambda: keras.optimizers.AdamW(RATE, weight_decay=0.1),
    "clipped": lambda: keras.optimizers.SGD(RATE, global_clipnorm=0.01),
    "accumulated": lambda: keras.optimizers.Adam(RATE, gradient_accumulation_steps=2),
}


def network(policy: str = "float32") -> keras.Model:
    keras.utils.set_random_seed(21)
    return keras.Sequential([
        layers.Input((models.WIDTH,)), layers.Dense(5, activation="tanh", name="first", dtype=policy),
        layers.Dense(2, name="last", dtype=policy), layers.Activation("linear", dtype="float32", name="end"),
    ], name="network")  # fmt: skip


def numbers(count: int = 8) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(4)
    return random.normal(size=(count, models.WIDTH)).astype("float32"), random.normal(size=(count, 2)).astype("float32")


def by_hand(model: keras.Model, optimizer: Any, steps: int, x: Any, y: Any) -> list[dict[str, list[np.ndarray]]]:
    """What each step does to `model`: {"weight", "weight_gradient", "update"}, in the order of its weights."""
    found = []
    for _ in range(steps):
        before = [variable.numpy() for variable in model.trainable_variables]
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
        gradients = tape.gradient(loss, [variable.value for variable in model.trainable_variables])
        optimizer.apply(gradients, model.trainable_variables)
        updates = [after.numpy() - old for after, old in zip(model.trainable_variables, before, strict=True)]
        dense = [tf.convert_to_tensor(gradient).numpy() for gradient in gradients]
        found.append({"weight": before, "weight_gradient": dense, "update": updates})
    return found


def recorded(model: keras.Model, folder: Path, x: Any, y: Any, steps: int = 2, **options: Any) -> Any:
    model.fit(x, y, batch_size=len(y), epochs=steps, shuffle=False, verbose=0,
              callbacks=[layerflow.LayerFlow(folder, every=1, strict=True, **options)])  # fmt: skip
    return layerflow.open(folder)


def check(
    stream: Any, step: int, expected: dict[str, list[np.ndarray]], places: list[tuple[str, int]], tolerance: float = 1e-5
) -> None:
    for kind, arrays in expected.items():
        table = stream.statistics(kind)
        for (path, port), array in zip(places, arrays, strict=True):
            row = dict(zip(table.columns, table.values[list(stream.steps).index(step), table.index(path, port)], strict=True))
            rms = np.sqrt(np.mean(np.square(array, dtype=np.float64)))
            for column, number in oracle.statistics(array).items():
                assert abs(row[column] - number) <= tolerance * max(abs(number), rms), (
                    kind,
                    path,
                    port,
                    column,
                    row[column],
                    number,
                )
            assert stream.histogram(path, kind, port, step).counts.sum() + row["zero"] == array.size


PLACES = [("first", 0), ("first", 1), ("last", 0), ("last", 1)]


@pytest.mark.parametrize("name", sorted(OPTIMIZERS))
def test_weights_gradients_and_updates_are_those_of_a_step_by_hand(name: str, tmp_path: Path) -> None:
    x, y = numbers()
    model = network()
    model.compile(OPTIMIZERS[name](), "mse")
    stream = recorded(model, tmp_path, x, y)
    for step, expected in enumerate(by_hand(network(), OPTIMIZERS[name](), 2, x, y)):
        # An update is a small difference of large numbers: as exact as the weights are.
        check(stream, step, {kind: expected[kind] for kind in ("weight", "weight_gradient")}, PLACES)
        check(stream, step, {"update": expected["update"]}, PLACES, 2e-3)


def test_an_accumulating_step_updates_nothing(tmp_path: Path) -> None:
    model = network()
    model.compile(OPTIMIZERS["accumulated"](), "mse")
    stream = recorded(model, tmp_path, *numbers())
    assert stream.statistics("update").series("first", "l2")[1][0] == 0.0
    assert stream.statistics("update").series("first", "l2")[1][1] > 0.0
    assert (stream.statistics("weight_gradient").series("first", "l2")[1] > 0).all()


def test_gradients_of_mixed_float16_are_unscaled_and_a_skipped_step_updates_nothing(tmp_path: Path) -> None:
    x, y = numbers()
    y[0, 0] = 2e3
    model = network("mixed_float16")
    model.compile(keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD(1e-9), initial_scale=2.0**12), "mse")
    stream = recorded(model, tmp_path, x, y, 8)
    skipped = stream.records.skipped
    updates = stream.statistics("update").series("first", "l2")[1]
    gradients = stream.statistics("weight_gradient").series("first", "l2")[1]
    assert skipped[0] and not skipped[-1]
    assert (updates[skipped] == 0).all() and np.isfinite(updates).all() and not np.isfinite(gradients[skipped]).any()
    other = network("mixed_float16")
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(other(x, training=True) - y)) * 2.0**-4
    expected = tape.gradient(loss, other.trainable_variables[0].value).numpy() * 2.0**4
    assert gradients[-1] == pytest.approx(np.linalg.norm(expected), rel=2e-2)


def test_a_custom_step_is_recorded_as_its_tape_saw_it(tmp_path: Path) -> None:
    class Clipping(keras.Model):
        def train_step(self, batch: Any) -> Any:
            x, y = batch
            with tf.GradientTape() as tape:
                loss = self.compute_loss(x, y, self(x, training=True))
            gradients = tape.gradient(loss, self.trainable_variables)
            self.optimizer.apply_gradients(
                [
                    (tf.clip_by_norm(one, 1e-3), variable)
                    for one, variable in zip(gradients, self.trainable_variables, strict=True)
                ]
            )
            return {"loss": loss}

    x, y = numbers()
    inner = network()
    model = Clipping(inner.inputs, inner.outputs)
    model.compile(keras.optimizers.SGD(1.0), "mse")
    stream = recorded(model, tmp_path, x, y, 1)
    expected = by_hand(network(), keras.optimizers.SGD(1.0), 1, x, y)[0]
    check(stream, 0, {"weight_gradient": expected["weight_gradient"]}, PLACES)
    assert stream.statistics("update").series("first", "l2")[1][0] == pytest.approx(1e-3, rel=1e-3)


def test_sparse_gradients_of_an_embedding_add_up_where_a_word_repeats(tmp_path: Path) -> None:
    def words() -> keras.Model:
        keras.utils.set_random_seed(5)
        return keras.Sequential([layers.Input((3,)), layers.Embedding(7, 4, name="words"), layers.Flatten(),
                                 layers.Dense(2, name="last")])  # fmt: skip

    x, y = np.array([[1, 1, 2], [1, 5, 5]] * 4), numbers()[1]
    model = words()
    model.compile(keras.optimizers.SGD(RATE), "mse")
    stream = recorded(model, tmp_path, x, y)
    for step, expected in enumerate(by_hand(words(), keras.optimizers.SGD(RATE), 2, x, y)):
        places = [("words", 0), ("last", 0), ("last", 1)]
        check(stream, step, {kind: expected[kind] for kind in ("weight", "weight_gradient")}, places)
        check(stream, step, {"update": expected["update"]}, places, 2e-3)


def test_a_shared_layer_has_each_weight_once_under_the_path_of_its_first_call(tmp_path: Path) -> None:
    model = models.siamese()
    stream = recorded(model, tmp_path, *models.samples(model), steps=1)
    for kind in ("weight", "weight_gradient", "update"):
        ports = [tuple(port) for port in stream.statistics(kind).ports]
        assert sorted(ports) == sorted((path, port) for path in ("encoder/first_dense", "encoder/second_dense", "verdict")
                                       for port in (0, 1))  # fmt: skip
    assert stream.histogram("first_dense", "weight", 0).counts.sum() == models.WIDTH * 5


def test_moving_averages_have_a_value_and_an_update_but_no_gradient(tmp_path: Path) -> None:
    model = models.logits_classifier()
    stream = recorded(model, tmp_path, *models.samples(model), steps=1)
    assert stream.statistics("update").series("normal", "l2", 2)[1][0] > 0
    assert ("normal", 2) not in [tuple(port) for port in stream.statistics("weight_gradient").ports]


def test_weights_are_those_of_the_chosen_calls(tmp_path: Path) -> None:
    model = models.plain()
    stream = recorded(model, tmp_path, *models.samples(model), steps=1, layers="last")
    assert {port.path for port in stream.statistics("weight").ports} == {"last"}


def test_a_weight_without_a_way_to_the_loss_is_named_in_the_ledger(tmp_path: Path) -> None:
    symbol = keras.Input((models.WIDTH,))
    loose = layers.Dense(3, name="loose")(symbol)
    model = keras.Model(symbol, [layers.Dense(1, name="used")(symbol), loose])
    model.compile("sgd", ["mse", None])
    x, y = models.samples(models.plain())
    model.fit(x, [y, np.zeros((len(y), 3))], epochs=1, verbose=0, callbacks=[layerflow.LayerFlow(tmp_path, every=1)])
    entries = {(entry.path, entry.kind, entry.reason) for entry in layerflow.open(tmp_path).ledger()}
    assert ("loose", "weight_gradient", "not connected") in entries


class OutOfReach(keras.Model):
    """Calls layers that nobody finds from the model: a closure holds them."""

    def __init__(self, inner: list[layers.Layer]) -> None:
        super().__init__(name="network")
        self.head = layers.Identity(name="head")
        self.run = lambda x: [x := layer(x) for layer in inner][-1]

    def call(self, x: Any) -> Any:
        return self.head(self.run(x))


@pytest.mark.parametrize("jit_compile", [False, True])
def test_weights_out_of_the_models_reach_are_those_before_the_step(jit_compile: bool, tmp_path: Path) -> None:
    x, y = numbers()
    inner = network()
    trained = keras.optimizers.SGD(RATE)
    recorder = layerflow.Recorder(
        tmp_path, what=("outputs", "errors", "weights"), every=1, models=[model := OutOfReach(inner.layers)]
    )
    with recorder:

        @recorder.function(jit_compile=jit_compile)
        def step(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
            values = inner.trainable_variables
            trained.apply(tape.gradient(loss, [one.value for one in values]), values)
            return loss

        for _ in range(2):
            step(tf.constant(x), tf.constant(y))
    stream = layerflow.open(tmp_path)
    for number, expected in enumerate(by_hand(network(), keras.optimizers.SGD(RATE), 2, x, y)):
        check(stream, number, expected, PLACES)
    assert not [entry for entry in stream.ledger() if entry.kind in ("weight", "update")]


@pytest.mark.parametrize("is_named", [True, False], ids=["models named", "models found"])
def test_a_model_that_an_eager_step_builds_has_its_first_weights(is_named: bool, tmp_path: Path) -> None:
    x, y = numbers()
    built = network()
    keras.utils.set_random_seed(21)
    model = keras.Sequential([type(one).from_config(one.get_config()) for one in built.layers], name="network")
    assert not model.built
    trained = keras.optimizers.SGD(RATE)
    named = {"models": [model]} if is_named else {}
    with layerflow.Recorder(tmp_path, what=("outputs", "errors", "weights"), every=1, **named) as recorder:
        for _ in range(2):
            with recorder.step():
                with tf.GradientTape() as tape:
                    loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
                values = model.trainable_variables
                trained.apply(tape.gradient(loss, [one.value for one in values]), values)
    stream = layerflow.open(tmp_path)
    for number, expected in enumerate(by_hand(network(), keras.optimizers.SGD(RATE), 2, x, y)):
        check(stream, number, expected, PLACES)
    assert not [entry for entry in stream.ledger() if entry.kind in ("weight", "update")]


class Unused(layers.Layer):
    """Has a second trainable variable that its call does not read."""

    def build(self, shape: tuple[int, ...]) -> None:
        self.used = self.add_weight(shape=(shape[-1], 2), name="used")
        self.unused = self.add_weight(shape=(2,), initializer="ones", name="unused")

    def call(self, x: tf.Tensor) -> tf.Tensor:
        return tf.matmul(x, tf.convert_to_tensor(self.used))


@pytest.mark.parametrize("policy", ["float32", "mixed_bfloat16", "mixed_float16"])
@pytest.mark.parametrize("run_eagerly", [False, True])
def test_reading_weights_out_of_reach_changes_nothing_and_casts_nothing(policy: str, run_eagerly: bool, tmp_path: Path) -> None:
    """Inside a layer's call Keras casts what is read, and the user's tape watches it."""
    x, y = numbers()
    watched: list[list[str]] = []

    class Trained(keras.Model):
        def __init__(self, inner: layers.Layer) -> None:
            super().__init__()
            self.run = lambda x: inner(x)

        def call(self, x: tf.Tensor) -> tf.Tensor:
            return self.run(x)

        def train_step(self, batch: Any) -> Any:
            x, y = batch
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.square(tf.cast(self(x, training=True), tf.float32) - y))
            variables = tape.watched_variables()
            watched.append([variable.name for variable in variables])
            for variable, gradient in zip(variables, tape.gradient(loss, variables), strict=True):
                variable.assign_sub(0.001 * gradient)
            return {"loss": loss}

    def trained(callbacks: list[Any]) -> Unused:
        keras.utils.set_random_seed(3)
        inner = Unused(name="inner", dtype=policy)
        inner.build((None, x.shape[-1]))
        model = Trained(inner)
        model.compile(run_eagerly=run_eagerly)
        model.fit(x, y, batch_size=len(y), epochs=2, shuffle=False, verbose=0, callbacks=callbacks)
        return inner

    alone = trained([])
    recorded = trained([layerflow.LayerFlow(tmp_path, every=1, what=("outputs", "errors", "weights"), values="all", strict=True)])
    assert [one.tobytes() for one in recorded.get_weights()] == [one.tobytes() for one in alone.get_weights()]
    assert len({tuple(names) for names in watched}) == 1
    stream = layerflow.open(tmp_path)
    before = stream.value("inner", "weight", step=1)
    assert before.dtype == np.float32
    after = np.asarray(alone.used)
    update = stream.statistics("update").series("inner", "l2")[1][-1]
    assert update == pytest.approx(np.linalg.norm(after - before), rel=1e-5)


def test_record_has_the_weights_as_they_are_once(tmp_path: Path) -> None:
    model = models.plain()
    x, y = models.samples(model, 200)
    stream = layerflow.record(model, tmp_path, x, y)
    kernel = model.get_layer("first").kernel.numpy()
    assert stream.statistics("weight").series("first", "l2")[1][0] == pytest.approx(np.linalg.norm(kernel), rel=1e-5)
    assert stream.statistics("weight").series("first", "count")[1][0] == kernel.size
    assert stream.histogram("first", "weight").counts.sum() == kernel.size
