"""Weights as an instrument: each variable's value, its gradient and its update in this step, as rows of the plan. Writes nothing.

The *value* is the one that the step's forward pass used; the *update* is the value after the step minus that, in float32, so that
a step skipped by the loss scaler has updates of zero. The *gradient* is what the step's gradient tape gave, of the unscaled loss:
before the optimizer clips it, decays weights or accumulates. Where several tapes differentiated by a variable, it is the last's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import tensorflow as tf
from numpy.typing import NDArray

from tb_layerflow.log import records

from . import graphs
from .instrument import Step
from .known_weights import KnownWeights, is_numeric
from .layer_table import own_weights
from .outcome import Outcome
from .recording import Recording, identity_of

UNKNOWN_BEFORE = "the variable was made or first met inside the layer's call, so that nobody knew its value before the step"
NO_TAPE = "no gradient tape was asked for it"
SEVERAL = "the gradient of the last of {count} backward passes; the optimizer may have been given another mixture"
FIRST_REPLICA = "the gradient of the first replica's share of the batch"
OF_NO_LAYER = (
    "{count} of the variables that gradient tapes differentiated by belong to no layer that was found: their values, gradients "
    "and updates are not recorded; layerflow.summary.weights(module, step=step, writer=log_dir) writes a tf.Module's values"
)


@dataclass
class Weights:
    """The instrument. `updates`: whether this is a training step; else only values are recorded (a probe, `record`)."""

    updates: bool = True
    name: str = "weights"

    def before(self, step: Step) -> dict[int, Any]:
        """The value of every variable that can be reached from the model, kept on the device until the step has run.

        Those of layers that are built in the step, or that are out of the model's reach, are added when they are first called.
        """
        return KnownWeights(step.models, step.recording).values

    def after(self, step: Step, outcome: Outcome) -> dict[str, Any]:
        """Adds rows to the plan; nothing else leaves the step."""
        rows = _Rows(step, outcome, step.noted[self.name])
        chosen = chosen_layers(outcome.graph)
        for number, layer in enumerate(outcome.layers):
            if number in chosen:
                for port, variable in enumerate(own_weights(layer)):
                    if is_numeric(variable):
                        rows.add(number, port, variable, self.updates)
        owned = {identity_of(variable) for layer in outcome.layers for variable in layer.weights}
        strangers = set(step.recording.variable_gradients) - owned
        if strangers and self.updates:
            reason = OF_NO_LAYER.format(count=len(strangers))
            outcome.graph.ledger.append(records.LedgerEntry("", "weight", -1, "skipped", reason))
        return {}

    def finish(self, outcome: Outcome, replicas: list[dict[str, NDArray[Any]]], record: records.Record) -> None:
        """The rows have become tables by themselves."""


def chosen_layers(graph: records.Graph) -> set[int]:
    """The layers whose weights are wanted: those with a chosen call; those never called, where every call was chosen."""
    called: set[int] = set()
    chosen: set[int] = set()
    everything = True
    for call in graph.calls:
        wanted = all(port.selected for port in call.inputs + call.outputs)
        everything = everything and wanted
        if call.layer is not None:
            called.add(call.layer)
            if wanted:
                chosen.add(call.layer)
    return chosen | (set(range(len(graph.layers))) - called if everything else set())


class _Rows:
    """Puts the three kinds of one step's variables into the plan, each variable's tensors made once."""

    def __init__(self, step: Step, outcome: Outcome, values: dict[int, Any]) -> None:
        self._step = step
        self._outcome = outcome
        self._before = values
        self._late: dict[int, Any] = {}
        self._updates: dict[int, Any] = {}
        self._gradients: dict[int, Any] = {}
        self._replicas = _replicas()

    def add(self, layer: int, port: int, variable: Any, updates: bool) -> None:
        """One variable of one layer."""
        key = identity_of(variable)
        if key not in self._before:
            self._add_late(layer, port, key, variable, updates)
        else:
            self._outcome.plan.add("weight", layer, port, self._before[key])
            if updates:
                self._add_update(layer, port, key, variable)
        if not updates:
            return
        if variable.trainable:
            self._add_gradient(layer, port, key)

    def _add_late(self, layer: int, port: int, key: int, variable: Any, updates: bool) -> None:
        if key not in self._late:
            self._late[key] = tf.identity(tf.convert_to_tensor(variable))
        self._outcome.plan.add("weight", layer, port, self._late[key])
        if updates:
            self._note(layer, port, "weight", "note", "the value after the step")
            self._note(layer, port, "update", "skipped", UNKNOWN_BEFORE)

    def _add_update(self, layer: int, port: int, key: int, variable: Any) -> None:
        if key not in self._updates:
            after = tf.cast(tf.convert_to_tensor(variable), tf.float32)
            self._updates[key] = after - tf.cast(self._before[key], tf.float32)
        self._outcome.plan.add("update", layer, port, self._updates[key])

    def _add_gradient(self, layer: int, port: int, key: int) -> None:
        found = self._step.recording.variable_gradients.get(key)
        if not found:
            self._note(layer, port, "weight_gradient", "skipped", NO_TAPE)
            return
        gradient = found[-1]
        if gradient is None:
            self._note(layer, port, "weight_gradient", "skipped", "not connected")
        elif not _readable(gradient, self._step.recording):
            self._note(layer, port, "weight_gradient", "skipped", "inside another graph")
        else:
            if key not in self._gradients:
                self._gradients[key] = tf.convert_to_tensor(gradient)
            self._outcome.plan.add("weight_gradient", layer, port, self._gradients[key], is_error=True)
            if len(found) > 1:
                self._note(layer, port, "weight_gradient", "note", SEVERAL.format(count=len(found)))
            if self._replicas > 1:
                self._note(layer, port, "weight_gradient", "note", FIRST_REPLICA)

    def _note(self, layer: int, port: int, kind: str, status: str, reason: str) -> None:
        graph = self._outcome.graph
        graph.ledger.append(records.LedgerEntry(graph.layers[layer].path, kind, port, status, reason))


def _readable(gradient: Any, recording: Recording) -> bool:
    values = gradient.values if isinstance(gradient, tf.IndexedSlices) else gradient
    return graphs.belongs(values, recording.graph)


def _replicas() -> int:
    context = tf.distribute.get_replica_context()
    return int(context.num_replicas_in_sync) if context is not None else 1
