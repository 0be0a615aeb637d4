"""`python -m bench`: measure everything and print one table; `python -m bench NAME …`: only these. Exits with 1 where a target is
missed by more than a quarter."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

from . import (
    all_statistics,
    figure,
    findings,
    first_picture,
    idle_step,
    large_step,
    lineage,
    long_tasks,
    machine,
    page_size,
    peak_memory,
    plugin_import,
    record_size,
    recorded_step,
    tracing,
)

MEASUREMENTS: dict[str, Callable[[], list[figure.Figure]]] = {
    "plugin_import": plugin_import.measure,
    "page_size": page_size.measure,
    "all_statistics": all_statistics.measure,
    "first_picture": first_picture.measure,
    "long_tasks": long_tasks.measure,
    "peak_memory": peak_memory.measure,
    "idle_step": idle_step.measure,
    "recorded_step": recorded_step.measure,
    "record_size": record_size.measure,
    "tracing": tracing.measure,
    "findings": findings.measure,
    "lineage": lineage.measure,
    "large_step": large_step.measure,
}


def main(names: Sequence[str]) -> int:
    """Returns the exit code: 0, 1 where a target is missed by more than a quarter, 2 for a name that is none."""
    unknown = [name for name in names if name not in MEASUREMENTS]
    if unknown:
        print(f"A measurement must be one of {', '.join(MEASUREMENTS)}. Received: {', '.join(unknown)}.", file=sys.stderr)
        return 2
    figures = []
    for name in names or MEASUREMENTS:
        started = time.monotonic()
        figures += MEASUREMENTS[name]()
        print(f"{name}: {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)
    print("\n".join(figure.lines(figures)))
    print(f"\nMeasured on {machine.name()}.")
    return int(any(each.verdict.startswith("FAILED") for each in figures))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
