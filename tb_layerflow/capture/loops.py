"""How often the body of a `While` operation runs, where its graph says so. Builds no operations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import tensorflow as tf


def turns(operation: Any, condition: Any, body: Any) -> int:
    """The most turns that the loop can take: the least limit of its counters that is known when it is traced; 1 where none is.

    A counter is an argument that begins at a known number, is compared with a known limit (`<`), and grows by a known number in
    each turn, as in `tf.while_loop` with `maximum_iterations`, `tf.range`, and Keras's recurrent layers.
    """
    return min(_limits(operation, condition, body), default=1)


def _limits(operation: Any, condition: Any, body: Any) -> Iterator[int]:
    places = {argument.op: place for place, argument in enumerate(condition.inputs)}

    def known(tensor: Any) -> Any:
        place = places.get(tensor.op)
        return tf.get_static_value(tensor if place is None else operation.inputs[place])

    for less in condition.get_operations():
        if less.type != "Less" or less.inputs[0].op not in places:
            continue
        place = places[less.inputs[0].op]
        first, limit, step = tf.get_static_value(operation.inputs[place]), known(less.inputs[1]), _growth(body, place)
        if all(number is not None and np.ndim(number) == 0 for number in (first, limit, step)) and step > 0:
            yield max(0, -int((first - limit) // step))


def _growth(body: Any, place: int) -> Any:
    """What a turn of the loop adds to this argument, None where that is not known."""
    operation = body.outputs[place].op
    while operation.type == "Identity":
        operation = operation.inputs[0].op
    if operation.type not in ("AddV2", "Add"):
        return None
    one, two = operation.inputs
    return tf.get_static_value(two) if one.op is body.inputs[place].op else None
