"""The commands `pto-opt` and `pto-run`; installed as `pto_dialect.tools`."""
