"""What is said where TensorFlow is not installed: a fresh interpreter that finds none."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("tensorflow", "keras", "tf_keras"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name.split(".")[0])

sys.meta_path.insert(0, Absent())
import tb_layerflow

try:
    eval(sys.argv[1])
except ModuleNotFoundError as error:
    sys.stdout.write(str(error))
"""


@pytest.mark.parametrize(
    "call",
    [
        "tb_layerflow.LayerFlow('logs')",
        "tb_layerflow.Recorder('logs')",
        "tb_layerflow.record(None, 'logs', [[1.0]])",
        "tb_layerflow.summary.outputs('a', 1.0, step=0, writer='logs')",
    ],
)
def test_recording_without_tensorflow_says_what_to_install(call: str) -> None:
    ran = subprocess.run([sys.executable, "-c", PROGRAM, call], capture_output=True, text=True, check=True)
    assert ran.stdout.startswith("Recording needs TensorFlow, which is not installed here: run `pip install")
