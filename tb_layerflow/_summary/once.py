"""`record` and `locate_non_finite`: a model is run once, and is as it was afterwards."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from tb_layerflow.capture.value_settings import Values, checked
from tb_layerflow.log import tags

from . import arguments, needs

if TYPE_CHECKING:
    from tb_layerflow.capture.non_finite import NonFinite
    from tb_layerflow.reader import Stream


def record(
    model: Any,
    log_dir: str | os.PathLike[str] | None = None,
    x: Any = None,
    y: Any = None,
    *,
    loss: Any = None,
    step: int = 0,
    training: bool = False,
    stream: str = "record",
    what: Iterable[str] = arguments.WHAT,
    layers: Any = None,
    statistics: str = "auto",
    values: str | Values = arguments.RECORD_VALUES,
    class_names: Any = None,
    pictures: Any = None,
    source: bool = False,
    mirror: Iterable[str] = (),
    strict: bool = False,
) -> Stream:
    """Record a model once, without training it, and return the stream that was written.

    The model's weights, metrics and other variables are the same afterwards. With `y` the errors of the loss are recorded as
    well.

    Args:
        model: a Keras model; or a `tf.function` or `tf.Module`, whose calls are recorded below a root of kind "function".
        log_dir: the run's folder; None: a temporary one.
        x: the samples, an array or any nest of arrays with the samples first; a function gets a tuple as several arguments.
        y: their labels, or None.
        loss: what Keras takes as a loss; None: the model's own, if it is compiled.
        step: the step of the record, from 0 on.
        training: whether the model runs as in training.
        stream, what, layers, statistics, values, class_names, source, mirror, strict: as for `LayerFlow`; the exact values of
            the first four samples are kept.
        pictures: the samples as people should see them, as for `LayerFlow`.

    Returns:
        The stream, as `tb_layerflow.reader` gives it.

    Raises:
        TypeError: `model` cannot be recorded, or x is missing.
        ValueError: an argument has a value that it cannot have.
        OSError: the log cannot be written.
    """
    if x is None:
        raise TypeError("record needs the samples x to run the model on. Received: x=None.")
    if not isinstance(step, int) or step < 0:
        raise ValueError(f"step must be an integer from 0 on. Received: {step!r}.")
    kinds = arguments.what(what, source)
    everything = arguments.statistics(statistics)
    mirrored = arguments.mirror(mirror)
    tags.check_stream(stream)
    folder = None if log_dir is None else arguments.folder(log_dir)
    from tb_layerflow import reader

    wanted = checked(values, arguments.RECORD_VALUES)
    needs.tensorflow()
    from tb_layerflow.capture import labels, once, samples, selection

    given = samples.Samples(x, y)
    folder = once.record_model(
        model,
        folder,
        given,
        loss=loss,
        step=step,
        training=training,
        stream=stream,
        kinds=kinds,
        selection=selection.Selection(layers),
        everything=everything,
        strict=strict,
        values=wanted,
        class_names=class_names,
        pictures=labels.pictures(pictures, given.count),
        mirrored=mirrored,
    )
    return reader.LogDir(folder).run(".").stream(stream)


def locate_non_finite(model: Any, x: Any, y: Any = None) -> NonFinite | None:
    """Find the operation at which a number that is not finite first appears when `model` takes a training step on this batch.

    The model's own `train_step` is run once, eagerly, and every operation's results are looked at (without `y`, or where the
    model is not compiled, only its forward pass). Weights, optimizer, metrics and random states are the same afterwards.

    Args:
        model: a Keras model.
        x: one batch of inputs, an array or any nest of arrays. Or a step that the flight recorder kept (`keep_last=`),
            `layerflow.open(log_dir).kept()`: then its batch is run at the weights before its update, whatever the model's are
            now. (The optimizer's state was not kept; the model's own is used, zero where it is not finite.)
        y: its labels.

    Returns:
        The operation: `.type`, `.name`, `.path` of the call (or `.bucket`), `.direction` with `.forward_op`, `.variable`,
        `.inputs` and `.outputs` (what they held: `.min`, `.max`, `.zero`, `.nan`, `.pos_inf`, …), `.frames`, `.user_frame`.
        An operation that was given such numbers is not meant: only the first that made one of finite ones. None where all
        numbers stay finite.

    Raises:
        TypeError: `model` is no Keras model.
        ValueError: `model` has other variables than the kept step.

    Example:

    ```python
    print(layerflow.summary.locate_non_finite(model, x_batch, y_batch))  # Log (Log_1) of encoder/scale, forward, model.py:42
    print(layerflow.summary.locate_non_finite(model, layerflow.open("logs").kept()))
    ```
    """
    needs.tensorflow()
    from tb_layerflow.capture import non_finite

    return non_finite.locate(model, x, y)
