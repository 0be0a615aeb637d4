"""Which of several worker processes this is, as `TF_CONFIG` says: each writes a run of its own. Knows no TensorFlow."""

from __future__ import annotations

import json
import os


def folder_of(log_dir: str) -> str:
    """`<log_dir>/worker_<k>` in the k-th of several workers (the chief is the first), else `log_dir` itself."""
    number = _number(os.environ.get("TF_CONFIG", ""))
    return log_dir if number is None else os.path.join(log_dir, f"worker_{number}")


def _number(text: str) -> int | None:
    try:
        described = json.loads(text)
        cluster, task = described["cluster"], described["task"]
        chiefs, workers = len(cluster.get("chief", ())), len(cluster.get("worker", ()))
        if chiefs + workers < 2 or task["type"] not in ("chief", "worker"):
            return None
        return int(task["index"]) + (chiefs if task["type"] == "worker" else 0)
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
