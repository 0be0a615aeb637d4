"""Nothing overlaps or overflows and nothing is too small to read: in every view, with every panel, at three sizes, light and dark."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest

from tests.browser.chromium import DRAWN, Chromium, at_rest
from tests.browser.geometry import FAULTS

SIZES = ((1440, 900), (1280, 720), (1000, 600))

MAPS = "document.querySelector('.maps[data-tensor]') !== null"
TITLE = "document.querySelector('.inspector .panel') !== null"

OPEN_THE_MICROSCOPE = """(() => {
  const grid = document.querySelector('.maps[data-tensor]');
  const box = grid.querySelector('canvas').getBoundingClientRect();
  grid.dispatchEvent(new MouseEvent('click', { clientX: box.left + 20, clientY: box.top + 20, bubbles: true }));
})()"""
SIDE_BY_SIDE = (
    "[...document.querySelectorAll('.maps-view .segment button')].find((one) => one.textContent === 'side by side').click()"
)
OPEN_WHAT_IS_CLOSED = (
    "document.querySelectorAll('details:not([open]) > summary, .inspector [aria-expanded=false]').forEach((one) => one.click())"
)


@dataclass(frozen=True)
class Scene:
    """A state of the tab; what is true once it stands; what is done then, and what is true after that."""

    state: Mapping[str, object]
    there: str = DRAWN
    act: str = "null"
    then: str = "true"
    press: str = field(default="")


SIAMESE, MOBILENET, PROBE = ({"run": run, "stream": stream} for run, stream in (
    ("siamese", "train"), ("mobilenet", "train"), ("mobilenet", "probe")))  # fmt: skip
SCENES = {
    "flow, nested": Scene(SIAMESE),
    "flow, a long chain": Scene(MOBILENET),
    "flow by the share of zeros": Scene({**MOBILENET, "kind": "output", "column": "zero"}),
    "overview, all of it, findings": Scene(MOBILENET, act=OPEN_WHAT_IS_CLOSED),
    "statistics": Scene({**SIAMESE, "call": "encoder#1/first_dense", "panel": "distribution"}, TITLE),
    "values": Scene({**MOBILENET, "call": "conv_dw_1", "panel": "values"}, MAPS),
    "microscope": Scene(
        {**MOBILENET, "call": "conv_pw_1", "panel": "values"}, MAPS, OPEN_THE_MICROSCOPE, "document.querySelector('.lens .sum') !== null"
    ),
    "errors": Scene({**SIAMESE, "call": "encoder/first_dense", "panel": "errors"}, TITLE),
    "layer losses": Scene({**PROBE, "call": "conv_pw_3", "panel": "errors"}, TITLE),
    "operations": Scene({**SIAMESE, "call": "encoder/first_dense", "panel": "ops"}, TITLE, OPEN_WHAT_IS_CLOSED),
    "weights": Scene({**MOBILENET, "call": "conv_pw_2", "panel": "weights"}, TITLE),
    "access": Scene({**SIAMESE, "call": "encoder/first_dense", "panel": "access"}, TITLE),
    "journey": Scene({**MOBILENET, "view": "journey"}, "document.querySelector('.journey[data-frames]') !== null"),
    "maps": Scene({**MOBILENET, "view": "maps", "call": "conv_pw_2", "panel": "values"}, MAPS),
    "maps, side by side": Scene(
        {**MOBILENET, "view": "maps", "call": "conv_pw_6"}, MAPS, SIDE_BY_SIDE, "document.querySelectorAll('.panes section').length > 1"
    ),
    "heatmap": Scene({**MOBILENET, "heatmap": 1}, "document.querySelectorAll('[data-path]').length > 10"),
    "search": Scene(SIAMESE, press="/"),
    "colours": Scene(SIAMESE, press="c"),
    "keys": Scene(SIAMESE, press="?"),
}  # fmt: skip


@pytest.mark.parametrize("scene", SCENES.values(), ids=SCENES)
def test_nothing_overlaps_or_overflows(browser: Chromium, address: str, scene: Scene) -> None:
    found = {}
    browser.open(address, scene.state, width=SIZES[0][0], height=SIZES[0][1])
    browser.wait(scene.there)
    browser.evaluate(scene.act)
    browser.wait(scene.then)
    if scene.press:
        browser.press(scene.press)
    for dark in (False, True):
        for width, height in SIZES:
            browser.resize(width, height, dark=dark)
            browser.wait(at_rest(400))
            found[f"{width} × {height}{', dark' if dark else ''}"] = browser.evaluate(FAULTS)
    assert {size: faults for size, faults in found.items() if faults} == {}


def test_the_check_finds_what_is_wrong(browser: Chromium, address: str) -> None:
    browser.open(address, SIAMESE)
    browser.wait(DRAWN)
    assert browser.evaluate(FAULTS) == []
    browser.evaluate("""(() => {
      const add = (text, style) => {
        const made = document.createElement('p');
        made.textContent = text;
        made.style.cssText = `position: absolute; margin: 0; white-space: nowrap; ${style}`;
        document.querySelector('.inspector').append(made);
      };
      add('too small', 'left: 8px; bottom: 8px; font-size: 10px');
      add('clipped without an ellipsis', 'left: 8px; bottom: 60px; width: 40px; overflow: hidden');
      add('one', 'left: 8px; bottom: 100px');
      add('other', 'left: 12px; bottom: 98px');
    })()""")
    faults = " ".join(browser.evaluate(FAULTS))
    for said in ("text of 10.0 px: p “too small”", "clipped by p: p “clipped", "on each other: p “one” and p “other”"):
        assert said in faults
