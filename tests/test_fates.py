"""What TensorFlow's optimiser makes of operations, on a function whose optimised form is known; and the formulas of costs."""

from __future__ import annotations

from pathlib import Path

import keras
import numpy as np
import pytest
import tensorflow as tf

import tb_layerflow as layerflow
from tb_layerflow.capture import fates, flops
from tb_layerflow.log.records import Op


@pytest.fixture(scope="module")
def found() -> dict[str, str]:
    kernel, bias = tf.Variable(tf.ones((3, 3, 2, 4))), tf.Variable(tf.zeros(4))

    @tf.function(autograph=False)
    def step(x: tf.Tensor) -> tf.Tensor:
        six = tf.multiply(tf.constant(2.0), tf.constant(3.0), name="six")
        tf.exp(x, name="unused")
        hidden = tf.nn.conv2d(x, kernel, 1, "SAME", name="conv")
        return tf.multiply(tf.nn.relu(tf.nn.bias_add(hidden, bias, name="biased"), name="relu"), six, name="scaled")

    function = step.get_concrete_function(tf.TensorSpec((None, 8, 8, 2)))
    ops = [Op(operation.name, operation.type) for operation in function.graph.get_operations()]
    fates.of(function.graph, function.graph.outputs, ops)
    return {op.name: op.fate for op in ops}


@pytest.mark.parametrize(("name", "fate"), [
    ("six", "folded"), ("unused", "removed"), ("scaled", "kept"), ("conv", "fused into relu (_FusedConv2D)"),
    ("biased", "fused into relu (_FusedConv2D)"), ("relu", "fused into relu (_FusedConv2D)"),
])  # fmt: skip
def test_each_operation_has_the_fate_that_is_expected(name: str, fate: str, found: dict[str, str]) -> None:
    assert found[name] == fate


@pytest.mark.parametrize(("type_", "inputs", "outputs", "expected"), [
    ("MatMul", [(5, 7), (7, 3)], [(5, 3)], 2 * 5 * 7 * 3),
    ("BatchMatMulV2", [(2, 5, 7), (2, 7, 3)], [(2, 5, 3)], 2 * 2 * 5 * 7 * 3),
    ("Conv2D", [(1, 8, 8, 3), (3, 3, 3, 16)], [(1, 6, 6, 16)], 2 * 6 * 6 * 16 * 27),
    ("DepthwiseConv2dNative", [(1, 8, 8, 3), (3, 3, 3, 2)], [(1, 6, 6, 6)], 2 * 6 * 6 * 6 * 9),
    ("Conv3D", [(1, 4, 4, 4, 2), (3, 3, 3, 2, 5)], [(1, 2, 2, 2, 5)], 2 * 8 * 5 * 54),
    ("Conv2DBackpropFilter", [(1, 8, 8, 3), (4,), (1, 6, 6, 16)], [(3, 3, 3, 16)], 2 * 6 * 6 * 16 * 27),
    ("Conv2DBackpropInput", [(4,), (3, 3, 3, 16), (1, 6, 6, 16)], [(1, 8, 8, 3)], 2 * 6 * 6 * 16 * 27),
    ("BiasAdd", [(5, 3), (3,)], [(5, 3)], 15),
    ("Softmax", [(5, 3)], [(5, 3)], 75),
    ("MaxPool", [(1, 8, 8, 3)], [(1, 4, 4, 3)], 4 * 4 * 3 * 4),
    ("Einsum", [(2, 5, 7), (7, 3, 4)], [(2, 5, 3, 4)], 2 * 2 * 5 * 7 * 3 * 4),
    ("Mean", [(5, 3), (1,)], [(5,)], 15),
    ("Reshape", [(5, 3), (2,)], [(15,)], 0),
    ("MatMul", [(None, 7), (7, 3)], [(None, 3)], 2 * 7 * 3),
])  # fmt: skip
def test_costs_are_the_closed_formulas(type_: str, inputs: list, outputs: list, expected: int) -> None:
    attributes = {"ksize": [1, 2, 2, 1], "equation": b"abc,cde->abde"}
    assert flops.of(type_, inputs, outputs, attributes.get) == expected


def test_a_traced_function_is_recorded_as_one_call(tmp_path: Path) -> None:
    kernel = tf.Variable(tf.ones((3, 2)), name="kernel")

    @tf.function(autograph=False)
    def step(x: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.matmul(x, kernel, name="product"))
        return tape.gradient(loss, kernel)

    function = step.get_concrete_function(tf.TensorSpec((None, 3)))
    layerflow.summary.lineage("steps/mine", function, step=2, writer=tmp_path)
    layerflow.summary.outputs("steps/mine", np.ones(3), step=3, writer=tmp_path)
    layerflow.summary.flush()
    stream = layerflow.reader.LogDir(tmp_path).run(".").stream("manual")
    ops = {op.name: op for op in stream.ops("steps/mine")}
    assert stream.steps.tolist() == [2, 3] and {op.call for op in ops.values()} == {"steps/mine"}
    (gradient,) = [op for op in ops.values() if op.type == "MatMul" and op.direction == "backward"]
    assert (gradient.forward_op, gradient.fate) == ("product", "kept")
    assert ops["Sum"].fate == "removed"
    user = ops["product"].user_frame
    assert user is not None
    assert user.file == "test_fates.py"


def test_what_is_no_concrete_function_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=r"get_concrete_function\(…\)"):
        layerflow.summary.lineage("mine", lambda x: x, writer=tmp_path)


def test_a_compiled_step_is_one_cluster(tmp_path: Path) -> None:
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2, name="dense")])
    model.compile("sgd", "mse", jit_compile=True)
    stream = layerflow.record(model, tmp_path, np.ones((2, 3), np.float32))
    assert {op.fate for op in stream.ops()} == {fates.ONE_CLUSTER}
