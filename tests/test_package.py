"""What the distribution promises: entry points, dependencies, and the files that must ship."""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import tb_layerflow

ROOT = Path(__file__).parent.parent
SHIPPED = ["tb_layerflow/log/layerflow.proto", "tb_layerflow/plugin/http_api.md", "tb_layerflow/static/index.js"]


def test_tensorboard_finds_exactly_one_loader() -> None:
    found = importlib.metadata.entry_points().select(group="tensorboard_plugins", name="layerflow")
    assert [entry.value for entry in found] == ["tb_layerflow.plugin.loader:LayerFlowLoader"]


def test_the_command_is_installed() -> None:
    (command,) = importlib.metadata.entry_points().select(group="console_scripts", name="layerflow")
    assert callable(command.load())


def test_the_version_is_told_the_same_everywhere() -> None:
    assert tb_layerflow.__version__ == importlib.metadata.version("tb-layerflow")


def test_reading_needs_no_tensorflow_and_nothing_is_pinned_from_above() -> None:
    needed = [line for line in importlib.metadata.requires("tb-layerflow") or [] if "extra ==" not in line]
    assert {line.split(">")[0].split(";")[0].strip() for line in needed} == {"tensorboard", "numpy", "protobuf", "werkzeug"}
    assert not any("<" in line or "==" in line or "~" in line for line in needed)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[str]]:
    """Names in the wheel and in the sdist, made from a copy of what git would ship (setuptools writes beside the source)."""
    pytest.importorskip("build")
    out = tmp_path_factory.mktemp("dist")
    work = tmp_path_factory.mktemp("source")
    tracked = ["setup.py", "pyproject.toml", "MANIFEST.in", "LICENSE", "CHANGELOG.md", "tb_layerflow"]
    tracked += ["README.md"] if (ROOT / "README.md").exists() else []
    subprocess.run(["cp", "-r", *(str(ROOT / name) for name in tracked), str(work)], check=True)
    command = [sys.executable, "-m", "build", "--no-isolation", "--skip-dependency-check", "--outdir", str(out), str(work)]
    subprocess.run(command, check=True, capture_output=True, timeout=240)
    (wheel,), (sdist,) = out.glob("*.whl"), out.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        inside = {name.partition("/")[2] for name in archive.getnames()}
    return {"wheel": set(zipfile.ZipFile(wheel).namelist()), "sdist": inside}


@pytest.mark.parametrize("kind", ["wheel", "sdist"])
@pytest.mark.parametrize("file", SHIPPED)
def test_the_file_ships(built: dict[str, set[str]], kind: str, file: str) -> None:
    assert file in built[kind]


def test_every_file_of_the_page_ships(built: dict[str, set[str]]) -> None:
    page = {str(path.relative_to(ROOT)) for path in (ROOT / "tb_layerflow/static").rglob("*") if path.is_file()}
    assert page
    assert page <= built["wheel"]
    assert page <= built["sdist"]


def test_the_wheel_holds_no_tests_and_no_demo(built: dict[str, set[str]]) -> None:
    tops = {name.split("/")[0] for name in built["wheel"]}
    assert tops == {"tb_layerflow", f"tb_layerflow-{importlib.metadata.version('tb-layerflow')}.dist-info"}
