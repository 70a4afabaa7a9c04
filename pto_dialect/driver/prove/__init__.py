"""Checks that passes preserve the results of a program, by running it before and after."""
