"""What the figures were measured on, in one line."""

from __future__ import annotations

import os
import platform
from importlib.metadata import version
from pathlib import Path


def name() -> str:
    """Processor, cores, memory, load and the versions that matter."""
    versions = ", ".join(f"{package} {version(package)}" for package in ("keras", "tensorboard", "numpy"))
    return (
        f"{_processor()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; {platform.system()}, "
        f"Python {platform.python_version()}, TensorFlow {_tensorflow()}, {versions}"
    )


def _processor() -> str:
    try:
        described = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in described.splitlines() if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _tensorflow() -> str:
    import tensorflow as tf

    return str(tf.__version__)
