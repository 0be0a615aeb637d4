"""Python objects as JSON that a browser reads without loss. Pure; knows nothing of HTTP."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

EXACT_IN_A_BROWSER = 2**53


def json_text(content: Any) -> str:
    """The content as JSON text: NaN and infinities are null, whole numbers beyond ±2^53 strings, numpy's own types plain."""
    return json.dumps(plain(content), allow_nan=False, ensure_ascii=False, separators=(",", ":"))


def plain(content: Any) -> Any:
    """The content in dicts, lists, strings, numbers, booleans and None."""
    if content is None or isinstance(content, str | bool | np.bool_):
        return bool(content) if isinstance(content, np.bool_) else content
    if isinstance(content, int | np.integer):
        return int(content) if abs(int(content)) <= EXACT_IN_A_BROWSER else str(int(content))
    if isinstance(content, float | np.floating):
        return float(content) if math.isfinite(content) else None
    if isinstance(content, Mapping):
        return {str(key): plain(entry) for key, entry in content.items()}
    if isinstance(content, np.ndarray):
        return plain(content.tolist())
    if isinstance(content, list | tuple):
        return [plain(entry) for entry in content]
    raise TypeError(f"JSON cannot hold a {type(content).__name__}. Received: {content!r}.")
