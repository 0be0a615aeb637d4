"""How the faults of the fifth suite are planted where `planting` has no tool for it, and proofs that the fourth suite has not."""

from __future__ import annotations

from typing import Any

import numpy as np
from keras import optimizers

from .fourth_proofs import finite, gradients, skipped
from .planting import STEPS
from .witness import Witness


class Masked(optimizers.SGD):  # type: ignore[misc]
    """SGD with momentum that multiplies the gradients of one layer by a mask of zeros."""

    def __init__(self, rate: float, layer: str) -> None:
        super().__init__(rate, momentum=0.9)
        self.layer = layer

    def apply(self, grads: Any, trainable_variables: Any = None) -> Any:
        mask = [0.0 if self.layer in variable.path.split("/") else 1.0 for variable in trainable_variables]
        return super().apply([each * by for each, by in zip(grads, mask, strict=True)], trainable_variables)


def chaos(x: Any) -> Any:
    """Forty turns of the logistic map in 0 … 1, each of which doubles differences."""
    for _ in range(40):
        x = 4 * x * (1 - x)
    return x


def finite_until(witness: Witness, step: int) -> bool:
    """The weights of all steps up to this one, and the losses before it, are finite; its loss is not."""
    return finite(*witness.before[step], *witness.losses[:step]) and not finite(witness.losses[step])


def missing_input(witness: Witness, step: int) -> bool:
    """The batch of a step is the first that is not finite, and so is its loss."""
    earlier = all(finite(witness.batch(at)[0]) for at in range(step))
    return earlier and not finite(witness.batch(step)[0]) and finite_until(witness, step)


def broken_weight(witness: Witness, name: str, step: int) -> bool:
    """In a step a layer's kernel, and no layer's input or other weight, is not finite (the witness looks after the callbacks)."""
    others = [layer.name for layer in witness.model.layers if layer.name != name]
    well = finite(*(weight for other in others for weight in witness.weights(other, step)), *witness.losses[:step])
    put_in, put_out, _ = witness.flow(step, name)[0]
    return well and finite(put_in) and not finite(put_out) and not finite(witness.weights(name, step)[0])


def bad_way_back(witness: Witness, name: str, *below: str) -> bool:
    """In the first step a layer's input, output and the loss are finite, and the gradients of layers below are not."""
    put_in, put_out, _ = witness.flow(0, name)[0]
    return finite(put_in, put_out, witness.losses[0]) and not any(finite(gradient) for gradient in gradients(witness, 0, *below))


def skips_from(witness: Witness, step: int, count: int) -> bool:
    """`count` steps from this one on change no weight, and all earlier ones did."""
    return all(skipped(witness, step + more) for more in range(count)) and not any(skipped(witness, at) for at in range(step))


def climbs(witness: Witness) -> bool:
    """The loss of the last ten steps is at least a tenth above the first ten's."""
    return bool(np.mean(witness.losses[-10:]) > 1.1 * np.mean(witness.losses[:10]))


def always_small(witness: Witness, first: int, *names: str) -> bool:
    """From a step on, the largest weight of each layer moves by less than a hundred thousandth of itself, and moves."""
    found = [witness.ratio(name, step) for name in names for step in range(first, min(first + 10, STEPS))]
    return min(found) > 0 and max(found) < 1e-5
