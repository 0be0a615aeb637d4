"""Runs, streams and sessions: what is found below a folder, who hides whom, what grows, and what is wrong."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tensorboard.compat.proto import event_pb2, summary_pb2

from tb_layerflow import reader
from tb_layerflow.log import layerflow_pb2 as pb
from tb_layerflow.log import tags
from tb_layerflow.log.records import Record
from tb_layerflow.log.writer import StreamWriter
from tests import make
from tests.test_log_events import framed

GRAPH = make.siamese()


def write(folder: Path, steps: list[int], stream: str = "train", seed: int = 0) -> int:
    writer = StreamWriter(folder, stream)
    writer.write_graph(GRAPH)
    for step in steps:
        writer.write_record(make.record(GRAPH, step, seed=seed))
    writer.close()
    return writer.session


def event_file(folder: Path) -> Path:
    return sorted(folder.glob("*tfevents*"))[-1]


def test_a_newer_session_hides_the_older_ones_records_from_its_first_step_on(tmp_path: Path) -> None:
    write(tmp_path, [0, 5, 10, 15], seed=1)
    second = write(tmp_path, [10, 12], seed=2)
    stream = reader.open(tmp_path)
    assert stream.steps.tolist() == [0, 5, 10, 12]
    assert stream.seams == [(10, second, 2)]
    assert [session.number for session in stream.sessions][1] == second
    l2 = stream.statistics("output").series("subtract", "l2")[1]
    place = [GRAPH.calls[call].path for call, _ in make.own_rows(GRAPH)].index("subtract")
    expected = [np.linalg.norm(make.tensors(make.own_rows(GRAPH), seed)[place].astype(float)) for seed in (1, 1, 2, 2)]
    np.testing.assert_allclose(l2, expected, rtol=1e-5)
    assert stream.histogram("subtract", step=10).zero == (make.tensors(make.own_rows(GRAPH), 2)[place] == 0).sum()
    assert stream.records.trace.tolist() == [0, 0, 1, 1]
    assert (stream.written, stream.problems) == (4, [])


def test_a_third_session_that_goes_further_back_hides_both(tmp_path: Path) -> None:
    for steps in ([0, 5, 10], [8, 9], [3, 20]):
        last = write(tmp_path, steps)
    stream = reader.open(tmp_path)
    assert stream.steps.tolist() == [0, 3, 20]
    assert stream.seams == [(3, last, 3)]


def test_a_session_without_records_hides_nothing(tmp_path: Path) -> None:
    write(tmp_path, [0, 5])
    write(tmp_path, [])
    assert reader.open(tmp_path).steps.tolist() == [0, 5]


def test_a_stream_that_grows_is_read_on(tmp_path: Path) -> None:
    writer = StreamWriter(tmp_path, "train")
    writer.write_graph(GRAPH)
    log = reader.LogDir(tmp_path)
    stream = log.run(".").stream("train")
    seen = []
    for step in range(0, 240, 40):
        for inner in range(step, step + 40):
            writer.write_record(Record(inner, 0))
        if step == 200:
            writer.write_record(make.record(GRAPH, 240))
        writer.flush()
        log.refresh()
        seen.append(len(stream.steps))
    writer.close()
    assert seen == [40, 80, 120, 160, 200, 241]
    assert stream is log.run(".").stream("train")
    assert np.isnan(stream.statistics().series("subtract", "mean")[1]).sum() == 240


def test_runs_and_streams_are_listed_by_name(tmp_path: Path) -> None:
    for folder, stream in (("a", "train"), ("a", "probe"), ("a", "zeta"), ("b/c", "manual")):
        write(tmp_path / folder, [0], stream)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "events.out.tfevents.1.host").write_bytes(framed(event_pb2.Event(step=1)))
    log = reader.LogDir(tmp_path)
    assert log.runs == ["a", "b/c"]
    assert log.run("a").streams == ["train", "probe", "zeta"]
    with pytest.raises(KeyError, match=r"has no run 'd'\. Its runs: a, b/c"):
        log.run("d")
    with pytest.raises(KeyError, match=r"Run 'a' has no stream 'test'\. Its streams: train, probe, zeta"):
        log.run("a").stream("test")


def test_open_takes_the_only_stream_and_lists_them_where_there_are_several(tmp_path: Path) -> None:
    write(tmp_path / "a", [3])
    assert reader.open(tmp_path).steps.tolist() == [3]
    assert reader.open(tmp_path / "a").run == "."
    write(tmp_path / "a", [3], "probe")
    with pytest.raises(ValueError, match=r"has 2 streams; choose one:\n.*run\('a'\)\.stream\('train'\)\n.*stream\('probe'\)"):
        reader.open(tmp_path)


def test_open_says_what_is_wrong_with_a_folder(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="holds nothing that LayerFlow recorded"):
        reader.open(tmp_path)
    with pytest.raises(FileNotFoundError, match="There is no folder"):
        reader.open(tmp_path / "none")
    (tmp_path / "events.out.tfevents.1.host.2.3.layerflow").write_bytes(b"")
    with pytest.raises(ValueError, match=r"holds nothing that LayerFlow recorded\. The event file .* is empty"):
        reader.open(tmp_path)


def test_a_runs_own_subfolder_is_part_of_the_run(tmp_path: Path) -> None:
    write(tmp_path / "resnet", [0, 5])
    (tmp_path / "resnet" / "events.out.tfevents.1.host").write_bytes(b"")
    second = write(tmp_path / "resnet", [5, 6])
    assert (tmp_path / "resnet" / "layerflow").is_dir()
    log = reader.LogDir(tmp_path)
    assert log.runs == ["resnet"]
    stream = log.run("resnet").stream("train")
    assert stream.steps.tolist() == [0, 5, 6]
    assert stream.seams == [(5, second, 1)]


def test_a_log_that_is_cut_is_read_up_to_the_cut_and_says_so(tmp_path: Path) -> None:
    write(tmp_path, [0, 5, 10])
    path = event_file(tmp_path)
    path.write_bytes(path.read_bytes()[:-100])
    stream = reader.open(tmp_path)
    assert stream.steps.tolist() == [0, 5]
    assert len(stream.problems) == 1
    assert "ends in the middle of a record" in stream.problems[0]


def test_a_damaged_record_is_left_out_and_named(tmp_path: Path) -> None:
    write(tmp_path, [0, 5, 10])
    path = event_file(tmp_path)
    raw = path.read_bytes()
    place = raw.rindex(b"\x06output")
    path.write_bytes(raw[:place] + b"\x7f" + raw[place + 1 :])
    stream = reader.open(tmp_path)
    assert np.isnan(stream.statistics().series("subtract", "mean")[1]).tolist() == [False, False, True]
    assert len(stream.problems) == 1
    assert "A table is damaged" in stream.problems[0]
    assert "step 10" in stream.problems[0]


def test_a_newer_schema_is_a_problem_and_no_crash(tmp_path: Path) -> None:
    raw = pb.Statistics(stamp=pb.Stamp(schema=7, version="3.0", stream="train", session=1), step=4).SerializeToString()
    value = summary_pb2.Summary.Value(tag=str(tags.Tag("train", 1, "statistics", 0)))
    value.tensor.string_val.append(raw)
    event = event_pb2.Event(step=4, summary=summary_pb2.Summary(value=[value]))
    (tmp_path / "events.out.tfevents.1.h.layerflow").write_bytes(framed(event))
    stream = reader.open(tmp_path)
    assert stream.steps.tolist() == []
    assert "This log has schema 7, written by LayerFlow 3.0" in stream.problems[0]
    with pytest.raises(ValueError, match="has no graph that can be read: This log has schema 7"):
        _ = stream.graph


def test_lost_records_are_counted(tmp_path: Path) -> None:
    session = write(tmp_path, [0, 1, 2, 3])
    path = event_file(tmp_path)
    file = reader.EventFiles(tmp_path)
    tag = str(tags.Tag("train", session, "statistics", 0))
    (entry,) = [entry for _, entry in file._entries["."][tag] if entry.step == 1]
    raw = path.read_bytes()
    path.write_bytes(raw[: entry.position - 12] + raw[entry.position + entry.length + 4 :])
    stream = reader.open(tmp_path)
    assert (stream.steps.tolist(), stream.written) == ([0, 2, 3], 4)
    assert f"1 of 4 records of session {session:08x} are not there" in stream.problems[0]


def test_records_whose_graph_is_lost_are_named(tmp_path: Path) -> None:
    write(tmp_path, [0, 1])
    path = event_file(tmp_path)
    file = reader.EventFiles(tmp_path)
    (entry,) = [entry for tag, pairs in file._entries["."].items() if tag.endswith("/graph") for _, entry in pairs]
    raw = path.read_bytes()
    path.write_bytes(raw[: entry.position - 12] + raw[entry.position + entry.length + 4 :])
    stream = reader.open(tmp_path)
    assert stream.steps.tolist() == [0, 1]
    assert stream.statistics().values.shape[:2] == (2, 0)
    assert "graph 0 of session" in stream.problems[0]


def test_links_that_lead_in_circles_end(tmp_path: Path) -> None:
    write(tmp_path / "a", [0])
    (tmp_path / "a" / "again").symlink_to(tmp_path)
    assert reader.LogDir(tmp_path).runs == ["a"]


class Counting(reader.EventFiles):
    """Event files that count what is asked of them."""

    def __init__(self, folder: Path) -> None:
        self.asked: list[str] = []
        super().__init__(folder)

    def tensors(self, run: str, tag: str) -> list[reader.Stored]:
        self.asked.append(tag.split("/")[3])
        return super().tensors(run, tag)

    def blob(self, run: str, tag: str, step: int, index: int) -> bytes:
        self.asked.append(f"{tag.split('/')[3]} {index}")
        return super().blob(run, tag, step, index)


def test_nothing_is_read_before_it_is_asked_for(tmp_path: Path) -> None:
    write(tmp_path, [0, 5])
    source = Counting(tmp_path)
    stream = reader.LogDir(source=source).run(".").stream("train")
    assert source.asked == []
    assert stream.steps.tolist() == [0, 5]
    assert source.asked == ["statistics"]
    assert len(stream.graph.calls) == 10
    assert source.asked == ["statistics", "graph 0"]
    stream.statistics("output")
    stream.statistics("output")
    assert source.asked == ["statistics", "graph 0", "statistics"]
    stream.histogram("subtract", step=0)
    assert source.asked[3:] == ["histograms 0", "statistics"]
