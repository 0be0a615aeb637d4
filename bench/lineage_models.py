"""Small models of many kinds, each with one batch of samples: what `bench.lineage` measures attribution on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from keras import layers

Case = tuple[keras.Model, Any, Any]


def _compiled(model: keras.Model, *shape: int, dtype: str = "float32", **options: Any) -> Case:
    """The model, a batch of four samples of this shape, and labels that fit its output."""
    model.compile(**{"optimizer": "adam", "loss": "mse", **options})
    x = np.ones((4, *shape), dtype)
    return model, x, np.ones(model(x).shape, np.float32)


def _chain(shape: tuple[int, ...], *chain: Any, dtype: str = "float32", **options: Any) -> Case:
    model = keras.Sequential([keras.Input(shape, dtype=dtype), *chain])
    return _compiled(model, *shape, dtype=dtype, **options)


def dense() -> Case:
    """Two dense layers and a dropout, with a metric and a penalty on activity."""
    hidden = layers.Dense(8, activation="relu", activity_regularizer="l2")
    return _chain((6,), hidden, layers.Dropout(0.2), layers.Dense(1), metrics=["mae"])


def convolutions() -> Case:
    """Plain, separable and transposed convolutions."""
    image = keras.Input((16, 16, 3))
    x = layers.SeparableConv2D(8, 3)(layers.BatchNormalization()(layers.Conv2D(8, 3, activation="relu")(image)))
    x = layers.Conv2DTranspose(4, 3)(layers.UpSampling2D()(layers.AveragePooling2D(2)(x)))
    return _compiled(keras.Model(image, layers.Dense(1)(layers.GlobalMaxPooling2D()(x))), 16, 16, 3)


def residual() -> Case:
    """Two residual blocks with normalisation, and a grouped convolution."""
    image = x = keras.Input((8, 8, 4))
    for _ in range(2):
        x = x + layers.BatchNormalization()(layers.Conv2D(4, 3, padding="same", groups=2, use_bias=False)(x))
        x = layers.ReLU()(x)
    return _compiled(keras.Model(image, layers.GlobalAveragePooling2D()(x)), 8, 8, 4)


def volumes() -> Case:
    """Convolutions and pooling in one and three dimensions."""
    volume = keras.Input((6, 6, 6, 1))
    x = layers.MaxPooling3D(2)(layers.Conv3D(2, 3, activation="elu")(volume))
    x = layers.AveragePooling1D(2)(layers.DepthwiseConv1D(2)(layers.Reshape((8, 2))(x)))
    return _compiled(keras.Model(volume, layers.Dense(1)(layers.Flatten()(x))), 6, 6, 6, 1)


def operators() -> Case:
    """A shared layer and Keras operations."""
    left, right = keras.Input((4,)), keras.Input((4,))
    shared = layers.Dense(4, activation="gelu")
    x = keras.ops.abs(shared(left) - shared(right)) * 2.0
    model = keras.Model([left, right], layers.Dense(1)(x))
    model.compile("adam", "mse")
    return model, [np.ones((4, 4), np.float32)] * 2, np.ones((4, 1), np.float32)


def siamese() -> Case:
    """A nested model that is called twice."""
    symbol = keras.Input((8, 8, 1))
    x = layers.Flatten()(layers.Conv2D(2, 3, activation="relu")(symbol))
    encoder = keras.Model(symbol, layers.Dense(4)(x), name="encoder")
    left, right = keras.Input((8, 8, 1)), keras.Input((8, 8, 1))
    model = keras.Model([left, right], layers.Dot(1, normalize=True)([encoder(left), encoder(right)]))
    model.compile("sgd", "mse")
    return model, [np.ones((4, 8, 8, 1), np.float32)] * 2, np.ones((4, 1), np.float32)


def attention() -> Case:
    """An embedding with its mask, attention, a residual."""
    words = keras.Input((6,), dtype="int32")
    x = layers.Embedding(20, 8, mask_zero=True)(words)
    x = layers.LayerNormalization()(x + layers.MultiHeadAttention(2, 4)(x, x))
    return _compiled(keras.Model(words, layers.Dense(1)(layers.GlobalAveragePooling1D()(x))), 6, dtype="int32")


class Block(layers.Layer):
    """One block of a transformer."""

    def __init__(self) -> None:
        super().__init__()
        self.attend, self.widen, self.narrow = layers.MultiHeadAttention(2, 4), layers.Dense(16, "gelu"), layers.Dense(8)
        self.norms = [layers.LayerNormalization(), layers.LayerNormalization()]

    def call(self, x: Any) -> Any:
        """Attention, then two dense layers, each around a residual."""
        x = self.norms[0](x + self.attend(x, x, use_causal_mask=True))
        return self.norms[1](x + self.narrow(self.widen(x)))


def transformer() -> Case:
    """Blocks of a transformer, as layers of their own."""
    return _chain((5, 8), Block(), Block(), layers.Dense(3))


def recurrent() -> Case:
    """Loops: a bidirectional LSTM and a GRU."""
    both = layers.Bidirectional(layers.LSTM(4, return_sequences=True))
    return _chain((6, 3), both, layers.GRU(4), layers.Dense(1))


def unrolled() -> Case:
    """Recurrent layers without a loop."""
    return _chain((4, 3), layers.SimpleRNN(4, unroll=True, return_sequences=True), layers.LSTM(3, unroll=True))


def convolutional_recurrent() -> Case:
    """A convolution in a loop."""
    return _chain((3, 6, 6, 1), layers.ConvLSTM2D(2, 3), layers.Flatten(), layers.Dense(1))


def distributed_in_time() -> Case:
    """A wrapper that skips `__call__`."""
    return _chain((5, 3), layers.TimeDistributed(layers.Dense(4)), layers.Conv1D(3, 2), layers.Flatten(), layers.Dense(1))


class Experts(keras.Model):
    """Layers in a list and a dict, called in a loop and a comprehension."""

    def __init__(self) -> None:
        super().__init__()
        self.experts = [layers.Dense(4, activation="tanh") for _ in range(3)]
        self.heads = {"gate": layers.Dense(3, activation="softmax"), "out": layers.Dense(2)}

    def call(self, x: Any) -> Any:
        """The experts' outputs, weighted by the gate, twice."""
        for _ in range(2):
            gate = self.heads["gate"](x)
            x = sum(expert(x) * gate[:, number : number + 1] for number, expert in enumerate(self.experts))
        return self.heads["out"](x)


