"""Imports go one way (DESIGN section 3): reads the package's source, and starts fresh interpreters where that is not enough."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "tb_layerflow"

# What each part may import of the others; what those may import in turn is included.
ARROWS = {
    "log": set(),
    "analysis": {"log"},  # the dataclasses of `log.records`: what rules judge are decoded records
    "capture": {"log", "analysis"},
    "_reader": {"log", "analysis"},
    "reader": {"_reader", "log", "analysis"},
    "plugin": {"reader", "_reader", "log", "analysis"},
    "summary": {"_summary", "capture", "_reader"},
    "_summary": {"capture", "reader", "_reader", "log"},
    "show": {"reader", "log", "analysis"},
    "operations": {"show", "reader", "log", "analysis"},
    "doctor": {"reader", "log"},
    "cli": {"show", "operations", "doctor", "reader", "plugin", "log", "analysis"},
    "__init__": {"summary", "reader", "capture"},
}
WITHOUT_TENSORFLOW = {"log", "analysis", "plugin", "_reader", "reader", "show", "operations", "doctor", "cli"}
TENSORFLOW = {"tensorflow", "keras", "tf_keras"}


def part(file: Path) -> str:
    return file.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported(source: str, package: str = "tb_layerflow") -> set[str]:
    """Dotted names of every module that the source, of a module in `package`, imports, wherever the statement stands."""
    names = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            names |= {".".join([*above, *filter(None, [node.module]), alias.name]) for alias in node.names}
    return names


def forbidden(own: str, names: set[str]) -> set[str]:
    """Those of the imported names that the part `own` may not import."""
    bad = set()
    for name in names:
        root, _, rest = name.partition(".")
        if root == "tb_layerflow" and rest:
            other = rest.split(".")[0]
            if other in ARROWS and other not in ARROWS[own] | {own}:
                bad.add(name)
        if root in TENSORFLOW and own in WITHOUT_TENSORFLOW:
            bad.add(name)
    return bad


SOURCES = sorted(path for path in PACKAGE.rglob("*.py") if path.name != "layerflow_pb2.py")


@pytest.mark.parametrize("file", SOURCES, ids=lambda file: str(file.relative_to(PACKAGE)))
def test_no_import_points_back(file: Path) -> None:
    package = ".".join(file.relative_to(PACKAGE.parent).parent.parts)
    assert forbidden(part(file), imported(file.read_text(encoding="utf-8"), package)) == set()


def test_the_walk_sees_an_import_that_points_back() -> None:
    backwards = "def f():\n  from tb_layerflow.capture import taps\n  import tensorflow as tf\n  from ..plugin import routes\n"
    found = forbidden("log", imported(backwards, "tb_layerflow.log"))
    assert found == {"tb_layerflow.capture.taps", "tensorflow", "tb_layerflow.plugin.routes"}


def test_every_part_has_its_arrows() -> None:
    parts = {part(file) for file in SOURCES}
    assert parts - set(ARROWS) - {"version"} == set()


def loaded_after(statement: str) -> set[str]:
    """Top-level modules in `sys.modules` of a fresh interpreter that ran the statement."""
    program = f"{statement}\nimport sys; print(*{{name.split('.')[0] for name in sys.modules}})"
    command = [sys.executable, "-c", program]
    return set(subprocess.run(command, capture_output=True, text=True, check=True, cwd=PACKAGE.parent).stdout.split())


def test_importing_the_package_imports_neither_tensorflow_nor_tensorboard() -> None:
    assert loaded_after("import tb_layerflow") & (TENSORFLOW | {"tensorboard", "numpy"}) == set()


def test_the_loader_imports_no_tensorflow_and_nothing_heavy() -> None:
    heavy = TENSORFLOW | {"numpy", "google", "werkzeug"}
    before = loaded_after("import tensorboard.plugins.base_plugin")
    assert (loaded_after("import tb_layerflow.plugin.loader") - before) & heavy == set()


def test_the_reader_imports_no_tensorflow() -> None:
    assert loaded_after("import tb_layerflow.reader") & TENSORFLOW == set()
