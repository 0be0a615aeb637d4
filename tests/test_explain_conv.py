"""The microscope on convolutions, against real Keras layers in float32."""

from __future__ import annotations

import keras
import numpy as np
import pytest
from hypothesis import assume, given, reject, settings
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
KEYWORDS = ("strides", "dilation_rate", "padding", "activation", "use_bias")


@st.composite
def sliding(draw: st.DrawFn, ranks: tuple[int, ...] = (1, 2, 3), both: bool = False) -> dict[str, object]:
    """Settings that every convolution takes; strides and dilation are above 1 together only if `both`."""
    rank = draw(st.sampled_from(ranks))
    padding = draw(st.sampled_from(["valid", "same", "causal"] if rank == 1 else ["valid", "same"]))
    dilated = draw(st.booleans())
    several = st.tuples(*[st.integers(1, 3)] * rank)
    size = draw(several)
    return {
        "rank": rank,
        "kernel_size": size,
        "strides": (1,) * rank if dilated and not both else draw(several),
        "dilation_rate": draw(several) if dilated else (1,) * rank,
        "padding": padding,
        "activation": draw(st.sampled_from([None, "relu", "tanh", "softmax"])),
        "use_bias": draw(st.booleans()),
        "shape": tuple(draw(st.integers(7, 8)) for _ in range(rank)) if rank < 3 else (7, 7, 7),
    }


def keywords(drawn: dict[str, object]) -> dict[str, object]:
    return {key: drawn[key] for key in KEYWORDS}


def built(name: str, rank: int, *arguments: object, **options: object) -> keras.Layer:
    """A layer, `#` in its name standing for its rank; what this Keras refuses to build is no example."""
    try:
        return getattr(keras.layers, name.replace("#", f"{rank}D"))(*arguments, **options)
    except ValueError:
        reject()


def both_layouts(case: Ran) -> None:
    assert_explained(case)
    if case.layer.config.get("activation") != "softmax":
        turned = channels_first(case)
        assert_explained(turned, places(turned.output.shape, 2))


@given(sliding(), st.sampled_from([1, 2]), st.integers(0, 99))
@broad
def test_the_products_of_a_convolution_sum_to_its_output(drawn, groups, seed):
    x = noise(2, *drawn["shape"], 4, seed=seed)
    layer = built("Conv#", drawn["rank"], 6, drawn["kernel_size"], groups=groups, **keywords(drawn))
    both_layouts(ran(layer, x, seed=seed))


@given(sliding((1, 2), both=True), st.integers(1, 3), st.integers(0, 99))
@broad
def test_the_products_of_a_depthwise_convolution_sum_to_its_output(drawn, multiplier, seed):
    assume(drawn["padding"] != "causal" and len(set(drawn["strides"])) == 1)
    x = noise(2, *drawn["shape"], 3, seed=seed)
    layer = built("DepthwiseConv#", drawn["rank"], drawn["kernel_size"], depth_multiplier=multiplier, **keywords(drawn))
    both_layouts(ran(layer, x, seed=seed))


@given(sliding((1, 2), both=True), st.integers(1, 3), st.integers(0, 99))
@broad
def test_the_products_of_a_separable_convolution_sum_to_its_output_and_so_do_its_steps(drawn, multiplier, seed):
    assume(drawn["padding"] != "causal" and len(set(drawn["strides"])) == 1)
    x = noise(2, *drawn["shape"], 3, seed=seed)
    layer = built("SeparableConv#", drawn["rank"], 5, drawn["kernel_size"], depth_multiplier=multiplier, **keywords(drawn))
    case = ran(layer, x, seed=seed)
    both_layouts(case)
    made = look(case, places(case.output.shape)[1])
    pointwise, depthwise = made.steps[-1], made.steps[:-1]
    assert pointwise.total == pytest.approx(made.pre_activation, abs=1e-9 * made.magnitude)
    assert sorted(step.total for step in depthwise) == pytest.approx(sorted(term.value for term in pointwise.terms))


@given(sliding(), st.booleans(), st.integers(0, 99))
@broad
def test_the_products_of_a_transposed_convolution_sum_to_its_output(drawn, extra, seed):
    assume(drawn["padding"] != "causal")
    strides = np.array(drawn["strides"])
    output_padding = None
    if extra:
        odd = (np.array(drawn["kernel_size"]) - 1) * np.array(drawn["dilation_rate"]) % 2 == 0
        output_padding = tuple(int(number) for number in strides - 1)
        assume(drawn["padding"] == "valid" or ((odd + output_padding >= 1) & (odd + output_padding <= strides)).all())
    x = noise(2, *(size - 3 for size in drawn["shape"]), 3, seed=seed)
    layer = built("Conv#Transpose", drawn["rank"], 4, drawn["kernel_size"], output_padding=output_padding, **keywords(drawn))
    both_layouts(ran(layer, x, seed=seed))


