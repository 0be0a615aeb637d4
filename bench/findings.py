"""How well findings tell faulty from healthy trainings, on trainings that set no threshold.

`python -m bench findings` trains the suite in `held_out/seventh.py`, every step recorded. `python -m bench.findings FOLDER` also
trains those on which thresholds are set (`faults.py`, `strict_faults.py`, `more.py`, `further.py`, `healthy.py`) and those whose
misses rules were mended for (the others in `held_out`), keeps the logs in FOLDER (those that exist are not made again), and
prints each finding that is missed or wrong.
"""

from __future__ import annotations

import sys
import tempfile
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from .case import BATCH, EVERY
from .figure import Figure

if TYPE_CHECKING:
    from tb_layerflow.analysis.findings import Finding

    from .case import Case


class Score(NamedTuple):
    """Of some trainings: how many faults were planted, how many of them named, and how many findings are wrong."""

    planted: int
    named: int
    wrong: int
    healthy: int

    @property
    def precision(self) -> float:
        """Findings that a planted fault makes true beside its own count for nothing."""
        return self.named / max(self.named + self.wrong, 1)

    @property
    def recall(self) -> float:
        return self.named / max(self.planted, 1)


def measure() -> list[Figure]:
    """The share of findings that are wrong (1 - precision), and of faults that are missed (1 - recall)."""
    from .held_out.seventh import seventh

    score = scored(seventh(), Path(tempfile.mkdtemp(prefix="layerflow-findings-")))
    note = f"of {score.planted} faulty and {score.healthy} healthy trainings"
    return [
        Figure("findings that are wrong, of all", 1 - score.precision, 0.05, "", note),
        Figure("planted faults that no finding names", 1 - score.recall, 0.05, "", note),
    ]


def scored(cases: Sequence[Case], folder: Path, say: Any = None) -> Score:
    """Train these and judge what is found; `say` takes a line for each finding that is missed or wrong."""
    planted = named = wrong = sound = 0
    for case in cases:
        found = findings_of(logged(case, folder))
        is_named = any(case.names(one) for one in found)
        others = [one for one in found if not case.names(one) and not case.allows(one)]
        planted, named, sound = planted + bool(case.rule), named + is_named, sound + (not case.rule)
        wrong += len({(one.rule, one.path) for one in others})
        if say is not None and case.rule and not is_named:
            rest = sorted({(one.rule, one.path, one.step) for one in found})[:6]
            say(f"missed: {case.name} ({case.rule}); found {rest}")
        for one in others if say is not None else ():
            say(f"wrong: {case.name}: {one.rule}, {one.path}, step {one.step}: {one.message}")
    return Score(planted, named, wrong, sound)


def logged(case: Case, folder: Path) -> Path:
    """The log of a case's training, made if it is not there. A RuntimeError where what the case says of itself is not so."""
    place = folder / case.name.replace(" ", "_")
    if (place / "done").exists():
        return place
    import keras
    import numpy as np

    import tb_layerflow as layerflow

    from .held_out.material import taken
    from .held_out.witness import Witness

    training = case.make()
    model, x, y = training[:3]
    steps = len(next(iter(x.values())) if isinstance(x, dict) else x) // BATCH
    probe = taken(x, np.arange(128)), taken(y, np.arange(128))
    late = {steps // 2, steps - 6, steps - 3, steps - 1}
    witness = Witness(x, y)
    callbacks = [
        *training.callbacks,
        witness,
        layerflow.LayerFlow(place, every=EVERY, values="none", what=("outputs", "errors", "weights")),
        layerflow.LayerFlow(
            place, stream="late", train=False, probe=probe, every=late, values="none", what=("outputs", "errors", "losses")
        ),
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(x, y, batch_size=BATCH, shuffle=False, verbose=0, callbacks=callbacks)
    if case.proved is not None and not case.proved(witness):
        raise RuntimeError(f"{case.name}: the fault was not planted, or the healthy training's result is not good.")
    (place / "done").touch()
    keras.backend.clear_session()
    return place


def findings_of(place: Path) -> list[Finding]:
    """Those of the training's stream, and what the probe's layer losses say."""
    from tb_layerflow import reader

    run = reader.LogDir(place).run(".")
    return [one for name in run.streams for one in run.stream(name).findings() if name == "train" or one.rule == "worse_readout"]


def main(folder: Path) -> None:
    """Print all suites."""
    from .faults import faulty
    from .further import further
    from .healthy import healthy
    from .held_out import held_out
    from .held_out.fifth import fifth
    from .held_out.fourth import fourth
    from .held_out.seventh import seventh
    from .held_out.sixth import sixth
    from .held_out.third import third
    from .more import more
    from .strict_faults import strict

    suites = {
        "set the thresholds": (strict, healthy, faulty, more, further),
        "mended for": (held_out, third, fourth, fifth, sixth),
        "blind": (seventh,),
    }
    for name, parts in suites.items():
        scores = [scored(part(), folder / part.__name__, say=lambda line: print(f"  {line}", flush=True)) for part in parts]
        score = Score(*map(sum, zip(*scores, strict=True)))
        print(f"{name}: {score.planted} faulty and {score.healthy} healthy trainings", flush=True)
        print(f"  precision {score.precision:.3f} ({score.wrong} wrong findings), recall {score.recall:.3f}", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(tempfile.mkdtemp(prefix="layerflow-findings-")))
