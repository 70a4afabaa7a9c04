"""The language server: what the package knows about a program, shown where it is written."""
