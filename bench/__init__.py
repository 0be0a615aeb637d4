"""Side-by-side measurements of what LayerFlow costs. `python -m bench` prints them beside their targets."""
