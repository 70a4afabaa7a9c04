"""The instrumented machine: the state of each core, memory and signal while a program runs."""
