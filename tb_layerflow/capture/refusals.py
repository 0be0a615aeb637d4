"""Which fits cannot be recorded, and the sentence that says why."""

from __future__ import annotations

from typing import Any

from . import frames


def why_not(model: Any) -> str:
    """The one sentence that says why a model's fit cannot be recorded; empty where it can."""
    strategy = type(getattr(model, "distribute_strategy", None)).__name__
    if "ParameterServer" in strategy or "TPU" in strategy:
        return f"LayerFlow does not record under {strategy}."
    owner = next((base for base in type(model).__mro__ if "make_train_function" in vars(base)), None)
    if owner is not None and owner.__module__.split(".")[0] not in ("keras", "tf_keras"):
        return (
            f"{type(model).__name__} makes its own train function ({owner.__name__}.make_train_function); wrap its step with "
            "layerflow.summary.Recorder.function instead."
        )
    plain = getattr(model, "train_function", None)
    if "make_train_function" in vars(model) or (plain is not None and not _is_kerass(plain)):
        return (
            "The train function is not the one that Keras makes; wrap the step with layerflow.summary.Recorder.function instead."
        )
    return ""


def _is_kerass(function: Any) -> bool:
    """Whether Keras made a train function, or we did: a user's would not run in a recorded step."""
    code = getattr(getattr(function, "python_function", function), "__code__", None)
    return code is not None and frames.place_of(code.co_filename)[1] in ("keras", "tensorflow", "layerflow")
