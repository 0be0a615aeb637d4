"""Arrays and files: the proto, tags, event records, paths. Knows no TensorFlow and no HTTP."""
