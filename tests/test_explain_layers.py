"""The microscope on every layer that is no convolution, against real Keras layers in float32."""

from __future__ import annotations

import keras
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.microscope import (
    Ran,
    assert_explained,
    assert_window_is_what_matters,
    channels_first,
    described,
    look,
    noise,
    places,
    ran,
)

broad = settings(max_examples=40)
L = keras.layers
NAMES = [
    "linear", "relu", "relu6", "leaky_relu", "elu", "selu", "celu", "sigmoid", "log_sigmoid", "hard_sigmoid",
    "sparse_sigmoid", "tanh", "hard_tanh", "tanh_shrink", "hard_shrink", "soft_shrink", "silu", "swish", "hard_silu", "gelu",
    "mish", "softplus", "sparse_plus", "squareplus", "softsign", "exponential", "softmax", "log_softmax",
]  # fmt: skip
ACTIVATIONS = [name for name in NAMES if hasattr(keras.activations, name)]
"""Those that this Keras has."""


@given(st.lists(st.integers(1, 4), min_size=1, max_size=3), st.integers(1, 5), st.booleans(), st.sampled_from(ACTIVATIONS))
@broad
def test_the_products_of_a_dense_layer_of_any_rank_sum_to_its_output(shape, units, bias, activation):
    assert_explained(ran(L.Dense(units, use_bias=bias, activation=activation), noise(2, *shape)))


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_each_named_activation_is_the_one_that_keras_applies(name):
    case = ran(L.Activation(name), noise(3, 4, 5) * 3)
    assert_explained(case, places(case.output.shape, 20))


@pytest.mark.parametrize(
    "layer",
    [
        L.ReLU(),
        L.ReLU(max_value=1.0),
        L.ReLU(max_value=2.0, negative_slope=0.3, threshold=0.5),
        L.ReLU(negative_slope=0.1, threshold=0.5),
        L.LeakyReLU(),
        L.LeakyReLU(negative_slope=0.05),
        L.ELU(alpha=0.7),
        L.PReLU(),
        L.PReLU(shared_axes=[1]),
        L.Softmax(),
        L.Softmax(axis=1),
        L.Softmax(axis=(1, 2)),
        L.Dense(3, activation=L.ReLU(max_value=1.0)),
        L.Dense(3, activation=keras.activations.gelu),
    ],
    ids=lambda layer: layer.name,
)
def test_activation_layers_with_settings_of_their_own_are_explained(layer):
    case = ran(layer, noise(3, 4, 5) * 2)
    assert_explained(case, places(case.output.shape, 20))


@st.composite
def pools(draw: st.DrawFn) -> tuple[keras.Layer, int]:
    rank = draw(st.integers(1, 3))
    size = draw(st.tuples(*[st.integers(1, 3)] * rank))
    strides = draw(st.one_of(st.none(), st.tuples(*[st.integers(1, 3)] * rank)))
    kind = draw(st.sampled_from(["MaxPooling", "AveragePooling"]))
    padding = draw(st.sampled_from(["valid", "same"]))
    return getattr(L, f"{kind}{rank}D")(size, strides, padding), rank


@given(pools(), st.integers(0, 99))
@broad
def test_a_pooled_number_and_its_window_are_explained(drawn, seed):
    layer, rank = drawn
    shape = (*((6, 5, 4)[:rank]), 2)
    case = ran(layer, noise(2, *shape, seed=seed))
    assert_explained(case)
    assert_explained(channels_first(case))
    assert_window_is_what_matters(layer, shape, case, places(case.output.shape, 1, seed)[2])


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("kind", ["GlobalMaxPooling", "GlobalAveragePooling"])
@pytest.mark.parametrize("keepdims", [False, True])
def test_global_pooling_is_over_the_whole_map_of_a_channel(kind, rank, keepdims):
    shape = (*((4, 3, 2)[:rank]), 3)
    layer = getattr(L, f"{kind}{rank}D")(keepdims=keepdims)
    case = ran(layer, noise(2, *shape))
    assert_explained(case)
    assert_explained(channels_first(case) if keepdims or rank == 1 else case)
    assert_window_is_what_matters(layer, shape, case, places(case.output.shape, 1)[2])


