"""Passes: a name and what is done to a module. ``registry`` lists them without importing any."""
