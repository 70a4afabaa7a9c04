"""Analyses of a program that several subpackages query; they neither change nor run it."""
