"""State of an instrumented run: shadow memories, and clocks of the pipes."""
