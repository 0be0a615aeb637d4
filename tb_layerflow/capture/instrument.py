"""What an instrument is: something that is measured in a recorded step beside outputs and errors (weights, exact values, layer
losses).

An instrument works in three places: in the step before the model runs, in the step after it, and on the host with the arrays
that left. Two further things are asked of it: it adds only arithmetic that XLA compiles, and it never changes what the step
computes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tb_layerflow.log import records

from . import statistics
from .outcome import Outcome
from .recording import Recording


@dataclass
class Step:
    """One recorded step, inside the step.

    `x`, `y` and `sample_weight` are the batch as the model gets it (None where the step does not say); `y_pred` what the model
    returned, where the recording itself ran it. `gradient_factor` is what gradients are to be multiplied by to be those of the
    unscaled loss (None: 1). `skip` counts the samples of a probe that earlier chunks measured (None: none). `noted` holds what
    `before` of each instrument returned, by its name.
    """

    model: Any
    recording: Recording
    x: Any = None
    y: Any = None
    sample_weight: Any = None
    y_pred: Any = None
    training: bool = True
    gradient_factor: Any = None
    skip: Any = None
    noted: dict[str, Any] = field(default_factory=dict)

    @property
    def models(self) -> list[Any]:
        """The model, or of a custom loop all that are named."""
        return list(self.model) if isinstance(self.model, (list, tuple)) else [] if self.model is None else [self.model]


class Instrument(Protocol):
    """Measures one more thing in a recorded step."""

    name: str

    def before(self, step: Step) -> Any:
        """In the step, before the model runs. What it returns is in `step.noted[name]` later."""

    def after(self, step: Step, outcome: Outcome) -> dict[str, Any]:
        """In the step, after the model ran and the calls are known.

        May add rows to `outcome.plan` and what is learnt at trace time to `outcome.graph`; returns the tensors that are to
        leave the step, by names of its own (they come back to `finish` as numpy arrays).
        """

    def finish(self, outcome: Outcome, replicas: list[dict[str, NDArray[Any]]], record: records.Record) -> None:
        """On the host, in the background: put what left the step (per replica, or per chunk of a probe) into the record."""


def measured_before(instruments: list[Any], step: Step) -> None:
    """Let every instrument note what it needs before the model runs."""
    for instrument in instruments:
        step.noted[instrument.name] = instrument.before(step)


def measured_after(instruments: list[Any], step: Step, outcome: Outcome) -> dict[str, Any]:
    """What every instrument lets leave the step, under `<instrument>:<name>`, and the fields of `statistics.Measured` of all that
    the plan then has. The plan's tensors are no longer needed afterwards.
    """
    leaving = {
        f"{instrument.name}:{name}": tensor
        for instrument in instruments
        for name, tensor in instrument.after(step, outcome).items()
    }
    plan = outcome.plan
    factors = [step.gradient_factor if is_error else None for is_error in plan.is_error]
    skip = None if plan.everything else step.skip
    leaving |= statistics.measure(plan.tensors, factors, everything=plan.everything, skip=skip, known=plan.measured)._asdict()
    plan.forget_tensors()
    return leaving


def kept(instruments: list[Any], captured: dict[str, Any], done: int) -> dict[str, Any]:
    """A chunk's arrays as they wait for the others: an instrument that has `keep(arrays, done)` says what of its own stays."""
    for instrument in instruments:
        if hasattr(instrument, "keep"):
            prefix = f"{instrument.name}:"
            own = {name.removeprefix(prefix): array for name, array in captured.items() if name.startswith(prefix)}
            rest = {name: array for name, array in captured.items() if not name.startswith(prefix)}
            captured = rest | {f"{prefix}{name}": array for name, array in instrument.keep(own, done).items()}
    return captured


def finished(instruments: list[Any], outcome: Outcome, replicas: list[dict[str, Any]], record: records.Record) -> None:
    """Hand every instrument its arrays."""
    for instrument in instruments:
        prefix = f"{instrument.name}:"
        own = [
            {name.removeprefix(prefix): np.asarray(array) for name, array in replica.items() if name.startswith(prefix)}
            for replica in replicas
        ]
        instrument.finish(outcome, own, record)
