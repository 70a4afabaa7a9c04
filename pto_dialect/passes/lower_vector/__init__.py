"""Tile operations of vector cores as the vector functions that carry them out."""
