"""The grammar files of the PTO text forms, read as package data; installed as `pto_dialect.grammar`."""
