"""Which findings are causes and which follow from them: one cause is one finding, at the call nearest to it. Pure functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from .limits import Limits
from .observed import Finding, Observed

HERE, HERE_AND_BEFORE, BEHIND, HERE_AND_BEHIND = "here", "here and before", "behind", "here and behind"
LINKED, ANYWHERE, LATER = "linked", "anywhere", "later"
"""Where a consequence stands: at the cause's call; at that or one that it depends on; at one that depends on it; at that or one
that depends on it; at one of all these; anywhere; anywhere, in a later record than the cause.
"""

_STILL = ("unchanged_weights", "update_too_small")
_SILENT: Mapping[str, str] = {
    **dict.fromkeys(("constant", "dead_units", "saturated", "poor_initialisation"), BEHIND),
    "worse_readout": HERE_AND_BEHIND, "vanishing_errors": HERE,
    **dict.fromkeys((*_STILL, "exploding_errors", "update_too_large"), LINKED),
}  # fmt: skip
_WILD: Mapping[str, str] = dict.fromkeys(
    ("saturated", "dead_units", "constant", "exploding_errors", "vanishing_errors", "update_too_large", "worse_readout", *_STILL),
    LATER,
)
CONSEQUENCES: Mapping[str, Mapping[str, str]] = {
    "dead_units": _SILENT,
    "constant": _SILENT,
    "saturated": {**dict.fromkeys((*_STILL, "vanishing_errors"), HERE_AND_BEFORE), "worse_readout": HERE_AND_BEHIND},
    "vanishing_errors": {
        **dict.fromkeys((*_STILL, "worse_readout"), HERE_AND_BEFORE), **dict.fromkeys(("constant", "dead_units"), BEHIND)
    },
    "exploding_errors": _WILD,
    "update_too_large": _WILD,
    "poor_initialisation": {
        **dict.fromkeys(("saturated", "dead_units", "constant"), BEHIND), "worse_readout": HERE_AND_BEHIND,
        **dict.fromkeys((*_STILL, "update_too_large"), LINKED),
    },
    "disconnected": dict.fromkeys((*_STILL, "vanishing_errors", "worse_readout"), LINKED),
    "loss_scaler_skips": dict.fromkeys(_STILL, ANYWHERE),
    "update_too_small": {"unchanged_weights": ANYWHERE},
    "worse_readout": {},
    "unchanged_weights": {},
}  # fmt: skip
"""By rule, what follows from it, and where. Of updates that are too small unchanged weights do where they round to nothing."""
_AT = " · "
"""Between the rule and the path of what a finding explains."""
BLOCKING = tuple(rule for rule in CONSEQUENCES if rule != "update_too_small")
"""Rules that say why a loss does not fall."""


def attributed(
    found: Sequence[Finding], observed: Observed, limits: Limits, trend_before: Callable[[int], float]
) -> list[Finding]:
    """The findings that follow from no other; the others stand in their cause's evidence, under `explains`.

    Definition: a finding follows from another if it is of a rule and at a place that CONSEQUENCES names, and was found no more
    than `records` records before it where it is one of things that come back or stay (a fault may take some to show), or if it
    is the same fault of another call of the same layer. Layers that get no more errors may become silent themselves, later: no
    one holds them. A wild error spoils what comes back through earlier calls in its own record already, and in the fit's first
    step, before any update, all that is linked. That the loss does not fall follows from any of them unless it did not fall
    before (`trend_before`, of a step); if it rose, what is wild later follows from that. Dead units beside living ones (`units`
    in the evidence) explain nothing but what can be read from them; a kernel of one number (`value`) also what its own layer
    puts out. A model with a `branch` that errors do not reach may well learn by the others.
    """
    places = _Places(observed)

    def follows(one: Finding, cause: Finding) -> bool:
        if one.rule == cause.rule and one.path != cause.path and places.is_same_layer(one, cause):
            return abs(one.step - cause.step) <= limits.records
        if cause.rule == "loss_does_not_fall":
            return _WILD.get(one.rule) == LATER and trend_before(one.step) > limits.loss_trend
        if one.rule == "loss_does_not_fall" and cause.rule in BLOCKING:
            return "branch" not in cause.evidence and trend_before(cause.step) == -np.inf
        where = CONSEQUENCES.get(cause.rule, {}).get(one.rule)
        if where == LATER:
            at_once = (cause.rule, one.rule) == ("exploding_errors", "update_too_large") and one.step == cause.step
            return one.step > cause.step or (at_once and places.holds(HERE_AND_BEFORE if one.step else LINKED, one, cause))
        if "units" in cause.evidence and one.rule != "worse_readout":
            return False
        if cause.rule in ("dead_units", "constant") and where == BEHIND and one.step > cause.step:
            where = LINKED
        if cause.rule == "poor_initialisation" and where == BEHIND and "value" in cause.evidence:
            where = HERE_AND_BEHIND
        slack = limits.records if one.rule in ("vanishing_errors", "worse_readout", *_STILL) else 0
        since = observed.steps[max(int((observed.steps < cause.step).sum()) - slack, 0)]
        return where is not None and one.step >= since and places.holds(where, one, cause)

    causes = [[place for place, cause in enumerate(found) if cause is not one and follows(one, cause)] for one in found]
    explained: dict[int, list[str]] = {}
    for place, one in enumerate(found):
        root, seen = place, {place}
        while (further := next((cause for cause in causes[root] if cause not in seen), None)) is not None:
            root = further
            seen.add(root)
        if root != place and not causes[root]:
            explained.setdefault(root, []).append(f"{one.rule}{_AT}{one.path}")
        else:
            explained.setdefault(place, [])
    return [replace(found[place], evidence={**found[place].evidence, **({"explains": names} if names else {})})
            for place, names in sorted(explained.items())]  # fmt: skip


def rules_of(finding: Finding) -> set[str]:
    """The finding's own rule and those of what it explains."""
    return {finding.rule, *(text.partition(_AT)[0] for text in finding.evidence.get("explains", ()))}


