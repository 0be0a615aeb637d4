"""The calls of one step while it runs: a tree of nodes, and the paths that they get when it is whole. Knows no TensorFlow."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tb_layerflow.log import paths
from tb_layerflow.log.records import LOGITS

EAGER_REPEATS_KEPT = 64
"""In eager loops, more repeats than this of one layer under one parent are kept as first, last and a count."""


@dataclass(eq=False)
class Error:
    """What one backward pass brought to one output."""

    backward: int
    tensor: Any
    status: str = ""


@dataclass(eq=False)
class Leaf:
    """One tensor of a call while the step runs. `tensor` is what the statistics are taken from, None where there are none."""

    key: str
    tensor: Any
    shape: tuple[int, ...] | None
    dtype: str
    kind: str = ""
    status: str = ""
    error: str = ""
    op: str = ""
    source: tuple[Node, int] | None = None
    same_as_source: bool = False
    derived: list[tuple[Node, int]] = field(default_factory=list)
    passed_on: Any = None
    errors: list[Error] = field(default_factory=list)

    @property
    def _logits_key(self) -> str:
        return f"{self.key}/{LOGITS}" if self.key else LOGITS

    def at_logits(self) -> Leaf:
        """A port for the logits that made this output."""
        return Leaf(self._logits_key, None, self.shape, self.dtype, kind=LOGITS)

    def logits_among(self, outputs: list[Leaf]) -> Leaf | None:
        """The port of this output's logits among those of its call; None where it has none."""
        return next((leaf for leaf in outputs if leaf.kind == LOGITS and leaf.key == self._logits_key), None)


@dataclass(eq=False)
class Node:
    """One call while the step runs. `layer` is the layer object (or Keras operation); None for inputs, taps and functions.

    `repeated` is the call that this one runs again during a backward pass (such a node is in no tree), `recomputed` says that
    of the other.
    """

    layer: Any
    name: str
    type: str
    kind: str
    parent: Node | None
    inputs: list[Leaf] = field(default_factory=list)
    outputs: list[Leaf] = field(default_factory=list)
    children: list[Node] = field(default_factory=list)
    status: str = ""
    failed: bool = False
    training: bool = False
    traced_inside: bool = False
    repeats: int = 0
    repeated: Node | None = None
    recomputed: bool = False
    operations: tuple[int, int] = (0, 0)
    path: str = ""
    index: int = -1
    dead: bool = False

    def walk(self) -> Iterator[Node]:
        """This node and those below it, in the order in which they began."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting += reversed(node.children)


def walk(roots: list[Node]) -> Iterator[Node]:
    """All nodes below `roots`, in the order in which they began."""
    for root in roots:
        yield from root.walk()


def prune(roots: list[Node]) -> tuple[list[Node], int]:
    """Take out nodes marked dead that have no living child but inputs; returns the roots that stay and how many calls went."""
    everything = list(walk(roots))
    for node in reversed(everything):
        node.dead = node.dead and all(child.dead for child in node.children if child.kind != "input")
        if node.dead:
            for child in node.children:
                child.dead = True
    for node in everything:
        node.children = [child for child in node.children if not child.dead]
    return [root for root in roots if not root.dead], sum(node.dead and node.kind != "input" for node in everything)


def thin(roots: list[Node], keep: int = EAGER_REPEATS_KEPT) -> None:
    """Where one layer repeats more than `keep` times under one parent, keep its first and last call and the count."""
    for node in walk(roots):
        repeats: dict[int, list[Node]] = {}
        for child in node.children:
            repeats.setdefault(id(child.layer), []).append(child)
        dropped: set[int] = set()
        for same in repeats.values():
            if len(same) > keep and same[0].layer is not None:
                same[0].repeats = len(same) - 2
                dropped.update(id(child) for child in same[1:-1])
        if dropped:
            node.children = [child for child in node.children if id(child) not in dropped]


def assign_paths(roots: list[Node]) -> None:
    """Give every node its path.

    Two layers of one name below one parent are told apart by `~1`, `~2`, … behind the second's name; inputs of the root give
    way to calls of the same name.
    """
    if len(roots) == 1:
        roots[0].path = paths.ROOT
    else:
        _name(roots, None)
    for node in walk(roots):
        _name(node.children, node.path)


def number(roots: list[Node]) -> list[Node]:
    """Give every node its index; returns all nodes in order."""
    nodes = list(walk(roots))
    for index, node in enumerate(nodes):
        node.index = index
    return nodes


def _name(siblings: list[Node], parent: str | None) -> None:
    names: dict[object, str] = {}
    counts: dict[str, int] = {}
    taken: set[str] = set()
    for node in sorted(siblings, key=lambda sibling: sibling.kind == "input"):
        identity = id(node.layer) if node.layer is not None else (node.kind, node.name)
        if identity not in names:
            names[identity] = _free(node.name, taken)
            taken.add(names[identity])
        name = names[identity]
        node.path = paths.child(parent, name, counts.get(name, 0))
        counts[name] = counts.get(name, 0) + 1


def _free(name: str, taken: set[str]) -> str:
    candidate, count = name, 0
    while candidate in taken:
        count += 1
        candidate = f"{name}~{count}"
    return candidate
