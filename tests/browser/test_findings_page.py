"""From what was found to where it is: one click on the page of a training that diverges."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import keras
import numpy as np
import pytest

import tb_layerflow as layerflow
from demo.serve import tensorboard
from tests.browser.chromium import DRAWN, Chromium, at_rest

NAMES = ("encoder", "first_dense", "second_dense", "last_dense")
STEPS = 12

FIRST = "document.querySelector('.findings-box button.finding')"
CELL = "document.querySelector('.outline.wide .chosen-cell')"


def model() -> keras.Model:
    """Linear layers in a row under a loss without a floor: their product grows faster than any of them, and overflows first."""
    layers = [keras.layers.Dense(4, kernel_initializer=keras.initializers.Constant(0.4 + 0.02 * k), name=name)
              for k, name in enumerate(NAMES)]  # fmt: skip
    made = keras.Sequential([keras.Input((4,)), *layers])
    made.compile(keras.optimizers.SGD(0.5), loss=lambda y, output: -keras.ops.mean(output))
    return made


def first_overflow(x: np.ndarray, y: np.ndarray) -> tuple[int, str]:
    """Step and layer of the first output that is none, by numpy, along a training that nobody records."""
    plain = model()
    for step in range(STEPS):
        value = x
        with np.errstate(over="ignore", invalid="ignore"):
            for name in NAMES:
                kernel, bias = plain.get_layer(name).get_weights()
                assert np.isfinite(kernel).all()
                value = value @ kernel + bias
                if not np.isfinite(value).all():
                    return step, name
        plain.train_on_batch(x, y)
    raise AssertionError("This training does not diverge.")


@pytest.fixture(scope="module")
def diverging(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, int, str]]:
    """Where TensorBoard shows the recorded training; the step and the call at which it first overflows."""
    logs: Path = tmp_path_factory.mktemp("logs")
    x, y = np.ones((8, 4), np.float32), np.zeros((8, 4), np.float32)
    recorder = layerflow.LayerFlow(logs / "diverging", every=1)
    model().fit(x, y, batch_size=8, epochs=STEPS, shuffle=False, verbose=0, callbacks=[recorder])
    with tensorboard(logs) as address:
        yield (address, *first_overflow(x, y))


def test_the_first_finding_leads_to_the_call_the_step_and_the_cell_in_one_click(
    browser: Chromium, diverging: tuple[str, int, str]
) -> None:
    address, step, path = diverging
    assert 0 < step < STEPS - 1
    browser.open(address, {"run": "diverging", "stream": "train"})
    browser.wait(DRAWN)
    browser.wait(f"{FIRST} !== null")

    browser.click(".findings-box button.finding")
    browser.wait(f"{CELL} !== null && {CELL}.dataset.step === '{step}'")

    assert browser.evaluate("document.querySelector('.inspector .title h2').textContent") == path
    assert browser.evaluate("document.querySelector('.bar .where').textContent").startswith(f"step {step}")
    assert browser.evaluate(f"{CELL}.dataset.path") == path
    inside = browser.evaluate(f"""(() => {{
      const row = document.querySelector(".row[data-path='{path}']").getBoundingClientRect();
      const strip = document.querySelector(".row[data-path='{path}'] canvas").getBoundingClientRect();
      const cell = {CELL}.getBoundingClientRect();
      const middle = (cell.left + cell.right) / 2;
      return [cell.top >= row.top && cell.bottom <= row.bottom, (middle - strip.left) / strip.width];
    }})()""")
    assert inside == [True, pytest.approx((step + 0.5) / STEPS, abs=0.01)]
    assert browser.complaints() == []


def test_the_cell_of_a_number_that_is_none_has_the_colour_of_failure_and_the_ones_before_have_not(
    browser: Chromium, diverging: tuple[str, int, str]
) -> None:
    address, step, path = diverging
    browser.open(address, {"run": "diverging", "stream": "train"})
    browser.wait(DRAWN)
    browser.wait(f"{FIRST} !== null")
    browser.click(".findings-box button.finding")
    canvas = f"document.querySelector(\".row[data-path='{path}'] canvas.cells\")"
    browser.wait(f"{canvas}?.width === {STEPS}")
    # The numbers of the finding are asked for by the click; until they are here, those before them are drawn.
    browser.wait(at_rest(500))
    colours = browser.evaluate(
        f"Array.from({{ length: {STEPS} }}, (_, i) => [...{canvas}.getContext('2d').getImageData(i, 0, 1, 1).data].slice(0, 3))"
    )
    bad = browser.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--bad').trim()")
    failure = [int(bad[at : at + 2], 16) for at in (1, 3, 5)]
    assert [colour == failure for colour in colours[: step + 1]] == [False] * step + [True]


def test_what_was_found_is_marked_on_its_card_its_row_and_the_step_slider(
    browser: Chromium, diverging: tuple[str, int, str]
) -> None:
    address, step, path = diverging
    browser.open(address, {"run": "diverging", "stream": "train", "step": 0})
    browser.wait(DRAWN)
    browser.wait(f"{FIRST} !== null")
    assert browser.evaluate(f"document.querySelector(\".row[data-path='{path}'] .health\").textContent") == "■"
    assert browser.evaluate(f"document.querySelector(\"svg.scene [data-call='{path}'] path.failure\") !== null")
    places = browser.evaluate("[...document.querySelectorAll('.ticks b.failure')].map((mark) => parseFloat(mark.style.left))")
    assert places == [pytest.approx(100 * step / (STEPS - 1), abs=0.1)]
