"""From decoded records to findings, explanations and differences: pure functions over numpy arrays, no files, no TensorFlow."""