@pytest.mark.parametrize("axis", [-1, 1])
@pytest.mark.parametrize("options", [{}, {"center": False}, {"scale": False}, {"epsilon": 0.1}], ids=str)
@pytest.mark.parametrize("training", [False, True])
def test_batch_normalization_is_explained_in_inference_and_in_training(axis, options, training):
    case = ran(L.BatchNormalization(axis=axis, **options), noise(6, 3, 4, 5) + 0.5, training=training)
    assert_explained(case)
    batch = slice(0, 6) if training else slice(1, 2)
    assert look(case, (1, 2, 3, 4)).window[0].box[0] == batch


@pytest.mark.parametrize(
    "layer",
    [
        L.LayerNormalization(),
        L.LayerNormalization(axis=1),
        L.LayerNormalization(axis=(1, 2)),
        L.LayerNormalization(center=False, scale=False),
        L.GroupNormalization(groups=2),
        L.GroupNormalization(groups=-1),
        L.GroupNormalization(groups=1, axis=1),
        L.UnitNormalization(),
        L.UnitNormalization(axis=(1, 2)),
        *([L.RMSNormalization()] if hasattr(L, "RMSNormalization") else []),
    ],
    ids=lambda layer: layer.name,
)
def test_normalisations_over_one_sample_are_explained(layer):
    case = ran(layer, noise(2, 4, 3, 6))
    assert_explained(case)
    made = look(case, (1, 2, 1, 3))
    assert made.window[0].box == influenced_by_hand(layer, (4, 3, 6), (1, 2, 1, 3))


def influenced_by_hand(layer, shape, index):
    """The slices of a normalisation's window, from its axes."""
    axis = layer.axis
    axes = [one % 4 for one in (axis if isinstance(axis, (list, tuple)) else [axis])]
    box = [slice(position, position + 1) for position in index]
    if isinstance(layer, L.GroupNormalization):
        groups = shape[axes[0] - 1] if layer.groups == -1 else layer.groups
        width = shape[axes[0] - 1] // groups
        first = index[axes[0]] // width * width
        box = [box[0], *(slice(0, size) for size in shape)]
        box[axes[0]] = slice(first, first + width)
    else:
        for one in axes:
            box[one] = slice(0, shape[one - 1])
    return tuple(box)


@pytest.mark.parametrize("kind", ["Add", "Multiply", "Average", "Maximum", "Minimum", "Subtract"])
@pytest.mark.parametrize("shapes", [[(3, 4), (3, 4)], [(3, 4), (1, 4)], [(2, 3, 4), (4,)]], ids=str)
def test_merges_are_explained_with_broadcasting(kind, shapes):
    inputs = [noise(2, *shape, seed=seed) for seed, shape in enumerate(shapes)]
    assert_explained(ran(getattr(L, kind)(), *inputs))
    if kind != "Subtract":
        assert_explained(ran(getattr(L, kind)(), *inputs, inputs[0] * 2))


@pytest.mark.parametrize("axis", [-1, 1, 2])
def test_a_concatenated_number_is_found_in_its_input(axis):
    shapes = [[2, 3, 4, 5] for _ in range(3)]
    for size, shape in enumerate(shapes, start=1):
        shape[axis] = size
    case = ran(L.Concatenate(axis=axis), *(noise(*shape, seed=seed) for seed, shape in enumerate(shapes)))
    assert_explained(case)
    made = look(case, (1, 1, 1, 1))
    seen = [window.box is not None for window in made.window]
    assert seen.count(True) == 1
    assert seen.index(True) == made.terms[0].port


@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize(
    ("left", "right", "axes"), [((5,), (5,), -1), ((3, 5), (4, 5), 2), ((5, 3), (4, 5), (1, 2)), ((5,), (5, 2), 1)]
)
def test_a_dot_is_the_sum_over_one_axis_of_each_input(left, right, axes, normalize):
    assert_explained(ran(L.Dot(axes, normalize=normalize), noise(2, *left), noise(2, *right, seed=3)))


