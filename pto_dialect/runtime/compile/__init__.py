"""Compilation of the functions of a program to Python source."""
