"""What is kept of a step that raised: the calls that it had made, the failing ones marked. Never raises anything itself."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tb_layerflow.log import records

from . import calls, statistics
from .outcome import Outcome, Plan, conclude
from .recording import Recording
from .warn import without_colours

if TYPE_CHECKING:
    from .variants import Needs

_NODE = re.compile(r"\{\{node (\S+?)\}\}")
"""How TensorFlow's runtime names, in a message, the operation that failed."""
_LONGEST = 300

Kept = tuple[Outcome, dict[str, Any]]
"""The calls, and the arrays of a replica as they leave a step."""


def while_recorded(
    recording: Recording | None, error: Exception, needs: Needs, model: Any, execution: Callable[[], records.Execution]
) -> Kept | None:
    """The calls that ran, or were traced, before Python raised `error`; None where there are none or they cannot be told.

    What ran eagerly has its numbers. What was being traced has none: the step never ran.
    """
    try:
        if recording is None or recording.failure is not None or not recording.roots:
            return None
        eagerly = recording.graph is None
        outcome = _outcome(recording, needs, model, eagerly)
        outcome.graph.execution = execution()
        failed = [node for node in outcome.nodes if node.failed]
        innermost = failed[-1].path if failed else ""
        _note(outcome.graph, innermost, error, "" if eagerly else "while it was traced: its calls have no numbers")
        tensors = outcome.plan.tensors
        measured = statistics.measure(tensors, [None] * len(tensors), everything=needs.everything)
        outcome.plan.forget_tensors()
        return outcome, measured._asdict() | {"batch_size": recording.batch_size() if eagerly else 0}
    except Exception:  # the user's own error is what counts
        return None


def while_running(outcome: Outcome, error: Exception) -> Kept | None:
    """The calls of a step whose graph raised `error` when it ran; the one whose operation the error names is marked."""
    try:
        graph = replace(outcome.graph, calls=list(outcome.graph.calls), ledger=list(outcome.graph.ledger))
        named = set(_NODE.findall(str(error)))
        blamed = {op.call for op in graph.ops if op.name in named and op.call is not None}
        for call in sorted(blamed):
            above: int | None = call
            while above is not None:
                graph.calls[above] = replace(graph.calls[above], failed=True)
                above = graph.calls[above].parent
        innermost = graph.calls[min(blamed)].path if len(blamed) == 1 else ""
        _note(graph, innermost, error, "while it ran: no numbers came out of it")
        return replace(outcome, graph=graph, plan=Plan()), statistics.measure([], [])._asdict() | {"batch_size": 0}
    except Exception:  # the user's own error is what counts
        return None


def _outcome(recording: Recording, needs: Needs, model: Any, eagerly: bool) -> Outcome:
    """Nothing is dropped: a call that nothing depends on may be one whose reader never came to run."""
    results = [leaf.tensor for node in calls.walk(recording.roots) for leaf in node.outputs if leaf.tensor is not None]
    kinds = tuple(kind for kind in needs.kinds if kind != "errors")
    outcome = conclude(recording, results, model=model, selected=needs.selected, kinds=kinds, everything=needs.everything)
    if not eagerly:
        outcome.plan = Plan(everything=needs.everything)
    return outcome


def _note(graph: records.Graph, path: str, error: Exception, when: str) -> None:
    message = " ".join(without_colours(str(error)).split())[:_LONGEST]
    said = f"{type(error).__name__}: {message}" if message else type(error).__name__
    what = "raised" if path else "the step raised"
    graph.ledger.append(records.LedgerEntry(path, "", -1, "note", f"{what} {said}" + (f" ({when})" if when else "")))
