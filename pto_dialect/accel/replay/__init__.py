"""Later launches of a kernel with the same numbers: their instructions as a few calls on whole groups of tiles."""