@pytest.mark.parametrize(("kernel", "stride", "extra"), [(4, 2, 1), (4, 3, 1), (4, 3, 2), (5, 3, 1), (6, 4, 3)])
def test_output_padding_moves_where_a_transposed_convolution_begins(kernel, stride, extra):
    layer = keras.layers.Conv1DTranspose(2, kernel, stride, padding="same", output_padding=extra)
    assert_explained(ran(layer, noise(2, 4, 3)), places((2, 4, 2), 12))


@given(
    sliding((1, 2)),
    st.sampled_from(["Conv#", "DepthwiseConv#", "SeparableConv#", "Conv#Transpose"]),
    st.sampled_from([1, 2]),
    st.integers(0, 99),
)
@broad
def test_a_convolutions_window_is_what_changes_its_output(drawn, name, groups, seed):
    assume(drawn["padding"] != "causal" or name == "Conv#")
    assume(not name.startswith(("Dep", "Sep")) or len(set(drawn["strides"])) == 1)
    plain = {**keywords(drawn), "activation": None, "use_bias": False}
    first = () if name.startswith("Depthwise") else (4,)
    own = {"groups": groups} if name == "Conv#" else {}
    layer = built(name, drawn["rank"], *first, drawn["kernel_size"], **own, **plain)
    shape = (*drawn["shape"], 2)
    case = ran(layer, noise(2, *shape), seed=seed)
    for index in places(case.output.shape, 2, seed=seed):
        assert_window_is_what_matters(layer, shape, case, index)


def test_the_largest_channel_comes_first_and_its_terms_name_their_weights():
    x = np.ones((1, 3, 3, 2), np.float32)
    layer = keras.layers.Conv2D(1, 3)
    layer.build(x.shape)
    kernel = np.zeros((3, 3, 2, 1), np.float32)
    kernel[..., 0, 0], kernel[..., 1, 0] = 0.5, -2.0
    layer.set_weights([kernel, np.array([0.25], np.float32)])
    case = Ran(described(layer), [x], layer(x).numpy())
    made = look(case, (0, 0, 0, 0))
    assert [group.channel for group in made.groups] == [1, 0]
    assert [group.sum for group in made.groups] == [-18.0, 4.5]
    assert made.total == -13.25
    assert made.bias == 0.25
    assert made.terms[0].weight_index == (0, 0, 1, 0)
    assert made.terms[0].weight == -2.0
    assert made.formula == "Σ of 18 products + bias = −13.5 + 0.25 = −13.25"


def test_a_channel_whose_products_cancel_contributes_little():
    kernel = np.zeros((3, 3, 2, 1), np.float32)
    kernel[..., 0, 0], kernel[..., 1, 0] = np.array([5, -5, 5, -5, 5, -5, 5, -5, 1]).reshape(3, 3), 0.5
    layer = keras.layers.Conv2D(1, 3, use_bias=False)
    layer.build((1, 3, 3, 2))
    layer.set_weights([kernel])
    x = np.ones((1, 3, 3, 2), np.float32)
    made = look(Ran(described(layer), [x], layer(x).numpy()), (0, 0, 0, 0))
    assert [(group.channel, group.sum, group.magnitude) for group in made.groups] == [(1, 4.5, 4.5), (0, 1.0, 41.0)]


def test_the_window_of_a_corner_reaches_into_the_padding():
    layer = keras.layers.Conv2D(1, 3, padding="same")
    made = look(ran(layer, noise(1, 5, 5, 2)), (0, 0, 4, 0))
    assert made.window[0].box == (slice(0, 1), slice(0, 2), slice(3, 5), slice(0, 2))
    assert made.window[0].unclipped == (slice(0, 1), slice(-1, 2), slice(3, 6), slice(0, 2))
    assert made.term_count == 8


def test_too_many_terms_are_counted_and_summed_and_the_largest_are_listed():
    layer = keras.layers.Conv2D(1, 5)
    case = ran(layer, noise(1, 5, 5, 200))
    made = look(case, (0, 0, 0, 0))
    assert len(made.terms) == 2000
    assert made.term_count == 5000
    assert made.omitted.count == 3000
    assert len(made.groups) == 200
    products = np.sort(np.abs(case.inputs[0][0].astype(float) * layer.get_weights()[0][..., 0].astype(float)).ravel())
    assert min(abs(term.product) for term in made.terms) == pytest.approx(products[-2000])
