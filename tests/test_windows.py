"""Receptive windows along chains and branches, against real Keras layers whose inputs are perturbed one by one."""

from __future__ import annotations

from collections.abc import Callable

import keras
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tb_layerflow.analysis.layer_description import wanted_config
from tb_layerflow.analysis.windows import receptive_window
from tb_layerflow.log.records import Call, Graph, Layer, Port
from tests.microscope import influential, places

L = keras.layers


class Model:
    """A graph as capture records it, beside the real layers that it stands for."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.graph = Graph("model", [Call("x", "x", "Input", "input", outputs=[Port(shape=(-1, *shape))])], [])
        self.layers: list[tuple[keras.Layer, list[int]]] = []
        self.maps = [np.zeros((1, *shape), np.float32)]

    def add(self, layer: keras.Layer, *sources: int) -> int:
        """Calls the layer on earlier calls' outputs; its weights become random numbers above zero."""
        inputs = [self.maps[source] for source in sources]
        output = np.asarray(layer(inputs if len(inputs) > 1 else inputs[0]))
        for seed, variable in enumerate(layer.weights):
            variable.assign(np.random.default_rng(seed).uniform(0.5, 1.5, variable.shape))
        name, number = type(layer).__name__, len(self.maps)
        ports = [Port(shape=(-1, *x.shape[1:]), source=(source, 0)) for x, source in zip(inputs, sources, strict=True)]
        self.graph.layers.append(Layer(layer.name, layer.name, name, config=wanted_config(layer.get_config())))
        layer_number = len(self.graph.layers) - 1
        made = [Port(shape=(-1, *output.shape[1:]))]
        self.graph.calls.append(Call(layer.name, layer.name, name, layer=layer_number, inputs=ports, outputs=made))
        self.layers.append((layer, list(sources)))
        self.maps.append(output)
        return number

    def function_from(self, start: int, end: int) -> Callable[[np.ndarray], np.ndarray]:
        """The output `end` as a function of the output `start`; other paths than through it see zeros."""

        def run(x: np.ndarray) -> np.ndarray:
            known = {start: x}
            for number, (layer, sources) in enumerate(self.layers, start=1):
                if number <= end and number not in known and any(source in known for source in sources):
                    zeros = [
                        known.get(source, np.zeros((len(x), *self.maps[source].shape[1:]), np.float32)) for source in sources
                    ]
                    known[number] = layer(zeros if len(zeros) > 1 else zeros[0])
            return known[end]

        return run


def assert_windows(model: Model, end: int, index: tuple[int, ...]) -> None:
    windows = receptive_window(model.graph, end, index)
    assert windows[(end, 0)].box == tuple(slice(position, position + 1) for position in index)
    for start in range(end):
        if (start, 0) not in windows:
            continue
        moved = np.array(sorted(influential(model.function_from(start, end), model.maps[start].shape[1:], index)))
        box = windows[(start, 0)].box
        if not len(moved):
            assert box is None
            continue
        expected = tuple(slice(int(low), int(high) + 1) for low, high in zip(moved.min(0), moved.max(0), strict=True))
        assert box is not None
        assert box[1:] == expected, (start, model.graph.calls[start].type)


KINDS = ("conv", "dilated", "grouped", "depthwise", "separable", "transposed", "pool", "mean", "pad", "crop", "up")
drawn_layers = st.tuples(st.sampled_from(KINDS), st.integers(1, 3), st.integers(1, 2), st.sampled_from(["same", "valid"]))


def layer_2d(kind: str, size: int, stride: int, padding: str) -> keras.Layer:
    """A layer from maps of two channels to such maps that has no bias, so that a map of zeros stays one."""
    plain = {"use_bias": False, "padding": padding}
    makers: dict[str, Callable[[], keras.Layer]] = {
        "conv": lambda: L.Conv2D(2, size, strides=stride, **plain),
        "dilated": lambda: L.Conv2D(2, 2, dilation_rate=2, use_bias=False, padding="same"),
        "grouped": lambda: L.Conv2D(2, size, groups=2, **plain),
        "depthwise": lambda: L.DepthwiseConv2D(size, strides=stride, **plain),
        "separable": lambda: L.SeparableConv2D(2, size, strides=stride, **plain),
        "transposed": lambda: L.Conv2DTranspose(2, size, strides=stride, **plain),
        "pool": lambda: L.MaxPooling2D(2, strides=stride, padding="same"),
        "mean": lambda: L.AveragePooling2D(size, strides=stride, padding="same"),
        "pad": lambda: L.ZeroPadding2D(((1, 0), (0, 1))),
        "crop": lambda: L.Cropping2D(((0, 1), (1, 0))),
        "up": lambda: L.UpSampling2D(2),
    }
    return makers[kind]()


