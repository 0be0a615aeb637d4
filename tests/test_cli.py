"""The command, as people run it: what it prints, and that whatever goes wrong is one sentence and exit code 2."""

from __future__ import annotations

import functools
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tb_layerflow import cli, show
from tb_layerflow.log import text
from tb_layerflow.log.records import BUCKETS, Op
from tb_layerflow.log.writer import StreamWriter
from tests import make
from tests.loaders import wait_until

GRAPH = make.siamese()
ROWS = make.own_rows(GRAPH)


@pytest.fixture
def logdir(tmp_path: Path) -> Path:
    for stream, steps in (("train", (0, 10, 20)), ("probe", (0, 20))):
        writer = StreamWriter(tmp_path / "siamese", stream)
        writer.write_graph(GRAPH)
        for step in steps:
            writer.write_record(make.record(GRAPH, step))
        writer.close()
    return tmp_path


def printed(capsys: pytest.CaptureFixture[str], *arguments: object) -> list[str]:
    assert cli.main([str(argument) for argument in arguments]) == 0
    return capsys.readouterr().out.splitlines()


def refused(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    assert cli.main([str(argument) for argument in arguments]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.count("\n") == 1
    return told.err


def cells(line: str) -> list[str]:
    return re.split(r" {2,}", line)


def test_show_lists_runs_and_streams_with_their_steps(logdir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = printed(capsys, "show", logdir)
    assert [cells(line) for line in out[:3]] == [
        ["run", "stream", "model", "records", "steps", "sessions"],
        ["siamese", "train", "siamese", "3", "0 … 20", "1"],
        ["siamese", "probe", "siamese", "2", "0 … 20", "1"],
    ]


def test_show_prints_the_newest_figures_of_every_call(logdir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = printed(capsys, "show", logdir, "--stream", "train")
    (line,) = (cells(line) for line in out if line.startswith("encoder#1/first_dense"))
    output, error = (make.tensors(ROWS, seed)[ROWS.index((8, 0))] for seed in (20, 21))
    assert line[1:3] == ["Dense", "(?, 4)"]
    expected = [output.mean(), output.std(), output.min(), output.max()]
    assert line[3:7] == [f"{float(np.float32(figure)):.5g}" for figure in expected]
    assert line[7] == f"{(output == 0).mean():.1%}"
    assert line[9] == f"{float(np.sqrt(np.square(error).sum())):.5g}"
    assert [cells(line)[0] for line in out[-len(GRAPH.calls) :]] == [call.path for call in GRAPH.calls]


def test_show_takes_a_step_and_leaves_out_streams_without_it(logdir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = printed(capsys, "show", logdir, "--step", 10)
    assert [line.split(" · ")[:3] for line in out if line.startswith("siamese · ")] == [["siamese", "train", "step 10"]]


def test_what_would_steer_a_terminal_is_printed_as_an_escape(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    evil = "\x1b]0;owned\x07\u202e"
    graph = make.siamese()
    graph.model, graph.execution.mode, graph.execution.retraces = evil, "traced", [evil]
    graph.ops[0].name = graph.calls[8].type = evil
    writer = StreamWriter(tmp_path / f"run{evil}", "train")
    writer.write_graph(graph)
    writer.write_record(make.record(graph, 0, losses={evil: 1.0}))
    writer.close()
    for command in (("show", tmp_path), ("doctor", tmp_path), ("ops", tmp_path, "encoder/first_dense")):
        cli.main([str(argument) for argument in command])
        told = capsys.readouterr()
        assert "\\x1b]0;owned\\x07\\u202e" in told.out
        assert all(letter.isprintable() or letter == "\n" for letter in told.out)
    told = refused(capsys, "value", tmp_path, "encoder/first_dense", "--run", evil)
    assert all(letter.isprintable() or letter == "\n" for letter in told)


@pytest.mark.parametrize("seconds", [float("nan"), float("inf"), 1e300, -1e18])
def test_a_time_that_no_calendar_has_is_said_to_be_unknown(seconds: float) -> None:
    assert text.moment(seconds) == "at an unknown time"
    assert re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9:]{8}", text.moment(1.7e9))


def test_ops_without_a_call_lists_the_calls_with_their_operations(logdir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = printed(capsys, "ops", logdir)
    rows = {cells(line)[0]: cells(line)[1:] for line in out[2 : 2 + len(GRAPH.calls)]}
    assert list(rows) == [call.path for call in GRAPH.calls]
    assert rows["encoder/first_dense"] == ["Dense", "1"]
    assert rows["encoder"] == ["Sequential", "1"]
    assert rows["."] == ["Functional", "1"]
    assert rows["encoder#1/first_dense"] == ["Dense", "0"]


def test_ops_takes_its_call_before_and_after_the_options(logdir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    orders = (("encoder/first_dense", "--stream", "train"), ("--stream", "train", "encoder/first_dense"))
    before, after = (printed(capsys, "ops", logdir, *order) for order in orders)
    assert before == after and "forward: 1" in before
    with pytest.raises(SystemExit):
        cli.main(["ops", str(logdir), "encoder", "--stream", "train", "encoder#1"])
    assert "unrecognized arguments: encoder#1" in capsys.readouterr().err


def test_ops_of_a_bucket_are_those_of_no_call(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graph = make.siamese()
    graph.ops += [Op("mean", "Mean", bucket="loss"), Op("square", "Square", bucket="loss")]
    writer = StreamWriter(tmp_path, "train")
    writer.write_graph(graph)
    writer.write_record(make.record(graph, 0))
    writer.close()
    counted = dict(cells(line)[::2] for line in printed(capsys, "ops", tmp_path) if line.startswith("--bucket"))
    assert counted == {f"--bucket {name}": "2" if name == "loss" else "0" for name in BUCKETS}
    out = printed(capsys, "ops", tmp_path, "--bucket", "loss")
    assert "forward: 2" in out and [cells(line)[0] for line in out[-2:]] == ["Mean", "Square"]
    assert cli.main(["ops", str(tmp_path), "encoder", "--bucket", "loss"]) == 2
    assert "of a call or of a bucket" in capsys.readouterr().err


@pytest.mark.parametrize("port", ["-5", "70000", "web"])
def test_a_port_that_is_none_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str], port: str) -> None:
    with pytest.raises(SystemExit):
        cli.main(["view", str(tmp_path), f"--port={port}"])
    assert f"must be a whole number from 0 to 65535. Received: '{port}'." in capsys.readouterr().err


def test_whatever_a_log_causes_is_a_sentence(
    logdir: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(show, "lines", lambda *_: 1 / 0)
    assert "This log could not be read (ZeroDivisionError: division by zero). Please report it" in refused(capsys, "show", logdir)


def test_show_says_where_numbers_are_not_finite(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = make.record(GRAPH, 0)
    record.tables["output"] = make.table(ROWS, [np.array([np.nan, np.inf, 1, 0], np.float32)] * len(ROWS))
    writer = StreamWriter(tmp_path, "train")
    writer.write_graph(GRAPH)
    writer.write_record(record)
    writer.close()
    (line,) = (cells(line) for line in printed(capsys, "show", tmp_path) if line.startswith("left"))
    assert line[3:9] == ["nan", "nan", "nan", "nan", "25.0%", "50.0%"]


def test_names_cannot_steer_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graph = make.siamese()
    graph.calls[1].name = graph.calls[1].path = "left\x1b[2J\r"
    writer = StreamWriter(tmp_path, "train")
    writer.write_graph(graph)
    writer.write_record(make.record(graph, 0))
    writer.close()
    out = "\n".join(printed(capsys, "show", tmp_path))
    assert r"left\x1b[2J\r" in out
    assert "\x1b" not in out


def test_wrong_names_are_answered_with_what_there_is(logdir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "has no run 'siames'. Its runs: siamese." in refused(capsys, "show", logdir, "--run", "siames")
    wrong_stream = refused(capsys, "show", logdir, "--run", "siamese", "--stream", "test")
    assert "no stream 'test'. Its streams: train, probe." in wrong_stream
    assert "No run has a stream 'test'" in refused(capsys, "show", logdir, "--stream", "test")
    assert "no record at step 7. The nearest: 0, 10, 20." in refused(capsys, "show", logdir, "--step", 7)


def test_a_folder_that_is_empty_or_not_there_gets_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "There are no LayerFlow records below this folder." in refused(capsys, "show", tmp_path)
    for command in ("show", "view"):
        assert "There is no folder" in refused(capsys, command, tmp_path / "nothing")


def test_an_empty_event_file_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "events.out.tfevents.1.host.layerflow").touch()
    assert "events.out.tfevents.1.host.layerflow is empty." in refused(capsys, "show", tmp_path)


def test_a_truncated_log_is_shown_up_to_the_cut_and_says_so(logdir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = max((logdir / "siamese").iterdir(), key=lambda file: file.stat().st_size)
    file.write_bytes(file.read_bytes()[:-5])
    out = printed(capsys, "show", logdir)
    assert any(line.startswith("! ") and "ends in the middle of a record" in line for line in out)


def test_an_unknown_command_lists_those_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        cli.main(["shwo"])
    assert all(command.name in capsys.readouterr().err for command in cli.COMMANDS[:1])


def test_a_pipe_that_closes_early_is_no_error(logdir: Path) -> None:
    command = f"{sys.executable} -m tb_layerflow.cli show {logdir} | head -1"
    answer = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, check=False)
    assert (answer.returncode, answer.stderr) == (0, "")


def test_show_imports_no_tensorflow(logdir: Path) -> None:
    program = f"import sys; from tb_layerflow import cli; cli.main(['show', {str(logdir)!r}])\nprint('tensorflow' in sys.modules)"
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert answer.stdout.splitlines()[-1] == "False"


def test_view_serves_the_tab_at_the_address_that_it_prints(logdir: Path) -> None:
    command = [sys.executable, "-m", "tb_layerflow.cli", "view", str(logdir), "--port", "0"]
    streams: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
    heeding = functools.partial(signal.signal, signal.SIGINT, signal.SIG_DFL)  # what a shell runs behind itself ignores it
    with subprocess.Popen(command, preexec_fn=heeding, **streams) as view:
        try:
            assert view.stdout is not None
            address = re.fullmatch(r"LayerFlow is at (http://localhost:\d+/)#layerflow\n", view.stdout.readline())
            assert address is not None
            listed = lambda: urllib.request.urlopen(f"{address[1]}data/plugin/layerflow/streams").read()  # noqa: E731
            wait_until(lambda: b'"stream":"probe"' in listed())
            view.send_signal(signal.SIGINT)
            assert view.wait(60) == 0
        finally:
            view.kill()


def test_view_on_a_port_in_use_says_so(logdir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("localhost", 0))
        taken.listen()
        port = taken.getsockname()[1]
        answer = subprocess.run(
            [sys.executable, "-m", "tb_layerflow.cli", "view", str(logdir), "--port", str(port)],
            capture_output=True, text=True, check=False, timeout=240,
        )  # fmt: skip
    assert answer.returncode == 2
    assert f"TensorBoard could not start: TensorBoard could not bind to port {port}" in answer.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    ("figure", "text"), [(None, "-"), (float("nan"), "nan"), (0.0, "0"), (123456.0, "1.2346e+05"), (-0.00123456, "-0.0012346")]
)
def test_numbers_have_five_significant_digits(figure: float | None, text: str) -> None:
    assert show.number(figure) == text


def test_columns_are_as_wide_as_their_widest_cell() -> None:
    assert show.table(("call", "mean"), [("a", "1"), ("longer", "-12.5")], "<>") == [
        "call     mean",
        "a           1",
        "longer  -12.5",
    ]
