"""The journey shows the reader's arrays: every pixel of every frame's maps has the colour of its element, in the order of the flow."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from demo.serve import tensorboard
from tb_layerflow import reader
from tests.browser.chromium import Chromium

NEGATIVE, ZERO, POSITIVE = "#2468b4", "#ffffff", "#c4500c"
"""The ends and the middle of the signed scale on a light page."""
CLOSE = 4
"""Of 255 in each channel: the page has 256 colours."""

DRAWN = "document.querySelector('.journey canvas').dataset.drawn"
COLOURS = """(() => {
  const canvas = document.querySelector('.journey canvas');
  const { x, y, columns, size, pitch, count, rows, cols } = JSON.parse(canvas.dataset.drawn);
  const scale = canvas.width / canvas.clientWidth;
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  const found = [];
  for (let map = 0; map < count; map++) for (let row = 0; row < rows; row++) for (let col = 0; col < cols; col++) {
    const left = x + (map % columns) * pitch[0] + (col + 0.5) * size[0] / cols;
    const top = y + Math.floor(map / columns) * pitch[1] + (row + 0.5) * size[1] / rows;
    const at = 4 * (Math.floor(top * scale) * canvas.width + Math.floor(left * scale));
    found.push(data[at], data[at + 1], data[at + 2]);
  }
  return found;
})()"""
"""Red, green and blue in the middle of every element of every map."""


def linear(colour: str) -> NDArray[np.float64]:
    channels = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    return np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)


TO_CONES = np.array([[0.4122214708, 0.5363325363, 0.0514459929], [0.2119034982, 0.6806995451, 0.1073969566],
                     [0.0883024619, 0.2817188376, 0.6299787005]])  # fmt: skip
"""Of Oklab's definition (Ottosson 2020); what follows the cube root is linear, so that colours can be mixed there as well."""


def expected_colours(values: NDArray[Any], reach: float) -> NDArray[np.float64]:
    """Mixed in Oklab between the ends of the scale: red, green and blue for each number, 0 to 255."""
    share = np.clip(np.asarray(values, np.float64) / reach, -1, 1)[..., None]
    negative, zero, positive = (np.cbrt(TO_CONES @ linear(colour)) for colour in (NEGATIVE, ZERO, POSITIVE))
    mixed = zero + np.where(share < 0, negative - zero, positive - zero) * np.abs(share)
    rgb = np.clip((mixed**3) @ np.linalg.inv(TO_CONES).T, 0, 1)
    return 255 * np.where(rgb <= 0.0031308, 12.92 * rgb, 1.055 * rgb ** (1 / 2.4) - 0.055)


@pytest.fixture(scope="module")
def residual_logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    keras = pytest.importorskip("keras")
    import tb_layerflow as layerflow

    folder = tmp_path_factory.mktemp("journey")
    keras.utils.set_random_seed(11)
    layers = keras.layers
    picture = keras.Input((12, 10, 3), name="photo")
    stem = layers.Conv2D(8, 3, padding="same", activation="relu", name="stem")(picture)
    left = layers.Conv2D(8, 3, padding="same", name="left")(stem)
    right = layers.DepthwiseConv2D(3, padding="same", name="right")(left)
    joined = layers.Add(name="joined")([stem, right])
    flat = layers.GlobalMaxPooling2D(name="flat")(joined)
    model = keras.Model(picture, layers.Dense(3, name="classes")(flat), name="residual")
    layerflow.record(model, str(folder / "residual"), np.random.default_rng(11).normal(size=(1, 12, 10, 3)).astype("float32"))
    return folder


@pytest.fixture(scope="module")
def residual(residual_logs: Path) -> Iterator[str]:
    with tensorboard(residual_logs) as served_at:
        yield served_at


def greys(values: NDArray[Any]) -> NDArray[np.float64]:
    """A channel of a picture given as −1 to 1, from black to white."""
    return np.repeat(255 * (np.asarray(values, np.float64)[..., None] + 1) / 2, 3, -1)


