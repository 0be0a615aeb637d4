"""The generated protobuf module: it is that of layerflow.proto, and clashes with nobody's."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tb_layerflow.log import layerflow_pb2 as pb

ROOT = Path(__file__).parent.parent
LOG = ROOT / "tb_layerflow" / "log"


def test_the_file_has_a_name_and_a_package_of_its_own() -> None:
    assert pb.DESCRIPTOR.name == "tb_layerflow/log/layerflow.proto"
    assert pb.DESCRIPTOR.package == "layerflow"


def test_the_module_has_the_messages_and_field_numbers_of_the_proto() -> None:
    text = re.sub(r"//.*", "", (LOG / "layerflow.proto").read_text())
    text = re.sub(r"enum \w+ \{[^}]*\}", "", text)
    written = {name: dict(re.findall(r"(\w+) = (\d+);", body)) for name, body in re.findall(r"message (\w+) \{([^}]*)\}", text)}
    generated = {
        name: {field.name: str(field.number) for field in message.fields}
        for name, message in pb.DESCRIPTOR.message_types_by_name.items()
    }
    assert generated == written


@pytest.mark.parametrize(("option", "file"), [("--python_out=.", "layerflow_pb2.py"), ("--pyi_out=.", "layerflow_pb2.pyi")])
def test_generating_again_gives_no_difference(option: str, file: str, tmp_path: Path) -> None:
    pytest.importorskip("grpc_tools", reason="needs grpcio-tools 1.62.3: a newer one makes code that old protobufs refuse")
    copy = tmp_path / "tb_layerflow" / "log"
    copy.mkdir(parents=True)
    (copy / "layerflow.proto").write_bytes((LOG / "layerflow.proto").read_bytes())
    command = [sys.executable, "-m", "grpc_tools.protoc", "-I.", option, "tb_layerflow/log/layerflow.proto"]
    subprocess.run(command, cwd=tmp_path, check=True)
    assert (LOG / file).read_text().removeprefix("# ruff: noqa\n") == (copy / file).read_text()