@given(st.lists(drawn_layers, min_size=2, max_size=4), st.integers(0, 99))
@settings(max_examples=40)
def test_the_window_through_a_chain_is_what_changes_the_output(layers, seed):
    model = Model((6, 6, 2))
    end = 0
    for drawn in layers:
        if min(model.maps[end].shape[1:3]) >= 3 and max(model.maps[end].shape[1:3]) <= 8:
            end = model.add(layer_2d(*drawn), end)
    for index in places(model.maps[end].shape, 1, seed)[1:]:
        assert_windows(model, end, index)


def test_the_window_of_a_residual_block_contains_both_paths():
    model = Model((7, 7, 2))
    stem = model.add(L.Conv2D(2, 3, use_bias=False), 0)
    inner = model.add(L.DepthwiseConv2D(3, padding="same", use_bias=False), stem)
    inner = model.add(L.Conv2D(2, 1, use_bias=False), inner)
    end = model.add(L.Add(), inner, stem)
    assert_windows(model, end, (0, 2, 0, 1))
    assert receptive_window(model.graph, end, (0, 2, 0, 1))[(0, 0)].box == (slice(0, 1), slice(1, 6), slice(0, 4), slice(0, 2))


def test_the_window_through_concatenate_flatten_and_dense_is_what_changes_the_output():
    model = Model((4, 4, 2))
    left = model.add(L.Conv2D(2, 2, use_bias=False), 0)
    right = model.add(L.MaxPooling2D(2, strides=1), 0)
    both = model.add(L.Concatenate(), left, right)
    cut = model.add(L.Cropping2D(((1, 0), (0, 1))), both)
    flat = model.add(L.Flatten(), cut)
    for position in (0, 5, 15):
        assert_windows(model, flat, (0, position))
    shaped = model.add(L.Reshape((4, 4)), flat)
    end = model.add(L.Dense(3, use_bias=False), model.add(L.Permute((2, 1)), shaped))
    assert_windows(model, end, (0, 1, 2))


def test_the_unclipped_window_adds_up_over_paddings():
    model = Model((8, 8, 1))
    end = 0
    for _ in range(3):
        end = model.add(L.Conv2D(1, 3, padding="same", use_bias=False), end)
    window = receptive_window(model.graph, end, (0, 0, 7, 0))[(0, 0)]
    assert window.box == (slice(0, 1), slice(0, 4), slice(4, 8), slice(0, 1))
    assert window.unclipped == (slice(0, 1), slice(-3, 4), slice(4, 11), slice(0, 1))


def test_behind_an_unknown_layer_the_whole_map_is_taken_and_marked():
    model = Model((5, 3))
    first = model.add(L.Conv1D(2, 2, use_bias=False), 0)
    second = model.add(L.LSTM(4, return_sequences=True), first)
    end = model.add(L.Conv1D(2, 1, use_bias=False), second)
    windows = receptive_window(model.graph, end, (0, 1, 0))
    assert windows[(second, 0)].reason == ""
    assert windows[(first, 0)].box == (slice(0, 1), slice(0, 4), slice(0, 2))
    assert "LSTM" in windows[(first, 0)].reason
    assert windows[(0, 0)].box == (slice(0, 1), slice(0, 5), slice(0, 3))
    assert "LSTM" in windows[(0, 0)].reason


def test_a_group_passes_the_window_to_the_call_inside_whose_output_it_is():
    inner = Port(shape=(-1, 4), source=(0, 0))
    calls = [
        Call("x", "x", "Input", "input", outputs=[Port(shape=(-1, 4))]),
        Call("encoder", "encoder", "Functional", inputs=[inner], outputs=[Port(shape=(-1, 4), source=(2, 0))]),
        Call("encoder/relu", "relu", "ReLU", parent=1, inputs=[inner], outputs=[Port(shape=(-1, 4))]),
        Call("end", "end", "Identity", inputs=[Port(shape=(-1, 4), source=(1, 0))], outputs=[Port(shape=(-1, 4))]),
    ]
    windows = receptive_window(Graph("m", calls, []), 3, (0, 2))
    assert {place: window.box for place, window in windows.items()} == dict.fromkeys(
        [(0, 0), (1, 0), (2, 0), (3, 0)], (slice(0, 1), slice(2, 3))
    )


def test_batch_normalization_in_training_sees_the_whole_batch():
    calls = [
        Call("x", "x", "Input", "input", outputs=[Port(shape=(-1, 4))]),
        Call(
            "bn",
            "bn",
            "BatchNormalization",
            training=True,
            inputs=[Port(shape=(-1, 4), source=(0, 0))],
            outputs=[Port(shape=(-1, 4))],
        ),
    ]
    graph = Graph("m", calls, [])
    assert receptive_window(graph, 1, (0, 2), batch_size=8)[(0, 0)].box == (slice(0, 8), slice(2, 3))
    assert "whose size is not known" in receptive_window(graph, 1, (0, 2))[(0, 0)].reason


