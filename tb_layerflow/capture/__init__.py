"""From a running model to arrays: the only part that knows TensorFlow."""
