"""The one-tensor calls, like `tf.summary`: what is given for one step is gathered, and becomes one record of stream "manual".

The record is written when the step changes, when the writer is flushed or closed, and when the process ends.
"""

from __future__ import annotations

import atexit
import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.ops import summary_ops_v2

from tb_layerflow.log import paths, records, tags
from tb_layerflow.log.writer import StreamWriter

from . import access, families, function_lineage, layer_table, statistics, unpack
from .fast_records import FastRecords
from .function_lineage import FunctionLineage
from .outcome import Plan
from .sink import numpy_figures

STREAM = "manual"
_gathering: dict[Any, Gathered] = {}


class WriterEvents:
    """Events written through one of `tf.summary`'s writers."""

    def __init__(self, writer: Any) -> None:
        self.pid = os.getpid()
        self._writer = writer

    def write(self, tag: tags.Tag, step: int, payload: Sequence[bytes]) -> None:
        """Append one event."""
        content = list(payload) if tag.kind in tags.BLOB_KINDS else payload[0]
        with self._writer.as_default(), tf.summary.record_if(True):
            tf.summary.write(str(tag), tf.constant(content), step=step, metadata=tags.metadata(tag.kind))

    def flush(self) -> None:
        """The writer flushes when its owner says so."""


class Gathered:
    """What was given for the step under way, for one writer or folder."""

    def __init__(self, target: Any) -> None:
        self._step: int | None = None
        self._outputs: dict[str, Any] = {}
        self._errors: dict[str, Any] = {}
        self._layers: dict[int, tuple[records.Layer, list[Any]]] = {}
        self._lineages: dict[str, FunctionLineage] = {}
        self._is_due = False
        self._traces: list[records.Graph] = []
        if isinstance(target, str):
            self._log = StreamWriter(target, STREAM, open_records=FastRecords)
        else:
            self._log = StreamWriter("", STREAM, events=WriterEvents(target))
            _before(target, "flush", self.write)
            _before(target, "close", self.write)

    def add(
        self,
        step: int,
        *,
        output: Any = None,
        error: Any = None,
        lineage: FunctionLineage | None = None,
        name: str = "",
        layers: dict[int, tuple[records.Layer, list[Any]]] | None = None,
    ) -> None:
        """Add one tensor, or layers with the values of their weights, to the step; a new step writes the one before."""
        if self._step is not None and step < self._step:
            raise ValueError(f"step must not go back: it was {self._step} already. Received: {step}.")
        if step != self._step:
            self.write()
        self._step = step
        if output is not None:
            self._outputs[name] = output
        if error is not None:
            self._errors[name] = error
        if lineage is not None:
            self._lineages[name] = lineage
            self._is_due = True
        self._layers = (layers or {}) | self._layers

    def write(self) -> None:
        """Write the step under way, if there is one; a step that was written already keeps what it had."""
        step, self._step = self._step, None
        if step is None or not (self._outputs or self._errors or self._layers or self._is_due):
            return
        self._is_due = False
        graph, plan = self._graph()
        tables, histograms = unpack.tables(numpy_figures(_measured(plan), plan), plan.rows)
        self._outputs, self._errors, self._layers = {}, {}, {}
        if self._log.last_step is None or step > self._log.last_step:
            self._log.write_record(records.Record(step, self._trace_of(graph), tables, histograms, phase=""))
        self._log.flush()

    def close(self) -> None:
        """Write what is left, and let go of the log."""
        self.write()
        self._log.close()

    def _trace_of(self, graph: records.Graph) -> int:
        for number, known in enumerate(self._traces):
            if known.calls == graph.calls and known.layers == graph.layers and known.ops == graph.ops:
                return number
        self._traces.append(graph)
        return self._log.write_graph(graph)

    def _graph(self) -> tuple[records.Graph, Plan]:
        graph = records.Graph("manual", [records.Call(paths.ROOT, "manual", "manual", "function")], [])
        plan = Plan()
        places: dict[str, int] = {paths.ROOT: 0}
        for name in dict.fromkeys([*self._outputs, *self._errors]):
            call = _place(graph, places, name)
            tensor: Any = self._outputs.get(name, self._errors.get(name))
            shape = tuple(int(size) for size in tensor.shape)
            port = records.Port(shape=shape, dtype=tensor.dtype.name)
            port.status = "" if name in self._outputs else "no output was given"
            port.error = "" if name in self._errors else "no error was given"
            graph.calls[call].outputs = [port]
            if name in self._outputs:
                plan.add("output", call, 0, self._outputs[name])
            if name in self._errors:
                plan.add("error", call, 0, self._errors[name], is_error=True)
        for place, (layer, tensors) in enumerate(self._layers.values()):
            graph.layers.append(layer)
            for number, tensor in enumerate(tensors):
                plan.add("weight", place, number, tensor)
        for name, lineage in self._lineages.items():
            _add_lineage(graph, _place(graph, places, name), lineage)
        return graph, plan


