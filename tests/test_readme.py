"""The README's pictures exist, are small, and are shown for both themes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PICTURES = re.findall(r"docs/pictures/[\w-]+\.png", (ROOT / "README.md").read_text(encoding="utf-8"))

LARGEST_BYTES = 300_000


@pytest.mark.parametrize("picture", PICTURES)
def test_a_picture_exists_and_is_small(picture: str) -> None:
    assert (ROOT / picture).stat().st_size < LARGEST_BYTES


def test_every_picture_is_there_for_both_themes() -> None:
    assert {each.removesuffix("-light.png") for each in PICTURES if "-light" in each} == {
        each.removesuffix("-dark.png") for each in PICTURES if "-dark" in each
    }
    assert PICTURES
