"""Two small models trained on real images, offline: `python -m demo` records both and shows them in TensorBoard."""
