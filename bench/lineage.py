"""How well operations are attributed to calls, over models of many kinds: `python -m bench lineage`.

`python -m bench.lineage` prints a line per model.
"""

from __future__ import annotations

import sys
import tempfile
from typing import TYPE_CHECKING, Any

from .figure import Figure

if TYPE_CHECKING:
    from .attributed import Shares
    from .traced_alone import Compared


def measure() -> list[Figure]:
    """The shares of the worst model; each is to be at most one in a hundred, and no bucket may hold what a call made."""
    of_models = of_all()
    found = {name: shares for name, (shares, _) in of_models.items()}
    alone = [one for _, one in of_models.values()]
    operations = sum(one.operations for one in alone)
    differing = sum(one.differing for one in alone) / operations
    note = f"{operations} operations of {sum(one.calls for one in alone)} calls"
    return [
        Figure("operations in which calls differ from their layers traced alone", differing, 0.01, note=note),
        _worst(found, "operations not attributed to the call that made them", 0.01, lambda one: 1 - one.forward),
        _worst(found, "backward operations not attributed to their forward one's call", 0.01, lambda one: 1 - one.backward),
        _worst(found, "operations in a bucket though a call made them", 0, lambda one: one.in_buckets),
    ]


def _worst(found: dict[str, Shares], what: str, target: float, share: Any) -> Figure:
    name = max(found, key=lambda one: share(found[one]))
    return Figure(what, share(found[name]), target, note=f"the worst of {len(found)} models ({name})")


def of_all(say: Any = None) -> dict[str, tuple[Shares, Compared]]:
    """What was found of every model by its name; `say` takes each as it comes."""
    from .lineage_models import CASES

    found = {}
    for name, make in CASES.items():
        found[name] = of(*make())
        if say is not None:
            say(name, *found[name])
    return found


def of(model: Any, x: Any, y: Any) -> tuple[Shares, Compared]:
    """Record one step of a model while one oracle watches it, and compare with that and with the other."""
    import tb_layerflow as layerflow

    from . import attributed, traced_alone

    folder = tempfile.mkdtemp()
    callback = layerflow.LayerFlow(folder, every={0}, what=("outputs", "errors", "lineage"), values="none", strict=True)
    with attributed.watched() as notes:
        model.fit(x, y, batch_size=4, verbose=0, callbacks=[callback])
    stream = layerflow.open(folder)
    return attributed.shares(notes, stream), traced_alone.compared(model, stream)


def main() -> None:
    """Print a line per model."""
    print(
        f"{'model':25}{'calls':>6}{'ops':>6}{'theirs':>9}{'backward':>9}{'theirs':>9}{'in buckets':>11}{'alone':>7}{'differ':>7}"
    )

    def say(name: str, one: Shares, alone: Compared) -> None:
        counted = f"{name:25}{one.calls:6}{one.operations:6}{one.forward:9.1%}{one.gradients:9}{one.backward:9.1%}"
        print(f"{counted}{one.in_buckets:11.1%}{alone.operations:7}{alone.differing:7}", flush=True)

    of_all(say)


if __name__ == "__main__":
    sys.exit(main())
