"""A MobileNet of Keras Applications, a quarter as wide, that learns to read digits while LayerFlow records it."""

from __future__ import annotations

from pathlib import Path

import keras

import tb_layerflow as layerflow

from . import digits

GOAL = 0.9
SIZE = 32
BATCH = 32
EPOCHS = 4
EVERY = 20
PROBE_IMAGES = 64
SEED = 7


def build(steps: int) -> keras.Model:
    """The model, compiled to be trained for `steps` steps."""
    image = keras.Input((SIZE, SIZE, 3), name="image")
    whole = keras.applications.MobileNet(input_tensor=image, alpha=0.25, dropout=0.1, weights=None, classes=10)
    model = keras.Model(image, whole.output, name="mobilenet")  # Keras names it after the size that it would have by default
    for layer in model.layers:
        if isinstance(layer, keras.layers.BatchNormalization):
            layer.momentum = 0.9  # the usual 0.99 averages over more steps than this training has
    rate = keras.optimizers.schedules.CosineDecay(4e-3, steps)
    model.compile(keras.optimizers.Adam(rate), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
    return model


def saved_beside(log_dir: Path) -> Path:
    """Where the trained model is kept, for `inspect_image`."""
    return log_dir.with_suffix(".keras")


def train(log_dir: Path, verbose: int) -> float:
    """Train it, record training steps and a probe into `log_dir`, and return the share of test images that it reads right."""
    keras.utils.set_random_seed(SEED)
    images, test = digits.load(SIZE, channels=3)
    training = digits.with_moved(images, pixels=SIZE // 8)
    model = build(EPOCHS * -(-len(training.y) // BATCH))
    recorder = layerflow.LayerFlow(log_dir, probe=(test.x[:PROBE_IMAGES], test.y[:PROBE_IMAGES]), every=EVERY)
    model.fit(training.x, training.y, batch_size=BATCH, epochs=EPOCHS, verbose=verbose, callbacks=[recorder])
    model.save(saved_beside(log_dir))
    return float(model.evaluate(test.x, test.y, verbose=0, return_dict=True)["accuracy"])
