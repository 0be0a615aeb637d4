"""`what=(…, "timing")`: the measured seconds of each call, forward and backward.

No test compares two measured times: which of two operations is quicker is the machine's affair. What TensorFlow's profiler gave is
added up here once more, by the names that TensorFlow gave the operations, and has to be the same to the last picosecond.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import keras
import numpy as np
import pytest
import tensorflow as tf
from tensorflow.tsl.profiler.protobuf import trace_events_pb2

import tb_layerflow as layerflow
from tb_layerflow.capture import timing
from tb_layerflow.log.records import LedgerEntry, Op
from tb_layerflow.log.writer import StreamWriter
from tb_layerflow.reader import Stream
from tests import make

TIMED = ("outputs", "errors", "timing")
UNTIMED = ("outputs", "errors")
LAYERS = ("widen", "big", "small", "head")


def model(**compiled: object) -> keras.Model:
    keras.utils.set_random_seed(3)
    inner = [keras.layers.Dense(32, name="big"), keras.layers.GlobalAveragePooling1D(name="small")]
    built = keras.Sequential(
        [
            keras.Input((4, 16)),
            keras.layers.Dense(16, name="widen"),
            keras.Sequential(inner, name="inner"),
            keras.layers.Dense(1, name="head"),
        ]
    )
    built.compile("sgd", "mse", **compiled)
    return built


def data(count: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    return random.random((count, 4, 16), np.float32), random.random((count, 1), np.float32)


def fitted(log_dir: Path, what: tuple[str, ...], *others: keras.callbacks.Callback, steps: int = 2, **compiled: object) -> Stream:
    """A fit of so many steps of four samples, all recorded."""
    callback = layerflow.LayerFlow(log_dir, what=what, every=1, values="none")
    model(**compiled).fit(*data(4 * steps), batch_size=4, verbose=0, callbacks=[*others, callback])
    return layerflow.open(str(log_dir))


def told(stream: Stream) -> list[tuple[str, int]]:
    return [(entry.reason, entry.step) for entry in stream.ledger() if entry.kind == "timing"]


Events = list[tuple[str, int]]
"""The operations of one run as the profiler saw them: name, picoseconds."""


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Stream:
    return fitted(tmp_path_factory.mktemp("logs"), TIMED, steps=3)


@pytest.fixture
def profiled(monkeypatch: pytest.MonkeyPatch) -> list[Events]:
    """What the profiler gave, one entry per timed run: filled while a test trains."""
    given: list[Events] = []
    per_call = timing.per_call

    def kept(events: bytes, ops: Iterable[Op]) -> dict[int, tuple[float, float]]:
        trace = trace_events_pb2.Trace.FromString(events)
        seen = [event for event in trace.trace_events if "long_name" in event.args]
        given.append([(event.args["long_name"].rpartition(":")[0], event.duration_ps) for event in seen])
        return per_call(events, ops)

    monkeypatch.setattr(timing, "per_call", kept)
    return given


def by_name(events: Events, layer: str) -> tuple[float, float]:
    """The seconds of the operations in a layer's name scope, outside and inside the scope of the gradients."""
    seconds = [0.0, 0.0]
    for name, picoseconds in events:
        if re.search(rf"(^|/){layer}(_\d+)?/", name):
            seconds["gradient_tape" in name] += picoseconds / 1e12
    return seconds[0], seconds[1]


# ----------------------------------------------------------------------------------------------------------- what is measured


def test_a_calls_seconds_are_those_of_the_operations_that_tensorflow_named_after_it(
    tmp_path: Path, profiled: list[Events]
) -> None:
    stream = fitted(tmp_path, TIMED, steps=4)
    assert len(profiled) == 3
    for step, events in enumerate(profiled, 1):
        seconds = stream.seconds(step)
        assert list(seconds) == [call.path for call in stream.graph.calls if call.kind != "input"]
        for layer in LAYERS:
            one = seconds[f"inner/{layer}" if layer in ("big", "small") else layer]
            np.testing.assert_allclose(one, by_name(events, layer))
            assert one.forward > 0 and one.backward > 0


def test_a_group_has_the_time_of_the_calls_inside_it(measured: Stream) -> None:
    for step in (1, 2):
        seconds = measured.seconds(step)
        leaves = np.sum([seconds["inner/big"], seconds["inner/small"]], axis=0)
        np.testing.assert_allclose(seconds["inner"], leaves)
        np.testing.assert_allclose(seconds["."], np.sum([seconds["widen"], leaves, seconds["head"]], axis=0))


def test_the_step_for_which_it_was_traced_has_none_and_the_ledger_says_so(measured: Stream) -> None:
    assert measured.seconds(0) == {}
    assert told(measured) == [(timing.TRACED, 0)]


def test_without_timing_nothing_is_measured_and_nothing_said(tmp_path: Path) -> None:
    stream = fitted(tmp_path, UNTIMED)
    assert (stream.seconds(), told(stream)) == ({}, [])


