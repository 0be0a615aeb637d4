"""Nothing of LayerFlow's stays on a model, whatever raises, and nothing that goes wrong in recording stops training."""

from __future__ import annotations

import gc
import json
import shutil
import time
import warnings
import weakref
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

import tb_layerflow as layerflow
from tb_layerflow.capture import background, sink, statistics, variants, warn
from tb_layerflow.capture.recording import Recording
from tests import models

BATCH = 4
LAYER_CALL = keras.layers.Layer.__dict__["__call__"]
OPERATION_CALL = keras.Operation.__dict__["__call__"]
TAPE_GRADIENT = tf.GradientTape.__dict__["gradient"]


class Raises(keras.callbacks.Callback):
    """Raises in one of Keras's hooks, the third time."""

    def __init__(self, hook: str, error: type[BaseException]) -> None:
        super().__init__()
        self.times = 0

        def hooked(*args: Any, logs: Any = None) -> None:
            self.times += 1
            if self.times == 3:
                raise error("by another callback")

        setattr(self, hook, hooked)


def fit(model: keras.Model, *callbacks: Any, **options: Any) -> Any:
    x, y = models.samples(model)
    return model.fit(x, y, **{"batch_size": BATCH, "verbose": 0, "callbacks": list(callbacks), **options})


def assert_untouched(model: keras.Model, folder: Path) -> None:
    """The classes and layers are the originals, and a later plain fit runs Keras's own function and records nothing."""
    assert keras.layers.Layer.__dict__["__call__"] is LAYER_CALL
    assert keras.Operation.__dict__["__call__"] is OPERATION_CALL
    assert tf.GradientTape.__dict__["gradient"] is TAPE_GRADIENT
    for layer in model._flatten_layers():
        assert not {"call", "quantized_call", "compute_loss"} & set(vars(layer)), layer.name
    before = layerflow.open(folder).steps.tolist()
    fit(model)
    assert not hasattr(model.train_function, "_layerflow")
    assert layerflow.open(folder).steps.tolist() == before


@pytest.mark.parametrize("hook", ["on_train_batch_begin", "on_train_batch_end"])
@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
@pytest.mark.parametrize("is_first", [True, False])
def test_nothing_remains_after_another_callback_raised(hook: str, error: Any, is_first: bool, tmp_path: Path) -> None:
    model = models.plain()
    both = [layerflow.LayerFlow(tmp_path, every=1), Raises(hook, error)]
    with pytest.raises(error):
        fit(model, *(both if is_first else reversed(both)))
    drain_open_logs()
    assert_untouched(model, tmp_path)


def drain_open_logs() -> None:
    """Wait for what a fit that ended in an exception has still to write: Keras calls no hook for it."""
    for open_sink in list(sink._open_sinks):
        open_sink.drain()


@pytest.mark.parametrize("eagerly", [False, True])
def test_nothing_remains_after_the_data_raised(eagerly: bool, tmp_path: Path) -> None:
    model = models.plain(run_eagerly=eagerly)
    x, y = models.samples(model)

    class Batches(keras.utils.PyDataset):
        def __len__(self) -> int:
            return 4

        def __getitem__(self, index: int) -> Any:
            if index == 2:
                raise ValueError("by the data")
            return x[:BATCH], y[:BATCH]

    with pytest.raises(Exception, match="by the data"):
        model.fit(Batches(), verbose=0, shuffle=False, callbacks=[layerflow.LayerFlow(tmp_path, every=1)])
    drain_open_logs()
    assert_untouched(model, tmp_path)


def test_nothing_remains_after_validation_raised(tmp_path: Path) -> None:
    model = models.plain()
    with pytest.raises(Exception, match=r"[sS]hape|incompatible|[dD]imension"):
        fit(
            model,
            layerflow.LayerFlow(tmp_path, every=1),
            validation_data=(np.zeros((4, 9), np.float32), np.zeros((4, 1), np.float32)),
        )
    drain_open_logs()
    assert_untouched(model, tmp_path)


def test_nothing_remains_after_a_fit_that_went_well(tmp_path: Path) -> None:
    model = models.siamese()
    fit(model, layerflow.LayerFlow(tmp_path, every=1))
    assert_untouched(model, tmp_path)


def test_a_model_is_forgotten_when_its_user_forgets_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background, "IDLE_SECONDS", 0.1)
    model = models.plain()
    fit(model, layerflow.LayerFlow(tmp_path, every=1, probe=models.samples(model)))
    layer = weakref.ref(model.get_layer("first"))
    del model
    keras.backend.clear_session()
    until = time.monotonic() + 60
    while layer() is not None and time.monotonic() < until:
        time.sleep(0.2)
        gc.collect()
    assert layer() is None


