"""`LayerFlow`, the Keras callback: checks its arguments and hands over to `capture`."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from tb_layerflow._reader.live import Observer, OnRecord
from tb_layerflow.capture.value_settings import Values, checked
from tb_layerflow.log import tags
from tb_layerflow.log.mirror import Mirror

from . import arguments, needs


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
            any clipping, and its update in the step), "lineage" (the operations of each call, and the lines behind them),
            "losses" (layer losses; on by itself for a labelled probe of 64 samples or more: a fit of each layer's readout),
            "timing" (how long each call took, forward and backward, by TensorFlow's profiler; on the CPU, traced and not compiled
            by XLA; a recorded step of many small operations then takes up to three times as long).
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
            `LayerResidual/<path>`: the l2 of the error), "histograms" (`<path>/<weight name>` of weights, `<path>/output`
            of outputs), "images" (`<path>/feature_maps`, in records with exact values); with every="epoch" their step is
            the epoch.
        on_record: called with each finished record (`.stream`, `.step`, `.statistics(kind)`, `.value(path)`, `.findings()`) in
            the thread that writes, while training goes on; once it returns True, training stops after the batch that runs.
            `layerflow.summary.stop_on("non_finite")` and `layerflow.summary.printer("**/first_dense")` are such.
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
        what: Iterable[str] = arguments.WHAT,
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
        folder = arguments.folder(log_dir)
        kinds = arguments.what(what, source)
        everything = arguments.statistics(statistics)
        wanted = checked(values, Values())
        mirrored = arguments.mirror(mirror)
        if on_record is not None and not callable(on_record):
            raise TypeError(f"on_record must be a callable that takes a record. Received: {on_record!r}.")
        if stream is not None:
            tags.check_stream(stream)
            tags.check_stream(f"{stream}_probe")
        if not train and probe is None:
            raise ValueError("With train=False there must be a probe, or nothing would be recorded. Received: probe=None.")
        if pictures is not None and probe is None:
            raise ValueError("pictures are those of the probe's samples, and there is no probe. Received: probe=None.")
        needs.tensorflow()
        from tb_layerflow.capture import callback, labels, samples, schedule, selection, sink, value_writer, warn

        voice = warn.Voice(strict)
        chosen = selection.Selection(layers)
        names = labels.class_names(class_names, voice)
        probed = None if probe is None else samples.Samples.of(probe)
        shown = labels.pictures(pictures, None if probed is None else probed.count)
        budget = None if wanted is None else value_writer.Budget(wanted.run_bytes)
        sinks = {}
        if train:
            writer = value_writer.made(wanted, None, voice, budget)
            sinks["train"] = sink.Sink(folder, stream or "train", voice, chosen, writer, names, kinds=kinds)
        if probe is not None:
            writer = value_writer.made(wanted, shown, voice, budget)
            name = f"{stream}_probe" if stream else "probe"
            sinks["probe"] = sink.Sink(folder, name, voice, chosen, writer, names, kinds=kinds)
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
            keep_last=arguments.keep_last(keep_last),
        )
        by_epoch = isinstance(every, str) and every == "epoch"
        for role, one in sinks.items():
            if mirrored:
                losses_only = role == "probe" and train
                one.listeners.append(Mirror(arguments.writer_of(one), mirrored, by_epoch=by_epoch, losses_only=losses_only))
        if on_record is not None:
            self._training.observer = Observer(on_record)
            for one in sinks.values():
                one.listeners.append(self._training.observer)

    def __getattr__(self, name: str) -> Any:
        """Keras's protocol (`set_model`, `on_train_batch_begin`, …) is carried out by `capture`."""
        if name == "_training":
            raise AttributeError(name)
        return getattr(self._training, name)
