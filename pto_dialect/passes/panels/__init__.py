"""Loops over panels of rows or columns that become loops over panels of another size."""
