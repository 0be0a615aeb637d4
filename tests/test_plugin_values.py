"""The routes of exact values, asked through TensorBoard's own application under both loaders, against files that numpy reads."""

from __future__ import annotations

import os
import tracemalloc
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
from werkzeug.test import Client

from tb_layerflow._reader import exact
from tb_layerflow.log import value_files
from tb_layerflow.log.records import LedgerEntry, Manifest, Value
from tb_layerflow.log.writer import StreamWriter
from tests import make
from tests.answers import client, get, get_binary, get_json
from tests.loaders import LOADERS, Loader

GRAPH = make.siamese()
TRAIN = {"run": "siamese", "stream": "train"}
DENSE, FLATTEN = 8, 7
RANDOM = np.random.default_rng(3)
KERNEL = RANDOM.normal(size=(8, 4)).astype(np.float32)
FLAT = RANDOM.normal(size=(2, 8)).astype(np.float32)
ARRAYS: dict[tuple[str, int, int], tuple[str, np.ndarray]] = {
    ("output", FLATTEN, 0): ("float32", FLAT),
    ("output", DENSE, 0): ("float32", FLAT @ KERNEL),
    ("output", 9, 0): ("float16", RANDOM.normal(size=(2, 4)).astype(np.float16)),
    ("error", DENSE, 0): ("bfloat16", np.array([[0x3F80, 0xC000, 0x7F80, 0x3DCD]] * 2, np.uint16)),
    ("output", 1, 0): ("int64", np.arange(16).reshape(2, 2, 4)),
    ("weight", 3, 0): ("float32", KERNEL),
    ("weight", 3, 1): ("float32", np.zeros(4, np.float32)),
    ("channels:output", DENSE, 0): ("float32", RANDOM.normal(size=(5, 4)).astype(np.float32)),
    ("picture", 0, 0): ("uint8", RANDOM.integers(0, 255, (2, 5, 5, 3)).astype(np.uint8)),
}
CUT = LedgerEntry("left", "input", 0, "truncated", "32 bytes, cut: the exact values of a record may have 8 bytes")


def write(folder: Path) -> None:
    """A stream with records at steps 0, 5 and 10, the first and the last of which hold ARRAYS."""
    writer = StreamWriter(folder, "train")
    writer.write_graph(GRAPH)
    for step in (0, 5, 10):
        writer.write_record(make.record(GRAPH, step))
        if step != 5:
            path = writer.value_path(step)
            size = value_files.write(path, [(f"a{n}", array) for n, (_, array) in enumerate(ARRAYS.values())])
            values = [
                Value(*key, f"a{n}", array.shape, dtype, array.nbytes) for n, (key, (dtype, array)) in enumerate(ARRAYS.items())
            ]
            writer.write_manifest(Manifest(step, 0, os.path.basename(path), values, [CUT], 2, size))
    writer.close()


