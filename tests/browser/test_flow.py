"""The picture of the demo's two models, as people first see it."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.browser.chromium import DRAWN, Chromium

CARDS = "[...document.querySelectorAll('svg.scene [data-call]')].filter((card) => card.dataset.kind !== 'group')"

SMALLEST_TEXT = """(() => {
  const isShown = (element) => { const box = element.getBoundingClientRect(); return box.width > 0 && box.height > 0; };
  const isWritten = (element) => [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim());
  const words = [...document.querySelectorAll('body *')].filter((element) => isWritten(element) && isShown(element));
  const scale = (element) => element.ownerSVGElement ? Math.hypot(element.getScreenCTM().a, element.getScreenCTM().b) : 1;
  return words.map((element) => [parseFloat(getComputedStyle(element).fontSize) * scale(element), element.textContent.trim()])
    .sort((a, b) => a[0] - b[0]);
})()"""
"""[size in pixels of the screen, text] of everything written on the page, smallest first."""


@pytest.fixture
def mobilenet(browser: Chromium, address: str) -> Chromium:
    browser.open(address, {"run": "mobilenet", "stream": "train"})
    browser.wait(DRAWN)
    return browser


def test_a_call_of_the_shared_encoder_is_one_card_and_both_are_tied(browser: Chromium, address: str) -> None:
    browser.open(address, {"run": "siamese", "stream": "train"})
    browser.wait(DRAWN)
    calls = browser.evaluate("[...document.querySelectorAll('svg.scene [data-call]')].map((card) => card.dataset.call)")
    assert [path for path in calls if re.fullmatch(r"encoder(#\d+)?/first_dense", path)] == [
        "encoder/first_dense", "encoder#1/first_dense"]  # fmt: skip
    assert {"encoder", "encoder#1"} <= set(calls)

    badges = browser.evaluate(
        "[...document.querySelectorAll('svg.scene [data-call$=first_dense] .badge text')].map((text) => text.textContent)"
    )
    assert badges == ["2×", "2×"]

    browser.click("svg.scene [data-call='encoder#1/first_dense']")
    browser.wait("document.querySelectorAll('svg.scene [data-tie]').length > 0")
    ties = browser.evaluate("[...document.querySelectorAll('svg.scene [data-tie]')].map((tie) => tie.dataset.tie)")
    assert "encoder/first_dense" in ties
    lit = browser.evaluate(
        "[...document.querySelectorAll('svg.scene .card.lit, svg.scene .card.chosen')].map((card) => card.dataset.call)"
    )
    assert {"encoder/first_dense", "encoder#1/first_dense"} <= set(lit)


def test_mobilenet_first_shows_at_most_forty_cards_large_enough_to_read(mobilenet: Chromium) -> None:
    cards = mobilenet.evaluate(f"{CARDS}.map((card) => card.dataset.call)")
    zoom = mobilenet.evaluate("parseFloat(document.querySelector('.zoom output').textContent) / 100")
    assert 20 <= len(cards) <= 40
    assert zoom >= 0.7


def test_every_card_of_mobilenets_first_view_lies_within_the_window(mobilenet: Chromium) -> None:
    outside = mobilenet.evaluate(f"""(() => {{
      const frame = document.querySelector('.flow').getBoundingClientRect();
      return {CARDS}.filter((card) => {{
        const box = card.getBoundingClientRect();
        return box.left < frame.left || box.right > frame.right || box.top < frame.top || box.bottom > frame.bottom;
      }}).map((card) => card.dataset.call);
    }})()""")
    assert outside == []


def test_no_name_is_cut_below_eight_characters(mobilenet: Chromium) -> None:
    names: list[list[str]] = mobilenet.evaluate(
        f"{CARDS}.map((card) => [card.dataset.call.split('/').pop(), card.querySelector('text.name').textContent])"
    )
    assert names
    assert [(name, shown) for name, shown in names if shown != name and ("…" not in shown or len(shown) < 8)] == []


@pytest.mark.parametrize("run", ["mobilenet", "siamese"])
def test_no_text_is_smaller_than_eleven_pixels(browser: Chromium, address: str, run: str) -> None:
    browser.open(address, {"run": run, "stream": "train"})
    browser.wait(DRAWN)
    written: list[list[Any]] = browser.evaluate(SMALLEST_TEXT)
    assert len(written) > 50
    assert [(size, text) for size, text in written if size < 10.995] == []


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_nothing_is_complained_about(browser: Chromium, address: str, dark: bool) -> None:
    for run in ("mobilenet", "siamese"):
        browser.open(address, {"run": run, "stream": "probe", "call": "." if run == "mobilenet" else "same"}, dark=dark)
        browser.wait(DRAWN)
        browser.press("ArrowLeft")
        browser.press("h")
        browser.wait("document.querySelectorAll('svg.scene, .heatmap, canvas').length > 0")
        assert browser.complaints() == []
