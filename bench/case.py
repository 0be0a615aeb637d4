"""One training by which findings are judged: what is trained, which fault is planted where, and what else that makes true."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from tb_layerflow.analysis.findings import Finding

BATCH = 32
EVERY = 1
"""Steps between two records: a finding may name the step of a fault that much too early or too late."""


class Training(NamedTuple):
    """A compiled model, its rows in the order of training, and the callbacks that plant something."""

    model: Any
    x: Any
    y: Any
    callbacks: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Case:
    """`rule` and `paths` (any of them; "*" as in a shell) name the planted fault, `step` the first record that shows it (None: it
    has none). A healthy training has no rule. `also` holds rules that are true of this model too because of this one fault, each
    with the paths where they are. `proved` tells without LayerFlow that the fault is there, or that a healthy training's result
    is good.
    """

    name: str
    make: Callable[[], Training]
    proved: Callable[[Any], bool] | None = None
    rule: str = ""
    paths: tuple[str, ...] = ()
    step: int | None = None
    also: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def names(self, one: Finding) -> bool:
        """Whether a finding is the planted fault, at its call and its step."""
        at_its_step = self.step is None or abs(one.step - self.step) <= EVERY
        return one.rule == self.rule and at_its_step and any(fnmatchcase(one.path, path) for path in self.paths)

    def allows(self, one: Finding) -> bool:
        """Whether a finding is one that the fault makes true as well."""
        return any(fnmatchcase(one.path, path) for path in self.also.get(one.rule, ()))