def test_training_is_the_same_to_the_last_bit(tmp_path: Path) -> None:
    trained = []
    for callbacks in ([], [layerflow.LayerFlow(tmp_path, what=TIMED, every=1, values="none")]):
        one = model()
        one.fit(*data(12), batch_size=4, verbose=0, callbacks=callbacks)
        trained.append([weight.tobytes() for weight in one.get_weights()])
    assert trained[0] == trained[1]


class Repeats(keras.layers.Layer):
    """Multiplies in a loop of the graph, in a function of its own."""

    def build(self, shape: tuple[int, ...]) -> None:
        self.kernel = self.add_weight(shape=(shape[-1], shape[-1]), initializer="orthogonal")

    @tf.function
    def once(self, x: tf.Tensor) -> tf.Tensor:
        return x @ self.kernel

    def call(self, x: tf.Tensor) -> tf.Tensor:
        turns = tf.shape(x)[0]
        return tf.while_loop(lambda turn, _: turn < turns, lambda turn, x: (turn + 1, self.once(x)), (0, x))[1]


def test_what_runs_in_loops_and_functions_counts_for_the_call_around_them(tmp_path: Path, profiled: list[Events]) -> None:
    built = keras.Sequential([keras.Input((8,)), Repeats(name="repeats"), keras.layers.Dense(1, name="head")])
    built.compile("sgd", "mse")
    callback = layerflow.LayerFlow(tmp_path, what=TIMED, every=1, values="none")
    x = np.random.default_rng(0).random((64, 8), np.float32)
    built.fit(x, x[:, :1], batch_size=32, verbose=0, callbacks=[callback])
    seconds = layerflow.open(str(tmp_path)).seconds()
    assert len([name for name, _ in profiled[0] if name.endswith("/StatefulPartitionedCall/matmul")]) == 32
    np.testing.assert_allclose(seconds["repeats"], by_name(profiled[0], "repeats"))
    np.testing.assert_allclose(seconds["head"], by_name(profiled[0], "head"))


# ------------------------------------------------------------------------------------------------------ where nothing is measured


def test_another_profiler_keeps_its_steps_and_the_others_are_timed(tmp_path: Path) -> None:
    board = keras.callbacks.TensorBoard(tmp_path / "board", write_graph=False, profile_batch=(2, 3))
    stream = fitted(tmp_path / "flow", TIMED, board, steps=5)
    assert list(tmp_path.glob("board/**/*.xplane.pb"))
    assert stream.steps.tolist() == [0, 1, 2, 3, 4]
    assert told(stream) == [(timing.TRACED, 0), (timing.ANOTHER, 1), (timing.ANOTHER, 2)]
    assert [bool(stream.seconds(step)) for step in stream.steps] == [False, False, False, True, True]


@pytest.mark.parametrize(
    ("compiled", "reason"), [({"jit_compile": True}, timing.COMPILED), ({"run_eagerly": True}, timing.EAGER)]
)
def test_where_time_has_no_call_the_ledger_says_so_once(tmp_path: Path, compiled: dict[str, bool], reason: str) -> None:
    stream = fitted(tmp_path, TIMED, **compiled)
    assert stream.steps.tolist() == [0, 1]
    assert (stream.seconds(), told(stream)) == ({}, [(reason, -1)])


def test_a_tensorflow_whose_profiler_cannot_be_read_trains_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tensorflow.python.profiler.internal import _pywrap_profiler

    monkeypatch.delattr(_pywrap_profiler, "ProfilerSession")
    stream = fitted(tmp_path, TIMED)
    assert stream.steps.tolist() == [0, 1]
    assert told(stream) == [(timing.TRACED, 0), (timing.UNKNOWN, -1)]


# ------------------------------------------------------------------------------------------------------------- other ways to record


def test_a_recorder_times_each_function_of_a_step(tmp_path: Path, profiled: list[Events]) -> None:
    small, big = keras.layers.Dense(4, name="small"), keras.layers.Dense(8, name="big")
    with layerflow.Recorder(tmp_path, what=TIMED, every=1, values="none") as recorder:

        @recorder.function
        def first(x: tf.Tensor) -> tf.Tensor:
            return tf.reduce_sum(small(x))

        @recorder.function
        def second(x: tf.Tensor) -> tf.Tensor:
            return tf.reduce_sum(big(x))

        x = tf.random.stateless_uniform((2, 8), (0, 1))
        for _ in range(2):
            with recorder.step():
                first(x)
                second(x)
    seconds = layerflow.open(str(tmp_path)).seconds(1)
    assert len(profiled) == 2
    for layer, events in zip(("small", "big"), profiled, strict=True):
        np.testing.assert_allclose(seconds[layer], by_name(events, layer))
        assert seconds[layer].forward > 0 == seconds[layer].backward


