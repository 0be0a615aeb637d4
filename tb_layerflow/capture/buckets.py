"""Which part of the step an operation belongs to that was created outside every call: loss, metrics, optimizer, input or other.

The lines that made it say so: what Keras's (or the user's) `compute_loss` makes is the loss, whatever it is made of. Knows no
TensorFlow.
"""

from __future__ import annotations

from collections.abc import Sequence

from tb_layerflow.log.records import BUCKETS, Frame

LOSS, METRICS, OPTIMIZER, INPUT, OTHER = BUCKETS

_FUNCTIONS = {
    "compute_loss": LOSS,
    "_compute_loss": LOSS,
    "compute_metrics": METRICS,
    "get_metrics_result": METRICS,
    "_get_metrics_result_or_logs": METRICS,
    "update_state": METRICS,
    "apply_gradients": OPTIMIZER,
    "minimize": OPTIMIZER,
    "scale_loss": OPTIMIZER,
}
_FOLDERS = (("losses", LOSS), ("metrics", METRICS), ("optimizers", OPTIMIZER))
_FILES = {f"{family}/src/{folder}": bucket for family in ("keras", "tf_keras") for folder, bucket in _FOLDERS} | {
    "tensorflow/python/training/optimizer.py": OPTIMIZER
}


def by_lines(frames: Sequence[Frame]) -> str:
    """The bucket that an operation's lines name, by the outermost line that names one; empty where none does."""
    for frame in frames:
        bucket = _FUNCTIONS.get(frame.function, "")
        if bucket:
            return bucket
        if frame.origin in ("keras", "tensorflow"):
            for prefix, named in _FILES.items():
                if frame.file.startswith(prefix):
                    return named
    return ""
