"""How long the page keeps its main thread busy at a stretch while a record of 100 MB is opened, scrolled and hovered."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from .figure import Figure, spread

if TYPE_CHECKING:
    from tests.browser.chromium import Chromium

REPEATS = 3
SIDE = 512
FILTERS = ((32, 1), (32, 1), (64, 2), (256, 2), (2048, 4))
"""Filters and stride of each convolution: large maps at the start, thousands of small ones at the end; 132 MB of outputs."""
LEAST_BYTES = 100_000_000

OURS = "/data/plugin/layerflow/"
"""In the address of every script of the page; tasks in which only TensorBoard's own scripts ran are not the page's."""

MAPS = "document.querySelector('.maps-view .maps[data-tensor]') !== null"
SCROLL_AND_HOVER = """(() => {
  window.isDone = false;
  const grid = document.querySelector('.maps-view .maps[data-tensor]');
  const box = grid.getBoundingClientRect();
  let frame = 0;
  const move = () => {
    if (frame++ === 120) return void (window.isDone = true);
    grid.scrollTop = (grid.scrollHeight - grid.clientHeight) * (frame / 120);
    const [clientX, clientY] = [box.left + 10 + (frame * 37) % (box.width - 40), box.top + 10 + (frame * 23) % (box.height - 20)];
    grid.dispatchEvent(new PointerEvent('pointermove', { clientX, clientY, bubbles: true }));
    requestAnimationFrame(move);
  };
  requestAnimationFrame(move);
})()"""


def write(folder: Path) -> int:
    """Records one sample through a wide model, every output exactly; returns the bytes of its value file."""
    import keras
    import numpy as np

    import tb_layerflow as layerflow

    layers: list[keras.layers.Layer] = [keras.Input((SIDE, SIDE, 3), name="photo")]
    for number, (filters, stride) in enumerate(FILTERS):
        layers.append(keras.layers.Conv2D(filters, 3, strides=stride, padding="same", activation="relu", name=f"conv_{number}"))
    model = keras.Sequential(
        [*layers, keras.layers.GlobalAveragePooling2D(name="pooled"), keras.layers.Dense(10, name="classes")]
    )
    numbers = np.random.default_rng(5).normal(size=(1, SIDE, SIDE, 3)).astype("float32")
    layerflow.record(model, str(folder / "wide"), numbers, what="outputs")
    return sum(path.stat().st_size for path in folder.rglob("*.npz"))


def measure() -> list[Figure]:
    """The longest task of the page in each of three loads, in real TensorBoard and Chromium.

    In processor time: what the page waits for while other programs have their turn is not the page's.
    """
    from demo.serve import tensorboard
    from tests.browser.chromium import chromium

    with tempfile.TemporaryDirectory(prefix="layerflow-bench-") as folder:
        written = write(Path(folder))
        if written < LEAST_BYTES:
            raise ValueError(f"The record must have at least {LEAST_BYTES:,} bytes of values. It has {written:,}.")
        with tensorboard(folder) as address, chromium() as browser:
            longest = [max(_longest_task(browser, address, call) for call in ("conv_0", "conv_4")) for _ in range(REPEATS)]
    return [Figure("longest task of the page: a record of 100 MB", max(longest), 200, "ms", spread(longest))]


def _longest_task(browser: Chromium, address: str, call: str) -> float:
    """Milliseconds, while the tab opens at a call, its maps come to the centre, are scrolled through and hovered."""
    from tests.browser.chromium import DRAWN, at_rest

    browser.open(address, {"run": "wide", "stream": "record", "call": call, "panel": "values"}, trace=True)
    browser.wait(DRAWN)
    browser.wait(at_rest(1000))
    browser.press("3")
    browser.wait(MAPS)
    browser.evaluate(SCROLL_AND_HOVER)
    browser.wait("window.isDone")
    browser.wait(at_rest(1000))
    own = [task for task in browser.tasks() if not task["scripts"] or any(OURS in script for script in task["scripts"])]
    return max((task["processor"] for task in own), default=0.0)
