"""What a row of the table of supported things is, and the pass written by hand that it is held against.

Nothing here uses the code under test, but for the callback that a fit is given.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import keras
import numpy as np
import tensorflow as tf

import tb_layerflow as layerflow

LOOP = "the body of a loop"
KERNEL = "the cell of a fused recurrent layer"
FUNCTION = "the inside of a tf.function"
BRANCH = "a branch of a conditional"
TYPE = "a string, integer, boolean or complex tensor"
FUSED = (
    "TensorFlow may compute this output and the sum or activation after it at once in steps that are not recorded: recorded steps "
    "equal them to rounding, not bit by bit"
)
USED_INSIDE = "this output is also used inside the call: its error is what came back from outside"
"""Notes of the ledger."""
STRUCTURAL = (LOOP, KERNEL, FUNCTION, BRANCH, TYPE)
"""What may be recorded without numbers, or without errors, and why."""


class Hand:
    """A forward pass written by hand: `hand(path, tensor)` notes the output of a call and gives the tensor to go on with.

    Every noted tensor goes through an identity of its own, so that the gradients at a group's output and at the output inside
    it are two numbers. `port` counts the call's outputs; `errors[kind][path, port]` are the gradients of the loss of that kind.
    """

    def __init__(self) -> None:
        self.outputs: dict[tuple[str, int], Any] = {}
        self.errors: dict[str, dict[tuple[str, int], np.ndarray]] = {}
        self._tape = tf.GradientTape(persistent=True)

    def __enter__(self) -> Hand:
        self._tape.__enter__()
        return self

    def __exit__(self, *exception: object) -> None:
        self._tape.__exit__(*exception)

    def __call__(self, path: str, tensor: Any, port: int = 0) -> Any:
        assert (path, port) not in self.outputs, f"{path} is noted twice"
        tensor = tf.identity(tensor)
        if tensor.dtype.is_floating:
            self._tape.watch(tensor)
        self.outputs[path, port] = tensor
        return tensor

    def aside(self) -> Any:
        """A context for what is no part of the pass, such as training before it."""
        return self._tape.stop_recording()

    def differentiate(self, losses: dict[str, Any], scale: float = 1.0) -> None:
        """The gradients of each loss at everything noted."""
        places = [place for place, tensor in self.outputs.items() if tensor.dtype.is_floating]
        for kind, loss in losses.items():
            gradients = self._tape.gradient(loss, [self.outputs[place] for place in places])
            self.errors[kind] = {
                place: np.asarray(tf.cast(tf.convert_to_tensor(gradient), tf.float32)) / scale
                for place, gradient in zip(places, gradients, strict=True)
                if gradient is not None
            }


Ledger = list[tuple[str, str, int, str]]
"""(path, kind, port, reason) of what the ledger says, notes included."""


@dataclass(frozen=True)
class Row:
    """One kind of model or loop.

    `run(folder)` does it and returns what is left (weights, losses), recorded into `folder`, or plainly where that is None.
    `by_hand(hand)` writes the recorded pass, and returns its losses by the kind of error. `structural` maps calls to the reason
    (one of STRUCTURAL) why they have no numbers or no errors; `tolerance` is that of outputs and errors, `left_within` that of
    what is left (0: bit by bit); `skipped` are the steps that the loss scaler skips. `kept` says in words what is recorded, where
    that is not outputs; `fused_by_2_16`: TensorFlow 2.16 computes an output and its activation at once in steps that are not
    recorded, and rounds otherwise; `missing` says which version of Keras lacks what the row needs, in one that does.
    """

    group: str
    what: str
    run: Callable[[Path | None], list[Any]]
    by_hand: Callable[[Hand], dict[str, Any]]
    ledger: Ledger = field(default_factory=list)
    structural: dict[str, str] = field(default_factory=dict)
    stream: str = "train"
    step: int = 0
    trains: bool = True
    tolerance: float = 1e-5
    left_within: float = 0.0
    limits: str = ""
    has_errors: bool = True
    skipped: tuple[int, ...] = ()
    kept: str = ""
    missing: str = ""
    fused_by_2_16: bool = False

    @property
    def is_full(self) -> bool:
        """Whether every floating leaf call has its numbers."""
        return not set(self.structural.values()) - {TYPE}

    @property
    def recorded(self) -> str:
        """What of the kind is recorded, in words."""
        if self.kept:
            return self.kept
        reasons = ", ".join(sorted(set(self.structural.values())))
        whole = "outputs and errors" if self.has_errors else "outputs"
        return f"{whole}; structure only: {reasons}" if reasons else whole

    @property
    def trained(self) -> str:
        """How training compares with the same without recording, in words."""
        if not self.trains:
            return "does not train"
        return self.limits or ("equal to rounding under XLA" if self.left_within else "bit-identical")


def mse(y: Any, y_pred: Any) -> Any:
    """The mean of squares over everything, as Keras's `mse` is for one output."""
    return tf.reduce_mean(tf.square(tf.cast(y, y_pred.dtype) - y_pred))


