"""Loop transformations: tiling, double buffering, unrolling."""
