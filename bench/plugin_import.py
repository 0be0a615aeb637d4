"""What every start of TensorBoard pays, whether the tab is used or not."""

from __future__ import annotations

import subprocess
import sys
from statistics import median

from .figure import Figure, spread

REPEATS = 15
_PROGRAM = """
import tensorboard.plugins.base_plugin, time
started = time.process_time()
import tb_layerflow.plugin.loader
print(1000 * (time.process_time() - started))
"""


def measure() -> list[Figure]:
    """The import of the entry module in a fresh interpreter that has TensorBoard's base plugin already."""
    times = [float(subprocess.run([sys.executable, "-c", _PROGRAM], capture_output=True, text=True, check=True).stdout)
             for _ in range(REPEATS)]  # fmt: skip
    return [Figure("importing the plugin's entry module, processor time", median(times), 20, "ms", spread(times))]
