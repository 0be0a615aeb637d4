"""One recording: the calls that run while it is active, in one thread and one graph, with taps on what they return.

It is told of each call's beginning and end by `hooks`; what it found is turned into a graph by `outcome`. It writes nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import tensorflow as tf

from . import families, graphs, nests, recomputation
from .calls import Error, Leaf, Node
from .lineage import Lineage
from .taps import REAPPLIED, Tapes, carry, identity, tap

_active = threading.local()


def active() -> Recording | None:
    """The recording of this thread, or None."""
    return getattr(_active, "recording", None)


@contextmanager
def suspended() -> Iterator[None]:
    """Nothing that this thread runs inside is recorded."""
    before = active()
    _active.recording = None
    try:
        yield
    finally:
        _active.recording = before


class Recording:
    """A context in which calls are recorded. `errors` says whether outputs are tapped for gradients.

    `roots` are the calls that have no parent, `tapes` the gradient tapes at work. `watched` collects the tapped tensors when the
    recording itself will differentiate (a probe). What is in `on_call` is told each layer whose call begins, built by then.
    """

    def __init__(self, *, errors: bool = True, input_names: list[str] | None = None, lineage: bool = False) -> None:
        self.errors = errors
        self.lineage = Lineage() if lineage else None
        self.input_names = input_names
        self.roots: list[Node] = []
        self.stack: list[Node] = []
        self.tapes = Tapes()
        self.graph: Any = None
        self.applied_pass: int | None = None
        self.pass_names: dict[int, str] = {}
        self.watched: list[Any] = []
        self.variable_gradients: dict[int, list[Any]] = {}
        self.on_call: list[Callable[[Any], None]] = []
        self.without_gradient: set[str] = set()
        self.iterations: Any = None
        self.scaler: Any = None
        self.scaled_iterations: Any = None
        self.loss_scale: Any = None
        self._producers: dict[int, tuple[Node, int]] = {}
        self._kept: list[Any] = []
        self._entering: dict[int, tuple[tuple[Any, ...], dict[str, Any]]] = {}
        self._gradients: dict[int, int] = {}
        self._outer: Recording | None = None
        self.failure: Exception | None = None
        self.replicas: Any = None

    def __enter__(self) -> Recording:
        self._outer = active()
        self.graph = graphs.current()
        if self.lineage is not None:
            self.lineage.begin(self.graph)
        _active.recording = self
        return self

    def __exit__(self, *exception: object) -> None:
        if self.lineage is not None:
            self.lineage.end(self.graph)
        _active.recording = self._outer

    # ------------------------------------------------------------------------------------------------------------- calls

    def passes_by(self, args: tuple[Any, ...], kwargs: dict[str, Any], symbolic: tuple[type, ...]) -> bool:
        """Whether a call is none of the step's: a model being built, a shape being computed, another graph."""
        if self.failure is not None:
            return True
        graph = graphs.current()
        if graph is not self.graph and (graphs.is_scratch(graph) or not graphs.is_inside(graph, self.graph)):
            return True
        return any(isinstance(leaf, symbolic) for _, leaf in nests.flatten([args, kwargs]))

    def entering(self, layer: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Note what a layer received before it cast it to its own dtype."""
        self._entering[id(layer)] = (args, kwargs)

    def has_entered(self, layer: Any) -> bool:
        """Whether the `__call__` of a layer runs whose `call` has not begun yet."""
        return id(layer) in self._entering

    def begin(self, layer: Any, call: Any, kind: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Node | None:
        """A call begins. None where that cannot be recorded, and from then on nothing is: `failure` says why."""
        try:
            return self._begin(layer, call, kind, args, kwargs)
        except Exception as error:
            self._fail(error)
            return None

    def end(self, node: Node | None, outputs: Any) -> Any:
        """A call ends; returns its outputs, tapped."""
        if node is None or self.failure is not None:
            return outputs
        try:
            return self._end(node, outputs)
        except Exception as error:
            self._fail(error)
            return outputs

    def _fail(self, error: Exception) -> None:
        self.failure = self.failure or error

    def _begin(self, layer: Any, call: Any, kind: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Node:
        parent = self.stack[-1] if self.stack else None
        node = Node(layer, layer.name, type(layer).__name__, kind, parent)
        node.status = graphs.why_inner(graphs.current(), self.graph)
        node.training = _is_true(kwargs.get("training"))
        node.traced_inside = hasattr(call, "get_concrete_function")
        node.operations = (self._operation_count(), 0)
        node.repeated = self._repeated_by(node, nests.arguments(call, args, kwargs))
        if node.repeated is None:
            (parent.children if parent else self.roots).append(node)
        received = nests.arguments(call, args, kwargs)
        before = self._received_before_cast(layer, call, received)
        if parent is None and node.repeated is None:
            self._add_root_inputs(node, before)
        for (key, tensor), (_, uncast) in zip(received, before, strict=True):
            node.inputs.append(self._input(node, key, tensor, uncast))
        self.stack.append(node)
        for told in self.on_call:
            told(layer)
        if self.lineage is not None:
            self.lineage.enter(call=node.repeated or node)
        return node

    def _repeated_by(self, node: Node, received: list[tuple[str, Any]]) -> Node | None:
        """The call of the forward pass that a backward pass runs again, to save memory; None: it is a call like any other."""
        if not self.tapes.running:
            return None
        if node.parent is not None:
            again = None if node.parent.repeated is None else recomputation.among(node.parent.repeated.children, node, received)
        else:
            again = recomputation.among([below for root in self.roots for below in root.walk()], node, received)
        if again is not None:
            again.recomputed = True
        return again

    def _end(self, node: Node, outputs: Any) -> Any:
        self.stack.pop()
        if self.lineage is not None:
            self.lineage.leave_call(node.repeated or node)
        node.operations = (node.operations[0], self._operation_count())
        leaves, fixed = nests.flatten(outputs), nests.why_fixed(outputs)
        node.outputs = [self._leaf(node, key, leaf) for key, leaf in leaves]
        logits: list[Leaf] = []
        tapped = [
            self._left_alone(node, port, leaf, why) if why else self._pass_on(node, port, leaf, logits)
            for port, ((_, leaf), why) in enumerate(zip(leaves, fixed, strict=True))
        ]
        node.outputs += logits
        return nests.refilled(outputs, iter(tapped))

    def _left_alone(self, node: Node, port: int, leaf: Any, why: str) -> Any:
        """An output in a container that can only be passed on whole: its statistics are taken, its error cannot be."""
        found = node.outputs[port]
        if isinstance(leaf, tf.Tensor):
            found.source = self._producers.get(id(leaf))
            found.same_as_source = found.source is not None
            self._keep(leaf, node, port)
        if found.tensor is not None:
            found.error = found.error or why
        return leaf

    def function(self, name: str, kind: str, function: Any, args: tuple[Any, ...]) -> Any:
        """Run `function` as a root of its own: a `tf.function` or a module, of the class name `kind`."""
        node = Node(None, name, kind, "function", None)
        received = nests.arguments(function, args, {})
        self.roots.append(node)
        self._add_root_inputs(node, received)
        node.inputs = [self._input(node, key, tensor, tensor) for key, tensor in received]
        self.stack.append(node)
        if self.lineage is not None:
            self.lineage.enter(call=node)
        return self.end(node, function(*args))

    def tap(self, name: str, tensor: Any) -> Any:
        """Make a tensor (or nest of them) the output of a call of its own, below the call that runs."""
        parent = self.stack[-1] if self.stack else None
        node = Node(None, name, "tap", "tap", parent, status=graphs.why_inner(graphs.current(), self.graph))
        (parent.children if parent else self.roots).append(node)
        node.inputs = [self._input(node, key, leaf, leaf) for key, leaf in nests.flatten(tensor) if nests.is_tensor(leaf)]
        self.stack.append(node)
        return self.end(node, tensor)

    def batch_size(self) -> Any:
        """The first axis of the first input of the first root, int32 scalar; 0 where there is none."""
        for root in self.roots:
            for leaf in root.inputs if root.kind != "tap" else ():
                if leaf.tensor is not None and leaf.tensor.shape.rank != 0:
                    return tf.shape(leaf.tensor)[0]
        return tf.constant(0)

    def failed(self, node: Node | None) -> None:
        """A call raised."""
        if node is None:
            return
        node.failed = True
        if self.lineage is not None:
            self.lineage.leave_call(node.repeated or node)
        while self.stack and self.stack.pop() is not node:
            pass

    def _operation_count(self) -> int:
        return 0 if self.graph is None else len(self.graph.get_operations())

    # ------------------------------------------------------------------------------------------------------------ tensors

    def _received_before_cast(self, layer: Any, call: Any, received: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
        args, kwargs = self._entering.pop(id(layer), ((), {}))
        before = nests.arguments(call, args, kwargs)
        return before if len(before) == len(received) else received

    def _add_root_inputs(self, root: Node, received: list[tuple[str, Any]]) -> None:
        for position, (key, tensor) in enumerate(received):
            if id(tensor) in self._producers:
                continue
            name = key or "input"
            if self.input_names is not None and len(self.input_names) == len(received) and (not key or key.isdecimal()):
                name = self.input_names[position] or name
            node = Node(None, name, "Input", "input", root, status=root.status)
            leaf = self._leaf(node, "", tensor)
            leaf.error = leaf.error or "an input of the model"
            node.outputs.append(leaf)
            root.children.append(node)
            self._keep(tensor, node, 0)

    def _input(self, node: Node, key: str, tensor: Any, uncast: Any) -> Leaf:
        leaf = self._leaf(node, key, tensor)
        leaf.source = self._producers.get(id(tensor))
        leaf.same_as_source = leaf.source is not None
        if leaf.source is None:
            leaf.source = self._producers.get(id(uncast))
        self._kept.append(tensor)
        return leaf

    def _leaf(self, node: Node, key: str, leaf: Any) -> Leaf:
        kind, values = _values_of(leaf)
        if values is None:
            status = _no_statistics(kind)
            return Leaf(key, None, None, type(leaf).__name__ if leaf is not None else "", kind, status=status, error=status)
        shape = None if values.shape.rank is None else tuple(-1 if size is None else size for size in values.shape)
        if kind in ("ragged", "sparse"):
            shape = None if leaf.shape.rank is None else tuple(-1 if size is None else size for size in leaf.shape)
        found = Leaf(key, values, shape, values.dtype.name, kind, op=_name_of_operation(values))
        found.status = node.status or _why_unmeasurable(values)
        found.error = node.status or ("" if values.dtype.is_floating else "integer")
        if not node.status and not graphs.belongs(values, self.graph):
            found.status = found.error = "inside another graph"
        if found.status:
            found.tensor = None
        return found

    def _pass_on(self, node: Node, port: int, leaf: Any, logits: list[Leaf]) -> Any:
        found = node.outputs[port]
        if isinstance(leaf, tf.Tensor):
            found.source = self._producers.get(id(leaf))
            found.same_as_source = found.source is not None
        if found.kind in ("ragged", "sparse") and found.tensor is not None and self.errors and found.tensor.dtype.is_floating:
            return self._pass_on_values(node, port, leaf)
        if not isinstance(leaf, tf.Tensor) or found.tensor is None or not leaf.dtype.is_floating or not self.errors:
            if found.tensor is not None and found.error == "":
                found.error = "no backward pass" if not self.errors else found.kind
            if isinstance(leaf, tf.Tensor):
                passed_on = leaf if found.tensor is None or _read_by_losses(leaf) else tf.identity(leaf)
                if passed_on is not leaf:
                    carry(leaf, passed_on)
                self._keep(passed_on, node, port)
                return passed_on
            return leaf
        at_logits = found.at_logits()
        to_output, to_logits = recomputation.receivers(node, port, found, at_logits)
        passed_on, before = tap(
            leaf,
            lambda gradient: self._receive(to_output, gradient),
            lambda gradient: self._receive(to_logits, gradient),
            self.tapes.watch,
        )
        if before is not None:
            at_logits.tensor, at_logits.op = before, _name_of_operation(before)
            at_logits.source = self._producers.get(id(before))
            logits.append(at_logits)
        found.passed_on = passed_on
        self.watched.append(passed_on)
        self._keep(passed_on, node, port)
        return passed_on

    def _pass_on_values(self, node: Node, port: int, leaf: Any) -> Any:
        """A ragged or sparse tensor whose values went through a tap; the rest of it is as it was."""
        found = node.outputs[port]
        values = found.tensor
        self.tapes.watch(values)
        receiver, _ = recomputation.receivers(node, port, found, found)
        found.passed_on = identity(values, lambda gradient: self._receive(receiver, gradient))
        self.watched.append(found.passed_on)
        parts = tf.nest.flatten(leaf, expand_composites=True)
        passed_on = tf.nest.pack_sequence_as(
            leaf, [found.passed_on if part is values else part for part in parts], expand_composites=True
        )
        carry(leaf, passed_on)
        self._keep(passed_on, node, port)
        return passed_on

    def producers(self) -> list[tuple[Any, Node, int]]:
        """Every tensor that calls returned, with the call and the port."""
        return [(tensor, *self._producers[id(tensor)]) for tensor in self._kept if id(tensor) in self._producers]

    def _keep(self, tensor: Any, node: Node, port: int) -> None:
        self._kept.append(tensor)
        self._producers[id(tensor)] = (node.repeated or node, port)

    # ------------------------------------------------------------------------------------------------------------- errors

    def _receive(self, leaf: Leaf, gradient: Any) -> None:
        try:
            self._note_error(leaf, gradient)
        except Exception as error:
            self._fail(error)

    def _note_error(self, leaf: Leaf, gradient: Any) -> None:
        if isinstance(gradient, tf.IndexedSlices):
            gradient = tf.convert_to_tensor(gradient)
        number = self.tapes.running[-1] if self.tapes.running else max(self.tapes.passes - 1, 0)
        status = "" if graphs.belongs(gradient, self.graph) else "inside another graph"
        self._kept.append(gradient)
        leaf.errors.append(Error(number, None if status else gradient, status))

    def differentiated(self, number: int, gradients: Any) -> None:
        """A backward pass gave these gradients."""
        for _, gradient in nests.flatten(gradients):
            if gradient is not None:
                self._gradients[id(gradient)] = number
                self._kept.append(gradient)

    def differentiated_by(self, sources: Any, gradients: Any) -> None:
        """A backward pass gave these gradients with respect to these variables (or tensors, which are passed over)."""
        named, found = nests.flatten(sources), nests.flatten(gradients)
        for (_, source), (_, gradient) in zip(named, found, strict=False):
            if hasattr(source, "assign"):
                if self.lineage is not None and gradient is not None:
                    self.lineage.gradients.append((gradient, identity_of(source)))
                self.variable_gradients.setdefault(identity_of(source), []).append(gradient)

    def applied(self, optimizer: Any, gradients: list[Any]) -> None:
        """An optimizer is about to apply these gradients (perhaps changed since they were computed)."""
        if self.iterations is None and graphs.current() is self.graph:
            self.iterations = tf.identity(tf.convert_to_tensor(families.iterations_of(optimizer)))
        if self.scaler is None and hasattr(optimizer, "inner_optimizer") and graphs.current() is self.graph:
            self.scaler = optimizer
            self.scaled_iterations = tf.identity(tf.convert_to_tensor(families.iterations_of(optimizer)))
        numbers = [self._gradients[id(gradient)] for gradient in gradients if id(gradient) in self._gradients]
        if numbers:
            self.applied_pass = max(numbers)
        elif self.tapes.passes:
            self.applied_pass = self.tapes.passes - 1


def identity_of(variable: Any) -> int:
    """One number for a Keras variable and for TensorFlow's inside it."""
    return id(getattr(variable, "_value", variable))


def _is_true(flag: Any) -> bool:
    return flag is True


def _values_of(leaf: Any) -> tuple[str, Any]:
    if isinstance(leaf, tf.RaggedTensor):
        return "ragged", leaf.flat_values
    if isinstance(leaf, (tf.SparseTensor, tf.IndexedSlices)):
        return "sparse", leaf.values
    if isinstance(leaf, tf.Variable):
        return "", tf.convert_to_tensor(leaf)
    if isinstance(leaf, tf.Tensor):
        return "", leaf
    return ("none" if leaf is None else "object"), None


def _no_statistics(kind: str) -> str:
    return "None" if kind == "none" else "not a tensor"


def _why_unmeasurable(tensor: Any) -> str:
    dtype = tensor.dtype
    if dtype == tf.string:
        return "string"
    if dtype.is_complex:
        return "complex"
    if dtype.is_floating or dtype.is_integer or dtype == tf.bool:
        return ""
    return f"dtype {dtype.name}"


def _name_of_operation(tensor: Any) -> str:
    return "" if isinstance(tensor, tf.__internal__.EagerTensor) else str(tensor.op.name)


def _read_by_losses(tensor: Any) -> bool:
    """Whether a loss of Keras's looks at which operation made a tensor."""
    return not isinstance(tensor, tf.__internal__.EagerTensor) and tensor.op.type in REAPPLIED