class _Places:
    """Where findings stand to each other in the graph, as far as edges are known."""

    def __init__(self, observed: Observed) -> None:
        self._observed = observed
        self._before = self._ancestors()
        self._known: dict[str, list[int]] = {}

    def holds(self, where: str, one: Finding, cause: Finding) -> bool:
        if where == ANYWHERE or "." in (one.path, cause.path):
            return True
        here, there = self._leaves(one.path), self._leaves(cause.path)
        is_here = bool(set(here) & set(there))
        is_before = any(self._before[late] >> early & 1 for early in here for late in there)
        is_behind = any(self._before[late] >> early & 1 for early in there for late in here)
        return {
            HERE: is_here,
            HERE_AND_BEFORE: is_here or is_before,
            BEHIND: is_behind and not is_here,
            HERE_AND_BEHIND: is_here or is_behind,
            LINKED: is_here or is_before or is_behind,
        }[where]

    def is_same_layer(self, one: Finding, cause: Finding) -> bool:
        """Whether both are calls of one layer, the cause the earlier."""
        calls, numbers = self._observed.graph.calls, self._observed.numbers
        early, late = numbers.get(cause.path), numbers.get(one.path)
        return early is not None and late is not None and early < late and calls[early].layer == calls[late].layer is not None

    def _leaves(self, path: str) -> list[int]:
        """The calls that a path stands for, and of groups those inside."""
        if path not in self._known:
            found = self._observed.calls_of(path)
            for number in found:
                if number in self._observed.groups:
                    inside = enumerate(self._observed.graph.calls)
                    found += [inner for inner, call in inside if call.parent == number and call.kind != "input"]
            self._known[path] = [number for number in found if number not in self._observed.groups]
        return self._known[path]

    def _ancestors(self) -> list[int]:
        """Of each call, the calls that its inputs depend on: bit n stands for call n. One whose inputs come from nobody knows
        where depends on the one before it.
        """
        observed, found = self._observed, []
        previous = -1
        for number, call in enumerate(observed.graph.calls):
            if number in observed.groups:
                found.append(0)
                continue
            sources = [source for source in observed.sources(number, derived=True) if source < number]
            if not sources and call.kind != "input" and previous >= 0:
                sources = [previous]
            before = 0
            for source in sources:
                before |= 1 << source | found[source]
            found.append(before)
            previous = number if call.kind != "input" else previous
        return found