MOVES = [
    (L.ZeroPadding1D((1, 2)), (4, 3)),
    (L.ZeroPadding2D(((0, 1), (2, 1))), (4, 3, 2)),
    (L.ZeroPadding2D(2), (4, 3, 2)),
    (L.ZeroPadding3D((1, 0, 2)), (2, 3, 2, 2)),
    (L.Cropping1D((1, 2)), (5, 3)),
    (L.Cropping2D(((0, 1), (2, 1))), (4, 5, 2)),
    (L.Cropping3D((1, 0, 1)), (4, 2, 3, 2)),
    (L.UpSampling1D(3), (4, 2)),
    (L.UpSampling2D((2, 3)), (4, 3, 2)),
    (L.UpSampling2D((2, 3), interpolation="bilinear"), (4, 3, 2)),
    (L.UpSampling3D((2, 1, 2)), (2, 3, 2, 2)),
    (L.Flatten(), (4, 3, 2)),
    (L.Reshape((-1, 4)), (4, 3, 2)),
    (L.Permute((3, 1, 2)), (4, 3, 2)),
    (L.RepeatVector(3), (4,)),
    (L.Identity(), (4, 3)),
    (L.Dropout(0.5), (4, 3)),
    (L.Dense(3), (2, 4)),
]


@pytest.mark.parametrize(("layer", "shape"), MOVES, ids=lambda part: getattr(part, "name", str(part)))
def test_layers_that_move_numbers_say_where_each_comes_from(layer, shape):
    case = ran(layer, noise(2, *shape))
    indices = places(case.output.shape, 12)
    assert_explained(case, indices)
    for index in indices:
        assert_window_is_what_matters(layer, shape, case, index)
    if layer.__class__.__name__.startswith(("Zero", "Cropping", "UpSampling")):
        assert_explained(channels_first(case))


def test_flatten_of_channels_first_orders_the_channels_last():
    assert_explained(ran(L.Flatten(data_format="channels_first"), noise(2, 3, 4, 5)))


def test_a_number_in_the_padding_depends_on_nothing():
    made = look(ran(L.ZeroPadding2D(1), noise(1, 2, 2, 1)), (0, 0, 0, 0))
    assert made.total == 0
    assert made.terms == ()
    assert made.window[0].box is None
    assert made.window[0].unclipped == (slice(0, 1), slice(-1, 0), slice(-1, 0), slice(0, 1))


def test_an_embedding_names_the_row_of_its_table():
    layer = L.Embedding(7, 4)
    tokens = np.array([[1, 6, 0], [2, 2, 5]], np.int32)
    layer(tokens)
    case = Ran(described(layer), [tokens], layer(tokens).numpy())
    assert_explained(case)
    assert look(case, (1, 2, 3)).terms[0].weight_index == (5, 3)


def test_the_mask_of_a_training_dropout_is_read_off_its_output():
    case = ran(L.Dropout(0.5, seed=1), noise(4, 50), training=True)
    assert 0 < (case.output == 0).sum() < case.output.size
    assert_explained(case, places(case.output.shape, 40))


@pytest.mark.parametrize("layer", [L.Rescaling(1 / 127.5, -1), L.Rescaling([0.1, 0.2, 0.3], [1.0, 2.0, 3.0]), L.Masking(0.5)])
def test_rescaling_and_masking_are_explained(layer):
    x = noise(2, 4, 3)
    x[0, 1] = 0.5
    assert_explained(ran(layer, x), [(0, 1, 2), (1, 3, 0), (0, 1, 0)])


def test_a_normalization_that_was_adapted_is_explained():
    x = noise(20, 3) * 4 + 2
    layer = L.Normalization()
    layer.adapt(x)
    assert_explained(Ran(described(layer), [x], np.asarray(layer(x))))


@pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16"])
def test_half_precision_is_explained_from_the_rounded_weights(policy):
    x = noise(2, 6, 6, 3)
    layer = L.Conv2D(4, 3, dtype=policy)
    case = ran(layer, x)
    output = np.asarray(keras.ops.cast(layer(x), "float32"))
    epsilon = {"mixed_float16": 2**-11, "mixed_bfloat16": 2**-8}[policy]
    for index in places(output.shape):
        made = look(Ran(case.layer, case.inputs, output), index)
        assert abs(made.difference) <= 2 * epsilon * max(abs(made.total), 0.1 * made.magnitude)
        assert "rounded to" in made.note
