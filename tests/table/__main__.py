"""`python -m tests.table` writes the README's table of what is supported, between its two marks; `--print` prints it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

README = Path(__file__).resolve().parents[2] / "README.md"
BEGIN, END = "<!-- supported: written by python -m tests.table -->", "<!-- end of supported -->"


def markdown() -> str:
    """The table, a section per group of rows."""
    from . import table

    lines: list[str] = []
    group = ""
    for row in table():
        if row.group != group:
            group = row.group
            lines += ["", f"**{group}**", "", "| kind | outputs and errors | training |", "|---|---|---|"]
        lines.append(f"| {row.what} | {row.recorded} | {row.trained} |")
    return "\n".join(lines).strip()


def inserted(text: str) -> str:
    """The README with the table between its marks. ValueError where it has none."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"README.md must have a line {BEGIN!r} and a line {END!r} after it.")
    return f"{before}{BEGIN}\n\n{markdown()}\n\n{END}{after}"


if __name__ == "__main__":
    if "--print" in sys.argv:
        print(markdown())
    else:
        README.write_text(inserted(README.read_text(encoding="utf-8")), encoding="utf-8")