def subclassed() -> Case:
    """A model without a graph of its own."""
    return _compiled(Experts(), 4)


class Branching(layers.Layer):
    """A conditional and a loop of the user's own, with layers inside neither."""

    def __init__(self) -> None:
        super().__init__()
        self.before, self.after = layers.Dense(4), layers.Dense(4)

    def call(self, x: Any) -> Any:
        """Halve until small, at most thrice."""
        x = self.before(x)
        x = tf.cond(tf.reduce_sum(x) > 0.0, lambda: tf.square(x), lambda: tf.exp(x) - 1.0)
        _, x = tf.while_loop(lambda turn, x: turn < 3, lambda turn, x: (turn + 1, tf.tanh(x) * 0.5), (0, x))
        return self.after(x)


def control_flow() -> Case:
    """`tf.cond` and `tf.while_loop` in a layer."""
    return _chain((4,), Branching(), layers.Dense(1))


class Compiled(layers.Layer):
    """A nested `tf.function`, and a gradient of the user's own."""

    @tf.function
    def inner(self, x: Any) -> Any:
        """Traced by itself."""
        return tf.nn.swish(x) + 1.0

    def call(self, x: Any) -> Any:
        """The function, then an identity that halves gradients."""
        halved = tf.custom_gradient(lambda x: (tf.identity(x), lambda gradient: gradient * 0.5))
        return halved(self.inner(x))


def nested_functions() -> Case:
    """A `tf.function` and a custom gradient in a layer."""
    return _chain((4,), layers.Dense(4), Compiled(), layers.Dense(1))


def mixed_precision() -> Case:
    """float16 with loss scaling: casts around every layer."""
    policy = keras.config.dtype_policy()
    keras.config.set_dtype_policy("mixed_float16")
    try:
        return _chain((6,), layers.Dense(8, activation="relu"), layers.LayerNormalization(), layers.Dense(1, dtype="float32"))
    finally:
        keras.config.set_dtype_policy(policy)


