"""How well findings tell faulty from healthy trainings, on trainings that set no threshold.

`python -m bench findings` trains the held-out half of the suite in `faults.py` and `healthy.py`, every step recorded.
`python -m bench.findings FOLDER` keeps the logs there (those that exist are not made again), and prints both halves, with each
finding that is missed or wrong.
"""

from __future__ import annotations

import sys
import tempfile
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from .figure import Figure

if TYPE_CHECKING:
    from tb_layerflow.analysis.findings import Finding

    from .faults import Case

WITHOUT_A_STEP = ("worse_readout", "loss_does_not_fall")
"""Rules that look at a training's end: they name no step at which the fault began."""


class Score(NamedTuple):
    """Of some trainings: how many faults were planted, how many of them named, and how many findings are wrong."""

    planted: int
    named: int
    wrong: int
    healthy: int


def measure() -> list[Figure]:
    """The share of findings that are wrong (1 - precision), and of faults that are missed (1 - recall)."""
    score = scored(True, Path(tempfile.mkdtemp(prefix="layerflow-findings-")))
    note = f"of {score.planted} faulty and {score.healthy} healthy trainings"
    return [
        Figure("findings that are wrong, of all", score.wrong / max(score.named + score.wrong, 1), 0.05, "", note),
        Figure("planted faults that no finding names", 1 - score.named / max(score.planted, 1), 0.05, "", note),
    ]


def scored(held_out: bool, folder: Path, say: Any = None) -> Score:
    """Train one half of the suite and judge what is found; `say` takes a line for each finding that is missed or wrong."""
    from .faults import faulty
    from .healthy import healthy

    planted = named = wrong = sound = 0
    for case in (*healthy(), *faulty()):
        if case.held_out is not held_out:
            continue
        found = findings_of(logged(case, folder))
        is_named, others = judged(case, found)
        planted, named, sound = planted + bool(case.rule), named + is_named, sound + (not case.rule)
        wrong += len({(one.rule, one.path) for one in others})
        if say is not None and case.rule and not is_named:
            rest = sorted({(one.rule, one.path, one.step) for one in found})[:6]
            say(f"missed: {case.name} ({case.rule}); found {rest}")
        for one in others if say is not None else ():
            say(f"wrong: {case.name}: {one.rule}, {one.path}, step {one.step}: {one.message}")
    return Score(planted, named, wrong, sound)


def logged(case: Case, folder: Path) -> Path:
    """The log of a case's training, made if it is not there."""
    place = folder / case.name.replace(" ", "_")
    if (place / "done").exists():
        return place
    import keras
    import numpy as np

    import tb_layerflow as layerflow

    from .faults import BATCH, STEPS

    model, x, y = case.make()
    rows = np.resize(np.random.default_rng(1).permutation(len(x)), STEPS * BATCH)
    probe = _taken(x, rows[:128]), _taken(y, rows[:128])
    late = {STEPS // 2, STEPS - 6, STEPS - 3, STEPS - 1}
    callbacks = [
        layerflow.LayerFlow(place, every=1, values="none", what=("outputs", "errors", "weights")),
        layerflow.LayerFlow(place, stream="late", train=False, probe=probe, every=late, values="none", what=("losses",)),
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(_taken(x, rows), _taken(y, rows), batch_size=BATCH, shuffle=False, verbose=0, callbacks=callbacks)
    (place / "done").touch()
    keras.backend.clear_session()
    return place


def _taken(part: Any, rows: Any) -> Any:
    return {key: value[rows] for key, value in part.items()} if isinstance(part, dict) else part[rows]


def findings_of(place: Path) -> list[Finding]:
    """Those of the training's stream, and what the probe's layer losses say."""
    from tb_layerflow import reader

    run = reader.LogDir(place).run(".")
    return [one for name in run.streams for one in run.stream(name).findings() if name == "train" or one.rule == "worse_readout"]


def judged(case: Case, found: list[Finding]) -> tuple[bool, list[Finding]]:
    """(whether the planted fault is named at its call and step, the findings that are wrong)."""
    right = [one for one in found if one.rule == case.rule and one.path in case.paths]
    named = any(one.step == case.step or one.rule in WITHOUT_A_STEP for one in right)
    allowed = {case.rule, *case.follows} if case.rule else set()
    return named, [one for one in found if one.rule not in allowed]


def main(folder: Path) -> None:
    """Print both halves."""
    for held_out in (False, True):
        score = scored(held_out, folder, say=lambda line: print(f"  {line}", flush=True))
        precision, recall = score.named / max(score.named + score.wrong, 1), score.named / max(score.planted, 1)
        half = "held out" if held_out else "set the thresholds"
        print(f"{half}: {score.planted} faulty and {score.healthy} healthy trainings", flush=True)
        print(f"  precision {precision:.3f} ({score.wrong} wrong findings), recall {recall:.3f}", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(tempfile.mkdtemp(prefix="layerflow-findings-")))
