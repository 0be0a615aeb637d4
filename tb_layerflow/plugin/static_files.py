"""The built page: which files exist and what they are. Knows nothing of logs; serves no file outside its own folder."""

from __future__ import annotations

import os
from pathlib import Path

CONTENT_TYPES = {
    ".js": "text/javascript",
    ".css": "text/css",
    ".html": "text/html",
    ".json": "application/json",
    ".map": "application/json",
    ".txt": "text/plain",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".woff2": "font/woff2",
    ".wasm": "application/wasm",
}


def read(folder: str | Path, name: str) -> tuple[bytes, str] | None:
    """Bytes and content type of the file, or None where the folder has no such file of a known type.

    `name` comes from the address and may hold anything: it is resolved, links included, and must end up inside the folder.
    """
    content_type = CONTENT_TYPES.get(os.path.splitext(name)[1])
    if content_type is None or "\0" in name or "\\" in name:
        return None
    root = os.path.realpath(folder)
    path = os.path.realpath(os.path.join(root, name))
    if os.path.commonpath([root, path]) != root or not os.path.isfile(path):
        return None
    with open(path, "rb") as file:
        return file.read(), content_type
