"""From a recorded graph to its operations, chains and lines: in Python, over HTTP, on the command line; without TensorFlow."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tb_layerflow import cli
from tb_layerflow.analysis import chain
from tb_layerflow.log import encode
from tb_layerflow.log.errors import LogError
from tb_layerflow.log.records import Call, Frame, Graph, Layer, Op, Stack
from tb_layerflow.log.stamp import Stamp
from tb_layerflow.log.writer import StreamWriter
from tb_layerflow.reader import LogDir, PathError, Stream
from tests import make
from tests.answers import client, get, get_json
from tests.loaders import LOADERS

USER = Frame("model.py", 42, "call", "user")
KERAS = Frame("keras/src/layers/core/dense.py", 7, "call", "keras")
MATMUL = (
    Frame("keras/src/ops/numpy.py", 9, "matmul", "keras"),
    Frame("keras/src/backend/tensorflow/numpy.py", 3, "matmul", "keras"),
)
TENSORFLOW = (Frame("tensorflow/python/ops/math_ops.py", 5, "tf.matmul", "tensorflow"),)


def graph() -> Graph:
    """The siamese graph; of each of its two `first_dense` one product, its gradient, and a loss."""
    found = make.siamese()
    found.stacks = [Stack((USER, KERAS, *MATMUL, *TENSORFLOW), 0), Stack((Frame("train.py", 3, "step", "user"),), 0)]
    found.ops = [
        Op("MatMul", "MatMul", call=5, stack=0, variable="encoder/first_dense/kernel", fate="kept"),
        Op("MatMul_1", "MatMul", call=8, stack=0, inputs=[0]),
        Op("Mean", "Mean", bucket="loss", stack=1, inputs=[1]),
        Op("gradients/MatMul_1", "MatMul", call=8, backward=True, forward_op=1, stack=1),
    ]
    found.source = {("model.py", 42): "x = self.first_dense(x)"}
    return found


def write(folder: Path, whole: Graph) -> Path:
    writer = StreamWriter(folder, "train")
    writer.write_graph(whole)
    writer.write_record(make.record(make.siamese(), 0))
    writer.close()
    return folder


@pytest.fixture(scope="module")
def logdir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("logs"), graph())


@pytest.fixture(scope="module")
def stream(logdir: Path) -> Stream:
    return LogDir(logdir).run(".").stream("train")


def test_a_group_has_the_operations_of_the_calls_inside_it(stream: Stream) -> None:
    assert [op.name for op in stream.ops("encoder#1")] == ["MatMul_1", "gradients/MatMul_1"]
    assert [op.name for op in stream.ops(".")] == ["MatMul", "MatMul_1", "gradients/MatMul_1"]
    assert [op.name for op in stream.ops(bucket="loss")] == ["Mean"]
    assert len(stream.ops()) == 4


def test_an_operation_says_all_that_is_known_about_it(stream: Stream) -> None:
    first, gradient = stream.ops("encoder/first_dense")[0], stream.ops("encoder#1/first_dense")[1]
    assert (first.call, first.direction, first.fate) == ("encoder/first_dense", "forward", "kept")
    assert first.variable == "encoder/first_dense/kernel"
    assert first.user_frame == USER and first.frames[1] == KERAS
    assert (gradient.direction, gradient.forward_op, gradient.call) == ("backward", "MatMul_1", "encoder#1/first_dense")


def test_what_is_asked_wrongly_is_refused(stream: Stream) -> None:
    with pytest.raises(PathError, match="nope"):
        stream.ops("nope")
    with pytest.raises(ValueError, match="bucket must be one of loss, metrics"):
        stream.ops(bucket="nope")
    with pytest.raises(ValueError, match="of a call or of a bucket"):
        stream.ops("encoder", bucket="loss")


def test_an_operation_that_takes_from_none_is_refused_when_it_is_asked_for(tmp_path: Path) -> None:
    whole = graph()
    whole.ops[3].inputs = [9]
    stream = LogDir(write(tmp_path, whole)).run(".").stream("train")
    assert [op.name for op in stream.ops("encoder/first_dense")] == ["MatMul"]
    with pytest.raises(LogError, match="refers to op 9, but has 4"):
        stream.ops("encoder#1")


def test_a_line_leads_to_its_calls_and_to_groups_that_lie_in_it(stream: Stream) -> None:
    assert [call.path for call in stream.calls_of("model.py:42")] == [
        ".", "encoder", "encoder/first_dense", "encoder#1", "encoder#1/first_dense"
    ]  # fmt: skip
    assert stream.calls_of("model.py:43") == [] and len(stream.calls_of("model.py")) == 5


def test_the_chain_says_keras_then_tensorflow_then_the_operation(stream: Stream) -> None:
    assert stream.chain("encoder/first_dense") == ["Dense.call", "keras.ops.matmul", "tf.matmul", "MatMul"]


def test_a_chain_says_shared_words_once_and_passes_over_constants() -> None:
    frames = (USER, KERAS, *MATMUL, *TENSORFLOW)
    steps = [chain.Step("Dense", frames, op) for op in ("Const", "ReadVariableOp", "MatMul", "MatMul")]
    assert chain.words(steps) == ["Dense.call", "keras.ops.matmul", "tf.matmul", "MatMul", "MatMul"]
    assert chain.words([chain.Step("Mine", (USER, *TENSORFLOW), "MatMul")]) == ["Mine.call", "tf.matmul", "MatMul"]
    assert chain.words([]) == []


@pytest.mark.parametrize("loader", sorted(LOADERS))
def test_the_routes_give_pages_of_operations(loader: str, logdir: Path) -> None:
    found = LOADERS[loader](logdir)
    asked, run = client(found, logdir), {"run": ".", "stream": "train"}
    try:
        answer = get_json(asked, "/ops", **run, path="encoder#1")
        assert [op["name"] for op in answer["ops"]] == ["MatMul_1", "gradients/MatMul_1"]
        assert (answer["total"], answer["all"], answer["buckets"]["loss"]) == (2, 4, 1)
        assert answer["stacks"][0]["frames"][0] == ["model.py", 42, "call", "user"]
        assert answer["stacks"][0]["text"] == "x = self.first_dense(x)"
        assert [op["number"] for op in get_json(asked, "/ops", **run, search="MODEL.py:42")["ops"]] == [0, 1]
        assert [op["number"] for op in get_json(asked, "/ops", **run, bucket="loss")["ops"]] == [2]
        assert get_json(asked, "/ops", **run, offset="3")["ops"][0]["name"] == "gradients/MatMul_1"
        assert get_json(asked, "/chain", **run, path="encoder/first_dense")["chain"][1] == "keras.ops.matmul"
        lines = get_json(asked, "/sources", **run)["lines"]
        assert lines == [{"file": "model.py", "line": 42, "text": "x = self.first_dense(x)", "calls": [5, 8]}]
        assert get_json(asked, "/sources", **run, place="model.py:42")["calls"] == [0, 3, 5, 6, 8]
        assert get(asked, "/ops", **run, path="nope").status_code == 404
        assert get(asked, "/ops", **run, bucket="nope").status_code == 400
        assert get(asked, "/ops", **run, bucket="loss", path="encoder").status_code == 400
    finally:
        found.close()


def test_the_command_prints_the_chain_first_and_both_directions(logdir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["ops", str(logdir), "encoder#1/first_dense"]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[:2] == [". · train · encoder#1/first_dense", "Dense.call → keras.ops.matmul → tf.matmul → MatMul"]
    assert "forward: 1" in printed and "backward: 1" in printed
    assert cli.main(["ops", str(logdir), "nope"]) == 2
    assert "nope" in capsys.readouterr().err


def test_200_000_operations_come_in_small_messages_and_are_found(tmp_path: Path) -> None:
    many = 200_000
    calls = [Call(".", "m", "Model", layer=0)] + [Call(f"dense_{k}", f"dense_{k}", "Dense", parent=0) for k in range(1000)]
    stacks = [Stack((Frame("model.py", k, "call", "user"), KERAS, *MATMUL, *TENSORFLOW), 0) for k in range(1000)]
    ops = [
        Op(f"m/dense_{k % 1000}/MatMul_{k}", "MatMul", call=1 + k % 1000, stack=k % 1000, inputs=[max(0, k - 1)])
        for k in range(many)
    ]
    whole = Graph("m", calls, [Layer(".", "m", "Model")], ops=ops, stacks=stacks)
    blobs = encode.graph(whole, Stamp("train", 1))
    assert max(map(len, blobs)) <= 4 << 20 and len(blobs) > 2
    writer = StreamWriter(tmp_path, "train")
    writer.write_graph(whole)
    writer.close()
    lineage = LogDir(tmp_path).run(".").stream("train").lineage()
    started = time.perf_counter()
    (number,) = lineage.search("dense_7/MatMul_123007")
    assert lineage.op(number).call == "dense_7" and len(lineage.ops("dense_7")) == 200
    print(f"searching {many:,} operations and listing one call's: {time.perf_counter() - started:.2f} s")
