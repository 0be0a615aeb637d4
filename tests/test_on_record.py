"""`on_record`, `stop_on`, `printer`, and the mirror for TensorBoard's own tabs, in real trainings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.util import tensor_util

import tb_layerflow as layerflow
from tests import models


def fitted(callback: Any, *, rate: float = 0.01, epochs: int = 2, count: int = 64) -> keras.Model:
    model = models.plain(optimizer=keras.optimizers.SGD(rate))
    model.fit(*models.samples(model, count), batch_size=8, epochs=epochs, shuffle=False, verbose=0, callbacks=[callback])
    return model


def test_on_record_is_called_with_each_record_and_sees_what_the_log_holds(tmp_path: Path) -> None:
    seen = []

    def on_record(record: Any) -> None:
        table = record.statistics("output")
        seen.append((record.stream, record.step, table.series("first", "l2")[1][0]))

    fitted(layerflow.LayerFlow(tmp_path, every=4, on_record=on_record))
    steps, numbers = layerflow.open(tmp_path).statistics("output").series("first", "l2")
    assert seen == [("train", step, number) for step, number in zip(steps.tolist(), numbers.tolist(), strict=True)]
    assert steps.tolist() == [0, 4, 8, 12]


def test_training_stops_on_the_first_number_that_is_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fitted(layerflow.LayerFlow(tmp_path, every=1, on_record=layerflow.summary.stop_on("non_finite")), rate=1e20, epochs=60)
    stream = layerflow.open(tmp_path)
    first = stream.findings()[0]
    assert (first.rule, first.step) == ("non_finite", 1)
    assert stream.steps[-1] < 400
    assert capsys.readouterr().err.count("training stops, by what step 1 shows: the output of") == 1


def test_stop_on_knows_its_rules() -> None:
    with pytest.raises(ValueError, match="Received: 'nan'"):
        layerflow.summary.stop_on("nan")


def test_a_callable_that_raises_is_one_warning_and_recording_goes_on(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="on_record.*not called again|Observer failed at step 0"):
        fitted(layerflow.LayerFlow(tmp_path, every=4, on_record=lambda record: 1 / 0))
    assert len(layerflow.open(tmp_path).steps) == 4


def test_the_printer_shows_shapes_and_statistics_of_the_chosen_calls(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fitted(layerflow.LayerFlow(tmp_path, every=8, on_record=layerflow.summary.printer("fir*")))
    lines = capsys.readouterr().out.splitlines()
    mean = layerflow.open(tmp_path).statistics("output").series("first", "mean")[1][0]
    assert lines[0].startswith("train · step 0 · loss ") and lines[1] == "  first (Dense)"
    assert any(line.startswith("    output") and f"mean {mean:.5g} " in line for line in lines)
    assert not any("last" in line for line in lines)


def test_the_printer_shows_the_first_exact_numbers_that_a_record_keeps(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fitted(layerflow.LayerFlow(tmp_path, every=8, on_record=layerflow.summary.printer("first")))
    lines = capsys.readouterr().out.splitlines()
    stream = layerflow.open(tmp_path)
    for kind in ("input", "output", "error"):
        numbers = stream.value("first", kind=kind, step=0)[0].reshape(-1)
        after = lines[next(place for place, line in enumerate(lines) if line.startswith(f"    {kind}")) + 1]
        shown = np.array([float(word) for word in after.replace("…", "").split()], np.float32)
        np.testing.assert_array_equal(shown, numbers[: len(shown)])
        assert len(shown) == min(len(numbers), 6)
    assert sum(line.startswith("           ") for line in lines) == 3  # the second record keeps none


def test_the_mirror_writes_what_people_know_into_tensorboards_own_tabs_by_epoch(tmp_path: Path) -> None:
    model = models.plain()
    x, y = models.samples(model, 64)
    callback = layerflow.LayerFlow(tmp_path, probe=(x, y), every="epoch", mirror=("scalars", "histograms"))
    fitted(callback, epochs=3)
    events = EventAccumulator(str(tmp_path), size_guidance={"tensors": 0})
    events.Reload()
    run = layerflow.reader.LogDir(tmp_path).run(".")
    expected = {
        "LayerResidual/first": run.stream("train").statistics("error").series("first", "l2")[1],
        "LayerLoss/first": [row.loss for row in run.stream("probe").losses() if row.path == "first"],
        "LayerLoss/last": [row.loss for row in run.stream("probe").losses() if row.path == "last"],
    }
    for tag, numbers in expected.items():
        points = events.Tensors(tag)
        assert [point.step for point in points] == [0, 1, 2]
        assert [float(tensor_util.make_ndarray(point.tensor_proto)) for point in points] == pytest.approx(numbers, rel=1e-6)
        assert events.SummaryMetadata(tag).plugin_data.plugin_name == "scalars"
    kernel = tensor_util.make_ndarray(events.Tensors("first/kernel")[0].tensor_proto)
    assert events.SummaryMetadata("first/kernel").plugin_data.plugin_name == "histograms"
    assert kernel[:, 2].sum() == models.WIDTH * 3 and (np.diff(kernel[:, 0]) >= 0).all()
    assert run.stream("train").statistics("weight").series("first", "min")[1][0] == pytest.approx(kernel[0, 0], rel=1e-6)


def test_what_cannot_be_mirrored_is_refused() -> None:
    with pytest.raises(ValueError, match="Received: 'sounds'"):
        layerflow.LayerFlow("logs", mirror=("sounds",))
