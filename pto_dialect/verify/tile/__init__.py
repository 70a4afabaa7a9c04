"""Rules of tile operations."""
