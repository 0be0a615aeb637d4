"""`python -m demo`: train and record both models, check that they learned, look into one picture, then show the logs in
TensorBoard.

With SERVE=0 it stops after writing. `python -m demo inspect_image` does the picture alone.
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

LOGS = Path(__file__).parent / "logs"


def main() -> int:
    """Returns the exit code: 0, or 1 where a model has not learned enough for its log to be worth looking at."""
    print("Loading TensorFlow …", flush=True)
    if sys.argv[1:] == ["inspect_image"]:
        _inspect()
        return 0
    from . import mobilenet, siamese

    shutil.rmtree(LOGS, ignore_errors=True)
    for name, train, goal in (("mobilenet", mobilenet.train, mobilenet.GOAL), ("siamese", siamese.train, siamese.GOAL)):
        if not _trained(name, train, goal):
            return 1
    _inspect()
    if os.environ.get("SERVE", "1") == "0":
        print(f"The logs are in {LOGS}. To look at them: make demo, or layerflow view {LOGS}")
        return 0
    return _serve()


def _inspect() -> None:
    from . import inspect_image, mobilenet

    shutil.rmtree(LOGS / "one_image", ignore_errors=True)
    print("\nOne picture through MobileNet, every number kept", flush=True)
    print(inspect_image.inspect(LOGS / "one_image", mobilenet.saved_beside(LOGS / "mobilenet")), flush=True)


def _trained(name: str, train: Callable[[Path, int], float], goal: float) -> bool:
    print(f"\nTraining {name} on scikit-learn's digits; recording to {LOGS / name}", flush=True)
    started = time.monotonic()
    accuracy = train(LOGS / name, 1 if sys.stdout.isatty() else 2)
    print(f"{name}: test accuracy {accuracy:.3f} after {time.monotonic() - started:.0f} s (goal: above {goal})", flush=True)
    if accuracy > goal:
        return True
    print(f"{name} has not learned: its test accuracy must be above {goal}. Received: {accuracy:.3f}.", file=sys.stderr)
    return False


def _serve() -> int:
    from .serve import tensorboard

    with tensorboard(LOGS) as address:
        print(f"\nLayerFlow is at {address}#layerflow\nStop with Ctrl-C.", flush=True)
        try:
            while True:
                time.sleep(3600)
        except KeyboardInterrupt:
            print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
