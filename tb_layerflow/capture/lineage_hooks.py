"""The hooks that tell a lineage of gradients and updates: which operation a gradient is the gradient of, which variable an
optimizer updates. Put on and taken off with the other hooks.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tensorflow.python import pywrap_tfe
from tensorflow.python.eager import backprop, execute, record
from tensorflow.python.ops import gradients_util

from .lineage import Lineage
from .recording import active, identity_of


def _lineage() -> Lineage | None:
    recording = active()
    return None if recording is None else recording.lineage


@contextmanager
def installed(replace: Callable[[Any, str, Any], None]) -> Iterator[None]:
    """All hooks; `replace(owner, name, value)` sets an attribute that its caller puts back."""
    replace(execute, "record_gradient", _notes_taped(execute.record_gradient))
    replace(record, "record_operation", _notes_custom(record.record_operation))
    replace(gradients_util, "_MaybeCompile", _notes_gradient_in_body(gradients_util._MaybeCompile))
    original = backprop._gradient_function
    pywrap_tfe.TFE_Py_RegisterGradientFunction(_notes_gradient(original))
    try:
        yield
    finally:
        pywrap_tfe.TFE_Py_RegisterGradientFunction(original)


def updates(original: Any) -> Any:
    """An optimizer's `update_step(gradient, variable, …)`, noting the variable."""

    @functools.wraps(original)
    def update_step(self: Any, gradient: Any, variable: Any, *args: Any, **kwargs: Any) -> Any:
        lineage = _lineage()
        if lineage is None:
            return original(self, gradient, variable, *args, **kwargs)
        with lineage.during(variable=identity_of(variable)):
            return original(self, gradient, variable, *args, **kwargs)

    return update_step


def _notes_taped(original: Any) -> Any:
    def record_gradient(op_name: str, inputs: Any, attributes: Any, outputs: Any) -> Any:
        lineage = _lineage()
        if lineage is not None:
            lineage.taped(attributes, outputs)
        return original(op_name, inputs, attributes, outputs)

    return record_gradient


def _notes_gradient(original: Any) -> Any:
    def gradient_function(
        op_name: str, attributes: Any, num_inputs: int, inputs: Any, outputs: Any, out_grads: Any, *rest: Any
    ) -> Any:
        lineage = _lineage()
        if lineage is None:
            return original(op_name, attributes, num_inputs, inputs, outputs, out_grads, *rest)
        forward = lineage.forward_of(op_name, attributes, inputs, outputs, out_grads)
        lineage.lead_to(forward, out_grads)
        with lineage.during(backward=True, forward=forward):
            return original(op_name, attributes, num_inputs, inputs, outputs, out_grads, *rest)

    return gradient_function


def _notes_gradient_in_body(original: Any) -> Any:
    """Inside the bodies of functions and loops TensorFlow differentiates graphs, operation by operation."""

    def maybe_compile(scope: Any, op: Any, func: Any, grad_fn: Any) -> Any:
        lineage = _lineage()
        if lineage is None:
            return original(scope, op, func, grad_fn)
        with lineage.during(backward=True, forward=op):
            return original(scope, op, func, grad_fn)

    return maybe_compile


def _notes_custom(original: Any) -> Any:
    """What has a gradient function of its own: `tf.custom_gradient`, calls of functions, reads of variables."""

    def record_operation(
        op_type: Any, output_tensors: Any, input_tensors: Any, backward_function: Any, *rest: Any, **more: Any
    ) -> Any:
        lineage = _lineage()
        if lineage is None:
            return original(op_type, output_tensors, input_tensors, backward_function, *rest, **more)
        forward = lineage.made(output_tensors)

        def backward(*gradients: Any) -> Any:
            running = _lineage()
            if running is None:
                return backward_function(*gradients)
            running.lead_to(forward, gradients)
            with running.during(backward=True, forward=forward):
                return backward_function(*gradients)

        return original(op_type, output_tensors, input_tensors, backward, *rest, **more)

    return record_operation