def test_train_on_batch_is_timed(tmp_path: Path) -> None:
    watched = model()
    with layerflow.Recorder(tmp_path, what=TIMED, every=1, values="none") as recorder:
        recorder.watch(watched)
        for _ in range(2):
            watched.train_on_batch(*data(4))
    assert layerflow.open(str(tmp_path)).seconds(1)["inner/big"].backward > 0


def test_one_run_of_record_is_timed(tmp_path: Path) -> None:
    recorded = model()
    x, y = data(4)
    before = [weight.tobytes() for weight in recorded.get_weights()]
    seconds = layerflow.record(recorded, tmp_path, x, y, what=TIMED, values="none").seconds()
    assert seconds["inner/big"].forward > 0 < seconds["head"].backward
    assert [weight.tobytes() for weight in recorded.get_weights()] == before


# ------------------------------------------------------------------------------------------------- from events and files to seconds


def events(*threads: list[tuple[str, int, int]]) -> bytes:
    """A trace of threads: (`run:<id>` or the operation's name, start, duration), in seconds."""
    trace = trace_events_pb2.Trace()
    for thread, happened in enumerate(threads):
        for name, start, seconds in happened:
            event = trace.trace_events.add(device_id=1, resource_id=thread)
            event.timestamp_ps, event.duration_ps = start * 10**12, seconds * 10**12
            if name.startswith("run:"):
                event.name, event.args["id"] = "ExecutorState::Process", name.removeprefix("run:")
            else:
                event.name, event.args["long_name"] = name, f"{name}:Type"
    return trace.SerializeToString()


OPS = [
    Op("a/MatMul", "MatMul", call=1),
    Op("a/Grad", "MatMul", call=1, backward=True),
    Op("while", "While", call=2),
    Op("cell/MatMul", "MatMul", call=3, body="while_body"),
    Op("Mean", "Mean", bucket="loss"),
]


def test_an_operations_time_is_its_own_on_every_thread() -> None:
    raw = events(
        [("run:1", 0, 100), ("a/MatMul", 1, 10), ("a/Grad", 3, 4), ("Mean", 20, 5)],
        [("run:1", 0, 50), ("a/Grad", 1, 7), ("ours", 10, 30)],
    )
    assert timing.per_call(raw, OPS) == {1: (6.0, 11.0)}


def test_what_ran_in_a_loops_body_is_its_calls_or_that_of_the_loop() -> None:
    raw = events([("run:1", 0, 100), ("a/MatMul", 0, 1), ("while/body/_7/cell/MatMul", 2, 3), ("while/body/_7/add", 6, 2)])
    assert timing.per_call(raw, OPS) == {1: (1.0, 0.0), 3: (3.0, 0.0), 2: (2.0, 0.0)}


def test_another_function_with_operations_of_the_same_names_is_not_meant() -> None:
    raw = events(
        [("run:1", 0, 100), ("a/MatMul", 1, 10), ("Mean", 12, 1), ("run:2", 30, 40), ("a/MatMul", 31, 20)],
        [("a/MatMul", 0, 5)],
    )
    assert timing.per_call(raw, OPS) == {1: (10.0, 0.0)}


def test_seconds_come_back_from_the_log_rolled_up_and_what_is_no_time_does_not(tmp_path: Path) -> None:
    graph = make.siamese()
    written = {4: (1.0, 2.0), 5: (0.25, 0.5), 0: (8.0, 0.0), 7: (float("nan"), 1.0), 8: (-1.0, 1.0), 1000: (1.0, 1.0)}
    skipped = LedgerEntry("", "timing", -1, "skipped", timing.ANOTHER, 1)
    writer = StreamWriter(tmp_path, "train")
    writer.write_graph(graph)
    writer.write_record(make.record(graph, 0, timings=written))
    writer.write_record(make.record(graph, 1, ledger=[skipped]))
    writer.close()
    stream = layerflow.open(str(tmp_path))
    expected = dict.fromkeys([call.path for call in graph.calls if call.kind != "input"], (0.0, 0.0))
    expected |= {"encoder/flatten": (1.0, 2.0), "encoder/first_dense": (0.25, 0.5), "encoder": (1.25, 2.5), ".": (9.25, 2.5)}
    assert stream.seconds(0) == stream.seconds() == expected
    assert stream.seconds(1) == {}
    with pytest.raises(layerflow.reader.PathError, match="no record at step 2"):
        stream.seconds(2)


def test_show_has_columns_of_times_where_there_are_some(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from tb_layerflow.cli import main

    graph = make.siamese()
    writer = StreamWriter(tmp_path, "train")
    writer.write_graph(graph)
    writer.write_record(make.record(graph, 0, timings={5: (0.25, 0.5)}))
    writer.write_record(make.record(graph, 1))
    writer.close()
    shown = []
    for step in ("0", "1"):
        main(["show", str(tmp_path), "--step", step])
        shown.append(capsys.readouterr().out)
    row = next(line for line in shown[0].splitlines() if line.startswith("encoder/first_dense"))
    assert row.split()[-2:] == ["250", "500"]
    assert ["forward ms" in text for text in shown] == [True, False]
