"""A real, headless Chromium that looks at the LayerFlow tab. Knows how to look, not what should be seen."""

from __future__ import annotations

import contextlib
import json
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

DRIVER = Path(__file__).parent / "driver.mjs"
WIDTH, HEIGHT = 1440, 900
SECONDS = 60

DRAWN = "document.querySelector('[data-call]') !== null"
"""True in the frame once the flow's first cards are drawn."""


def at_rest(milliseconds: int) -> str:
    """True in the frame once nothing has been fetched for so long."""
    return f"""(() => {{
      const loaded = performance.getEntriesByType('resource');
      return performance.now() - Math.max(...loaded.map((each) => each.responseEnd)) > {milliseconds};
    }})()"""


class Trouble(AssertionError):
    """The browser could not do what it was told."""


class Chromium:
    """One browser with one page open at a time. Scripts are JavaScript expressions, run in the plugin's frame."""

    def __init__(self, driver: subprocess.Popen[str]) -> None:
        self._driver = driver

    def open(self, address: str, state: Mapping[str, object] | None = None, *, width: int = WIDTH, height: int = HEIGHT,
             dark: bool = False, prelude: str = "", trace: bool = False) -> None:  # fmt: skip
        """Open the tab of the TensorBoard at `address` (with its `/`), in the state that a shared link would hold.

        `prelude` is a script that every frame runs before its own. With `trace`, `tasks` can tell what kept the page busy.
        """
        url = f"{address}{'?darkMode=true' if dark else ''}#layerflow"
        if state:
            url += f"&p.layerflow.s={quote(urlencode(state), safe='')}"
        self._tell(do="open", url=url, width=width, height=height, dark=dark, prelude=prelude, trace=trace)

    def evaluate(self, script: str) -> Any:
        """What an expression is worth now."""
        return self._tell(do="evaluate", script=script)

    def wait(self, script: str, seconds: float = SECONDS) -> None:
        """Returns once an expression is true; Trouble after `seconds`."""
        self._tell(do="wait", script=script, seconds=seconds)

    def press(self, key: str, *, as_is: bool = False) -> None:
        """Press a key, named as in the browser's own events: in the tab, or `as_is`, wherever the focus is."""
        self._tell(do="press", key=key, as_is=as_is)

    def move(self, x: float, y: float) -> None:
        """Move the pointer to a place of the window, in its pixels."""
        self._tell(do="move", x=x, y=y)

    def click(self, selector: str) -> None:
        """Click the first element of the tab that matches."""
        self._tell(do="click", selector=selector)

    def resize(self, width: int, height: int, *, dark: bool) -> None:
        """The window gets this size; the page, if it follows its host, this theme."""
        self._tell(do="resize", width=width, height=height, dark=dark)

    def picture(self, path: Path) -> None:
        """Write what the window shows as a PNG."""
        self._tell(do="picture", path=str(path))

    def tasks(self) -> list[dict[str, Any]]:
        """The main thread's tasks of more than 20 ms since a traced page was opened: `clock` and `processor` ms, and `scripts` (addresses)."""
        return list(self._tell(do="tasks"))

    def complaints(self) -> list[str]:
        """Errors in the console, exceptions, policy violations and failed requests since the page was opened."""
        return list(self._tell(do="complaints"))

    def _tell(self, **command: object) -> Any:
        assert self._driver.stdin is not None
        assert self._driver.stdout is not None
        self._driver.stdin.write(json.dumps(command) + "\n")
        self._driver.stdin.flush()
        line = self._driver.stdout.readline()
        if not line:
            raise Trouble(f"Chromium's driver ended while it was told: {command}")
        answer = json.loads(line)
        if "error" in answer:
            raise Trouble(f"{answer['error']} (told: {command})")
        return answer["value"]


@contextlib.contextmanager
def chromium() -> Iterator[Chromium]:
    """Starts a browser with an empty profile, and always stops it. Trouble where Node.js or Chromium is missing."""
    executable, node = shutil.which("chromium"), shutil.which("node")
    if executable is None or node is None:
        raise Trouble("The browser tests need chromium and node on PATH; `make test` says how to get them.")
    with tempfile.TemporaryDirectory(prefix="layerflow-chromium-", ignore_cleanup_errors=True) as profile:
        driver = subprocess.Popen([node, DRIVER, executable, profile], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        try:
            yield Chromium(driver)
        finally:
            driver.communicate(timeout=SECONDS)
