"""What layer losses need inside a step: pooled features, added losses, accuracies. Only arithmetic that XLA compiles."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import tensorflow as tf

from tb_layerflow.analysis import layer_losses, readout

from . import graphs, nests
from .instrument import Step
from .layer_table import own_weights
from .outcome import Outcome
from .output_losses import OutputLoss, weight_of


def pooled(tensor: Any) -> Any:
    """[samples, dimensions] float32: the average over all axes between the first and the last, projected where there are many."""
    floats = tf.cast(tensor, tf.float32)
    if floats.shape.rank == 1:
        floats = tf.expand_dims(floats, -1)
    if floats.shape.rank > 2:
        floats = tf.reduce_mean(floats, axis=list(range(1, floats.shape.rank - 1)))
    dimensions = int(floats.shape[1])
    if dimensions <= readout.DIMENSIONS:
        return floats
    buckets, signs = readout.sketch(dimensions)
    return tf.transpose(tf.math.unsorted_segment_sum(tf.transpose(floats * signs), buckets, readout.DIMENSIONS))


def added(outcome: Outcome, graph: Any) -> Iterator[tuple[int, Any]]:
    """(first call, loss) of each layer that added losses: by `add_loss`, activity or weight regularisers."""
    first = {call.layer: number for number, call in reversed(list(enumerate(outcome.graph.calls))) if call.layer is not None}
    for number, layer in enumerate(outcome.layers):
        if number not in first:
            continue
        losses = [*getattr(layer, "_losses", []), *getattr(layer, "_eager_losses", [])]
        losses += [regulariser() for regulariser in getattr(layer, "_callable_losses", [])]
        if not hasattr(layer, "_callable_losses"):
            losses += [
                variable.regularizer(variable)
                for variable in own_weights(layer)
                if variable.trainable and getattr(variable, "regularizer", None) is not None
            ]
        losses = [tf.reduce_sum(tf.cast(loss, tf.float32)) for loss in losses if loss is not None and graphs.belongs(loss, graph)]
        if losses:
            yield first[number], tf.add_n(losses)


def labels_and(tensor: Any, output: OutputLoss, step: Step) -> tuple[Any, Any, Any]:
    """What `OutputLoss.value` takes: the output's labels, the tensor, the sample weights."""
    return nests.flatten(step.y)[output.labels][1], tensor, weight_of(step.sample_weight, output)


def accuracy_of(tensor: Any, output: OutputLoss, step: Step) -> Any:
    """As `analysis.layer_losses.accuracy`, over all axes but the last; NaN for regression."""
    labels = tf.convert_to_tensor(nests.flatten(step.y)[output.labels][1])
    width = tensor.shape[-1] if tensor.shape.rank > 1 else 1
    like_labels = np.zeros([1] * max(labels.shape.rank or 1, 1), labels.dtype.as_numpy_dtype)
    task = layer_losses.name_of(like_labels, width or 1, output.name)
    if task == "classification":
        classes = tf.argmax(tensor, -1)
        if labels.shape.rank == tensor.shape.rank and labels.shape[-1] != 1:
            labels = tf.argmax(labels, -1)
        labels = tf.reshape(tf.cast(labels, tf.int64), tf.shape(classes))
        return tf.reduce_mean(tf.cast(tf.equal(classes, labels), tf.float32))
    if task == "multi-label":
        said = tf.cast(tensor, tf.float32) > (0.0 if output.from_logits else 0.5)
        return tf.reduce_mean(tf.cast(tf.equal(said, tf.reshape(tf.cast(labels, tf.float32) > 0.5, tf.shape(said))), tf.float32))
    return tf.constant(float("nan"))


def same_shape(tensor: Any, prediction: Any) -> bool:
    """Whether a sample of the output has the shape of a sample of the prediction."""
    return (
        tensor.dtype.is_floating
        and tensor.shape.rank is not None
        and tensor.shape[1:].is_fully_defined()
        and tensor.shape[1:] == prediction.shape[1:]
    )


def why_not(tensor: Any, count: int | None) -> str:
    """Why an output has no layer loss; empty where it may have one. `count`: the chunk's samples, None where unknown."""
    if tensor.shape.rank is None:
        return "no layer loss: the output's rank is unknown"
    if tensor.shape.rank == 0 or (count is not None and tensor.shape[0] not in (None, count)):
        return "no layer loss: the output's first axis is not the samples'"
    if tensor.shape.rank > 1 and tensor.shape[-1] is None:
        return "no layer loss: the size of the output's last axis is unknown"
    return ""


def size_of(x: Any) -> Any:
    """The number of samples, an int32 scalar."""
    for _, leaf in nests.flatten(x):
        if isinstance(leaf, tf.RaggedTensor):
            return tf.cast(leaf.nrows(), tf.int32)
        if leaf is not None:
            return tf.cast(tf.shape(leaf)[0], tf.int32)
    return tf.constant(0)


def static_size(x: Any) -> int | None:
    """The number of samples where the trace knows it."""
    sizes = [leaf.shape[0] for _, leaf in nests.flatten(x) if leaf is not None]
    return sizes[0] if sizes and isinstance(sizes[0], int) else None
