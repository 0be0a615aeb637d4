"""What people see in place of numbers: the names of classes and the pictures of samples, checked when they are given."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .warn import Voice


def class_names(given: Sequence[str] | str | None, voice: Voice) -> list[str]:
    """The names in the order of the classes; none, and a warning, where Keras cannot get those of ImageNet.

    Raises:
        TypeError: it is neither "imagenet" nor a sequence of texts.
    """
    if given is None:
        return []
    if isinstance(given, str):
        if given != "imagenet":
            raise TypeError(f'class_names must be "imagenet" or a list of names. Received: {given!r}.')
        return _imagenet(voice)
    names = list(given) if isinstance(given, Iterable) else [given]
    if not all(isinstance(name, str) for name in names):
        wrong = next(name for name in names if not isinstance(name, str))
        raise TypeError(f'class_names must be "imagenet" or a list of names. Received in it: {wrong!r}.')
    return names


def _imagenet(voice: Voice) -> list[str]:
    from keras.applications import imagenet_utils

    try:
        found = imagenet_utils.decode_predictions(np.eye(1000, dtype=np.float32), top=1)
    except Exception as error:  # Keras fetches the list; whatever fails there must not stop anything
        voice.warn(f"Keras could not get the names of ImageNet's classes ({error}). Classes are shown by number.", cause=error)
        return []
    return [str(best[0][1]) for best in found]


def pictures(given: Any, count: int | None) -> NDArray[np.uint8] | None:
    """The pictures as uint8 [samples, height, width] or [samples, height, width, 1, 3 or 4].

    Raises:
        ValueError: they are of another shape or dtype, or not `count` many.
    """
    if given is None:
        return None
    array = np.asarray(given)
    if array.dtype != np.uint8 or array.ndim not in (3, 4) or (array.ndim == 4 and array.shape[-1] not in (1, 3, 4)):
        raise ValueError(
            "pictures must be uint8 of shape [samples, height, width] or [samples, height, width, channels] with 1, 3 or 4 "
            f"channels. Received: {array.dtype.name} of shape {list(array.shape)}."
        )
    if count is not None and len(array) != count:
        raise ValueError(f"pictures must be as many as the samples, {count}. Received: {len(array)}.")
    return array
