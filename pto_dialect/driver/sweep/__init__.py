"""Launch files over many values: the points of a sweep, here or on a cluster, and a file with what became of each."""
