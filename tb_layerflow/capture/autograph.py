"""AutoGraph as `tf.function` applies it, for functions that LayerFlow calls in the user's place. Knows no layers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorflow.python.autograph.core import ag_ctx
from tensorflow.python.autograph.impl import api


def convert(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function after AutoGraph, whatever conversion is asked for around the call."""
    context = ag_ctx.ControlStatusCtx(status=ag_ctx.Status.ENABLED, options=None)
    return api.tf_convert(function, context, convert_by_default=True, user_requested=True)


def convert_as_around(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function after AutoGraph, if the code around the call is being converted."""
    return api.tf_convert(function, ag_ctx.control_status_ctx())


def not_converted_again(function: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a wrapper that converts what it calls by itself."""
    return api.autograph_artifact(function)
