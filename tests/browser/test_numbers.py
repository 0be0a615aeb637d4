"""The numbers on the page are the reader's, at the digits shown."""

from __future__ import annotations

import math
import random
import re
from pathlib import Path

import pytest

from tb_layerflow import reader
from tests.browser.chromium import Chromium

SHOWN = """[...document.querySelectorAll('table.statistics tr[data-column] td[data-kind]')].map((cell) =>
  [cell.dataset.kind, cell.parentElement.dataset.column, cell.textContent.trim()])"""
"""[kind, column, text] of every number in the table of the chosen call."""

COLUMNS = {"mean", "std", "l2", "min", "max"}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("run", ["mobilenet", "siamese"])
def test_a_random_calls_numbers_at_random_steps_are_the_readers(
    browser: Chromium, address: str, demo_logs: Path, run: str, seed: int
) -> None:
    stream = reader.LogDir(demo_logs).run(run).stream("train")
    draw = random.Random(f"{run} {seed}")
    statistics = {kind: stream.statistics(kind) for kind in ("output", "error")}
    path = draw.choice(sorted(set.intersection(*({path for path, _ in table.ports} for table in statistics.values()))))
    for step in draw.sample(stream.steps.tolist(), 3):
        browser.open(address, {"run": run, "stream": "train", "step": step, "call": path, "panel": "distribution"})
        browser.wait(f"{SHOWN}.length > 0 && document.body.textContent.includes('step {step:,}')")
        shown = {(kind, column): text for kind, column, text in browser.evaluate(SHOWN)}
        for kind, table in statistics.items():
            assert {column for of, column in shown if of == kind} >= COLUMNS, (path, step, kind)
            row = table.index(path)
            at = table.steps.tolist().index(step)
            for number, column in enumerate(table.columns):
                text = shown.get((kind, column))
                if text is not None:
                    whole = table.part[at, row] if "%" in text else None
                    assert says(text, float(table.values[at, row, number]), whole), (path, step, kind, column, text)


def says(text: str, value: float, whole: float | None) -> bool:
    """Whether a number on the page is `value`, or its share of `whole` in percent, rounded to the digits that are written."""
    bound = re.fullmatch(r"([<>])([\d.]+) %", text)
    if whole is not None:
        value = 100 * value / whole
    if bound:
        return 0 < value < float(bound[2]) if bound[1] == "<" else float(bound[2]) < value < 100
    plain = text.replace("−", "-").replace(",", "").removesuffix(" %")
    mantissa, _, power = plain.partition("e")
    decimals = len(mantissa.partition(".")[2])
    half = 0.5 * 10.0 ** (int(power or 0) - decimals)
    return math.isclose(float(plain), value, rel_tol=1e-7, abs_tol=half * (1 + 1e-6))


@pytest.mark.parametrize(
    ("text", "value", "whole", "true"),
    [
        ("0.3512", 0.351249, None, True),
        ("0.3512", 0.35131, None, False),
        ("−1.2e−3", -0.00121, None, True),
        ("−1.2e−3", 0.00121, None, False),
        ("4,700", 4700, None, True),
        ("76.7 %", 767, 1000, True),
        ("<0.1 %", 0, 1000, False),
    ],
)
def test_the_comparison_itself_tells_right_from_wrong(text: str, value: float, whole: float | None, true: bool) -> None:
    assert says(text, value, whole) is true
