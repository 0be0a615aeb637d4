"""What every test shares: a quiet TensorFlow on the CPU, the same Hypothesis examples each time, TensorBoard's two loaders."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

import pytest
from hypothesis import HealthCheck, settings

from tests.loaders import LOADERS, Loader

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
os.environ.setdefault("KERAS_BACKEND", "tensorflow")

settings.register_profile(
    "layerflow",
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture],
)
settings.load_profile("layerflow")


@pytest.fixture(params=sorted(LOADERS))
def loader(request: pytest.FixtureRequest) -> Iterator[Callable[..., Loader]]:
    """`loader(logdir)`: the logdir as one of TensorBoard's two loaders shows it, with default flags; closed after the test."""
    opened: list[Loader] = []

    def open_logdir(logdir: object, **flags: object) -> Loader:
        opened.append(LOADERS[request.param](logdir, **flags))
        return opened[-1]

    yield open_logdir
    for each in opened:
        each.close()
