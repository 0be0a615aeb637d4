"""Exact values: each is what a wrapper around its layer saw in the same step; what is cut is what the order says."""

from __future__ import annotations

import functools
from collections import defaultdict
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import layers

import tb_layerflow as layerflow
from tb_layerflow.capture.warn import LayerFlowWarning
from tb_layerflow.summary import Values
from tests import models, oracle

Seen = dict[str, list[tuple[list[np.ndarray], np.ndarray]]]
SHAPE = (12, 12, 3)


def convolutional(dtype: str = "float32", **compiled: Any) -> keras.Model:
    """Convolutions, a residual branch, every sort of call that the order of cuts tells apart."""
    keras.utils.set_random_seed(5)
    policy = {"dtype": keras.DTypePolicy(dtype)}
    image = keras.Input(SHAPE, name="image", dtype="float32")
    x = layers.Conv2D(6, 3, strides=2, padding="same", name="conv", **policy)(image)
    x = layers.BatchNormalization(name="normal", **policy)(x)
    branch = x = layers.ReLU(name="relu", **policy)(x)
    x = layers.DepthwiseConv2D(3, padding="same", name="depthwise", **policy)(x)
    x = layers.Add(name="add", **policy)([x, branch])
    x = layers.MaxPooling2D(name="pool", **policy)(x)
    x = layers.Flatten(name="flatten", **policy)(x)
    x = layers.Dropout(0.25, seed=3, name="dropout", **policy)(x)
    model = keras.Model(image, layers.Dense(3, activation="softmax", name="head", **policy)(x), name="convolutional")
    model.compile(**{"optimizer": "adam", "loss": "sparse_categorical_crossentropy", **compiled})
    return model


CLASSES = {
    "conv": 4, "depthwise": 4, "head": 4, "add": 3, "pool": 3, "image": 3, "normal": 2, "relu": 2, "flatten": 2, "dropout": 2,
}  # fmt: skip
"""What each output counts as when something must be cut; the logits of the head are the head's."""


def samples(count: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(1)
    return random.normal(size=(count, *SHAPE)).astype(np.float32), random.integers(0, 3, count)


def watched(model: keras.Model) -> Seen:
    """From now on every call of a layer also notes here what it was given and what it returned, as the step runs."""
    seen: Seen = defaultdict(list)
    for layer in model.layers:
        if not isinstance(layer, layers.InputLayer):
            layer.call = _noting(layer.call, seen[layer.name])
    return seen


def _noting(call: Any, seen: list[tuple[list[np.ndarray], np.ndarray]]) -> Any:
    def note(output: np.ndarray, *inputs: np.ndarray) -> None:
        seen.append(([np.array(one) for one in inputs], np.array(output)))

    @functools.wraps(call)
    def noting(inputs: Any, *args: Any, **kwargs: Any) -> Any:
        output = call(inputs, *args, **kwargs)
        tf.numpy_function(note, [output, *(inputs if isinstance(inputs, list) else [inputs])], [])
        return output

    return noting


def assert_bits(found: np.ndarray, seen: np.ndarray, what: str) -> None:
    expected = seen.astype(np.float32) if seen.dtype.name == "bfloat16" else seen
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape), what
    assert found.tobytes() == expected.tobytes(), what


def assert_as_seen(stream: Any, seen: Seen, step: int, kept: int, run: int = -1) -> None:
    for name, calls in seen.items():
        inputs, output = calls[run]
        assert_bits(stream.value(name, step=step), output[:kept], f"output of {name}")
        for port, one in enumerate(inputs):
            assert_bits(stream.value(name, "input", port, step), one[:kept], f"input {port} of {name}")


def train(model: keras.Model, folder: Path, count: int = 8, batch: int = 4, epochs: int = 1, **options: Any) -> Any:
    x, y = samples(count)
    callback = layerflow.LayerFlow(folder, **{"every": 1, **options})
    model.fit(x, y, batch_size=batch, epochs=epochs, shuffle=False, verbose=0, callbacks=[callback])
    return layerflow.reader.LogDir(folder).run(".").stream("train")


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_record_keeps_the_bits_that_each_layer_saw(dtype: str, tmp_path: Path) -> None:
    model = convolutional(dtype)
    seen = watched(model)
    stream = layerflow.record(model, tmp_path, samples(6)[0])
    assert_as_seen(stream, seen, 0, kept=4)
    assert stream.values.manifest().cut == []


