"""The public writing API: checks what it is given, then hands over to `capture`. Importing it does not import TensorFlow."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from ._reader.live import Observer, OnRecord, printer, stop_on
from .capture.value_settings import Values, checked
from .log import tags
from .log.mirror import KINDS as MIRRORS
from .log.mirror import Mirror

if TYPE_CHECKING:
    from .capture.non_finite import NonFinite
    from .reader import Stream

__all__ = [
    "LayerFlow", "Recorder", "Values", "errors", "flush", "lineage", "locate_non_finite", "outputs", "printer", "record", "stop_on",
    "tap", "weights",
]  # fmt: skip

WHAT = ("outputs", "errors", "weights", "lineage")
_EXTRAS = ("losses",)
_ALWAYS = ("outputs",)
RECORD_VALUES = Values(samples=4, every=1)
"""What `record` keeps by itself."""


def _checked_what(what: Iterable[str], source: bool) -> tuple[str, ...]:
    """The kinds; `source` asks for the text of the users' lines beside the lineage."""
    wanted = (what,) if isinstance(what, str) else tuple(what)
    for kind in wanted:
        if kind not in WHAT + _EXTRAS:
            raise ValueError(f"what must hold kinds out of {', '.join(map(repr, WHAT + _EXTRAS))}. Received: {kind!r}.")
    return tuple(dict.fromkeys(_ALWAYS + wanted + (("source",) if source else ())))


def _checked_statistics(statistics: str) -> bool:
    if statistics not in ("auto", "exact"):
        raise ValueError(f'statistics must be "auto" or "exact". Received: {statistics!r}.')
    return statistics == "exact"


def _checked_folder(log_dir: Any) -> str:
    if not isinstance(log_dir, (str, os.PathLike)) or not os.fspath(log_dir):
        raise TypeError(f"log_dir must be a path. Received: {log_dir!r} (of type {type(log_dir).__name__}).")
    return str(os.fspath(log_dir))


def _checked_keep_last(keep_last: int) -> int:
    if isinstance(keep_last, bool) or not isinstance(keep_last, int) or keep_last < 0:
        raise ValueError(f"keep_last must be how many steps to keep, an integer from 0 on. Received: {keep_last!r}.")
    return keep_last


def _checked_mirror(mirror: Iterable[str]) -> tuple[str, ...]:
    wanted = (mirror,) if isinstance(mirror, str) else tuple(mirror)
    for kind in wanted:
        if kind not in MIRRORS:
            raise ValueError(f"mirror must hold kinds out of {', '.join(map(repr, MIRRORS))}. Received: {kind!r}.")
    return wanted


