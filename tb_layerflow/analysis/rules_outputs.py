"""Findings about what layers put out: dead units, saturation, constant outputs, poor initialisation. Pure functions."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tb_layerflow.log.records import Call, Layer

from .limits import Limits
from .observed import Finding, Floats, Observed, is_kernel, usual_l2
from .states import staying

FEWEST = 16
"""Outputs of fewer elements tell nothing about their distribution."""
SIGNED, SHARES = ("tanh", "hard_tanh", "softsign"), ("sigmoid", "hard_sigmoid")
"""Activations whose bounds are -1 and 1, and 0 and 1."""
SQUASHING = (*SIGNED, *SHARES, "softmax")
"""Activations that put out numbers of one scale, whatever they get."""


def dead_units(observed: Observed, limits: Limits) -> list[Finding]:
    """Almost everything that a rectifying layer puts out is zero.

    Definition: the output's smallest value is exactly 0, its layer is a rectifier by its configuration (or, where that says
    nothing, has weights or gets negative inputs, and does not put out zeros only), its inputs are not one number, and at least
    `dead_share` of the elements are zero, and stay so (see `staying`). A unit that is zero for every
    sample has no gradient and cannot come back (Lu et al. 2019, Dying ReLU and initialization; healthy layers are half to nine
    tenths zero, Glorot et al. 2011, Deep sparse rectifier neural networks).
    """
    found = []
    for number, call, port in _measured(observed):
        low, share = observed.series("output", call.path, port, "min"), observed.share("output", call.path, port, "zero")
        if low is None or share is None or not rectifies(observed, number, call):
            continue
        place = staying((low == 0) & (share >= limits.dead_share), limits)
        is_known = _is_rectifier(observed, call)
        if place is not None and (is_known or share[place] < 1) and not observed.fed_nothing(number, place):
            reach = float(share[place])
            message = f"{reach:.1%} of what {call.path} puts out is zero: its units are dead for these samples."
            evidence = {"zero": reach, "limit": limits.dead_share, "port": port}
            found.append(Finding("dead_units", call.path, int(observed.steps[place]), message, evidence))
    return found


def rectifies(observed: Observed, number: int, call: Call) -> bool:
    """Whether the call cuts negative numbers off itself, rather than passing on what another cut."""
    layer = None if call.layer is None else observed.graph.layers[call.layer]
    if _is_rectifier(observed, call):
        return True
    if layer is not None and any(len(weight.shape) > 1 for weight in layer.weights):
        return observed.activation(call) == layer.type.lower()  # a layer whose configuration names no activation
    for port in range(len(call.inputs)):
        source = observed.origin(number, port)
        if source[0] >= 0:
            low = observed.series("output", observed.graph.calls[source[0]].path, source[1], "min")
            if low is not None and (low < 0).any():
                return True
    return False


def saturated(observed: Observed, limits: Limits) -> list[Finding]:
    """A tanh or sigmoid works at its bounds, where its gradient vanishes.

    Definition: the activation is one of SIGNED and the mean square of the output is at least `saturated`, or one of SHARES and
    four times the mean of y(1 - y) is at most 1 - `saturated`, and stays so (see `staying`); both are 1 minus the mean slope of
    the activation (of tanh and sigmoid), relative to its largest. The model's own outputs do not count: a sure classifier is no
    fault (Glorot and Bengio 2010, Understanding the difficulty of training deep feedforward neural networks).
    """
    found = []
    ends = _ends(observed)
    for number, call, port in _measured(observed):
        activation = observed.activation(call)
        if activation not in (*SIGNED, *SHARES) or (number, port) in ends or _has_no_bounds(call):
            continue
        mean, rms = observed.series("output", call.path, port, "mean"), observed.rms("output", call.path, port)
        if mean is None or rms is None:
            continue
        lost = rms**2 if activation in SIGNED else 1.0 - 4.0 * (mean - rms**2)
        place = staying(lost >= limits.saturated, limits)
        if place is not None:
            message = f"{call.path} is saturated: the mean slope of its {activation} is {1 - lost[place]:.2g} of the largest."
            evidence = {"lost slope": float(lost[place]), "limit": limits.saturated, "port": port}
            found.append(Finding("saturated", call.path, int(observed.steps[place]), message, evidence))
    return found


def _has_no_bounds(call: Call) -> bool:
    """Recurrent layers put out a product of their tanh and a gate."""
    return call.type in ("LSTM", "ConvLSTM1D", "ConvLSTM2D", "ConvLSTM3D", "LSTMCell")


def _ends(observed: Observed) -> set[tuple[int, int]]:
    """The leaf outputs that the root passes on, through layers without weights of one input too (a reshape)."""
    ends = set()
    for call in observed.graph.calls:
        if call.parent is None and call.kind != "input":
            for port in call.outputs:
                source = port.source
                while source is not None and source not in ends:
                    ends.add(source)
                    made = observed.graph.calls[source[0]]
                    is_plain = made.layer is None or not observed.graph.layers[made.layer].weights
                    only = made.inputs[0].source if is_plain and len(made.inputs) == 1 and made.kind != "input" else None
                    source = made.outputs[source[1]].source or only
    return ends


def constant(observed: Observed, limits: Limits) -> list[Finding]:
    """A layer puts out one and the same number, whatever it gets.

    Definition: the standard deviation over all elements is at most `constant` times the largest magnitude, for outputs of at
    least FEWEST elements, and stays so (see `staying`); a rectifier's zeros are `dead_units`' matter. Layers behind it that
    cannot but pass the constant on are not named again, nor layers without weights that get no floating numbers (a mask of
    ones).
    """
    found = []
    flat: dict[tuple[int, int], int] = {}
    for number, call, port in _measured(observed):
        spread, low, high = (observed.series("output", call.path, port, name) for name in ("std", "min", "max"))
        if spread is None or low is None or high is None or not _has_numbers(observed, call):
            continue
        reach = np.maximum(np.abs(low), np.abs(high))
        with np.errstate(invalid="ignore"):
            width = high - low
        place = staying((width <= limits.constant * reach) & (spread <= limits.constant * reach), limits)
        if place is None:
            continue
        flat[number, port] = place
        sources = [observed.origin(number, given) for given in range(len(call.inputs))]
        is_passed_on = bool(sources) and all(flat.get(source, place + 1) <= place for source in sources)
        is_dead = low[place] == high[place] == 0 and _is_rectifier(observed, call)
        if not is_passed_on and not is_dead:
            message = f"{call.path} puts out {float(high[place]):.4g} everywhere, whatever the sample is."
            evidence = {"std": float(spread[place]), "largest": float(reach[place]), "limit": limits.constant, "port": port}
            found.append(Finding("constant", call.path, int(observed.steps[place]), message, evidence))
    return found


def _has_numbers(observed: Observed, call: Call) -> bool:
    """Whether a call has weights, or gets floating numbers (or nobody knows what)."""
    layer = None if call.layer is None else observed.graph.layers[call.layer]
    given = [port.dtype for port in call.inputs]
    return bool(layer is not None and layer.weights) or not given or any(_is_floating(dtype) for dtype in given)


def _is_floating(dtype: str) -> bool:
    return dtype.startswith(("float", "bfloat"))


def _is_rectifier(observed: Observed, call: Call) -> bool:
    return observed.activation(call).startswith("relu")


def poor_initialisation(observed: Observed, limits: Limits) -> list[Finding]:
    """At the start, a layer with a kernel changes the scale of what flows through it many times over, or all its units are alike.

    Definition, at the first record if it is of one of the fit's first ten steps: the root mean square of the output over that of
    the input is above `initial_gain` or below `initial_fade`, and a kernel's l2 over that of a kernel of its shape as it usually
    starts (see `usual_l2`) is above 0.8 times the one or below twice the other: where its size is what it should be, inputs, a
    bias or chance did it. Before a squashing activation, whose output says nothing of it, the kernel's takes the place of both.
    Or a trainable kernel of more than one input and output holds one number only, which is not 0 (symmetry is then never
    broken). Kernels of zeros are named where they stay for `records` records because their gradient is exactly zero too; others
    are left out: people start residual branches and heads with them on purpose. Source: He et al. 2015, Delving deep into
    rectifiers, keep the scale of activations; Glorot and Bengio 2010. Healthy kernels are between 0.1 and 3 times the usual.
    """
    if not len(observed.steps) or observed.steps[0] >= 10:
        return []
    return [*_gains(observed, limits), *_alike(observed), *_zeros(observed, limits)]


def _gains(observed: Observed, limits: Limits) -> Iterator[Finding]:
    for number, call, port in _measured(observed):
        layer = None if call.layer is None else observed.graph.layers[call.layer]
        if layer is None or not any(is_kernel(weight) for weight in layer.weights) or not call.inputs:
            continue
        if call.type.endswith("Embedding"):  # its kernel is looked up, not multiplied
            continue
        before, after = _input_rms(observed, number), observed.rms("output", call.path, port)
        if before is None or after is None or not before[0] > 0 or not after[0] > 0:
            continue
        kernels, gain = list(_kernel_sizes(observed, layer)), float(after[0] / before[0])
        if observed.activation(call) in SQUASHING:
            gain = max(kernels, key=lambda one: abs(np.log(one)), default=1.0)
        is_loud = gain > limits.initial_gain and max(kernels, default=gain) > 0.8 * limits.initial_gain
        is_faint = gain < limits.initial_fade and min(kernels, default=gain) < 2 * limits.initial_fade
        if is_loud or is_faint:
            message = f"at the start {call.path} makes what flows through it {gain:.3g} times as large as it was."
            evidence = {"gain": gain, "limit": limits.initial_gain if is_loud else limits.initial_fade}
            yield Finding("poor_initialisation", call.path, int(observed.steps[0]), message, evidence)


def _kernel_sizes(observed: Observed, layer: Layer) -> Iterator[float]:
    """The l2 of each kernel that is not all zeros, at the first record, over that of one of its shape as it usually starts."""
    for number, weight in enumerate(layer.weights):
        size = observed.series("weight", layer.path, number, "l2") if is_kernel(weight) else None
        if size is not None and size[0] > 0:
            yield float(size[0] / usual_l2(weight, layer.type))


def _input_rms(observed: Observed, number: int) -> Floats | None:
    """Of a call's first input, where it is of floating numbers and one of the recorded."""
    call = observed.graph.calls[number]
    if not _is_floating(call.inputs[0].dtype):
        return None
    source = observed.origin(number, 0)
    if source[0] < 0:
        return observed.rms("input", call.path, 0)
    origin = observed.graph.calls[source[0]]
    if not _is_floating(origin.outputs[source[1]].dtype):
        return None
    return observed.rms("output", origin.path, source[1])


