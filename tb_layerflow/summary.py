"""The public writing API. Importing it does not import TensorFlow."""

from __future__ import annotations

from ._reader.live import printer, stop_on
from ._summary.callback import LayerFlow
from ._summary.once import locate_non_finite, record
from ._summary.recorder import Recorder, tap
from ._summary.tensors import errors, flush, lineage, outputs, weights
from .capture.value_settings import Values

__all__ = [
    "LayerFlow",
    "Recorder",
    "Values",
    "errors",
    "flush",
    "lineage",
    "locate_non_finite",
    "outputs",
    "printer",
    "record",
    "stop_on",
    "tap",
    "weights",
]