def _writer_of(sink: Any) -> Callable[[], Any]:
    return lambda: sink.writer


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
        what: kinds to record: "outputs" (always; with the inputs), "errors" (the gradient of the loss at each output),
            "weights" (each variable's value before the step, its gradient as the tape gives it, of the unscaled loss and before
            any clipping, and its update in the step), "losses" (layer losses; on by itself for a labelled probe of 64 samples).
        layers: None for all; or names, paths, globs, layer objects, layer classes, a callable of the layer, or a list of those.
            A name without "/" matches at any depth; "*" stops at "/", "**" does not. The structure of the model is always whole.
        statistics: "auto" takes std, zero, nan, pos_inf, neg_inf and histograms from a stated part of each tensor; "exact" from
            all of it.
        values: which exact tensors to keep (outputs, inputs, errors, weights and their gradients). "auto": one sample in the
            first and then every tenth record; "all": every sample in every record; "none"; or a `Values`. What is over its
            limits of bytes is cut, whole tensors at a time, and the ledger says which: inputs and weights first; then errors;
            outputs of calls that reshape, normalise or activate; other outputs; outputs of weighted layers last.
        class_names: what the model's classes are called, in their order; "imagenet": as Keras knows them.
        pictures: the probe's samples as people should see them, uint8 [samples, height, width(, 1, 3 or 4)].
        source: keep the text of the user's own lines that made an operation, not only their file and number.
        keep_last: flight recorder: how many steps to keep on the device, with their batch and the weights before the update.
            They are written only when a loss is not finite, a step raises or the fit is interrupted. Every step is then a
            recorded one.
        mirror: what to write for TensorBoard's own tabs as well: "scalars" (`LayerLoss/<path>`, `LayerAccuracy/<path>`,
            `LayerResidual/<path>`: the l2 of the error), "histograms" (`<path>/<weight name>`); with every="epoch" their step is
            the epoch.
        on_record: called with each finished record (`.stream`, `.step`, `.statistics(kind)`, `.findings()`) in the thread that
            writes; if it returns True, training stops after the next batch. `stop_on("non_finite")` and
            `printer("**/first_dense")` are such.
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
        values: str | Values = "auto",
        class_names: Any = None,
        pictures: Any = None,
        source: bool = False,
        mirror: Iterable[str] = (),
        keep_last: int = 0,
        on_record: OnRecord | None = None,
        strict: bool = False,
    ) -> None:
        folder = _checked_folder(log_dir)
        kinds = _checked_what(what, source)
        everything = _checked_statistics(statistics)
        wanted = checked(values, Values())
        mirrored = _checked_mirror(mirror)
        if on_record is not None and not callable(on_record):
            raise TypeError(f"on_record must be a callable that takes a record. Received: {on_record!r}.")
        if stream is not None:
            tags.check_stream(stream)
            tags.check_stream(f"{stream}_probe")
        if not train and probe is None:
            raise ValueError("With train=False there must be a probe, or nothing would be recorded. Received: probe=None.")
        if pictures is not None and probe is None:
            raise ValueError("pictures are those of the probe's samples, and there is no probe. Received: probe=None.")
        from .capture import callback, labels, samples, schedule, selection, sink, value_writer, warn

        voice = warn.Voice(strict)
        chosen = selection.Selection(layers)
        names = labels.class_names(class_names, voice)
        probed = None if probe is None else samples.Samples.of(probe)
        shown = labels.pictures(pictures, None if probed is None else probed.count)
        budget = None if wanted is None else value_writer.Budget(wanted.run_bytes)
        sinks, with_errors = {}, "errors" in kinds
        if train:
            writer = value_writer.made(wanted, None, voice, budget)
            sinks["train"] = sink.Sink(folder, stream or "train", voice, chosen, writer, names, with_errors=with_errors)
        if probe is not None:
            writer = value_writer.made(wanted, shown, voice, budget)
            name = f"{stream}_probe" if stream else "probe"
            sinks["probe"] = sink.Sink(folder, name, voice, chosen, writer, names, with_errors=with_errors)
        self._training = callback.Training(
            callback=self,
            sinks=sinks,
            probe=probed,
            schedule=schedule.Schedule(every),
            kinds=kinds,
            selection=chosen,
            everything=everything,
            voice=voice,
            values=wanted,
            keep_last=_checked_keep_last(keep_last),
        )
        by_epoch = isinstance(every, str) and every == "epoch"
        for role, one in sinks.items():
            if mirrored:
                losses_only = role == "probe" and train
                one.listeners.append(Mirror(_writer_of(one), mirrored, by_epoch=by_epoch, losses_only=losses_only))
        if on_record is not None:
            self._training.observer = Observer(on_record)
            for one in sinks.values():
                one.listeners.append(self._training.observer)

    def __getattr__(self, name: str) -> Any:
        """Keras's protocol (`set_model`, `on_train_batch_begin`, …) is carried out by `capture`."""
        if name == "_training":
            raise AttributeError(name)
        return getattr(self._training, name)