def gather(kind: str, name: str, data: Any, step: Any, writer: Any) -> None:
    """Add one tensor (`kind` "output" or "error") to the record of `step`."""
    if not isinstance(name, str) or not name:
        raise ValueError(f"name must be the path of a call. Received: {name!r}.")
    tensor = tf.convert_to_tensor(data)
    if not tf.executing_eagerly() or not hasattr(tensor, "numpy"):
        raise RuntimeError(
            f"layerflow.summary.{kind}s writes from Python and cannot run inside a tf.function. Make the tensor a call with "
            f"layerflow.summary.tap({name!r}, …) in a function wrapped by Recorder.function, or return it and call this outside."
        )
    if tensor.dtype == tf.string or tensor.dtype.is_complex:
        raise TypeError(f"data must be a tensor of real numbers. Received: dtype {tensor.dtype.name}.")
    _gathered(writer).add(_checked_step(step), **{kind: tensor}, name=name)


def gather_lineage(name: str, function: Any, step: Any, writer: Any) -> None:
    """Add the operations of a concrete function, as a call of this name, to the record of `step` and to all later ones."""
    if not isinstance(name, str) or not name:
        raise ValueError(f"name must be the path of a call. Received: {name!r}.")
    found = function_lineage.of(function)
    _gathered(writer).add(_checked_step(step), lineage=found, name=name)


def gather_weights(model: Any, step: Any, writer: Any) -> None:
    """Add the weights of a model, layer or `tf.Module` to the record of `step`."""
    try:
        families.of(model)
    except families.NotKeras:
        if not isinstance(model, tf.Module):
            raise
        held = _weights_of_module(model)
    else:
        held = _weights_of(model)
    _gathered(writer).add(_checked_step(step), layers=held)


def flush() -> None:
    """Write all that was gathered."""
    for gathered in _gathering.values():
        gathered.write()


def _gathered(writer: Any) -> Gathered:
    target = writer if writer is not None else summary_ops_v2._summary_state.writer
    if target is None:
        raise ValueError(
            "There is no writer: pass writer= a folder or one of tf.summary's writers, or call this inside "
            "`with tf.summary.create_file_writer(folder).as_default():`. Received: writer=None."
        )
    if isinstance(target, os.PathLike):
        target = os.fspath(target)
    key = os.path.abspath(target) if isinstance(target, str) else id(target)
    if key not in _gathering:
        if not _gathering:
            atexit.register(flush)
        _gathering[key] = Gathered(target)
    return _gathering[key]


def _checked_step(step: Any) -> int:
    number = int(step) if isinstance(step, (int, np.integer, tf.Tensor, tf.Variable)) and not isinstance(step, bool) else -1
    if number < 0:
        raise ValueError(f"step must be an integer from 0 on. Received: {step!r}.")
    return number


def _place(graph: records.Graph, places: dict[str, int], path: str) -> int:
    """The index of the call at `path`; it and the groups above it are made when first named."""
    if path not in places:
        above = _place(graph, places, paths.parent(path) or paths.ROOT)
        name, _ = paths.split(path)
        places[path] = len(graph.calls)
        graph.calls.append(records.Call(path, name, "", "tap", parent=above))
    return places[path]


def _add_lineage(graph: records.Graph, call: int, lineage: FunctionLineage) -> None:
    ops, stacks = len(graph.ops), len(graph.stacks)
    graph.ops += [
        replace(
            op,
            call=call,
            forward_op=None if op.forward_op is None else op.forward_op + ops,
            stack=None if op.stack is None else op.stack + stacks,
            inputs=[number + ops for number in op.inputs],
        )
        for op in lineage.ops
    ]
    graph.stacks += lineage.stacks


def _weights_of(model: Any) -> dict[int, tuple[records.Layer, list[Any]]]:
    """The layers of a model that have weights, by identity, and what the weights are now: the next step changes them."""
    held = {}
    for found in access.reachable(model):
        layer, weights = found.layer, layer_table.own_weights(found.layer)
        if weights:
            path = found.path if found.path != paths.ROOT else layer.name
            described = [layer_table.weight_of(variable) for variable in weights]
            values = [tf.identity(tf.convert_to_tensor(variable)) for variable in weights]
            held[id(layer)] = records.Layer(path, layer.name, type(layer).__name__, described), values
    return held


def _weights_of_module(module: tf.Module) -> dict[int, tuple[records.Layer, list[Any]]]:
    """A `tf.Module` as one layer; each variable is named by the attributes that lead to it."""
    found = list(module._flatten(predicate=lambda leaf: isinstance(leaf, tf.Variable), with_path=True))
    described = [replace(layer_table.weight_of(variable), name="/".join(str(part) for part in path)) for path, variable in found]
    values = [tf.identity(variable) for _, variable in found]
    return {id(module): (records.Layer(module.name, module.name, type(module).__name__, described), values)} if found else {}


def _measured(plan: Plan) -> dict[str, Any]:
    return statistics.measure(plan.tensors, [None] * len(plan.tensors))._asdict()


def _before(owner: Any, name: str, action: Any) -> None:
    """Let `action` run before each call of the owner's method."""
    original = getattr(owner, name)

    def method(*args: Any, **kwargs: Any) -> Any:
        action()
        return original(*args, **kwargs)

    setattr(owner, name, method)
