"""The stream writer: one file per folder and process, rising steps, and files that TensorBoard understands."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest
from tensorboard.backend.event_processing.event_file_loader import RawEventFileLoader
from tensorboard.compat.proto import event_pb2, summary_pb2, types_pb2

from tb_layerflow import reader
from tb_layerflow.log.records import Manifest, Record
from tb_layerflow.log.writer import StreamWriter
from tests import make

GRAPH = make.siamese()


def event_files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*tfevents*"))


def events(path: Path) -> list[event_pb2.Event]:
    return [event_pb2.Event.FromString(raw) for raw in RawEventFileLoader(str(path)).Load()]


def test_tensorboards_own_loader_reads_what_was_written(tmp_path: Path) -> None:
    writer = StreamWriter(tmp_path, "train")
    assert (writer.last_step, writer.write_graph(GRAPH), writer.write_graph(GRAPH)) == (None, 0, 1)
    writer.write_record(make.record(GRAPH, 4, trace=1))
    writer.write_manifest(Manifest(4, 1, "x.npz"))
    writer.flush()
    first, *rest = events(event_files(tmp_path)[0])
    assert first.file_version == "brain.Event:2"
    prefix = f"layerflow/train/{writer.session:08x}/"
    tags = [(event.step, event.summary.value[0].tag) for event in rest]
    assert tags == [(0, prefix + "graph"), (1, prefix + "graph"), (4, prefix + "histograms"), (4, prefix + "statistics/0"),
                    (4, prefix + "values/0")]  # fmt: skip
    classes = [event.summary.value[0].metadata.data_class for event in rest]
    blob, tensor = summary_pb2.DATA_CLASS_BLOB_SEQUENCE, summary_pb2.DATA_CLASS_TENSOR
    assert classes == [blob, blob, blob, tensor, tensor]
    shapes = [[dim.size for dim in event.summary.value[0].tensor.tensor_shape.dim] for event in rest]
    assert shapes == [[2], [2], [1], [], []]
    assert {event.summary.value[0].tensor.dtype for event in rest} == {types_pb2.DT_STRING}
    writer.close()


def test_a_hundred_records_share_a_block(tmp_path: Path) -> None:
    writer = StreamWriter(tmp_path, "train")
    writer.write_graph(GRAPH)
    for step in range(0, 606, 3):
        writer.write_record(Record(step, 0))
    writer.close()
    blocks = [event.summary.value[0].tag.rsplit("/", 1)[1] for event in events(event_files(tmp_path)[0])[2:]]
    assert blocks == ["0"] * 100 + ["1"] * 100 + ["2"] * 2


def test_the_streams_of_a_folder_share_one_file(tmp_path: Path) -> None:
    train, probe = StreamWriter(tmp_path, "train"), StreamWriter(tmp_path, "probe")
    for writer in (train, probe):
        writer.write_graph(GRAPH)
    train.close()
    probe.write_record(Record(0, 0))
    probe.close()
    (path,) = event_files(tmp_path)
    assert path.name.endswith(".layerflow")
    assert str(os.getpid()) in path.name
    assert [len(reader.LogDir(tmp_path).run(".").stream(name).steps) for name in ("train", "probe")] == [0, 1]
    assert train.session != probe.session


def test_a_second_writer_of_a_stream_is_refused_while_one_is_attached(tmp_path: Path) -> None:
    first = StreamWriter(tmp_path, "train")
    with pytest.raises(ValueError, match=r"Another recorder is writing stream 'train' to .* Received: stream=.train.\."):
        StreamWriter(tmp_path / "." / "x" / "..", "train")
    first.close()
    first.close()
    StreamWriter(tmp_path, "train").close()
    assert [path.name.endswith(".layerflow") for path in event_files(tmp_path)] == [True, True]


def test_a_folder_with_another_writers_file_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "events.out.tfevents.1.host").write_bytes(b"")
    writer = StreamWriter(tmp_path, "train")
    assert writer.folder == str(tmp_path / "layerflow")
    assert len(writer.notes) == 1
    assert "because" in writer.notes[0]
    assert "events.out.tfevents.1.host" in writer.notes[0]
    writer.write_graph(GRAPH)
    writer.write_record(make.record(GRAPH, 1))
    writer.close()
    assert reader.LogDir(tmp_path).runs == ["."]
    assert reader.open(tmp_path).steps.tolist() == [1]


def test_our_own_earlier_files_are_not_another_writers(tmp_path: Path) -> None:
    StreamWriter(tmp_path, "train").close()
    writer = StreamWriter(tmp_path, "train")
    assert (writer.folder, writer.notes) == (str(tmp_path), [])
    writer.close()


def test_a_step_that_does_not_rise_is_refused(tmp_path: Path) -> None:
    writer = StreamWriter(tmp_path, "train")
    writer.write_graph(GRAPH)
    writer.write_record(Record(5, 0))
    for step in (5, 4):
        with pytest.raises(ValueError, match=rf"after 5 at least 6\. Received: {step}\."):
            writer.write_record(Record(step, 0))
    with pytest.raises(ValueError, match=r"a number that write_graph returned\. Received: 1\."):
        writer.write_record(Record(6, 1))
    assert writer.last_step == 5
    writer.close()
    with pytest.raises(ValueError, match="The writer of stream 'train' is closed"):
        writer.write_record(Record(7, 0))


def test_a_value_file_lies_below_the_runs_plugins(tmp_path: Path) -> None:
    writer = StreamWriter(tmp_path, "train")
    expected = tmp_path / "plugins" / "layerflow" / f"train-{writer.session:08x}-40.npz"
    assert writer.value_path(40) == str(expected)
    writer.close()


def test_the_fast_writer_is_used_where_one_is_given(tmp_path: Path) -> None:
    class Kept:
        def __init__(self, path: str) -> None:
            self.path, self.records, self.calls = path, [], []
            Path(path).touch()

        def write(self, record: bytes) -> None:
            self.records.append(record)

        def flush(self) -> None:
            self.calls.append("flush")

        def close(self) -> None:
            self.calls.append("close")

    opened: list[Kept] = []

    def open_records(path: str) -> Kept:
        opened.append(Kept(path))
        return opened[-1]

    writer = StreamWriter(tmp_path, "train", open_records=open_records)
    writer.write_graph(GRAPH)
    writer.close()
    (kept,) = opened
    assert len(kept.records) == 2
    assert kept.calls == ["flush", "close"]


def test_a_write_that_fails_is_an_oserror_then_and_after(tmp_path: Path) -> None:
    class Full:
        def __init__(self, path: str) -> None:
            self.room = 2
            Path(path).touch()

        def write(self, record: bytes) -> None:
            self.room -= 1
            if self.room < 0:
                raise OSError(28, "No space left on device")

        def flush(self) -> None: ...

        def close(self) -> None: ...

    writer = StreamWriter(tmp_path, "train", open_records=Full)
    writer.write_graph(GRAPH)
    for _ in range(2):
        with pytest.raises(OSError, match="No space left on device"):
            writer.write_record(Record(0, 0))
    writer.close()


def test_a_folder_that_cannot_be_made_is_an_oserror(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match=r"Not a directory|File exists"):
        StreamWriter(tmp_path / "file" / "run", "train")


def test_two_threads_write_whole_records(tmp_path: Path) -> None:
    writers = [StreamWriter(tmp_path, name) for name in ("a", "b")]

    def work(writer: StreamWriter) -> None:
        writer.write_graph(GRAPH)
        for step in range(40):
            writer.write_record(make.record(GRAPH, step))

    threads = [threading.Thread(target=work, args=(writer,)) for writer in writers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for writer in writers:
        writer.close()
    run = reader.LogDir(tmp_path).run(".")
    assert [run.stream(name).steps.tolist() for name in run.streams] == [list(range(40))] * 2
    assert run.problems == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_writes_a_file_and_a_session_of_its_own(tmp_path: Path) -> None:
    writer = StreamWriter(tmp_path, "train")
    writer.write_graph(GRAPH)
    writer.write_record(make.record(GRAPH, 0))
    child = os.fork()
    if child == 0:
        try:
            writer.write_record(make.record(GRAPH, 1))
            writer.close()
            os._exit(0)
        finally:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
    writer.write_record(make.record(GRAPH, 2))
    writer.close()
    assert len(event_files(tmp_path)) == 2
    stream = reader.open(tmp_path)
    assert [[head.record.step for head in session.heads] for session in stream.sessions] == [[0, 2], [1]]
    assert stream.problems == []
