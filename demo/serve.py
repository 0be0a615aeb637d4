"""A real TensorBoard on a folder, in a process of its own, started and always stopped. Knows nothing of what the folder holds."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

START_SECONDS = 120
AS_PEOPLE_DO = ("-m", "tensorboard.main")
_ADDRESS = re.compile(r"http://localhost:\d+\S*")


@contextlib.contextmanager
def tensorboard(log_dir: Path | str, *arguments: str, program: Sequence[str] = AS_PEOPLE_DO) -> Iterator[str]:
    """Serves `log_dir` at a free port of this machine; gives the address, with its `/` at the end.

    Args:
      log_dir: What `tensorboard --logdir` takes.
      arguments: Further arguments of the command.
      program: What of this interpreter is started.

    Raises:
      RuntimeError: It did not start; with what it said last.
    """
    with tempfile.TemporaryFile("w+") as said:
        command = [sys.executable, *program, f"--logdir={log_dir}", "--host=localhost", "--port=0", *arguments]
        server = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=said, stderr=subprocess.STDOUT)
        try:
            yield _address(server, said.fileno())
        finally:
            server.terminate()
            try:
                server.wait(10)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()


def _address(server: subprocess.Popen[bytes], said: int) -> str:

    deadline = time.monotonic() + START_SECONDS
    while True:
        text = os.pread(said, 1 << 20, 0).decode(errors="replace")
        found = _ADDRESS.search(text)
        if found:
            return found[0].rstrip("/") + "/"
        if server.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(f"TensorBoard did not start. It said: {text.strip()[-2000:]}")
        time.sleep(0.1)
