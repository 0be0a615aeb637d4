"""What the microscope must know of a layer: its type, the settings that matter, its weights. Knows Keras's names, not Keras."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tb_layerflow.analysis.explanation import Array, CannotExplain

WANTED_CONFIG_KEYS = frozenset({
    "activation", "alpha", "approximate", "axes", "axis", "center", "cropping", "data_format", "depth_multiplier",
    "dilation_rate", "dims", "epsilon", "filters", "groups", "interpolation", "invert", "kernel_size", "mask_value",
    "max_value", "negative_slope", "normalize", "offset", "output_padding", "padding", "pool_size", "rate", "renorm",
    "rms_scaling", "scale", "size", "strides", "target_shape", "theta", "threshold", "units",
})  # fmt: skip
"""The keys of `layer.get_config()` that formulas and windows read."""

CONFIG_BYTES = 4096


def wanted_config(config: Mapping[str, object]) -> str:
    """The part of `layer.get_config()` to keep, as JSON of at most 4 kB; what JSON cannot hold is left out.

    An activation that is an object keeps its class name and its own wanted settings.
    """
    kept: dict[str, object] = {}
    for key in sorted(WANTED_CONFIG_KEYS & config.keys()):
        value = config[key]
        if isinstance(value, Mapping):
            inner = value.get("config")
            value = {"class_name": str(value.get("class_name"))}
            value["config"] = json.loads(wanted_config(inner)) if isinstance(inner, Mapping) else str(inner)
        elif isinstance(value, (np.ndarray, np.generic)):
            value = value.tolist()
        try:
            text = json.dumps(value, allow_nan=False)
        except (TypeError, ValueError):
            continue
        if len(text) <= CONFIG_BYTES // 4:
            kept[key] = value
    text = json.dumps(kept)
    return text if len(text) <= CONFIG_BYTES else "{}"


@dataclass(frozen=True)
class LayerDescription:
    """A layer as one call of it ran.

    `config` holds what `wanted_config` keeps (a whole `get_config()` does too). `weights` maps the names in `layer.weights`, in
    that order, to arrays. `kind` is the call's: `layer` or `operation` (of `keras.ops`). `batch_size` is how many samples the
    step's batch had; None where it is not known. `dtype_policy` is Keras's name, e.g. `mixed_float16`; `family` is `keras` or
    `tf_keras`; `module` where the layer's class is defined, empty where that is not known.
    """

    type: str
    config: Mapping[str, object] = field(default_factory=dict)
    weights: Mapping[str, NDArray[np.generic]] = field(default_factory=dict)
    kind: str = "layer"
    training: bool = False
    trainable: bool = True
    batch_size: int | None = None
    dtype_policy: str = "float32"
    family: str = "keras"
    module: str = ""

    def check_class(self) -> None:
        """Refuse a class of the user's own that is only called like one of Keras's."""
        if self.module and self.module.split(".")[0] not in ("keras", "tf_keras", "tensorflow"):
            raise CannotExplain(f"This {self.type} is a class of {self.module[:80]}, not Keras's own.")

    def weight(self, *names: str) -> NDArray[np.generic] | None:
        """The weight of one of these names, without scope and `:0`; None where the layer has none."""
        for full, array in self.weights.items():
            if full.split("/")[-1].split(":")[0] in names:
                return array
        return None

    def needed(self, *names: str) -> NDArray[np.generic]:
        """The weight of one of these names; a sentence where it was not recorded."""
        array = self.weight(*names)
        if array is None:
            raise CannotExplain(f"The weight {names[0]!r} of this {self.type} was not recorded.")
        return array

    def number(self, key: str, default: float) -> float:
        """A setting that is one number."""
        value = self.config.get(key)
        if value is None:
            return default
        if isinstance(value, (int, float)):
            return float(value)
        raise CannotExplain(f"The setting {key} of this {self.type} is not one number: {value!r:.60}.")

    def axes(self, rank: int, key: str = "axis", default: int = -1) -> tuple[int, ...]:
        """A setting that is one axis or several, counted from the front."""
        value = self.config.get(key)
        several = value if isinstance(value, (list, tuple)) else (default if value is None else value,)
        return tuple(sorted(int(str(axis)) % rank for axis in several))

    @property
    def half(self) -> str:
        """`float16` or `bfloat16` where the layer computes in half precision, else empty."""
        name = self.dtype_policy.removeprefix("mixed_")
        return name if name in ("float16", "bfloat16") else ""


def rounded(array: NDArray[np.generic], half: str) -> NDArray[np.generic]:
    """Float numbers as the layer sees them when it computes in `float16` or `bfloat16`, kept in float32."""
    if not half or array.dtype.kind != "f":
        return array
    if half == "float16":
        return array.astype(np.float16).astype(np.float32)
    bits = array.astype(np.float32).view(np.uint32)
    even = (bits + 0x7FFF + ((bits >> 16) & 1)) & np.uint32(0xFFFF0000)
    cut: NDArray[np.float32] = np.where(np.isnan(array), np.float32(np.nan), even.view(np.float32))
    return cut


def numbers(array: NDArray[np.generic]) -> Array:
    """The numbers in float64."""
    return np.asarray(array).astype(np.float64)


def check_plain_kernel(layer: LayerDescription) -> None:
    """Refuse kernels that are not what the layer multiplies with."""
    for name, array in layer.weights.items():
        if "lora" in name:
            raise CannotExplain(f"This {layer.type} adds low-rank (LoRA) weights to its kernel; the microscope does not.")
        if name.split("/")[-1].endswith("kernel") and array.dtype.kind != "f":
            raise CannotExplain(f"The kernel of this {layer.type} is quantised to {array.dtype}; the microscope cannot undo it.")
