"""The whole way in one file, for the oldest and the newest versions: fit with training steps and a probe, then read."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import tb_layerflow as layerflow
from tests import models, oracle


def test_from_fit_to_what_is_read(tmp_path: Path) -> None:
    model = models.siamese()
    x, y = models.samples(model)
    by_hand = oracle.run(model, x, y)
    history = model.fit(x, y, batch_size=len(y), epochs=3, shuffle=False, verbose=0,
                        callbacks=[layerflow.LayerFlow(tmp_path, probe=(x, y), every=1)]).history  # fmt: skip
    run = layerflow.reader.LogDir(tmp_path).run(".")
    for stream in (run.stream("train"), run.stream("probe")):
        assert stream.steps.tolist() == [0, 1, 2]
        assert {"encoder/first_dense", "encoder#1/first_dense"} <= set(stream.graph.paths)
        oracle.check(stream, "output", by_hand.outputs, step=0)
        oracle.check(stream, "error", by_hand.errors, step=0)
        np.testing.assert_allclose(stream.records.losses["loss"], history["loss"], rtol=1e-5)
