"""Loads and stores of vector cores as the transfers that carry them out."""
