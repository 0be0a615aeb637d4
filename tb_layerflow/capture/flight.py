"""The flight recorder (`keep_last`): the last steps' figures, batch and weights before the update, kept until something goes
wrong.

What is kept stays on the device. A step's loss is looked at when the step is about to leave the ring, so that the device never
waits.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import tensorflow as tf

from tb_layerflow.log import kept_files
from tb_layerflow.log.records import LedgerEntry

from . import nests
from .sink import Sink
from .warn import Voice


@dataclass
class Kept:
    """One step. `submit` writes its record (None: it was written already); `loss` is the step's own, still a tensor."""

    step: int
    loss: list[Any]
    batch: Any
    weights: list[tuple[str, Any]]
    submit: Callable[[], None] | None

    @property
    def is_bad(self) -> bool:
        """Whether the loss is no finite number; waits for the step."""
        return not all(bool(np.all(np.isfinite(np.asarray(loss, np.float64)))) for loss in self.loss)

    @property
    def began_bad(self) -> bool:
        """Whether a weight was not finite before the step: an earlier update has made it so."""
        arrays = [np.asarray(array) for _, array in self.weights]
        return not all(np.all(np.isfinite(array.astype(np.float64))) for array in arrays if array.dtype.kind not in "iub")


@dataclass
class FlightRecorder:
    """Keeps the last `length` steps."""

    length: int
    is_over: bool = False
    _ring: deque[Kept] = field(default_factory=deque)
    _let_go: Kept | None = None
    _weights: list[tuple[str, Any]] = field(default_factory=list)

    def before(self, model: Any) -> None:
        """Copy the weights on the device; called before each step."""
        self._weights = [
            (getattr(variable, "path", variable.name), tf.identity(tf.convert_to_tensor(variable)))
            for variable in model.variables
        ]

    def keep(self, step: int, loss: list[Any], batch: Any, submit: Callable[[], None] | None) -> None:
        """Keep a step that has been started."""
        self._ring.append(Kept(step, loss, batch, self._weights, submit))
        self._weights = []

    def has_bad(self) -> bool:
        """Look at the oldest step once the ring is full: whether its loss is not finite. Where it is, the step is let go."""
        if len(self._ring) < self.length:
            return False
        if self._ring[0].is_bad:
            return True
        self._let_go = self._ring.popleft()
        return False

    def any_bad(self) -> Kept | None:
        """Look at all that is kept: the first step whose loss is not finite, or the one before it where its update spoilt the
        weights: bad gradients show in the loss of the next step.
        """
        before = self._let_go
        for kept in self._ring:
            if kept.is_bad:
                return before if before is not None and kept.began_bad and not before.began_bad else kept
            before = kept
        return None

    def clear(self) -> None:
        """Let go of everything."""
        self._ring.clear()
        self._let_go = None
        self._weights = []

    def rescue(self, sink: Sink, voice: Voice, why: str = "") -> None:
        """Write what is kept, if a kept loss is not finite or there is another reason, `why`. No more is kept afterwards.

        All kept records go to the stream, the culprit's batch and weights into a file beside them.
        """
        if self.is_over or not self._ring or sink.writer is None:
            return
        bad = self.any_bad()
        if bad is None and not why:
            return
        culprit = bad or self._ring[-1]
        path = sink.writer.value_path(culprit.step).removesuffix(".npz") + kept_files.SUFFIX
        if bad is not None:
            why = "the loss was not finite" if bad.is_bad else "its update made weights that are not finite"
        text = f"kept: {why}; the batch and the weights before the update are in {os.path.basename(path)}"
        sink.note(LedgerEntry("", "", -1, "note", text, culprit.step))
        try:
            self._write(culprit, path)
        except OSError as error:
            voice.warn(f"the kept step {culprit.step} cannot be written ({error}). Training goes on.", cause=error)

    def _write(self, culprit: Kept, path: str) -> None:
        self.is_over = True
        for kept in self._ring:
            if kept.submit is not None:
                kept.submit()
        os.makedirs(os.path.dirname(path), exist_ok=True)
        kept_files.write(path, _parts(culprit.batch), culprit.weights)
        self.clear()


def _parts(batch: Any) -> dict[str, Any]:
    """The arrays of a batch by part and key path: `x`, `x/left`, `y`, `sample_weight`."""
    arrays = {}
    for name, part in nests.batch_parts(batch).items():
        for key, leaf in nests.flatten(part):
            if isinstance(leaf, tf.Tensor) and leaf.dtype != tf.string:
                arrays[f"{name}/{key}" if key else name] = leaf
    return arrays
