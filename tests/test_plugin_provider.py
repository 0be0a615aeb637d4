"""The data provider as a source, where it fails or is slow: a stand-in that answers as TensorBoard's providers were seen to."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tensorboard import errors

from tb_layerflow.log.errors import LogError
from tb_layerflow.plugin.logs import MOST_OPEN, Logs
from tb_layerflow.plugin.provider import ProviderSource

BLOCK = "layerflow/train/0000000a/statistics/{}"
GRAPH = "layerflow/train/0000000a/graph"


class Stand:
    """One run: three blocks of tensors, and a graph of one blob. Its methods may be replaced by tests."""

    def __init__(self) -> None:
        self.listings = 0

    def list_tensors(self, ctx: Any, *, experiment_id: str, plugin_name: str) -> Any:
        self.listings += 1
        return {"run": {BLOCK.format(block): series(block * 100 + 99) for block in range(3)} | {"scalars/loss": series(1)}}

    def list_blob_sequences(self, ctx: Any, *, experiment_id: str, plugin_name: str) -> Any:
        return {"run": {GRAPH: series(0)}, "other": {"not/ours": series(0)}}

    def read_tensors(self, ctx: Any, *, experiment_id: str, plugin_name: str, downsample: int, run_tag_filter: Any) -> Any:
        (tag,) = run_tag_filter.tags
        points = [SimpleNamespace(step=step, wall_time=1.0, numpy=np.array(b"x", object)) for step in (2, 1)]
        return {"run": {tag: points}}

    def read_blob_sequences(self, ctx: Any, **given: Any) -> Any:
        return {"run": {GRAPH: [SimpleNamespace(step=0, values=[SimpleNamespace(blob_key="key")])]}}

    def read_blob(self, ctx: Any, *, blob_key: str) -> bytes:
        return b"graph"


def series(newest: int) -> Any:
    return SimpleNamespace(max_step=newest, max_wall_time=1.0)


def source(stand: Stand) -> ProviderSource:
    return ProviderSource(stand, None, "")


def test_only_runs_and_tags_of_ours_are_listed() -> None:
    listed = source(Stand())
    assert listed.runs() == ["run"]
    assert sorted(listed.tags("run")) == [GRAPH, *(BLOCK.format(block) for block in range(3))]
    assert listed.tags("nothing") == {}


def test_points_come_by_rising_step() -> None:
    assert [one.step for one in source(Stand()).tensors("run", BLOCK.format(0))] == [1, 2]


def test_the_blocks_of_a_stream_are_read_side_by_side(monkeypatch: pytest.MonkeyPatch) -> None:
    stand = Stand()
    together = threading.Barrier(3, timeout=60)
    plain = stand.read_tensors
    monkeypatch.setattr(stand, "read_tensors", lambda *a, **k: (together.wait(), plain(*a, **k))[1])
    assert len(source(stand).tensors("run", BLOCK.format(0))) == 2


def test_an_unknown_run_or_tag_holds_nothing() -> None:
    listed = source(Stand())
    assert listed.tensors("nothing", BLOCK.format(0)) == []
    assert listed.tensors("run", BLOCK.format(9)) == []
    assert listed.blob_steps("nothing", GRAPH) == []
    assert listed.blob_count("run", GRAPH, 5) == 0


@pytest.mark.parametrize("error", [KeyError("run"), errors.NotFoundError("gone"), IndexError()])
def test_a_blob_that_tensorboard_dropped_is_a_sentence(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    stand = Stand()
    monkeypatch.setattr(stand, "read_blob", raising(error))
    with pytest.raises(LogError, match=f"TensorBoard no longer keeps {GRAPH} at step 0"):
        source(stand).blob("run", GRAPH, 0, 0)
    monkeypatch.setattr(stand, "read_blob", raising(ValueError("reshape")))
    with pytest.raises(LogError, match="a tensor at step 0 that TensorBoard cannot read"):
        source(stand).blob("run", GRAPH, 0, 0)
    with pytest.raises(LogError, match="has 0 blobs at step 3; blob 1 was asked for"):
        source(stand).blob("run", GRAPH, 3, 1)


def test_a_block_larger_than_the_data_server_sends_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    stand = Stand()
    monkeypatch.setattr(stand, "read_tensors", raising(RuntimeError("StatusCode.RESOURCE_EXHAUSTED: 268435456")))
    with pytest.raises(LogError, match="holds more than the 256 MB"):
        source(stand).tensors("run", BLOCK.format(1))


def test_an_error_that_nobody_foresaw_is_not_swallowed(monkeypatch: pytest.MonkeyPatch) -> None:
    stand = Stand()
    monkeypatch.setattr(stand, "read_tensors", raising(RuntimeError("UNAVAILABLE")))
    with pytest.raises(RuntimeError, match="UNAVAILABLE"):
        source(stand).tensors("run", BLOCK.format(1))


@pytest.mark.parametrize("error", [TypeError("no DType"), ValueError("reshape"), KeyError(20), MemoryError()])
def test_a_tensor_that_tensorboard_cannot_read_costs_only_its_own_tag(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    stand = Stand()
    plain = stand.read_tensors

    def read(*given: Any, **named: Any) -> Any:
        return raising(error)() if named["run_tag_filter"].tags == {BLOCK.format(1)} else plain(*given, **named)

    monkeypatch.setattr(stand, "read_tensors", read)
    listed = source(stand)
    assert len(listed.tensors("run", BLOCK.format(0))) == 2  # block 1 is read beside it
    with pytest.raises(LogError, match="statistics/1 holds a tensor that TensorBoard cannot read"):
        listed.tensors("run", BLOCK.format(1))


@pytest.mark.parametrize("array", [np.array(3.0), np.array([b"a", b"b"], object), np.array("text"), np.zeros(0)])
def test_a_tensor_that_is_no_single_string_is_left_out_and_named(monkeypatch: pytest.MonkeyPatch, array: np.ndarray) -> None:
    stand = Stand()
    points = [SimpleNamespace(step=1, wall_time=1.0, numpy=array)]
    answer = {"run": {BLOCK.format(block): points for block in range(3)}}
    monkeypatch.setattr(stand, "read_tensors", lambda *_, **__: answer)
    listed = source(stand)
    assert listed.tensors("run", BLOCK.format(0)) == []
    assert listed.problems("run")[0] == f"{BLOCK.format(0)} holds 1 tensors that are not one string: no record is read."


def test_a_log_is_brought_up_to_date_when_it_is_asked_for_but_not_at_every_request() -> None:
    stand = Stand()
    lazy, eager = Logs(fresh_seconds=60), Logs(fresh_seconds=-1)
    for _ in range(3):
        lazy.get("", lambda: source(stand))
    assert stand.listings == 1
    for _ in range(3):
        eager.get("", lambda: source(stand))
    assert stand.listings == 1 + 3


def test_names_of_experiments_in_addresses_cannot_fill_the_memory() -> None:
    logs = Logs()
    first = logs.get("0", lambda: source(Stand()))
    for number in range(1, MOST_OPEN):
        logs.get(str(number), lambda: source(Stand()))
    assert logs.get("0", lambda: source(Stand())) is first
    for number in range(100, 100 + MOST_OPEN):
        logs.get(str(number), lambda: source(Stand()))
    assert logs.get("0", lambda: source(Stand())) is not first


def raising(error: Exception) -> Any:
    def call(*arguments: Any, **named: Any) -> Any:
        raise error

    return call
