"""Distribution: replicas give the figures of the whole batch, training is unchanged, what cannot be recorded is refused."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

import tb_layerflow as layerflow
from tb_layerflow.capture import families
from tests import models
from tests.strategy_programs import BATCH, batches, build

HERE = Path(__file__).resolve().parent.parent


def run(name: str, folder: Path, **environment: str) -> subprocess.Popen[bytes]:
    folder.mkdir(exist_ok=True, parents=True)
    return subprocess.Popen(
        [sys.executable, "-m", "tests.strategy_programs", name, str(folder)], cwd=HERE, env={**os.environ, **environment},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip


def finished(process: subprocess.Popen[bytes]) -> None:
    said, _ = process.communicate(timeout=300)
    assert process.returncode == 0, said.decode(errors="replace")[-3000:]


def left(folder: Path) -> list[np.ndarray]:
    with np.load(folder / "left.npz") as arrays:
        return [arrays[name] for name in arrays.files]


def by_hand(normal: bool, loss: str) -> dict[str, dict[str, np.ndarray]]:
    """The first step's outputs and errors on one device with the whole batch, the error divided as under the strategy."""
    model = build()
    x, y = (tf.constant(array[:BATCH]) for array in batches())
    first, last = model.layers
    with tf.GradientTape() as tape:
        outputs = {"first": tf.identity(first(x))}
        tape.watch(outputs["first"])
        hidden = outputs["first"]
        if normal:
            mean, variance = tf.nn.moments(hidden, 0)
            outputs["normal"] = hidden = tf.identity((hidden - mean) / tf.sqrt(variance + 1e-3))
        outputs["last"] = tf.identity(last(hidden))
        total = tf.reduce_mean(tf.square(y - outputs["last"]))
    errors = tape.gradient(total, outputs)
    return {"output": {name: tensor.numpy() for name, tensor in outputs.items()},
            "error": {name: error.numpy() for name, error in errors.items()}}  # fmt: skip


def assert_figures(stream: Any, expected: dict[str, dict[str, np.ndarray]], kinds: tuple[str, ...] = ("output", "error")) -> None:
    for kind in kinds:
        table = stream.statistics(kind)
        for path, array in expected[kind].items():
            size = float(np.sqrt(np.mean(np.square(array))))
            figures = {"count": array.size, "mean": array.mean(), "l2": np.linalg.norm(array), "min": array.min(),
                       "max": array.max(), "std": array.std()}  # fmt: skip
            for column, number in figures.items():
                found = table.series(path, column)[1][0]
                assert found == pytest.approx(number, rel=1e-5, abs=1e-5 * size), f"{kind} {path} {column}"


