"""The model that steps are measured on: MobileNet at 96×96, batches of 32, on the CPU. Times blocks of steps of `fit`, each as a
whole: what recording does in the background counts, since `fit` returns when all is on disk."""

from __future__ import annotations

import functools
import gc
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import keras
import numpy as np

import tb_layerflow as layerflow

SIZE = 96
BATCH = 32
BLOCK = 6


class Subject:
    """A model that has trained a step plainly and recorded one; `plain_tracing` and `recording_tracing` are the
    seconds by which the first step of a kind took longer than its second."""

    def __init__(self, *, records: bool = True) -> None:
        keras.backend.clear_session()
        gc.collect()
        self._folder = tempfile.TemporaryDirectory(prefix="layerflow-bench-")
        self.log_dir = Path(self._folder.name)
        draw = np.random.default_rng(0)
        self._x = draw.normal(size=(BLOCK * BATCH, SIZE, SIZE, 3)).astype(np.float32)
        self._y = draw.integers(10, size=BLOCK * BATCH)
        self.model = keras.applications.MobileNet(input_shape=(SIZE, SIZE, 3), weights=None, classes=10)
        self.model.compile("sgd", loss="sparse_categorical_crossentropy")
        self._every_step = layerflow.LayerFlow(self.log_dir / "every_step", every=1)
        self._never_due = layerflow.LayerFlow(self.log_dir / "never_due", every=1 << 40)
        self.model.optimizer.build(self.model.trainable_variables)
        first, second = self._fit(1), self._fit(1)
        self.plain_tracing = first - second
        if records:
            first, second = self._fit(1, [self._every_step]), self._fit(1, [self._every_step])
            self.recording_tracing = first - second

    def plain(self) -> float:
        """Seconds of a block of steps without LayerFlow."""
        return self._fit(BLOCK)

    def recorded(self) -> float:
        """Seconds of a block of steps, each recorded: statistics and histograms of all outputs and errors."""
        return self._fit(BLOCK, [self._every_step])

    def idle(self) -> float:
        """Seconds of a block of steps with the callback attached, none of them recorded."""
        return self._fit(BLOCK, [self._never_due])

    def _fit(self, steps: int, callbacks: Sequence[Any] = ()) -> float:
        x, y = self._x[: steps * BATCH], self._y[: steps * BATCH]
        started = time.perf_counter()
        self.model.fit(x, y, batch_size=BATCH, verbose=0, shuffle=False, callbacks=list(callbacks))
        return time.perf_counter() - started


@functools.cache
def shared() -> Subject:
    """The one that all measurements of this process use, so that it is traced once."""
    return Subject()


def paired(measured: Callable[[], float], plain: Callable[[], float], repeats: int) -> list[float]:
    """Ratios of two timings that alternate, each pair in the other order than the one before; the first pair is not counted."""
    ratios = []
    for number in range(repeats + 1):
        if number % 2:
            denominator, numerator = plain(), measured()
        else:
            numerator, denominator = measured(), plain()
        ratios.append(numerator / denominator)
    return ratios[1:]
