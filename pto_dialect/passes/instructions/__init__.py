"""Shared parts of the passes that replace tile operations by instructions."""