class Recorder:
    """Records custom training loops, where there is no `fit`.

    Give it the functions you would decorate with `tf.function`, or mark the steps of an eager loop. What runs between two calls
    of the same function is one step; inside `step()` everything is one step.

    Args:
        log_dir: the run's folder.
        models: the models whose calls are meant; None: every layer that runs.
        stream: the stream's name; "train" by default.
        every, what, layers, statistics, values, class_names, source, mirror, strict: as for `LayerFlow`; "auto" records steps 0, 1,
            2, 5, 10, 20, 50, then every 100; "epoch" is not possible, as a loop does not say where its epochs end.
        on_record: called on the host with each finished record; once it returns True, `should_stop` is True.

    Raises:
        ValueError: an argument has a value that it cannot have.
        TypeError: an argument is of a type that it cannot be.

    Example:

    ```python
    with layerflow.summary.Recorder("logs/gan") as recorder:

        @recorder.function
        def train_step(images): ...

        for images in dataset:
            train_step(images)
    ```
    """

    def __init__(
        self,
        log_dir: str | os.PathLike[str],
        *,
        models: Any = None,
        stream: str = "train",
        every: Any = "auto",
        what: Iterable[str] = WHAT,
        layers: Any = None,
        statistics: str = "auto",
        values: str | Values = "auto",
        class_names: Any = None,
        source: bool = False,
        mirror: Iterable[str] = (),
        on_record: OnRecord | None = None,
        strict: bool = False,
    ) -> None:
        folder = _checked_folder(log_dir)
        kinds = _checked_what(what, source)
        everything = _checked_statistics(statistics)
        kept = checked(values, Values())
        mirrored = _checked_mirror(mirror)
        if on_record is not None and not callable(on_record):
            raise TypeError(f"on_record must be a callable that takes a record. Received: {on_record!r}.")
        tags.check_stream(stream)
        if isinstance(every, str) and every == "epoch":
            raise ValueError(
                'every="epoch" needs `fit`; a Recorder takes a number, a range, a set, a callable or "auto". Received: "epoch".'
            )
        from .capture import labels, recorder, schedule, selection, sink, value_writer, variants, wanted, warn

        voice = warn.Voice(strict)
        chosen = selection.Selection(layers)
        listed = [] if models is None else list(models) if isinstance(models, (list, tuple)) else [models]
        if listed:
            chosen = selection.OfModels(chosen, listed)
        names = labels.class_names(class_names, voice)
        writer = value_writer.made(kept, None, voice)
        one = sink.Sink(folder, stream, voice, chosen, writer, names, with_errors="errors" in kinds)
        if mirrored:
            one.listeners.append(Mirror(_writer_of(one), mirrored, by_epoch=False))
        self._observer = None if on_record is None else Observer(on_record)
        if self._observer is not None:
            one.listeners.append(self._observer)
        self._loop = recorder.LoopRecorder(
            one,
            schedule.Schedule(every),
            variants.Needs(chosen, kinds, everything, wanted.for_training(kinds, kept, everything=everything)),
            chosen,
            voice,
            listed,
            values_every=0 if kept is None else kept.every,
        )

    @property
    def should_stop(self) -> bool:
        """Whether `on_record` has asked to stop training; the loop is yours, so it is for you to look."""
        return self._observer is not None and self._observer.stop

    def function(self, function: Callable[..., Any] | None = None, **options: Any) -> Any:
        """Decorate a step function where you would write `@tf.function`, with or without its options (`jit_compile=True`, …).

        Returns an object that is called like the function and has the attributes of a `tf.function`. Steps that are not recorded
        run exactly what `tf.function` would.
        """
        if function is None:
            return lambda decorated: self._loop.wrap(decorated, options)
        if not callable(function):
            raise TypeError(f"recorder.function decorates a function. Received: {function!r}.")
        return self._loop.wrap(function, options)

    def step(self) -> AbstractContextManager[None]:
        """A context that is one step: an eager loop body, or several recorded functions that belong together."""
        return self._loop.step()

    def watch(self, model: Any) -> None:
        """Record a model's `train_on_batch` (in this recorder's stream), `evaluate` and `predict` (in streams of those names).

        Each batch is a step of its stream. The model is as it was once the recorder is closed.

        Raises:
            TypeError: `model` is no Keras model.
        """
        self._loop.watch(model)

    def backward(self, name: str) -> AbstractContextManager[None]:
        """A context that names the backward passes run inside: `error:<name>` is then theirs."""
        from .capture import recorder

        return recorder.named_backward(name)

    def flush(self) -> None:
        """Write the step under way; everything recorded so far is on disk when this returns."""
        self._loop.end()

    def close(self) -> None:
        """Flush, and let go of the log."""
        self._loop.close()

    def __enter__(self) -> Recorder:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def tap(name: str, tensor: Any) -> Any:
    """Make any tensor the output of a call named `name`, recorded like a layer's, errors included.

    For plain TensorFlow and `tf.Module` code. Free where nothing is being recorded: then the same tensor is returned.

    Args:
        name: the call's name, below the call that is running.
        tensor: a tensor, or any nest of them.

    Returns:
        The tensor to go on with.
    """
    if "tensorflow" not in sys.modules:
        return tensor
    from .capture import recorder

    return recorder.tap(name, tensor)


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
    from .capture import manual

    manual.gather("output", name, data, step, writer)


