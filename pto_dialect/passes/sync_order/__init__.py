"""The order that a program with flags of its own gives its pipes, and what of it is needed."""
