"""Event files: found events, and files that are cut, damaged, growing or somebody else's."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest
from tensorboard.compat.proto import event_pb2, summary_pb2, tensor_pb2, types_pb2
from tensorboard.compat.tensorflow_stub.pywrap_tensorflow import masked_crc32c

from tb_layerflow._reader.source import EventFiles
from tb_layerflow.log.errors import LogError
from tb_layerflow.log.events import EventFile
from tb_layerflow.log.writer import StreamWriter
from tests import make


def framed(event: event_pb2.Event) -> bytes:
    raw = event.SerializeToString()
    head = struct.pack("<Q", len(raw))
    return head + struct.pack("<I", masked_crc32c(head)) + raw + struct.pack("<I", masked_crc32c(raw))


def written(folder: Path, steps: int = 3) -> Path:
    writer = StreamWriter(folder, "train")
    graph = make.siamese()
    writer.write_graph(graph)
    for step in range(steps):
        writer.write_record(make.record(graph, step))
    writer.close()
    return next(folder.glob("*tfevents*"))


def test_every_event_is_found_with_step_and_time(tmp_path: Path) -> None:
    entries = EventFile(str(written(tmp_path))).read_on()
    kinds = [entry.tag.split("/", 3)[3] for entry in entries]
    assert kinds == ["graph"] + ["histograms", "statistics/0"] * 3
    assert [entry.step for entry in entries] == [0, 0, 0, 1, 1, 2, 2]
    assert all(1.7e9 < entry.wall_time < 1e10 for entry in entries)


def test_a_negative_step_stays_negative(tmp_path: Path) -> None:
    value = summary_pb2.Summary.Value(tag="layerflow/train/00000001/graph")
    event = event_pb2.Event(step=-3, wall_time=5.0, summary=summary_pb2.Summary(value=[value]))
    (tmp_path / "events").write_bytes(framed(event))
    (entry,) = EventFile(str(tmp_path / "events")).read_on()
    assert (entry.step, entry.wall_time) == (-3, 5.0)


def test_a_file_cut_at_any_byte_is_read_up_to_it(tmp_path: Path) -> None:
    path = written(tmp_path, steps=1)
    whole = path.read_bytes()
    entries = EventFile(str(path)).read_on()
    cut = tmp_path / "cut"
    for size in [*range(1, 80), *range(80, len(whole), 7)]:
        cut.write_bytes(whole[:size])
        file = EventFile(str(cut))
        found = file.read_on()
        assert found == [entry for entry in entries if entry.position + entry.length + 4 <= size]
        ends = {40} | {entry.position + entry.length + 4 for entry in entries}
        assert ("ends in the middle of a record" in file.problem) == (size not in ends)


def test_an_event_that_is_no_record_is_named_and_costs_only_itself(tmp_path: Path) -> None:
    path = written(tmp_path)
    log = EventFiles(tmp_path)
    (tag,) = (tag for tag in log.tags(".") if "/statistics/" in tag)
    whole = [one.step for one in log.tensors(".", tag)]
    tensor = tensor_pb2.TensorProto(dtype=types_pb2.DT_FLOAT, float_val=[1, 2])
    value = summary_pb2.Summary.Value(tag=tag, tensor=tensor)
    with path.open("ab") as file:
        file.write(framed(event_pb2.Event(step=77, summary=summary_pb2.Summary(value=[value]))))
    log.refresh()
    assert [one.step for one in log.tensors(".", tag)] == whole
    assert log.problems(".") == [f"The event of {tag} at step 77 holds 0 strings instead of one: it is not read."]


def test_a_growing_file_is_read_on(tmp_path: Path) -> None:
    path = written(tmp_path)
    whole = path.read_bytes()
    growing = tmp_path / "growing"
    file, found = EventFile(str(growing)), []
    for size in range(0, len(whole) + 400, 400):
        growing.write_bytes(whole[:size])
        found += file.read_on()
    assert found == EventFile(str(path)).read_on()
    assert file.problem == ""
    assert file.read_on() == []


def test_a_damaged_length_ends_the_reading(tmp_path: Path) -> None:
    path = written(tmp_path)
    raw = bytearray(path.read_bytes())
    entries = EventFile(str(path)).read_on()
    raw[entries[2].position - 12] ^= 1
    path.write_bytes(raw)
    file = EventFile(str(path))
    assert file.read_on() == entries[:2]
    assert f"is damaged at byte {entries[2].position - 12:,}" in file.problem
    assert file.read_on() == []
    assert "is damaged" in file.problem


def test_a_huge_length_reads_nothing(tmp_path: Path) -> None:
    head = struct.pack("<Q", 2**63)
    (tmp_path / "events").write_bytes(head + struct.pack("<I", masked_crc32c(head)) + bytes(100))
    file = EventFile(str(tmp_path / "events"))
    assert file.read_on() == []
    assert "ends in the middle of a record" in file.problem


@pytest.mark.parametrize(("content", "problem"), [(b"", "is empty"), (b"not an event file", "is damaged at byte 0")])
def test_what_is_no_event_file_is_a_problem(tmp_path: Path, content: bytes, problem: str) -> None:
    (tmp_path / "events").write_bytes(content)
    file = EventFile(str(tmp_path / "events"))
    assert file.read_on() == []
    assert problem in file.problem


def test_a_file_that_is_not_there_is_a_problem(tmp_path: Path) -> None:
    file = EventFile(str(tmp_path / "none"))
    assert file.read_on() == []
    assert "cannot be read: No such file or directory" in file.problem


def test_a_file_that_became_shorter_is_a_problem(tmp_path: Path) -> None:
    path = written(tmp_path)
    file = EventFile(str(path))
    entries = file.read_on()
    path.write_bytes(path.read_bytes()[:100])
    assert file.read_on() == []
    assert "became shorter" in file.problem
    with pytest.raises(LogError, match="is damaged: the event of step 2"):
        list(file.strings([entries[-1]]))


def test_other_plugins_events_are_passed_over(tmp_path: Path) -> None:
    path = written(tmp_path, steps=1)
    own = path.read_bytes()
    others = [summary_pb2.Summary.Value(tag=tag, simple_value=1.0) for tag in ("loss", "x" * 300, "a/layerflow/train/b")]
    noise = b"".join(framed(event_pb2.Event(step=7, summary=summary_pb2.Summary(value=[value]))) for value in others)
    path.write_bytes(noise + own + noise)
    assert [entry.step for entry in EventFile(str(path)).read_on()] == [0, 0, 0]


def test_what_was_written_is_what_is_carried(tmp_path: Path) -> None:
    file = EventFile(str(written(tmp_path, steps=1)))
    graph, histograms, statistics = file.strings(file.read_on())
    assert [len(strings) for strings in (graph, histograms, statistics)] == [2, 1, 1]
    assert np.frombuffer(statistics[0], np.uint8).size > 100
