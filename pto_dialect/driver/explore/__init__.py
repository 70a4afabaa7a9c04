"""Queries on a program without further input: its functions, and runs with synthesized arguments."""
