"""`Recorder` and `tap`, for custom loops: they check their arguments and hand over to `capture`."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from typing import Any

from tb_layerflow._reader.live import Observer, OnRecord
from tb_layerflow.capture.value_settings import Values, checked
from tb_layerflow.log import tags
from tb_layerflow.log.mirror import Mirror

from . import arguments, needs


class Recorder:
    """Records custom training loops, where there is no `fit`.

    Give it the functions you would decorate with `tf.function`, or mark the steps of an eager loop. What runs between two calls
    of the same function is one step; inside `step()` everything is one step.

    Args:
        log_dir: the run's folder.
        models: the models whose calls are meant; None: every layer that runs.
        stream: the stream's name; "train" by default.
        every, what, layers, statistics, values, class_names, source, mirror, strict: as for `LayerFlow`; "auto" records steps
            0, 1, 2, 5, 10, 20, 50, then every 100; "epoch" is not possible, as a loop does not say where its epochs end.
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
        what: Iterable[str] = arguments.WHAT,
        layers: Any = None,
        statistics: str = "auto",
        values: str | Values = "auto",
        class_names: Any = None,
        source: bool = False,
        mirror: Iterable[str] = (),
        on_record: OnRecord | None = None,
        strict: bool = False,
    ) -> None:
        folder = arguments.folder(log_dir)
        kinds = arguments.what(what, source)
        everything = arguments.statistics(statistics)
        kept = checked(values, Values())
        mirrored = arguments.mirror(mirror)
        if on_record is not None and not callable(on_record):
            raise TypeError(f"on_record must be a callable that takes a record. Received: {on_record!r}.")
        tags.check_stream(stream)
        if isinstance(every, str) and every == "epoch":
            raise ValueError(
                'every="epoch" needs `fit`; a Recorder takes a number, a range, a set, a callable or "auto". Received: "epoch".'
            )
        needs.tensorflow()
        from tb_layerflow.capture import labels, recorder, schedule, selection, sink, value_writer, variants, warn

        voice = warn.Voice(strict)
        chosen = selection.Selection(layers)
        listed = [] if models is None else list(models) if isinstance(models, (list, tuple)) else [models]
        if listed:
            chosen = selection.OfModels(chosen, listed)
        names = labels.class_names(class_names, voice)
        writer = value_writer.made(kept, None, voice)
        one = sink.Sink(folder, stream, voice, chosen, writer, names, kinds=kinds)
        if mirrored:
            one.listeners.append(Mirror(arguments.writer_of(one), mirrored, by_epoch=False))
        self._observer = None if on_record is None else Observer(on_record)
        if self._observer is not None:
            one.listeners.append(self._observer)
        self._loop = recorder.LoopRecorder(
            one,
            schedule.Schedule(every),
            variants.Needs(chosen, kinds, everything, kept),
            chosen,
            voice,
            listed,
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
        from tb_layerflow.capture import recorder

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
    from tb_layerflow.capture import recorder

    return recorder.tap(name, tensor)
