"""A log is the same from its event files, through the data server and through TensorBoard's Python loader, with default flags."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tb_layerflow.log import event_writer, tags
from tb_layerflow.log import layerflow_pb2 as pb
from tb_layerflow.log.records import SCHEMA, Graph
from tb_layerflow.log.writer import StreamWriter
from tb_layerflow.reader import LogDir, PortPath, Stream
from tests import make
from tests.answers import client, get, get_json
from tests.loaders import Loader, RustBoard

GRAPH = make.siamese()
Open = Callable[..., Loader]


def begin(folder: Path, stream: str = "train", graph: Graph = GRAPH) -> StreamWriter:
    writer = StreamWriter(folder, stream)
    writer.write_graph(graph)
    return writer


def write(folder: Path, steps: range, stream: str = "train", graph: Graph = GRAPH, seed: int = 0, **fields: Any) -> None:
    writer = begin(folder, stream, graph)
    for step in steps:
        writer.write_record(make.record(graph, step, seed=step + seed, **fields))
    writer.close()


def only_stream(log: LogDir) -> Stream:
    (run,) = log.runs
    (stream,) = log.run(run).streams
    return log.run(run).stream(stream)


def told(stream: Stream) -> dict[str, object]:
    """All that a stream tells, as bytes where it is numbers."""
    records = vars(stream.records)
    found: dict[str, object] = {"graph": vars(stream.graph.record), "ledger": stream.ledger(), "written": stream.written}
    found |= {name: value.tobytes() if isinstance(value, np.ndarray) else repr(value) for name, value in records.items()}
    found["seams"] = stream.seams
    found["sessions"] = [(one.number, one.start, len(one.heads)) for one in stream.sessions]
    for kind in ("output", "input", "error"):
        statistics = stream.statistics(kind)
        found[kind] = (statistics.ports, statistics.values.tobytes(), statistics.part.tobytes())
    for step in stream.steps[[0, len(stream.steps) // 2, -1]] if len(stream.steps) else ():
        found[f"histogram {step}"] = stream.histogram("encoder#1/first_dense", "error", step=int(step)).counts.tobytes()
    return found


def assert_same(logdir: Path, shown: LogDir) -> None:
    """The log that TensorBoard shows is that of the event files."""
    files = LogDir(logdir)
    assert shown.runs == files.runs
    for run in files.runs:
        assert shown.run(run).streams == files.run(run).streams
        for stream in files.run(run).streams:
            assert told(shown.run(run).stream(stream)) == told(files.run(run).stream(stream))


def test_a_thousand_records_are_all_there_and_the_same(loader: Open, tmp_path: Path) -> None:
    write(tmp_path / "run", range(0, 2000, 2))
    log = LogDir(source=loader(tmp_path).source())
    stream = only_stream(log)
    assert stream.steps.tolist() == list(range(0, 2000, 2))
    assert (stream.written, stream.problems) == (1000, [])
    assert_same(tmp_path, log)


def test_resuming_five_steps_back_shows_the_newer_session_from_its_first_step_on(loader: Open, tmp_path: Path) -> None:
    write(tmp_path / "run", range(20))
    write(tmp_path / "run", range(15, 30), seed=500)
    log = LogDir(source=loader(tmp_path).source())
    stream = only_stream(log)
    assert stream.steps.tolist() == list(range(30))
    assert [(seam.step, seam.hidden) for seam in stream.seams] == [(15, 5)]
    row = make.own_rows(GRAPH).index((8, 0))
    expected = [make.tensors(make.own_rows(GRAPH), step + (500 if step >= 15 else 0))[row].max() for step in range(30)]
    assert stream.statistics().series("encoder#1/first_dense", "max")[1].tolist() == expected
    assert_same(tmp_path, log)


def test_a_train_and_a_probe_stream_grow_side_by_side(loader: Open, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    train, probe = begin(folder), begin(folder, "probe")
    opened = loader(tmp_path)
    log = LogDir(source=opened.source())
    for base in (0, 110, 220):
        for step in range(base, base + 110):
            train.write_record(make.record(GRAPH, step))
            if step % 10 == 0:
                probe.write_record(make.record(GRAPH, step, seed=step + 9, phase="inference"))
        train.flush()
        opened.refresh()
        log.refresh()
        assert len(log.run("run").stream("train").steps) == base + 110
        assert len(log.run("run").stream("probe").steps) == (base + 110) // 10
        assert_same(tmp_path, log)
    train.close()
    probe.close()


def test_only_the_block_that_grew_is_read_again(loader: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = begin(tmp_path / "run")
    for step in range(250):
        writer.write_record(make.record(GRAPH, step))
    writer.flush()
    opened = loader(tmp_path)
    read = opened.data_provider.read_tensors
    asked: list[str] = []

    def counted(*context: Any, **given: Any) -> Any:
        asked.extend(given["run_tag_filter"].tags)
        return read(*context, **given)

    monkeypatch.setattr(opened.data_provider, "read_tensors", counted)
    log = LogDir(source=opened.source())
    stream = only_stream(log)
    for kind in ("output", "error", "input"):
        stream.statistics(kind)
    assert sorted(tag.rpartition("/")[2] for tag in asked) == ["0", "1", "2"]
    asked.clear()
    writer.write_record(make.record(GRAPH, 250))
    writer.close()
    opened.refresh()
    log.refresh()
    assert len(stream.statistics().steps) == 251
    assert [tag.rpartition("/")[2] for tag in asked] == ["2"]


def test_an_empty_folder_has_no_runs_and_says_so(loader: Open, tmp_path: Path) -> None:
    answer = get_json(client(loader(tmp_path), tmp_path), "/streams")
    assert (answer["runs"], answer["problem"]) == ([], "Nothing that LayerFlow recorded is in this folder yet.")


def test_a_stream_without_a_record_shows_its_graph(loader: Open, tmp_path: Path) -> None:
    begin(tmp_path / "run").close()
    on = client(loader(tmp_path), tmp_path)
    (stream,) = get_json(on, "/streams")["runs"][0]["streams"]
    assert (stream["records"], stream["first_step"], stream["model"]) == (0, None, "siamese")
    assert len(get_json(on, "/graph", run="run", stream="train")["calls"]) == len(GRAPH.calls)
    assert get(on, "/series", run="run", stream="train", kind="output", column="mean").status_code == 200


@pytest.mark.parametrize("share", [0.01, 0.3, 0.5, 0.77, 0.999])
def test_a_file_cut_at_any_byte_is_read_up_to_it(loader: Open, tmp_path: Path, share: float) -> None:
    write(tmp_path / "run", range(30))
    (file,) = (tmp_path / "run").iterdir()
    whole = file.stat().st_size
    os.truncate(file, int(whole * share))
    assert_same_where_there_is_something(tmp_path, LogDir(source=loader(tmp_path).source()))


def assert_same_where_there_is_something(logdir: Path, shown: LogDir) -> None:
    files = LogDir(logdir)
    assert shown.runs == [run for run in files.runs if files.run(run).streams]
    for run in shown.runs:
        for stream in files.run(run).streams:
            theirs, ours = shown.run(run).stream(stream), files.run(run).stream(stream)
            assert theirs.steps.tolist() == ours.steps.tolist()
            assert theirs.statistics().values.tobytes() == ours.statistics().values.tobytes()


HOSTILE = ["a b", "ünï/çødé", "<img src=x onerror=alert(1)>", "50%2f#?&=+", "quote'", "-rf", "CON", "run" * 40, "${x}`y`"]


def test_hostile_names_of_runs_and_layers_arrive_unchanged(loader: Open, tmp_path: Path) -> None:
    graph = make.siamese()
    graph.model = "</script><script>alert(1)</script>"
    graph.calls[5].path = "encoder/%2F%23..%2F..%2Fetc"
    for number, name in enumerate(HOSTILE):
        write(tmp_path / name, range(number + 1), graph=graph)
    on = client(loader(tmp_path), tmp_path)
    answer = get_json(on, "/streams")
    assert [run["run"] for run in answer["runs"]] == sorted(HOSTILE)
    for number, name in enumerate(HOSTILE):
        (stream,) = next(run["streams"] for run in answer["runs"] if run["run"] == name)
        assert (stream["records"], stream["model"]) == (number + 1, graph.model)
        parameters = {"run": name, "stream": "train", "step": 0, "path": graph.calls[5].path, "kind": "output"}
        assert get_json(on, "/histogram", **parameters)["step"] == 0


def test_a_name_that_the_data_server_itself_refuses_harms_no_other_run(loader: Open, tmp_path: Path) -> None:
    write(tmp_path / 'quo"te', range(2))
    write(tmp_path / "well", range(3))
    opened = loader(tmp_path)
    quote, well = get_json(client(opened, tmp_path), "/streams")["runs"]
    assert (well["streams"][0]["model"], well["streams"][0]["problem"]) == ("siamese", "")
    assert (quote["run"], quote["streams"][0]["records"]) == ('quo"te', 2)
    refused = "start TensorBoard with --load_fast=false" in quote["streams"][0]["problem"]
    assert refused == isinstance(opened, RustBoard)


def test_a_log_of_a_newer_schema_opens_with_a_sentence(loader: Open, tmp_path: Path) -> None:
    write(tmp_path / "old", range(3))
    emit(tmp_path / "new", "statistics", 0, pb.Statistics(stamp=stamp(SCHEMA + 1)).SerializeToString())
    on = client(loader(tmp_path), tmp_path)
    new, old = get_json(on, "/streams")["runs"]
    assert (old["streams"][0]["records"], old["streams"][0]["problem"]) == (3, "")
    assert new["streams"][0]["records"] == 0
    assert f"This log has schema {SCHEMA + 1}" in new["streams"][0]["problem"]
    refused = get(on, "/graph", run="new", stream="train")
    assert refused.status_code == 422
    assert "pip install --upgrade tb-layerflow" in refused.text


def test_a_damaged_record_hides_no_other(loader: Open, tmp_path: Path) -> None:
    write(tmp_path / "run", range(3))
    emit(tmp_path / "run", "statistics", 3, b"\xff" * 50)
    emit(tmp_path / "run", "graph", 0, b"\xff" * 50)
    stream = LogDir(source=loader(tmp_path).source()).run("run").stream("train")
    assert stream.steps.tolist() == [0, 1, 2]
    assert "damaged" in " ".join(stream.problems)


def test_our_own_subfolder_counts_as_the_folder_that_people_named(loader: Open, tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "events.out.tfevents.1.other").touch()
    write(tmp_path / "run", range(3))
    log = LogDir(source=loader(tmp_path).source())
    assert log.runs == ["run"]
    assert only_stream(log).steps.tolist() == [0, 1, 2]


def test_records_that_the_users_own_flag_dropped_are_counted(loader: Open, tmp_path: Path) -> None:
    write(tmp_path / "run", range(250))
    opened = loader(tmp_path, samples_per_plugin="layerflow_statistics=20")
    (stream,) = get_json(client(opened, tmp_path), "/streams")["runs"][0]["streams"]
    assert (stream["records"], stream["written"], stream["last_step"]) == (60, 250, 249)
    assert "--samples_per_plugin" in stream["problem"]


def test_a_users_zero_keeps_all(loader: Open, tmp_path: Path) -> None:
    write(tmp_path / "run", range(250))
    opened = loader(tmp_path, samples_per_plugin="layerflow_statistics=0,layerflow=0")
    assert len(only_stream(LogDir(source=opened.source())).steps) == 250


def test_steps_may_be_negative_and_larger_than_a_browser_counts(loader: Open, tmp_path: Path) -> None:
    writer = begin(tmp_path / "run")
    for step in (-7, 0, 2**53 + 1):
        writer.write_record(make.record(GRAPH, step, seed=1, losses={}))
    writer.close()
    on = client(loader(tmp_path), tmp_path)
    (stream,) = get_json(on, "/streams")["runs"][0]["streams"]
    assert (stream["first_step"], stream["last_step"]) == (-7, str(2**53 + 1))
    assert get(on, "/record", run="run", stream="train", step=2**53 + 1).status_code == 200


def test_calls_that_one_trace_lacks_are_absent_at_its_steps(loader: Open, tmp_path: Path) -> None:
    smaller = make.siamese()
    smaller.calls.pop()
    smaller.calls[0].outputs = []
    writer = begin(tmp_path / "run")
    writer.write_graph(smaller)
    writer.write_record(make.record(GRAPH, 0))
    writer.write_record(make.record(smaller, 1, trace=1))
    writer.close()
    log = LogDir(source=loader(tmp_path).source())
    statistics = only_stream(log).statistics()
    subtract = statistics.values[:, statistics.ports.index(PortPath("subtract", 0)), 0]
    assert subtract[0] == 24
    assert np.isnan(subtract[1])
    assert_same(tmp_path, log)


def stamp(schema: int = SCHEMA) -> pb.Stamp:
    return pb.Stamp(schema=schema, stream="train", session=7, session_start=1)


def emit(folder: Path, kind: str, step: int, payload: bytes) -> None:
    """One event as somebody else, newer or broken, might have written it."""
    file = event_writer.attach(str(folder), "train")
    file.write(tags.Tag("train", 7, kind, 0 if kind in tags.TENSOR_KINDS else None), step, [payload])
    event_writer.detach(file, "train")


def test_two_different_logs_are_not_the_same(tmp_path: Path) -> None:
    write(tmp_path / "one" / "run", range(3))
    write(tmp_path / "two" / "run", range(3), seed=1)
    with pytest.raises(AssertionError):
        assert_same(tmp_path / "one", LogDir(tmp_path / "two"))
