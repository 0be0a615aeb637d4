"""The model that steps are measured on: MobileNet at 96×96, batches of 32, on the CPU. Times blocks of steps of `fit`, each as a
whole: what recording does in the background counts, since `fit` returns when all is on disk."""

from __future__ import annotations

import functools
import gc
import tempfile
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import keras
import numpy as np

import tb_layerflow as layerflow

from .figure import spread

SIZE = 96
BATCH = 32
BLOCK = 4
KINDS = ("outputs", "errors")


class Seconds(NamedTuple):
    """How long something took by the clock, and how long all threads of this process computed meanwhile."""

    clock: float
    processor: float


class Subject:
    """A compiled model and callbacks for it. `log_dir` is the folder of the blocks of kind `recorded`."""

    def __init__(self) -> None:
        keras.backend.clear_session()
        gc.collect()
        self._folder = tempfile.TemporaryDirectory(prefix="layerflow-bench-")
        self.log_dir = Path(self._folder.name) / "recorded"
        draw = np.random.default_rng(0)
        self._x = draw.normal(size=(BLOCK * BATCH, SIZE, SIZE, 3)).astype(np.float32)
        self._y = draw.integers(10, size=BLOCK * BATCH)
        self.model = keras.applications.MobileNet(input_shape=(SIZE, SIZE, 3), weights=None, classes=10)
        self.model.compile("sgd", loss="sparse_categorical_crossentropy")
        self.model.optimizer.build(self.model.trainable_variables)
        self._callbacks = {
            "recorded": self._callback("recorded", every=1),
            "valued": self._callback("valued", every=1, values=layerflow.summary.Values(samples=1, every=1)),
            "idle": self._callback("idle", every=1 << 40),
            "default": layerflow.LayerFlow(self.log_dir.with_name("default"), every=1),
        }

    def block(self, kind: str) -> Seconds:
        """A block of steps: `plain`, `idle` (attached, nothing due), `recorded`, or `valued` (with one sample's exact values)."""
        return self._fit(BLOCK, kind)

    def tracing(self, kind: str) -> float:
        """Processor seconds by which the first two steps of a kind exceed two later ones.

        `default` is all that LayerFlow records unasked: its first record has exact values, its second has none, and each of the
        two variants is traced. Of `plain` steps only the first is traced.
        """
        seconds = [self._fit(1, kind).processor for _ in range(4)]
        return sum(seconds[:2]) - sum(seconds[2:])

    def _callback(self, folder: str, **arguments: Any) -> layerflow.LayerFlow:
        arguments = {"values": "none", "what": KINDS, **arguments}
        return layerflow.LayerFlow(self.log_dir.with_name(folder), **arguments)

    def _fit(self, steps: int, kind: str) -> Seconds:
        x, y = self._x[: steps * BATCH], self._y[: steps * BATCH]
        callbacks: Sequence[Any] = [self._callbacks[kind]] if kind in self._callbacks else []
        clock, processor = time.perf_counter(), time.process_time()
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "LayerFlow: 0 records were written")  # as is meant where nothing is due
            self.model.fit(x, y, batch_size=BATCH, verbose=0, shuffle=False, callbacks=callbacks)
        return Seconds(time.perf_counter() - clock, time.process_time() - processor)


@functools.cache
def shared() -> Subject:
    """The one that all measurements of this process use, so that it is traced once."""
    return Subject()


def against_plain(kind: str, repeats: int) -> tuple[float, str]:
    """Blocks of a kind against plain ones, the two alternating: the median ratio, and a note with that by the clock.

    The ratio is of processor time, which other programs on the machine hardly change.
    """
    subject = shared()
    for each in (kind, "plain"):
        subject.block(each)  # traces it
    pairs = []
    for number in range(repeats):
        order = (kind, "plain") if number % 2 else ("plain", kind)
        times = {each: subject.block(each) for each in order}
        pairs.append((times[kind], times["plain"]))
    ratios = [measured.processor / plain.processor for measured, plain in pairs]
    by_the_clock = median(measured.clock / plain.clock for measured, plain in pairs)
    return median(ratios), f"{spread(ratios)}; by the clock {by_the_clock:.3g}"
