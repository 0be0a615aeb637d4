"""The tab where TensorBoard runs in other ways, and where the log is not as it should be."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from demo.serve import AS_PEOPLE_DO, tensorboard
from tests.browser.chromium import DRAWN, Chromium

WITHOUT_TENSORFLOW = ("-c", "import sys; sys.modules['tensorflow'] = None; from tensorboard import main; main.run_main()")

TENSORBOARDS_FONTS = "/font-roboto/"
"""TensorBoard itself looks for these outside of its path prefix."""


@pytest.mark.parametrize(
    ("program", "arguments"),
    [
        (AS_PEOPLE_DO, ["--path_prefix=/some/prefix"]),
        (AS_PEOPLE_DO, ["--load_fast=false"]),
        (WITHOUT_TENSORFLOW, []),
    ],
    ids=["path prefix", "load_fast=false", "without TensorFlow"],
)
def test_the_tab_shows_the_demo(browser: Chromium, demo_logs: Path, program: tuple[str, ...], arguments: list[str]) -> None:
    with tensorboard(demo_logs, *arguments, program=program) as address:
        assert ("/some/prefix/" in address) == ("--path_prefix=/some/prefix" in arguments)
        browser.open(address, {"run": "siamese", "stream": "probe", "call": "encoder/first_dense"})
        browser.wait(DRAWN)
        browser.wait("document.querySelectorAll('table.statistics td[data-kind]').length > 0")
        assert [each for each in browser.complaints() if TENSORBOARDS_FONTS not in each] == []


def test_keys_are_the_pages_as_soon_as_the_pointer_is_over_it(browser: Chromium, address: str) -> None:
    browser.open(address, {"run": "siamese", "stream": "probe"})
    browser.wait(DRAWN)
    browser.press("?", as_is=True)
    assert browser.evaluate("document.hasFocus() || document.querySelector('[role=dialog]') !== null") is False
    browser.move(600, 500)
    browser.wait("document.hasFocus()")
    browser.press("?", as_is=True)
    browser.wait("document.querySelector('[role=dialog]') !== null")


def test_an_empty_log_shows_the_lines_that_start_recording(browser: Chromium, tmp_path: Path) -> None:
    with tensorboard(tmp_path) as address:
        browser.open(address)
        browser.wait("document.querySelector('.empty pre') !== null")
        assert "LayerFlow(" in browser.evaluate("document.querySelector('.empty pre').textContent")
        assert browser.complaints() == []


@pytest.mark.parametrize("load_fast", ["true", "false"])
def test_a_truncated_log_shows_what_is_left(browser: Chromium, demo_logs: Path, tmp_path: Path, load_fast: str) -> None:
    """Under both of TensorBoard's loaders a file cut in the middle is read up to the cut."""
    shutil.copytree(demo_logs / "siamese", tmp_path / "cut")
    [events] = (tmp_path / "cut").glob("events.out.tfevents.*")
    events.write_bytes(events.read_bytes()[: events.stat().st_size // 2])
    with tensorboard(tmp_path, f"--load_fast={load_fast}") as address:
        browser.open(address, {"run": "cut", "stream": "train"})
        browser.wait(DRAWN)
        assert browser.complaints() == []


def test_a_log_cut_within_its_first_record_says_so(browser: Chromium, demo_logs: Path, tmp_path: Path) -> None:
    (tmp_path / "cut").mkdir()
    [events] = (demo_logs / "siamese").glob("events.out.tfevents.*")
    (tmp_path / "cut" / events.name).write_bytes(events.read_bytes()[:300])
    with tensorboard(tmp_path) as address:
        browser.open(address)
        browser.wait("document.querySelector('.empty')?.textContent.trim().length > 20")
        assert browser.complaints() == []
