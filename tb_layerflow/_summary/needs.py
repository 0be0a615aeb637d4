"""Says what to install where there is no TensorFlow to record with. Imports it only when asked to."""

from __future__ import annotations


def tensorflow() -> None:
    """ModuleNotFoundError with what to install, where there is no TensorFlow in this environment."""
    try:
        import tensorflow  # noqa: F401
    except ModuleNotFoundError as error:
        if error.name != "tensorflow":
            raise
        raise ModuleNotFoundError(
            "Recording needs TensorFlow, which is not installed here: run `pip install 'tb-layerflow[tensorflow]'`. "
            "Reading does not need it: tb_layerflow.reader.",
            name=error.name,
        ) from error
