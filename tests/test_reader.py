"""The reader over event files: graphs, statistics, histograms and ledger, with numpy as the oracle."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tb_layerflow import reader
from tb_layerflow._reader import statistics
from tb_layerflow._reader.graph import nearest_output
from tb_layerflow.log import histogram
from tb_layerflow.log.records import COLUMNS, Call, Graph, Layer, LayerLoss, LedgerEntry, Port, Record, Weight
from tb_layerflow.log.writer import StreamWriter
from tests import make

GRAPH = make.siamese()
ROWS = make.own_rows(GRAPH)
PATHS = [GRAPH.calls[call].path for call, _ in ROWS]
STEPS = [0, 1, 5]


@pytest.fixture
def stream(tmp_path: Path) -> reader.Stream:
    return written(tmp_path, [make.record(GRAPH, step) for step in STEPS])


def written(folder: Path, records: list[Record], graphs: tuple[Graph, ...] = (GRAPH,)) -> reader.Stream:
    writer = StreamWriter(folder, "train")
    for graph in graphs:
        writer.write_graph(graph)
    for record in records:
        writer.write_record(record)
    writer.close()
    return reader.open(folder)


def array(path: str, step: int) -> np.ndarray:
    """The tensor whose statistics `make.record` wrote for an output."""
    return make.tensors(ROWS, step)[PATHS.index(path)].astype(np.float64)


def test_the_steps_are_those_that_were_written(stream: reader.Stream) -> None:
    assert stream.steps.dtype == np.int64
    assert stream.steps.tolist() == STEPS
    assert stream.problems == []
    assert stream.seams == []


def test_a_call_knows_its_layer_its_parent_and_its_weights(stream: reader.Stream) -> None:
    call = stream.graph.call("encoder#1/first_dense")
    assert (call.name, call.type, call.layer, call.parent, call.index) == (
        "first_dense", "Dense", "encoder/first_dense", "encoder#1", 0,
    )  # fmt: skip
    assert [weight.shape for weight in call.weights] == [(8, 4), (4,)]
    assert stream.graph.call("encoder#1").index == 1
    assert (stream.graph.call(".").parent, stream.graph.call("subtract").layer) == (None, None)
    assert call.outputs[0].shape == (-1, 4)


def test_the_edges_join_outputs_to_inputs(stream: reader.Stream) -> None:
    edges = {((source.path, source.port), (target.path, target.port)) for source, target in stream.graph.edges}
    assert edges == {
        (("left", 0), ("encoder", 0)), (("left", 0), ("encoder/flatten", 0)),
        (("encoder/flatten", 0), ("encoder/first_dense", 0)),
        (("right", 0), ("encoder#1", 0)), (("right", 0), ("encoder#1/flatten", 0)),
        (("encoder#1/flatten", 0), ("encoder#1/first_dense", 0)),
        (("encoder/first_dense", 0), ("subtract", 0)), (("encoder#1/first_dense", 0), ("subtract", 1)),
    }  # fmt: skip


def test_calls_are_found_by_name_path_and_glob(stream: reader.Stream) -> None:
    both = ["encoder/first_dense", "encoder#1/first_dense"]
    assert [call.path for call in stream.graph.find("**/first_dense")] == both
    assert [call.path for call in stream.graph.find("first_dense")] == both
    assert [call.path for call in stream.graph.find("encoder#1/*")] == ["encoder#1/flatten", "encoder#1/first_dense"]
    assert stream.graph.find("nothing") == []


def test_statistics_are_numpys_of_the_tensors_that_were_recorded(stream: reader.Stream) -> None:
    statistics = stream.statistics("output")
    assert statistics.columns == COLUMNS
    assert statistics.values.dtype == np.float64
    assert statistics.values.shape == (3, len(GRAPH.calls), len(COLUMNS))
    oracle = {"mean": np.mean, "min": np.min, "max": np.max, "std": np.std, "l2": np.linalg.norm, "count": np.size}
    for path in PATHS:
        for column, function in oracle.items():
            steps, values = statistics.series(path, column)
            assert steps.tolist() == STEPS
            expected = [function(array(path, step)) for step in STEPS]
            np.testing.assert_allclose(values, expected, rtol=1e-5, atol=1e-5 * np.abs(array(path, 0)).max())
        assert statistics.series(path, "zero")[1].tolist() == [(array(path, step) == 0).sum() for step in STEPS]
    assert (statistics.part == 24).all()
    assert (statistics.stride == 1).all()


def test_a_groups_output_has_the_statistics_of_the_output_that_it_passes_on(stream: reader.Stream) -> None:
    for kind in ("output", "error"):
        statistics = stream.statistics(kind)
        for group, inner in (("encoder#1", "encoder#1/first_dense"), (".", "subtract")):
            assert same(statistics.series(group, "l2"), statistics.series(inner, "l2"))


def test_an_input_has_the_statistics_of_the_output_that_it_is(stream: reader.Stream) -> None:
    inputs, outputs = stream.statistics("input"), stream.statistics("output")
    assert same(inputs.series("subtract", "mean", port=1), outputs.series("encoder#1/first_dense", "mean"))
    assert same(inputs.series("encoder/flatten", "mean"), outputs.series("left", "mean"))
    assert reader.PortPath("left", 0) not in inputs.ports


def same(left: tuple[np.ndarray, np.ndarray], right: tuple[np.ndarray, np.ndarray]) -> bool:
    return np.array_equal(left[1], right[1]) and not np.isnan(left[1]).any()


@pytest.mark.parametrize(
    ("ask", "sentence"),
    [
        (lambda log, one: log.run(0), "name must be a text. Received: 0."),
        (lambda log, one: log.run(".").stream(None), "name must be a text. Received: None."),
        (lambda log, one: one.statistics(None), "kind must be a text. Received: None."),
        (
            lambda log, one: one.statistics().series("subtract", "mean", port=[]),
            "port must be a whole number of 64 bits. Received",
        ),
        (lambda log, one: one.graph.call(3), "path must be a text. Received: 3."),
        (lambda log, one: one.graph.find(b"x"), "pattern must be a text. Received: b'x'."),
        (
            lambda log, one: one.histogram("subtract", step="zz"),
            "step must be a whole number of 64 bits or None. Received: 'zz'.",
        ),
        (lambda log, one: one.graph_at(10**30), "step must be a whole number of 64 bits. Received: 1000"),
        (lambda log, one: one.value("subtract", port=True), "port must be a whole number of 64 bits. Received: True."),
        (
            lambda log, one: one.explain("subtract", 5),
            "index must be whole numbers, one per axis, such as (0, 5, 5, 0). Received: 5.",
        ),
        (lambda log, one: one.explain("subtract", (0, 1.5)), "index must be whole numbers, one per axis"),
        (lambda log, one: one.findings("strict"), "limits must be analysis.limits.Limits or None. Received: 'strict'."),
        (lambda log, one: reader.LogDir(7), "path must be the path of a folder or None. Received: 7."),
        (lambda log, one: reader.open(None), "path must be the path of a folder. Received: None."),
    ],
)
def test_an_argument_of_a_wrong_type_is_a_sentence(
    stream: reader.Stream, tmp_path: Path, ask: Callable[[reader.LogDir, reader.Stream], object], sentence: str
) -> None:
    with pytest.raises(TypeError, match="^" + re.escape(sentence)):
        ask(reader.LogDir(tmp_path), stream)


def test_an_error_that_is_known_at_the_logits_alone_is_said_to_be_there(tmp_path: Path) -> None:
    graph = make.siamese()
    graph.calls[9].outputs.append(Port("logits", (-1, 4), "float32", "logits"))
    record = Record(0, 0, {"error": make.table([(8, 0), (9, 1)], [np.ones(2), np.ones(3)])})
    statistics = written(tmp_path, [record], (graph,)).statistics("error")
    with pytest.raises(KeyError, match=r"'subtract' has no error 0 with statistics; it has: port=1 \(the logits\)\."):
        statistics.series("subtract", "l2")
    assert statistics.series("subtract", "count", port=1)[1].tolist() == [3.0]


def test_numpys_whole_numbers_are_whole_numbers(stream: reader.Stream) -> None:
    assert stream.graph_at(np.int64(5)).trace == 0
    assert stream.statistics().series("subtract", "mean", port=np.uint8(0))[0].tolist() == [0, 1, 5]


def test_statistics_that_would_fill_the_memory_are_a_sentence(stream: reader.Stream, monkeypatch: pytest.MonkeyPatch) -> None:
    of_all = stream.statistics("output").values.size // len(COLUMNS) * (len(COLUMNS) + 2) * 8
    monkeypatch.setattr(statistics, "MOST_BYTES", of_all)
    assert stream.statistics("error").values.size
    monkeypatch.setattr(statistics, "MOST_BYTES", of_all - 1)
    with pytest.raises(reader.LogError, match=f"error#0 statistics of .* have {of_all:,} bytes; at most"):
        stream.statistics("error#0")


def test_a_chain_of_references_is_walked_once_and_a_circle_ends() -> None:
    class Counted(list[Call]):
        reads = 0

        def __getitem__(self, index: object) -> Call:  # type: ignore[override]
            self.reads += 1
            return super().__getitem__(index)  # type: ignore[index, no-any-return]

    calls = Counted(Call(f"c{k}", f"c{k}", "D", outputs=[Port(source=(k - 1, 0) if k else None)]) for k in range(500))
    graph = Graph("m", calls, [])
    known: dict[tuple[int, int], tuple[int, int] | None] = {}
    found = [nearest_output(graph, call.outputs[0].source, {(3, 0)}, known) for call in calls]
    assert found == [None] * 4 + [(3, 0)] * 496
    assert calls.reads < 510
    calls[0].outputs[0] = Port(source=(2, 0))
    assert nearest_output(graph, (1, 0), {(9, 0)}, {}) is None


def test_an_input_that_is_nobodys_output_has_a_row_of_its_own(tmp_path: Path) -> None:
    graph = Graph("m", [Call("dense", "dense", "Dense", inputs=[Port(), Port()], outputs=[Port()])], [])
    tables = {"input": make.table([(0, 1)], [np.full(4, 7.0)]), "output": make.table([(0, 0)], [np.ones(2)])}
    statistics = written(tmp_path, [Record(3, 0, tables)], (graph,)).statistics("input")
    assert statistics.ports == [("dense", 1)]
    assert statistics.series("dense", "mean", port=1)[1].tolist() == [7.0]
    with pytest.raises(KeyError, match=r"'dense' has no input 0 with statistics; it has: port=1\."):
        statistics.series("dense", "mean")


def test_a_call_that_was_absent_is_nan(tmp_path: Path) -> None:
    whole, part = make.record(GRAPH, 0), make.record(GRAPH, 1)
    part.tables["output"] = make.table(ROWS[:2], make.tensors(ROWS, 1)[:2])
    values = written(tmp_path, [whole, part]).statistics("output").series("subtract", "mean")[1]
    assert np.isnan(values).tolist() == [False, True]


def test_non_finite_numbers_come_back_as_they_are(tmp_path: Path) -> None:
    graph = Graph("m", [Call("a", "a", "A", outputs=[Port()])], [])
    tensor = np.array([1.0, np.nan, np.inf, -np.inf, -np.inf, 0.0], np.float32)
    table, bins = make.table([(0, 0)], [tensor]), make.histogram_table([(0, 0)], [tensor])
    stream = written(tmp_path, [Record(0, 0, {"output": table}, {"output": bins})], (graph,))
    numbers = dict(zip(COLUMNS, stream.statistics().values[0, 0], strict=True))
    assert (numbers["nan"], numbers["pos_inf"], numbers["neg_inf"], numbers["zero"], numbers["finite"]) == (1, 1, 2, 1, 0)
    assert np.isnan(numbers["max"])
    found = stream.histogram("a")
    assert (found.nan, found.pos_inf, found.neg_inf, found.zero, found.counts.sum()) == (1, 1, 2, 1, 1)


def test_two_traces_share_the_columns_of_the_paths_that_they_share(tmp_path: Path) -> None:
    def graph(*paths: str) -> Graph:
        return Graph("m", [Call(path, path, "T", outputs=[Port()]) for path in paths], [])

    def record(step: int, trace: int, *means: float) -> Record:
        return Record(step, trace, {"output": make.table([(i, 0) for i in range(len(means))], [np.full(3, m) for m in means])})

    records = [record(0, 0, 1, 2), record(1, 1, 10, 20), record(2, 0, 3, 4)]
    stream = written(tmp_path, records, (graph("a", "b"), graph("b", "c")))
    statistics = stream.statistics("output")
    assert [path for path, _ in statistics.ports] == ["a", "b", "c"]
    expected = [[1, 2, np.nan], [np.nan, 10, 20], [3, 4, np.nan]]
    np.testing.assert_array_equal(statistics.values[:, :, COLUMNS.index("mean")], expected)
    assert [stream.graph_at(step).trace for step in (-5, 0, 1, 2, 99)] == [0, 0, 1, 0, 0]
    assert stream.records.trace.tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    ("tables", "error_pass", "kind", "mean"),
    [
        ({"error": 1}, "", "error", 1),
        ({"error": 1}, "", "error#0", 1),
        ({"error#0": 1}, "", "error", 1),
        ({"error#0": 1, "error#1": 2}, "error#1", "error", 2),
        ({"error#0": 1, "error#1": 2}, "error#1", "error#0", 1),
        ({"error#0": 1, "error#1": 2}, "error#1", "error:critic", 1),
        ({"error#0": 1, "error#1": 2}, "error#1", "error:generator", 2),
    ],
)
def test_error_stands_for_the_records_own_pass(
    tmp_path: Path, tables: dict[str, float], error_pass: str, kind: str, mean: float
) -> None:
    graph = Graph("m", [Call("a", "a", "T", outputs=[Port()])], [], backward_names=["critic", "generator"], error_pass=error_pass)
    record = Record(0, 0, {name: make.table([(0, 0)], [np.full(2, number)]) for name, number in tables.items()})
    assert written(tmp_path, [record], (graph,)).statistics(kind).series("a", "mean")[1].tolist() == [mean]


def test_weights_are_addressed_by_the_path_of_their_layer(tmp_path: Path) -> None:
    graph = make.siamese()
    record = Record(0, 0, {"weight": make.table([(3, 0), (3, 1)], [np.full(32, 0.5), np.zeros(4)])})
    statistics = written(tmp_path, [record], (graph,)).statistics("weight")
    assert statistics.ports == [("encoder/first_dense", 0), ("encoder/first_dense", 1)]
    assert statistics.series("first_dense", "mean")[1].tolist() == [0.5]
    assert statistics.series("first_dense", "zero", port=1)[1].tolist() == [4]


def test_a_unique_ending_is_enough_and_an_ambiguous_one_is_an_error(stream: reader.Stream) -> None:
    statistics = stream.statistics("output")
    with pytest.raises(KeyError, match="'first_dense' is the ending of 2 paths"):
        statistics.series("first_dense", "mean")
    with pytest.raises(KeyError, match="The nearest: 'subtract'"):
        statistics.series("substract", "mean")
    with pytest.raises(ValueError, match=r"column must be one of count, mean, .* Received: 'median'\."):
        statistics.series("subtract", "median")
    with pytest.raises(ValueError, match=r"kind must be one of input, output, error, .* Received: 'gradient'\."):
        stream.statistics("gradient")


def test_a_histogram_is_numpys_over_the_same_edges(stream: reader.Stream) -> None:
    for step in STEPS:
        for path in PATHS:
            found = stream.histogram(path, step=step)
            numbers = array(path, step)
            expected, _ = np.histogram(numbers[numbers != 0], found.edges)
            positive = found.edges[:-1] >= 0
            np.testing.assert_array_equal(found.counts[positive], expected[positive])
            mirrored, _ = np.histogram(-numbers[numbers != 0], found.edges)
            np.testing.assert_array_equal(found.counts[~positive], mirrored[::-1][~positive])
            assert found.zero == (numbers == 0).sum()
            assert found.sampled_from == (24, 24, 1)
            assert (found.nan, found.pos_inf, found.neg_inf) == (0, 0, 0)
    assert len(found.edges) == len(found.counts) + 1 == 2 * histogram.SIDE + 1


def test_a_histogram_without_a_step_is_the_newest_that_there_is(tmp_path: Path) -> None:
    last = make.record(GRAPH, 9)
    last.histograms = {}
    stream = written(tmp_path, [make.record(GRAPH, 0), make.record(GRAPH, 3), last])
    assert stream.histogram("subtract").step == 3
    assert stream.histogram("subtract", kind="input", port=1).counts.sum() > 0
    with pytest.raises(KeyError, match="There is no histogram of output 0 of 'subtract' at step 9"):
        stream.histogram("subtract", step=9)
    with pytest.raises(KeyError, match=r"has no record at step 4\. The nearest: 0, 3, 9"):
        stream.histogram("subtract", step=4)
    with pytest.raises(KeyError, match="No path is or ends in 'nothing'"):
        stream.histogram("nothing")
    with pytest.raises(KeyError, match="There is no histogram of output 7 of 'subtract' at any step"):
        stream.histogram("subtract", port=7)


def test_the_records_tell_what_each_step_was(tmp_path: Path) -> None:
    loss = LayerLoss(5, 0, "readout", 0.25, 0.5)
    records = [
        make.record(GRAPH, 2, skipped=True, loss_scale=1024.0),
        make.record(GRAPH, 3, losses={"loss": 0.5, "head_loss": 0.25}, layer_losses=[loss], phase="inference"),
    ]
    stream = written(tmp_path, records)
    rows = stream.records
    assert (rows.step.tolist(), rows.iterations.tolist(), rows.epoch.tolist()) == ([2, 3], [2, 3], [0.2, 0.3])
    assert (rows.skipped.tolist(), rows.loss_scale.tolist()) == ([True, False], [1024, 0])
    assert (rows.phase, rows.batch_size.tolist()) == (["training", "inference"], [8, 8])
    np.testing.assert_array_equal(rows.losses["head_loss"], [np.nan, 0.25])
    assert rows.layer_losses == stream.losses() == [(3, "encoder/first_dense", 0, "readout", 0.25, 0.5, "", "", 0.0)]
    assert np.ptp(rows.wall_time) < 60
    assert len(set(rows.session.tolist())) == 1


def test_the_ledger_is_the_graphs_and_the_records(tmp_path: Path) -> None:
    special = LedgerEntry("", "", -1, "note", "the loss scaler skipped this step", 4)
    stream = written(tmp_path, [make.record(GRAPH, 3), make.record(GRAPH, 4, ledger=[special])])
    assert stream.ledger() == [GRAPH.ledger[0], special]


def test_a_stream_without_records_still_has_its_graph(tmp_path: Path) -> None:
    stream = written(tmp_path, [])
    assert stream.steps.tolist() == []
    assert stream.graph.record.model == "siamese"
    assert stream.ledger() == GRAPH.ledger
    assert stream.statistics().values.shape == (0, 0, len(COLUMNS))
    with pytest.raises(KeyError, match="There is no histogram"):
        stream.histogram("subtract")


def test_layers_that_hold_the_weights_need_not_be_called(tmp_path: Path) -> None:
    graph = Graph("m", [], [Layer("head", "head", "Dense", [Weight("kernel", (2,), "float32")], called=False)])
    record = Record(0, 0, {"weight": make.table([(0, 0)], [np.ones(2)])})
    assert written(tmp_path, [record], (graph,)).statistics("weight").series("head", "mean")[1].tolist() == [1.0]


PROBE = """
import sys

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("tensorflow", "keras"):
            raise ImportError(name + " is not installed here")

sys.meta_path.insert(0, Refuse())
from tb_layerflow import reader

stream = reader.open(sys.argv[1])
stream.graph.edges, stream.statistics("error").values, stream.histogram("subtract"), stream.ledger()
assert not {"tensorflow", "keras"} & set(sys.modules)
sys.stdout.write(str(stream.steps.tolist()))
"""


def test_reading_needs_no_tensorflow(stream: reader.Stream, tmp_path: Path) -> None:
    command = [sys.executable, "-c", PROBE, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=Path(__file__).parent.parent)
    assert (done.stdout, done.stderr) == ("[0, 1, 5]", "")
