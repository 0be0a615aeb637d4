"""Which call, which line, which gradient each operation of a step is of: against layers traced alone, and known lines."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import layers

import tb_layerflow as layerflow
from tb_layerflow.reader import Op, Stream
from tests import lines

KERAS_3_3 = not hasattr(keras.Model, "_autoconvert_optionals")
"""There Dense and Conv2D add their bias by a plain sum, whose gradient is a sum over the rest."""
ADD = "AddV2" if KERAS_3_3 else "BiasAdd"
ADD_BACKWARD = {"Sum": 1, "Reshape": 1, "Const": 3} if KERAS_3_3 else {"BiasAddGrad": 1}
UNCOUNTED = {"Placeholder", "Identity", "NoOp"}
"""A graph's own arguments and results; a variable's placeholder is made once, at its first reader."""


def fitted(model: keras.Model, x: Any, y: Any, folder: Path, **options: Any) -> Stream:
    """The train stream of one recorded step."""
    what = ("outputs", "errors", "lineage")
    callback = layerflow.LayerFlow(folder, every={0}, values="none", what=what, strict=True, **options)
    model.fit(x, y, batch_size=len(x), epochs=1, verbose=0, shuffle=False, callbacks=[callback])
    return layerflow.reader.LogDir(folder).run(".").stream("train")


def types(ops: list[Op], direction: str = "forward") -> Counter[str]:
    return Counter(op.type for op in ops if op.direction == direction and op.type not in UNCOUNTED)


def alone(layer: Any, *inputs: Any, training: bool = True) -> Counter[str]:
    """The operations of one layer, traced by itself."""
    takes = "training" in layer._call_signature.parameters
    function = tf.function(lambda *tensors: layer(*tensors, **({"training": training} if takes else {})), autograph=False)
    graph = function.get_concrete_function(*[tf.TensorSpec(tensor.shape, tensor.dtype) for tensor in inputs]).graph
    return Counter(operation.type for operation in graph.get_operations() if operation.type not in UNCOUNTED)


@pytest.fixture(scope="module")
def image_model() -> keras.Model:
    image = keras.Input((8, 8, 3), name="image")
    x = layers.Conv2D(4, 3, activation="relu", name="conv")(image)
    x = layers.BatchNormalization(name="normal")(x)
    x = layers.MaxPooling2D(name="pool")(x)
    x = layers.Flatten(name="flat")(x)
    x = layers.Dropout(0.5, name="drop")(x)
    outputs = layers.Dense(3, activation="softmax", name="head")(x)
    model = keras.Model(image, outputs)
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    return model


@pytest.fixture(scope="module")
def image_stream(image_model: keras.Model, tmp_path_factory: pytest.TempPathFactory) -> Stream:
    return fitted(image_model, np.ones((4, 8, 8, 3), np.float32), np.zeros(4, np.int32), tmp_path_factory.mktemp("image"))


SHAPES = {
    "conv": (4, 8, 8, 3), "normal": (4, 6, 6, 4), "pool": (4, 6, 6, 4), "flat": (4, 3, 3, 4), "drop": (4, 36), "head": (4, 36)
}  # fmt: skip


@pytest.mark.parametrize("name", SHAPES)
def test_a_call_has_the_operations_of_its_layer_traced_alone(name: str, image_model: keras.Model, image_stream: Stream) -> None:
    assert types(image_stream.ops(name)) == alone(image_model.get_layer(name), tf.ones(SHAPES[name]))


def test_backward_operations_name_the_forward_one_and_are_of_its_call(image_stream: Stream) -> None:
    forward = {op.name: op for op in image_stream.ops() if op.direction == "forward"}
    backward = [op for op in image_stream.ops() if op.direction == "backward"]
    tied = [op for op in backward if op.forward_op in forward]
    assert len(tied) >= 0.99 * len(backward)
    assert all((op.call, op.bucket) == (forward[op.forward_op].call, forward[op.forward_op].bucket) for op in tied)
    assert types(image_stream.ops("head"), "backward") == {"MatMul": 2, **ADD_BACKWARD}
    pairs = {op.type: forward[op.forward_op].type for op in image_stream.ops("conv") if op.direction == "backward"}
    assert (
        pairs["Conv2DBackpropFilter"] == "Conv2D"
        and pairs["ReluGrad"] == "Relu"
        and pairs["Sum" if KERAS_3_3 else "BiasAddGrad"] == ADD
    )


def test_weight_gradients_and_updates_name_their_variable(image_stream: Stream) -> None:
    gradients = {op.type: op.variable for op in image_stream.ops() if op.direction == "backward" and op.variable}
    assert gradients["Conv2DBackpropFilter"] == "conv/kernel"
    assert gradients["Reshape" if KERAS_3_3 else "BiasAddGrad"].endswith("/bias")
    written = [op.variable for op in image_stream.ops(bucket="optimizer") if op.type == "AssignSubVariableOp"]
    assert sorted(written) == ["conv/bias", "conv/kernel", "head/bias", "head/kernel", "normal/beta", "normal/gamma"]


def test_the_parts_of_the_step_are_buckets(image_stream: Stream) -> None:
    assert "SparseSoftmaxCrossEntropyWithLogits" in types(image_stream.ops(bucket="loss"))
    assert "ArgMax" in types(image_stream.ops(bucket="metrics"))
    assert {op.type for op in image_stream.ops(bucket="input")} <= {"Placeholder", "Cast"}
    assert all((op.call is None) == bool(op.bucket) for op in image_stream.ops())
    others = image_stream.ops(bucket="other")
    assert len(others) <= 0.05 * len(image_stream.ops())


def test_our_own_operations_are_not_listed(image_stream: Stream) -> None:
    assert "Bincount" not in types(image_stream.ops()) and "DenseBincount" not in types(image_stream.ops())
    head = image_stream.ops("head")
    (softmax,) = [op for op in head if op.type == "Softmax"]
    (add,) = [op for op in head if op.type == ADD]
    assert softmax.inputs == (add.number,)
    assert not any(frame.origin == "layerflow" for op in image_stream.ops() for frame in op.frames)


def test_a_port_names_the_operation_that_made_its_tensor(image_stream: Stream) -> None:
    by_name = {op.name: op for op in image_stream.ops("pool")}
    assert by_name[image_stream.graph.call("pool").outputs[0].op].type == "MaxPool"


@pytest.mark.parametrize(("name", "flops"), [
    ("conv", 4 * 6 * 6 * 4 * (2 * 27 + 2)), ("head", 4 * 3 * (2 * 36 + 1 + 5)), ("pool", 4 * 3 * 3 * 4 * 4), ("flat", 0),
])  # fmt: skip
def test_floating_point_operations_are_the_closed_formula(name: str, flops: int, image_stream: Stream) -> None:
    call = image_stream.graph.record.calls[image_stream.graph.call(name).number]
    batch = 1 if call.outputs[0].shape[0] == -1 else 4
    assert call.flops == flops / 4 * batch


class Loops(keras.Model):
    """Calls layers from a loop, a comprehension, a helper of another file, and through a decorator."""

    def __init__(self) -> None:
        super().__init__(name="loops")
        self.looped = layers.Dense(4, name="looped")
        self.comprehended = layers.Dense(4, name="comprehended")
        self.helped = layers.Dense(4, name="helped")
        self.decorated = layers.Dense(4, name="decorated")

    def call(self, x: Any) -> Any:
        for _ in range(2):
            x = self.looped(x)  # line of `looped`
        x = sum([self.comprehended(x) for _ in range(2)])  # line of `comprehended`
        x = lines.helped(self.helped, x)
        return self.last(x)

    @lines.through
    def last(self, x: Any) -> Any:
        return tf.nn.relu(self.decorated(x))  # line of `decorated`


def line_of(text: str) -> int:
    source = Path(__file__).read_text().splitlines()
    return next(number for number, line in enumerate(source, 1) if f"# line of `{text}`" in line)


@pytest.mark.parametrize("filtering", [True, False])
@pytest.mark.parametrize("eagerly", [False, True])
def test_the_innermost_user_line_is_the_one_that_calls_the_layer(filtering: bool, eagerly: bool, tmp_path: Path) -> None:
    model = Loops()
    model.compile("sgd", "mse", run_eagerly=eagerly)
    (keras.config.enable_traceback_filtering if filtering else keras.config.disable_traceback_filtering)()
    try:
        stream = fitted(model, np.ones((2, 4), np.float32), np.ones((2, 4), np.float32), tmp_path, source=True)
    finally:
        keras.config.enable_traceback_filtering()
    here = "test_lineage.py"
    expected = {"looped": (here, line_of("looped")), "looped#1": (here, line_of("looped")),
                "comprehended#1": (here, line_of("comprehended")), "helped": ("lines.py", lines.HELPER_LINE),
                "decorated": (here, line_of("decorated"))}  # fmt: skip
    for path, place in expected.items():
        frames = {op.user_frame for op in stream.ops(path) if op.direction == "forward" and op.type in ("MatMul", "BiasAdd")}
        assert {(frame.file, frame.line) for frame in frames if frame} == {place}, path
    (relu,) = [op for op in stream.ops(".") if op.type == "Relu"]
    assert relu.call == "." and relu.user_frame is not None and relu.user_frame.line == line_of("decorated")
    assert [call.path for call in stream.calls_of(f"test_lineage.py:{line_of('looped')}")] == ["looped", "looped#1"]
    assert stream.lineage().source[here, line_of("looped")].startswith("x = self.looped(x)")


def test_source_text_is_kept_only_when_asked_for(image_stream: Stream) -> None:
    assert image_stream.lineage().source == {}


def test_eager_and_traced_steps_have_the_same_operations(tmp_path: Path) -> None:
    found = {}
    for eagerly in (False, True):
        keras.utils.set_random_seed(1)
        bias = not KERAS_3_3  # whose sum's gradient is other operations where shapes are known
        hidden = layers.Dense(3, activation="tanh", name="dense", use_bias=bias)
        model = keras.Sequential([keras.Input((4,)), hidden, layers.Dense(2, name="head", use_bias=bias)])
        model.compile("sgd", "mse", run_eagerly=eagerly)
        stream = fitted(model, np.ones((2, 4), np.float32), np.ones((2, 2), np.float32), tmp_path / str(eagerly))
        found[eagerly] = [(types(stream.ops(name)), types(stream.ops(name), "backward")) for name in ("dense", "head")]
        assert ("eager" in stream.ops("dense")[0].fate) == eagerly
    assert found[True] == found[False]


def test_operations_in_a_loop_belong_to_the_call_that_runs_it(tmp_path: Path) -> None:
    model = keras.Sequential([keras.Input((5, 3)), layers.LSTM(2, name="lstm"), layers.Dense(1, name="head")])
    model.compile("sgd", "mse")
    stream = fitted(model, np.ones((2, 5, 3), np.float32), np.ones((2, 1), np.float32), tmp_path)
    inner = [op for op in stream.ops("lstm") if op.body]
    cell = stream.ops("lstm/lstm_cell")
    assert types(cell)["MatMul"] == 2 and all(op.body for op in cell if op.direction == "forward")
    assert types(cell, "backward")["MatMul"] == 4
    assert len(inner) >= 100 and {op.call for op in inner} == {"lstm", "lstm/lstm_cell"}
    assert not [op for op in stream.ops() if op.body and op.call is None]


def test_a_failed_lineage_never_costs_the_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["tb_layerflow.capture.graph_operations"], "attribute", lambda *_: 1 / 0)
    model = keras.Sequential([keras.Input((4,)), layers.Dense(1, name="dense")])
    model.compile("sgd", "mse")
    stream = fitted(model, np.ones((2, 4), np.float32), np.ones((2, 1), np.float32), tmp_path)
    assert stream.steps.tolist() == [0] and stream.ops() == []
    assert any("operations could not be told" in entry.reason for entry in stream.ledger())
