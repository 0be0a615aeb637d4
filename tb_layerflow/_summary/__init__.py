"""The parts of the public writing API; `tb_layerflow.summary` is where they are found."""
