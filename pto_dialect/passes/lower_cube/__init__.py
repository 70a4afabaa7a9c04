"""Tile operations of the cube core as the instructions that carry them out."""