def test_a_saved_model_is_the_same_with_and_without_the_callback(tmp_path: Path) -> None:
    model = models.plain()
    callback = layerflow.LayerFlow(tmp_path / "log", every=1)
    fit(model, callback, keras.callbacks.ModelCheckpoint(tmp_path / "within.keras", save_freq=2))
    plain = models.plain()
    fit(plain)
    model.save(tmp_path / "after.keras")
    after, within = (keras.saving.load_model(tmp_path / f"{name}.keras") for name in ("after", "within"))
    assert json.dumps(after.get_config()) == json.dumps(within.get_config()) == json.dumps(plain.get_config())
    for found, expected in zip(within.get_weights(), plain.get_weights(), strict=True):
        np.testing.assert_array_equal(found, expected)


# ------------------------------------------------------------------------------------------ recording never stops training


def history_and_weights(model: keras.Model, *callbacks: Any, **options: Any) -> list[Any]:
    history = fit(model, *callbacks, **options).history
    return [*history.values(), *(variable.numpy() for variable in [*model.variables, *model.optimizer.variables])]


def assert_trains_as_without(build: Any, *callbacks: Any, **options: Any) -> None:
    for found, expected in zip(
        history_and_weights(build(), *callbacks, **options), history_and_weights(build(), **options), strict=True
    ):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("eagerly", [False, True])
@pytest.mark.parametrize(
    ("module", "name"),
    [(statistics, "measure"), (variants, "conclude"), (Recording, "_begin"), (Recording, "_end"), (Recording, "_note_error")],
)
def test_a_failure_in_recording_is_one_warning_and_the_step_runs_exactly_once(
    eagerly: bool, module: Any, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*args: Any, **kwargs: Any) -> None:
        raise RuntimeError("deliberately")

    monkeypatch.setattr(module, name, fails)
    with pytest.warns(warn.LayerFlowWarning) as warned:
        assert_trains_as_without(lambda: models.counting(run_eagerly=eagerly), layerflow.LayerFlow(tmp_path, every=1))
    assert [str(warning.message) for warning in warned if "LayerFlow" in str(warning.message)] == [
        "LayerFlow: recording the step failed (RuntimeError: deliberately). Recording is off; training goes on."
    ]


def test_a_failing_probe_is_one_warning(tmp_path: Path) -> None:
    probe = (np.zeros((4, 9), np.float32), np.zeros((4, 1), np.float32))
    with pytest.warns(UserWarning, match="The probe failed") as warned:
        assert_trains_as_without(models.plain, layerflow.LayerFlow(tmp_path, every=1, probe=probe))
    assert len([warning for warning in warned if "LayerFlow" in str(warning.message)]) == 1


def test_strict_raises_what_would_have_been_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statistics, "measure", lambda *args, **kwargs: 1 / 0)
    with pytest.raises(RuntimeError, match="recording the step failed"):
        fit(models.plain(), layerflow.LayerFlow(tmp_path, every=1, strict=True))


def test_a_failure_of_the_users_own_step_is_raised_as_it_is(tmp_path: Path) -> None:
    class Failing(keras.layers.Layer):
        armed = False

        def call(self, numbers: Any) -> Any:
            if self.armed:
                raise ArithmeticError("in the user's layer")
            return numbers

    for name, eagerly in [("traced", False), ("eager", True)]:
        symbol = keras.Input((models.WIDTH,))
        model = keras.Model(symbol, keras.layers.Dense(1)(Failing(name="failing")(symbol)))
        model.get_layer("failing").armed = True
        model.compile("sgd", "mse", run_eagerly=eagerly)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(ArithmeticError, match="in the user's layer"):
                model.fit(
                    np.zeros((8, models.WIDTH)), np.zeros((8, 1)), verbose=0, callbacks=[layerflow.LayerFlow(tmp_path / name)]
                )


def test_a_folder_that_cannot_be_written_is_one_warning_and_training_goes_on(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in its place")
    with pytest.warns(UserWarning, match="cannot be written") as warned:
        assert_trains_as_without(models.plain, layerflow.LayerFlow(tmp_path / "file" / "log", every=1))
    assert len([warning for warning in warned if "LayerFlow" in str(warning.message)]) == 1


def test_a_full_disk_is_one_warning_and_training_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Full(sink.FastRecords):
        written = 0

        def write(self, record: bytes) -> None:
            Full.written += 1
            if Full.written > 4:
                raise OSError(28, "No space left on device")
            super().write(record)

    monkeypatch.setattr(sink, "FastRecords", Full)
    with pytest.warns(UserWarning, match="No space left on device") as warned:
        assert_trains_as_without(models.plain, layerflow.LayerFlow(tmp_path, every=1), epochs=3)
    assert len([warning for warning in warned if "LayerFlow" in str(warning.message)]) == 1
    assert len(layerflow.open(tmp_path).steps) >= 1, "what was written before stays readable"


def test_a_folder_that_is_removed_after_a_fit_is_used_again_without_a_word(tmp_path: Path) -> None:
    model = models.siamese()
    first, second = (layerflow.LayerFlow(tmp_path / "run", every=1, strict=True) for _ in range(2))
    with warnings.catch_warnings():
        warnings.simplefilter("error", warn.LayerFlowWarning)
        fit(model, first)
        shutil.rmtree(tmp_path / "run")
        fit(model, second)
    assert len(layerflow.open(tmp_path / "run").steps)