@pytest.mark.parametrize("dtype", ["float32", "mixed_float16", "mixed_bfloat16"])
def test_a_training_step_keeps_the_bits_that_each_layer_saw(dtype: str, tmp_path: Path) -> None:
    model = convolutional(dtype)
    seen = watched(model)
    stream = train(model, tmp_path, values=Values(samples=3, every=2))
    assert stream.values.steps.tolist() == [0]
    assert_as_seen(stream, seen, 0, kept=3, run=0)


@pytest.mark.parametrize("compiled", [{"run_eagerly": True}, {"jit_compile": True}])
def test_errors_and_weights_are_those_of_a_tape_however_the_step_runs(compiled: dict[str, bool], tmp_path: Path) -> None:
    model = models.siamese()
    model.compile("sgd", "mse", **compiled)
    x, y = models.samples(model)
    weights = {weight.path: weight.numpy() for weight in model.weights}
    by_hand = oracle.run(model, x, y, training=True)
    model.fit(x, y, batch_size=len(y), shuffle=False, verbose=0, callbacks=[layerflow.LayerFlow(tmp_path, values="all")])
    stream = layerflow.open(tmp_path)
    for kind, expected in (("output", by_hand.outputs), ("error", by_hand.errors)):
        for path, array in expected.items():
            np.testing.assert_allclose(stream.value(path, kind), array, rtol=1e-5, atol=1e-6, err_msg=f"{kind} {path}")
    kernel = stream.value("encoder/first_dense", "weight", 0)
    assert kernel.tobytes() == next(value for path, value in weights.items() if path.endswith("first_dense/kernel")).tobytes()


