"""What the user put on a model stays there and runs; what the user's own functions raise stops recording, not training."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

import tb_layerflow as layerflow
from tb_layerflow.capture.warn import LayerFlowWarning

X = np.random.default_rng(0).normal(size=(32, 6)).astype(np.float32)
Y = X.sum(1, keepdims=True)


def build(loss: str = "mse") -> keras.Model:
    keras.utils.set_random_seed(1)
    layers = [keras.Input((6,)), keras.layers.Dense(4, name="first"), keras.layers.Dense(1, name="last")]
    model = keras.Sequential(layers)
    model.compile("adam", loss)
    return model


def fit(model: keras.Model, *callbacks: Any, **options: Any) -> list[np.ndarray]:
    model.fit(X, Y, batch_size=8, verbose=0, shuffle=False, callbacks=list(callbacks), **options)
    return model.get_weights()


def callback(folder: Path, **options: Any) -> layerflow.LayerFlow:
    return layerflow.LayerFlow(folder, **{"every": 1, "values": "none", "what": ("outputs", "errors"), **options})


def steps(folder: Path, stream: str = "train") -> list[int]:
    return layerflow.reader.LogDir(folder).run(".").stream(stream).steps.tolist()


def same(one: list[np.ndarray], other: list[np.ndarray]) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def test_a_compute_loss_of_the_instances_own_stays(tmp_path: Path) -> None:
    def with_loss() -> keras.Model:
        model = build()
        model.compute_loss = lambda x=None, y=None, y_pred=None, *rest, **more: 10 * tf.reduce_mean(tf.abs(y - y_pred))
        return model

    recorded = with_loss()
    own = recorded.compute_loss
    assert same(fit(recorded, callback(tmp_path), epochs=2), fit(with_loss(), epochs=2))
    assert recorded.compute_loss is own


def test_a_watched_model_gets_its_own_method_back() -> None:
    model = build()
    own = model.train_on_batch = lambda *args: "mine"
    from tb_layerflow.capture.watched import Watched

    watched = Watched(model, {"train_on_batch": None})  # type: ignore[dict-item]
    assert model.train_on_batch is not own
    watched.release()
    assert model.train_on_batch is own


@pytest.mark.parametrize("made", ["function", "maker"])
def test_a_train_function_of_the_users_own_is_left_alone(made: str, tmp_path: Path) -> None:
    def with_function() -> keras.Model:
        model = build()

        @tf.function
        def train(iterator: Any) -> Any:
            x, y = next(iterator)
            model.layers[0].kernel.assign_add(0.01 * tf.ones_like(model.layers[0].kernel))
            return {"loss": tf.reduce_mean(tf.square(model(x) - y))}

        if made == "function":
            model.train_function = train
        else:
            model.make_train_function = lambda force=False: setattr(model, "train_function", train)
        return model

    recorded = with_function()
    with pytest.warns(LayerFlowWarning, match=r"not the one that Keras makes; .*Recorder\.function"):
        weights = fit(recorded, callback(tmp_path))
    assert same(weights, fit(with_function()))


def test_functions_that_all_run_eagerly_are_recorded_eagerly(tmp_path: Path) -> None:
    class BySign(keras.layers.Layer):
        def call(self, x: Any) -> Any:
            return x * float(np.sign(x.numpy().sum()) + 2) if tf.executing_eagerly() else x

    def with_layer() -> keras.Model:
        keras.utils.set_random_seed(1)
        model = keras.Sequential([keras.layers.Dense(3), BySign(name="by_sign"), keras.layers.Dense(1)])
        model.compile("sgd", "mse")
        return model

    tf.config.run_functions_eagerly(True)
    try:
        assert same(fit(with_layer(), callback(tmp_path)), fit(with_layer()))
    finally:
        tf.config.run_functions_eagerly(False)
    assert layerflow.open(tmp_path).execution().mode == "eager"


def test_an_every_that_raises_ends_recording_and_not_training(tmp_path: Path) -> None:
    with pytest.warns(LayerFlowWarning, match=r"`every` failed \(ZeroDivisionError"):
        weights = fit(build(), callback(tmp_path, every=lambda step: 1 / (step - 2)))
    assert same(weights, fit(build()))
    assert steps(tmp_path) == [0, 1]


def test_a_probe_that_cannot_run_does_not_end_the_training_stream(tmp_path: Path) -> None:
    with pytest.warns(LayerFlowWarning, match="The probe failed") as warned:
        fit(build(), callback(tmp_path, probe=(X[:, :5], Y)))
    assert len([one for one in warned if "probe" in str(one.message)]) == 1
    assert "\x1b" not in str(warned[0].message)
    assert steps(tmp_path) == [0, 1, 2, 3]


def test_a_nest_among_the_logs_is_recorded_by_its_keys(tmp_path: Path) -> None:
    class Nested(keras.Sequential):
        def train_step(self, data: Any) -> Any:
            return {**super().train_step(data), "more": {"one": 1.0}}

    model = Nested([keras.Input((6,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    fit(model, callback(tmp_path))
    losses = layerflow.open(tmp_path).records.losses
    assert losses["more/one"].tolist() == [1.0] * 4


def test_a_folder_that_is_removed_is_one_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Removes(keras.callbacks.Callback):
        def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
            if epoch == 0:
                shutil.rmtree(tmp_path / "log")

    with pytest.warns(LayerFlowWarning, match="was removed while it was being written"):
        weights = fit(build(), callback(tmp_path / "log"), Removes(), epochs=2)
    assert same(weights, fit(build(), epochs=2))


class FitsInside(keras.callbacks.Callback):
    """Fits a model at the end of the first epoch, with these callbacks."""

    def __init__(self, inner: keras.Model, callbacks: list[Any]) -> None:
        super().__init__()
        self.inner, self.callbacks = inner, callbacks

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        if epoch == 0:
            self.inner.fit(X, Y, batch_size=8, verbose=0, callbacks=self.callbacks)


def test_a_fit_within_a_fit_with_the_same_callback_leaves_the_outer_one_whole(tmp_path: Path) -> None:
    recording = callback(tmp_path)
    with pytest.warns(LayerFlowWarning, match="the inner one is not recorded"):
        fit(build(), recording, FitsInside(build("mae"), [recording]), epochs=2)
    stream = layerflow.open(tmp_path)
    assert stream.steps.tolist() == list(range(8))
    assert np.isfinite(stream.statistics("output").series("first", "l2")[1]).all()


def test_a_callback_that_is_listed_twice_is_refused_with_a_sentence(tmp_path: Path) -> None:
    recording = callback(tmp_path)
    with pytest.warns(LayerFlowWarning, match="listed more than once"):
        fit(build(), recording, recording)


def test_a_loop_of_the_models_own_is_recorded_whatever_its_variables_are_called(tmp_path: Path) -> None:
    class OwnLoop(keras.Sequential):
        def train(self, x: Any, y: Any, hooks: list[Any]) -> None:
            listed = keras.callbacks.CallbackList(hooks, model=self, epochs=1, steps=4, verbose=0)
            self.make_train_function()
            listed.on_train_begin()
            listed.on_epoch_begin(0)
            batches = iter(tf.data.Dataset.from_tensor_slices((x, y)).batch(8))
            for step in range(4):
                listed.on_train_batch_begin(step)
                listed.on_train_batch_end(step, self.train_function(batches))
            listed.on_train_end()

    model = OwnLoop([keras.Input((6,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    model.train(X, Y, [callback(tmp_path)])
    assert steps(tmp_path) == [0, 1, 2, 3]


@pytest.mark.parametrize("every", [np.int64(2), np.arange(0, 4, 2), {np.int64(0), 2}, range(0, 10**12, 2)], ids=str)
def test_every_takes_numpys_integers_and_long_ranges(every: Any, tmp_path: Path) -> None:
    fit(build(), callback(tmp_path, every=every))
    assert steps(tmp_path) == [0, 2]


class Contrast(keras.layers.Layer):
    """An operation for which TensorFlow has no gradient, and none is needed where no weights lie before it."""

    def call(self, x: tf.Tensor) -> tf.Tensor:
        pictures = tf.reshape(x, (-1, 1, 2, 3))
        return tf.reshape(tf.raw_ops.AdjustContrastv2(images=pictures, contrast_factor=2.0), (-1, 6))


class Doubling(keras.layers.Layer):
    """A loop whose number of turns XLA does not know: it cannot be differentiated there."""

    def call(self, x: tf.Tensor) -> tf.Tensor:
        return tf.while_loop(lambda x: tf.reduce_max(tf.abs(x)) < 9.0, lambda x: (2 * x,), [x])[0]


def behind(layer: keras.layers.Layer, **compiled: Any) -> keras.Model:
    keras.utils.set_random_seed(2)
    layers = [keras.Input((6,)), keras.layers.Rescaling(0.5, name="rescaling"), layer, keras.layers.Dense(1, name="last")]
    model = keras.Sequential(layers)
    model.compile("sgd", "mse", **compiled)
    return model


@pytest.mark.parametrize("run_eagerly", [False, True])
def test_an_operation_without_a_gradient_before_the_first_weights_ends_the_errors_alone(
    run_eagerly: bool, tmp_path: Path
) -> None:
    def made() -> keras.Model:
        return behind(Contrast(name="contrast"), run_eagerly=run_eagerly)

    alone, recorded = made(), made()
    kept = layerflow.summary.Values(samples=8, every=1)
    assert same(fit(recorded, callback(tmp_path, values=kept, strict=True)), fit(alone))
    stream = layerflow.open(tmp_path)
    outputs = {call.path: call.outputs[0].error for call in stream.graph.calls}
    assert (outputs["rescaling"], outputs["contrast"], outputs["last"]) == ("not connected", "", "")
    kernel = made().get_layer("last").kernel.numpy()
    np.testing.assert_allclose(
        stream.value("contrast", "error", step=0), stream.value("last", "error", step=0) @ kernel.T, rtol=1e-5
    )
    assert "errors end at operations without a gradient: AdjustContrastv2" in {entry.reason for entry in stream.ledger()}


def test_what_xla_cannot_compile_with_recording_is_trained_without(tmp_path: Path) -> None:
    alone, recorded = (behind(Doubling(name="doubling"), jit_compile=True) for _ in range(2))
    with pytest.warns(LayerFlowWarning, match="recording the step failed") as warned:
        assert same(fit(recorded, callback(tmp_path)), fit(alone))
    assert [str(one.message).count("\n") for one in warned if one.category is LayerFlowWarning] == [0]


def test_hooks_that_cannot_be_put_on_stop_recording_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tb_layerflow.capture import hooks

    def fails(*given: Any) -> None:
        raise AttributeError("another TensorFlow")

    monkeypatch.setattr(hooks, "_hook_tapes", fails)
    alone, recorded = build(), build()
    with pytest.warns(LayerFlowWarning, match="another TensorFlow"):
        assert same(fit(recorded, callback(tmp_path)), fit(alone))
