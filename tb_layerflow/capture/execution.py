"""How a model's step executes, as a report: eager, traced or compiled; strategy, devices, precision, versions."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from tb_layerflow.log.records import Execution

from . import families


def is_eager(model: Any) -> bool:
    """Whether the model's steps run eagerly: by its own flag, or because all functions do."""
    return bool(getattr(model, "run_eagerly", False)) or bool(tf.config.functions_run_eagerly())


def report(
    model: Any, *, function: str, trace_seconds: float = 0.0, eager: bool | None = None, jit: bool | None = None
) -> Execution:
    """The execution report of a model's step; `eager` and `jit` override what the model was compiled with."""
    family = families.of(model) if families.is_layer(model) else None
    run_eagerly = is_eager(model) if eager is None else eager
    compiled = bool(_jit(model)) if jit is None else jit
    strategy = getattr(model, "distribute_strategy", None) or tf.distribute.get_strategy()
    optimizer = getattr(model, "optimizer", None)
    return Execution(
        mode="eager" if run_eagerly else "compiled" if compiled else "traced",
        run_eagerly=run_eagerly,
        jit_compile=compiled and not run_eagerly,
        steps_per_execution=steps_per_execution(model),
        strategy="" if type(strategy).__name__ == "_DefaultDistributionStrategy" else type(strategy).__name__,
        replicas=int(strategy.num_replicas_in_sync),
        devices=[device.name.replace("/physical_device:", "") for device in tf.config.get_visible_devices()],
        dtype_policy=str(getattr(getattr(model, "dtype_policy", None), "name", "") or ""),
        family=family.name if family else "",
        keras_version=family.version if family else "",
        tensorflow_version=tf.__version__,
        optimizer=type(optimizer).__name__ if optimizer is not None else "",
        trace_seconds=trace_seconds,
        function=function,
        loss=_loss_name(getattr(model, "loss", None)),
    )


def _jit(model: Any) -> Any:
    try:
        return getattr(model, "jit_compile", False)
    except (AttributeError, ValueError):
        return False


def steps_per_execution(model: Any) -> int:
    """How many steps one call of the train function runs."""
    steps = getattr(model, "steps_per_execution", None)
    if steps is None:
        steps = getattr(model, "_steps_per_execution", None)
    if isinstance(steps, tf.Variable):
        return int(steps.numpy())
    return int(steps or 1)


def breaks_off(model: Any) -> bool:
    """Whether the train function raises where the data ends inside an execution of several steps.

    Keras 3.3 does so, and `tf_keras` where it does not know the number of steps; newer ones run the steps that there are. Which
    operations of such an execution ran is then chance: it is left to the plain function.
    """
    return steps_per_execution(model) > 1 and not hasattr(model, "_autoconvert_optionals")


def _loss_name(loss: Any) -> str:
    if loss is None:
        return ""
    if isinstance(loss, str):
        return loss
    if isinstance(loss, dict):
        return ", ".join(f"{key}: {_loss_name(value)}" for key, value in loss.items())
    if isinstance(loss, (list, tuple)):
        return ", ".join(_loss_name(value) for value in loss)
    return str(getattr(loss, "name", None) or getattr(loss, "__name__", None) or type(loss).__name__)


_REFUSED_BY_XLA = ("XLA compilation", "tf2xla conversion failed", "when trying to compile graph")


def is_refused_by_xla(error: Exception) -> bool:
    """Whether XLA could not compile a function, of which then nothing has run."""
    return isinstance(error, tf.errors.OpError) and any(text in str(error) for text in _REFUSED_BY_XLA)
