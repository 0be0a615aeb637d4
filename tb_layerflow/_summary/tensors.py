"""The one-tensor calls, like `tf.summary`: what you already have becomes a record of stream "manual"."""

from __future__ import annotations

from typing import Any

from . import needs


def outputs(name: str, data: Any, *, step: Any, writer: Any = None) -> None:
    """Record a tensor that you already have as the output of a call, like `tf.summary`.

    What is given for one step is gathered into one record of stream "manual", which is written when the step changes, when the
    writer is flushed or closed, when `layerflow.summary.flush()` is called, and when the process ends.

    Args:
        name: the call's path, such as `encoder/conv1`.
        data: a tensor or array of real numbers, the batch axis first.
        step: an integer from 0 on that never goes back.
        writer: a folder, or one of `tf.summary`'s writers; None: `tf.summary`'s current one.

    Raises:
        ValueError: the name, the step or the writer cannot be used.
        TypeError: the data are no real numbers.
        RuntimeError: it was called inside a `tf.function`.
    """
    needs.tensorflow()
    from tb_layerflow.capture import manual

    manual.gather("output", name, data, step, writer)


def errors(name: str, data: Any, *, step: Any, writer: Any = None) -> None:
    """Record a gradient that you already have as the error at the output of the call `name`; arguments as for `outputs`."""
    needs.tensorflow()
    from tb_layerflow.capture import manual

    manual.gather("error", name, data, step, writer)


def weights(model_or_layer: Any, *, step: Any, writer: Any = None) -> None:
    """Record the weights of a model or layer, by layer path; those of a `tf.Module` by its name.

    `step` and `writer` as for `outputs`.
    """
    needs.tensorflow()
    from tb_layerflow.capture import manual

    manual.gather_weights(model_or_layer, step, writer)


def lineage(name: str, concrete_function: Any, *, step: Any = 0, writer: Any = None) -> None:
    """Record which operations a `tf.function` runs, from which lines, and what TensorFlow's optimiser makes of them.

    They become those of a call `name` in stream "manual", from `step` on; read them with `stream.ops(name)`. The function does
    not run. It was traced before anyone watched, so that the layers it calls are not told apart: record it with
    `Recorder.function` for that.

    Args:
        name: the call's path.
        concrete_function: what `get_concrete_function(…)` of a `tf.function` returns.
        step, writer: as for `outputs`.

    Raises:
        TypeError: it is no concrete function.
        ValueError: the name, the step or the writer cannot be used.
    """
    needs.tensorflow()
    from tb_layerflow.capture import manual

    manual.gather_lineage(name, concrete_function, step, writer)


def flush() -> None:
    """Write what `outputs`, `errors` and `weights` have gathered."""
    needs.tensorflow()
    from tb_layerflow.capture import manual

    manual.flush()
