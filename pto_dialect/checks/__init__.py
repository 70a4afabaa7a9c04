"""Checks of a program's text that follow its paths: synchronisation and memory, without running anything."""
