"""Calls of shared functions in a step: who waits for them, and what stays of what they were given."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from tb_layerflow.capture import shared, statistics


def _sum(tensor: Any, factor: Any) -> Any:
    return tf.reduce_sum(tensor * factor)


def test_those_who_read_a_measured_tensor_wait_until_it_is_measured() -> None:
    graph = tf.Graph()
    with graph.as_default():
        tensor = tf.random.normal([600, 7])
        reader = tf.square(tensor)
        exact = statistics.measure_one(tensor, None).exact
        shared.comes_first(exact, tensor)
        measured = exact.op
        later = tf.sqrt(tensor)
    assert measured.type.endswith("PartitionedCall")
    assert reader.op.control_inputs == [measured]
    assert later.op.control_inputs == []


def test_what_the_call_itself_needs_does_not_wait_for_it() -> None:
    """Else each would wait for the other."""

    @tf.function
    def step(given: Any) -> tuple[Any, Any]:
        tensor = given + 1.0
        largest = tf.reduce_max(tensor)
        with tf.control_dependencies([tf.reduce_min(tensor)]):
            factor = 1.0 / largest
        other = tf.square(tensor)
        called = shared.call(_sum, tensor, factor)
        shared.comes_first(called, tensor)
        assert [bool(reader.control_inputs) for reader in (largest.op, other.op)] == [False, True]
        return called, other

    given = np.array([1.0, 3.0, 7.0], np.float32)
    called, other = step(given)
    np.testing.assert_allclose(called, 14 / 8)
    np.testing.assert_array_equal(other, (given + 1) ** 2)


def test_nobody_waits_where_no_graph_is_built() -> None:
    tensor = tf.constant([2.0, 3.0])
    called = shared.call(_sum, tensor, tf.constant(2.0))
    shared.comes_first(called, tensor)
    assert float(called) == 10
