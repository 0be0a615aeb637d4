"""`Recorder.watch`: a model's `train_on_batch`, `evaluate` and `predict`, recorded call by call.

The three methods of the object are wrapped until the recorder is closed; during a call the model's own function for a batch is
replaced by one that runs it, or its recording twin where the step is due.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from typing import Any, Protocol

from tb_layerflow.log.records import TIMING

from . import execution, families
from .signatures import Signatures
from .variants import Captured, DataEnded, Needs, StepVariant

ROLES = {"train_on_batch": "train", "evaluate": "test", "predict": "predict"}
"""The role of the batch function behind each method."""


class Loop(Protocol):
    """What counts the steps of one stream."""

    needs: Needs

    def due_instruments(self) -> tuple[str, ...]:
        """The names of what is measured in the step under way."""

    def begin(self, model: Any) -> bool:
        """A step begins; whether it is recorded."""

    def take(self, captured: Captured, seconds: float) -> None:
        """Take what the step gave."""

    def failed(self, error: BaseException) -> None:
        """Recording failed; the step itself ran."""

    def ended(self) -> None:
        """The step has ended."""


class Watched:
    """One model under watch. `loops` gives the loop of each method."""

    def __init__(self, model: Any, loops: dict[str, Loop]) -> None:
        families.of(model)
        self._model = model
        self._loops = loops
        self._variants: dict[tuple[str, tuple[str, ...]], StepVariant] = {}
        self._signatures = {name: Signatures(f"{ROLES[name]}_step") for name in loops}
        self._own = {name: model.__dict__[name] for name in loops if name in model.__dict__}
        for name in loops:
            model.__dict__[name] = self._wrapped(name, getattr(model, name))

    def release(self) -> None:
        """Take the wrappers off."""
        for name in self._loops:
            self._model.__dict__.pop(name, None)
        self._model.__dict__.update(self._own)

    def _wrapped(self, name: str, original: Callable[..., Any]) -> Callable[..., Any]:
        role = ROLES[name]

        @functools.wraps(original)
        def method(*args: Any, **kwargs: Any) -> Any:
            getattr(self._model, f"make_{role}_function")()
            plain = getattr(self._model, f"{role}_function")
            setattr(self._model, f"{role}_function", self._batch_function(name, plain))
            try:
                return original(*args, **kwargs)
            finally:
                setattr(self._model, f"{role}_function", plain)

        return method

    def _batch_function(self, name: str, plain: Callable[[Any], Any]) -> Callable[[Any], Any]:
        loop = self._loops[name]

        def function(batches: Any) -> Any:
            due = loop.begin(self._model)
            try:
                many = isinstance(batches, list) and len(batches) > 1
                if not due or many or execution.breaks_off(self._model):
                    return plain(batches)
                return self._record(loop, name, batches)
            except DataEnded:
                return plain(batches)
            finally:
                loop.ended()

        return function

    def _record(self, loop: Loop, name: str, batches: Any) -> Any:
        names = loop.due_instruments() if name == "train_on_batch" else ()
        if (name, names) not in self._variants:
            instruments = [loop.needs.instruments[instrument]() for instrument in names]
            self._variants[name, names] = StepVariant(
                self._model, loop.needs, self._signatures[name], instruments, role=ROLES[name]
            )
        started = time.perf_counter()
        variant = self._variants[name, names]
        try:
            captured = variant(iter(batches) if isinstance(batches, list) else batches, TIMING in loop.needs.kinds)
        except Exception:
            if variant.broken is not None:
                loop.take(variant.broken, 0.0)
            raise
        if captured.failure is not None:
            loop.failed(captured.failure)
        else:
            loop.take(captured, time.perf_counter() - started)
        return captured.logs
