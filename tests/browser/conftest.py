"""The demo's log behind a real TensorBoard, started once, and one Chromium for all browser tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from demo.serve import tensorboard
from tests.browser.chromium import Chromium, chromium

LOGS = Path(__file__).resolve().parents[2] / "demo" / "logs"


@pytest.fixture(scope="session")
def demo_logs() -> Path:
    """The folder that `make demo` writes."""
    missing = [run for run in ("mobilenet", "siamese") if not list((LOGS / run).glob("events.out.tfevents.*"))]
    assert not missing, f"The browser tests look at the demo's log. Run `make demo SERVE=0` first: {LOGS} lacks {missing}."
    return LOGS


@pytest.fixture(scope="session")
def address(demo_logs: Path) -> Iterator[str]:
    """Where TensorBoard shows the demo's log."""
    with tensorboard(demo_logs) as served_at:
        yield served_at


@pytest.fixture(scope="session")
def browser() -> Iterator[Chromium]:
    """One browser; each test opens a page of its own in it."""
    with chromium() as opened:
        yield opened
