"""Whose each operation is, against an oracle that watches the layers run, and one that traces each alone: some of the models of `python -m bench lineage`."""

from __future__ import annotations

import pytest

from bench import lineage
from bench.lineage_models import CASES


@pytest.mark.parametrize("name", ["dense", "attention", "recurrent", "subclassed", "two optimizers"])
def test_operations_are_attributed_to_the_call_that_made_them(name: str) -> None:
    found, alone = lineage.of(*CASES[name]())
    assert found.calls >= 3 and found.operations >= 20 and found.gradients >= 10
    assert found.forward >= 0.99 and found.backward >= 0.99 and found.in_buckets == 0
    assert alone.differing == 0 and (alone.operations >= 20 or name == "two optimizers")  # its layers are all nested
