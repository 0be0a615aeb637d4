"""What recording takes in memory, at its peak. Run as a program it is one of the two processes that are compared."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from statistics import median

from .figure import Figure

REPEATS = 3
"""How high a process gets depends on the order in which TensorFlow's threads come to things."""


def measure() -> list[Figure]:
    """The peak of a process that records every step, with one sample's values, against that of one that trains plainly."""
    peaks = {kind: [_peak_of_process(kind) / 1024 for _ in range(REPEATS)] for kind in ("plain", "valued")}
    ratio = median(peaks["valued"]) / median(peaks["plain"])
    note = " / ".join(
        f"{median(peaks[kind]):.0f} ({min(peaks[kind]):.0f} to {max(peaks[kind]):.0f})" for kind in ("valued", "plain")
    )
    what = "peak memory of the process, recorded steps with the values of a sample / plain"
    return [Figure(what, ratio, 1.15, note=f"{note} MiB, of {REPEATS}")]


def _peak_of_process(kind: str) -> int:
    command = [sys.executable, "-m", "bench.peak_memory", kind]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"})
    return int(done.stdout.split()[-1])


def _train(kind: str) -> None:
    from .subject import Subject

    subject = Subject()
    for _ in range(2):
        subject.block(kind)
    print(_peak())


def _peak() -> int:
    """KiB. From the kernel's own mark: `ru_maxrss` of a child begins with what its parent had."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))


if __name__ == "__main__":
    _train(sys.argv[1])