def compiled() -> Case:
    """XLA."""
    return _chain((6, 6, 2), layers.Conv2D(4, 3, activation="relu"), layers.Flatten(), layers.Dense(1), jit_compile=True)


def several_outputs() -> Case:
    """Two heads with losses of their own, by name."""
    x = keras.Input((6,))
    hidden = layers.Dense(8, activation="relu")(x)
    model = keras.Model(x, {"class": layers.Dense(3, activation="softmax")(hidden), "size": layers.Dense(1)(hidden)})
    losses = {"class": "sparse_categorical_crossentropy", "size": "mse"}
    model.compile("adam", losses, metrics={"class": ["accuracy"]})
    return model, np.ones((4, 6), np.float32), {"class": np.ones(4, np.int32), "size": np.ones((4, 1), np.float32)}


class Penalised(keras.Model):
    """A penalty on the gradient: two tapes, one inside the other."""

    def train_step(self, batch: Any) -> dict[str, Any]:
        """One step of its own."""
        x, y = batch
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                inner.watch(x)
                out = self(x, training=True)
            slope = inner.gradient(out, x)
            loss = tf.reduce_mean(tf.square(out - y)) + tf.reduce_mean(tf.square(slope))
        weights = self.trainable_variables
        self.optimizer.apply_gradients(zip(outer.gradient(loss, weights), weights, strict=True))
        return {"loss": loss}


def two_tapes() -> Case:
    """A `train_step` of its own with two tapes."""
    numbers = keras.Input((4,))
    return _compiled(Penalised(numbers, layers.Dense(1)(layers.Dense(4, activation="tanh")(numbers))), 4)


class Adversarial(keras.Model):
    """A generator and a discriminator, each with its optimizer."""

    def __init__(self) -> None:
        super().__init__()
        self.generator = keras.Sequential([layers.Dense(8, activation="relu"), layers.Dense(4)], name="generator")
        self.discriminator = keras.Sequential([layers.Dense(8, activation="relu"), layers.Dense(1)], name="discriminator")
        self.optimizers = [keras.optimizers.Adam(), keras.optimizers.SGD()]
        self.generator.build((4, 2))
        self.discriminator.build((4, 4))
        for optimizer, part in zip(self.optimizers, (self.generator, self.discriminator), strict=True):
            optimizer.build(part.trainable_variables)

    def call(self, x: Any) -> Any:
        """What the discriminator says of what the generator makes."""
        return self.discriminator(self.generator(x[:, :2]))

    def train_step(self, batch: Any) -> dict[str, Any]:
        """Both learn."""
        x = batch[0]
        losses = {}
        for name, part, optimizer in zip(("g", "d"), (self.generator, self.discriminator), self.optimizers, strict=True):
            with tf.GradientTape() as tape:
                made = self.discriminator(self.generator(x[:, :2]))
                real = self.discriminator(x)
                loss = tf.reduce_mean(made - real) if name == "d" else -tf.reduce_mean(made)
            weights = part.trainable_variables
            optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))
            losses[name] = loss
        return losses


def two_optimizers() -> Case:
    """A GAN in one step."""
    model = Adversarial()
    model.compile()
    return model, np.ones((4, 4), np.float32), np.ones((4, 1), np.float32)


def wrapped() -> Case:
    """Wrappers and layers with state: spectral normalisation, group normalisation, noise."""
    wrapped_dense = layers.SpectralNormalization(layers.Dense(6))
    return _chain((6,), layers.GaussianNoise(0.1), wrapped_dense, layers.GroupNormalization(2), layers.PReLU(), layers.Dense(1))


CASES: dict[str, Callable[[], Case]] = {
    "dense": dense, "convolutions": convolutions, "residual": residual, "volumes": volumes, "operators": operators,
    "siamese": siamese, "attention": attention, "transformer": transformer, "recurrent": recurrent, "unrolled": unrolled,
    "convolutional recurrent": convolutional_recurrent, "time distributed": distributed_in_time, "subclassed": subclassed,
    "control flow": control_flow, "nested functions": nested_functions, "mixed precision": mixed_precision, "XLA": compiled,
    "several outputs": several_outputs, "own step, two tapes": two_tapes, "two optimizers": two_optimizers, "wrapped": wrapped,
}  # fmt: skip
