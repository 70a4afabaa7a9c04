"""A folder for PYTHONPATH: its packages stand for `ptoas` and `mlir`. See docs/builders.md."""
