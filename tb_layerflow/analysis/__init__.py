"""From decoded records to findings, explanations and differences: pure functions over numpy arrays, without files or TensorFlow."""
