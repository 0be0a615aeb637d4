"""Calls of shared functions in a step: who waits for them, and what stays of what they were given."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from tb_layerflow.capture import shared, statistics


def _sum(tensor: Any, factor: Any) -> Any:
    return tf.reduce_sum(tensor * factor)


def test_the_identities_of_a_tensor_wait_until_it_is_measured_and_other_operations_do_not() -> None:
    graph = tf.Graph()
    with graph.as_default():
        tensor = tf.random.normal([600, 7])
        reader, other = tf.identity(tensor), tf.square(tensor)
        exact = statistics.measure_one(tensor, None).exact
        shared.comes_first(exact, tensor)
        measured = exact.op
        later = tf.identity(tensor)
    assert measured.type.endswith("PartitionedCall")
    assert reader.op.control_inputs == [measured]
    assert other.op.control_inputs == later.op.control_inputs == []


def test_what_the_call_itself_needs_does_not_wait_for_it() -> None:
    """Else each would wait for the other."""

    @tf.function
    def step(given: Any) -> tuple[Any, Any]:
        tensor = given + 1.0
        largest = tf.identity(tensor)[0]
        factor = 1.0 / largest
        other = tf.identity(tensor)
        called = shared.call(_sum, tensor, factor)
        shared.comes_first(called, tensor)
        assert [bool(reader.control_inputs) for reader in tensor.consumers() if reader.type == "Identity"] == [False, True]
        return called, other

    given = np.array([1.0, 3.0, 7.0], np.float32)
    called, other = step(given)
    np.testing.assert_allclose(called, 14 / 2)
    np.testing.assert_array_equal(other, given + 1)


def test_nobody_waits_where_no_graph_is_built() -> None:
    tensor = tf.constant([2.0, 3.0])
    called = shared.call(_sum, tensor, tf.constant(2.0))
    shared.comes_first(called, tensor)
    assert float(called) == 10