def errors(name: str, data: Any, *, step: Any, writer: Any = None) -> None:
    """Record a gradient that you already have as the error at the output of the call `name`; arguments as for `outputs`."""
    from .capture import manual

    manual.gather("error", name, data, step, writer)


def weights(model_or_layer: Any, *, step: Any, writer: Any = None) -> None:
    """Record the weights of a model or layer, by layer path; `step` and `writer` as for `outputs`."""
    from .capture import manual

    manual.gather_weights(model_or_layer, step, writer)


def lineage(name: str, concrete_function: Any, *, step: Any = 0, writer: Any = None) -> None:
    """Record which operations a `tf.function` runs, from which lines, and what TensorFlow's optimiser makes of them.

    They become those of a call `name` in stream "manual", from `step` on; read them with `stream.ops(name)`. The function does not
    run. It was traced before anyone watched, so that the layers it calls are not told apart: record it with `Recorder.function`
    for that.

    Args:
        name: the call's path.
        concrete_function: what `get_concrete_function(…)` of a `tf.function` returns.
        step, writer: as for `outputs`.

    Raises:
        TypeError: it is no concrete function.
        ValueError: the name, the step or the writer cannot be used.
    """
    from .capture import manual

    manual.gather_lineage(name, concrete_function, step, writer)


def locate_non_finite(model: Any, x: Any, y: Any = None) -> NonFinite | None:
    """Find the operation at which a number that is not finite first appears when `model` takes a training step on this batch.

    The model's own `train_step` is run once, eagerly, and every operation's results are looked at (without `y`, or where the
    model is not compiled, only its forward pass). Weights, optimizer, metrics and random states are the same afterwards.

    Args:
        model: a Keras model.
        x: one batch of inputs, an array or any nest of arrays.
        y: its labels.

    Returns:
        The operation: `.type`, `.name`, `.path` of the call (or `.bucket`), `.direction` with `.forward_op`, `.variable`,
        `.inputs` and `.outputs` (what they held: `.min`, `.max`, `.zero`, `.nan`, `.pos_inf`, …), `.frames`, `.user_frame`.
        An operation that was given such numbers is not meant: only the first that made one of finite ones. None where all
        numbers stay finite.

    Raises:
        TypeError: `model` is no Keras model.

    Example:

    ```python
    print(layerflow.summary.locate_non_finite(model, x_batch, y_batch))  # Log (Log_1) of encoder/scale, forward, model.py:42
    ```
    """
    from .capture import non_finite

    return non_finite.locate(model, x, y)


def flush() -> None:
    """Write what `outputs`, `errors` and `weights` have gathered."""
    from .capture import manual

    manual.flush()


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
    values: str | Values = RECORD_VALUES,
    class_names: Any = None,
    pictures: Any = None,
    source: bool = False,
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
        stream, what, layers, statistics, values, class_names, source, strict: as for `LayerFlow`; the exact values of the first
            four samples are kept.
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
    kinds = _checked_what(what, source)
    everything = _checked_statistics(statistics)
    tags.check_stream(stream)
    folder = None if log_dir is None else _checked_folder(log_dir)
    from . import reader

    wanted = checked(values, RECORD_VALUES)
    from .capture import labels, once, samples, selection

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
    )
    return reader.LogDir(folder).run(".").stream(stream)
