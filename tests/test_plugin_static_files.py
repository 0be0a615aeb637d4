"""The page's files, and nothing else on the disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from tb_layerflow.plugin.static_files import read


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    page = tmp_path / "static"
    (page / "fonts").mkdir(parents=True)
    (page / "index.js").write_text("export function render() {}")
    (page / "fonts" / "a.woff2").write_bytes(b"font")
    (page / "notes.py").write_text("print()")
    (tmp_path / "static_secret").mkdir()
    (tmp_path / "static_secret" / "key.txt").write_text("secret")
    (tmp_path / "key.txt").write_text("secret")
    (page / "link.txt").symlink_to(tmp_path / "key.txt")
    return page


def test_a_file_comes_with_its_type(folder: Path) -> None:
    assert read(folder, "index.js") == (b"export function render() {}", "text/javascript")
    assert read(folder, "fonts/a.woff2") == (b"font", "font/woff2")


@pytest.mark.parametrize(
    "name",
    [
        "", ".", "..", "/", "missing.js", "fonts", "notes.py", "../key.txt", "fonts/../../key.txt", "/etc/passwd", "//key.txt",
        "..\\key.txt",
        "%2e%2e/key.txt", "../static_secret/key.txt", "link.txt", "index.js\0.txt", "index.js/", "a" * 5000 + ".js",
    ],
)  # fmt: skip
def test_nothing_else_is_served(folder: Path, name: str) -> None:
    assert read(folder, name) is None


def test_an_absolute_path_is_not_followed(folder: Path) -> None:
    assert read(folder, str(folder.parent / "key.txt")) is None
