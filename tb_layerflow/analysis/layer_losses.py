"""What the labels of an output ask for, and how scores of a readout answer it. numpy only; knows neither models nor losses' code.

Three tasks: `classification` (one of C classes), `multi-label` (each of K labels yes or no; binary is K = 1) and `regression`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class NoTask(ValueError):
    """The labels cannot be read from pooled features; the text says why."""


@dataclass(frozen=True)
class Task:
    """`targets` float64 [samples, C or K] is what a readout is fitted to: 0 and 1 for classes and labels, else the numbers."""

    name: str
    targets: Floats


def name_of(labels: NDArray[np.generic], width: int, loss: str) -> str:
    """The task, from the labels, the number of outputs on the prediction's last axis, and the loss's name.

    The loss decides where its name does (`sparse_categorical_crossentropy`, `binary_…`, `categorical_…`). Otherwise whole
    numbers with one axis less than the prediction, of more than one output, are classes, and all else is regression.
    """
    plain = loss.lower().replace("_", "")
    if "binary" in plain:
        return "multi-label"
    if "categorical" in plain:
        return "classification"
    is_whole = np.issubdtype(labels.dtype, np.integer) or labels.dtype == np.bool_
    is_sparse = labels.ndim == 1 or (labels.ndim == 2 and labels.shape[1] == 1)
    return "classification" if is_whole and is_sparse and width > 1 else "regression"


def task_of(labels: NDArray[np.generic], width: int, loss: str) -> Task:
    """The task and its targets. NoTask where labels have axes beyond [samples, width], or are none of the classes."""
    name = name_of(labels, width, loss)
    flat = labels.reshape(len(labels), -1)
    if labels.ndim > 2:
        raise NoTask(f"labels of shape {tuple(labels.shape)} vary within a sample; pooled features cannot tell them")
    if not np.issubdtype(labels.dtype, np.number) and labels.dtype != np.bool_:
        raise NoTask(f"labels of dtype {labels.dtype} are no numbers")
    if name == "classification" and flat.shape[1] == 1 and width > 1:
        numbers = flat[:, 0].astype(np.int64)
        if not ((numbers >= 0) & (numbers < width)).all():
            raise NoTask(f"class numbers must lie in 0 … {width - 1}; the labels go from {numbers.min()} to {numbers.max()}")
        return Task(name, np.eye(width)[numbers])
    if flat.shape[1] != width:
        raise NoTask(f"labels of {flat.shape[1]} numbers do not fit predictions of {width}")
    targets = flat.astype(np.float64)
    if not np.isfinite(targets).all():
        raise NoTask("the labels are not all finite")
    return Task(name, targets)


def prediction(task: Task, scores: Floats, *, from_logits: bool) -> NDArray[np.float32]:
    """The scores as the model's loss takes a prediction.

    Least squares to 0 and 1 estimates probabilities. Those of C classes are raised to at least 0.01 / C and made to sum to 1;
    those of labels are kept in 0.01 … 0.99; so that no single sample's logarithm decides. For a loss on logits: their logits.
    """
    if task.name == "classification":
        shares = np.maximum(scores, 0.01 / scores.shape[1])
        shares = shares / shares.sum(1, keepdims=True)
        shares = np.log(shares) if from_logits else shares
    elif task.name == "multi-label":
        shares = np.clip(scores, 0.01, 0.99)
        shares = np.log(shares / (1 - shares)) if from_logits else shares
    else:
        shares = scores
    found: NDArray[np.float32] = shares.astype(np.float32)
    return found


def accuracy(task: Task, scores: Floats) -> float:
    """The share of samples whose class, or of labels whose yes or no, is right; NaN for regression."""
    if task.name == "classification":
        return float((scores.argmax(1) == task.targets.argmax(1)).mean())
    if task.name == "multi-label":
        return float(((scores > 0.5) == (task.targets > 0.5)).mean())
    return float("nan")
