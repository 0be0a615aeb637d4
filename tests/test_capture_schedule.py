"""When and what: `every`, `layers`, `what`, `statistics`, `stream`, several fits, several callbacks, resuming."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

import tb_layerflow as layerflow
from tb_layerflow.capture import schedule
from tb_layerflow.capture.warn import LayerFlowWarning
from tests import models

pytestmark = pytest.mark.filterwarnings("ignore:Your input ran out of data")  # Keras 3.3 says so after every unknown end

BATCH = 2
STEPS = 8


def fit(model: keras.Model, *callbacks: Any, epochs: int = 2, **options: Any) -> keras.callbacks.History:
    """Sixteen steps: two epochs of eight."""
    x, y = models.samples(model, STEPS * BATCH)
    return model.fit(x, y, epochs=epochs, batch_size=BATCH, verbose=0, callbacks=list(callbacks), **options)


def steps(folder: Path, stream: str = "train") -> list[int]:
    return layerflow.reader.LogDir(folder).run(".").stream(stream).steps.tolist()


@pytest.mark.parametrize(
    ("every", "expected"),
    [
        ("auto", list(range(16))),
        (5, [0, 5, 10, 15]),
        (range(3, 16, 6), [3, 9, 15]),
        ({1, 14, 99}, [1, 14]),
        (lambda step: step == 7, [7]),
        ("epoch", [7, 15]),
    ],
)
def test_every_says_which_steps_are_recorded(every: Any, expected: list[int], tmp_path: Path) -> None:
    model = models.plain()
    fit(model, layerflow.LayerFlow(tmp_path, every=every, probe=models.samples(model, 4)))
    assert steps(tmp_path) == expected
    assert steps(tmp_path, "probe") == expected
    epochs = layerflow.reader.LogDir(tmp_path).run(".").stream("train").records.epoch
    assert epochs.astype(int).tolist() == [step // STEPS for step in expected]


def test_auto_is_early_steps_then_about_two_hundred_and_doubles_past_a_thousand() -> None:
    auto = schedule.Schedule("auto")
    auto.begin_fit(0, 100_000)
    due = []
    for step in range(100_000):
        if auto.is_due(step, 1):
            due.append(step)
            auto.recorded()
    assert due[:8] == [0, 1, 2, 5, 10, 20, 50, 500]
    assert 200 <= len(due) <= 210
    endless = schedule.Schedule("auto")
    endless.begin_fit(0, None)
    due = []
    for step in range(200_000):
        if endless.is_due(step, 1):
            due.append(step)
            endless.recorded()
    assert np.diff(due[10:900]).tolist() == [100] * 889
    assert np.diff(due[1100:]).min() == 200


def test_the_end_of_an_epoch_of_unknown_length_is_recorded_once_the_length_is_known(tmp_path: Path) -> None:
    model = models.plain()
    x, y = models.samples(model, STEPS * BATCH)
    endless = tf.data.Dataset.from_tensor_slices((x, y)).filter(lambda *_: True).batch(BATCH)
    callback = layerflow.LayerFlow(tmp_path, every="epoch", probe=(x, y))
    model.fit(endless, epochs=3, verbose=0, callbacks=[callback])
    assert steps(tmp_path) == [15, 23]
    assert steps(tmp_path, "probe") == [7, 15, 23]
    ledger = layerflow.reader.LogDir(tmp_path).run(".").stream("train").ledger()
    assert [entry.step for entry in ledger if "epoch 0" in entry.reason] == [7]


def test_a_dataset_of_unknown_length_is_recorded_step_by_step(tmp_path: Path) -> None:
    model = models.plain()
    x, y = models.samples(model, STEPS * BATCH)
    endless = tf.data.Dataset.from_tensor_slices((x, y)).filter(lambda *_: True).batch(BATCH)
    with_callback = model.fit(endless, epochs=2, verbose=0, callbacks=[layerflow.LayerFlow(tmp_path, every=1)]).history
    assert with_callback == models.plain().fit(endless, epochs=2, verbose=0).history
    assert steps(tmp_path) == list(range(16))


BREAKS_OFF = not hasattr(keras.Model, "_autoconvert_optionals")
"""Keras 3.3 breaks off an execution in which the data ends: it is not recorded, and the ledger says so."""


@pytest.mark.parametrize(
    ("every", "expected", "where_it_breaks_off"),
    [
        (1, [2, 5, 7, 10, 13, 15], [2, 5, 10, 13]),
        (5, [2, 7, 13], [2, 13]),
        ("epoch", [7, 15], [5, 13]),
        ({4}, [5], [5]),
    ],
)
def test_of_the_steps_of_one_execution_the_last_is_recorded(
    every: Any, expected: list[int], where_it_breaks_off: list[int], tmp_path: Path
) -> None:
    """Two epochs of eight steps, three to an execution: 0 1 2, 3 4 5, 6 7; 8 9 10, 11 12 13, 14 15."""
    history = fit(models.plain(steps_per_execution=3), layerflow.LayerFlow(tmp_path, every=every), epochs=2).history
    assert steps(tmp_path) == (where_it_breaks_off if BREAKS_OFF else expected)
    assert history == fit(models.plain(steps_per_execution=3), epochs=2).history
    said = [entry.reason for entry in layerflow.open(tmp_path).ledger() if entry.reason.startswith("the last 2 of an epoch's 8")]
    assert len(said) == BREAKS_OFF


def test_executions_of_several_steps_over_a_dataset_of_unknown_length_leave_training_as_it_is(tmp_path: Path) -> None:
    def fitted(*callbacks: Any) -> Any:
        model = models.plain(steps_per_execution=3)
        x, y = models.samples(model, STEPS * BATCH)
        endless = tf.data.Dataset.from_tensor_slices((x, y)).filter(lambda *_: True).batch(BATCH)
        return model.fit(endless, epochs=2, verbose=0, callbacks=list(callbacks)).history

    assert fitted(layerflow.LayerFlow(tmp_path, every=1)) == fitted()
    assert steps(tmp_path) == ([8, 11] if BREAKS_OFF else [2, 5, 7, 10, 13, 15])


def test_two_fits_with_one_callback_go_on_counting(tmp_path: Path) -> None:
    model = models.plain()
    callback = layerflow.LayerFlow(tmp_path, every=4)
    fit(model, callback)
    fit(model, callback)
    assert steps(tmp_path) == list(range(0, 32, 4))
    assert len(layerflow.open(tmp_path).sessions) == 1


def test_two_fits_with_two_callbacks_are_two_sessions_of_one_stream(tmp_path: Path) -> None:
    model = models.plain()
    fit(model, layerflow.LayerFlow(tmp_path, every=4))
    fit(model, layerflow.LayerFlow(tmp_path, every=4))
    assert steps(tmp_path) == list(range(0, 32, 4))
    assert len(layerflow.open(tmp_path).sessions) == 2


def test_training_resumed_from_a_checkpoint_hides_what_was_recorded_after_it(tmp_path: Path) -> None:
    model = models.plain()
    fit(model, layerflow.LayerFlow(tmp_path / "log", every=1), epochs=1)
    model.save(tmp_path / "checkpoint.keras")
    fit(model, layerflow.LayerFlow(tmp_path / "log", every=1), epochs=1)
    resumed = keras.saving.load_model(tmp_path / "checkpoint.keras")
    fit(resumed, layerflow.LayerFlow(tmp_path / "log", every=2), epochs=1)
    assert steps(tmp_path / "log") == [*range(8), 8, 10, 12, 14]
    assert layerflow.open(tmp_path / "log").seams[-1].hidden == 8


def test_two_callbacks_record_side_by_side_each_what_it_chose(tmp_path: Path) -> None:
    model = models.plain()
    fit(
        model,
        layerflow.LayerFlow(tmp_path, every=4),
        layerflow.LayerFlow(tmp_path, every=6, stream="outs", what="outputs", layers="last"),
    )
    run = layerflow.reader.LogDir(tmp_path).run(".")
    assert steps(tmp_path) == [0, 4, 8, 12]
    assert steps(tmp_path, "outs") == [0, 6, 12]
    assert [path for path, _ in run.stream("outs").statistics("output").ports] == [".", "last"]
    assert run.stream("outs").statistics("error").ports == []
    assert {path for path, _ in run.stream("train").statistics("error").ports} == {".", "first", "last"}
    assert len(list(tmp_path.glob("events.*"))) == 1, "one event file per folder and process"


def every_form_of_layers(model: keras.Model) -> list[tuple[Any, set[str]]]:
    first = {"encoder/first_dense", "encoder#1/first_dense"}
    second = {"encoder/second_dense", "encoder#1/second_dense"}
    return [
        ("first_dense", first),
        ("encoder#1/first_dense", {"encoder#1/first_dense"}),
        ("encoder#1/*", {"encoder#1/first_dense", "encoder#1/second_dense"}),
        ("**/*_dense", first | second),
        (model.get_layer("encoder").get_layer("first_dense"), first),
        (keras.layers.Subtract, {"distance"}),
        (lambda layer: layer.name.startswith("second"), second),
        (["verdict", keras.layers.Subtract], {"verdict", "distance"}),
    ]


@pytest.mark.parametrize("form", range(8))
def test_layers_chooses_by_name_path_glob_object_class_or_rule(form: int, tmp_path: Path) -> None:
    model = models.siamese()
    layers, expected = every_form_of_layers(model)[form]
    x, y = models.samples(model)
    stream = layerflow.record(model, tmp_path, x, y, layers=layers)
    with_groups = {"encoder", "encoder#1", "."}
    assert {path for path, _ in stream.statistics("error").ports} - with_groups == expected
    assert len(stream.graph.calls) == 11, "the structure is always whole"
    assert any(entry.reason == "not selected" for entry in stream.ledger())


def test_an_unknown_layer_name_is_one_warning_with_the_nearest_and_strict_makes_it_an_error(tmp_path: Path) -> None:
    model = models.siamese()
    x, y = models.samples(model)
    with pytest.warns(LayerFlowWarning, match=r"no call of 'siamese' matches 'frist_dense'.*encoder/first_dense") as warned:
        fit(model, layerflow.LayerFlow(tmp_path / "log", layers=["frist_dense", "verdict"], every=4))
    assert len(warned) == 1
    assert steps(tmp_path / "log") == [0, 4, 8, 12]
    with pytest.raises(RuntimeError, match="frist_dense"):
        layerflow.record(model, tmp_path / "record", x, y, layers="frist_dense", strict=True)
    with pytest.raises(RuntimeError, match="frist_dense"):
        fit(model, layerflow.LayerFlow(tmp_path / "strict", layers="frist_dense", strict=True))


def test_a_fit_in_which_nothing_was_due_says_so(tmp_path: Path) -> None:
    with pytest.warns(LayerFlowWarning, match="0 records"):
        fit(models.plain(), layerflow.LayerFlow(tmp_path, every={1000}), epochs=1)


def test_streams_have_the_names_that_were_given(tmp_path: Path) -> None:
    model = models.plain()
    x, y = models.samples(model)
    fit(model, layerflow.LayerFlow(tmp_path, stream="mine", probe=(x, y), every=8))
    assert layerflow.record(model, tmp_path, x, y, stream="once", step=3).steps.tolist() == [3]
    assert layerflow.reader.LogDir(tmp_path).run(".").streams == ["mine", "mine_probe", "once"]


class ByLength(keras.Model):
    """Runs one layer or another by the length of its input, which is known when the step is traced."""

    def __init__(self) -> None:
        super().__init__()
        self.short = keras.layers.Dense(2, name="short")
        self.long = keras.layers.Dense(3, name="long")

    def call(self, x: Any) -> Any:
        return tf.reduce_mean(self.short(x) if x.shape[1] == 2 else self.long(x), [1, 2])


def test_of_several_traces_the_one_that_ran_is_told(tmp_path: Path) -> None:
    model = ByLength()
    inputs = [np.ones((4, length, 3), np.float32) for length in (2, 5)]
    for x in inputs:
        model(x)
    model.compile("sgd", "mse")
    callback = layerflow.LayerFlow(tmp_path, every=1, values="none")
    for number in (0, 1, 0, 1):
        model.fit(inputs[number], np.zeros(4, np.float32), batch_size=4, verbose=0, callbacks=[callback])
    stream = layerflow.open(tmp_path)
    ran = [[name for name in ("short", "long") if stream.graph_at(step).find(name)] for step in stream.steps]
    assert ran == [["short"], ["long"], ["short"], ["long"]]
