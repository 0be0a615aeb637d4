"""What a recorded training step becomes: the record's own columns and its figures, from the arrays that left the step."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from tb_layerflow.log import records

from . import families, instrument, nests, unpack
from .sink import numpy_figures
from .variants import Captured


def finished(record: records.Record, captured: Captured, replicas: Any, logs: Any) -> tuple[records.Record, unpack.Figures]:
    """In the background: wait for the step's arrays, and fill the record's own columns."""
    arrays = [{name: np.asarray(value) for name, value in replica.items()} for replica in replicas]
    first = arrays[0]
    record.batch_size = int(sum(replica["batch_size"] for replica in arrays))
    record.iterations = int(first["iterations"]) if "iterations" in first else -1
    if "loss" in first:
        record.losses["loss"] = float(sum(float(np.sum(replica["loss"])) for replica in arrays))
    for name, value in nests.flatten(logs) if isinstance(logs, dict) else ():
        if np.ndim(value) == 0 and np.issubdtype(np.asarray(value).dtype, np.number):
            record.losses.setdefault(name, float(value))
    if "loss_scale" in first:
        record.loss_scale = float(first["loss_scale"])
        record.skipped = bool(first["iterations_after"] == first["iterations"])
    instrument.finished(captured.instruments, captured.outcome, arrays, record)
    plan = captured.outcome.plan
    figures = unpack.merge([numpy_figures(replica, plan) for replica in arrays], plan.once())
    return record, figures


def iterations(model: Any) -> int:
    """The optimizer's counter, read once per fit or probe (each read would make a GPU wait); 0 where there is none."""
    counter = families.iterations_of(getattr(model, "optimizer", None))
    try:
        return int(tf.convert_to_tensor(counter).numpy()) if counter is not None else 0
    except (AttributeError, TypeError, ValueError):
        return 0