def test_a_map_of_unknown_size_takes_the_recorded_shape():
    config = wanted_config(L.Conv1D(1, 3, strides=2, padding="same").get_config())
    calls = [
        Call("x", "x", "Input", "input", outputs=[Port(shape=(-1, -1, 2))]),
        Call("c", "c", "Conv1D", layer=0, inputs=[Port(shape=(-1, -1, 2), source=(0, 0))], outputs=[Port(shape=(-1, -1, 1))]),
    ]
    graph = Graph("m", calls, [Layer("c", "c", "Conv1D", config=config)])
    window = receptive_window(graph, 1, (0, 1, 0))[(0, 0)]
    assert window.box is None
    assert "not known" in window.reason
    known = receptive_window(graph, 1, (0, 1, 0), shapes={(0, 0): (1, 6, 2)})[(0, 0)]
    assert known.box == (slice(0, 1), slice(2, 5), slice(0, 2))


def test_ten_thousand_calls_are_walked_without_recursion():
    first = Call("x", "x", "Input", "input", outputs=[Port(shape=(-1, 3))])
    others = [
        Call("r", "r", "ReLU", inputs=[Port(shape=(-1, 3), source=(number, 0))], outputs=[Port(shape=(-1, 3))])
        for number in range(10_000)
    ]
    assert receptive_window(Graph("m", [first, *others], []), 10_000, (0, 1))[(0, 0)].box == (slice(0, 1), slice(1, 2))


def test_an_index_outside_of_the_output_is_an_error_that_names_the_shape():
    model = Model((5, 3))
    with pytest.raises(IndexError, match=r"output of shape \[-1, 5, 3\], batch axis first. Received: \[0, 5, 0\]"):
        receptive_window(model.graph, 0, (0, 5, 0))


TWO_INPUTS = ["Dense", "Flatten", "Conv2D", "MaxPooling2D", "Embedding", "Softmax", "Permute", "GlobalAveragePooling2D", "ReLU"]


def crafted(kind: str, config: str = "{}", inputs: int = 1, shape: tuple[int, ...] = (4, 8, 8, 3), module: str = "") -> Graph:
    """Inputs and one layer on all of them, as a log might claim it."""
    calls = [Call(f"x{k}", "x", "Input", "input", outputs=[Port(shape=shape)]) for k in range(inputs)]
    ports = [Port(shape=shape, source=(k, 0)) for k in range(inputs)]
    calls.append(Call("layer", "layer", kind, layer=0, inputs=ports, outputs=[Port(shape=shape)]))
    return Graph("m", calls, [Layer("layer", "layer", kind, config=config, module=module)])


@pytest.mark.parametrize("kind", TWO_INPUTS)
def test_a_layer_with_more_inputs_than_its_name_promises_saw_all_of_them(kind: str):
    windows = receptive_window(crafted(kind, inputs=2), 2, (0, 0, 0, 0))
    for source in ((0, 0), (1, 0)):
        assert windows[source].box == (slice(0, 1), slice(0, 8), slice(0, 8), slice(0, 3))
        assert windows[source].reason


def test_a_users_class_that_is_called_like_one_of_keras_saw_everything():
    window = receptive_window(crafted("ReLU", module="my.layers"), 1, (0, 1, 1, 1))[0, 0]
    assert window.box == (slice(0, 1), slice(0, 8), slice(0, 8), slice(0, 3))
    assert "a class of my.layers, not Keras's own" in window.reason
    assert receptive_window(crafted("ReLU", module="keras.src.layers"), 1, (0, 1, 1, 1))[0, 0].box[1] == slice(1, 2)


@pytest.mark.parametrize(
    ("kind", "config"),
    [
        ("Conv2D", '{"kernel_size": [2000000000, 2000000000], "padding": "same", "filters": 4}'),
        ("Conv2DTranspose", '{"kernel_size": [2000000000, 3], "filters": 4}'),
        ("Conv2D", '{"kernel_size": [3, 3], "strides": [1' + "0" * 400 + ', 1], "padding": "same"}'),
        ("Dense", '{"activation": "softmax", "units": 1e15}'),
        ("Conv2D", "[" * 100_000),
    ],
)
def test_absurd_settings_end_in_a_whole_map_with_a_reason(kind: str, config: str):
    window = receptive_window(crafted(kind, config), 1, (0, 0, 0, 0))[0, 0]
    assert window.box is None or window.box[1] in (slice(0, 8), slice(0, 1))
    assert window.reason or config.startswith("[")


def test_an_absurd_map_is_not_listed():
    graph = crafted("Dense", shape=(4, 1 << 40, 3))
    window = receptive_window(graph, 1, (0, 5, 0))[0, 0]
    assert window.box == (slice(0, 1), slice(5, 6), slice(0, 3))
    assert receptive_window(crafted("LSTM", shape=(4, 1 << 40, 3)), 1, (0, 5, 0))[0, 0].box is None
