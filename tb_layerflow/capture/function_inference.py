"""Running a `tf.function` or a `tf.Module` on given samples while its calls are recorded: what `record` does with no Keras
model.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from . import families
from .autograph import convert
from .inference import Inference
from .recording import active


class FunctionInference(Inference):
    """As `Inference`, with a function in the place of the model. A tuple of samples is its arguments."""

    @property
    def _autograph(self) -> bool:
        return False

    @property
    def _eager(self) -> bool:
        return False

    def _predict(self, x: Any) -> Any:
        name, function = python_function(self.model)
        args = tuple(x) if isinstance(x, tuple) else (x,)
        recording = active()
        assert recording is not None, "samples are run while they are recorded"
        return recording.function(name, type(self.model).__name__, convert(function), args)

    def _variables(self) -> list[Any]:
        """A module says which variables it has; of a function only those of the layers that were found are known."""
        found = {id(variable): variable for variable in getattr(self.model, "variables", None) or []}
        for layer in self.outcome.layers if self.outcome is not None else []:
            found |= {id(variable): variable for variable in layer.variables}
        return list(found.values())


def is_function(target: Any) -> bool:
    """Whether `record` can run the object though it is no Keras model."""
    return callable(target) and not inspect.isclass(target) and not families.is_layer(target)


def python_function(target: Any) -> tuple[str, Callable[..., Any]]:
    """The name of a `tf.function`, module or plain function, and the Python function behind it."""
    function = target if hasattr(target, "python_function") or inspect.isroutine(target) else target.__call__
    name = getattr(target, "name", None) or getattr(target, "__name__", None) or type(target).__name__
    if not isinstance(name, str):
        name = type(target).__name__
    return name.strip("<>"), getattr(function, "python_function", function)