def assert_frames_are_the_arrays(
    browser: Chromium, stream: reader.Stream, step: int, pictures: frozenset[str] = frozenset()
) -> list[str]:
    """Walks through the journey; the paths of its frames, whose maps were compared one by one, those of `pictures` as greys."""
    browser.wait("document.querySelector('.journey[data-frames]') !== null")
    browser.evaluate("document.querySelector('.journey').focus()")
    paths = str(browser.evaluate("document.querySelector('.journey').dataset.paths")).split(" ")
    series = stream.statistics("output").series
    for path in paths:
        browser.wait(f"document.querySelector('.journey').dataset.path === '{path}'")
        browser.wait(f"(({{whole, title}}) => whole && title.endsWith('{path}'))(JSON.parse({DRAWN}))")
        drawn = json.loads(browser.evaluate(DRAWN))
        steps, low = series(path, "min")
        reach = max(abs(low[steps == step][0]), abs(series(path, "max")[1][steps == step][0]))
        value = stream.value(path, step=step)[0]
        maps = np.moveaxis(value, -1, 0)[: drawn["count"]] if value.ndim == 3 else value.reshape(1, -1)
        shown = np.array(browser.evaluate(COLOURS)).reshape(drawn["count"], -1, 3)
        for channel, one in enumerate(maps.reshape(len(maps), -1)):
            if not one.any():
                continue
            expected = greys(one) if path in pictures else expected_colours(one, reach)
            far = np.abs(shown[channel, : one.size] - expected).max()
            assert far <= CLOSE, (path, channel, far)
        browser.evaluate(
            "document.querySelector('.journey').dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowRight', bubbles: true}))"
        )
    return paths


def in_order(stream: reader.Stream, paths: list[str]) -> bool:
    order = [call.path for call in stream.graph.calls]
    return [order.index(path) for path in paths] == sorted(order.index(path) for path in paths)


def test_every_frame_of_a_residual_model_is_the_readers_array(browser: Chromium, residual: str, residual_logs: Path) -> None:
    stream = reader.LogDir(residual_logs).run("residual").stream("record")
    browser.open(residual, {"run": "residual", "stream": "record", "view": "journey"})
    paths = assert_frames_are_the_arrays(browser, stream, 0)
    assert paths == ["photo", "stem", "left", "right", "joined", "flat", "classes"]
    assert browser.complaints() == []


def test_the_prediction_has_its_label_beside_it(browser: Chromium, address: str, demo_logs: Path) -> None:
    """Ten equal shares before the first step, and a probability: the class or the target is shown however small its number is."""
    for run, step in (("mobilenet", 0), ("mobilenet", 800), ("siamese", 0)):
        stream = reader.LogDir(demo_logs).run(run).stream("probe")
        predicted, label = stream.value(".", step=step)[0], int(stream.value(".", "label", step=step).reshape(-1)[0])
        browser.open(address, {"run": run, "stream": "probe", "view": "journey", "step": str(step)})
        browser.wait("JSON.parse(document.querySelector('.journey canvas')?.dataset.predictions ?? '[]').length > 0")
        shown = json.loads(browser.evaluate("document.querySelector('.journey canvas').dataset.predictions"))
        if len(predicted) == 1:
            assert [(one["name"], one["value"]) for one in shown] == [("output", predicted[0]), ("label", label)]
            continue
        largest = [str(place) for place in np.argsort(-predicted, kind="stable")[:5]]
        assert [one["name"] for one in shown] == largest + ([] if str(label) in largest else [str(label)])
        assert [one["value"] for one in shown] == [predicted[int(one["name"])] for one in shown]
        assert [one["name"] for one in shown if one["isLabel"]] == [str(label)]


def test_every_frame_of_mobilenet_is_the_readers_array(browser: Chromium, address: str, demo_logs: Path) -> None:
    stream = reader.LogDir(demo_logs).run("one_image").stream("record")
    browser.open(address, {"run": "one_image", "stream": "record", "view": "journey"})
    paths = assert_frames_are_the_arrays(browser, stream, 0, frozenset({"image"}))
    assert len(paths) > 25
    assert in_order(stream, paths)
    assert {f"conv_pw_{block}_relu" for block in range(1, 14)} <= set(paths)
