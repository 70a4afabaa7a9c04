"""The checks: one kind of error in each file."""
