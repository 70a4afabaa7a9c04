"""Edits of a program's text that fix what diagnostics report: computed on request, tried before they are offered."""
