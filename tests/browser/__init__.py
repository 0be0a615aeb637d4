"""The LayerFlow tab of a real TensorBoard in a real Chromium."""
