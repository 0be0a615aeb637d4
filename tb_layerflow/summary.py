"""The public writing API: checks what it is given, then hands over to `capture`. Importing it does not import TensorFlow."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from .log import tags

if TYPE_CHECKING:
    from .reader import Stream

__all__ = ["LayerFlow", "record"]

WHAT = ("outputs", "errors")
_ALWAYS = ("outputs",)


def _checked_what(what: Iterable[str]) -> tuple[str, ...]:
    wanted = (what,) if isinstance(what, str) else tuple(what)
    for kind in wanted:
        if kind not in WHAT:
            raise ValueError(f"what must hold kinds out of {', '.join(map(repr, WHAT))}. Received: {kind!r}.")
    return tuple(dict.fromkeys(_ALWAYS + wanted))


def _checked_statistics(statistics: str) -> bool:
    if statistics not in ("auto", "exact"):
        raise ValueError(f'statistics must be "auto" or "exact". Received: {statistics!r}.')
    return statistics == "exact"


def _checked_folder(log_dir: Any) -> str:
    if not isinstance(log_dir, (str, os.PathLike)) or not os.fspath(log_dir):
        raise TypeError(f"log_dir must be a path. Received: {log_dir!r} (of type {type(log_dir).__name__}).")
    return str(os.fspath(log_dir))


class LayerFlow:
    """A Keras callback that records what flows through the model during `fit`.

    Works with Keras 3 on TensorFlow and with `tf_keras`; with eager, traced and compiled steps. Training is the same with and
    without it.

    Args:
        log_dir: the run's folder; TensorBoard shows it under the folder's name. Made when training begins.
        stream: a name in place of "train" (the probe is then `<stream>_probe`), of `[a-z0-9_]`, at most 32 characters.
        probe: fixed samples on which the model is recorded as well, as stream "probe", at the weights before the step: `(x, y)`,
            `(x, y, sample_weight)`, `x` alone, or a `tf.data.Dataset` of batches. Arrays have the samples first.
        train: record the training steps themselves, as stream "train".
        every: when. "auto": steps 0, 1, 2, 5, 10, 20, 50 of a fit, then about 200 records (every 100 steps where Keras does not
            know how long the fit is), the interval doubling past 1,000 records. Or, in absolute steps, a number n (every n-th),
            a range, a set, or a callable `step -> bool`; or "epoch": the last step of each epoch, the probe after it.
        what: kinds to record: "outputs" (always; with the inputs), "errors" (the gradient of the loss at each output).
        layers: None for all; or names, paths, globs, layer objects, layer classes, a callable of the layer, or a list of those.
            A name without "/" matches at any depth; "*" stops at "/", "**" does not. The structure of the model is always whole.
        statistics: "auto" takes std, zero, nan, pos_inf, neg_inf and histograms from a stated part of each tensor; "exact" from
            all of it.
        strict: raise where recording would otherwise warn and go on.

    Raises:
        ValueError: an argument has a value that it cannot have.
        TypeError: an argument is of a type that it cannot be.

    Example:

    ```python
    import tb_layerflow as layerflow

    model.fit(x, y, epochs=5, callbacks=[layerflow.summary.LayerFlow("logs/run1", probe=(x_test[:64], y_test[:64]))])
    ```
    """

    def __init__(
        self,
        log_dir: str | os.PathLike[str],
        *,
        stream: str | None = None,
        probe: Any = None,
        train: bool = True,
        every: Any = "auto",
        what: Iterable[str] = WHAT,
        layers: Any = None,
        statistics: str = "auto",
        strict: bool = False,
    ) -> None:
        folder = _checked_folder(log_dir)
        kinds = _checked_what(what)
        everything = _checked_statistics(statistics)
        if stream is not None:
            tags.check_stream(stream)
            tags.check_stream(f"{stream}_probe")
        if not train and probe is None:
            raise ValueError("With train=False there must be a probe, or nothing would be recorded. Received: probe=None.")
        from .capture import callback, samples, schedule, selection, sink, warn

        voice = warn.Voice(strict)
        chosen = selection.Selection(layers)
        sinks = {}
        if train:
            sinks["train"] = sink.Sink(folder, stream or "train", voice, chosen)
        if probe is not None:
            sinks["probe"] = sink.Sink(folder, f"{stream}_probe" if stream else "probe", voice, chosen)
        self._training = callback.Training(
            callback=self,
            sinks=sinks,
            probe=None if probe is None else samples.Samples.of(probe),
            schedule=schedule.Schedule(every),
            kinds=kinds,
            selection=chosen,
            everything=everything,
            voice=voice,
        )

    def __getattr__(self, name: str) -> Any:
        """Keras's protocol (`set_model`, `on_train_batch_begin`, …) is carried out by `capture`."""
        if name == "_training":
            raise AttributeError(name)
        return getattr(self._training, name)


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
    what: Iterable[str] = WHAT,
    layers: Any = None,
    statistics: str = "auto",
    strict: bool = False,
) -> Stream:
    """Record a model once, without training it, and return the stream that was written.

    The model's weights, metrics and other variables are the same afterwards. With `y` the errors of the loss are recorded as
    well.

    Args:
        model: a Keras model.
        log_dir: the run's folder; None: a temporary one.
        x: the samples, an array or any nest of arrays with the samples first.
        y: their labels, or None.
        loss: what Keras takes as a loss; None: the model's own, if it is compiled.
        step: the step of the record, from 0 on.
        training: whether the model runs as in training.
        stream, what, layers, statistics, strict: as for `LayerFlow`.

    Returns:
        The stream, as `tb_layerflow.reader` gives it.

    Raises:
        TypeError: `model` is no Keras model, or x is missing.
        ValueError: an argument has a value that it cannot have.
        OSError: the log cannot be written.
    """
    if x is None:
        raise TypeError("record needs the samples x to run the model on. Received: x=None.")
    if not isinstance(step, int) or step < 0:
        raise ValueError(f"step must be an integer from 0 on. Received: {step!r}.")
    kinds = _checked_what(what)
    everything = _checked_statistics(statistics)
    tags.check_stream(stream)
    folder = None if log_dir is None else _checked_folder(log_dir)
    from . import reader
    from .capture import once, samples, selection

    folder = once.record_model(
        model,
        folder,
        samples.Samples(x, y),
        loss=loss,
        step=step,
        training=training,
        stream=stream,
        kinds=kinds,
        selection=selection.Selection(layers),
        everything=everything,
        strict=strict,
    )
    return reader.LogDir(folder).run(".").stream(stream)
