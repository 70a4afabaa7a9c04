"""Kernels with generated inputs and expected results; ``run_all.py`` runs them, README.md has details."""
