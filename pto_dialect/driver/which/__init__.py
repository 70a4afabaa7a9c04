"""``pto which``: a program through all stages, each run and compared bit by bit. Source: docs/which.md, "Stages"."""
