"""How long people wait for the picture."""

from __future__ import annotations

from statistics import median

from .figure import Figure, spread

REPEATS = 7
WATCH = """new MutationObserver((_, observer) => {
  if (!document.querySelector('svg.scene [data-call]')) return;
  observer.disconnect();
  requestAnimationFrame(() => setTimeout(() => { window.drawnAfter = performance.now(); }));
}).observe(document, { childList: true, subtree: true });"""
"""Notes, in the frame's own clock, when the frame with the first cards has been painted."""


def measure() -> list[Figure]:
    """From when the tab's frame begins to load until MobileNet's cards stand in it, in real TensorBoard and Chromium."""
    from demo.serve import tensorboard
    from tests.browser.chromium import chromium

    from .demo_log import folder

    times = []
    with tensorboard(folder()) as address, chromium() as browser:
        for _ in range(REPEATS + 1):
            browser.open(address, {"run": "mobilenet", "stream": "train"}, prelude=WATCH)
            browser.wait("window.drawnAfter > 0")
            times.append(browser.evaluate("window.drawnAfter") / 1000)
    return [Figure("first picture after load: MobileNet", median(times[1:]), 1, "s", spread(times[1:]))]
