"""`layerflow doctor` says what is installed, how a log's steps execute, what is wrong with a logdir and what to do about it."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tb_layerflow import cli, doctor
from tb_layerflow.log.records import Execution
from tb_layerflow.log.writer import StreamWriter
from tests import make


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert cli.main(["doctor", *arguments]) == 0
    return capsys.readouterr().out


def written(folder: Path, steps: range, **execution: object) -> None:
    """A stream "train" of the siamese graph with records at these steps."""
    graph = make.siamese()
    graph.execution = Execution(mode="traced", **execution)  # type: ignore[arg-type]
    writer = StreamWriter(str(folder), "train")
    writer.write_graph(graph)
    for step in steps:
        writer.write_record(make.record(graph, step))
    writer.close()


def test_without_a_logdir_it_says_the_versions_the_plugin_and_the_loaders(capsys: pytest.CaptureFixture[str]) -> None:
    text = said(capsys)
    assert doctor.versions()["numpy"] in text
    assert "fast loader" in text
    assert "Python loader" in text
    assert ("tb_layerflow.plugin.loader:LayerFlowLoader" in text) == bool(doctor.plugins())


def test_it_says_how_the_step_of_a_log_executes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written(tmp_path, range(3), strategy="MirroredStrategy", replicas=2, dtype_policy="mixed_float16", traces=2,
            retraces=["another batch size"], tensorflow_version="2.21.0", devices=["CPU:0"])  # fmt: skip
    text = said(capsys, str(tmp_path))
    for part in ("3 records, steps 0 to 2", "executes traced", "MirroredStrategy, 2 replicas", "mixed_float16", "traced 2 times",
                 "retraced: another batch size", "TensorFlow 2.21.0 on CPU:0"):  # fmt: skip
        assert part in text
    assert doctor.problems(doctor.LogDir(tmp_path), str(tmp_path)) == []


def test_one_thing_is_one_thing_and_calls_are_counted_as_the_page_counts_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written(tmp_path, range(4, 5), traces=1)
    text = said(capsys, str(tmp_path))
    for part in ("1 record, step 4", "traced 1 time;", ": 5 calls, 4 layers; 1 thing skipped,"):
        assert part in text


def test_a_whole_log_of_a_training_that_went_wrong_says_how_many_findings_there_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    graph = make.siamese()
    broken = make.record(graph, 0)
    rows = make.own_rows(graph)
    broken.tables["output"] = make.table(rows, [np.array([np.nan, 1], np.float32)] * len(rows))
    writer = StreamWriter(tmp_path / "bad run", "train")
    writer.write_graph(graph)
    writer.write_record(broken)
    writer.close()
    *_, whole, told = said(capsys, str(tmp_path)).splitlines()
    assert whole == "Nothing is wrong with the log."
    assert re.fullmatch(r"About the training there (is|are) [0-9]+ findings?, [1-9][0-9]* of them failures: .*", told)
    command = shlex.split(told.partition(": ")[2])
    assert command[:3] == ["layerflow", "show", str(tmp_path)]
    assert cli.main(command[1:]) == 0
    assert "non_finite" in capsys.readouterr().out


def test_a_folder_without_records_has_the_line_that_starts_recording(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = said(capsys, str(tmp_path))
    assert "nothing that LayerFlow recorded is here" in text
    assert "callbacks=[" in text


def test_a_damaged_file_is_named_with_what_to_do(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written(tmp_path, range(5))
    (file,) = tmp_path.glob("*.layerflow")
    with file.open("ab") as end:
        end.write(b"\x01" * 40)
    text = said(capsys, str(tmp_path))
    assert file.name in text
    assert "→ What was written before it is shown" in text


def test_two_writers_in_one_folder_are_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written(tmp_path, range(2))
    (file,) = tmp_path.glob("*.layerflow")
    (tmp_path / "events.out.tfevents.1.host.1.0.v2").write_bytes(file.read_bytes())
    assert "two writers share the folder (events.out.tfevents.1.host.1.0.v2 is not ours)" in said(capsys, str(tmp_path))


def test_a_log_of_a_newer_schema_says_to_update(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from tb_layerflow.log import stamp

    written(tmp_path, range(2))
    monkeypatch.setattr(stamp, "SCHEMA", 0)
    text = said(capsys, str(tmp_path))
    assert "has schema 1" in text
    assert "→ Update the reader" in text


def test_a_second_installation_of_the_plugin_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "plugins", lambda: [doctor.PLUGIN] * 2)
    assert any("installed 2 times" in finding.what for finding in doctor.installation())
    monkeypatch.setattr(doctor, "plugins", list)
    assert any("does not find" in finding.what for finding in doctor.installation())


def test_it_imports_no_tensorflow() -> None:
    code = "import sys; from tb_layerflow import cli; cli.main(['doctor']); assert 'tensorflow' not in sys.modules, 'imported'"
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
