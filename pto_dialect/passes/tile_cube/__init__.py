"""Matrix products of a plain kernel in the tiles of an expert."""
