"""How well findings tell faulty from healthy trainings: precision and recall on trainings that set no threshold.

python bench/findings.py [--keep FOLDER] [--all]: trains the suite of `faults.py` (about 90 tiny trainings, every step recorded), and
prints the figures of the held-out ones; --all: of the others too; --keep: logs that are in FOLDER already are not made again.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import warnings
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent)]

from tb_layerflow import reader  # noqa: E402
from tb_layerflow.analysis.findings import Finding  # noqa: E402


def logged(case: object, folder: Path) -> Path:
    """The log of a case's training, made if it is not there."""
    place = folder / case.name.replace(" ", "_")  # type: ignore[attr-defined]
    if (place / "done").exists():
        return place
    import keras
    import numpy as np
    from faults import BATCH, STEPS

    import tb_layerflow as layerflow

    model, x, y = case.make()  # type: ignore[attr-defined]
    rows = np.resize(np.random.default_rng(1).permutation(len(x)), STEPS * BATCH)

    def taken(part: object, chosen: np.ndarray) -> object:
        return {key: value[chosen] for key, value in part.items()} if isinstance(part, dict) else part[chosen]  # type: ignore[index]

    probe = rows[:128]
    late = {STEPS // 2, STEPS - 6, STEPS - 3, STEPS - 1}
    callbacks = [
        layerflow.LayerFlow(place, every=1, values="none", what=("outputs", "errors", "weights")),
        layerflow.LayerFlow(place, stream="late", train=False, probe=(taken(x, probe), taken(y, probe)), every=late, values="none",
                            what=("losses",)),
    ]  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(taken(x, rows), taken(y, rows), batch_size=BATCH, shuffle=False, verbose=0, callbacks=callbacks)
    (place / "done").touch()
    keras.backend.clear_session()
    return place


def findings_of(place: Path) -> list[Finding]:
    """Those of the training's stream, and what the probe's layer losses say."""
    run = reader.LogDir(place).run(".")
    return [one for name in run.streams for one in run.stream(name).findings() if name == "train" or one.rule == "worse_readout"]


def judged(case: object, found: list[Finding]) -> tuple[bool, list[Finding]]:
    """(whether the planted fault is named at its call and step, the findings that are wrong)."""
    right = [one for one in found if one.rule == case.rule and one.path in case.paths]  # type: ignore[attr-defined]
    named = any(one.step == case.step or one.rule in ("worse_readout", "loss_does_not_fall") for one in right)  # type: ignore[attr-defined]
    allowed = {case.rule, *case.follows} if case.rule else set()  # type: ignore[attr-defined]
    return named, [one for one in found if one.rule not in allowed]


def main() -> None:
    """Train, judge, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    from faults import faulty, healthy

    folder = given.keep or Path(tempfile.mkdtemp(prefix="layerflow-findings-"))
    for held_out in (False, True) if given.all else (True,):
        cases = [case for case in (*healthy(), *faulty()) if case.held_out is held_out and given.only in case.name]
        planted = named = wrong = 0
        for case in cases:
            found = findings_of(logged(case, folder))
            is_named, others = judged(case, found)
            planted += bool(case.rule)
            named += is_named
            wrong += len({(one.rule, one.path) for one in others})
            if case.rule and not is_named:
                others_found = sorted({(one.rule, one.path, one.step) for one in found})[:6]
                print(f"  missed: {case.name} ({case.rule}); found: {others_found}")
            for one in others:
                print(f"  wrong: {case.name}: {one.rule} {one.path} step {one.step}: {one.message}")
        precision, recall = named / max(named + wrong, 1), named / max(planted, 1)
        half = "held out" if held_out else "set thresholds"
        print(f"{half}: {planted} faulty and {len(cases) - planted} healthy trainings; "
              f"precision {precision:.3f} ({wrong} wrong findings), recall {recall:.3f}")  # fmt: skip


if __name__ == "__main__":
    main()
