"""A siamese model: one shared encoder looks at two images, and the rest says whether they show the same digit."""

from __future__ import annotations

from pathlib import Path

import keras

import tb_layerflow as layerflow

from . import digits

GOAL = 0.8
SIZE = 16
BATCH = 64
EPOCHS = 12
EVERY = 10
TRAINING_PAIRS = 4096
TEST_PAIRS = 512
PROBE_PAIRS = 64
SEED = 7


def build() -> keras.Model:
    """The model, compiled. Its layer `first_dense` runs twice per step, once for each image."""
    layers = keras.layers
    image = keras.Input((SIZE, SIZE, 1), name="image")
    x = layers.Conv2D(16, 3, padding="same", activation="relu", name="conv1")(image)
    x = layers.Conv2D(32, 3, strides=2, padding="same", activation="relu", name="conv2")(x)
    x = layers.Conv2D(32, 3, strides=2, padding="same", activation="relu", name="conv3")(x)
    x = layers.Flatten(name="flatten")(x)
    encoder = keras.Model(image, layers.Dense(64, activation="relu", name="first_dense")(x), name="encoder")

    left, right = keras.Input((SIZE, SIZE, 1), name="left"), keras.Input((SIZE, SIZE, 1), name="right")
    x = layers.Concatenate(name="join")([encoder(left), encoder(right)])
    x = layers.Dense(64, activation="relu", name="last_dense")(x)
    model = keras.Model([left, right], layers.Dense(1, activation="sigmoid", name="same")(x), name="siamese")
    model.compile(keras.optimizers.Adam(2e-3), loss="binary_crossentropy", metrics=["accuracy"])
    return model


def train(log_dir: Path, verbose: int) -> float:
    """Train it, record training steps and a probe into `log_dir`, and return the share of test pairs that it judges right."""
    keras.utils.set_random_seed(SEED)
    images, test_images = digits.load(SIZE, channels=1)
    training = digits.pairs(images, TRAINING_PAIRS, SEED)
    test = digits.pairs(test_images, TEST_PAIRS, SEED)
    model = build()
    probe = ([test.left[:PROBE_PAIRS], test.right[:PROBE_PAIRS]], test.same[:PROBE_PAIRS])
    recorder = layerflow.LayerFlow(log_dir, probe=probe, every=EVERY)
    inputs = [training.left, training.right]
    model.fit(inputs, training.same, batch_size=BATCH, epochs=EPOCHS, verbose=verbose, callbacks=[recorder])
    return float(model.evaluate([test.left, test.right], test.same, verbose=0, return_dict=True)["accuracy"])
