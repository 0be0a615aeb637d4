"""`python -m demo.pictures`: the README's pictures, taken of the demo's log in a real TensorBoard and a real Chromium."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from PIL import Image

from tests.browser.chromium import DRAWN, Chromium, chromium

from .serve import tensorboard

ROOT = Path(__file__).resolve().parent.parent
LOGS = ROOT / "demo" / "logs"
PICTURES = ROOT / "docs" / "pictures"
TENSORBOARDS_BAR = 70  # with its shadow
LARGEST_BYTES = 300_000


@dataclass(frozen=True)
class Scene:
    """A picture: the state of the tab, the script that is true once it stands, and what is then done in it."""

    name: str
    state: Mapping[str, object]
    there: str
    act: str = "null"


_AT_REST = """(() => {
  const loaded = performance.getEntriesByType('resource');
  return performance.now() - Math.max(...loaded.map((each) => each.responseEnd)) > 2500;
})()"""
"""Nothing has been fetched for a while: thumbnails are drawn, moving things have come to rest."""

_TABLE = "document.querySelectorAll('table.statistics td[data-kind]').length > 0"
_MAPS = "document.querySelector('.maps[data-tensor]') !== null"
_MICROSCOPE = """(() => {
  const grid = document.querySelector('.maps[data-tensor]');
  const [width, height] = grid.dataset.cell.split(' ').map(Number);
  const box = grid.querySelector('canvas').getBoundingClientRect();
  const place = { clientX: box.left + 2 + 0.53 * width, clientY: box.top + 2 + 0.53 * height, bubbles: true };
  grid.dispatchEvent(new MouseEvent('click', place));
})()"""
"""A click into the middle of the first map."""
_ROWS = "document.querySelectorAll('[data-path]').length > 10 && document.querySelector('canvas') !== null"
_FRAMES = "document.querySelector('.journey[data-frames]') !== null"
_IMAGE = {"run": "one_image", "stream": "record"}
SCENES = (
    Scene("siamese", {"run": "siamese", "stream": "train", "call": "encoder#1/first_dense"}, _TABLE),
    Scene("mobilenet", {"run": "mobilenet", "stream": "train", "kind": "error", "column": "l2"}, DRAWN),
    Scene("values", {**_IMAGE, "view": "maps", "call": "conv_dw_2", "panel": "values"}, _MAPS, _MICROSCOPE),
    Scene("journey", {**_IMAGE, "view": "journey", "call": "conv_pw_3"}, _FRAMES),
    Scene("heatmap", {"run": "mobilenet", "stream": "train", "heatmap": 1, "kind": "error", "column": "l2"}, _ROWS),
)


def main() -> int:
    """Returns the exit code: 1 where the demo has not been run."""
    if not LOGS.is_dir():
        print("The pictures are taken of the demo's log. Run `make demo SERVE=0` first.", file=sys.stderr)
        return 1
    PICTURES.mkdir(parents=True, exist_ok=True)
    with tensorboard(LOGS) as address, chromium() as browser:
        for scene in SCENES:
            for dark in (False, True):
                path = PICTURES / f"{scene.name}-{'dark' if dark else 'light'}.png"
                _take(browser, address, scene, dark, path)
                print(f"{path.relative_to(ROOT)}: {path.stat().st_size / 1000:.0f} kB")
    return 0


def _take(browser: Chromium, address: str, scene: Scene, dark: bool, path: Path) -> None:
    browser.open(address, scene.state, dark=dark)
    browser.wait(scene.there)
    browser.evaluate(scene.act)
    browser.wait(_AT_REST)
    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder) / "window.png"
        browser.picture(whole)
        window = Image.open(whole).convert("RGB")
        tab = window.crop((0, TENSORBOARDS_BAR, window.width, window.height))
        # 256 colours are enough, and a third of the bytes; chosen so that rare ones, as those of a scale, are kept.
        tab.quantize(256, Image.Quantize.MAXCOVERAGE, kmeans=1, dither=Image.Dither.NONE).save(path, optimize=True)
    if path.stat().st_size > LARGEST_BYTES:
        raise ValueError(f"{path} must be smaller than {LARGEST_BYTES} bytes. It has {path.stat().st_size}.")


if __name__ == "__main__":
    sys.exit(main())
