"""The routes, asked through TensorBoard's own application under both loaders, against the records that were written."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from werkzeug.test import Client

from tb_layerflow._reader.sessions import Head
from tb_layerflow.log.records import COLUMNS, Graph, LayerLoss, LedgerEntry, Record, Weight
from tb_layerflow.log.writer import StreamWriter
from tb_layerflow.plugin import plugin, routes
from tb_layerflow.reader import Run, Stream
from tests import make
from tests.answers import client, get, get_binary, get_json
from tests.loaders import LOADERS, Loader

GRAPH = make.siamese()
STEPS = (0, 5, 10)
ROWS = make.own_rows(GRAPH)
TRAIN = {"run": "siamese", "stream": "train"}


def write(folder: Path, records: list[Record], stream: str = "train", graph: Graph = GRAPH) -> None:
    """One session of a stream."""
    writer = StreamWriter(folder, stream)
    writer.write_graph(graph)
    for record in records:
        writer.write_record(record)
    writer.close()


@pytest.fixture(scope="module", params=sorted(LOADERS))
def asked(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    logdir = tmp_path_factory.mktemp("logs")
    write(logdir / "siamese", [make.record(GRAPH, step) for step in STEPS])
    loader = LOADERS[request.param](logdir)
    yield client(loader, logdir)
    loader.close()


def test_streams_lists_what_was_recorded(asked: Client) -> None:
    answer = get_json(asked, "/streams")
    (run,) = answer["runs"]
    (stream,) = run["streams"]
    (session,) = stream.pop("sessions")
    assert (answer["schema"], answer["problem"], run["run"]) == (1, "", "siamese")
    assert os.path.isdir(os.path.join(answer["logdir"], "siamese"))
    assert stream == {
        "stream": "train", "records": 3, "written": 3, "first_step": 0, "last_step": 10, "model": "siamese", "problem": ""
    }  # fmt: skip
    assert (len(session["session"]), session["records"], session["start"] > 1.6e9) == (8, 3, True)


def test_graph_has_every_call_with_its_ports(asked: Client) -> None:
    answer = get_json(asked, "/graph", **TRAIN)
    assert [call["path"] for call in answer["calls"]] == [call.path for call in GRAPH.calls]
    first_dense = answer["calls"][8]
    assert (first_dense["path"], first_dense["layer"], first_dense["parent"]) == ("encoder#1/first_dense", 3, 6)
    assert first_dense["inputs"][0] == {
        "key": "", "shape": [-1, 8], "dtype": "float32", "kind": "", "source": [7, 0], "status": "", "error": ""
    }  # fmt: skip
    assert answer["layers"][3]["parameters"] == 8 * 4 + 4
    assert answer["layers"][3]["weights"][1] == {"name": "bias", "shape": [4], "dtype": "float32", "trainable": True}
    assert answer["error_kinds"] == ["error"]


def test_a_calls_operations_and_bytes_are_null_where_they_are_not_known(loader: Callable[..., Loader], tmp_path: Path) -> None:
    found = {}
    for run, flops in (("counted", 64.0), ("unknown", 0.0)):
        graph = make.siamese()
        graph.calls[8].flops, graph.calls[8].output_bytes = flops, 128
        write(tmp_path / run, [make.record(graph, 0)], graph=graph)
    on = client(loader(tmp_path), tmp_path)
    for run in ("counted", "unknown"):
        calls = get_json(on, "/graph", run=run, stream="train")["calls"]
        found[run] = [(call["flops"], call["output_bytes"]) for call in calls[8:10]]
    assert found == {"counted": [(64.0, 128), (0.0, None)], "unknown": [(None, 128), (None, None)]}


def test_steps_has_a_row_per_record(asked: Client) -> None:
    header, arrays = get_binary(asked, "/steps", **TRAIN)
    assert arrays["step"].tolist() == [0, 5, 10]
    assert arrays["epoch"].tolist() == [0, 0.5, 1]
    assert arrays["loss:loss"].tolist() == [1, 1 / 6, 1 / 11]
    assert [header["sessions"][number] for number in arrays["session"]] == header["sessions"] * 3
    assert {name: array.dtype.name for name, array in arrays.items() if array.dtype != np.float64} == {
        "trace": "int32", "session": "int32", "skipped": "uint8"
    }  # fmt: skip


@pytest.mark.parametrize("kind", ["output", "error"])
@pytest.mark.parametrize("column", COLUMNS)
def test_series_are_the_written_columns_bit_for_bit(asked: Client, kind: str, column: str) -> None:
    header, arrays = get_binary(asked, "/series", **TRAIN, kind=kind, column=column)
    shift = {"output": 0, "error": 1}[kind]
    for row, port in enumerate(ROWS):
        written = [make.table(ROWS, make.tensors(ROWS, step + shift)).columns[column][row] for step in STEPS]
        given = arrays["values"][header["ports"].index(list(port))]
        assert given.tobytes() == np.array(written, np.float32).tobytes()
    assert ("part" in arrays) == (column in ("zero", "nan", "pos_inf", "neg_inf"))
    assert (arrays.get("part", np.full(1, 24)) == 24).all()


def test_series_give_a_groups_output_as_the_inner_output_that_it_passes_on(asked: Client) -> None:
    header, arrays = get_binary(asked, "/series", **TRAIN, kind="output", column="mean")
    outer, inner = (arrays["values"][header["ports"].index([call, 0])] for call in (6, 8))
    np.testing.assert_array_equal(outer, inner)


def test_series_of_inputs_are_those_of_the_outputs_that_they_are(asked: Client) -> None:
    inputs, values = get_binary(asked, "/series", **TRAIN, kind="input", column="l2")
    outputs, expected = get_binary(asked, "/series", **TRAIN, kind="output", column="l2")
    given = values["values"][inputs["ports"].index([8, 0])]
    np.testing.assert_array_equal(given, expected["values"][outputs["ports"].index([7, 0])])


def test_record_has_every_column_of_every_kind(asked: Client) -> None:
    header, arrays = get_binary(asked, "/record", **TRAIN, step=5)
    table = make.table(ROWS, make.tensors(ROWS, 6))
    assert header["columns"] == list(COLUMNS)
    assert (header["step"], header["losses"], header["phase"], header["batch_size"]) == (5, {"loss": 1 / 6}, "training", 8)
    assert sorted(header["kinds"]) == ["error", "output"]
    for row, port in enumerate(ROWS):
        place = header["kinds"]["error"]["ports"].index(list(port))
        written = np.array([table.columns[name][row] for name in COLUMNS], np.float32)
        assert arrays["error:columns"][place].tobytes() == written.tobytes()
        assert arrays["error:part"][place].tolist() == [24, 1]


def test_record_has_the_seconds_of_every_call_where_they_were_measured(loader: Callable[..., Loader], tmp_path: Path) -> None:
    write(tmp_path / "siamese", [make.record(GRAPH, 0, timings={4: (1.0, 2.0), 5: (0.5, 0.25)}), make.record(GRAPH, 1)])
    asked = client(loader(tmp_path), tmp_path)
    expected = np.zeros((10, 2))
    expected[4], expected[5], expected[[0, 3]] = (1.0, 2.0), (0.5, 0.25), (1.5, 2.25)
    np.testing.assert_array_equal(get_binary(asked, "/record", **TRAIN, step=0)[1]["seconds"], expected)
    assert "seconds" not in get_binary(asked, "/record", **TRAIN, step=1)[1]


def test_record_and_series_tell_the_same(asked: Client) -> None:
    one, columns = get_binary(asked, "/record", **TRAIN, step=10)
    over_steps, series = get_binary(asked, "/series", **TRAIN, kind="output", column="std")
    std = dict(zip(map(tuple, one["kinds"]["output"]["ports"]), columns["output:columns"][:, COLUMNS.index("std")], strict=True))
    assert std == dict(zip(map(tuple, over_steps["ports"]), series["values"][:, 2], strict=True))


def test_histogram_counts_every_element_between_its_edges(asked: Client) -> None:
    answer = get_json(asked, "/histogram", **TRAIN, step=5, path="encoder#1/first_dense", kind="output")
    numbers = make.tensors(ROWS, 5)[ROWS.index((8, 0))]
    counts, _ = np.histogram(numbers[numbers != 0], np.array(answer["edges"], np.float64))
    assert answer["counts"] == counts.tolist()
    assert answer["zero"] == int((numbers == 0).sum())
    assert 0 in answer["edges"]
    assert answer["sampled_from"] == {"part": 24, "total": 24, "stride": 1}


def test_ledger_says_why_something_is_missing(asked: Client) -> None:
    answer = get_json(asked, "/ledger", **TRAIN)
    entry = {"path": "left", "kind": "error", "port": 0, "status": "skipped", "reason": "not connected", "step": -1}
    assert answer == {"entries": [entry], "total": 1}


@pytest.mark.parametrize(
    ("route", "parameters", "status", "sentence"),
    [
        ("/graph", {}, 400, "run must be given once."),
        ("/graph", {**TRAIN, "step": "x"}, 400, "step must be a whole number. Received: 'x'."),
        ("/graph", {"run": "siamse", "stream": "train"}, 404, "has no run 'siamse'. Its runs: siamese."),
        ("/steps", {"run": "siamese", "stream": "probe"}, 404, "Run 'siamese' has no stream 'probe'. Its streams: train."),
        ("/record", {**TRAIN, "step": 6}, 404, "no record at step 6"),
        ("/series", {**TRAIN, "kind": "output", "column": "median"}, 400, "column must be one of"),
        ("/histogram", {**TRAIN, "step": 5, "path": "encoder/nothing", "kind": "output"}, 404, "nothing"),
        ("/histogram", {**TRAIN, "step": 5, "path": "left", "kind": "output", "port": 7}, 404, "no histogram"),
        ("/histogram", {**TRAIN, "step": 6, "path": "left", "kind": "output"}, 404, "no record at step 6"),
        ("/nothing", {}, 404, "Not found"),
        ("/static/../plugin.py", {}, 404, ""),
        ("/static/%2e%2e/plugin/plugin.py", {}, 404, "The page has no such file."),
    ],
)
def test_a_wrong_question_gets_a_sentence(
    asked: Client, route: str, parameters: dict[str, object], status: int, sentence: str
) -> None:
    response = get(asked, route, **parameters)
    assert (response.status_code, response.mimetype) == (status, "text/plain")
    assert sentence in response.text
    assert response.headers["X-Content-Type-Options"] == "nosniff"


def test_a_fault_that_nobody_foresaw_is_a_sentence_and_its_traceback_is_logged(
    asked: Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(Run, "stream", lambda *_: 1 / 0)
    response = get(asked, "/steps", **TRAIN)
    assert (response.status_code, response.mimetype) == (500, "text/plain")
    assert response.text.startswith("LayerFlow could not answer this: ZeroDivisionError.")
    assert "Traceback" not in response.text
    assert "Traceback" in caplog.text


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "HEAD"])
def test_every_route_only_reads(asked: Client, method: str) -> None:
    for path in ["/static/index.js", *(route.path for route in routes.ROUTES)]:
        response = asked.open(f"/data/plugin/layerflow{path}", method=method)
        assert (response.status_code, response.headers["Allow"]) == (405, "GET")


def test_the_page_is_served_below_a_prefix_and_for_an_experiment(
    loader: Callable[..., Loader], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "siamese", [make.record(GRAPH, 0)])
    (tmp_path / "page").mkdir()
    (tmp_path / "page" / "index.js").write_text("export function render() {}")
    monkeypatch.setattr(plugin, "STATIC", tmp_path / "page")
    below = client(loader(tmp_path), tmp_path, path_prefix="/pre")
    for prefix in ("/pre", "/pre/experiment/some"):
        assert get(below, "/static/index.js", prefix).mimetype == "text/javascript"
        assert get(below, "/streams", prefix).json["runs"][0]["run"] == "siamese"
    assert get(below, "/streams").status_code == 404


def test_binary_answers_are_compressed_where_that_pays_and_are_asked_for(loader: Callable[..., Loader], tmp_path: Path) -> None:
    write(tmp_path / "siamese", [make.record(GRAPH, step) for step in range(600)])
    on = client(loader(tmp_path), tmp_path)
    url = "/data/plugin/layerflow/series?run=siamese&stream=train&kind=output&column="
    packed = on.get(url + "count", headers={"Accept-Encoding": "gzip"})
    assert packed.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(packed.data) == on.get(url + "count").data
    assert "Content-Encoding" not in on.get(url + "mean", headers={"Accept-Encoding": "gzip"}).headers


def test_numbers_that_are_not_finite_reach_the_page_as_they_are(loader: Callable[..., Loader], tmp_path: Path) -> None:
    broken = make.record(GRAPH, 0, losses={"loss": float("nan"), "other": float("inf")})
    arrays = [np.array([np.nan, np.inf, -np.inf, 1], np.float32)] * len(ROWS)
    broken.tables["output"] = make.table(ROWS, arrays)
    write(tmp_path / "siamese", [broken])
    on = client(loader(tmp_path), tmp_path)
    header, columns = get_binary(on, "/record", **TRAIN, step=0)
    assert header["losses"] == {"loss": None, "other": None}
    row = dict(zip(COLUMNS, columns["output:columns"][0], strict=True))
    assert np.isnan(row["mean"])
    assert (row["finite"], row["nan"], row["pos_inf"], row["neg_inf"]) == (0, 1, 1, 1)
    _, steps = get_binary(on, "/steps", **TRAIN)
    assert np.isnan(steps["loss:loss"][0])
    assert np.isposinf(steps["loss:other"][0])


def test_layer_losses_are_of_one_state_of_a_log_that_grows(
    loader: Callable[..., Loader], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lossy = [make.record(GRAPH, step, layer_losses=[LayerLoss(5, 0, "direct", step / 10)]) for step in (1, 2, 3)]
    write(tmp_path / "siamese", lossy)
    on = client(loader(tmp_path), tmp_path)
    newest = Stream._snapshot
    asked_before: list[bool] = []

    def grows(stream: Stream) -> tuple[list[Head], object]:
        heads, version = newest(stream)
        asked_before.append(True)
        return heads[: 1 + len(asked_before) // 2], (version, len(asked_before))

    monkeypatch.setattr(Stream, "_snapshot", grows)
    _, arrays = get_binary(on, "/losses", **TRAIN)
    assert arrays["loss"].shape == (1, len(arrays["step"]))
    assert arrays["loss"][0].tolist() == [np.float32(step / 10) for step in arrays["step"]]


def test_each_backward_pass_has_its_own_errors(loader: Callable[..., Loader], tmp_path: Path) -> None:
    graph = make.siamese()
    graph.backward_names, graph.error_pass = ["generator", ""], "error#1"
    record = make.record(graph, 0)
    own = record.tables.pop("error")
    record.tables |= {"error#0": make.table(ROWS, make.tensors(ROWS, 77)), "error#1": own}
    write(tmp_path / "siamese", [record], graph=graph)
    on = client(loader(tmp_path), tmp_path)
    assert get_json(on, "/graph", **TRAIN)["error_kinds"] == ["error", "error#0", "error#1"]
    header, arrays = get_binary(on, "/record", **TRAIN, step=0)
    assert header["kinds"]["error"] == header["kinds"]["error#1"]
    assert arrays["error:columns"].tobytes() == arrays["error#1:columns"].tobytes() != arrays["error#0:columns"].tobytes()
    _, named = get_binary(on, "/series", **TRAIN, kind="error:generator", column="mean")
    _, numbered = get_binary(on, "/series", **TRAIN, kind="error#0", column="mean")
    assert named["values"].tobytes() == numbered["values"].tobytes()


def test_weights_are_addressed_by_layer_and_weight(loader: Callable[..., Loader], tmp_path: Path) -> None:
    graph = make.siamese()
    graph.layers[3].weights = [Weight("kernel", (8, 4), "float32"), Weight("bias", (4,), "float32")]
    weights = [(3, 0), (3, 1)]
    record = make.record(graph, 0)
    record.tables["update"] = make.table(weights, make.tensors(weights, 5))
    write(tmp_path / "siamese", [record], graph=graph)
    on = client(loader(tmp_path), tmp_path)
    header, arrays = get_binary(on, "/series", **TRAIN, kind="update", column="max")
    assert header["ports"] == [[3, 0], [3, 1]]
    assert arrays["values"][:, 0].tolist() == [array.max() for array in make.tensors(weights, 5)]


def test_an_answer_that_would_be_too_large_is_refused(asked: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(routes, "MOST_NUMBERS", 20)
    response = get(asked, "/series", **TRAIN, kind="output", column="mean")
    assert response.status_code == 400
    assert "more than the 20 numbers that one answer may hold" in response.text


def test_a_long_ledger_is_cut_and_says_how_long_it_is(loader: Callable[..., Loader], tmp_path: Path) -> None:
    graph = make.siamese()
    graph.ledger = [LedgerEntry(f"call{number}", "output", -1, "skipped", "integer") for number in range(routes.MOST_ENTRIES + 5)]
    write(tmp_path / "siamese", [make.record(graph, 0)], graph=graph)
    answer = get_json(client(loader(tmp_path), tmp_path), "/ledger", **TRAIN)
    assert (len(answer["entries"]), answer["total"]) == (routes.MOST_ENTRIES, routes.MOST_ENTRIES + 5)
