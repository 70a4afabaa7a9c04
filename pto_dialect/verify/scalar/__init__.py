"""Rules of the scalar unit."""
