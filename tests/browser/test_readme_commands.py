"""The README's commands do what it says, on the demo's log."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tb_layerflow import cli

ROOT = Path(__file__).resolve().parent.parent.parent
LINES = re.findall(r"^(layerflow (?!view)[^#\n]+?) *(?:#.*)?$", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE)


@pytest.mark.parametrize("line", LINES)
def test_a_command_succeeds(line: str, demo_logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [str(demo_logs) if each == "demo/logs" else each for each in shlex.split(line)[1:]]
    assert str(demo_logs) in arguments
    assert cli.main(arguments) == 0
    assert capsys.readouterr().out


def test_there_are_some() -> None:
    assert {line.split()[1] for line in LINES} == {"show", "ops", "value", "doctor"}
