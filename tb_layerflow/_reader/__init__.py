"""The parts of `tb_layerflow.reader`, which is the public name of all this. Never needs TensorFlow."""
