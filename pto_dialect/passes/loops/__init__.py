"""Passes that change loops: tiles in parts, iterations side by side, iterations one behind the other."""