def normal(*shape: int, seed: int = 0) -> np.ndarray:
    """Normal numbers, float32."""
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def whole(below: int, *shape: int, seed: int = 0) -> np.ndarray:
    """Whole numbers from 0 to `below` - 1, int32."""
    return np.random.default_rng(seed).integers(0, below, shape).astype(np.int32)


def callback(folder: Path | None, **options: Any) -> list[Any]:
    """LayerFlow's callback for a folder, none without one."""
    if folder is None:
        return []
    settings = {"every": 1, "what": ("outputs", "errors"), "values": "all", "statistics": "exact", **options}
    return [layerflow.LayerFlow(folder, **settings)]


def left_by(model: Any, *more: Any) -> list[Any]:
    """Everything that training leaves on a model."""
    optimizer = getattr(model, "optimizer", None)
    variables = [*model.variables, *(getattr(optimizer, "variables", ()) if optimizer is not None else ())]
    return [np.asarray(variable) for variable in variables] + [np.asarray(value) for value in more]


def seeded(build: Callable[[], Any], seed: int = 4) -> Any:
    """A model built with the same names and weights each time."""
    keras.backend.clear_session()
    keras.utils.set_random_seed(seed)
    return build()


def fitted(
    group: str,
    what: str,
    build: Callable[[], Any],
    data: Callable[[], tuple[Any, ...]],
    forward: Callable[..., Any],
    *,
    loss: Callable[[Any, Any], Any] = mse,
    compiled: dict[str, Any] | None = None,
    fit: dict[str, Any] | None = None,
    batch: int = 4,
    **row: Any,
) -> Row:
    """A row whose model is fitted for one epoch.

    `data` gives x and y (and sample weights) of three batches; `forward(hand, model, x)` is the pass by hand over the first of
    them, and returns what the loss reads (or, where it takes `y` too, the loss).
    """
    options = {"loss": "mse", **(compiled or {})}

    def made() -> Any:
        model = seeded(build)
        if options.get("loss") != "compiled":
            optimizer = options.get("optimizer", lambda: keras.optimizers.SGD(0.05))
            model.compile(**{**options, "optimizer": optimizer() if callable(optimizer) else optimizer})
        return model

    def run(folder: Path | None) -> list[Any]:
        model = made()
        arrays = data()
        dataset = tf.data.Dataset.from_tensor_slices(tuple(arrays)).batch(batch)
        history = model.fit(dataset, verbose=0, callbacks=callback(folder), **(fit or {}))
        return left_by(model, *history.history.values())

    def by_hand(hand: Hand) -> dict[str, Any]:
        model = made()
        x, y, *_ = next(iter(tf.data.Dataset.from_tensor_slices(tuple(data())).batch(batch)))
        if not model.built:
            model(x)
        return {"error": loss(y, forward(hand, model, x))}

    return Row(group, what, run, by_hand, **row)