def test_errors_are_unscaled(tmp_path: Path) -> None:
    plain = train(convolutional(optimizer="sgd"), tmp_path / "plain")
    scaled = keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD(), initial_scale=1024.0)
    stream = train(convolutional(optimizer=scaled), tmp_path / "scaled")
    assert stream.records.loss_scale[0] == 1024
    np.testing.assert_allclose(stream.value("conv", "error"), plain.value("conv", "error"), rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("build", [convolutional, models.softmax_classifier])
def test_training_is_the_same_with_values(build: Any, tmp_path: Path) -> None:
    keras.utils.set_random_seed(7)
    plain = build()
    keras.utils.set_random_seed(7)
    recorded = build()
    x, y = samples(12) if build is convolutional else models.samples(plain, 12)
    # A recorded convolution is not fused with what follows it; without values it is the same step but for what leaves it.
    none = [layerflow.LayerFlow(tmp_path / "none", every=1, values="none")] if build is convolutional else []
    history = plain.fit(x, y, batch_size=4, epochs=3, shuffle=False, verbose=0, callbacks=none).history
    callback = layerflow.LayerFlow(tmp_path / "values", every=1, values=Values(samples=2, every=3), probe=(x[:3], y[:3]))
    same = recorded.fit(x, y, batch_size=4, epochs=3, shuffle=False, verbose=0, callbacks=[callback]).history
    assert same == history
    for one, two in zip(plain.variables, recorded.variables, strict=True):
        assert one.numpy().tobytes() == two.numpy().tobytes(), one.path


def test_the_first_record_and_every_tenth_hold_one_sample_by_default(tmp_path: Path) -> None:
    x, y = samples(4)
    model = models.plain()
    x, y = models.samples(model, 4)
    callback = layerflow.LayerFlow(tmp_path, every=2, probe=(x, y))
    model.fit(x, y, batch_size=2, epochs=12, verbose=0, callbacks=[callback])
    run = layerflow.reader.LogDir(tmp_path).run(".")
    for name in ("train", "probe"):
        stream = run.stream(name)
        assert stream.steps.tolist() == list(range(0, 24, 2))
        assert stream.values.steps.tolist() == [0, 20]
        assert stream.value("first").shape == (1, 3)


def test_a_batch_smaller_than_the_samples_is_kept_whole(tmp_path: Path) -> None:
    stream = train(convolutional(), tmp_path, count=6, batch=4, values=Values(samples=3, every=1))
    assert [stream.value("conv", step=step).shape[0] for step in (0, 1)] == [3, 2]


@pytest.mark.parametrize(("values", "kept"), [("all", 70), (Values(samples=66), 66), (Values(samples=2), 2)])
def test_samples_are_kept_over_the_chunks_of_a_probe(values: Any, kept: int, tmp_path: Path) -> None:
    model = models.plain()
    x, y = models.samples(model, 70)
    stream = layerflow.record(model, tmp_path, x, y, values=values)
    by_hand = oracle.run(model, x, y)
    np.testing.assert_allclose(stream.value("first"), by_hand.outputs["first"][:kept], rtol=1e-6)
    np.testing.assert_allclose(stream.value("first", "error"), by_hand.errors["first"][:kept], rtol=1e-5, atol=1e-9)
    assert stream.value("first", "input").tobytes() == x[:kept].tobytes()


def test_none_keeps_none(tmp_path: Path) -> None:
    stream = layerflow.record(convolutional(), tmp_path, samples(2)[0], values="none")
    assert stream.values.steps.tolist() == []
    assert not (tmp_path / "plugins").exists()
    with pytest.raises(KeyError, match="No record of this stream has exact values"):
        stream.value("conv")


def test_channels_have_the_figures_of_the_stated_part(tmp_path: Path) -> None:
    model = convolutional()
    x, y = samples(80)
    outputs = oracle.run(model, x).outputs
    stream = layerflow.record(model, tmp_path, x, y)
    for path in ("conv", "relu", "head"):
        part = oracle.part_of(outputs[path]).astype(np.float64).reshape(-1, outputs[path].shape[-1])
        expected = np.stack([part.mean(0), part.std(0), part.min(0), part.max(0), (part == 0).mean(0)])
        np.testing.assert_allclose(stream.value(path, "channels:output"), expected, rtol=1e-4, atol=1e-5, err_msg=path)


def test_only_the_chosen_layers_are_kept_with_what_goes_into_them(tmp_path: Path) -> None:
    model = convolutional()
    stream = layerflow.record(model, tmp_path, samples(2)[0], values=Values(samples=2, layers="depthwise"))
    assert {row.path for row in stream.values.rows() if row.kind == "output"} == {"depthwise", "relu"}
    assert stream.value("depthwise", "input").tobytes() == stream.value("relu").tobytes()
    assert stream.explain("depthwise", (1, 2, 3, 4)).difference == pytest.approx(0, abs=1e-6)
    narrow = layerflow.record(model, tmp_path / "narrow", samples(2)[0], layers="depthwise")
    assert narrow.value("depthwise", "input").tobytes() == stream.value("depthwise", "input").tobytes()


def test_of_two_callbacks_each_has_the_values_and_the_kinds_that_it_asked_for(tmp_path: Path) -> None:
    model = convolutional()
    x, y = samples(4)
    one = layerflow.LayerFlow(tmp_path / "one", every=1, what=("outputs",), values=Values(samples=None, layers="conv"))
    other = layerflow.LayerFlow(tmp_path / "other", every=1, values=Values(samples=2, layers=["relu", "head"]))
    model.fit(x, y, batch_size=4, verbose=0, callbacks=[one, other])
    first, second = (layerflow.open(tmp_path / name) for name in ("one", "other"))
    assert first.value("conv").shape[0] == 4
    assert second.value("relu").shape[0] >= 2 and second.value("head").shape[0] >= 2
    kinds = [
        {kind for kind in ("output", "error", "weight", "update") if len(one.statistics(kind).ports)} for one in (first, second)
    ]
    assert kinds == [{"output"}, {"output", "error", "weight", "update"}]


def test_every_call_of_the_record_can_be_explained(tmp_path: Path) -> None:
    stream = layerflow.record(convolutional(), tmp_path, samples(3)[0])
    for call in stream.graph.calls:
        if call.kind == "input" or call.parent is None:
            continue
        array = stream.value(call.path)
        for number in (0, array.size // 2, array.size - 1):
            place = tuple(int(at) for at in np.unravel_index(number, array.shape))
            found = stream.explain(call.path, place)
            assert found.recorded == array[place]
            assert abs(found.difference) <= 1e-5 * max(found.magnitude, 1e-9), (call.path, place, found.reason)


def test_a_layer_that_runs_its_cell_in_a_loop_says_that_its_formula_is_not_known(tmp_path: Path) -> None:
    model = keras.Sequential([keras.Input((5, 2)), layers.LSTM(3, name="lstm"), layers.Dense(1, name="head")])
    stream = layerflow.record(model, tmp_path, np.ones((2, 5, 2), np.float32))
    found = stream.explain("lstm", (0, 1))
    assert getattr(found, "reason", "") == "LSTM is not one of the layers whose formula the microscope knows."
    assert found.window[0].box == (slice(0, 1), slice(0, 5), slice(0, 2))


# ------------------------------------------------------------------------------------------------------------- limits


def test_whole_tensors_are_cut_in_the_stated_order_and_the_ledger_names_each(tmp_path: Path) -> None:
    model = convolutional()
    x, y = samples(2)
    whole = layerflow.record(model, tmp_path / "whole", x, y, values=Values(samples=2))
    tensors: dict[str, set[tuple[str, str, int]]] = defaultdict(set)
    sizes: dict[str, int] = {}
    for value, row in zip(whole.values.manifest().values, whole.values.rows(), strict=True):
        tensors[value.member].add((row.kind, row.path, row.port))
        sizes[value.member] = row.bytes
    aside = sum(sizes.pop(member) for member in list(sizes) if member.startswith("channels"))
    classes = {member: max(_class_of(*key) for key in tensors[member]) for member in sizes}
    for number, share in enumerate((0.02, 0.2, 0.4, 0.6, 0.8, 0.95)):
        limit = int(sum(sizes.values()) * share)
        stream = layerflow.record(model, tmp_path / str(number), x, y, values=Values(samples=2, record_bytes=limit + aside))
        kept = {value.member for value in stream.values.manifest().values} & set(sizes)
        gone = set(sizes) - kept
        total = sum(sizes[member] for member in kept)
        assert total <= limit
        highest = max(classes[member] for member in gone)
        assert gone >= {member for member in sizes if classes[member] < highest}, "a lower class goes whole first"
        last = min(sizes[member] for member in gone if classes[member] == highest)
        assert total + last > limit, "no more is cut than must be"
        named = {(entry.kind, entry.path, entry.port) for entry in stream.ledger() if entry.status == "truncated"}
        assert named == {key for member in gone for key in tensors[member]}
        kind, path, port = sorted(named)[0]
        with pytest.raises(KeyError, match="cut"):
            stream.value(path, kind, port, step=0)


def _class_of(kind: str, path: str, port: int) -> int:
    if kind in ("input", "weight"):
        return 0
    return 5 if kind == "label" else 1 if kind.startswith("error") else CLASSES.get(path, 3)


def test_what_cannot_fit_does_not_leave_the_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tb_layerflow.capture import values

    left: dict[Any, int] = {}
    copied = values.ExactValues._copied

    def counted(self: Any, one: Any, *rest: Any) -> Any:
        left[one.rows[0]] = one.bytes
        return copied(self, one, *rest)

    monkeypatch.setattr(values.ExactValues, "_copied", counted)
    train(convolutional(), tmp_path, values=Values(samples=2, every=1, record_bytes=4000))
    assert 0 < sum(left.values()) <= 4000


def test_the_limit_of_the_run_ends_the_values_and_nothing_else(tmp_path: Path) -> None:
    one = train(convolutional(), tmp_path / "one", values=Values(every=1))
    size = one.values.manifest(0).bytes
    stream = train(convolutional(), tmp_path / "run", count=40, values=Values(every=1, run_bytes=int(size * 2.5)))
    assert stream.steps.tolist() == list(range(10))
    files = sorted((tmp_path / "run" / "plugins" / "layerflow").iterdir())
    assert sum(file.stat().st_size for file in files) <= size * 2.5
    assert stream.values.manifest(0).cut == stream.values.manifest(1).cut == []
    assert "the exact values of all records together may have" in stream.values.manifest(2).cut[0].reason
    assert stream.values.steps.tolist() == [0, 1, 2]
    assert [entry.step for entry in stream.ledger() if entry.reason.startswith("exact values end here")] == [2]
    assert stream.value("conv", step=1).shape == (1, 6, 6, 6)


def test_a_full_disk_is_one_warning_and_loses_nothing_that_was_written(tmp_path: Path) -> None:
    model = models.plain()
    x, y = models.samples(model, 8)
    callback = layerflow.LayerFlow(tmp_path, every=1, values=Values(every=1))

    class FullFromStepTwo(keras.callbacks.Callback):
        def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
            if batch == 2:
                for sink in callback._training._sinks.values():
                    sink.drain()
                folder = tmp_path / "plugins" / "layerflow"
                folder.rename(folder.with_name("before"))
                folder.write_text("no folder")

    with pytest.warns(LayerFlowWarning, match="cannot be written") as warned:
        model.fit(x, y, batch_size=2, verbose=0, callbacks=[FullFromStepTwo(), callback])
    assert len([one for one in warned if "LayerFlow" in str(one.message)]) == 1
    (tmp_path / "plugins" / "layerflow").unlink()
    (tmp_path / "plugins" / "before").rename(tmp_path / "plugins" / "layerflow")
    stream = layerflow.open(tmp_path)
    assert stream.steps.tolist() == [0, 1, 2, 3]
    assert stream.values.steps.tolist() == [0, 1]
    assert stream.value("first").shape == (1, 3)


# ---------------------------------------------------------------------------------------------------- what people give


@pytest.mark.parametrize("compiled", [{}, {"run_eagerly": True}, {"jit_compile": True}])
def test_the_labels_of_the_kept_samples_are_kept_as_given(compiled: dict[str, bool], tmp_path: Path) -> None:
    model = convolutional(**compiled)
    x, y = samples(70)
    model.fit(x[:8], y[:8], batch_size=4, shuffle=False, verbose=0,
              callbacks=[layerflow.LayerFlow(tmp_path, every=1, values=Values(samples=66, every=1), probe=(x, y))])  # fmt: skip
    run = layerflow.reader.LogDir(tmp_path).run(".")
    train, probe = run.stream("train"), run.stream("probe")
    for step in (0, 1):
        np.testing.assert_array_equal(train.value(".", "label", step=step), y[4 * step : 4 * step + 4])
        np.testing.assert_array_equal(probe.value(".", "label", step=step), y[:66])
    assert train.value(".", "label").dtype == y.dtype


def test_labels_are_those_of_their_output(tmp_path: Path) -> None:
    given = keras.Input((4,), name="x")
    outputs = {"kind": layers.Dense(3, "softmax", name="kind")(given), "age": layers.Dense(1, name="age")(given),
               "free": layers.Dense(2, name="free")(given)}  # fmt: skip
    model = keras.Model(given, outputs)
    model.compile("sgd", {"kind": "categorical_crossentropy", "age": "mse"})
    x = np.random.default_rng(2).random((5, 4), np.float32)
    y = {"kind": np.eye(3, dtype=np.float32)[[0, 2, 1, 1, 0]], "age": np.arange(5, dtype=np.float32)}
    stream = layerflow.record(model, tmp_path, x, y)
    ports = [port.key for port in stream.graph.call(".").outputs]
    for name, labels in y.items():
        np.testing.assert_array_equal(stream.value(".", "label", ports.index(name)), labels[:4])
    with pytest.raises(KeyError, match="There is no exact label"):
        stream.value(".", "label", ports.index("free"))


def test_labels_by_name_of_outputs_in_a_list_are_those_of_the_names(tmp_path: Path) -> None:
    given = keras.Input((4,), name="x")
    model = keras.Model(given, [layers.Dense(1, name="1")(given), layers.Dense(1, name="0")(given)])
    y = {"1": np.ones((3, 1), np.float32), "0": np.zeros((3, 1), np.float32)}
    model.compile("sgd", {"1": "mse", "0": "mse"})
    stream = layerflow.record(model, tmp_path, np.ones((3, 4), np.float32), y)
    assert [float(stream.value(".", "label", port)[0, 0]) for port in (0, 1)] == [1.0, 0.0]


@pytest.mark.parametrize("what", ["no labels", "pictures"])
def test_where_labels_are_none_or_large_none_are_kept(what: str, tmp_path: Path) -> None:
    model = keras.Sequential([keras.Input((70, 70, 1)), layers.Conv2D(1, 1, name="conv")])
    model.compile("sgd", "mse")
    x = np.zeros((2, 70, 70, 1), np.float32)
    stream = layerflow.record(model, tmp_path, x, x if what == "pictures" else None)
    assert [row.kind for row in stream.values.rows() if row.kind == "label"] == []
    assert stream.value("conv").shape == x.shape


def test_class_names_and_pictures_are_kept_as_given(tmp_path: Path) -> None:
    x, y = samples(6)
    pictures = np.random.default_rng(0).integers(0, 255, (6, 20, 20, 3)).astype(np.uint8)
    stream = layerflow.record(convolutional(), tmp_path, x, y, class_names=["ant", "bee", "cat"], pictures=pictures)
    assert stream.graph.record.class_names == ["ant", "bee", "cat"]
    assert stream.value(".", "picture").tobytes() == pictures[:4].tobytes()


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"values": "some"}, 'values must be "none", "auto", "all" or layerflow.summary.Values(...). Received: \'some\'.'),
        ({"pictures": np.zeros((2, 4, 4, 3))}, "pictures must be uint8 of shape [samples, height, width] or"),
        ({"pictures": np.zeros((3, 4, 4), np.uint8)}, "pictures must be as many as the samples, 2. Received: 3."),
        ({"class_names": [1, 2]}, 'class_names must be "imagenet" or a list of names. Received in it: 1.'),
        ({"class_names": 3}, 'class_names must be "imagenet" or a list of names. Received in it: 3.'),
    ],
)
def test_what_cannot_be_is_refused_with_a_sentence(given: dict[str, Any], sentence: str, tmp_path: Path) -> None:
    with pytest.raises((ValueError, TypeError)) as refused:
        layerflow.record(convolutional(), tmp_path, samples(2)[0], **given)
    assert str(refused.value).startswith(sentence)
    with pytest.raises(ValueError, match=r"every must be a positive integer. Received: 0."):
        Values(every=0)
