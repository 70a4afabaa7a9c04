"""The pass ``fuse-loops``."""