def test_under_a_mirrored_strategy_fit_records_the_whole_batch_and_trains_as_without(tmp_path: Path) -> None:
    for name in ("fit", "fit:plain"):
        finished(run(name, tmp_path / name.replace(":", "_")))
    stream = layerflow.open(tmp_path / "fit" / "log")
    expected = by_hand(True, "mse")
    assert_figures(stream, {"output": expected["output"], "error": {}})
    # Keras 3.3 does not divide a replica's loss by the number of replicas, and trains with the sum of the gradients.
    factor = 1 if hasattr(keras.src.losses.loss, "scale_loss_for_distribution") else 2
    assert_figures(stream, {"output": {}, "error": {name: factor * expected["error"][name] for name in ("normal", "last")}})
    execution = stream.graph.record.execution
    assert (execution.strategy, execution.replicas) == ("MirroredStrategy", 2)
    assert stream.records.batch_size[0] == BATCH
    assert [call.path for call in stream.graph.calls] == [".", "numbers", "first", "normal", "last"]
    for one, other in zip(left(tmp_path / "fit"), left(tmp_path / "fit_plain"), strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_recorded_function_that_calls_strategy_run_records_every_replica(tmp_path: Path) -> None:
    for name in ("loop", "loop:plain"):
        finished(run(name, tmp_path / name.replace(":", "_")))
    stream = layerflow.open(tmp_path / "loop" / "log")
    assert_figures(stream, by_hand(False, "mse"))
    assert stream.steps.tolist() == [0, 1]
    assert stream.graph.record.execution.replicas == 2
    recorded, plain = left(tmp_path / "loop"), left(tmp_path / "loop_plain")
    for one, other in zip(recorded, plain, strict=True):
        np.testing.assert_array_equal(one, other)
    assert stream.records.losses["loss"].tolist() == pytest.approx([float(loss) for loss in recorded[-2:]], rel=1e-6)


def as_two_workers(name: str, folder: Path) -> list[list[np.ndarray]]:
    """A program in two processes on this machine, until both are done; what each leaves."""
    cluster = {"worker": [f"localhost:{free_port()}" for _ in range(2)]}
    started = [run(name, folder, TF_CONFIG=json.dumps({"cluster": cluster, "task": {"type": "worker", "index": number}}))
               for number in range(2)]  # fmt: skip
    for process in started:
        finished(process)
    return [left(folder / f"left_{number}") for number in range(2)]


def test_each_of_two_workers_writes_its_own_run_and_waits_for_nobody(tmp_path: Path) -> None:
    weights = as_two_workers("worker", tmp_path)
    log = layerflow.reader.LogDir(tmp_path / "log")
    assert log.runs == ["worker_0", "worker_1"]
    x, _ = batches()
    for number in range(2):
        half = x[number * BATCH // 2 : (number + 1) * BATCH // 2]
        stream = log.run(f"worker_{number}").stream("train")
        assert_figures(stream, {"output": {".": half @ np.ones((3, 1), np.float32)}}, ("output",))
        assert stream.steps.tolist() == [0, 1]
    np.testing.assert_array_equal(weights[0][0], weights[1][0])


@pytest.mark.skipif(
    tf.__version__.startswith("2.16."), reason="two workers of tf_keras 2.16 wait for each other, recorded or not"
)
def test_two_workers_that_fit_a_model_of_tf_keras_write_a_run_each_and_train_as_without(tmp_path: Path) -> None:
    pytest.importorskip("tf_keras")
    recorded = as_two_workers("worker_fit", tmp_path / "recorded")
    plain = as_two_workers("worker_fit:plain", tmp_path / "plain")
    for one, other in zip([*recorded[0], *recorded[1]], [*plain[0], *plain[1]], strict=True):
        np.testing.assert_array_equal(one, other)
    log = layerflow.reader.LogDir(tmp_path / "recorded" / "log")
    assert log.runs == ["worker_0", "worker_1"]
    x, y = batches()
    for number in range(2):
        half = slice(number * BATCH // 2, (number + 1) * BATCH // 2)
        stream = log.run(f"worker_{number}").stream("train")
        last = x[half].sum(1, keepdims=True)
        assert_figures(stream, {"output": {"first": x[half], "last": last}, "error": {"last": 2 * (last - y[half]) / BATCH}})
        assert stream.steps.tolist() == [0, 1]
        execution = stream.graph.record.execution
        assert (execution.strategy, execution.replicas) == ("CollectiveAllReduceStrategy", 2)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        return int(probe.getsockname()[1])


# ------------------------------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize("name", ["ParameterServerStrategyV2", "TPUStrategyV2"])
def test_strategies_that_cannot_be_recorded_are_refused_with_one_sentence(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = models.plain()
    monkeypatch.setattr(type(model), "distribute_strategy", property(lambda self: type(name, (), {})()), raising=False)
    callback = layerflow.LayerFlow(tmp_path, every=1)
    callback.set_model(model)
    with pytest.warns(UserWarning, match=f"does not record under {name}. Nothing is recorded; training goes on") as warned:
        callback.on_train_begin()
    assert len(warned) == 1
    callback.on_train_batch_begin(0)
    callback.on_train_batch_end(0)
    assert not list(tmp_path.iterdir())


def test_a_model_on_another_backend_is_refused_with_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = models.plain()
    monkeypatch.setattr(families, "_families", {})
    monkeypatch.setattr(keras.backend, "backend", lambda: "jax")
    with pytest.raises(
        TypeError, match=r"set KERAS_BACKEND=tensorflow before Keras is imported\. Received: a model on the 'jax'"
    ):
        layerflow.LayerFlow(tmp_path).set_model(model)