def _alike(observed: Observed) -> Iterator[Finding]:
    for layer in observed.graph.layers:
        for number, weight in enumerate(layer.weights):
            if not is_kernel(weight) or weight.shape[-1] < 2 or int(np.prod(weight.shape[:-1])) < 2:
                continue
            low, high = (observed.series("weight", layer.path, number, name) for name in ("min", "max"))
            if low is not None and high is not None and low[0] == high[0] != 0:
                message = f"every element of {layer.path}/{weight.name} starts as {low[0]:.4g}: its units can never differ."
                evidence = {"value": float(low[0]), "weight": weight.name}
                yield Finding("poor_initialisation", layer.path, int(observed.steps[0]), message, evidence)


def _zeros(observed: Observed, limits: Limits) -> Iterator[Finding]:
    for layer in observed.graph.layers:
        for number, weight in enumerate(layer.weights):
            if not (layer.trainable and is_kernel(weight)) or len(observed.steps) < limits.records:
                continue
            given = [observed.series(kind, layer.path, number, "l2") for kind in ("weight", "weight_gradient")]
            if all(series is not None and not series[: limits.records].any() for series in given):
                message = f"{layer.path}/{weight.name} starts as zeros, and no gradient ever changes them."
                evidence = {"value": 0.0, "weight": weight.name}
                yield Finding("poor_initialisation", layer.path, int(observed.steps[0]), message, evidence)


def _measured(observed: Observed) -> Iterator[tuple[int, Call, int]]:
    """The leaf outputs of floating numbers that have at least FEWEST elements in every record."""
    for number, call, port in observed.leaf_outputs():
        count = observed.series("output", call.path, port, "count")
        if count is None or not _is_floating(call.outputs[port].dtype):
            continue
        if not np.nanmin(np.where(np.isnan(count), np.inf, count)) < FEWEST:
            yield number, call, port
