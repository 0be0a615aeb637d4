"""One picture through a MobileNet, every number of every call kept: what goes into and comes out of each convolution.

With ImageNet's weights it is a photograph that scikit-learn ships; where Keras can neither find nor fetch the weights, it is a
digit through the MobileNet that the demo has trained.
"""

from __future__ import annotations

from pathlib import Path

import keras
import numpy as np
import tensorflow as tf
from sklearn.datasets import load_sample_image

import tb_layerflow as layerflow

from . import digits, mobilenet

PHOTOGRAPH = "flower.jpg"
SIZE = 224
DIGITS = [str(digit) for digit in range(10)]


def inspect(log_dir: Path, trained: Path) -> str:
    """Record one picture into `log_dir`; returns a sentence that says which model saw what."""
    model = _with_imagenet_weights()
    if model is None:
        return _inspect_digit(log_dir, trained)
    picture = _photograph()
    x = keras.applications.mobilenet.preprocess_input(picture.astype(np.float32))
    stream = layerflow.record(model, log_dir, x, class_names="imagenet", pictures=picture)
    return f"MobileNet with ImageNet's weights, on {PHOTOGRAPH}: exact values of {len(stream.graph.calls)} calls"


def _with_imagenet_weights() -> keras.Model | None:
    try:
        return keras.applications.MobileNet(weights="imagenet")
    except Exception as error:  # no network, no cache: whatever it is, there is another model to show
        print(f"ImageNet's weights could neither be found nor fetched ({type(error).__name__}).", flush=True)
        return None


def _photograph() -> np.ndarray:
    """The photograph's middle, uint8 [1, SIZE, SIZE, 3]."""
    whole = load_sample_image(PHOTOGRAPH)
    side = min(whole.shape[:2])
    top, left = (whole.shape[0] - side) // 2, (whole.shape[1] - side) // 2
    middle = whole[top : top + side, left : left + side]
    return np.asarray(tf.cast(tf.image.resize(middle[None], [SIZE, SIZE], antialias=True), tf.uint8))


def _inspect_digit(log_dir: Path, trained: Path) -> str:
    if not trained.exists():
        raise SystemExit(f"There is no trained model to fall back on: run `python -m demo` first. Received: {trained}.")
    _, test = digits.load(mobilenet.SIZE, channels=3)
    x, y = test.x[:1], test.y[:1]
    low, high = float(test.x.min()), float(test.x.max())
    picture = np.rint((x - low) / (high - low) * 255).astype(np.uint8)
    stream = layerflow.record(keras.models.load_model(trained), log_dir, x, y, class_names=DIGITS, pictures=picture)
    return f"the MobileNet trained by the demo, on a digit (a {int(y[0])}): exact values of {len(stream.graph.calls)} calls"
