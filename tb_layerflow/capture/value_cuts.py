"""What goes first when exact values are over a limit. Pure; knows no TensorFlow and no files.

Whole tensors go, in this order: inputs and weights; errors; outputs of calls that reshape, normalise or activate; other outputs;
outputs of weighted layers; labels. Within each of these the largest goes first, of equal ones the one recorded last.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from tb_layerflow.log.records import LABEL, WEIGHT_KINDS, Graph

Row = tuple[str, int, int]
"""(kind, call, port); for weights (kind, layer, weight)."""

INPUTS_AND_WEIGHTS, ERRORS, MOVED_OUTPUTS, OTHER_OUTPUTS, WEIGHTED_OUTPUTS, LABELS = range(6)

_MOVES = re.compile(
    r"Flatten|Reshape|Permute|Transpose|RepeatVector|ZeroPadding\dD|Cropping\dD|Squeeze|ExpandDims|GetItem|Identity|Cast|"
    r"\w*Normalization|Rescaling|Masking|"
    r"Activation|(P|Leaky|Thresholded)?Re[Ll][Uu]6?|[ES]ELU|Elu|Selu|Gelu|Softmax|LogSoftmax|Sigmoid|Tanh|Silu|HardSwish|"
    r"(Spatial)?Dropout(\dD)?|(Alpha|Gaussian)Dropout|GaussianNoise|ActivityRegularization"
)


def importance(graph: Graph, rows: Iterable[Row]) -> int:
    """Which of the classes above a tensor belongs to; one that is several things has the best of them."""
    return max(_importance(graph, *row) for row in rows)


def _importance(graph: Graph, kind: str, number: int, port: int) -> int:
    if kind == "input" or kind in WEIGHT_KINDS:
        return INPUTS_AND_WEIGHTS
    if kind.startswith("error"):
        return ERRORS
    if kind == LABEL:
        return LABELS
    call = graph.calls[number]
    if _MOVES.fullmatch(call.type):
        return MOVED_OUTPUTS
    return WEIGHTED_OUTPUTS if call.layer is not None and graph.layers[call.layer].weights else OTHER_OUTPUTS


def cut(tensors: Sequence[tuple[int, int]], limit: int) -> set[int]:
    """Which of the tensors (importance, bytes) go, by their place, so that the others have at most `limit` bytes together."""
    over = sum(size for _, size in tensors) - limit
    gone: set[int] = set()
    for place in sorted(range(len(tensors)), key=lambda place: (tensors[place][0], -tensors[place][1], -place)):
        if over <= 0:
            break
        if tensors[place][1]:
            gone.add(place)
            over -= tensors[place][1]
    return gone
