"""`record`: a model run once on given samples, without training, into a log of its own."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tb_layerflow.log import records
from tb_layerflow.log.mirror import Mirror

from . import families, instrument, labels, timing, value_writer, wanted
from .function_inference import FunctionInference, is_function
from .inference import Inference
from .samples import Samples
from .selection import Selection
from .sink import Sink
from .value_settings import Values
from .variants import Needs
from .warn import Voice


def record_model(
    model: Any,
    log_dir: str | None,
    samples: Samples,
    *,
    loss: Any,
    step: int,
    training: bool,
    stream: str,
    kinds: tuple[str, ...],
    selection: Selection,
    everything: bool,
    strict: bool,
    values: Values | None = None,
    class_names: Sequence[str] | str | None = None,
    pictures: NDArray[np.uint8] | None = None,
    mirrored: tuple[str, ...] = (),
) -> str:
    """Record one run of `model`; returns the folder of the log.

    Raises:
        NotKeras: `model` is neither a Keras model nor a function.
        ValueError: there are labels, but no loss that they could be for.
        RecordingError: with `strict`, something could not be recorded.
        OSError: the log cannot be written.
    """
    runs = FunctionInference if is_function(model) else Inference
    if runs is Inference:
        families.of(model)
    folder = log_dir if log_dir is not None else tempfile.mkdtemp(prefix="layerflow-")
    voice = Voice(strict)
    found = _loss_function(model, loss)
    instruments = wanted.for_samples(kinds, samples, weights=True, loss=found, values=values, everything=everything)
    inference = runs(model, Needs(selection, kinds, everything), training=training, loss=found, instruments=instruments)
    if samples.has_labels and not inference.has_loss:
        raise ValueError(
            f"record was given y, but {_name_of(model)!r} has no loss: compile it, give loss=, or leave y out. "
            "Received: loss=None."
        )
    outcome, figures, losses, chunks = inference.run(samples)
    for sentence in selection.unmatched(outcome.graph):
        voice.warn(sentence)
    names = labels.class_names(class_names, voice)
    sink = Sink(folder, stream, voice, selection, value_writer.made(values, pictures, voice), names)
    if mirrored:
        sink.listeners.append(Mirror(lambda: sink.writer, mirrored, by_epoch=False))
    sink.open()
    phase = "training" if training else "inference"
    record = records.Record(step, 0, phase=phase, batch_size=samples.count, losses=losses)
    try:
        instrument.finished(inference.instruments, outcome, chunks, record)
        for profile in inference.profiles:
            timing.fill(record, profile, outcome.graph)
        sink.submit(outcome, lambda: (record, figures))
    finally:
        sink.close()
    if sink.is_broken:
        raise OSError(f"The record could not be written to {folder}.")
    return sink.log_dir


def _name_of(model: Any) -> str:
    return str(getattr(model, "name", None) or getattr(model, "__name__", None) or type(model).__name__)


def _loss_function(model: Any, loss: Any) -> Callable[[Any, Any, Any], Any] | None:
    if loss is None:
        return None
    if callable(loss) and not isinstance(loss, type):
        found = loss
    else:
        family = families.of(model) if families.is_layer(model) else families.loaded()[0]
        found = family.module.losses.get(loss)

    def compute(y: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        import tensorflow as tf

        numbers = found(y, y_pred) if sample_weight is None else found(y, y_pred, sample_weight)
        return tf.reduce_mean(numbers)

    compute.reduction = getattr(found, "reduction", "")  # type: ignore[attr-defined]
    return compute
