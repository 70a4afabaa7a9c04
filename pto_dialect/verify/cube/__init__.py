"""Rules of the cube core."""
