"""What the browser loads for the tab."""

from __future__ import annotations

import gzip
from pathlib import Path

from .figure import Figure

STATIC = Path(__file__).resolve().parent.parent / "tb_layerflow" / "static"


def measure() -> list[Figure]:
    """All scripts of the page, each compressed as they are sent."""
    scripts = [gzip.compress(path.read_bytes(), 9) for path in STATIC.rglob("*.js")]
    return [Figure("the page, compressed", sum(map(len, scripts)) / 1000, 150, "kB", f"{len(scripts)} files")]
