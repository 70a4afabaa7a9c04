"""Debugging recorded runs, forwards and backwards: in the terminal, and from editors."""
