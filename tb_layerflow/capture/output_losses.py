"""A compiled model's outputs, each with its labels, its loss and its weight. Knows what `compile` takes; measures nothing."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from . import families, nests


class NoLoss(ValueError):
    """The model has no loss per output that could be taken apart; the text says why."""


@dataclass(frozen=True)
class OutputLoss:
    """One output: its key path, and what it is held against. `place` numbers it among predictions, `labels` among labels."""

    key: str
    place: int
    labels: int
    function: Callable[..., Any]
    weight: float = 1.0

    @property
    def name(self) -> str:
        """The loss's name, as its class or function has it."""
        inner = self.function.func if isinstance(self.function, functools.partial) else self.function
        return str(getattr(inner, "__name__", "") or type(inner).__name__)

    @property
    def is_sum(self) -> bool:
        """Whether the loss of a batch is the sum over its samples, not their mean."""
        return str(getattr(self.function, "reduction", "")).lower().rpartition(".")[2] == "sum"

    @property
    def from_logits(self) -> bool:
        """Whether the loss takes logits."""
        if isinstance(self.function, functools.partial):
            return bool(self.function.keywords.get("from_logits", False))
        config = getattr(self.function, "get_config", None)
        try:
            return bool(config().get("from_logits", False)) if config is not None else False
        except (NotImplementedError, TypeError, ValueError):
            return False

    def value(self, labels: Any, prediction: Any, sample_weight: Any = None) -> Any:
        """The loss as a float32 scalar, a mean over samples where the loss itself does not reduce."""
        labels, prediction = tf.convert_to_tensor(labels), _like(tf.convert_to_tensor(prediction))
        if labels.shape.rank is not None and labels.shape.rank + 1 == prediction.shape.rank and prediction.shape[-1] == 1:
            labels = tf.expand_dims(labels, -1)
        if sample_weight is not None and hasattr(self.function, "reduction"):
            return tf.cast(tf.reduce_mean(self.function(labels, prediction, sample_weight=sample_weight)), tf.float32)
        losses = tf.cast(self.function(labels, prediction), tf.float32)
        if sample_weight is not None and losses.shape.rank:
            weights = tf.cast(tf.convert_to_tensor(sample_weight), tf.float32)
            losses = losses * tf.reshape(weights, [-1] + [1] * (losses.shape.rank - 1))
        return tf.reduce_mean(losses)


def outputs_of(model: Any, y: Any, y_pred: Any, loss: Any = None) -> list[OutputLoss]:
    """The outputs that have labels and a loss.

    Args:
        model: the model.
        y: the labels, any nest.
        y_pred: what the model returned.
        loss: a loss for the only output, in place of the model's own.

    Raises:
        NoLoss: they cannot be told apart.
    """
    predictions = nests.flatten(y_pred)
    given = loss if loss is not None else getattr(model, "loss", None)
    if given is None:
        raise NoLoss("the model was compiled without a loss")
    keys = [key for key, _ in predictions]
    names = _names(model, keys)
    losses = _by_output(given, keys, names)
    weights = _by_output(_loss_weights(model) if loss is None else None, keys, names)
    places = labels_of(model, keys, y)
    found = []
    for place, key in enumerate(keys):
        if losses[place] is not None and places[place] is not None:
            weight = 1.0 if weights[place] is None else float(weights[place])
            found.append(OutputLoss(key, place, places[place], _resolved(model, losses[place]), weight))  # type: ignore[arg-type]
    return found


def labels_of(model: Any, keys: list[str], y: Any) -> list[int | None]:
    """Which labels each output is held against, by their place in the nest; None: none.

    Args:
        model: the model.
        keys: the key paths of its outputs.
        y: the labels, any nest.

    Raises:
        NoLoss: they do not fit the outputs.
    """
    labels, names = [key for key, _ in nests.flatten(y)], _names(model, keys)
    if len(labels) == len(keys) == 1:
        return [0]
    is_list = keys == [str(place) for place in range(len(keys))]
    by_name = isinstance(y, Mapping) and is_list  # Keras goes by what the model calls its outputs
    first, second = (names, keys) if by_name else (keys, names)
    places = [
        labels.index(one) if one in labels else labels.index(other) if other in labels else None
        for one, other in zip(first, second, strict=True)
    ]
    if any(place is not None for place in places):
        return places
    if len(labels) != len(keys):
        raise NoLoss(f"{len(labels)} labels do not fit {len(keys)} outputs")
    return list(range(len(keys)))


def weight_of(sample_weight: Any, output: OutputLoss) -> Any:
    """One output's sample weights out of the nest of all; None where there are none."""
    leaves = [leaf for _, leaf in nests.flatten(sample_weight)]
    return leaves[0] if len(leaves) == 1 else leaves[output.labels]


def _like(prediction: Any) -> Any:
    """Keras reads the logits off the op that made a tensor, so that a float32 prediction must stay the very tensor."""
    return prediction if prediction.dtype == tf.float32 else tf.cast(prediction, tf.float32)


def _resolved(model: Any, given: Any) -> Callable[..., Any]:
    if callable(given) and not isinstance(given, type):
        return given
    found = families.of(model).module.losses.get(given)
    if not callable(found):
        raise NoLoss(f"the loss {given!r} is none that can be called")
    return found


def _by_output(given: Any, keys: list[str], names: list[str]) -> list[Any]:
    """What was given per output (a dict by name or key, a list by place), or one thing for all."""
    if isinstance(given, Mapping):
        return [given.get(key, given.get(name)) for key, name in zip(keys, names, strict=True)]
    if isinstance(given, (list, tuple)):
        if len(given) != len(keys):
            raise NoLoss(f"{len(given)} losses do not fit {len(keys)} outputs")
        return list(given)
    return [given] * len(keys)


def _names(model: Any, keys: list[str]) -> list[str]:
    """What the model calls its outputs, or their key paths."""
    names = [str(name) for name in getattr(model, "output_names", None) or []]
    return names if len(names) == len(keys) else keys


def _loss_weights(model: Any) -> Any:
    compiled = getattr(model, "_compile_loss", None) or getattr(model, "compiled_loss", None)
    return getattr(compiled, "_user_loss_weights", None)