@pytest.fixture(scope="module", params=sorted(LOADERS))
def asked(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    logdir = tmp_path_factory.mktemp("logs")
    write(logdir / "siamese")
    loader: Loader = LOADERS[request.param](logdir)
    yield client(loader, logdir)
    loader.close()


def value(asked: Client, path: str, kind: str = "output", **given: object) -> tuple[dict[str, object], np.ndarray]:
    header, arrays = get_binary(asked, "/value", **{**TRAIN, "step": 10, "path": path, "kind": kind, **given})
    return header, arrays["value"]


def test_values_says_at_which_steps_there_is_what(asked: Client) -> None:
    answer = get_json(asked, "/values", **TRAIN)
    assert (answer["steps"], answer["step"], answer["samples"]) == ([0, 10], 10, 2)
    first = {"kind": "output", "call": FLATTEN, "port": 0, "shape": [2, 8], "dtype": "float32", "bytes": 64}
    assert answer["values"][0] == first
    assert len(answer["values"]) == len(ARRAYS)
    assert answer["cut"] == [asdict(CUT)]
    assert get_json(asked, "/values", **TRAIN, step=0)["step"] == 0
    missing = get(asked, "/values", **TRAIN, step=5)
    assert (missing.status_code, missing.text) == (404, "There are no exact values at step 5. It is there at 0, 10.")


def test_value_gives_the_array_and_an_input_that_of_the_call_that_made_it(asked: Client) -> None:
    header, array = value(asked, "encoder#1/first_dense")
    assert (header["dtype"], header["shape"], header["where"]) == ("float32", [2, 4], [[0, 2, 1], [0, 4, 1]])
    np.testing.assert_array_equal(array, FLAT @ KERNEL)
    np.testing.assert_array_equal(value(asked, "encoder#1")[1], FLAT @ KERNEL)
    np.testing.assert_array_equal(value(asked, "encoder#1/first_dense", "input")[1], FLAT)
    np.testing.assert_array_equal(value(asked, "encoder/first_dense", "weight")[1], KERNEL)
    np.testing.assert_array_equal(value(asked, ".", "picture")[1], ARRAYS["picture", 0, 0][1])
    channels = ARRAYS["channels:output", DENSE, 0][1]
    np.testing.assert_array_equal(value(asked, "encoder#1/first_dense", "channels:output")[1], channels)


def test_dtypes_that_a_browser_lacks_arrive_without_loss(asked: Client) -> None:
    header, array = value(asked, "encoder#1/first_dense", "error")
    assert header["dtype"] == "bfloat16"
    np.testing.assert_array_equal(array, np.array([[1.0, -2.0, np.inf, 0.10009765625]] * 2, np.float32))
    header, array = value(asked, "subtract")
    assert (header["dtype"], array.dtype) == ("float16", np.float32)
    np.testing.assert_array_equal(array, ARRAYS["output", 9, 0][1].astype(np.float32))
    np.testing.assert_array_equal(value(asked, "left")[1], np.arange(16.0).reshape(2, 2, 4))


@pytest.mark.parametrize(
    ("given", "part"),
    [
        ({"sample": 1}, np.s_[1:2]),
        ({"channels": "1:3"}, np.s_[..., 1:3]),
        ({"sample": 0, "channels": "0:1"}, np.s_[0:1, ..., 0:1]),
        ({"slices": "1,:,::2"}, np.s_[1:2, :, ::2]),
        ({"slices": "-1, -1"}, np.s_[-1:, -1:]),
        ({"slices": ":1,1:"}, np.s_[:1, 1:]),
    ],
)
def test_value_gives_a_part_in_numpys_words(asked: Client, given: dict[str, object], part: object) -> None:
    np.testing.assert_array_equal(value(asked, "left", **given)[1], np.arange(16.0).reshape(2, 2, 4)[part])


@pytest.mark.parametrize(
    ("given", "status", "sentence"),
    [
        ({"step": 5}, 404, "There is no exact output 0 of 'left' at step 5. It is there at 0, 10."),
        ({"step": 7}, 404, "Stream 'train' has no record at step 7. The nearest: 0, 5, 10."),
        ({"path": "nowhere"}, 404, "No path is or ends in 'nowhere'."),
        ({"port": 3}, 404, "There is no exact output 3 of 'left' at step 10. It has an exact output at port 0. "),
        ({"kind": "input"}, 404, "There is no exact input 0 of 'left' at step 10. It has 32 bytes, cut: "),
        ({"sample": 2}, 400, "sample must be below the 2 samples that were kept. Received: 2."),
        ({"channels": "3"}, 400, "channels must be a range of channels such as 0:16. Received: '3'."),
        ({"slices": "0,x"}, 400, "slices must be indices and slices such as 0,:,2:9. Received: '0,x'."),
        ({"slices": "::-1"}, 400, "slices must be indices and slices"),
        ({"slices": "0,0,0,0"}, 400, "slices has 4 axes, but the tensor has 3."),
        ({"slices": "0", "sample": 0}, 400, "slices says it all"),
        ({"kind": "channels:nothing"}, 400, "kind must be input, output, error,"),
    ],
)
def test_what_cannot_be_answered_gets_a_sentence(asked: Client, given: dict[str, object], status: int, sentence: str) -> None:
    answer = get(asked, "/value", **{**TRAIN, "step": 10, "path": "left", "kind": "output", **given})
    assert answer.status_code == status, answer.text
    assert answer.text.startswith(sentence)


def test_explain_gives_the_products_of_one_number(asked: Client) -> None:
    answer = get_json(asked, "/explain", **TRAIN, step=10, path="encoder#1/first_dense", index="1,2")
    assert (answer["explained"], answer["type"], answer["term_count"]) == (True, "Dense", 8)
    products = {term["index"][1]: term["product"] for group in answer["groups"] for term in group["terms"]}
    expected = FLAT[1].astype(float) * KERNEL[:, 2].astype(float)
    assert [products[place] for place in range(8)] == pytest.approx(expected.tolist())
    assert answer["recorded"] == float((FLAT @ KERNEL)[1, 2])
    assert abs(answer["difference"]) < 1e-6
    assert answer["window"] == [{"port": 0, "box": [[1, 2], [0, 8]], "unclipped": [[1, 2], [0, 8]], "reason": ""}]
    group = get_json(asked, "/explain", **TRAIN, step=10, path="encoder#1", index="0,0")
    assert (group["explained"], group["reason"][:27]) == (False, "encoder is a group of calls")
    wrong = get(asked, "/explain", **TRAIN, step=10, path="encoder#1/first_dense", index="1,9")
    assert wrong.status_code == 400


def test_with_logdir_spec_values_need_a_logdir(tmp_path: Path) -> None:
    write(tmp_path / "siamese")
    loader = LOADERS["multiplexer"](tmp_path)
    from tb_layerflow.plugin.plugin import _logdir_of

    class Context:
        logdir = ""

        class flags:  # noqa: N801
            logdir = ""
            logdir_spec = f"a:{tmp_path}"

    assert _logdir_of(Context()) == ""  # type: ignore[arg-type]
    source = loader.source()
    from tb_layerflow.reader import LogDir, LogError

    stream = LogDir(source=source).run("siamese").stream("train")
    assert stream.values.steps.tolist() == [0, 10]
    with pytest.raises(LogError, match="start TensorBoard with --logdir"):
        stream.value("left")


def test_an_answer_is_bounded_before_anything_is_read(asked: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    from tb_layerflow.plugin import values_route

    monkeypatch.setattr(values_route, "MOST_BYTES", 100)
    monkeypatch.setattr(value_files, "read", lambda *_: pytest.fail("nothing may be read"))
    answer = get(asked, "/value", **TRAIN, step=10, path="left", kind="output")
    assert answer.status_code == 400
    assert answer.text.startswith("int64 [2, 2, 4] has 128 bytes; one answer has at most 100. Ask for a part of it: sample=,")


def test_memory_does_not_grow_with_the_size_of_a_value_file(tmp_path: Path) -> None:
    large = np.lib.format.open_memmap(tmp_path / "large.npy", "w+", np.float32, (64, 1024, 1024))
    large[:, 5, 7] = np.arange(64)
    name = "train-0000abcd-0.npz"
    value_files.write(str(tmp_path / "plugins" / "layerflow" / name), [("large", large)])
    del large
    tracemalloc.start()
    part = value_files.read(str(tmp_path), name, "large", (64, 1024, 1024), "float32", (slice(None), slice(5, 6), slice(7, 8)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    np.testing.assert_array_equal(part.reshape(-1), np.arange(64, dtype=np.float32))
    assert peak < 32 << 20, "the file has 256 MB"


def test_a_number_whose_inputs_are_very_large_is_not_explained(asked: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    question = {**TRAIN, "step": 0, "path": "encoder#1/first_dense", "index": "0,0"}
    needed = FLAT.nbytes + KERNEL.nbytes + 16
    monkeypatch.setattr(exact, "MOST_BYTES", needed)
    assert get(asked, "/explain", **question).status_code == 200
    monkeypatch.setattr(exact, "MOST_BYTES", needed - 1)
    response = get(asked, "/explain", **question)
    assert response.status_code == 422
    assert f"takes inputs and weights of more than {needed - 1} bytes" in response.text
