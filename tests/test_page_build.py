"""The committed page is what its source builds, byte for byte, and stays small."""

from __future__ import annotations

import gzip
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FRONTEND = ROOT / "frontend"
STATIC = ROOT / "tb_layerflow" / "static"

LARGEST_PAGE = 150_000
"""Bytes, compressed, of all files together."""


def run(*command: str) -> None:
    done = subprocess.run(command, cwd=FRONTEND, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, f"`{' '.join(command)}` in frontend/ failed:\n{done.stdout}{done.stderr}"


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files of a build made now."""
    for tool in ("node", "npm"):
        assert shutil.which(tool), f"The page is built with Node.js 20 or newer, but {tool} is not on PATH. Please install it."
    if not (FRONTEND / "node_modules").is_dir():
        run("npm", "ci", "--no-audit", "--no-fund", "--loglevel=error")
    target = tmp_path_factory.mktemp("page") / "static"
    run("node", "build.mjs", str(target))
    return contents(target)


def test_the_committed_page_equals_a_fresh_build(fresh: dict[str, bytes]) -> None:
    committed = contents(STATIC)
    assert sorted(committed) == sorted(fresh), "Run `make page` and commit tb_layerflow/static."
    differing = [name for name in sorted(fresh) if committed[name] != fresh[name]]
    assert not differing, f"{differing} are not what frontend/ builds. Run `make page` and commit tb_layerflow/static."


def test_the_page_is_small(fresh: dict[str, bytes]) -> None:
    assert sum(len(gzip.compress(content, 9)) for content in fresh.values()) <= LARGEST_PAGE


def test_the_page_holds_what_tensorboard_loads(fresh: dict[str, bytes]) -> None:
    assert {"index.js", "layout.worker.js", "LICENCES.txt"} <= set(fresh)


def test_every_bundled_package_has_its_licence(fresh: dict[str, bytes]) -> None:
    licences = fresh["LICENCES.txt"].decode()
    for package in ("@dagrejs/dagre", "@preact/signals", "@preact/signals-core", "preact", "uplot"):
        assert f"{package} " in licences
    assert licences.count("Permission is hereby granted") >= 5


def test_the_page_makes_no_code_from_text(fresh: dict[str, bytes]) -> None:
    for name, content in fresh.items():
        if name.endswith(".js"):
            for forbidden in (b"eval(", b"new Function(", b"createObjectURL"):
                assert forbidden not in content, f"{name} holds {forbidden.decode()}"


def test_the_source_makes_no_html_from_text() -> None:
    for path in sorted((FRONTEND / "src").rglob("*.ts*")):
        text = path.read_text(encoding="utf-8")
        assert not re.search("innerHTML|insertAdjacentHTML", text), f"{path.relative_to(ROOT)} writes HTML"


def test_only_one_file_fetches() -> None:
    sources = {path.name: path.read_text(encoding="utf-8") for path in (FRONTEND / "src").rglob("*.ts*")}
    fetching = [name for name, text in sources.items() if re.search(r"\bfetch\(|XMLHttpRequest", text)]
    assert fetching == ["api.ts"]
