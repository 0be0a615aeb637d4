"""Findings about errors on their way back: exploding, vanishing, disconnected layers. Pure functions."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .limits import Limits
from .observed import Finding, Floats, Observed, is_kernel
from .states import lasting, staying

FIRST = 5
"""Records whose errors are what later ones are compared with."""


def exploding_errors(observed: Observed, limits: Limits) -> list[Finding]:
    """Errors grow many times over on their way back through the layers, or from one record to the next.

    Definition: (depth) the l2 of the error at some output is above `exploding_error` times the largest at the ends that
    depend on it (a model of several outputs has several, and their losses their weights), in `records` records in a row, or
    in one five times above; the finding names the call through which the error grew the most. (time) the largest l2 of all is
    above `exploding_growth` times the largest of the first FIRST records (a model that has learnt much gets errors again as
    large as at the start from a sample that is new to it), or a hundred times that where the loss is below all of theirs (a
    likelihood whose deviation shrinks has errors that grow while it falls); the finding names the last call whose own error
    grew as much: the first that the backward pass reached. Source: Pascanu et al. 2013, On the difficulty of training
    recurrent neural networks. Healthy trainings reach 50 and 10 times.
    """
    flow = _Flow(observed)
    if not flow.paths:
        return []
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = np.where(flow.end > 0, flow.l2 / flow.end, np.nan)
    largest = _largest(ratio)
    places = (lasting(largest > limits.exploding_error, limits.records), lasting(largest > 5 * limits.exploding_error, 1))
    if any(place is not None for place in places):
        place = min(place for place in places if place is not None)
        path, factor = flow.strongest(place)
        reach = float(largest[place])
        alone = f"{path} alone makes them {factor:.3g} times larger" if factor > 1 else f"the largest is that at {path}"
        message = f"errors are {reach:.3g} times as large as at the model's end; {alone}."
        evidence = {"ratio": reach, "factor": factor, "limit": limits.exploding_error}
        return [Finding("exploding_errors", path, int(observed.steps[place]), message, evidence)]
    return _growing(observed, limits, flow)


def _growing(observed: Observed, limits: Limits, flow: _Flow) -> list[Finding]:
    largest = _largest(flow.l2)
    usual = float(np.nanmax(np.nan_to_num(largest[:FIRST]), initial=0.0))
    loss = observed.losses.get("loss", np.zeros(0))
    for place in range(FIRST, len(largest)):
        is_better = len(loss) > place and loss[place] < np.min(loss[:FIRST])
        if usual > 0 and largest[place] > limits.exploding_growth * usual * (100 if is_better else 1):
            before = np.nan_to_num(flow.l2[:FIRST]).max(0)
            grown = np.flatnonzero(flow.l2[place] > limits.exploding_growth * before)
            path = flow.paths[int(grown[-1]) if len(grown) else int(np.nanargmax(flow.l2[place]))]
            factor = float(largest[place] / usual)
            message = f"the error at {path} is {factor:.3g} times as large as errors were at first."
            evidence = {"factor": factor, "usual": usual, "limit": limits.exploding_growth}
            return [Finding("exploding_errors", path, int(observed.steps[place]), message, evidence)]
    return []


def vanishing_errors(observed: Observed, limits: Limits) -> list[Finding]:
    """Almost nothing of the error reaches the layers at the model's beginning, or one of its branches.

    Definition: at an output of a layer with a trained kernel, the l2 of the error over that at the last output which depends
    on it is below `vanishing_error`, and stays so (see `staying`), for each layer that no other trained one comes before; or,
    if that is not so, below `vanishing_branch` for any layer, to the records' end. The finding names the call between the two
    through which it shrank the most, once, at the first record that shows it, and counts those that shrink it at least half
    as much (on a logarithmic scale): of many that each let a part through none is the cause alone. In a branch they must
    together account for half of it: a way around the branch is no shrinking. Of a call without weights that puts out fewer
    numbers than it gets, a factor of the root of their ratio does not count: an average shares the error out, and loses none
    of it. Ends where the error is itself almost zero (below 1e-12: the model has learnt all) do not count, nor calls that put
    out, or get, one number only: other findings name the cause. Source: Hochreiter 1991; Bengio et al. 1994, Learning
    long-term dependencies with gradient descent is difficult. Healthy trainings reach 5e-3 at the beginning; at the queries
    of an attention, whose softmax lets little through beside a way around it, 3e-6 for a while.
    """
    flow = _Flow(observed)
    if not flow.trained:
        return []
    end = flow.l2[:, flow.ends]
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = np.where(end > 1e-12, flow.l2 / end, np.nan)
    best = _largest(ratio[:, flow.firsts])
    found: dict[str, Finding] = {}
    start = staying(best < limits.vanishing_error, limits)
    if start is not None:
        given = [(int(flow.firsts[np.nanargmax(ratio[start, flow.firsts])]), start, limits.vanishing_error)]
    else:
        limit = limits.vanishing_branch
        places = ((index, staying(ratio[:, index] < limit, limits, until_the_end=True)) for index in flow.trained)
        given = [(index, place, limit) for index, place in places if place is not None]
    for index, place, limit in given:
        finding = _vanishing(observed, limit, flow, index, place, float(ratio[place, index]), is_branch=start is None)
        if finding is not None and (finding.path not in found or finding.step < found[finding.path].step):
            found[finding.path] = finding
    return list(found.values())


def _vanishing(
    observed: Observed, limit: float, flow: _Flow, index: int, place: int, ratio: float, *, is_branch: bool
) -> Finding | None:
    between = observed.behind[flow.numbers[index]]
    path, factor = flow.strongest(place, shrinking=True, among=between)
    number = observed.numbers[path]
    if observed.silent(number, place) or observed.fed_nothing(number, place):
        return None
    alike = {one: by for one, by in flow.factors(place, shared_out=False, among=between) if by <= np.sqrt(factor)}
    if is_branch and np.prod(list(alike.values())) > np.sqrt(ratio):
        return None
    count = len(alike) - 1
    others = f", and {count} other {'call shrinks' if count == 1 else 'calls shrink'} it too" if count else ""
    reach = f"only {ratio:.3g} of the error at {flow.paths[flow.ends[index]]} reaches {flow.paths[index]}"
    message = f"{reach}; {path} passes on {factor:.3g} of it{others}."
    evidence = {"ratio": ratio, "factor": factor, "limit": limit, "chain": list(alike)}
    if is_branch:
        evidence["branch"] = flow.paths[index]
    return Finding("vanishing_errors", path, int(observed.steps[place]), message, evidence)


class _Flow:
    """The l2 of the errors at all outputs of leaves and at those that groups make themselves, float64 [steps, outputs], in the
    order of the calls; NaN where it is not finite. `counts` are their elements.

    `ends` has, of each output, the last one that depends on it (itself if none does), and `end`, of the same form as `l2`, the
    largest of those that depend on it and that none depends on; `trained` the outputs of layers with trained kernels, and
    `firsts` those of them that no other comes before.
    """

    def __init__(self, observed: Observed) -> None:
        self._observed = observed
        self.numbers: list[int] = []
        self.paths: list[str] = []
        columns, counts = [], []
        for number, call in enumerate(observed.graph.calls):
            if call.parent is None or call.kind == "input":
                continue
            for port, tensor in enumerate(call.outputs):
                if number in observed.groups and tensor.source is not None:
                    continue
                series = observed.series("error", call.path, port, "l2")
                if series is not None and not tensor.error:
                    self.numbers.append(number)
                    self.paths.append(call.path)
                    columns.append(series)
                    counts.append(observed.series("error", call.path, port, "count"))
        found: Floats = np.array(columns).T if columns else np.zeros((len(observed.steps), 0))
        self.l2: Floats = np.where(np.isfinite(found), found, np.nan)
        self.counts: Floats = np.array(counts).T if counts else found
        self._position = {number: index for index, number in enumerate(self.numbers)}
        self._here = sum(1 << number for number in self._position)
        self._readers: list[list[int]] = [[] for _ in self.numbers]
        for index, number in enumerate(self.numbers):
            for source in observed.sources(number, derived=True):
                if source in self._position:
                    self._readers[self._position[source]].append(index)
        self.ends = self._ends()
        self.end = self._largest_ends()
        self.trained = [index for index, number in enumerate(self.numbers) if self._is_trained(number)]
        self.firsts = self._firsts()

    def _ends(self) -> list[int]:
        return [self._position[last] for last in (self._with_errors(number).bit_length() - 1 for number in self.numbers)]

    def _largest_ends(self) -> Floats:
        ends = [number for number in self._position if self._with_errors(number) == 1 << number]
        found: Floats = np.array([
            np.fmax.reduce([self.l2[:, self._position[end]] for end in ends if self._with_errors(number) >> end & 1])
            for number in self.numbers
        ]).T  # fmt: skip
        return found

    def _with_errors(self, number: int) -> int:
        """A call and those behind it, as far as they are here: bit n stands for call n."""
        return (self._observed.behind[number] | 1 << number) & self._here

    def _is_trained(self, number: int) -> bool:
        layer = self._observed.graph.calls[number].layer
        return layer is not None and any(is_kernel(one) for one in self._observed.graph.layers[layer].weights)

    def _firsts(self) -> list[int]:
        after = 0
        for number, behind in enumerate(self._observed.behind):
            after |= behind if self._is_trained(number) else 0
        return [index for index in self.trained if not after >> self.numbers[index] & 1]

    def strongest(self, place: int, *, shrinking: bool = False, among: int | None = None) -> tuple[str, float]:
        """The call that changed the error the most at one record, and by what factor, from its output back to its inputs."""
        choose = min if shrinking else max
        changes = [*self.factors(place, shared_out=not shrinking, among=among), (self.paths[0], 1.0)]
        return choose(changes, key=lambda one: one[1])

    def factors(self, place: int, *, shared_out: bool, among: int | None = None) -> Iterator[tuple[str, float]]:
        """(path, factor) of each call (`among` some: bit n stands for call n) whose inputs have an error; with `shared_out`, what
        averages share out counts as lost, and what plain operations do between two calls as the later one's. An error in which
        those of several readers meet has grown through the one that has the largest.
        """
        for index, number in enumerate(self.numbers):
            call = self._observed.graph.calls[number]
            before_it = self._observed.sources(number, derived=shared_out)
            sources = [self._position[source] for source in before_it if source in self._position]
            if (among is not None and not among >> number & 1) or not sources or not self.l2[place, index] > 0:
                continue
            before = max(sources, key=lambda source: np.nan_to_num(self.l2[place, source], nan=-1.0))
            if np.nanmax(self.l2[place, self._readers[before]]) > self.l2[place, index]:
                continue
            factor = float(self.l2[place, before] / self.l2[place, index])
            layer = None if call.layer is None else self._observed.graph.layers[call.layer]
            if not shared_out and (layer is None or not layer.weights):
                factor /= min(np.sqrt(self.counts[place, index] / self.counts[place, before]), 1.0)
            if np.isfinite(factor):
                yield call.path, factor


def _largest(values: Floats) -> Floats:
    """The largest of each row that is a number; NaN where there is none."""
    filled = np.where(np.isnan(values), -np.inf, values).max(1, initial=-np.inf)
    found: Floats = np.where(np.isneginf(filled), np.nan, filled)
    return found


def disconnected(observed: Observed, limits: Limits) -> list[Finding]:
    """A layer with trainable weights runs, but no error reaches them: the loss does not depend on it.

    Definition: the step's tape was asked for the gradient of a trainable weight, and gave none. (An operation without a gradient,
    `stop_gradient`, or an output that the loss does not use; calls that nothing depends on are not in the graph.)
    """
    trainable = {layer.path for layer in observed.graph.layers if layer.trainable}
    paths = {
        entry.path: entry.reason
        for entry in observed.ledger
        if entry.kind == "weight_gradient" and entry.reason == "not connected" and entry.path in trainable
    }
    if not len(observed.steps):
        return []
    step = int(observed.steps[0])
    return [
        Finding("disconnected", path, step, f"no gradient reaches the weights of {path}: the loss does not depend on them.",
                {"reason": reason})
        for path, reason in paths.items()
    ]  # fmt: skip
